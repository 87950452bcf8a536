//! Removes content in one transaction, and appends the receipts.

use super::derived::{made_from, unindex_writes};
use super::erased::Erased;
use super::files::{sources_of, unshared_writes};
use super::loss::{Loss, Raw, Run};
use super::showing::Showing;
use crate::base::error::Error;
use crate::base::parallel::on_thread;
use crate::import::records::find::RecordQuery;
use crate::import::transcripts::files::claim::{is_abandoned, is_void};
use crate::ledger::engine::Engine;
use crate::ledger::reading::lineage::{ask_streams, take_streams};
use crate::ledger::reading::originals::source_info;
use crate::ledger::reading::query_batch::QueryBatch;
use crate::ledger::recording::record::{Salts, pack};
use crate::limits::{ERASE_TRIES, ERASE_WAIT, IMPORT_POLL};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;
use wunderblock_core::event::{ContentErased, EventSource, Fact, NewEvent};
use wunderblock_core::id::{EventId, Handle, StreamId};
use wunderblock_store::{
    Answer, Basis, Commit, DerivedTable, Epoch, HandleTarget, Query, Seen, SeenStream, SegmentInfo,
    SourceInfo, SourceNo, StoreError, StreamFilter, StreamInfo, StreamKind, Write, Written,
};

/// An erasure whose own content is known.
pub(super) struct Forgetting<'e> {
    pub(super) engine: &'e Engine,
    /// The session, if the erasure concerns one.
    pub(super) session: Option<StreamId>,
    /// The sessions with their branches.
    pub(super) own: BTreeSet<StreamId>,
    pub(super) runs: Vec<Run>,
    /// What the positions of the runs hold.
    pub(super) losses: Vec<Loss<'e>>,
    /// Records to search for in the sources of the sessions.
    pub(super) wanted: RecordQuery,
    /// What files lose.
    pub(super) raw: Raw,
    pub(super) reason: Option<&'e str>,
}

/// State of the ledger in which an erasure searches for what it removes.
struct State {
    epoch: Epoch,
    streams: Vec<StreamInfo>,
    segments: Vec<(DerivedTable, SegmentInfo)>,
    /// Newest revisions of the sources that may have erased content.
    sources: BTreeMap<SourceNo, SourceInfo>,
}

impl<'e> Forgetting<'e> {
    /// Erases the content with everything made from it, and appends a receipt for each run.
    pub(super) async fn run(mut self) -> Result<Erased, Error> {
        let (each, epoch) = self.remove().await?;
        let mut receipts: BTreeMap<&StreamId, Vec<NewEvent>> = BTreeMap::new();
        for (erased, Run { stream, from, to }) in each.iter().zip(&self.runs) {
            let fact = Fact::ContentErased(ContentErased {
                from_seq: *from,
                to_seq: *to,
                events: erased.events,
                blobs: erased.blobs,
                source_bytes: erased.source_bytes,
                reason: self.reason.map(Into::into),
            });
            let id = EventId::new(format!("content.erased@{epoch}:{from}-{to}"))?;
            let (at, source) = (self.engine.now(), EventSource::Engine);
            receipts.entry(stream).or_default().push(NewEvent { id, at, source, fact });
        }
        let mut sum = Erased::default();
        each.into_iter().for_each(|erased| sum.add(erased));
        let mut writes = Vec::new();
        let place = self.session.as_ref().and_then(|id| receipts.keys().position(|stream| *stream == id));
        for (stream, events) in receipts {
            let (tenant, key) = (self.engine.tenant.no, &self.engine.tenant.key);
            let (stream, events) = (stream.clone(), pack(key, events)?);
            writes.push(Write::Append { tenant, stream, expect_head: None, events });
        }
        if !writes.is_empty() {
            let written = self.engine.storage.commit(Commit::raw(writes)).await?;
            if let Some(Written::Appended(done)) = place.and_then(|place| written.get(place)) {
                sum.receipt = done.last().map(|one| one.seq);
            }
        }
        Ok(sum)
    }

