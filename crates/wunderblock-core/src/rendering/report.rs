//! Report on a rendered request, for people and machines.

use crate::id::Handle;
use crate::record::budget::{
    Budget, BudgetReport, Certainty, EntryLine, LeftOut, Reason, SectionLine, Uncovered,
};
use crate::rendering::render::{Missing, RenderedRequest};
use crate::source::section::Section;
use crate::units::{Cost, Seq, Tokens};

/// Content of the ledger up to a position, inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Number of messages.
    pub messages: u64,
    /// Tokens of the messages.
    pub tokens: Tokens,
    /// Certainty of `tokens`: counted, or estimated from sizes.
    pub certainty: Certainty,
}

/// Returns the report on a rendered request. `tally` returns the content of the ledger up to a position.
#[must_use]
pub fn report(
    rendered: &RenderedRequest,
    budget: Budget,
    certainty: Certainty,
    stream: Handle,
    tally: &dyn Fn(Seq) -> Tally,
) -> BudgetReport {
    let total: Cost = rendered.lines.iter().map(|line| line.cost).sum();
    let sections = Section::ALL.iter().filter_map(|name| {
        let lines: Vec<_> = rendered.lines.iter().filter(|line| line.section == *name).collect();
        let cost: Cost = lines.iter().map(|line| line.cost).sum();
        (!lines.is_empty()).then_some(SectionLine {
            name: *name,
            tokens: cost.tokens,
            bytes: cost.bytes,
            entries: lines.len() as u64,
        })
    });
    let entries = rendered.lines.iter().map(|line| EntryLine {
        seq: line.seq,
        section: line.section,
        treatment: line.treatment,
        tokens: line.cost.tokens,
        what: line.what.clone(),
        handle: line.handle,
        reduced: line.reduced.clone(),
    });
    BudgetReport {
        window: budget.window,
        window_source: budget.window_source,
        reserve: budget.reserve,
        margin: budget.margin,
        added: budget.added,
        limit: budget.limit().tokens,
        total_tokens: total.tokens,
        total_bytes: total.bytes,
        certainty,
        sections: sections.collect(),
        entries: entries.collect(),
        left_out: rendered
            .missing
            .iter()
            .map(|missing| left_out(missing, certainty, stream, tally))
            // A run without messages, such as the engine's own events, is not an omission.
            .filter(|run| run.count > 0)
            .collect(),
    }
}

impl BudgetReport {
    /// Returns the tokens that the request would take within its limit, had everything stood verbatim: without the
    /// summaries, marks, work log and recalled texts that replace what is missing, but with what is missing.
    /// `more` is what the shown entries and the missing ones would take in addition.
    #[must_use]
    pub fn verbatim(&self, more: Tokens) -> Tokens {
        let stands_in =
            |line: &&SectionLine| matches!(line.name, Section::Summaries | Section::Work | Section::Recall);
        let added: Tokens = self.sections.iter().filter(stands_in).map(|line| line.tokens).sum();
        (self.total_tokens.saturating_sub(added) + more).min(self.limit)
    }

    /// Returns the messages that neither the request nor a summary in it tells of, by reason. What a person hid, what
    /// has no content, and thinking that no provider accepts does not count.
    #[must_use]
    pub fn uncovered(&self) -> Vec<Uncovered> {
        let of = |reason: Reason| {
            let runs = self.left_out.iter().filter(|run| run.reason == reason);
            let one = Uncovered { reason, count: 0, tokens: Tokens::ZERO };
            runs.fold(one, |sum, run| Uncovered {
                count: sum.count + run.count,
                tokens: sum.tokens + run.tokens,
                ..sum
            })
        };
        [Reason::Budget, Reason::Stepped].map(of).into_iter().filter(|one| one.count > 0).collect()
    }

    /// Marks each run that was left out for lack of room as having been left out at the lane's newest step. The room
    /// changes with each request, and the size of a run may be an estimate, so only the step is certain.
    pub fn at_step(&mut self, step: Seq) {
        let gone = self.left_out.iter_mut().filter(|run| run.reason == Reason::Budget && step > Seq::START);
        for run in gone {
            run.reason = Reason::Stepped;
            run.step = Some(step);
        }
    }
}

fn left_out(
    missing: &Missing,
    certainty: Certainty,
    stream: Handle,
    tally: &dyn Fn(Seq) -> Tally,
) -> LeftOut {
    let (count, tokens, certainty) = match missing.known {
        Some((count, cost)) => (count, cost.tokens, certainty),
        None => {
            let (before, through) = (tally(missing.from.prev()), tally(missing.to));
            (
                through.messages.saturating_sub(before.messages),
                through.tokens.saturating_sub(before.tokens),
                certainty.max(through.certainty),
            )
        }
    };
    LeftOut {
        from_seq: missing.from,
        to_seq: missing.to,
        count,
        tokens,
        certainty,
        reason: missing.reason,
        step: None,
        shown_at: missing.shown_at,
        handle: stream.range(missing.from, missing.to),
    }
}
