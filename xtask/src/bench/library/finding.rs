//! Search in the index, exact search in the originals, and reading of bodies.

use super::ingest::{GeneratedSession, open, stream};
use crate::bench::figure::Figure;
use crate::bench::measure::{Durations, millis};
use crate::program::ChoreResult;
use futures_executor::block_on;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;
use wunderblock::{Address, Engine, GrepOptions, SearchOptions, SearchOrder, Slice};
use wunderblock_core::event::NewEvent;
use wunderblock_core::message::Body;
use wunderblock_core::units::{Bytes, Seq};

/// Name, in the table, of the search for a rare word.
pub(in crate::bench) const RARE: &str = "search: rare word, p50";
/// Name, in the table, of reading a body.
pub(in crate::bench) const READ: &str = "read a handle, p50";

/// Number of times each word is searched.
const ROUNDS: usize = 20;
/// Number of bodies read, spread over the whole session.
const READS: usize = 400;
/// Number of events whose words are candidates for the frequent word.
const SAMPLE: usize = 400;
/// A question of which many passages have a word, or mean something like it.
const QUESTION: &str = "why did the test of the parser fail after the change";

pub(in crate::bench) fn run(session: &GeneratedSession, path: &Path) -> ChoreResult<Vec<Figure>> {
    let events = session.events.len();
    let engine = open(path)?;
    let at_most = |what: &str, value: f64, most: f64| Figure::millis(events, what, value).at_most(most);
    let (rare, (frequent, share)) = (rare_word(&session.events)?, frequent_word(&session.events)?);
    let mut figures = Vec::new();
    let by = |order| SearchOptions { order, ..SearchOptions::default() };
    let (first, times) = searches(&engine, &rare, &by(SearchOrder::Ranked))?;
    figures.push(at_most(RARE, times.percentile(50), 5.0).floor("0.7 ms; 1.7 s without statistics"));
    figures.push(at_most("search: rare word, p95", times.percentile(95), 5.0));
    figures.push(at_most("search: rare word, ledger just opened", first, 5.0));
    for (order, word, most, floor) in [
        (SearchOrder::Newest, "newest first", 5.0, "1.9–3.6 s"),
        (SearchOrder::Ranked, "ranked", 50.0, "115 ms"),
    ] {
        let (_, times) = searches(&engine, &frequent, &by(order))?;
        let what = format!("search: word in {share:.0} % of events, {word}, p50");
        figures.push(at_most(&what, times.percentile(50), most).floor(floor));
    }
    for (meaning, name) in [(true, "by meaning too"), (false, "by words")] {
        let options = SearchOptions { meaning, ..SearchOptions::default() };
        let (first, times) = searches(&open(path)?, QUESTION, &options)?;
        let figure =
            |what: &str, value| Figure::millis(events, &format!("search: a question {name}, {what}"), value);
        figures.push(figure("p50", times.percentile(50)));
        figures.push(figure("p95", times.percentile(95)));
        figures.push(figure("ledger just opened", first).at_most(200.0));
    }
    figures.push(at_most("grep: first hit of a frequent word", grep(&engine, &frequent, true)?, 50.0));
    let nowhere = grep(&engine, "no such words anywhere", false)?;
    figures.push(at_most("grep: a pattern that is nowhere", nowhere, 1_000.0));
    let (middle, most) = reads(&engine, events)?;
    figures.push(at_most(READ, middle, 5.0));
    figures.push(at_most("read a handle, p95", most, 5.0));
    Ok(figures)
}

/// Time of the first search in a newly opened ledger, and the times of later searches, in milliseconds.
fn searches(engine: &Engine, word: &str, options: &SearchOptions) -> ChoreResult<(f64, Durations)> {
    let mut first = Durations::default();
    let result = first.take(|| block_on(engine.recall().search(word, options)))?;
    if result.hits.is_empty() {
        return Err(format!("`{word}` was not found, although the session contains it").into());
    }
    let times = Durations::of(ROUNDS, || Ok(block_on(engine.recall().search(word, options))?))?;
    Ok((first.percentile(50), times))
}

fn grep(engine: &Engine, pattern: &str, enough: bool) -> ChoreResult<f64> {
    let start = Instant::now();
    let mut found = |_| if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    block_on(engine.recall().grep(pattern, &GrepOptions::default(), &mut found))?;
    Ok(millis(start.elapsed()))
}

/// Reads bodies from all parts of the session. Returns the median and the 95th percentile, in milliseconds.
fn reads(engine: &Engine, events: usize) -> ChoreResult<(f64, f64)> {
    let session = engine.session_by_id(stream()?);
    let mut times = Durations::default();
    for round in 0..READS {
        let from = Seq((events * round / READS) as u64 + 1);
        let page = block_on(session.events(from, Seq(from.0 + 50), 50, Bytes(1 << 20)))?;
        let handle = page.iter().filter_map(|event| event.fact.as_ref()).flat_map(|fact| fact.bodies());
        if let Some(handle) = handle.filter_map(Body::handle).next() {
            times.take(|| block_on(engine.recall().read(Address { handle, range: None }, &Slice::All)))?;
        }
    }
    Ok((times.percentile(50), times.percentile(95)))
}

fn event_words(event: &NewEvent) -> HashSet<&str> {
    let texts = event.fact.bodies().into_iter().filter_map(Body::inline);
    texts
        .flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric()))
        .filter(|word| word.len() >= 3)
        .collect()
}

/// Returns an id from a log in the second half of the session.
fn rare_word(events: &[NewEvent]) -> ChoreResult<String> {
    let later = events.iter().skip(events.len() / 2);
    let ids = later.flat_map(|event| event.fact.bodies()).filter_map(Body::inline);
    let mut ids = ids.filter_map(|text| text.split(" id=").nth(1)).filter_map(|rest| rest.get(..12));
    Ok(ids.next().ok_or("there is no log in the session")?.to_owned())
}

/// Returns the rarest word in at least 32 % of the sampled events, with its share of all events in percent. If no word
/// is that frequent, returns the most frequent one.
fn frequent_word(events: &[NewEvent]) -> ChoreResult<(String, f64)> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in events.iter().take(SAMPLE).flat_map(event_words) {
        *counts.entry(word).or_default() += 1;
    }
    let enough = SAMPLE.min(events.len()) * 32 / 100;
    let mut sorted: Vec<(usize, &str)> = counts.into_iter().map(|(word, count)| (count, word)).collect();
    sorted.sort_unstable();
    let word =
        sorted.iter().find(|(count, _)| *count >= enough).or(sorted.last()).ok_or("there are no words")?.1;
    let found = events.iter().filter(|event| event_words(event).contains(word)).count();
    Ok((word.to_owned(), found as f64 * 100.0 / events.len() as f64))
}
