//! Vectors of other models are made again in the background.
//!
//! A segment of vectors says which model made it, and from which events. Vectors of another model are not comparable with
//! those of a question, so a search passes over them; they are replaced one segment at a time, by one that covers the
//! same events.

use super::batch::{Batch, load_bodies, read_batch};
use super::extent::Extent;
use super::join::{segment_infos, swap_segments};
use super::pack::{is_current, packed_vectors};
use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::session::PageLimit;
use std::collections::HashMap;
use wunderblock_core::units::Seq;
use wunderblock_index::{Segment, VectorHeader, join_vectors};
use wunderblock_store::{Answer, DerivedTable, PackedSegment, Query, StreamInfo, StreamNo};

const VECTORS: DerivedTable = DerivedTable::Vectors;

/// Makes the vectors of other models again. Nothing is deleted until the new vectors cover the same events.
pub(super) async fn renew(engine: &Engine, extent: Extent) -> Result<(), Error> {
    if !extent.tables.contains(&VECTORS) || extent.until.is_some() {
        return Ok(());
    }
    let (infos, epoch) = segment_infos(engine, VECTORS).await?;
    for info in infos {
        let Some(header) = VectorHeader::decode(&info.header).ok().filter(|header| !is_current(header))
        else {
            continue;
        };
        let Some(segment) = made_again(engine, &header).await? else { continue };
        if !swap_segments(engine, VECTORS, segment, vec![info.segment()], epoch).await? {
            break;
        }
    }
    Ok(())
}

/// Returns the segment of this program's vectors for the events of another. `None` if a stream of it is missing.
async fn made_again(engine: &Engine, header: &VectorHeader) -> Result<Option<PackedSegment>, Error> {
    let tenant = engine.tenant.no;
    let numbers = header.ranges().iter().map(|range| StreamNo(range.stream)).collect();
    let streams = engine.ask(Query::StreamsByNo { tenant, streams: numbers }, Answer::streams).await?;
    let streams: HashMap<u32, StreamInfo> = streams.into_iter().map(|info| (info.no.0, info)).collect();
    let mut parts = Vec::new();
    for range in header.ranges() {
        let Some(mut info) = streams.get(&range.stream).cloned() else { return Ok(None) };
        let mut after = Seq(range.after);
        while after.0 < range.through {
            info.frontiers.set(VECTORS, after);
            let room = Extent::ALL.room(range.through - after.0);
            let events = room.events.min(range.through - after.0);
            let mut batch = Batch::new(PageLimit { events, ..room });
            let Some(last) = read_batch(engine, &mut batch, &info, after.next()).await? else { break };
            let (redactor, key) = (&engine.config.redactor, &engine.tenant.key);
            let done = load_bodies(engine, batch).await?.work(redactor, key, &[VECTORS])?;
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
