//! Kills programs at random moments, whatever they do, and looks whether anything is lost.

mod desk;

use super::Report;
use super::draw::Draw;
use crate::program::Outcome;
use desk::Desk;
use std::collections::BTreeMap;
use std::path::Path;

/// Kills of one ledger, its creation among them.
const EACH: u64 = 20;
/// Kills after which the ledger is examined.
const EXAMINED: u64 = 10;

/// What a program is doing when it is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Act {
    CreateByAppend,
    CreateByImport,
    CreateByContext,
    Append,
    Import,
    ImportUnindexed,
    ContextOfPath,
    Context,
    Compact,
    Erase,
    EraseAll,
    Backup,
    Restore,
    Repair,
}

const CREATIONS: [Act; 3] = [Act::CreateByAppend, Act::CreateByImport, Act::CreateByContext];
const OTHERS: [Act; 11] = [
    Act::Append,
    Act::Import,
    Act::ImportUnindexed,
    Act::ContextOfPath,
    Act::Context,
    Act::Compact,
    Act::Erase,
    Act::EraseAll,
    Act::Backup,
    Act::Restore,
    Act::Repair,
];

pub(super) fn run(count: u64, seed: u64, binary: &Path, folder: &Path) -> Outcome<Report> {
    let mut report = Report::new("kills", count);
    let mut draw = Draw::new(seed ^ 0x0051_6b11);
    let mut desk = Desk::new(binary, folder)?;
    let mut tried: BTreeMap<Act, (u64, u64)> = BTreeMap::new();
    let (mut left, mut history) = (0, Vec::new());
    for number in 0..count {
        let act = if left == 0 {
            desk = Desk::new(binary, folder)?;
            // Many ledgers are killed in their first moments, and few of them later.
            left = if draw.below(2) == 0 { 1 } else { EACH };
            history.clear();
            CREATIONS.get(draw.place(CREATIONS.len()))
        } else {
            OTHERS.get(draw.place(OTHERS.len()))
        };
        let Some(act) = act.copied() else { continue };
        left -= 1;
        let delay = draw.delay();
        history.push(format!("{act:?} killed after {:.1} ms", delay.as_secs_f64() * 1e3));
        let mut outcome = desk.killed(act, delay, &mut draw);
        let counted = tried.entry(act).or_default();
        counted.0 += 1;
        counted.1 += u64::from(matches!(outcome, Ok(true)));
        if outcome.is_ok() && (left == 0 || number % EXAMINED == EXAMINED - 1) {
            outcome = desk.examined().map(|()| true);
        }
        if let Err(error) = outcome {
            let words = error.to_string();
            let words = words.split(|c: char| c == '\n' || c == '`' || c.is_ascii_digit());
            let kind: String = words.take(3).collect::<String>().chars().take(80).collect();
            report
                .fail(&format!("{act:?}: {kind}"), format!("kill {number}: {error}; {}", history.join(", ")));
            // What comes after it on the same ledger says nothing new.
            left = 0;
        }
    }
    for (act, (tried, cut)) in tried {
        report.note(format!("{act:?}: {tried}, {cut} of them cut short"));
    }
    report.note(format!("{} events were acknowledged", desk::acknowledged()));
    Ok(report)
}