    /// Removes the content. Returns what each run lost, and the epoch that ended.
    async fn remove(&mut self) -> Result<(Vec<Erased>, u64), Error> {
        let (began, mut searched) = (Instant::now(), BTreeMap::new());
        let mut tries = 0;
        loop {
            let mut state = State::read(self.engine).await?;
            let streams = std::mem::take(&mut state.streams);
            let showing = Showing::of(&streams, &self.runs);
            let seen = self.search(&mut state, &showing.streams, &mut searched).await?;
            if self.is_held(&state.sources) {
                self.wait(&state.sources, began).await?;
                continue;
            }
            let mut losses = self.losses.clone();
            losses.extend(made_from(self.engine, &streams, &self.runs).await?);
            let newest = state.sources.values().map(|info| &info.revision);
            let newest = state.sources.keys().zip(newest);
            let basis = Basis::Seen(Box::new(Seen {
                epoch: state.epoch,
                newest: streams.iter().map(|info| info.no).max(),
                streams: seen,
                segment: state.segments.iter().map(|(_, info)| info.id).max().unwrap_or_default(),
                // What has been added since a source was searched has not been searched.
                sources: newest
                    .map(|(no, revision)| {
                        let len = searched.get(&(*no, revision.no)).copied().unwrap_or(revision.len);
                        (*no, revision.no, len)
                    })
                    .collect(),
                now: self.engine.now(),
            }));
            tries += 1;
            let is_last = tries >= ERASE_TRIES && began.elapsed() > ERASE_WAIT;
            let writes = match self.writes(&state, &losses).await {
                // The segment was merged into another one after its name was read.
                Err(Error::Index(_)) if !is_last => continue,
                writes => writes?,
            };
            match self.engine.storage.commit(Commit { basis, writes }).await {
                Err(StoreError::HeadMoved { .. } | StoreError::EpochMoved { .. }) if is_last => {
                    return Err(Error::Restless);
                }
                Err(
                    StoreError::HeadMoved { .. } | StoreError::EpochMoved { .. } | StoreError::Held { .. },
                ) => {}
                done => return Ok((self.sums(&losses, &done?), state.epoch.no)),
            }
        }
    }

    /// Returns whether an import owns one of the sources.
    fn is_held(&self, sources: &BTreeMap<SourceNo, SourceInfo>) -> bool {
        let now = self.engine.now();
        let owners = sources.values().filter_map(|info| info.revision.owner.as_ref());
        owners.into_iter().any(|owner| owner.until > now)
    }

    /// Searches the sources of the streams for records, as far as they have grown since the last search. Returns the
    /// state of the streams.
    async fn search(
        &mut self,
        state: &mut State,
        shown: &[&StreamInfo],
        searched: &mut BTreeMap<(SourceNo, u32), u64>,
    ) -> Result<Vec<SeenStream>, Error> {
        let engine = self.engine;
        let linked = sources_of(engine, shown.iter().map(|info| &info.id)).await?;
        let mut numbers: BTreeSet<SourceNo> = linked.iter().flatten().map(|source| source.no).collect();
        numbers.extend(source_numbers(engine, &self.raw).await?);
        for no in numbers {
            state.sources.insert(no, source_info(engine, no, None).await?);
        }
        let mut seen = Vec::new();
        for (info, sources) in shown.iter().zip(linked) {
            let (stream, head) = (info.id.clone(), info.head);
            seen.push(SeenStream { stream, head, links: sources.len() as u64 });
            // Forks and resumed sessions repeat records of a range. A whole session names its copies instead.
            let is_searched = !self.wanted.whole || self.own.contains(&info.id);
            for source in sources.into_iter().filter(|_| is_searched) {
                let (key, len) = ((source.no, source.revision.no), source.revision.len);
                if searched.insert(key, len) != Some(len) {
                    self.raw.search(engine, source, &self.wanted, &self.own).await?;
                }
            }
        }
        Ok(seen)
    }

