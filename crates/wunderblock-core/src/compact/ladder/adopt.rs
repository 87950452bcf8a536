//! A lane that begins takes over what other lanes have summarised.

use super::Ladder;
use crate::compaction::RungTaken;
use crate::decision::PlacedSummary;
use crate::units::Tokens;
use crate::view::SummaryNode;

/// The rung's name in records.
pub(super) const ADOPT: &str = "adopt";

impl Ladder<'_> {
    /// Begins with summaries that are recorded already, in the order of their ranges: of a lane's first request that is too
    /// large, the oldest that bring it to its goal. None of what they stand for has to be summarised again.
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
            let (view, now) = self.weighed(self.cut_at(last.to.next(), placed.clone()), (&[], &[]));
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
