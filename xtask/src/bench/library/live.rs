//! Live appends of single events, compared with the disk's own sync: with one writer and with many.

use super::ingest::open;
use crate::bench::figure::{Figure, FigureUnit};
use crate::bench::measure::{Durations, SEED, SyncedFile, millis};
use crate::program::ChoreResult;
use futures_executor::block_on;
use std::path::Path;
use std::time::Instant;
use wunderblock::Engine;
use wunderblock_core::event::NewEvent;
use wunderblock_core::id::StreamId;
use wunderblock_testkit::generate;

/// Name, in the table, of appends by one writer.
pub(in crate::bench) const SINGLE: &str = "live append of one event, p50";

/// Number of events appended one by one.
const APPENDS: usize = 200;
/// Number of concurrent writers.
const WRITERS: usize = 8;
/// Number of bytes written by the commit of a small event, so that the bare sync has the same amount of work.
const BARE_BYTES: usize = 16 << 10;

pub(in crate::bench) fn run(events: usize, path: &Path) -> ChoreResult<Vec<Figure>> {
    let engine = open(path)?;
    let session = engine.session_by_id(StreamId::new("live")?);
    let mut bare = SyncedFile::new(path.parent().unwrap_or(Path::new(".")))?;
    let (mut own, mut disk) = (Durations::default(), Durations::default());
    // The two measurements alternate, so that other load on the machine affects both.
    for event in generate::session(APPENDS, SEED ^ 1) {
        disk.take(|| bare.sync(BARE_BYTES))?;
        own.take(|| block_on(session.append(vec![event])))?;
    }
    let grouped = together(&engine)?;
    let at_most = |what: &str, value: f64, most: f64| Figure::millis(events, what, value).at_most(most);
    Ok(vec![
        Figure::new(
            events,
            &format!("live append: time per event with {WRITERS} writers / with one"),
            grouped / own.percentile(50),
            FigureUnit::Times,
        )
        .at_most(1.0),
        Figure::millis(events, "the disk's bare sync, p50", disk.percentile(50)),
        Figure::millis(events, "the disk's bare sync, p95", disk.percentile(95)),
        at_most(SINGLE, own.percentile(50), disk.percentile(50) + 1.0),
        at_most("live append of one event, p95", own.percentile(95), disk.percentile(95) + 1.0),
        Figure::millis(events, &format!("live append, {WRITERS} writers: time per event"), grouped),
    ])
}

/// Milliseconds per event when several writers append at the same time.
fn together(engine: &Engine) -> ChoreResult<f64> {
    let start = Instant::now();
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| scope.spawn(move || one_of_many(engine, writer).map_err(|error| error.to_string())))
            .collect();
        for writer in writers {
            writer.join().map_err(|_| "a writer ended early")??;
        }
        Ok::<(), Box<dyn std::error::Error>>(())
    })?;
    Ok(millis(start.elapsed()) / (WRITERS * APPENDS) as f64)
}

fn one_of_many(engine: &Engine, writer: usize) -> ChoreResult<()> {
    let session = engine.session_by_id(StreamId::new(format!("live-{writer}"))?);
    let events: Vec<NewEvent> = generate::session(APPENDS, SEED ^ (100 + writer as u64)).collect();
    for event in events {
        block_on(session.append(vec![event]))?;
    }
    Ok(())
}
