//! Handle for the memories of a scope.

use super::learn::{MemoryLearned, learn};
use super::log::{FoldedLog, as_of, read};
use super::name::MemoryName;
use super::new::{MemoryDecision, NewMemory};
use super::report::{MemoryDescription, MemoryOutcome, MemoryStep, MemoryWritten, ProposalDescription};
use super::{review, write};
use crate::base::apart::apart;
use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::ledger::engine::Engine;
use crate::ledger::reading::address::Address;
use crate::ledger::reading::query_batch::EVERY;
use crate::ledger::reading::stored::read_texts;
use crate::ledger::texts::Texts;
use wunderblock_core::id::Scope;
use wunderblock_core::memories::{Memory, MemoryState, MemoryVersion, Proposal};
use wunderblock_core::memory::{Claim, ForgetReason, MemoryAuthor, MemoryChange, MemoryKind};
use wunderblock_core::message::Body;
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::units::{Millis, Seq};
use wunderblock_store::StreamFilter;

/// Memories of a scope. See [`Engine::memory`].
#[derive(Clone, Debug)]
pub struct Memories {
    engine: Engine,
    scope: Scope,
}

/// Which memories are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryFilter {
    /// Kind of the memories.
    pub kind: Option<MemoryKind>,
    /// Tags that they must all have.
    pub tags: Vec<String>,
    /// Whether those that are not shown are listed, too.
    pub all: bool,
    /// Time whose state is listed: what was believed then, and was true then.
    pub as_of: Option<Millis>,
}

impl Engine {
    /// Returns the handle for the memories of a scope. It writes to the log of that scope, and reads those of wider ones
    /// too: what names the same user, project, agent, session and run, or fewer of them.
    #[must_use]
    pub fn memory(&self, scope: Scope) -> Memories {
        // The project names the scope; the folder is where it was found.
        Memories { engine: self.clone(), scope: Scope { folder: None, ..scope } }
    }
}

impl Memories {
    /// Adds or proposes memories. What a person says, and what a host program vouches for, is believed at once, unless
    /// the same was rejected or forgotten before; everything else waits for a verdict. One invalid item does not lose the
    /// others.
    ///
    /// # Errors
    /// Fails if the ledger cannot be written. Then nothing of the last batch of 1,000 items was recorded.
    pub fn add<'a>(&self, items: Vec<NewMemory>, by: MemoryAuthor) -> BoxFuture<'a, MemoryWritten> {
        let memories = self.clone();
        Box::pin(apart(move || async move {
            let Self { engine, scope } = &memories;
            let mut written = MemoryWritten::default();
            for share in items.chunk_by(|a, b| a.change.of().is_none() && b.change.of().is_none()) {
                let scope = match share.first().and_then(|item| item.change.of()) {
                    None => scope.clone(),
                    Some(of) => match memories.at(of).await {
                        Err(error @ Error::NoMemory(_)) => {
                            written.add(MemoryOutcome::Refused { why: error.to_string() });
                            continue;
                        }
                        found => found?.1,
                    },
                };
                written.join(write::propose(engine, &scope, share, &by).await?);
            }
            Ok(written)
        }))
    }

    /// Proposes what persons have stated in sessions: rules and wishes for later work, found without a model. What was
    /// read before is not proposed again.
    ///
    /// # Errors
    /// Fails if the ledger cannot be read or written.
    pub fn learn<'a>(&self, sessions: StreamFilter) -> BoxFuture<'a, MemoryLearned> {
        let Self { engine, scope } = self.clone();
        Box::pin(apart(move || async move {
            let sessions = engine.listed(sessions, EVERY).await?;
            learn(&engine, &scope, sessions).await
        }))
    }

