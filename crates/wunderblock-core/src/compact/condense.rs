//! The rung that makes one summary of several.

use super::job::{Detail, SummaryJob};
use crate::cost;
use crate::plan::PlanInput;
use crate::policy::Policy;
use crate::units::Tokens;
use crate::view::SummaryNode;

/// When summaries are condensed.
#[derive(Clone, Copy)]
pub(super) struct CondenseRules {
    pub(super) leaves: u64,
    pub(super) nodes: u64,
    pub(super) most: u32,
    /// While the summaries together take no more than this, none is condensed.
    pub(super) above: Tokens,
    /// Summaries of so many tokens together go into one, unless fewer would not be enough of them; 0 for no limit.
    pub(super) chunk: Tokens,
}

/// The oldest run of summaries of one level that is long enough, the lowest level first.
pub(super) fn job(rules: CondenseRules, policy: &Policy, ask: &PlanInput<'_>) -> Option<SummaryJob> {
    let nodes: Vec<&SummaryNode> = ask.view.nodes().collect();
    let cost = |node: &&SummaryNode| cost::node(node, ask.costs).tokens;
    let all: Tokens = nodes.iter().map(cost).sum();
    if all <= rules.above {
        return None;
    }
    let mut levels: Vec<u32> = nodes.iter().map(|node| node.level).collect();
    levels.sort_unstable();
    levels.dedup();
    for level in levels.into_iter().filter(|level| rules.most == 0 || *level < rules.most) {
        let fan = if level == 0 { rules.leaves } else { rules.nodes };
        let fan = usize::try_from(fan).unwrap_or(usize::MAX).max(2);
        let joins = |a: &&SummaryNode, b: &&SummaryNode| a.level == b.level && a.to.next() == b.from;
        for run in nodes.chunk_by(|a, b| joins(a, b)).filter(|run| run.len() >= fan) {
            let mut together = Tokens::ZERO;
            let fits = |node: &&&SummaryNode| {
                together += cost(node);
                rules.chunk == Tokens::ZERO || together <= rules.chunk
            };
            let count = run.iter().take_while(fits).count().max(fan);
            let Some(run) = run.get(..count).filter(|run| run.iter().all(|node| node.level == level)) else {
                continue;
            };
            let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
            let tokens: Tokens = run.iter().map(cost).sum();
            let most = Tokens(tokens.0 / 2).max(policy.summary.at_least);
            return Some(SummaryJob {
                from: first.from,
                to: last.to,
                entries: Vec::new(),
                sources: run.iter().map(|node| node.at).collect(),
                level: level + 1,
                detail: if policy.goes_by_tasks() { Detail::Statistics } else { Detail::Full },
                tokens,
                target: policy.summary.condensed.min(most),
                splits: false,
                inner: false,
            });
        }
    }
    None
}
