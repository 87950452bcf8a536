//! Ladder rung that merges several summaries into one.

use crate::compact::job::{Detail, SummaryJob, placed};
use crate::lane::view::SummaryNode;
use crate::planning::cost;
use crate::planning::plan::PlanInput;
use crate::policy::Policy;
use crate::units::Tokens;

/// Rules for condensing summaries.
#[derive(Clone, Copy)]
pub(in crate::compact) struct CondenseRules {
    pub(in crate::compact) leaves: u64,
    pub(in crate::compact) nodes: u64,
    pub(in crate::compact) most: Option<u32>,
    /// Nothing is condensed while all summaries together take at most this many tokens.
    pub(in crate::compact) above: Tokens,
    /// Maximum number of tokens in the summaries that are merged into one, unless the required number of summaries
    /// takes more.
    pub(in crate::compact) chunk: Option<Tokens>,
    /// Whether the summaries must come down to `above`, whatever their levels.
    pub(in crate::compact) must: bool,
}

/// Returns the job for the oldest sufficiently long run of summaries of one level, the lowest level first. If no run
/// is long enough and `rules.must` is set, takes the oldest adjacent summaries of any level.
pub(in crate::compact) fn job(
    rules: CondenseRules,
    policy: &Policy,
    ask: &PlanInput<'_>,
) -> Option<SummaryJob> {
    let nodes: Vec<&SummaryNode> = ask.view.nodes().collect();
    let cost = |node: &&SummaryNode| cost::node(node, ask.costs).tokens;
    let all: Tokens = nodes.iter().map(cost).sum();
    if all <= rules.above {
        return None;
    }
    let within = |run: &[&SummaryNode], fan: usize| {
        let mut together = Tokens::ZERO;
        let fits = |node: &&&SummaryNode| {
            together += cost(node);
            rules.chunk.is_none_or(|chunk| together <= chunk)
        };
        run.iter().take_while(fits).count().max(fan).min(run.len())
    };
    let mut levels: Vec<u32> = nodes.iter().map(|node| node.level).collect();
    levels.sort_unstable();
    levels.dedup();
    for level in levels.into_iter().filter(|level| rules.most.is_none_or(|most| *level < most)) {
        let fan = if level == 0 { rules.leaves } else { rules.nodes };
        let fan = usize::try_from(fan).unwrap_or(usize::MAX).max(2);
        let joins = |a: &&SummaryNode, b: &&SummaryNode| a.level == b.level && a.to.next() == b.from;
        let mut runs = nodes.chunk_by(joins).filter(|run| run.len() >= fan);
        if let Some(run) = runs.find(|run| run.first().is_some_and(|node| node.level == level)) {
            return one_of(run.get(..within(run, fan))?, all, rules, policy, ask);
        }
    }
    let joins = |a: &&SummaryNode, b: &&SummaryNode| a.to.next() == b.from;
    let run = nodes.chunk_by(joins).find(|run| run.len() >= 2).filter(|_| rules.must)?;
    let fan = usize::try_from(rules.leaves).unwrap_or(usize::MAX).max(2);
    one_of(run.get(..within(run, 2).min(fan))?, all, rules, policy, ask)
}

/// Returns the job that merges a run into a summary of at most half its length. With `must`, the summary also has to
/// fit alongside the other summaries.
fn one_of(
    run: &[&SummaryNode],
    all: Tokens,
    CondenseRules { above, must, .. }: CondenseRules,
    policy: &Policy,
    ask: &PlanInput<'_>,
) -> Option<SummaryJob> {
    let tokens: Tokens = run.iter().map(|node| cost::node(node, ask.costs).tokens).sum();
    let half = Tokens(tokens.0 / 2);
    let room = above.saturating_sub(all.saturating_sub(tokens));
    let most = if must { half.min(room) } else { half };
    let most = most.max(policy.summary.at_least);
    let detail = if policy.goes_by_tasks() { Detail::Statistics } else { Detail::Full };
    SummaryJob::of_summaries(&placed(run), tokens, policy.summary.condensed.min(most), detail)
}