    /// Decides about a proposal, and carries it out if it is approved.
    ///
    /// # Errors
    /// Fails if there is no such proposal, if it was decided before, if the author may not decide about it, or if the
    /// memory that it changes is not current any more.
    pub fn review<'a>(
        &self,
        proposal: MemoryName,
        decision: MemoryDecision,
        by: MemoryAuthor,
    ) -> BoxFuture<'a, MemoryOutcome> {
        let memories = self.clone();
        Box::pin(apart(move || async move {
            let (engine, scope) = memories.at(&proposal).await?;
            write::write(&engine, &scope, |draft| review::decide(&engine, draft, &proposal, &decision, &by))
                .await
        }))
    }

    /// Forgets memories: they are kept, and no longer shown. Returns what is, or would be, forgotten.
    ///
    /// # Errors
    /// Fails if one of them does not exist, or if the ledger cannot be written. Then those of other logs may be forgotten.
    pub fn forget<'a>(
        &self,
        names: Vec<MemoryName>,
        why: ForgetReason,
        by: MemoryAuthor,
        dry_run: bool,
    ) -> BoxFuture<'a, Vec<MemoryDescription>> {
        let memories = self.clone();
        Box::pin(apart(move || async move {
            let mut found = Vec::new();
            for name in &names {
                found.push(memories.find(name).await?);
            }
            for name in names.iter().filter(|_| !dry_run) {
                let (engine, scope) = memories.at(name).await?;
                let forget = |draft: &mut write::Draft<'_>| {
                    review::forget(draft, vec![name.seq], why, &by, None);
                    Ok(())
                };
                write::write(&engine, &scope, forget).await?;
            }
            Ok(found)
        }))
    }

    /// Restores a forgotten memory.
    ///
    /// # Errors
    /// Fails if there is no such memory, or if it is not forgotten.
    pub fn restore<'a>(&self, name: MemoryName, by: MemoryAuthor) -> BoxFuture<'a, MemoryDescription> {
        let memories = self.clone();
        Box::pin(apart(move || async move {
            let (engine, scope) = memories.at(&name).await?;
            write::write(&engine, &scope, |draft| review::restore(draft, &name, &by)).await?;
            memories.find(&name).await
        }))
    }

    /// Makes a memory what it was after an event of its log, as [`Memories::history`] numbers them. Before its first
    /// event, it is withdrawn, and what it superseded is current again.
    ///
    /// # Errors
    /// Fails if there is no such memory or event, or if another memory took its place since.
    pub fn roll_back<'a>(
        &self,
        name: MemoryName,
        to: u64,
        by: MemoryAuthor,
    ) -> BoxFuture<'a, MemoryDescription> {
        let memories = self.clone();
        Box::pin(apart(move || async move {
            let (engine, scope) = memories.at(&name).await?;
            write::write(&engine, &scope, |draft| review::roll_back(draft, &name, Seq(to), &by)).await?;
            memories.find(&name).await
        }))
    }

    /// Lists memories, the latest change first.
    ///
    /// # Errors
    /// Fails if the ledger cannot be read.
    pub fn list<'a>(&self, filter: MemoryFilter) -> BoxFuture<'a, Vec<MemoryDescription>> {
        let memories = self.clone();
        Box::pin(apart(move || async move {
            let engine = &memories.engine;
            let now = filter.as_of.unwrap_or_else(|| engine.now());
            let mut found = Vec::new();
            for mut log in read(engine, &memories.scope).await? {
                if let Some(at) = filter.as_of {
                    log = as_of(engine, &log, at).await?;
                }
                let kept: Vec<&Memory> =
                    log.log.memories().filter(|memory| passes(&filter, memory, now)).collect();
                let texts = texts_of(engine, kept.iter().filter_map(|memory| memory.newest())).await?;
                let describe =
                    |memory: &&Memory| describe(engine, &log, memory, &Reading { texts: &texts, now });
                found.extend(kept.iter().filter_map(describe));
            }
            found.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| b.memory.cmp(&a.memory)));
            Ok(found)
        }))
    }

    /// Returns a memory, whatever its state.
    ///
    /// # Errors
    /// Fails if there is no such memory in scope.
    pub fn show<'a>(&self, name: MemoryName) -> BoxFuture<'a, MemoryDescription> {
        let memories = self.clone();
        Box::pin(apart(move || async move { memories.find(&name).await }))
    }

    /// Returns the steps of a memory, oldest first.
    ///
    /// # Errors
    /// Fails if there is no such memory in scope.
    pub fn history<'a>(&self, name: MemoryName) -> BoxFuture<'a, Vec<MemoryStep>> {
        let memories = self.clone();
        Box::pin(apart(move || async move {
            let engine = &memories.engine;
            let log = memories.log(&name).await?;
            let memory = log.log.memory(name.seq).ok_or_else(|| Error::NoMemory(name.to_string()))?;
            let texts = texts_of(engine, memory.versions().iter()).await?;
            let step = |version: &MemoryVersion| MemoryStep {
                seq: version.seq.0,
                at: version.at,
                by: author(&version.by),
                state: version.state.word(),
                text: text(engine, &texts, &version.claim.text),
            };
            Ok(memory.versions().iter().map(step).collect())
        }))
    }

    /// Lists proposals, oldest first: those that wait for a verdict, or all.
    ///
    /// # Errors
    /// Fails if the ledger cannot be read.
    pub fn proposals<'a>(&self, all: bool) -> BoxFuture<'a, Vec<ProposalDescription>> {
        let memories = self.clone();
        Box::pin(apart(move || async move {
            let engine = &memories.engine;
            let mut found = Vec::new();
            for log in read(engine, &memories.scope).await? {
                for proposal in log.log.proposals().filter(|proposal| all || proposal.is_pending()) {
                    found.push(describe_proposal(engine, &log, proposal).await?);
                }
            }
            found.sort_by_key(|proposal| proposal.at);
            Ok(found)
        }))
    }

    /// Returns the log that a name names, if it is in scope.
    async fn log(&self, name: &MemoryName) -> Result<FoldedLog, Error> {
        let logs = read(&self.engine, &self.scope).await?;
        let has = |log: &&FoldedLog| {
            let is_there = log.log.memory(name.seq).is_some() || log.log.proposal(name.seq).is_some();
            name.is_in(log.handle) && is_there
        };
        match logs.iter().filter(has).collect::<Vec<_>>().as_slice() {
            [one] => Ok((*one).clone()),
            [] => Err(Error::NoMemory(name.to_string())),
            several => {
                let matches = several.iter().map(|log| log.handle).collect();
                Err(Error::AmbiguousHandle { prefix: name.to_string(), matches })
            }
        }
    }

    /// Returns the scope of the log that a name names.
    async fn at(&self, name: &MemoryName) -> Result<(Engine, Scope), Error> {
        let log = self.log(name).await?;
        Ok((self.engine.clone(), log.log.scope.clone()))
    }

    async fn find(&self, name: &MemoryName) -> Result<MemoryDescription, Error> {
        let log = self.log(name).await?;
        let memory = log.log.memory(name.seq).ok_or_else(|| Error::NoMemory(name.to_string()))?;
        let texts = texts_of(&self.engine, memory.newest()).await?;
        let found = describe(&self.engine, &log, memory, &Reading { texts: &texts, now: self.engine.now() });
        found.ok_or_else(|| Error::NoMemory(name.to_string()))
    }
}

