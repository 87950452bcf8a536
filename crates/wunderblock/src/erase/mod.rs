//! Permanent erasure of content and of everything derived from it.
//!
//! Another import does not bring erased content back: the ledger keeps its coordinates (the session's own id, the
//! records' own ids, and byte ranges), but neither the content nor a hash of it.

mod erased;
pub(crate) mod family;
pub(crate) mod files;
mod loss;
mod text;

use crate::catch_up::join::read_segment;
use crate::future::BoxFuture;
use crate::imported_records::{RecordQuery, beginning, find_records};
use crate::query_batch::{EVERY, NEWEST, marked};
use crate::stored::{decode_event, read_texts};
pub use erased::{Along, Erased};
pub(crate) use family::{native, root};
use files::{records_of, sources_of, unshared_writes};
pub use text::{TextFound, TextPlace, TextRecord};

use crate::engine::Engine;
use crate::error::Error;
use crate::index::{DocKey, Header, without};
use crate::limits::CATCH_UP_RETRIES;
use crate::record::pack;
use crate::session::Session;
use crate::store::{
    Answer, Erasure, Gone, Marked, PackedSegment, Query, SourceSpan, StoreError, StreamInfo, Stretch, Write,
    Written,
};
use family::{Streams, is_child, is_copy, lineage, own_streams, relatives};
use loss::{Loss, Raw, erased_place, stays};
use std::collections::{BTreeMap, BTreeSet};
use wunderblock_core::event::{ContentErased, EventSource, Fact, NewEvent};
use wunderblock_core::id::{EventId, StreamId};
use wunderblock_core::message::Body;
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::Seq;

/// Origins of the content to be erased.
#[derive(Default)]
struct Range {
    spans: BTreeSet<SourceSpan>,
    /// Ids of events. The ids of a live agent's events are also the ids of the records in its future transcript.
    events: BTreeSet<String>,
    /// Beginnings of the events' texts.
    beginnings: Vec<String>,
}

impl Session {
    /// Erases the content of a range of positions and everything derived from it: bodies without other references,
    /// the raw records in every source of the session, recalled copies, foreign summaries, and index entries.
    /// Positions, times and kinds remain, and a receipt is appended. Forks share their history, so the content is
    /// erased in all of them.
    ///
    /// # Errors
    /// Fails if the session does not exist, or if the ledger cannot be written.
    pub fn erase<'a>(&'a self, from: Seq, to: Seq, reason: Option<&'a str>) -> BoxFuture<'a, Erased> {
        Box::pin(async move {
            let info = self.info().await?;
            let (from, to) = (from.max(Seq(1)), to.min(info.head));
            if from > to {
                return Err(Error::Address(format!(
                    "invalid positions: the session has positions 1 to {}",
                    info.head
                )));
            }
            let erased = erase_runs(self, &[(from, to)], reason, Raw::default()).await?;
            self.engine.scrubbed().await?;
            Ok(erased)
        })
    }

