//! A ledger for dry runs: reads another ledger and keeps appended events in memory.
//!
//! A dry run builds the request, including its compaction, and then discards the appended events. The result is
//! therefore exactly the request that a real build would send, and nothing is recorded. An overlay covers one
//! session, which it may also open; all other queries are answered by the ledger beneath. If that session grows in the ledger beneath, the
//! overlay fails with [`StoreError::HeadMoved`], like any other store.

use super::codec::{commitment, stored};
use super::{
    Answer, Answering, Appended, Basis, BodyCount, Commit, EventMark, KnownEvent, Lease, Marked, Opening,
    PackedBlob, PackedEvent, Query, ReadOrder, Selected, Storage, StoreError, StoredEvent, StreamInfo,
    StreamKind, StreamNo, TallyRow, TenantNo, Write, Written,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::units::{Bytes, Seq};

/// A session of a ledger, with events appended in memory only.
pub struct Overlay {
    base: Arc<dyn Storage>,
    tenant: TenantNo,
    stream: StreamId,
    /// Whether the overlay opens the session: the ledger beneath does not have it.
    is_new: bool,
    tail: Mutex<Tail>,
}

/// Events, bodies, counts and leases added to the overlay.
#[derive(Clone, Default)]
struct Tail {
    /// The session in the ledger beneath, and the session including the tail. `None` before the first append.
    grown: Option<(StreamInfo, StreamInfo)>,
    rows: BTreeMap<Seq, Row>,
    blobs: HashMap<Handle, PackedBlob>,
    counts: HashMap<Handle, BodyCount>,
    leases: HashMap<String, Lease>,
}

/// An appended event.
#[derive(Clone)]
struct Row {
    event: StoredEvent,
    mark: EventMark,
    /// Number of messages and of bytes of text up to and including this event.
    tally: TallyRow,
    blobs: Vec<Handle>,
}

impl Overlay {
    /// Creates an overlay over a session of a ledger.
    pub fn new(base: Arc<dyn Storage>, tenant: TenantNo, stream: StreamId) -> Self {
        Self { base, tenant, stream, is_new: false, tail: Mutex::default() }
    }

    /// Creates an overlay that opens a session, which the ledger beneath must not have.
    pub fn opening(base: Arc<dyn Storage>, tenant: TenantNo, stream: StreamId) -> Self {
        Self { is_new: true, ..Self::new(base, tenant, stream) }
    }

    fn tail(&self) -> MutexGuard<'_, Tail> {
        // A poisoned lock is safe to use: writers replace the whole value in one assignment.
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends queries to the ledger beneath, and fails if the session there has grown since the first append.
    async fn ask(
        &self,
        mut queries: Vec<Query>,
    ) -> Result<(Option<Box<StreamInfo>>, Vec<Answer>), StoreError> {
        if self.is_new {
            let empty: Vec<Option<Answer>> = queries.iter().map(|query| self.nothing(query)).collect();
            let mut known = empty.iter();
            queries.retain(|_| known.next().is_some_and(Option::is_none));
            let mut answers = self.base.query(queries).await?.into_iter();
            return Ok((
                None,
                empty.into_iter().filter_map(|empty| empty.or_else(|| answers.next())).collect(),
            ));
        }
        let (tenant, of, stream) = (self.tenant, StreamKind::Session, self.stream.clone());
        queries.push(Query::Stream { tenant, of, stream });
        let mut answers = self.base.query(queries).await?;
        let info = answers.pop().and_then(Answer::stream).flatten();
        let head = info.as_ref().map_or(Seq::START, |info| info.head);
        match self.tail().grown.as_ref().map(|(before, _)| before.head).filter(|before| *before != head) {
            Some(expected) => Err(StoreError::HeadMoved { expected, actual: head }),
            None => Ok((info, answers)),
        }
    }
}

impl Overlay {
    /// Returns the answer to a query about this session, if the ledger beneath does not have it.
    fn nothing(&self, query: &Query) -> Option<Answer> {
        let (stream, answer) = match query {
            Query::Stream { stream, .. } => (stream, Answer::Stream(None)),
            Query::Events { stream, .. } | Query::At { stream, .. } | Query::Marked { stream, .. } => {
                (stream, Answer::Events(Vec::new()))
            }
            Query::Lineage { stream, .. } => (stream, Answer::Lineage(Vec::new())),
            Query::BodiesOf { stream, .. } => (stream, Answer::Blobs(Vec::new())),
            Query::Tallies { stream, seqs, .. } => {
                (stream, Answer::Tallies(vec![TallyRow::default(); seqs.len()]))
            }
            Query::Ids { stream, ids, .. } => (stream, Answer::Known(vec![None; ids.len()])),
            Query::SourcesOf { stream, .. } => (stream, Answer::Sources(Vec::new())),
            Query::Lost { stream, .. } => (stream, Answer::Lost(false)),
            _ => return None,
        };
        (*stream == self.stream).then_some(answer)
    }
}

/// Fails if content of the ledger beneath was erased since the writes of a commit were made from it.
fn is_current(basis: &Basis, now: Option<Answer>) -> Result<(), StoreError> {
    let (Basis::Derived(epoch), Some(now)) = (basis, now.and_then(Answer::epoch)) else { return Ok(()) };
    let (expected, actual) = (epoch.no, now.no);
    if expected == actual { Ok(()) } else { Err(StoreError::EpochMoved { expected, actual }) }
}

/// Returns the state of a session that the writes open. The ledger beneath does not have it.
fn opened(writes: &[Write], own: &StreamId) -> Option<StreamInfo> {
    writes.iter().find_map(|write| match write {
        Write::Open { stream, handle, opening: Opening::New { parent }, scope, at, .. } if stream == own => {
            let info = StreamInfo::opened(StreamNo(u32::MAX), stream.clone(), *handle, scope.clone(), *at);
            Some(StreamInfo { parent: parent.clone(), ..info })
        }
        _ => None,
    })
}

impl Storage for Overlay {
    fn commit(&self, Commit { basis, writes }: Commit) -> Answering<'_, Vec<Written>> {
        Box::pin(async move {
            let (tenant, stream) = (self.tenant, &self.stream);
            let (mut ids, mut keys) = (Vec::new(), Vec::new());
            for write in &writes {
                match write {
                    Write::Append { events, .. } => ids.extend(events.iter().map(|event| event.id.clone())),
                    Write::Claim { key, .. } => keys.push(key.clone()),
                    _ => {}
                }
            }
            let leases = keys.iter().map(|key| Query::Lease { tenant, key: key.clone() });
            let known = Query::Ids { tenant, stream: stream.clone(), ids: ids.clone() };
            let epoch = Query::Epoch { tenant };
            let (info, answers) =
                self.ask([epoch].into_iter().chain(leases).chain([known]).collect()).await?;
            let mut answers = answers.into_iter();
            is_current(&basis, answers.next())?;
            // Writes go to a copy, which replaces the tail only if all of them succeed. The tail stays locked meanwhile,
            // so that no other commit is lost.
            let mut tail = self.tail();
            let mut next = tail.clone();
            for (key, answer) in keys.into_iter().zip(answers.by_ref()) {
                if let Some(lease) = answer.lease().flatten() {
                    next.leases.entry(key).or_insert(lease);
                }
            }
            let known = answers.next().and_then(Answer::known).unwrap_or_default();
            let known: HashMap<_, _> = ids.into_iter().zip(known).collect();
            let begun = next.grown.as_ref().map(|(before, _)| before.clone());
            let info = info.map(|info| *info).or(begun).or_else(|| opened(&writes, stream));
            let info = info.ok_or_else(|| StoreError::NoStream(stream.clone()))?;
            let mut written = Vec::with_capacity(writes.len());
            for write in writes {
                written.push(match write {
                    Write::Open { stream: to, opening: Opening::New { .. }, .. } if to == *stream => {
                        let is_new = next.grown.is_none();
                        let (_, grown) = next.grown.get_or_insert_with(|| (info.clone(), info.clone()));
                        Written::Stream(Box::new(grown.clone()), is_new)
                    }
                    Write::Append { stream: to, expect_head, events, .. } if to == *stream => {
                        let known = |event: &PackedEvent| known.get(&event.id).copied().flatten();
                        Written::Appended(next.append(&info, expect_head, events, known)?)
                    }
                    Write::Counts { counts, .. } => {
                        next.counts.extend(counts);
                        Written::Done
                    }
                    Write::Claim { key, holder, now, until, .. } => {
                        let other = next.leases.get(&key);
                        let other =
                            other.filter(|lease| lease.until > now && lease.holder != holder).cloned();
                        if other.is_none() {
                            next.leases.insert(key, Lease { holder, until });
                        }
                        Written::Claimed(other)
                    }
                    Write::Release { key, holder, .. } => {
                        next.leases.retain(|held, lease| *held != key || lease.holder != holder);
                        Written::Done
                    }
                    // Other writes (imports, erasures, index segments) are never part of a dry run.
                    _ => return Err(StoreError::ReadOnly),
                });
            }
            *tail = next;
            Ok(written)
        })
    }

    fn query(&self, queries: Vec<Query>) -> Answering<'_, Vec<Answer>> {
        Box::pin(async move {
            let narrowed = {
                let tail = self.tail();
                queries.iter().map(|query| tail.narrowed(query, &self.stream)).collect()
            };
            let (_, answers) = self.ask(narrowed).await?;
            let tail = self.tail();
            Ok(queries
                .iter()
                .zip(answers)
                .map(|(query, answer)| tail.completed(query, answer, &self.stream))
                .collect())
        })
    }
}

