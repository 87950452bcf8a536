//! Kills programs at random moments during any command, and checks whether anything is lost.

mod command;
mod crash_test;

use super::random::{Random, delay};
use super::report::AttackReport;
use crate::program::ChoreResult;
use clap::ValueEnum;
use command::{KillTime, KilledCommand};
use crash_test::CrashTest;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Number of kills per ledger, including its creation.
const EACH: u64 = 20;
/// Interval, in kills, at which `doctor` examines the ledger.
const EXAMINED: u64 = 10;

/// System calls that change files, by strace's names. A static program uses `open`, which some machines lack, hence
/// the `?`. A ledger gets its name by `linkat`.
const CALLS: [&str; 8] = [OPEN, "pwrite64", "fsync", "ftruncate", "linkat", "unlink", "fchmod", "mkdir"];
const OPEN: &str = "?open,openat";

/// Returns the commands that create a ledger, and the other commands.
fn commands() -> (&'static [KilledCommand], &'static [KilledCommand]) {
    KilledCommand::value_variants().split_at(3)
}

/// Kills programs at random moments.
pub(super) fn run(count: u64, seed: u64, binary: &Path, folder: &Path) -> ChoreResult<AttackReport> {
    let mut report = AttackReport::new("kills");
    let mut random = Random::new(seed ^ 0x0051_6b11);
    let mut test = CrashTest::new(binary, folder)?;
    // The moments of the kills follow from how long a program takes on this machine.
    let usual = test.usual(&mut random)?;
    let mut tried: BTreeMap<KilledCommand, (u64, u64, Duration)> = BTreeMap::new();
    let (mut left, mut history) = (0, Vec::new());
    let (creations, others) = commands();
    for number in 0..count {
        let acts = if left == 0 {
            test = CrashTest::new(binary, folder)?;
            // Four of five ledgers are killed only once, at their creation; the others are killed `EACH` times.
            left = if random.below(5) > 0 { 1 } else { EACH };
            history.clear();
            creations
        } else {
            others
        };
        let Some(act) = acts.get(random.below(acts.len())).copied() else { continue };
        left -= 1;
        let (tried, cut, takes) = tried.entry(act).or_insert((0, 0, usual));
        let when = KillTime::After(delay(&mut random, *takes));
        history.push(format!("{act:?} killed {when}"));
        let mut outcome = test.killed(act, when, &mut random);
        let is_cut = !matches!(outcome, Ok(false));
        *tried += 1;
        *cut += u64::from(is_cut);
        // Aims at the end of the command: later if the kill cut it short, earlier if the command had finished.
        *takes = takes.mul_f64(if is_cut { 1.05 } else { 0.8 });
        if outcome.is_ok() && (left == 0 || number % EXAMINED == EXAMINED - 1) {
            outcome = test.examined().map(|()| true);
        }
        if let Err(error) = outcome {
            report.fail(&kind(act, &*error), format!("kill {number}: {error}; {}", history.join(", ")));
            // After one failure, further failures on the same ledger would only repeat it.
            left = 0;
        }
        report.tried();
    }
    for (act, (tried, cut, _)) in tried {
        report.note(format!("{act:?}: {tried}, {cut} of them cut short"));
    }
    report.note(format!("{} events were acknowledged", crash_test::acknowledged()));
    Ok(report)
}

/// Kills programs at every system call that changes a file. The frequent calls, writes and opens, are sampled by
/// `step`.
pub(super) fn at_calls(step: u64, seed: u64, binary: &Path, folder: &Path) -> ChoreResult<AttackReport> {
    let mut report = AttackReport::new("kills at system calls");
    let mut random = Random::new(seed ^ 0x57ace);
    use KilledCommand::{Backup, CreateByAppend, Erase, EraseAll, Restore};
    for act in [CreateByAppend, Erase, EraseAll, Backup, Restore] {
        for call in CALLS {
            let mut test = CrashTest::prepared(act, binary, folder, &mut random)?;
            let step = if matches!(call, "pwrite64" | OPEN) { step } else { 1 };
            let mut which = 1;
            loop {
                test.refill(act, &mut random)?;
                let outcome = test.killed(act, KillTime::At(call, which), &mut random);
                report.tried();
                match outcome.and_then(|cut| test.examined().map(|()| cut)) {
                    Ok(true) if commands().0.contains(&act) => test = CrashTest::new(binary, folder)?,
                    Ok(true) => {}
                    // The command makes no further call of this kind.
                    Ok(false) => break,
                    Err(error) => {
                        report
                            .fail(&kind(act, &*error), format!("{act:?} killed at {call} {which}: {error}"));
                        test = CrashTest::prepared(act, binary, folder, &mut random)?;
                    }
                }
                which += step;
            }
            report.note(format!("{act:?}: {call} up to {which}"));
        }
    }
    Ok(report)
}

/// Returns the failure without the words that differ between attempts.
fn kind(act: KilledCommand, error: &dyn std::error::Error) -> String {
    let words = error.to_string();
    let words =
        words.split_whitespace().filter(|word| !word.contains(|c: char| c == '/' || c.is_ascii_digit()));
    format!("{act:?}: {}", words.take(10).collect::<Vec<_>>().join(" "))
}