    /// Erases a whole session with all its branches, and its records in every file from which it was read.
    ///
    /// # Errors
    /// Fails in the same cases as [`Session::erase`].
    pub fn erase_all<'a>(&'a self, reason: Option<&'a str>, along: Along) -> BoxFuture<'a, Erased> {
        Box::pin(async move {
            let streams = self.engine.streams("", u64::from(u32::MAX)).await?;
            let mut own = own_streams(&self.id, &streams);
            // Sessions added in one round may have further sub-agents and copies.
            let (children, copies) = loop {
                let before = own.len();
                let children = relatives(&own, &streams, is_child);
                let copies = relatives(&own, &streams, is_copy);
                own.extend(children.iter().filter(|_| along.children).cloned());
                own.extend(copies.iter().filter(|_| along.copies).cloned());
                if own.len() == before {
                    break (children, copies);
                }
            };
            let sessions: BTreeSet<String> = own.iter().map(|id| native(id).to_owned()).collect();
            let mut raw = records_of(&self.engine, &own, &sessions).await?;
            let mut sum = Erased::default();
            for info in streams.iter().filter(|info| own.contains(&info.id)) {
                let base = info.fork.as_ref().filter(|(parent, _)| !own.contains(parent));
                let from = base.map_or(Seq(1), |(_, base)| base.next());
                if from > info.head {
                    continue;
                }
                let session = self.engine.session_by_id(info.id.clone());
                // A live agent's events have no file yet, but a later transcript must not bring them back, so their
                // ids are recorded.
                let mut live = Range::default();
                add_range(&session, (from, info.head), &mut live).await?;
                let name = native(&info.id).to_owned();
                let erasure = |id| Erasure { session: name.clone(), what: Gone::Event(id) };
                raw.erasures.extend(live.events.into_iter().map(erasure));
                let all = std::mem::take(&mut raw);
                let (runs, family) = ([(from, info.head)], Streams { all: &streams, own: &own });
                sum.add(forget_runs(&session, &runs, reason, family, all).await?);
            }
            self.engine.scrubbed().await?;
            sum.children = children.into_iter().collect();
            sum.copies = copies.into_iter().collect();
            Ok(sum)
        })
    }
}

/// Erases runs of positions in order, each with a receipt, together with the given content of imported files.
async fn erase_runs(
    session: &Session,
    runs: &[(Seq, Seq)],
    reason: Option<&str>,
    mut raw: Raw,
) -> Result<Erased, Error> {
    let streams = session.engine.streams("", u64::from(u32::MAX)).await?;
    let own = own_streams(&session.id, &streams);
    let mut range = Range::default();
    for run in runs {
        add_range(session, *run, &mut range).await?;
    }
    range.beginnings.sort_unstable();
    range.beginnings.dedup();
    let name = native(&session.id).to_owned();
    raw.spans.extend(&range.spans);
    let erasure = |id: &String| Erasure { session: name.clone(), what: Gone::Event(id.clone()) };
    raw.erasures.extend(range.events.iter().map(erasure));
    let wanted = RecordQuery {
        sessions: BTreeSet::from([name.clone()]),
        events: range.events,
        spans: range.spans,
        beginnings: range.beginnings,
        ..RecordQuery::default()
    };
    for source in sources_of(&session.engine, &own).await? {
        raw.take(find_records(&session.engine, source, wanted.clone()).await?);
    }
    forget_runs(session, runs, reason, Streams { all: &streams, own: &own }, raw).await
}

/// Erases runs of positions and the given content of imported files in one transaction, and then appends the
/// receipts.
async fn forget_runs(
    session: &Session,
    runs: &[(Seq, Seq)],
    reason: Option<&str>,
    streams: Streams<'_>,
    raw: Raw,
) -> Result<Erased, Error> {
    let each = lose_runs(session, runs, streams, raw).await?;
    let head = session.info().await?.head;
    let mut receipts = Vec::new();
    let mut erased = Erased::default();
    for (sum, (from_seq, to_seq)) in each.into_iter().zip(runs.iter().copied()) {
        let fact = Fact::ContentErased(ContentErased {
            from_seq,
            to_seq,
            events: sum.events,
            blobs: sum.blobs,
            source_bytes: sum.source_bytes,
            reason: reason.map(Into::into),
        });
        erased.add(sum);
        let id = EventId::new(format!("content.erased@{}:{from_seq}-{to_seq}", head.next()))?;
        receipts.push(NewEvent { id, at: session.engine.now(), source: EventSource::Engine, fact });
    }
    let events = pack(&session.engine.tenant.key, receipts)?;
    let (tenant, stream) = (session.engine.tenant.no, session.id.clone());
    let append = Write::Append { tenant, stream, expect_head: None, events };
    if let Some(Written::Appended(done)) = session.engine.storage.commit(vec![append]).await?.pop() {
        erased.receipt = done.last().map(|one| one.seq);
    }
    Ok(erased)
}

