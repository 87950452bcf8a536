//! Ladder rung that replaces ranges with summaries.

use crate::compact::guard::{self, Guard};
use crate::compact::job::{Detail, SummaryJob};
use crate::compact::task::{TaskRange, TaskState};
use crate::lane::pair::{Arrangement, Exchange};
use crate::lane::view::SummaryNode;
use crate::planning::cost;
use crate::planning::plan::PlanInput;
use crate::policy::{Division, Optional, Permille, Policy, Summary, chunk_tokens};
use crate::units::{Seq, Tokens};

/// Rules for dividing a stretch into ranges.
pub(in crate::compact) struct SummariseRules<'a> {
    pub(in crate::compact) policy: &'a Policy,
    pub(in crate::compact) by: Division,
    pub(in crate::compact) chunk: Optional<Tokens>,
    pub(in crate::compact) chunk_share: Optional<Permille>,
    pub(in crate::compact) chunk_least: Optional<Permille>,
    pub(in crate::compact) oldest: Permille,
    pub(in crate::compact) all: bool,
    /// Whether to summarise only the stretch whose summary saves `excess`.
    pub(in crate::compact) as_needed: bool,
    pub(in crate::compact) anchored: bool,
    /// Whether chunks are made ahead; if so, an incomplete chunk waits.
    pub(in crate::compact) ahead: bool,
    /// Whether to write one line per turn instead of a summary.
    pub(in crate::compact) catalogue: bool,
    /// Tokens to save if only a part is to be summarised.
    pub(in crate::compact) excess: Tokens,
    /// Position of the next new event.
    pub(in crate::compact) next: Seq,
}

impl SummariseRules<'_> {
    /// Returns the maximum number of tokens that a summary covers, if there is one.
    fn chunk(&self, ask: &PlanInput<'_>, mean: Tokens) -> Option<Tokens> {
        let margin = self.policy.summary.margin;
        let share = self.chunk_share.get().and_then(|share| {
            let tokens = chunk_tokens(share, self.chunk_least, ask.budget.window, mean, margin);
            // Counts are estimates, so the chunk is smaller by the margin.
            Optional::new(Tokens(tokens.0.saturating_mul(1_000) / u64::from(margin.0.max(1)))).get()
        });
        [self.chunk.get(), share].into_iter().flatten().min()
    }
}

/// Returns the summaries that are needed, in order. The ranges of the summaries are adjacent and begin at the
/// frontier.
pub(in crate::compact) fn jobs(
    rules: &SummariseRules<'_>,
    ask: &PlanInput<'_>,
    guard: &Guard,
    arrangement: &Arrangement,
    tasks: &[TaskRange],
) -> Vec<SummaryJob> {
    let policy = rules.policy;
    let mut before = guard::shown(ask, arrangement);
    before.retain(|(exchange, _)| (guard.head..guard.cut).contains(&exchange.last));
    let free = || before.iter().filter(|(exchange, _)| guard.is_free(exchange));
    let messages: u64 = free().map(|(exchange, _)| exchange.members.len() as u64).sum();
    let tokens: Tokens = free().map(|(_, tokens)| *tokens).sum();
    // At least one message is summarised, however small the part.
    let max = rules.oldest.of(Tokens(messages)).0.max(1);
    let chunk = rules.chunk(ask, Tokens(tokens.0 / messages.max(1)));
    // An exchange that a summary already covers is not summarised again: it is only removed from the request.
    let told = told(ask);
    let begins = begins(ask, guard);
    let (by, jobs, open) = (rules.by, Vec::new(), Vec::new());
    let catalogue = rules.catalogue;
    let mut ranges = Ranges { policy, by, chunk, catalogue, jobs, begins, open, taken: Tokens::ZERO };
    let (mut used, mut saved) = (0, Tokens::ZERO);
    for (exchange, tokens) in before {
        let is_free = guard.is_free(exchange);
        if exchange.last < told && exchange.last >= ask.view.trim().drop_before {
            saved += if is_free { tokens } else { Tokens::ZERO };
            continue;
        }
        // A protected exchange before the first range belongs to no range. An unprotected exchange leaves the
        // request, so a new summary covers it.
        if !is_free && exchange.last < begins {
            continue;
        }
        let joined = ranges.ends() == Some(exchange.last);
        let enough = rules.as_needed && saved + ranges.gain() >= rules.excess;
        if is_free && (used >= max || enough) && !joined {
            break;
        }
        let task = tasks.get(tasks.partition_point(|task| task.to < exchange.last));
        let task = task.filter(|task| task.from <= exchange.last);
        let splits = policy.split.two_summaries && guard.split == Some(exchange.key);
        if (splits || ranges.is_full(tokens, task)) && !joined && ranges.is_worth() {
            saved += ranges.close(false);
            if !rules.all && chunk.is_some() && saved >= rules.excess {
                break;
            }
        }
        used += if is_free { exchange.members.len() as u64 } else { 0 };
        ranges.push(WeighedExchange { exchange, tokens: if is_free { tokens } else { Tokens::ZERO }, task });
    }
    let waits = rules.ahead && chunk.is_some_and(|chunk| ranges.taken < Tokens(chunk.0 / CHUNK_LEAST));
    if !waits || ranges.jobs.is_empty() {
        ranges.close(guard.split.is_some());
    }
    if rules.anchored {
        anchor(&mut ranges.jobs, ask, policy, rules.next);
    }
    ranges.jobs
}

/// Divisor of a chunk: if chunks are made ahead, the last chunk before a tail is at least half full. A shorter chunk
/// is summarised with what follows.
const CHUNK_LEAST: u64 = 2;