/// Returns whether a memory is listed. At an earlier time, it must have been true in the world.
fn passes(filter: &MemoryFilter, memory: &Memory, now: Millis) -> bool {
    let Some(MemoryVersion { claim, state, .. }) = memory.newest() else { return false };
    let is_shown = *state == MemoryState::Current && !claim.is_expired(now) && claim.holds_at(now);
    (filter.all || is_shown)
        && filter.kind.is_none_or(|kind| kind == claim.kind)
        && filter.tags.iter().all(|tag| claim.tags.iter().any(|own| **own == **tag))
}

async fn texts_of<'v>(
    engine: &Engine,
    versions: impl IntoIterator<Item = &'v MemoryVersion>,
) -> Result<Texts, Error> {
    let bodies = versions.into_iter().flat_map(|version| version.claim.bodies());
    read_texts(engine, bodies.filter_map(Body::handle)).await
}

/// Returns a text as it is shown: with secrets redacted.
fn text(engine: &Engine, texts: &Texts, body: &Body) -> Option<String> {
    let text = texts.of(body)?;
    Some(engine.config.redactor.redact_keyed(&engine.tenant.key, text).text.into_owned())
}

fn author(by: &MemoryAuthor) -> (&'static str, String) {
    let (kind, name) = by.parts();
    (kind, name.to_owned())
}

