//! Adoption of the summaries that came with a session, by a new lane.

use super::Ladder;
use crate::lane::view::SummaryNode;
use crate::record::compaction::RungTaken;
use crate::record::decision::PlacedSummary;
use crate::units::Tokens;

/// Name of the rung in records.
pub(super) const ADOPT: &str = "adopt";

impl Ladder<'_> {
    /// Starts with recorded summaries, given in the order of their ranges. If the lane's first request is too large,
    /// adopts the oldest summaries that bring it to its goal. The ranges of adopted summaries need no new summary.
    #[must_use]
    pub fn adopting(mut self, nodes: &[SummaryNode]) -> Self {
        let stands = self.view.nodes().next().is_some();
        if !self.cold || stands || self.now <= self.target {
            return self;
        }
        self.adopted = nodes.to_vec();
        let mut best = None;
        for count in 1..=nodes.len() {
            let placed: Vec<PlacedSummary> = nodes
                .iter()
                .take(count)
                .map(|&SummaryNode { at, from, to, .. }| PlacedSummary { at, from, to })
                .collect();
            let Some(last) = placed.last().filter(|last| last.to < self.guard.cut) else { break };
            let (view, now) = self.weighed(self.cut_at(last.to.next(), placed.clone()), &[], &[]);
            // Stop at the first summary that does not make the request shorter.
            if now >= best.as_ref().map_or(self.now, |(_, now)| *now) {
                break;
            }
            let is_enough = now <= self.target;
            best = Some((view, now));
            if is_enough {
                break;
            }
        }
        if let Some((view, now)) = best {
            let saved = self.now.saturating_sub(now);
            (self.view, self.now) = (view, now);
            self.taken.push(RungTaken {
                rung: ADOPT.into(),
                taken: true,
                saved,
                added: Tokens::ZERO,
                why: None,
            });
        }
        self
    }
}