/// Erases the content in one transaction. Returns the losses of each run; losses in files are counted with the first
/// run.
async fn lose_runs(
    session: &Session,
    runs: &[(Seq, Seq)],
    streams: Streams<'_>,
    raw: Raw,
) -> Result<Vec<Erased>, Error> {
    let tenant = session.engine.tenant.no;
    let spans: Vec<SourceSpan> = raw.spans.into_iter().collect();
    let erasures: Vec<Erasure> = raw.erasures.into_iter().collect();
    for _ in 0..CATCH_UP_RETRIES {
        let epoch = session.engine.ask(Query::Epoch, Answer::epoch).await?;
        let losses = find_losses(session, runs, streams.all).await?;
        // The index is rewritten from segments read at this epoch.
        let mut writes = vec![Write::Still { epoch }];
        writes.extend(unindex_writes(&session.engine, &losses).await?);
        writes.extend(unshared_writes(&session.engine, &spans, streams.own).await?);
        let (stream, spans, erasures) = (session.id.clone(), spans.clone(), erasures.clone());
        writes.push(Write::Erase { tenant, stream, seqs: Vec::new(), spans, erasures });
        for loss in &losses {
            let (stream, seqs) = (loss.stream.clone(), loss.seqs.iter().copied().collect());
            let (spans, erasures) = (Vec::new(), Vec::new());
            let records = loss.places.clone();
            writes.push(Write::Erase { tenant, stream: stream.clone(), seqs, spans, erasures });
            writes.push(Write::Records { tenant, stream, records });
        }
        let done = match session.engine.storage.commit(writes).await {
            // Segments of the index were replaced in the meantime, so the writes are built again.
            Err(StoreError::HeadMoved { .. }) => continue,
            done => done?,
        };
        let done = done.iter().filter(|written| matches!(written, Written::Erased { .. }));
        let mut each = vec![Erased::default(); runs.len()];
        for (run, written) in std::iter::once(0).chain(losses.iter().map(|loss| loss.run)).zip(done) {
            let sum = Erased::of(std::slice::from_ref(written));
            each.iter_mut().skip(run).take(1).for_each(|erased| erased.add(sum.clone()));
        }
        return Ok(each);
    }
    Err(Error::Restless)
}

/// Adds the origins of a run's events, and the beginnings of their texts, to `range`.
async fn add_range(session: &Session, (from, to): (Seq, Seq), range: &mut Range) -> Result<(), Error> {
    let mut pages = session.pages(from, to);
    while let Some(events) = pages.next().await? {
        let facts: Vec<&Fact> = events.iter().filter_map(|event| event.fact.as_ref()).collect();
        let bodies = || facts.iter().flat_map(|fact| fact.bodies());
        let texts =
            read_texts(&session.engine, bodies().filter_map(Body::handle).collect::<Vec<_>>()).await?;
        let text = |body| texts.of(body).and_then(beginning);
        range.beginnings.extend(bodies().filter_map(text));
        for event in &events {
            if let EventSource::Import { source, revision, offset, len } = event.source {
                range.spans.insert(SourceSpan { source, revision, offset, len });
            }
            if !matches!(event.source, EventSource::Engine) && !stays(event) {
                range.events.insert(event.id.as_str().to_owned());
            }
        }
    }
    Ok(())
}

/// Returns the losses of every stream: the runs themselves, and the content derived from them, here and in forks.
async fn find_losses(
    session: &Session,
    runs: &[(Seq, Seq)],
    streams: &[StreamInfo],
) -> Result<Vec<Loss>, Error> {
    let lines: BTreeMap<&StreamId, Vec<(&StreamId, Seq, Seq)>> =
        streams.iter().map(|info| (&info.id, lineage(info, streams))).collect();
    let own = lines.get(&session.id).cloned().unwrap_or_default();
    let mut losses = Vec::new();
    for (run, (from, to)) in runs.iter().copied().enumerate() {
        let within = |part: &(&StreamId, Seq, Seq)| part.1 <= to && from <= part.2;
        let holders: BTreeSet<&StreamId> =
            own.iter().filter(|part| within(part)).map(|part| part.0).collect();
        let first = losses.len();
        losses.push(find_loss(session, run, (from, to)).await?);
        for (id, line) in &lines {
            let shares = line.iter().any(|part| holders.contains(part.0) && within(part));
            if **id != session.id && shares && !own.iter().any(|part| part.0 == *id) {
                // A fork may contain summaries and copies of the shared range.
                losses.push(Loss::new(run, id));
            }
        }
        for loss in losses.iter_mut().skip(first) {
            add_made_from(&session.engine, loss, (from, to)).await?;
        }
    }
    losses.retain(|loss| !loss.seqs.is_empty());
    Ok(losses)
}

