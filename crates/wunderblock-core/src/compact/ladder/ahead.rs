//! Summaries that are made ahead, before the level at which they take effect.
//!
//! ```text
//! chunk is full ─ Urgency::Ahead ─► session.compacted, named by no trim ─ level ─► one view.trimmed that names all
//! ```
//! No request changes until a trim names the summaries, so the provider's cache breaks once for many chunks.

use super::{Ladder, Proposal};
use crate::compact::job::SummaryJob;
use crate::compact::rung::summarise;
use crate::lane::view::SummaryNode;
use crate::policy::{Action, Permille};
use crate::record::compaction::RungTaken;
use crate::record::decision::PlacedSummary;
use crate::units::{Seq, Tokens};

/// Name of the rung in records.
const PREPARED: &str = "prepared";
/// Fraction of its capacity at which the last chunk counts as full. The next exchange seldom fits exactly.
const FULL: Permille = Permille(700);

impl Ladder<'_> {
    /// Starts with the summaries that were made ahead and end before the protected content. Adopts all of them, since
    /// each was made to take effect at the level. The chunks that the climb summarises next follow the adopted
    /// summaries.
    #[must_use]
    pub fn activating(mut self) -> Self {
        let (view, begins) = (self.ask.view, summarise::begins(&self.ask(), &self.guard));
        let mut chain = view.lane().prepared(begins, view.hidden());
        chain.retain(|node| node.to < self.guard.cut);
        let Some(last) = chain.last() else { return self };
        let drop_before = last.to.next();
        let placed = chain.iter().map(|&SummaryNode { at, from, to, .. }| PlacedSummary { at, from, to });
        let nodes: Vec<PlacedSummary> = self.view.trim().nodes.iter().copied().chain(placed).collect();
        self.adopted.extend(chain);
        let (view, now) = self.weighed(self.cut_at(drop_before, nodes), &[], &[]);
        if now < self.now {
            let saved = self.now.saturating_sub(now);
            (self.view, self.now) = (view, now);
            let (rung, added) = (PREPARED.into(), Tokens::ZERO);
            self.taken.push(RungTaken { rung, taken: true, saved, added, why: None });
        }
        self
    }

    /// Moves to the step whose chunks are made ahead, and returns its jobs.
    pub(super) fn jobs_ahead(&mut self) -> Vec<SummaryJob> {
        let is_ahead = |action: &Action| matches!(action, Action::Summarise { ahead: true, .. });
        // Once the climb is past the step that makes chunks ahead, the step's jobs have already been requested. If a
        // text that says nothing were requested again, the requests would never end.
        let ahead = self.policy.steps.iter().position(is_ahead).filter(|rung| *rung >= self.rung);
        let Some(rung) = ahead else { return Vec::new() };
        self.rung = rung;
        let Some(action) = self.policy.steps.get(rung) else { return Vec::new() };
        let mut jobs = self.jobs(action);
        let chunk = self.policy.chunk_ahead(self.ask.budget.window).unwrap_or_default();
        // The last chunk waits until it is full.
        if jobs.last().is_some_and(|job| job.tokens < FULL.of(chunk)) {
            jobs.pop();
        }
        jobs
    }

    /// Returns the proposal that records the summaries made ahead and changes no request. The summaries directly
    /// follow the head, since no trim event comes before them.
    pub(super) fn proposal_ahead(&mut self) -> Proposal {
        let mut nodes = std::mem::take(&mut self.nodes);
        for (at, node) in (self.ask.view.head().next().0..).map(Seq).zip(&mut nodes) {
            node.at = at;
        }
        let (before, goal) = (self.before, self.target);
        Proposal {
            head: self.ask.view.head(),
            trim: None,
            nodes,
            reduced: Vec::new(),
            rungs: Vec::new(),
            before,
            after: before,
            goal,
            adds: false,
            reached: true,
        }
    }
}
