//! Vectors are made again by the model that the settings name.
//!
//! ```text
//! segment ─ which events another model should embed ─► pieces ─► the first is embedded ─┐
//!                                                       the rest, as they are ──────────┴─► one commit, without the segment
//! ```
//! The table embeds everything at first, so that nothing waits for an embedder. A segment says which model made it, and
//! from which events. Until a piece is replaced, the vectors that are there answer, if this process can embed a question
//! with their model. If the embedder fails, they stay, and the next run goes on with the next piece.

use super::batch::{Batch, load_bodies, read_batch};
use super::embedding::is_made_by;
use super::extent::Extent;
use super::join::{commit_segments, read_segment, segment_infos, segment_write};
use super::pack::packed_vectors;
use crate::base::error::Error;
use crate::base::progress::Progress;
use crate::ledger::engine::Engine;
use crate::ledger::session::PageLimit;
use crate::rules::embedder::Embedder;
use std::collections::{BTreeSet, HashMap};
use wunderblock_core::units::Seq;
use wunderblock_index::{EventRange, Segment, VectorHeader, join_vectors, part_of_vectors};
use wunderblock_store::{
    Answer, DerivedTable, Epoch, PackedSegment, Query, SegmentInfo, StreamInfo, StreamNo,
};

const VECTORS: DerivedTable = DerivedTable::Vectors;
/// Maximum number of events of a piece: what is lost if the process ends.
const PIECE: u64 = 1_024;

/// A segment with vectors that another model should make.
struct StaleSegment<'e> {
    info: SegmentInfo,
    streams: HashMap<u32, StreamInfo>,
    /// Embedder of the first piece; `None` for the table.
    by: Option<&'e Embedder>,
    /// Events of which vectors are made again, in pieces.
    pieces: Vec<Vec<EventRange>>,
    /// Events whose vectors stay as they are.
    rest: Vec<EventRange>,
}

