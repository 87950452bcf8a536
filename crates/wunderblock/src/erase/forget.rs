//! Removes content in one transaction, and appends the receipts.

use super::derived::{Shown, made_from, showing, unindex_writes};
use super::erased::Erased;
use super::files::{sources_of, unshared_writes};
use super::loss::{Loss, Raw, Run};
use crate::engine::Engine;
use crate::error::Error;
use crate::import::claim::is_abandoned;
use crate::imported_records::RecordQuery;
use crate::limits::{ERASE_WAIT, IMPORT_POLL};
use crate::originals::source_info;
use crate::parallel::on_thread;
use crate::query_batch::QueryBatch;
use crate::record::pack;
use crate::store::{
    Answer, Basis, Commit, Epoch, HandleTarget, Query, Seen, SeenStream, SegmentInfo, SourceInfo, SourceNo,
    StoreError, StreamFilter, StreamInfo, Write, Written,
};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;
use wunderblock_core::event::{ContentErased, EventSource, Fact, NewEvent};
use wunderblock_core::id::{EventId, Handle, StreamId};
use wunderblock_core::units::Seq;

/// An erasure whose own content is known.
pub(super) struct Forgetting<'e> {
    pub(super) engine: &'e Engine,
    /// The session, if the erasure concerns one.
    pub(super) session: Option<StreamId>,
    /// The sessions with their branches.
    pub(super) own: BTreeSet<StreamId>,
    pub(super) runs: Vec<Run>,
    /// What the positions of the runs hold.
    pub(super) losses: Vec<Loss>,
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
    segments: Vec<SegmentInfo>,
    /// Newest revisions of the sources that may have erased content.
    sources: BTreeMap<SourceNo, SourceInfo>,
}