    async fn writes(&self, state: &State, losses: &[Loss<'_>]) -> Result<Vec<Write>, Error> {
        let tenant = self.engine.tenant.no;
        let spans: Vec<_> = self.raw.spans.iter().copied().collect();
        let mut writes = unindex_writes(self.engine, &state.segments, losses).await?;
        writes.extend(unshared_writes(self.engine, &spans, &self.own).await?);
        let erasures = self.raw.erasures.iter().cloned().collect();
        let stream = self.own.first().cloned().map_or_else(|| StreamId::new("files"), Ok)?;
        writes.push(Write::Erase { tenant, stream, events: Vec::new(), spans, erasures });
        let mut salts = Salts::new()?;
        for loss in losses {
            let (stream, records) = (loss.stream.clone(), loss.places.clone());
            let events = loss.events.iter().map(|(seq, rest)| rest.lost(*seq, &mut salts));
            writes.push(Write::Erase {
                tenant,
                stream: stream.clone(),
                events: events.collect::<Result<_, _>>()?,
                spans: Vec::new(),
                erasures: Vec::new(),
            });
            if !records.is_empty() {
                writes.push(Write::Records { tenant, stream, records });
            }
        }
        Ok(writes)
    }

    /// Returns what each run lost. What files lost counts with the first run.
    fn sums(&self, losses: &[Loss<'_>], done: &[Written]) -> Vec<Erased> {
        let done = done.iter().filter(|written| matches!(written, Written::Erased { .. }));
        let mut each = vec![Erased::default(); self.runs.len().max(1)];
        for (run, written) in std::iter::once(0).chain(losses.iter().map(|loss| loss.run)).zip(done) {
            let sum = Erased::of(std::slice::from_ref(written));
            each.iter_mut().skip(run).take(1).for_each(|erased| erased.add(sum.clone()));
        }
        each
    }

    /// Waits for the import that owns one of the sources, or ends its ownership if it is dead.
    async fn wait(&self, sources: &BTreeMap<SourceNo, SourceInfo>, began: Instant) -> Result<(), Error> {
        let held = sources.values().filter_map(|info| Some((info, info.revision.owner.as_ref()?)));
        for (info, owner) in held {
            let path = info.key.clone();
            if is_void(owner, self.engine.now()) || on_thread(move || is_abandoned(path.as_ref())).await? {
                let (source, revision) = (info.no, info.revision.no);
                let disown = Write::Disown { source, revision, token: owner.token.clone() };
                self.engine.storage.commit(Commit::raw(vec![disown])).await?;
            } else if began.elapsed() > ERASE_WAIT {
                return Err(Error::Importing { path: info.key.clone() });
            }
        }
        // The longer an import takes, the less often its owner is looked up.
        let pause = (began.elapsed() / 8).max(IMPORT_POLL);
        on_thread(move || std::thread::sleep(pause)).await
    }
}

/// Returns the numbers of the sources that lose bytes.
async fn source_numbers(engine: &Engine, raw: &Raw) -> Result<Vec<SourceNo>, Error> {
    let handles: BTreeSet<Handle> = raw.spans.iter().map(|span| span.source).collect();
    let tenant = engine.tenant.no;
    let mut batch = QueryBatch::default();
    let ask = |handle| batch.ask(Query::Resolve { tenant, of: StreamKind::Session, handle }, Answer::named);
    let asked: Vec<_> = handles.into_iter().map(ask).collect();
    let mut answers = engine.ask_all(batch).await?;
    let mut numbers = Vec::new();
    for key in asked {
        if let Some(HandleTarget::Source(no, _)) = answers.take(key)? {
            numbers.push(no);
        }
    }
    Ok(numbers)
}

impl State {
    async fn read(engine: &Engine) -> Result<Self, Error> {
        let tenant = engine.tenant.no;
        let mut batch = QueryBatch::default();
        let streams = ask_streams(&mut batch, tenant, &StreamKind::ALL, &StreamFilter::default());
        let epoch = batch.ask(Query::Epoch { tenant }, Answer::epoch);
        let tables = [DerivedTable::Words, DerivedTable::Vectors];
        let asked = tables.map(|table| batch.ask(Query::Segments { tenant, table }, Answer::segments));
        let mut answers = engine.ask_all(batch).await?;
        let mut segments = Vec::new();
        for (table, key) in tables.into_iter().zip(asked) {
            segments.extend(answers.take(key)?.into_iter().map(|info| (table, info)));
        }
        Ok(Self {
            epoch: answers.take(epoch)?,
            streams: take_streams(&mut answers, streams)?,
            segments,
            sources: BTreeMap::new(),
        })
    }
}
