//! Requests for a window of 128,000 tokens.

use super::ingest::{open, stream};
use crate::bench::figure::{Figure, FigureUnit};
use crate::bench::measure::{Durations, SEED};
use crate::bench::task::{ChildWork, spawn};
use crate::program::ChoreResult;
use futures_executor::block_on;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use wunderblock::store::sqlite::{Access, Sqlite};
use wunderblock::store::{Answer, Answering, Commit, Query, Storage, Written};
use wunderblock::{Config, ContextOptions, Engine};
use wunderblock_core::units::Tokens;
use wunderblock_testkit::generate;

/// Name, in the table, of a build in a process that has built before.
pub(in crate::bench) const WARM: &str = "context of 128k tokens, warm, p50";

/// Number of timed builds.
const BUILDS: usize = 40;
/// Number of processes, each started for one build.
const STARTS: usize = 9;

pub(in crate::bench) fn options() -> ContextOptions {
    ContextOptions { window: Some(Tokens(128_000)), ..ContextOptions::uncompacted() }
}

pub(in crate::bench) fn run(events: usize, path: &Path) -> ChoreResult<Vec<Figure>> {
    let first = first_builds(events, path)?;
    let engine = open(path)?;
    let session = engine.session_by_id(stream()?);
    // Records the lane's first request, so that later builds continue from it.
    block_on(session.context(options()))?;
    let mut warm = Durations::default();
    let mut recorded = Durations::default();
    // An agent at work: each request follows a new event.
    let fresh =
        generate::session(4 * BUILDS, SEED ^ 2).filter(|event| event.fact.kind() == "message.appended");
    for event in fresh.take(BUILDS) {
        block_on(session.append(vec![event]))?;
        warm.take(|| block_on(session.explain(options())))?;
        recorded.take(|| block_on(session.context(options())))?;
    }
    drop(session);
    drop(engine);
    let handle =
        Durations::of(STARTS, || Ok(block_on(open(path)?.session_by_id(stream()?).explain(options()))?))?;
    let mut process = Durations::default();
    for _ in 0..STARTS {
        process.push(Duration::from_secs_f64(spawn(ChildWork::Context, path, path)?.seconds));
    }
    let at_most = |what: &str, value: f64, most: f64| Figure::millis(events, what, value).at_most(most);
    let mut figures = vec![
        Figure::new(events, "round trips of a build", trips(path)? as f64, FigureUnit::Count).at_most(4.0),
        at_most(WARM, warm.percentile(50), 10.0).floor("1,931 ms"),
        at_most("context of 128k tokens, warm, p95", warm.percentile(95), 10.0),
        Figure::millis(events, "the same, recorded, p50", recorded.percentile(50)),
        at_most("context of 128k tokens, ledger just opened, p50", handle.percentile(50), 10.0),
        at_most("context of 128k tokens, new process, p50", process.percentile(50), 150.0),
        at_most("context of 128k tokens, new process, p95", process.percentile(95), 150.0),
    ];
    figures.extend(first);
    Ok(figures)
}

/// Measures the first request of a lane for which nothing has been recorded.
fn first_builds(events: usize, path: &Path) -> ChoreResult<Vec<Figure>> {
    let engine = open(path)?;
    let session = engine.session_by_id(stream()?);
    block_on(session.explain(options()))?;
    let first = Durations::of(BUILDS, || Ok(block_on(session.explain(options()))?))?;
    let (middle, most) = (first.percentile(50), first.percentile(95));
    let figure = |what, value| Figure::millis(events, what, value).at_most(10.0);
    Ok(vec![
        figure("a lane's first context of 128k tokens, warm, p50", middle),
        figure("a lane's first context of 128k tokens, warm, p95", most),
    ])
}

/// A store that counts its round trips.
struct Counting {
    inside: Sqlite,
    trips: AtomicUsize,
}

impl Storage for Counting {
    fn commit(&self, commit: Commit) -> Answering<'_, Vec<Written>> {
        self.trips.fetch_add(1, Ordering::Relaxed);
        self.inside.commit(commit)
    }

    fn query(&self, queries: Vec<Query>) -> Answering<'_, Vec<Answer>> {
        self.trips.fetch_add(1, Ordering::Relaxed);
        self.inside.query(queries)
    }
}

fn trips(path: &Path) -> ChoreResult<usize> {
    let storage =
        Arc::new(Counting { inside: Sqlite::open(path, Access::Write)?, trips: AtomicUsize::new(0) });
    let engine = block_on(Engine::on(storage.clone(), true, Config::default()))?;
    let before = storage.trips.load(Ordering::Relaxed);
    block_on(engine.session_by_id(stream()?).explain(options()))?;
    Ok(storage.trips.load(Ordering::Relaxed) - before)
}