impl Tail {
    fn append(
        &mut self,
        info: &StreamInfo,
        expect_head: Option<Seq>,
        events: Vec<PackedEvent>,
        known: impl Fn(&PackedEvent) -> Option<KnownEvent>,
    ) -> Result<Vec<Appended>, StoreError> {
        let (_, grown) = self.grown.get_or_insert_with(|| (info.clone(), info.clone()));
        let actual = grown.head;
        if let Some(expected) = expect_head.filter(|expected| *expected != actual) {
            return Err(StoreError::HeadMoved { expected, actual });
        }
        let mut appended = Vec::with_capacity(events.len());
        for event in events {
            let own = self.rows.values().find(|row| row.event.id == event.id);
            let own = own.map(|row| KnownEvent { seq: row.event.seq, proof: row.event.proof });
            let Some(there) = known(&event).or(own) else {
                appended.push(Appended::written(self.insert(event)));
                continue;
            };
            if there.proof.is_some_and(|(salt, proof)| commitment(&salt, &event.content) != proof) {
                return Err(StoreError::Conflict { id: event.id, seq: there.seq });
            }
            appended.push(Appended::known(there.seq, there.proof.is_none()));
        }
        Ok(appended)
    }

    fn insert(&mut self, mut event: PackedEvent) -> Seq {
        let Some((_, info)) = &mut self.grown else { return Seq::START };
        let seq = info.grow(&event);
        let tally = TallyRow { messages: info.messages, text: info.text, tokens: None };
        let blobs = event.blobs.iter().map(|blob| blob.handle).collect();
        self.blobs.extend(std::mem::take(&mut event.blobs).into_iter().map(|blob| (blob.handle, blob)));
        let mark = event.mark;
        self.rows.insert(seq, Row { event: stored(event, info.no, seq), mark, tally, blobs });
        seq
    }