/// Returns the positions of a run that have content to lose.
async fn find_loss(session: &Session, run: usize, (from, to): (Seq, Seq)) -> Result<Loss, Error> {
    let mut loss = Loss::new(run, &session.id);
    let mut pages = session.pages(from, to);
    while let Some(events) = pages.next().await? {
        let gone = || events.iter().filter(|event| !stays(event));
        loss.seqs.extend(gone().map(|event| event.seq));
        loss.places.extend(gone().filter_map(|event| Some((erased_place(event)?, event.seq))));
    }
    Ok(loss)
}

pub(crate) async fn indexed_stretches(engine: &Engine, stream: &StreamId) -> Result<Vec<Stretch>, Error> {
    engine.ask(Query::Lineage { tenant: engine.tenant.no, stream: stream.clone() }, Answer::lineage).await
}

/// Adds events outside the range that contain some of its content: recalled copies, summaries, and reduced texts.
async fn add_made_from(engine: &Engine, loss: &mut Loss, (from, to): (Seq, Seq)) -> Result<(), Error> {
    let inside = |seq: Seq| from <= seq && seq <= to;
    for kind in ["context.injected", "session.compacted", "content.reduced"] {
        let query = marked(engine, &loss.stream, Marked::Kind(kind), (NEWEST, EVERY));
        let rows = engine.ask(query, Answer::events).await?;
        for row in rows {
            let event = decode_event(engine, &loss.stream, &row)?;
            let carries = match &event.fact {
                Some(Fact::ContextInjected(injected)) => {
                    injected.items.iter().any(|item| inside(item.from_seq))
                        || injected.work.as_ref().is_some_and(|work| work.touches(from, to))
                }
                Some(Fact::SessionCompacted(made)) => {
                    made.summary.is_some() && made.from_seq <= to && from <= made.to_seq
                }
                Some(Fact::ContentReduced(reduced)) => inside(reduced.target),
                _ => false,
            };
            if carries && !stays(&event) {
                loss.seqs.insert(event.seq);
            }
        }
    }
    Ok(())
}

/// Returns the writes that remove the losses from the text index.
async fn unindex_writes(engine: &Engine, losses: &[Loss]) -> Result<Vec<Write>, Error> {
    let mut gone: BTreeSet<(u32, u64)> = BTreeSet::new();
    for loss in losses {
        let line = indexed_stretches(engine, &loss.stream).await?;
        for seq in &loss.seqs {
            let holder = line.iter().find(|part| part.from <= *seq && *seq <= part.to);
            gone.extend(holder.map(|part| (part.no.0, seq.0)));
        }
    }
    let segments = engine.ask(Query::Segments { tenant: engine.tenant.no }, Answer::segments).await?;
    let is_gone = |key: DocKey| gone.contains(&(key.stream, key.seq));
    let mut writes = Vec::new();
    for info in segments {
        let header = Header::decode(&info.header)?;
        if !header.docs().any(is_gone) {
            continue;
        }
        let segment = read_segment(engine, info.id, info.header.clone()).await?;
        let rest = without(&segment, is_gone)?;
        let docs = Header::decode(&rest.header)?.len() as u64;
        let packed = PackedSegment { docs, header: rest.header, blocks: rest.blocks };
        writes.push(Write::Segment {
            tenant: engine.tenant.no,
            segment: (docs > 0).then_some(packed),
            replaces: vec![info.id],
            indexed: Vec::new(),
        });
    }
    Ok(writes)
}
