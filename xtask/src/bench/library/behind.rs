//! The first search after many appends, which finds events that are not indexed yet.

use super::ingest::{open, stream};
use crate::bench::figure::Figure;
use crate::bench::measure::{Durations, SEED};
use crate::bench::task::{ChildWork, spawn};
use crate::program::ChoreResult;
use futures_executor::block_on;
use std::path::Path;
use wunderblock::{Engine, SearchOptions, SearchOrder};
use wunderblock_core::event::NewEvent;
use wunderblock_testkit::generate;

/// Number of events, with 3.3 KB of text on average, that are not indexed at the first search.
const APPENDS: usize = 2_000;
/// Number of times a first search is measured.
const ROUNDS: usize = 5;
/// Maximum time of the first search in milliseconds.
const FIRST: f64 = 50.0;
/// Maximum time in milliseconds that a new process takes besides.
const PROCESS: f64 = 15.0;

/// Word that the generated sessions contain.
const WORD: &str = "let";

pub(in crate::bench) fn options() -> SearchOptions {
    SearchOptions { order: SearchOrder::Newest, ..SearchOptions::default() }
}

/// Searches as a child process does.
pub(in crate::bench) fn search(engine: &Engine) -> ChoreResult<usize> {
    Ok(block_on(engine.recall().search(WORD, &options()))?.hits.len())
}

pub(in crate::bench) fn run(events: usize, path: &Path) -> ChoreResult<Vec<Figure>> {
    let (mut first, mut later) = (Durations::default(), Durations::default());
    let (mut process, mut started) = (Durations::default(), Durations::default());
    for _ in 0..ROUNDS {
        let engine = open(path)?;
        append(&engine)?;
        first.take(|| search(&engine))?;
        later.take(|| search(&engine))?;
        append(&engine)?;
        drop(engine);
        for times in [&mut process, &mut started] {
            let told = spawn(ChildWork::Search, path, path)?;
            times.push(std::time::Duration::from_secs_f64(told.seconds));
        }
    }
    let at_most = |what: &str, times: &Durations, most: f64| {
        Figure::millis(events, what, times.percentile(50)).at_most(most)
    };
    Ok(vec![
        at_most("search: the first after many appends, p50", &first, FIRST),
        at_most("search: the one after it, p50", &later, FIRST),
        at_most("search: the first after many appends, new process, p50", &process, FIRST + PROCESS),
        at_most("search: the one after it, another new process, p50", &started, FIRST + PROCESS),
    ])
}

/// Lets the index catch up, and then appends events that it does not contain.
fn append(engine: &Engine) -> ChoreResult<()> {
    block_on(engine.maintenance().catch_up(&mut |_| {}))?;
    search(engine)?;
    let session = engine.session_by_id(stream()?);
    // A ledger that an earlier run has kept contains the events of that run, which would not be appended again.
    let seed = SEED ^ block_on(session.info())?.head.0;
    let events: Vec<NewEvent> = generate::session(APPENDS, seed).collect();
    let appended = block_on(session.append(events))?;
    if appended.iter().any(|event| event.duplicate) {
        return Err("the events are in the ledger already".into());
    }
    Ok(())
}