/// Returns the first position after everything that summaries cover.
pub(in crate::compact) fn told(ask: &PlanInput<'_>) -> Seq {
    ask.view.trim().nodes.last().map_or(Seq::START, |node| node.to.next())
}

/// Returns the position at which the next range begins.
pub(in crate::compact) fn begins(ask: &PlanInput<'_>, guard: &Guard) -> Seq {
    // The first event only opens the stream, so no range begins before position 2.
    ask.view.trim().drop_before.max(ask.floor).max(guard.head).max(told(ask)).max(Seq(2))
}

struct WeighedExchange<'a> {
    exchange: &'a Exchange,
    /// Tokens that a summary of the exchange saves; zero if the exchange is protected.
    tokens: Tokens,
    task: Option<&'a TaskRange>,
}

/// Adjacent ranges, the last of them open.
struct Ranges<'a> {
    policy: &'a Policy,
    by: Division,
    chunk: Option<Tokens>,
    catalogue: bool,
    jobs: Vec<SummaryJob>,
    begins: Seq,
    open: Vec<WeighedExchange<'a>>,
    /// Tokens that a summary of the open range replaces.
    taken: Tokens,
}

impl<'a> Ranges<'a> {
    /// Returns whether a new range must begin before an exchange.
    fn is_full(&self, tokens: Tokens, task: Option<&'a TaskRange>) -> bool {
        let Some(last) = self.open.last() else { return false };
        let full = self.chunk.is_some_and(|chunk| self.taken + tokens > chunk);
        let begins = |task: Option<&TaskRange>| task.map(|task| task.from);
        full || (self.by == Division::Task && begins(task) != begins(last.task))
    }

    /// Returns whether a summary of the open range, including its fence, is shorter than the range. A range too short
    /// for its own summary is added to the next range: an empty summary would be rejected, and later summaries could
    /// not be placed.
    fn is_worth(&self) -> bool {
        let summary = target(&self.policy.summary, self.taken) + crate::form::fence::SUMMARY_FRAME.tokens;
        self.taken > summary
    }

    /// Returns the number of tokens that a summary of the open range saves.
    fn gain(&self) -> Tokens {
        let summary = target(&self.policy.summary, self.taken) + crate::form::fence::SUMMARY_FRAME.tokens;
        self.taken.saturating_sub(summary)
    }

    /// Returns the end of the exchange that was added last.
    fn ends(&self) -> Option<Seq> {
        self.open.last().map(|piece| piece.exchange.last)
    }

    fn push(&mut self, piece: WeighedExchange<'a>) {
        self.taken += piece.tokens;
        self.open.push(piece);
    }

    /// Ends the open range, and returns the tokens that its summary should save. A range whose summary would save
    /// nothing stays open, and gets no summary at the end: what stays verbatim needs none. The range also stays open
    /// while none of its exchanges ends at or after its beginning.
    fn close(&mut self, splits: bool) -> Tokens {
        let tokens = self.taken;
        let to = self.ends().filter(|to| tokens > Tokens::ZERO && *to >= self.begins);
        let Some(to) = to else { return Tokens::ZERO };
        self.taken = Tokens::ZERO;
        let pieces = std::mem::take(&mut self.open);
        let mut entries: Vec<Seq> =
            pieces.iter().flat_map(|piece| piece.exchange.members.iter().copied()).collect();
        entries.sort_unstable();
        entries.dedup();
        let is_finished = |task: &TaskRange| task.state == TaskState::Finished;
        let finished = pieces.iter().all(|piece| piece.task.is_some_and(is_finished));
        let target = target(&self.policy.summary, tokens);
        self.jobs.push(SummaryJob {
            from: self.begins,
            to,
            entries,
            sources: Vec::new(),
            level: 0,
            detail: match (self.catalogue, finished) {
                (true, _) => Detail::Catalogue,
                (false, true) => Detail::KeyPoints,
                (false, false) => Detail::Full,
            },
            tokens,
            target,
            splits,
            inner: false,
        });
        self.begins = to.next();
        tokens.saturating_sub(target)
    }
}

/// Returns the target length, in tokens, of a summary for content that takes the given number of tokens.
#[must_use]
pub fn target(summary: &Summary, tokens: Tokens) -> Tokens {
    summary.share.of(tokens).max(summary.at_least).min(summary.target.max(summary.at_least))
}

/// Turns the first job into one summary of everything: it merges the adjacent summaries before it with an inner
/// summary of the new range. Every summary of summaries thus has only summaries as sources. Summaries before a gap
/// are not merged, since the new one must not cover positions that none of its sources describes.
fn anchor(jobs: &mut Vec<SummaryJob>, ask: &PlanInput<'_>, policy: &Policy, next: Seq) {
    let Some(job) = jobs.first_mut() else { return };
    let mut nodes: Vec<&SummaryNode> = Vec::new();
    for placed in ask.view.trim().nodes.iter().rev() {
        let before = nodes.last().map_or(job.from, |node| node.from);
        let Some(node) = ask.view.node(placed.at).filter(|node| node.to.next() == before) else { break };
        nodes.push(node);
    }
    nodes.reverse();
    let Some(first) = nodes.first() else { return };
    let inner = SummaryJob { inner: true, ..job.clone() };
    job.from = first.from;
    job.sources = nodes.iter().map(|node| node.at).chain([next]).collect();
    job.level = nodes.iter().map(|node| node.level).max().unwrap_or_default() + 1;
    job.tokens += nodes.iter().map(|node| cost::node(node, ask.costs).tokens).sum();
    job.target = target(&policy.summary, job.tokens);
    jobs.insert(0, inner);
}
