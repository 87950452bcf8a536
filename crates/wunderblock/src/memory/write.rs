//! Writes to a log: what is proposed, and what becomes of it.

use super::evidence::Witnesses;
use super::log::{FoldedLog, own};
use super::new::NewMemory;
use super::report::{MemoryOutcome, MemoryWritten};
use crate::base::error::Error;
use crate::ledger::engine::{Engine, random};
use crate::ledger::recording::record::pack_all;
use std::collections::HashMap;
use wunderblock_core::author::Author;
use wunderblock_core::event::{
    EventSource, Fact, MemoryChanged, MemoryOpened, MemoryProposed, MemoryReviewed, NewEvent,
};
use wunderblock_core::id::{EventId, Handle, Scope};
use wunderblock_core::memory::{
    Claim, Evidence, HoldReason, MemoryAuthor, MemoryChange, MemoryDeed, MemoryVerdict,
};
use wunderblock_core::units::{Millis, Seq};
use wunderblock_store::{Commit, Opening, StoreError, StreamKind, Write};

/// Maximum number of items that are committed together.
pub(super) const BATCH: usize = 1_000;
/// Maximum number of memories that a log shows.
const MAX_MEMORIES: usize = 200_000;
/// Number of times that a write is prepared again because another process wrote to the log meanwhile.
const TRIES: usize = 16;

/// Facts that follow the head of a log.
pub(super) struct Draft<'l> {
    pub(super) log: &'l FoldedLog,
    scope: &'l Scope,
    at: Millis,
    facts: Vec<Fact>,
}

impl<'l> Draft<'l> {
    pub(super) fn new(engine: &Engine, log: &'l FoldedLog, scope: &'l Scope) -> Self {
        let mut draft = Self { log, scope, at: engine.now(), facts: Vec::new() };
        if log.log.head == Seq::START {
            draft.push(Fact::MemoryOpened(MemoryOpened { scope: scope.clone() }));
        }
        draft
    }

    /// Adds a fact, and returns its position.
    pub(super) fn push(&mut self, fact: Fact) -> Seq {
        self.facts.push(fact);
        Seq(self.log.log.head.0 + self.facts.len() as u64)
    }

    /// Adds what carries out a proposal that an author approves.
    pub(super) fn carry_out(&mut self, proposal: Seq, by: &MemoryAuthor, edited: Option<Claim>) {
        let verdict = MemoryVerdict::Approved;
        self.push(Fact::MemoryReviewed(MemoryReviewed { proposal, verdict, by: by.clone(), cause: None }));
        let deed = MemoryDeed::Applied { proposal, edited };
        self.push(Fact::MemoryChanged(Box::new(MemoryChanged { deed, by: by.clone(), cause: None })));
    }