/// Makes vectors again that another model should make. Nothing is deleted until the new vectors cover the same events.
pub(super) async fn renew(
    engine: &Engine,
    extent: Extent,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<(), Error> {
    if !extent.tables.contains(&VECTORS) || extent.until.is_some() {
        return Ok(());
    }
    let (mut done, mut total) = (0, None);
    loop {
        let (infos, epoch) = segment_infos(engine, VECTORS).await?;
        let mut stale = Vec::new();
        for info in infos {
            stale.extend(StaleSegment::find(engine, info).await?);
        }
        let events = |one: &StaleSegment<'_>| one.pieces.iter().map(|piece| count(piece)).sum::<u64>();
        // Two processes with different settings would undo each other's work forever.
        let total = *total.get_or_insert_with(|| stale.iter().map(events).sum::<u64>());
        let before = done;
        for one in stale {
            done += match one.renew(engine, epoch).await {
                // The embedder holds the failure.
                Err(Error::Embedder(_)) => 0,
                renewed => renewed?,
            };
            progress(Progress { done: done.min(total), total });
        }
        if done == before || done >= total {
            return Ok(());
        }
    }
}

impl<'e> StaleSegment<'e> {
    /// Returns what should be made again of a segment, if there is anything.
    async fn find(engine: &'e Engine, info: SegmentInfo) -> Result<Option<Self>, Error> {
        let embedder = engine.config.embedder.as_deref();
        let Ok(header) = VectorHeader::decode(&info.header) else { return Ok(None) };
        if let Some(embedder) = embedder.filter(|embedder| embedder.model() == header.model()) {
            embedder.hold(header.dimensions());
        }
        if embedder.is_none() && is_made_by(&header, None) {
            return Ok(None);
        }
        let numbers: BTreeSet<u32> = header.ranges().iter().map(|range| range.stream).collect();
        let streams = numbers.into_iter().map(StreamNo).collect();
        let query = Query::StreamsByNo { tenant: engine.tenant.no, streams };
        let streams = engine.ask(query, Answer::streams).await?;
        let streams: HashMap<u32, StreamInfo> = streams.into_iter().map(|info| (info.no.0, info)).collect();
        let (mut by_table, mut by_embedder, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for range in header.ranges() {
            let wanted = streams
                .get(&range.stream)
                .map(|info| embedder.filter(|embedder| embedder.is_for(&info.scope)));
            match wanted.filter(|by| !is_made_by(&header, *by)) {
                None => rest.push(*range),
                Some(None) => by_table.push(*range),
                Some(Some(_)) => by_embedder.push(*range),
            }
        }
        let by = embedder.filter(|_| by_table.is_empty());
        let pieces: Vec<_> = [by_table, by_embedder].into_iter().flat_map(cut).collect();
        Ok((!pieces.is_empty()).then_some(Self { info, streams, by, pieces, rest }))
    }

    /// Makes the first piece again. Returns its number of events, and 0 if another process was faster.
    async fn renew(self, engine: &Engine, epoch: Epoch) -> Result<u64, Error> {
        let Some((first, later)) = self.pieces.split_first() else { return Ok(0) };
        let Some(made) = self.made_again(engine, first).await? else { return Ok(0) };
        let mut segments = vec![made];
        let rest = Some(&self.rest).filter(|rest| !rest.is_empty());
        if !later.is_empty() || rest.is_some() {
            let whole = read_segment(engine, self.info.id, self.info.header.clone()).await?;
            for ranges in later.iter().chain(rest) {
                // The blocks that another process has just replaced do not match their header.
                let Ok(part) = part_of_vectors(&whole, ranges) else { return Ok(0) };
                segments.push(packed_vectors(part)?);
            }
        }
        // Each part gets a number of its own, so that a join of the whole segment, in another process, fails.
        let part = |segment| segment_write(engine, VECTORS, Some(segment), Vec::new());
        let mut writes: Vec<_> = segments.into_iter().map(part).collect();
        writes.push(segment_write(engine, VECTORS, None, vec![self.info.segment()]));
        Ok(if commit_segments(engine, writes, epoch).await? { count(first) } else { 0 })
    }

    /// Returns the segment of new vectors for ranges of events.
    async fn made_again(
        &self,
        engine: &Engine,
        ranges: &[EventRange],
    ) -> Result<Option<PackedSegment>, Error> {
        let mut parts = Vec::new();
        for range in ranges {
            let Some(mut info) = self.streams.get(&range.stream).cloned() else { return Ok(None) };
            let mut after = Seq(range.after);
            while after.0 < range.through {
                info.frontiers.set(VECTORS, after);
                let room = Extent::ALL.room(range.through - after.0);
                let events = room.events.min(range.through - after.0);
                let mut batch = Batch::new(PageLimit { events, ..room });
                let Some(last) = read_batch(engine, &mut batch, &info, after.next()).await? else { break };
                let (redactor, key) = (&engine.config.redactor, &engine.tenant.key);
                let done = load_bodies(engine, batch).await?.work(redactor, key, &[VECTORS], self.by)?;
                let made = done.segments.into_iter().filter_map(|(_, segment, _)| segment);
                parts.extend(made.map(|PackedSegment { header, blocks, .. }| Segment { header, blocks }));
                after = last;
            }
        }
        if parts.is_empty() {
            return Ok(None);
        }
        Ok(Some(packed_vectors(join_vectors(&parts, |_| false)?)?))
    }
}

/// Cuts ranges into pieces of at most [`PIECE`] events.
fn cut(ranges: Vec<EventRange>) -> Vec<Vec<EventRange>> {
    let (mut pieces, mut room) = (Vec::<Vec<EventRange>>::new(), 0);
    for mut range in ranges {
        while range.after < range.through {
            if room == 0 {
                pieces.push(Vec::new());
                room = PIECE;
            }
            let through = range.through.min(range.after + room);
            room -= through - range.after;
            pieces.last_mut().into_iter().for_each(|piece| piece.push(EventRange { through, ..range }));
            range.after = through;
        }
    }
    pieces
}

fn count(ranges: &[EventRange]) -> u64 {
    ranges.iter().map(|range| range.through.saturating_sub(range.after)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_hold_all_events_and_have_a_maximum() {
        let range = |stream, after, through| EventRange { stream, after, through };
        let ranges = vec![range(1, 5, 900), range(2, 0, 3_000), range(3, 7, 7), range(4, 1, 2)];
        let pieces = cut(ranges.clone());
        let counts: Vec<u64> = pieces.iter().map(|piece| count(piece)).collect();
        assert_eq!(counts, [1_024, 1_024, 1_024, 824]);
        assert_eq!(pieces[0], [range(1, 5, 900), range(2, 0, 129)]);
        assert_eq!(pieces[3], [range(2, 2_177, 3_000), range(4, 1, 2)]);
        assert_eq!(counts.iter().sum::<u64>(), count(&ranges));
        assert_eq!(cut(Vec::new()), Vec::<Vec<EventRange>>::new());
    }
}
