//! Reach of a compacted request: as much text stays word for word as the goal allows.

use super::adopt::ADOPT;
use super::{Ladder, NodeDraft, with_forms};
use crate::compact::guard;
use crate::compact::rung::shrink;
use crate::lane::pair::{Exchange, arrange};
use crate::lane::view::View;
use crate::planning::{plan, presentation};
use crate::policy::{Action, Permille};
use crate::record::compaction::RungTaken;
use crate::record::decision::{PartForm, PartPosition, PlacedSummary, Trim};
use crate::record::event::ContentReduced;
use crate::units::{Bytes, Seq, Tokens};
use std::collections::BTreeMap;

/// Minimum room for which a text is cut, as a fraction of the limit.
const CUT: Permille = Permille(50);

/// Maximum number of exchanges that are cut to reach further back.
const CUTS: usize = 8;

/// Forms in which parts are shown, by position.
type Forms = BTreeMap<PartPosition, PartForm>;

impl Ladder<'_> {
    /// Returns the trim after removing, as far as the goal requires, exchanges that the request still shows although
    /// summaries cover them.
    pub(super) fn told_gone(&self) -> Option<(Trim, Vec<(Seq, ContentReduced)>)> {
        let old = self.view.trim();
        let told = old.nodes.last().map(|node| node.to.next().min(self.guard.cut));
        let told = told.filter(|told| *told > old.drop_before)?;
        let trim = self.filled(self.cut_at(told, old.nodes.clone()), &[]);
        Some((trim, Vec::new()))
    }

    /// Returns the trim that shows the exchanges ending at or after a position, and the protected content before that
    /// position.
    pub(super) fn cut_at(&self, drop_before: Seq, nodes: Vec<PlacedSummary>) -> Trim {
        let old = self.view.trim();
        let arrangement = arrange(&self.view);
        let head = arrangement.exchanges.iter().filter(|exchange| exchange.last < self.guard.head);
        let head = head.flat_map(|exchange| exchange.speakers.iter().copied());
        let mut keep = self.guard.kept(old, drop_before);
        keep.extend(head);
        // What was cut as the newest exchange leaves like any other.
        let stays = |(seq, _): &&(Seq, Bytes)| *seq >= drop_before || keep.contains(seq);
        let clip = old.clip.iter().filter(stays).copied().collect();
        let keep = keep.into_iter().collect();
        let (stub_before, nodes_last) = (old.stub_before.max(drop_before), self.policy.summary.last);
        Trim { drop_before, stub_before, keep, clip, nodes, nodes_last, ..old.clone() }
    }

    /// Returns the trim with its frontier as far back as the goal allows. A summary may be shorter than its target,
    /// and the content it covers can then be shown alongside it.
    pub(super) fn filled(&self, trim: Trim, drafts: &[NodeDraft]) -> Trim {
        let mut room = self.target.saturating_sub(self.weighed(trim.clone(), drafts, &[]).1);
        let arrangement = arrange(self.ask.view);
        let before = guard::shown(&self.ask, &arrangement);
        let before: Vec<_> = before.iter().filter(|(exchange, _)| exchange.last < trim.drop_before).collect();
        let mut begin = before.len();
        for (index, (exchange, tokens)) in before.iter().enumerate().rev() {
            let is_free = self.guard.is_free(exchange);
            if exchange.last < self.guard.head || (is_free && *tokens > room) {
                break;
            }
            room = if is_free { room.saturating_sub(*tokens) } else { room };
            begin = index;
        }
        // Marks take room, too, and one record can end two exchanges, so weigh each candidate frontier and move
        // forward until one fits.
        while begin < before.len() {
            let last = begin.checked_sub(1).and_then(|index| before.get(index));
            let frontier = last.map_or(Seq::START, |(exchange, _)| exchange.last.next());
            let further = self.reaching(&trim, frontier);
            if self.weighed(further.clone(), drafts, &[]).1 <= self.target {
                return further;
            }
            begin += 1;
        }
        trim
    }

    /// Returns the trim with its frontier moved back to a position, or as close to that position as a frontier may
    /// be. The exchanges added this way are shown word for word.
    fn reaching(&self, trim: &Trim, frontier: Seq) -> Trim {
        let frontier = frontier.max(self.earliest(trim));
        let stub_before = self.ask.view.trim().stub_before.max(frontier);
        Trim { forms: trim.forms.clone(), stub_before, ..self.cut_at(frontier, trim.nodes.clone()) }
    }

    /// Fills the room left by the summaries if the policy keeps as much as it can.
    pub(super) fn fill(&mut self) {
        let is_as_needed = |action: &Action| matches!(action, Action::Summarise { as_needed: true, .. });
        let is_summarised =
            |taken: &RungTaken| taken.taken && matches!(&*taken.rung, "summarise" | "condense" | ADOPT);
        let has_summarised = self.taken.iter().any(is_summarised);
        // A person who asks for a compaction that is not due wants the request shorter than the goal.
        if !self.policy.steps.iter().any(is_as_needed) || !has_summarised || self.before <= self.target {
            return;
        }
        let before = self.now;
        self.refill();
        for _ in 0..CUTS {
            if !self.cut() {
                break;
            }
            self.refill();
        }
        // Stubs and cuts of what becomes visible may save more than it takes.
        let (saved, added) = (before.saturating_sub(self.now), self.now.saturating_sub(before));
        if self.now != before {
            self.taken.push(RungTaken { rung: "fill".into(), taken: true, saved, added, why: None });
        }
    }

    fn refill(&mut self) {
        let trim = self.filled(self.view.trim().clone(), &[]);
        (self.view, self.now) = self.weighed(trim, &[], &[]);
    }

    /// Shows the head and tail of the texts and results of the newest exchange that does not fit whole, if a fair
    /// part of it fits. Returns whether the exchange is shown.
    fn cut(&mut self) -> bool {
        let mut room = self.target.saturating_sub(self.now);
        let trim = self.view.trim();
        let arrangement = arrange(self.ask.view);
        let before = guard::shown(&self.ask, &arrangement);
        let newest = before.iter().rev().find(|(exchange, _)| exchange.last < trim.drop_before);
        let Some((exchange, tokens)) = newest.filter(|(exchange, _)| self.guard.is_free(exchange)) else {
            return false;
        };
        let earlier = before.iter().rev().find(|(earlier, _)| earlier.last < exchange.last);
        let frontier = earlier.map_or(Seq::START, |(earlier, _)| earlier.last.next());
        let further = self.reaching(trim, frontier);
        while room >= CUT.of(plan::limit(&self.ask).tokens) {
            let Some(short) = shrink::cut(&self.ask, exchange, tokens.saturating_sub(room)) else { break };
            let (forms, placed) = self.placed(short);
            let (view, now) = self.weighed(with_forms(&further, forms), &[], &placed);
            if now <= self.target {
                self.accept(placed, view, now);
                return true;
            }
            // The remaining text can be longer than planned, and marks take room, too: retry with less room.
            room = room.saturating_sub(now.saturating_sub(self.target).max(Tokens(room.0 / 8)));
        }
        // Pictures have no head and tail. As stubs, they let the request reach back to what came before.
        let stubbed = presentation::parts(exchange, self.ask.view).filter(|at| {
            let part = self.ask.view.part(*at);
            part.is_some_and(|part| crate::form::stub::part(part, None) != crate::form::stub::Stubbed::Kept)
        });
        let forms: Forms = stubbed.map(|at| (at, PartForm::Stub)).collect();
        let (view, now) = self.weighed(with_forms(&further, forms), &[], &[]);
        let fits = now <= self.target;
        if fits {
            (self.view, self.now) = (view, now);
        }
        fits
    }

    /// Cuts the texts and results of the newest exchange if it does not fit alongside the protected content. A stub
    /// would say nothing about what was asked for last: with a stub, a result of 42,000 tokens left a request of only
    /// 1,466 of 22,400 tokens. The exchange takes at least half of the available room, and the entries that led to it
    /// take the rest.
    pub(super) fn cut_newest(&mut self) {
        let arrangement = arrange(self.ask.view);
        let shown = guard::shown(&self.ask, &arrangement);
        // If the newest exchange is a turn of the user, it is left to the plan, which shortens it.
        let turn = self.ask.view.newest_user();
        let is_turn = |exchange: &Exchange| turn.is_some_and(|turn| exchange.speakers.contains(&turn));
        let said = shown.iter().rev().find(|(last, _)| plan::is_said(last, self.ask.view));
        let Some((exchange, tokens)) = said.filter(|(last, _)| !is_turn(last)) else { return };
        let earlier = shown.iter().rev().find(|(earlier, _)| earlier.last < exchange.last);
        let frontier = earlier.map_or(Seq::START, |(earlier, _)| earlier.last.next());
        let least =
            self.weighed(self.cut_at(frontier.max(self.earliest(self.view.trim())), Vec::new()), &[], &[]).1;
        if least <= plan::limit(&self.ask).tokens {
            return;
        }
        let room = self.target.saturating_sub(least.saturating_sub(*tokens));
        // The exchange may take what everything else leaves.
        let most = Tokens(room.0 / 2).max(self.target.saturating_sub(self.now.saturating_sub(*tokens)));
        let Some(short) = shrink::cut(&self.ask, exchange, tokens.saturating_sub(most)) else { return };
        let (forms, placed) = self.placed(short);
        let trim = with_forms(self.view.trim(), forms);
        let (view, now) = self.weighed(trim, &[], &placed);
        if now >= self.now {
            return;
        }
        let saved = self.now.saturating_sub(now);
        self.taken.push(RungTaken { rung: "cut".into(), taken: true, saved, added: Tokens::ZERO, why: None });
        self.accept(placed, view, now);
        // The exchange is smaller now, so the tail can reach further back.
        let now = self.ask();
        self.guard = guard::guard(self.policy, &now, &arrange(&self.view));
    }

    /// Accepts a view that was weighed with shorter texts.
    fn accept(&mut self, placed: Vec<(Seq, ContentReduced)>, view: View, now: Tokens) {
        self.next = Seq(self.next.0 + placed.len() as u64);
        self.reduced.extend(placed);
        (self.view, self.now) = (view, now);
    }

    /// Returns shorter texts with the positions that their events will have, and the forms that name those events.
    pub(super) fn placed(&self, short: shrink::ShortTexts) -> (Forms, Vec<(Seq, ContentReduced)>) {
        let numbered = (self.next.0..).map(Seq).zip(short);
        numbered.map(|(seq, (at, reduced))| ((at, PartForm::Reduced(seq)), (seq, reduced))).unzip()
    }

    /// Returns the first position at which a frontier may be: the newest summary must cover something that is not
    /// shown.
    fn earliest(&self, trim: &Trim) -> Seq {
        let newest = trim.nodes.last().map_or(Seq::START, |node| node.from.next());
        newest.max(self.ask.view.trim().drop_before)
    }
}
