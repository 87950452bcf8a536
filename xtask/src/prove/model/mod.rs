//! Random interleavings of all operations that change a ledger, by two tenants, compared with a model.
//!
//! After each operation on the ledger, its files are searched for erased words. A failing sequence of steps is
//! shortened before it is reported.

mod expected;
mod ledger;
mod step;

use super::random::Random;
use super::report::AttackReport;
use crate::program::ChoreResult;
use ledger::LedgerUnderTest;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use step::InterleavingStep;

/// Maximum time of an interleaving, which normally takes a few milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);
/// Failure of an interleaving that exceeds the time. A failure by exceeding the time is not shortened, because each
/// attempt would take as long again.
const ENDLESS: &str = "it does not end";
/// Maximum number of failures that are shortened; further ones are only counted.
const SHORTENED: usize = 12;

pub(super) fn run(count: u64, seed: u64, folder: &Path) -> ChoreResult<AttackReport> {
    let next = AtomicU64::new(0);
    let report = Mutex::new(AttackReport::new("interleavings"));
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let work = || {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return;
                }
                let own = Random::new(seed ^ number.wrapping_mul(0x9e37_79b9)).next_u64();
                let steps = step::steps(own);
                if let (Some(failure), Ok(mut found)) = (fails(&steps, folder), found.lock()) {
                    found.push((number, steps, failure));
                }
                if let Ok(mut report) = report.lock() {
                    report.tried();
                }
            }
        };
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let mut report = report.into_inner().unwrap_or_else(PoisonError::into_inner);
    let found = found.into_inner().unwrap_or_default();
    let mut told = BTreeSet::new();
    for (number, steps, failure) in found {
        let kind = kind(&failure);
        // One shortened failure of each kind is enough to investigate it.
        let is_new = failure != ENDLESS && told.len() < SHORTENED && told.insert(kind.clone());
        let shown = is_new.then(|| shorter(steps, &kind, folder));
        let steps = shown.map(|steps| steps.iter().map(|step| format!("\n      {step}")).collect::<String>());
        report.fail(&kind, format!("interleaving {number}: {failure}{}", steps.unwrap_or_default()));
    }
    Ok(report)
}

/// Runs the steps and returns what goes wrong, if anything.
fn fails(steps: &[InterleavingStep], folder: &Path) -> Option<String> {
    let (sender, receiver) = channel();
    let (steps, folder) = (Arc::<[InterleavingStep]>::from(steps), folder.to_owned());
    // The steps run on a separate thread, because an interleaving that never ends is abandoned.
    std::thread::spawn(move || sender.send(try_all(&steps, &folder)));
    match receiver.recv_timeout(PATIENCE) {
        Ok(outcome) => outcome,
        Err(RecvTimeoutError::Timeout) => Some(ENDLESS.to_owned()),
        Err(RecvTimeoutError::Disconnected) => Some("it panicked".to_owned()),
    }
}

fn try_all(steps: &[InterleavingStep], folder: &Path) -> Option<String> {
    let mut ledger = match LedgerUnderTest::new(folder) {
        Ok(ledger) => ledger,
        Err(error) => return Some(format!("a new ledger: {error}")),
    };
    for (place, step) in steps.iter().enumerate() {
        if let Err(error) = ledger.take(step) {
            return Some(format!("step {}, {step}: {error}", place + 1));
        }
    }
    ledger.whole().err().map(|error| format!("at the end: {error}"))
}

/// Returns the failure without the words that differ between interleavings.
fn kind(failure: &str) -> String {
    let act = failure.split([',', ':']).nth(1).unwrap_or_default().trim();
    let act = act.split([' ', '[']).next().unwrap_or_default();
    let what = failure.split_once("]: ").map_or(failure, |(_, what)| what);
    let words = what.split_whitespace().filter(|word| {
        word.chars().all(|c| c.is_ascii_lowercase() || matches!(c, ',' | ':' | '.' | '`')) && word.len() < 16
    });
    let act = if failure.starts_with("step") { act } else { "end" };
    format!("{act}: {}", words.take(9).collect::<Vec<_>>().join(" "))
}

/// Returns a shorter sequence with the same kind of failure, by trying to leave out each step.
fn shorter(mut steps: Vec<InterleavingStep>, wanted: &str, folder: &Path) -> Vec<InterleavingStep> {
    let mut place = steps.len();
    while place > 0 {
        place -= 1;
        let mut fewer = steps.clone();
        fewer.remove(place);
        if fails(&fewer, folder).is_some_and(|failure| kind(&failure) == wanted) {
            steps = fewer;
            place = place.min(steps.len());
        }
    }
    steps
}