    /// Narrows a query for the ledger beneath to the part that the tail does not answer.
    fn narrowed(&self, query: &Query, own: &StreamId) -> Query {
        let Query::Events { stream, from, to, order: ReadOrder::Descending, limit, text, .. } = query else {
            return query.clone();
        };
        let rows = self.rows.range(*from..=*to);
        let (Some((_, newest)), Some((before, _))) = (rows.clone().next_back(), &self.grown) else {
            return query.clone();
        };
        if stream != own {
            return query.clone();
        }
        // A descending read counts texts from the newest row backwards. The newest row's running sum includes all
        // tail rows before it.
        let read = newest.tally.text.0 - before.text.0;
        let rows = rows.count() as u64;
        let mut narrowed = query.clone();
        if let Query::Events { limit: left, text: room, .. } = &mut narrowed {
            *left = if read > text.0 { 0 } else { limit.saturating_sub(rows) };
            *room = Bytes(text.0.saturating_sub(read));
        }
        narrowed
    }

    fn completed(&self, query: &Query, answer: Answer, own: &StreamId) -> Answer {
        let Some((before, grown)) = &self.grown else { return self.with_bodies(query, answer) };
        match (query, answer) {
            (Query::Stream { stream, .. }, _) if stream == own => {
                Answer::Stream(Some(Box::new(grown.clone())))
            }
            (Query::Events { stream, .. }, Answer::Events(rows)) if stream == own => {
                Answer::Events(self.events(query, rows, before.head))
            }
            (Query::At { stream, seqs, .. }, Answer::Events(rows)) if stream == own => {
                let beneath: HashMap<Seq, StoredEvent> = rows.into_iter().map(|row| (row.seq, row)).collect();
                let row = |seq: &Seq| self.row(*seq).or_else(|| beneath.get(seq).cloned());
                Answer::Events(seqs.iter().filter_map(row).collect())
            }
            (Query::Marked { stream, .. }, Answer::Events(rows)) if stream == own => {
                Answer::Events(self.marked(query, rows))
            }
            (Query::Tallies { stream, seqs, .. }, Answer::Tallies(rows)) if stream == own => {
                let tail = |seq: &Seq| self.rows.range(..=*seq).next_back().map(|(_, row)| row.tally);
                Answer::Tallies(seqs.iter().zip(rows).map(|(seq, row)| tail(seq).unwrap_or(row)).collect())
            }
            (Query::BodiesOf { stream, events, .. }, Answer::Blobs(beneath)) if stream == own => {
                Answer::Blobs(self.bodies_of(events).map(Some).chain(beneath).collect())
            }
            (Query::Lineage { stream, .. }, Answer::Lineage(mut stretches)) if stream == own => {
                if let Some(newest) = stretches.first_mut() {
                    newest.to = grown.head;
                }
                Answer::Lineage(stretches)
            }
            (query, answer) => self.with_bodies(query, answer),
        }
    }