    /// Commits the facts. Returns `false` if another process has written to the log.
    pub(super) async fn commit(self, engine: &Engine) -> Result<bool, Error> {
        let head = self.log.log.head;
        if self.facts.is_empty() {
            return Ok(true);
        }
        let (tenant, stream, at) = (engine.tenant.no, self.log.stream.clone(), self.at);
        // Two processes may write the same, and only one of them must do it.
        let token = u64::from_le_bytes(random()?);
        let events = self.facts.into_iter().zip(head.next().0..).map(|(fact, seq)| {
            let id = EventId::new(format!("{}@{seq}-{token:016x}", fact.kind()))?;
            Ok(NewEvent { id, at, source: EventSource::Engine, fact })
        });
        let events = pack_all(&engine.tenant.key, events.collect::<Result<_, Error>>()?)?;
        let mut writes = Vec::new();
        if head == Seq::START {
            writes.push(Write::Open {
                tenant,
                kind: StreamKind::Memory,
                stream: stream.clone(),
                handle: self.log.handle,
                opening: Opening::New { parent: None },
                scope: self.scope.clone(),
                at,
            });
        }
        writes.push(Write::Append { tenant, stream, expect_head: Some(head), events });
        match engine.storage.commit(Commit::raw(writes)).await {
            Ok(_) => Ok(true),
            Err(StoreError::HeadMoved { .. } | StoreError::StreamExists(_) | StoreError::Conflict { .. }) => {
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Proposes changes. What a person, or a program that vouches, says is approved with it, unless it was refused before.
pub(super) async fn propose(
    engine: &Engine,
    scope: &Scope,
    items: &[NewMemory],
    by: &MemoryAuthor,
) -> Result<MemoryWritten, Error> {
    let mut written = MemoryWritten::default();
    for share in items.chunks(BATCH) {
        let witnesses = Witnesses::of(engine, share).await?;
        let evidence: Vec<_> = share.iter().map(|item| witnesses.check(engine, &item.evidence)).collect();
        let mut tries = 0;
        loop {
            let log = own(engine, scope).await?;
            let mut draft = Draft::new(engine, &log, scope);
            let mut fresh = HashMap::new();
            let items = share.iter().zip(&evidence).map(|(item, evidence)| Item { item, evidence, by });
            let outcomes: Vec<MemoryOutcome> =
                items.map(|item| propose_one(engine, &mut draft, &mut fresh, &item)).collect();
            if draft.commit(engine).await? {
                outcomes.into_iter().for_each(|outcome| written.add(outcome));
                break;
            }
            tries += 1;
            if tries == TRIES {
                return Err(Error::Restless);
            }
        }
    }
    Ok(written)
}

/// An item of a write, with the evidence that was found for it, or the reason why it was refused.
struct Item<'i> {
    item: &'i NewMemory,
    evidence: &'i Result<Vec<Evidence>, String>,
    by: &'i MemoryAuthor,
}

fn propose_one(
    engine: &Engine,
    draft: &mut Draft<'_>,
    fresh: &mut HashMap<Handle, Seq>,
    &Item { item, evidence, by }: &Item<'_>,
) -> MemoryOutcome {
    let log = draft.log;
    let refused = |why: String| MemoryOutcome::Refused { why };
    let evidence = match evidence {
        Ok(evidence) => evidence.clone(),
        Err(why) => return refused(why.clone()),
    };
    let claim = match item.claim.as_ref().map(|claim| claim.checked(engine, &log.stream)).transpose() {
        Ok(claim) => claim,
        Err(error) => return refused(error.to_string()),
    };
    let change = item.change.in_log();
    if let Some(of) = change.of()
        && !log.log.memory(of).is_some_and(|memory| memory.is_current())
    {
        return refused(format!("there is no current memory {}", log.name(of)));
    }
    if claim.is_none() && !matches!(change, MemoryChange::Retract(_)) {
        return refused("a memory needs a text".to_owned());
    }
    if log.log.len() + fresh.len() >= MAX_MEMORIES && change == MemoryChange::Add {
        return refused(format!(
            "the scope has {MAX_MEMORIES} memories, which is the maximum; forget some first"
        ));
    }
    let value = claim.as_ref().and_then(|claim| claim.value);
    // A revision may change other fields than the text.
    let is_same = |value: &Handle| log.log.same(*value).or_else(|| fresh.get(value).copied());
    let same = value.as_ref().and_then(is_same).filter(|same| Some(*same) != change.of());
    if let Some(same) = same {
        return MemoryOutcome::Known { memory: log.name(same) };
    }
    let vouches = matches!(by, MemoryAuthor::Person(_) | MemoryAuthor::Host(_));
    let is_old = !evidence.is_empty() && evidence.iter().all(|evidence| log.log.is_known(evidence));
    if is_old && !vouches {
        return refused("what it rests on was read before".to_owned());
    }
    let mut held: Vec<HoldReason> = value.and_then(|value| log.log.refused(value)).into_iter().collect();
    held.extend((evidence.is_empty() && !vouches).then_some(HoldReason::Unsupported));
    let is_foreign = |one: &Evidence| !matches!(one.speaker, Author::Person | Author::Model);
    held.extend(evidence.iter().any(is_foreign).then_some(HoldReason::Tainted));
    let is_clear = held.is_empty();
    let (near, by_whom) = (Vec::new(), by.clone());
    let proposed =
        MemoryProposed { change, claim, by: by_whom, evidence, near, held: held.clone(), spent: None };
    let proposal = draft.push(Fact::MemoryProposed(Box::new(proposed)));
    if let Some(value) = value {
        fresh.insert(value, proposal);
    }
    if vouches && is_clear {
        draft.carry_out(proposal, by, None);
        return MemoryOutcome::Applied { memory: log.name(named(change, proposal)) };
    }
    MemoryOutcome::Pending { proposal: log.name(proposal), held }
}

/// Returns the memory that a proposal changes or makes.
pub(super) const fn named(change: MemoryChange, proposal: Seq) -> Seq {
    match change {
        MemoryChange::Revise(of) | MemoryChange::Retract(of) => of,
        MemoryChange::Add | MemoryChange::Supersede(_) => proposal,
    }
}

/// Writes to a log until no other process writes in between. `prepare` fills a draft from the log as it is.
pub(super) async fn write<T>(
    engine: &Engine,
    scope: &Scope,
    mut prepare: impl FnMut(&mut Draft<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    for _ in 0..TRIES {
        let log = own(engine, scope).await?;
        let mut draft = Draft::new(engine, &log, scope);
        let done = prepare(&mut draft)?;
        if draft.commit(engine).await? {
            return Ok(done);
        }
    }
    Err(Error::Restless)
}
