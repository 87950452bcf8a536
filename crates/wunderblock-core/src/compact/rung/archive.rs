//! Ladder rung that replaces the oldest summaries with a catalogue.

use crate::compact::job::{Detail, SummaryJob, placed};
use crate::lane::view::SummaryNode;
use crate::planning::cost;
use crate::planning::plan::PlanInput;
use crate::policy::ArchiveSizes;
use crate::units::Tokens;

/// Returns the job for a catalogue of the oldest adjacent summaries; `None` while all summaries are within
/// `rules.above`. The newest summaries stay, up to `rules.keep`. No summary is split. An earlier catalogue goes into
/// the new one, so a request has at most one.
pub(in crate::compact) fn job(rules: ArchiveSizes, ask: &PlanInput<'_>) -> Option<SummaryJob> {
    let nodes: Vec<&SummaryNode> = ask.view.nodes().collect();
    let cost = |node: &&SummaryNode| cost::node(node, ask.costs).tokens;
    if nodes.iter().map(cost).sum::<Tokens>() <= rules.above {
        return None;
    }
    let mut kept = Tokens::ZERO;
    let stays = |node: &&&SummaryNode| {
        kept += cost(node);
        kept <= rules.keep
    };
    let newest = nodes.iter().rev().take_while(stays).count();
    let old = nodes.get(..nodes.len() - newest)?;
    let joins = |a: &&SummaryNode, b: &&SummaryNode| a.to.next() == b.from;
    // A catalogue alone cannot get shorter, so a run of only one node must be a summary of events (level 0).
    let run = old.chunk_by(joins).find(|run| run.len() > 1 || run.iter().any(|node| node.level == 0))?;
    let tokens: Tokens = run.iter().map(cost).sum();
    let target = rules.catalogue.min(Tokens(tokens.0 / 2));
    SummaryJob::of_summaries(&placed(run), tokens, target, Detail::Catalogue)
}
