//! Finds what was made from erased content: summaries, recalled copies, shortened texts, and entries of the index.

use super::loss::{Depth, Loss, Run};
use super::showing::Showing;
use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::reading::query_batch::QueryBatch;
use crate::ledger::reading::stored::decode_event;
use crate::recall::catch_up::join::read_segment;
use crate::recall::catch_up::{packed_vectors, packed_words};
use std::collections::{BTreeMap, BTreeSet};
use wunderblock_core::decision::Injection;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::units::Seq;
use wunderblock_index::{DocKey, Header, VectorHeader, join_vectors, without};
use wunderblock_store::{
    Answer, DerivedTable, EventFilter, Query, SegmentInfo, StreamInfo, StreamKind, StreamNo, Write,
};

/// Kinds of events that are made from others.
const DERIVED: [&str; 4] =
    ["context.injected", "session.compacted", "content.reduced", "compaction.rejected"];

/// Positions whose content is lost, and the run for which it is.
struct Origin {
    run: usize,
    at: Run,
    /// Whether requests show what is at the positions, so that a summary may be made from it. The position of a summary
    /// itself says nothing about the ranges in which it lies.
    is_shown: bool,
}

/// Returns the events of streams that were made from positions of the runs: of those that the streams show, of recalled
/// ones of other sessions, and of what was made from these.
pub(super) async fn made_from(
    engine: &Engine,
    streams: &[StreamInfo],
    runs: &[Run],
) -> Result<Vec<Loss<'static>>, Error> {
    let mut events = derived_events(engine, streams).await?;
    let mut losses: Vec<Loss<'_>> = Vec::new();
    let whole = |(run, at): (usize, &Run)| Origin { run, at: at.clone(), is_shown: true };
    let mut origins: Vec<Origin> = runs.iter().enumerate().map(whole).collect();
    while !origins.is_empty() {
        let places: Vec<Run> = origins.iter().map(|origin| origin.at.clone()).collect();
        let (showing, mut rest, mut made) = (Showing::of(streams, &places), Vec::new(), Vec::new());
        for (info, event) in events {
            let is_copy = matches!(event.fact, Some(Fact::ContextInjected(_)));
            let shown = showing.runs(info).into_iter().find(|(number, from, to)| {
                let is_shown = origins.get(*number).is_some_and(|origin| origin.is_shown);
                (is_shown || is_copy) && carries(&event, *from, *to)
            });
            let number = shown.map(|(number, ..)| number).or_else(|| recalls(&event, &showing));
            let Some(origin) = number.and_then(|number| origins.get(number)) else {
                rest.push((info, event));
                continue;
            };
            let (number, part) = (origin.run, (info, event.seq, event.seq));
            let own = runs.get(number).filter(|run| run.stream == info.id);
            let mut loss = match own {
                Some(run) => Loss::holding(number, run, &part, Depth::Texts),
                None => Loss::within(number, &part, Depth::Texts),
            };
            loss.take(&event)?;
            losses.push(loss);
            let at = Run { stream: info.id.clone(), from: event.seq, to: event.seq };
            made.push(Origin { run: number, at, is_shown: is_copy });
        }
        (events, origins) = (rest, made);
    }
    Ok(losses)
}

/// Reads the events of streams that are made from others.
async fn derived_events<'s>(
    engine: &Engine,
    streams: &'s [StreamInfo],
) -> Result<Vec<(&'s StreamInfo, Event)>, Error> {
    let query =
        Query::PlacesOfKinds { tenant: engine.tenant.no, of: StreamKind::Session, kinds: DERIVED.to_vec() };
    let mut places: BTreeMap<StreamNo, Vec<Seq>> = BTreeMap::new();
    for (stream, seq) in engine.ask(query, Answer::holders).await? {
        places.entry(stream).or_default().push(seq);
    }
    let mut batch = QueryBatch::default();
    let mut asked = Vec::new();
    for info in streams {
        let Some(seqs) = places.remove(&info.no) else { continue };
        let (tenant, stream, filter) = (engine.tenant.no, info.id.clone(), EventFilter::default());
        asked.push((info, batch.ask(Query::At { tenant, stream, seqs, filter }, Answer::events)));
    }
    let mut answers = engine.ask_all(batch).await?;
    let mut events = Vec::new();
    for (info, key) in asked {
        for row in answers.take(key)? {
            events.push((info, decode_event(engine, &info.id, &row)?));
        }
    }
    Ok(events)
}

/// Returns whether an event has content of a range of positions.
fn carries(event: &Event, from: Seq, to: Seq) -> bool {
    let inside = |seq: Seq| from <= seq && seq <= to;
    match &event.fact {
        Some(Fact::ContextInjected(injected)) => {
            let own = |item: &&Injection| item.from_stream.as_ref().is_none_or(|from| *from == event.stream);
            injected.items.iter().filter(own).any(|item| inside(item.from_seq))
                || injected.work.as_ref().is_some_and(|work| work.touches(from, to))
        }
        Some(Fact::SessionCompacted(made)) => {
            made.summary.is_some() && made.from_seq <= to && from <= made.to_seq
        }
        Some(Fact::ContentReduced(reduced)) => inside(reduced.target),
        // The reasons for rejecting a summary quote what the summary lacks.
        Some(Fact::CompactionRejected(made)) => !made.rejected.is_empty() && from < event.seq,
        _ => false,
    }
}

/// Returns the run to which a text belongs that an event recalls from another session.
fn recalls(event: &Event, showing: &Showing<'_>) -> Option<usize> {
    let Some(Fact::ContextInjected(injected)) = &event.fact else { return None };
    injected.items.iter().find_map(|item| showing.run_of(item.from_stream.as_ref()?, item.from_seq))
}

/// Returns the writes that remove the losses from segments of words and of vectors.
pub(super) async fn unindex_writes(
    engine: &Engine,
    segments: &[(DerivedTable, SegmentInfo)],
    losses: &[Loss<'_>],
) -> Result<Vec<Write>, Error> {
    let gone = losses.iter().flat_map(|loss| loss.events.keys().map(|seq| (loss.no.0, seq.0)));
    let gone: BTreeSet<(u32, u64)> = gone.collect();
    let is_gone = |key: DocKey| gone.contains(&(key.stream, key.seq));
    let mut writes = Vec::new();
    for (table, info) in segments {
        let is_vectors = *table == DerivedTable::Vectors;
        let has_gone = match is_vectors {
            true => VectorHeader::decode(&info.header)?.keys().iter().any(|key| is_gone(key.doc)),
            false => Header::decode(&info.header)?.docs().any(is_gone),
        };
        if !has_gone {
            continue;
        }
        let segment = read_segment(engine, info.id, info.header.clone()).await?;
        let rest = match is_vectors {
            // A segment without vectors still says which events it covers.
            true => Some(packed_vectors(join_vectors(&[segment], is_gone)?)?),
            false => Some(packed_words(without(&segment, is_gone)?)?).filter(|rest| rest.docs > 0),
        };
        writes.push(Write::Segment {
            tenant: engine.tenant.no,
            table: *table,
            segment: rest,
            replaces: vec![info.segment()],
            reaches: Vec::new(),
        });
    }
    Ok(writes)
}
