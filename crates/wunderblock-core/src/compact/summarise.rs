//! The rung that puts summaries in the place of ranges.

use super::guard::{self, Guard};
use super::task::{Task, TaskState};
use super::{Detail, Job};
use crate::cost;
use crate::pair::{Arrangement, Unit};
use crate::plan::Ask;
use crate::policy::{Measure, Permille, Policy, Summary};
use crate::units::{Seq, Tokens};

/// How ranges are made.
pub(super) struct Rules {
    pub(super) by: Measure,
    pub(super) chunk: Tokens,
    pub(super) oldest: Permille,
    pub(super) anchored: bool,
}

/// The summaries that are needed, in order; their ranges follow one another from the frontier to the cut.
pub(super) fn jobs(
    rules: &Rules,
    policy: &Policy,
    ask: &Ask<'_>,
    guard: &Guard,
    (arrangement, tasks): (&Arrangement, &[Task]),
) -> Vec<Job> {
    let units = guard::shown(ask, arrangement);
    let before: Vec<(&Unit, Tokens)> =
        units.into_iter().filter(|(unit, _)| (guard.head..guard.cut).contains(&unit.last)).collect();
    let free: Tokens = before.iter().filter(|(unit, _)| guard.is_free(unit)).map(|(_, tokens)| *tokens).sum();
    let most = rules.oldest.of(free);
    let frontier = ask.view.trim().drop_before;
    let mut plan = Plan {
        policy,
        jobs: Vec::new(),
        begins: frontier.max(ask.floor).max(guard.head).max(Seq(2)),
        open: Vec::new(),
    };
    let mut used = Tokens::ZERO;
    for (unit, tokens) in before {
        let is_free = guard.is_free(unit);
        if is_free && rules.oldest < Permille::ONE && used + tokens > most && used > Tokens::ZERO {
            break;
        }
        let task = tasks.iter().find(|task| (task.from..=task.to).contains(&unit.last));
        if plan.breaks(rules, policy, guard, (unit, tokens, task)) {
            plan.close(false);
        }
        used += if is_free { tokens } else { Tokens::ZERO };
        let cost = if is_free { tokens } else { Tokens::ZERO };
        plan.open.push(Piece { unit, tokens: cost, task });
    }
    plan.close(guard.split.is_some());
    if rules.anchored {
        anchor(&mut plan.jobs, ask, policy);
    }
    // What lies between is out of the request, and no summary of it is worth its words.
    plan.jobs.retain(|job| job.tokens > Tokens::ZERO);
    plan.jobs
}

struct Piece<'a> {
    unit: &'a Unit,
    /// What of it a summary saves.
    tokens: Tokens,
    task: Option<&'a Task>,
}

struct Plan<'a> {
    policy: &'a Policy,
    jobs: Vec<Job>,
    begins: Seq,
    open: Vec<Piece<'a>>,
}

impl<'a> Plan<'a> {
    /// Whether a new range begins before a unit.
    fn breaks(
        &self,
        rules: &Rules,
        policy: &Policy,
        guard: &Guard,
        (unit, tokens, task): (&Unit, Tokens, Option<&Task>),
    ) -> bool {
        let Some(last) = self.open.last() else { return false };
        let taken: Tokens = self.open.iter().map(|piece| piece.tokens).sum();
        let full = rules.chunk > Tokens::ZERO && taken + tokens > rules.chunk && taken > Tokens::ZERO;
        let splits = policy.split.two_summaries && guard.split == Some(unit.key);
        let other =
            rules.by == Measure::Task && task.map(|task| task.from) != last.task.map(|task| task.from);
        full || splits || other
    }

    /// Ends the range that is open.
    fn close(&mut self, splits: bool) {
        let pieces = std::mem::take(&mut self.open);
        let Some(to) = pieces.iter().map(|piece| piece.unit.last).max() else { return };
        let tokens: Tokens = pieces.iter().map(|piece| piece.tokens).sum();
        let mut entries: Vec<Seq> =
            pieces.iter().flat_map(|piece| piece.unit.members.iter().copied()).collect();
        entries.sort_unstable();
        entries.dedup();
        let finished =
            pieces.iter().all(|piece| piece.task.is_some_and(|task| task.state == TaskState::Finished));
        let by_task = pieces.iter().any(|piece| piece.task.is_some());
        let detail = if by_task && finished { Detail::KeyPoints } else { Detail::Full };
        self.jobs.push(Job {
            from: self.begins,
            to,
            entries,
            sources: Vec::new(),
            level: 0,
            detail,
            tokens,
            target: target(&self.policy.summary, tokens),
            splits,
        });
        self.begins = to.next();
    }
}

/// What a summary of so much should take.
pub(super) fn target(summary: &Summary, tokens: Tokens) -> Tokens {
    summary.share.of(tokens).max(summary.at_least).min(summary.target.max(summary.at_least))
}

/// One summary of everything: those that stand go into the first job.
fn anchor(jobs: &mut [Job], ask: &Ask<'_>, policy: &Policy) {
    let placed = &ask.view.trim().nodes;
    let nodes: Vec<&crate::view::Node> = ask.view.nodes().collect();
    let (Some(first), Some(last), Some(job)) = (placed.first(), placed.last(), jobs.first_mut()) else {
        return;
    };
    if last.to.next() != job.from || nodes.len() != placed.len() {
        return;
    }
    job.from = first.from;
    job.sources = placed.iter().map(|placed| placed.at).collect();
    job.level = nodes.iter().map(|node| node.level).max().unwrap_or_default() + 1;
    job.tokens += nodes.iter().map(|node| cost::node(node, ask.gauge).tokens).sum();
    job.target = target(&policy.summary, job.tokens);
}
