//! Requests that were built, and summaries that models wrote for them.

use super::facts::{Gain, LedgerFacts, ShownText};
use wunderblock_core::event::{ContextBuilt, Fact, SummarySpend};

/// Returns the recorded requests, and the cost of summaries.
pub(super) fn shown(ledger: &LedgerFacts) -> Vec<ShownText> {
    let text = |recorded: &super::facts::RecordedFact| {
        let (command, gain) = match &recorded.fact {
            Fact::ContextBuilt(built) => ("context", of_request(built)),
            Fact::SessionCompacted(made) => ("compact", of_summary(made.spent.as_ref()?)),
            Fact::CompactionRejected(rejected) => ("compact", of_summary(rejected.spent.as_ref()?)),
            _ => return None,
        };
        let session = ledger.streams.get(&recorded.stream)?.clone();
        Some(ShownText { session, at: recorded.at, command: command.to_owned(), gain })
    };
    ledger.events.iter().filter_map(text).collect()
}

fn of_request(built: &ContextBuilt) -> Gain {
    match built.verbatim {
        Some(verbatim) => Gain::of_text(verbatim, built.total_tokens),
        None => Gain { unknown: 1, ..Gain::default() },
    }
}

fn of_summary(spent: &SummarySpend) -> Gain {
    Gain { summaries: spent.input + spent.output, ..Gain::default() }
}
