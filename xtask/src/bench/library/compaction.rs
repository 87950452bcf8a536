//! Compaction: a sweep of a session that was never compacted, and repeated compactions of one lane.

use super::ingest::{open, stream};
use crate::bench::figure::{Figure, FigureUnit};
use crate::bench::measure::{Durations, SEED, millis};
use crate::program::ChoreResult;
use futures_executor::block_on;
use std::path::Path;
use std::time::{Duration, Instant};
use wunderblock::policy::{DEFAULT, Policies};
use wunderblock::{CompactOptions, CompactionResult as Done, Compactor, ContextOptions};
use wunderblock_core::compact::{Due, Urgency};
use wunderblock_core::id::LaneId;
use wunderblock_core::units::Tokens;
use wunderblock_testkit::generate;

/// Name, in the table, of a sweep.
const SWEEP: &str = "sweep of a session never compacted";
/// Name of a sweep's time per event, which is constant if a sweep is linear.
pub(in crate::bench) const SWEEP_PER_EVENT: &str = "sweep, for each event";
/// Number of timed compactions.
const ROUNDS: usize = 9;
/// Number of messages between two compactions: about the growth that the default policy allows in a window of 128,000
/// tokens.
const BETWEEN: usize = 60;

fn options(lane: &str, sweep: bool, level: Urgency) -> ChoreResult<CompactOptions> {
    let policy = Policies::embedded().preset(DEFAULT).ok_or("the default policy is missing")?;
    let lane = Some(LaneId::new(lane)?);
    let context = ContextOptions { lane, window: Some(Tokens(128_000)), ..ContextOptions::uncompacted() };
    let due = Some(Due { level, why: "a benchmark".to_owned() });
    Ok(CompactOptions { due, sweep, ..CompactOptions::new(context, Compactor::new(policy)) })
}

pub(in crate::bench) fn run(events: usize, path: &Path) -> ChoreResult<Vec<Figure>> {
    let engine = open(path)?;
    let session = engine.session_by_id(stream()?);
    let begin = Instant::now();
    let swept = block_on(session.compact(&options("swept", true, Urgency::Manual)?))?;
    let time = millis(begin.elapsed());
    let mut figures = vec![
        Figure::millis(events, SWEEP, time).at_most(60_000.0),
        Figure::millis(events, SWEEP_PER_EVENT, time / events as f64),
        Figure::new(events, "summaries it makes", swept.nodes.len() as f64, FigureUnit::Count),
        Figure::new(events, "the request after it, tokens", swept.after.0 as f64, FigureUnit::Count),
    ];
    // An agent at work, whose lane is compacted each time it is due.
    let fresh = generate::session(4 * ROUNDS * BETWEEN, SEED ^ 3);
    let fresh: Vec<_> = fresh.filter(|event| event.fact.kind() == "message.appended").collect();
    let (mut times, mut besides) = (Durations::default(), Durations::default());
    for part in fresh.chunks(BETWEEN).take(ROUNDS) {
        block_on(session.append(part.to_vec()))?;
        let wanted = options("swept", false, Urgency::Hard)?;
        let begin = Instant::now();
        let done = times.take(|| block_on(session.compact(&wanted)))?;
        let writing = Duration::from_millis(done.writing.0.unsigned_abs());
        besides.push(begin.elapsed().saturating_sub(writing));
        if done.outcome != Done::Compacted {
            return Err(format!("unexpected result of a compaction: `{}`", done.outcome.word()).into());
        }
    }
    figures.extend([
        Figure::millis(events, "a compaction besides its summaries, p50", besides.percentile(50))
            .at_most(50.0),
        Figure::millis(events, "the same, summaries included, p50", times.percentile(50)),
    ]);
    Ok(figures)
}
