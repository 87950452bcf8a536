//! A single change to summaries that a person asks for, made instead of a climb.

use super::{Ladder, NodeDraft, Proposal};
use crate::compact::guard;
use crate::lane::pair::{Exchange, arrange};
use crate::lane::view::SummaryNode;
use crate::planning::plan;
use crate::record::compaction::RungTaken;
use crate::record::decision::{PlacedSummary, Trim};
use crate::units::{Seq, Tokens};
use std::collections::BTreeSet;

/// Change to the summaries of a lane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SummaryChange {
    /// Word for the change in records.
    pub name: Box<str>,
    /// Summaries to remove, by the positions of their events.
    pub gone: Vec<Seq>,
    /// Recorded summaries to show in place of the removed ones.
    pub back: Vec<SummaryNode>,
    /// First and last position of a range whose exchanges are shown again. The view must hold them.
    pub shown: Option<(Seq, Seq)>,
    /// Summaries written for the change. Summaries that are merged into another summary precede that summary. The
    /// range of the last summary is no longer shown.
    pub drafts: Vec<NodeDraft>,
}

/// A change was refused because the request would not fit afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom {
    /// Tokens the request would take.
    pub needed: Tokens,
    /// Maximum number of tokens in the request.
    pub limit: Tokens,
}

impl Ladder<'_> {
    /// Makes the change regardless of the tokens it saves.
    ///
    /// # Errors
    /// Returns [`NoRoom`] if the request would not fit and is at least as long as before.
    pub fn change(mut self, change: SummaryChange) -> Result<Proposal, NoRoom> {
        let trim = self.changed(&change);
        self.adopted = change.back;
        let (view, now) = self.weighed(trim, &change.drafts, &[]);
        let limit = plan::limit(&self.ask).tokens;
        // A request that becomes shorter but is still too long is left to the plan, as everywhere else.
        if now > limit && now >= self.before {
            return Err(NoRoom { needed: now, limit });
        }
        Ok(Proposal {
            head: self.ask.view.head(),
            trim: Some(view.trim().clone()),
            nodes: change.drafts,
            reduced: Vec::new(),
            rungs: vec![RungTaken {
                rung: change.name,
                taken: true,
                saved: self.before.saturating_sub(now),
                added: now.saturating_sub(self.before),
                why: None,
            }],
            before: self.before,
            after: now,
            adds: true,
            goal: limit,
            reached: true,
        })
    }

    fn changed(&self, change: &SummaryChange) -> Trim {
        let old = self.view.trim();
        let stays = old.nodes.iter().filter(|placed| !change.gone.contains(&placed.at)).copied();
        let back = change.back.iter().map(|&SummaryNode { at, from, to, .. }| PlacedSummary { at, from, to });
        let new = change.drafts.last().map(|draft| {
            let (from, to) = (draft.job.from, draft.job.to);
            PlacedSummary { at: draft.at, from, to }
        });
        let mut nodes: Vec<PlacedSummary> = stays.chain(back).chain(new).collect();
        nodes.sort_unstable_by_key(|placed| placed.from);
        let mut trim = Trim { nodes, ..old.clone() };
        let arrangement = arrange(&self.view);
        if let Some((from, to)) = change.shown {
            let again = arrangement.exchanges.iter().filter(|exchange| is_within(exchange, from, to));
            if to.next() == trim.drop_before {
                // The range ends at the frontier: when the frontier is moved back to the beginning of the range, the
                // next climb finds the range there.
                trim.stub_before = if trim.stub_before == trim.drop_before { from } else { trim.stub_before };
                trim.drop_before = from;
            } else {
                trim.keep = union(&trim.keep, again.flat_map(|exchange| exchange.speakers.iter().copied()));
                self.silence(&mut trim, from, to);
            }
        }
        if let Some(draft) = change.drafts.last() {
            let (from, to) = (draft.job.from, draft.job.to);
            let frontier = old.drop_before.max(to.next());
            let shown = guard::shown(&self.ask, &arrangement);
            let (within, beside): (Vec<&Exchange>, Vec<&Exchange>) =
                shown.into_iter().map(|(exchange, _)| exchange).partition(|it| is_within(it, from, to));
            let told: BTreeSet<Seq> = within.iter().flat_map(|it| it.speakers.iter().copied()).collect();
            trim.keep.retain(|seq| !told.contains(seq));
            if frontier > old.drop_before {
                let before = |exchange: &&Exchange| (old.drop_before..frontier).contains(&exchange.last);
                let before = beside.into_iter().filter(before);
                trim.keep = union(&trim.keep, before.flat_map(|it| it.speakers.iter().copied()));
                self.silence(&mut trim, old.drop_before.max(Seq(2)), from.prev());
                trim.drop_before = frontier;
                trim.stub_before = old.stub_before.max(frontier);
            }
        }
        trim
    }
}

impl Ladder<'_> {
    /// Adds to the trim's silent runs the runs that lie between two positions and contain no entry or erasure.
    fn silence(&self, trim: &mut Trim, from: Seq, to: Seq) {
        let mut next = from;
        let said = self.view.entries().map(|entry| entry.seq).chain(self.view.erased().map(|(at, ..)| at));
        let mut said: Vec<Seq> = said.filter(|at| (from..=to).contains(at)).collect();
        said.push(to.next());
        said.sort_unstable();
        for at in said {
            if next < at {
                trim.silent.push((next, at.prev()));
            }
            next = next.max(at.next());
        }
        trim.silent.sort_unstable();
        trim.silent.dedup();
    }
}

/// Returns whether an exchange begins and ends between two positions and waits for no result.
#[must_use]
pub fn is_within(exchange: &Exchange, from: Seq, to: Seq) -> bool {
    exchange.key >= from && exchange.last <= to && !exchange.is_waiting()
}

fn union(kept: &[Seq], more: impl Iterator<Item = Seq>) -> Vec<Seq> {
    let all: BTreeSet<Seq> = kept.iter().copied().chain(more).collect();
    all.into_iter().collect()
}