/// Texts of claims, and the time at which they are read.
struct Reading<'t> {
    texts: &'t Texts,
    now: Millis,
}

fn describe(
    engine: &Engine,
    log: &FoldedLog,
    memory: &Memory,
    &Reading { texts, now }: &Reading<'_>,
) -> Option<MemoryDescription> {
    let MemoryVersion { claim, state, at, by, .. } = memory.newest()?;
    let Claim { kind, tags, importance, confidence, from, until, expires, pinned, .. } = claim.clone();
    let superseded_by = match state {
        MemoryState::Superseded(by) => Some(log.name(*by)),
        _ => None,
    };
    let state = match state {
        MemoryState::Current if claim.is_expired(now) => "expired",
        state => state.word(),
    };
    let metadata = claim.metadata.as_ref().and_then(|body| text(engine, texts, body));
    let address = |stream, seq| Address::of_event(engine, stream, seq).to_string();
    Some(MemoryDescription {
        memory: log.name(memory.seq),
        scope: log.log.scope.clone(),
        kind: kind.word(),
        text: text(engine, texts, &claim.text),
        state,
        superseded_by,
        tags: tags.into_iter().map(Into::into).collect(),
        metadata: metadata.and_then(|metadata| serde_json::from_str(&metadata).ok()),
        importance,
        confidence,
        pinned,
        from,
        until,
        expires,
        at: *at,
        by: author(by),
        evidence: memory.evidence.iter().map(|one| address(&one.stream, one.seq)).collect(),
    })
}

async fn describe_proposal(
    engine: &Engine,
    log: &FoldedLog,
    proposal: &Proposal,
) -> Result<ProposalDescription, Error> {
    let proposed = &proposal.proposed;
    let quotes = proposed.evidence.iter().map(|evidence| &evidence.quote);
    let bodies = proposed.claim.iter().flat_map(Claim::bodies).chain(quotes);
    let texts = read_texts(engine, bodies.filter_map(Body::handle)).await?;
    let address = |stream, seq| Address::of_event(engine, stream, seq).to_string();
    let (change, of) = match proposed.change {
        MemoryChange::Add => ("add", None),
        MemoryChange::Revise(of) => ("revise", Some(of)),
        MemoryChange::Supersede(of) => ("supersede", Some(of)),
        MemoryChange::Retract(of) => ("retract", Some(of)),
    };
    let mut others = Vec::new();
    for seq in of.into_iter().chain(proposed.near.iter().map(|near| near.memory)) {
        let Some(memory) = log.log.memory(seq) else { continue };
        let texts = texts_of(engine, memory.newest()).await?;
        others.extend(describe(engine, log, memory, &Reading { texts: &texts, now: engine.now() }));
    }
    let of = of.and_then(|of| others.iter().position(|other| other.memory == log.name(of)));
    let of = of.map(|at| Box::new(others.remove(at)));
    Ok(ProposalDescription {
        proposal: log.name(proposal.seq),
        change,
        of,
        kind: proposed.claim.as_ref().map(|claim| claim.kind.word()),
        text: proposed.claim.as_ref().and_then(|claim| text(engine, &texts, &claim.text)),
        state: proposal.state.word(),
        held: proposed.held.clone(),
        by: author(&proposed.by),
        at: proposal.at,
        evidence: proposed
            .evidence
            .iter()
            .filter_map(|one| Some((address(&one.stream, one.seq), text(engine, &texts, &one.quote)?)))
            .collect(),
        near: others,
    })
}