    /// Returns the bodies of the tail's own events. The ledger beneath may add those of earlier turns.
    fn bodies_of<'t>(&'t self, events: &'t Selected) -> impl Iterator<Item = PackedBlob> + 't {
        let rows = self.rows.iter().rev().filter(move |(seq, row)| match events {
            Selected::At(seqs) => seqs.contains(seq),
            Selected::UserTurns { to, .. } => *seq <= to && row.mark == EventMark::UserTurn,
        });
        rows.flat_map(|(_, row)| &row.blobs).filter_map(|handle| self.blobs.get(handle).cloned())
    }

    fn with_bodies(&self, query: &Query, answer: Answer) -> Answer {
        match (query, answer) {
            (Query::Blobs { handles, .. }, Answer::Blobs(blobs)) => {
                let blob = |(handle, blob): (&Handle, Option<PackedBlob>)| {
                    blob.or_else(|| self.blobs.get(handle).cloned())
                };
                Answer::Blobs(handles.iter().zip(blobs).map(blob).collect())
            }
            (Query::Counts { handles, .. }, Answer::Counts(counts)) => {
                let count = |(handle, count): (&Handle, Option<BodyCount>)| {
                    count.or_else(|| self.counts.get(handle).copied())
                };
                Answer::Counts(handles.iter().zip(counts).map(count).collect())
            }
            (Query::Lease { key, .. }, Answer::Lease(lease)) => {
                Answer::Lease(self.leases.get(key).cloned().or(lease))
            }
            (_, answer) => answer,
        }
    }

    /// Merges rows of the ledger beneath with rows of the tail into one sequence of events.
    fn events(&self, query: &Query, rows: Vec<StoredEvent>, head: Seq) -> Vec<StoredEvent> {
        let Query::Events { from, to, order, limit, text, .. } = query else { return rows };
        let limit = usize::try_from(*limit).unwrap_or(usize::MAX);
        let tail = self.rows.range(*from..=*to);
        if *order == ReadOrder::Ascending {
            // Rows of the tail may follow only if the rows beneath were not cut off by a limit.
            let ended = *from > head || rows.last().is_some_and(|last| last.seq >= head.min(*to));
            let tail = tail.filter(|_| ended).filter_map(|(seq, _)| self.row(*seq));
            return rows.into_iter().chain(tail).take(limit).collect();
        }
        let newest = self.rows.range(*from..=*to).next_back().map_or(0, |(_, row)| row.tally.text.0);
        let tail = tail.rev().take_while(|(_, row)| newest - row.tally.text.0 <= text.0);
        tail.filter_map(|(seq, _)| self.row(*seq)).chain(rows).take(limit).collect()
    }

    /// Merges marked events of the tail and of the ledger beneath, latest first.
    fn marked(&self, query: &Query, beneath: Vec<StoredEvent>) -> Vec<StoredEvent> {
        let Query::Marked { what, to, limit, .. } = query else { return beneath };
        let is_meant = |row: &&Row| match what {
            Marked::System => row.mark == EventMark::System,
            Marked::UserTurn => row.mark == EventMark::UserTurn,
            Marked::Kind(kind) => row.mark == EventMark::Control && row.event.kind == *kind,
            Marked::OfLane(kind, lane) => row.event.kind == *kind && row.event.lane.as_ref() == Some(lane),
            Marked::EachLane(kind) => row.event.kind == *kind && row.event.lane.is_some(),
        };
        let tail = self.rows.range(..=*to).rev().map(|(_, row)| row).filter(is_meant);
        let all = tail.map(|row| row.event.clone()).chain(beneath);
        let mut lanes = HashSet::new();
        let is_newest =
            |row: &StoredEvent| !matches!(what, Marked::EachLane(_)) || lanes.insert(row.lane.clone());
        all.filter(is_newest).take(usize::try_from(*limit).unwrap_or(usize::MAX)).collect()
    }

    fn row(&self, seq: Seq) -> Option<StoredEvent> {
        let row = self.rows.get(&seq)?;
        let counts = row.blobs.iter().filter_map(|handle| Some((*handle, *self.counts.get(handle)?)));
        Some(StoredEvent { counts: counts.collect(), ..row.event.clone() })
    }
}