impl Forgetting<'_> {
    /// Erases the content with everything made from it, and appends a receipt for each run.
    pub(super) async fn run(mut self) -> Result<Erased, Error> {
        let (each, heads) = self.remove().await?;
        let mut receipts: BTreeMap<&StreamId, Vec<NewEvent>> = BTreeMap::new();
        for (erased, Run { stream, from, to }) in each.iter().zip(&self.runs) {
            let head = heads.get(stream).copied().unwrap_or_default();
            let fact = Fact::ContentErased(ContentErased {
                from_seq: *from,
                to_seq: *to,
                events: erased.events,
                blobs: erased.blobs,
                source_bytes: erased.source_bytes,
                reason: self.reason.map(Into::into),
            });
            let id = EventId::new(format!("content.erased@{}:{from}-{to}", head.next()))?;
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

    /// Removes the content. Returns what each run lost, and the heads of the streams.
    async fn remove(&mut self) -> Result<(Vec<Erased>, BTreeMap<StreamId, Seq>), Error> {
        let (began, mut searched) = (Instant::now(), BTreeMap::new());
        loop {
            let mut state = State::read(self.engine).await?;
            let streams = std::mem::take(&mut state.streams);
            let shown = showing(&streams, &self.runs);
            let seen = self.search(&mut state, &shown, &mut searched).await?;
            let mut losses = self.losses.clone();
            losses.extend(made_from(self.engine, &shown).await?);
            let newest = state.sources.values().map(|info| &info.revision);
            let newest = state.sources.keys().zip(newest);
            let basis = Basis::Seen(Box::new(Seen {
                epoch: state.epoch,
                newest: streams.iter().map(|info| info.no).max(),
                streams: seen,
                segment: state.segments.iter().map(|info| info.id).max().unwrap_or_default(),
                sources: newest.map(|(no, revision)| (*no, revision.no, revision.len)).collect(),
                now: self.engine.now(),
            }));
            let writes = self.writes(&state, &losses).await?;
            match self.engine.storage.commit(Commit { basis, writes }).await {
                Err(StoreError::HeadMoved { .. } | StoreError::EpochMoved { .. }) => {
                    if began.elapsed() > ERASE_WAIT {
                        return Err(Error::Restless);
                    }
                }
                Err(StoreError::Held { .. }) => self.wait(&state.sources, began).await?,
                done => {
                    let sums = self.sums(&losses, &done?);
                    return Ok((sums, streams.into_iter().map(|info| (info.id, info.head)).collect()));
                }
            }
        }
    }

    /// Searches the sources of the streams for records, as far as they have grown since the last search. Returns the
    /// state of the streams.
    async fn search(
        &mut self,
        state: &mut State,
        shown: &[Shown<'_>],
        searched: &mut BTreeMap<(SourceNo, u32), u64>,
    ) -> Result<Vec<SeenStream>, Error> {
        let engine = self.engine;
        let linked = sources_of(engine, shown.iter().map(|shown| &shown.info.id)).await?;
        let mut numbers: BTreeSet<SourceNo> = linked.iter().flatten().map(|source| source.no).collect();
        numbers.extend(source_numbers(engine, &self.raw).await?);
        for no in numbers {
            state.sources.insert(no, source_info(engine, no, None).await?);
        }
        let mut seen = Vec::new();
        for (Shown { info, .. }, sources) in shown.iter().zip(linked) {
            let (stream, head) = (info.id.clone(), info.head);
            seen.push(SeenStream { stream, head, links: sources.len() as u64 });
            for source in sources.into_iter().filter(|_| self.own.contains(&info.id)) {
                let (key, len) = ((source.no, source.revision.no), source.revision.len);
                if searched.insert(key, len) != Some(len) {
                    self.raw.search(engine, source, (&self.wanted, &self.own)).await?;
                }
            }
        }
        Ok(seen)
    }

    async fn writes(&self, state: &State, losses: &[Loss]) -> Result<Vec<Write>, Error> {
        let tenant = self.engine.tenant.no;
        let spans: Vec<_> = self.raw.spans.iter().copied().collect();
        let mut writes = unindex_writes(self.engine, &state.segments, losses).await?;
        writes.extend(unshared_writes(self.engine, &spans, &self.own).await?);
        let erasures = self.raw.erasures.iter().cloned().collect();
        let stream = self.own.first().cloned().map_or_else(|| StreamId::new("files"), Ok)?;
        writes.push(Write::Erase { tenant, stream, seqs: Vec::new(), spans, erasures });
        for loss in losses {
            let (stream, seqs) = (loss.stream.clone(), loss.seqs.iter().copied().collect());
            let records = loss.places.clone();
            writes.push(Write::Erase {
                tenant,
                stream: stream.clone(),
                seqs,
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
    fn sums(&self, losses: &[Loss], done: &[Written]) -> Vec<Erased> {
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
            if on_thread(move || is_abandoned(path.as_ref())).await? {
                let (source, revision) = (info.no, info.revision.no);
                let disown = Write::Disown { source, revision, token: owner.token.clone() };
                self.engine.storage.commit(Commit::raw(vec![disown])).await?;
            } else if began.elapsed() > ERASE_WAIT {
                return Err(Error::Importing { path: info.key.clone() });
            }
        }
        on_thread(|| std::thread::sleep(IMPORT_POLL)).await
    }
}

/// Returns the numbers of the sources that lose bytes.
async fn source_numbers(engine: &Engine, raw: &Raw) -> Result<Vec<SourceNo>, Error> {
    let handles: BTreeSet<Handle> = raw.spans.iter().map(|span| span.source).collect();
    let tenant = engine.tenant.no;
    let mut batch = QueryBatch::default();
    let ask = |handle| batch.ask(Query::Resolve { tenant, handle }, Answer::named);
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
        let all = Query::Streams { tenant, filter: StreamFilter::default(), limit: u64::from(u32::MAX) };
        let streams = batch.ask(all, Answer::streams);
        let epoch = batch.ask(Query::Epoch { tenant }, Answer::epoch);
        let segments = batch.ask(Query::Segments { tenant }, Answer::segments);
        let mut answers = engine.ask_all(batch).await?;
        Ok(Self {
            epoch: answers.take(epoch)?,
            streams: answers.take(streams)?,
            segments: answers.take(segments)?,
            sources: BTreeMap::new(),
        })
    }
}
