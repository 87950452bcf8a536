//! Last rung of every ladder: a summary of what a request would otherwise leave out behind a bare mark.
//!
//! The steps of a policy may end above the limit, or drop messages. The plan then leaves messages out, and a model
//! that sees only their positions does not know why it should read them. This rung asks for one summary of all that
//! neither the request nor a summary would show, beside what the plan keeps. If there is no room for it there, the
//! request keeps only what always stays, and the summary takes half of the rest.

use super::{Ladder, NextStep, NodeDraft};
use crate::budget::Treatment;
use crate::compact::job::{Detail, SummaryJob};
use crate::compact::summarise;
use crate::compaction::RungTaken;
use crate::cost;
use crate::decision::{PlacedSummary, Trim, TrimReason};
use crate::fence::SUMMARY_FRAME;
use crate::pair::arrange;
use crate::plan::{self, PlanInput};
use crate::trim::{self, GapOrSummary};
use crate::units::{Seq, Tokens};
use crate::view::SummaryNode;
use std::collections::BTreeSet;

/// Minimum length of the summary, in tokens. A shorter one says no more than a mark.
const LEAST: Tokens = Tokens(96);

/// State of the rung.
#[derive(Default)]
pub(super) enum Cover {
    /// Nothing was asked for yet.
    #[default]
    Open,
    /// A summary was asked for, which completes the trim. `least` states that the trim shows only what always stays.
    Asked { trim: Box<Trim>, job: Box<SummaryJob>, least: bool },
    /// The summary did not fit beside what the plan keeps.
    Full,
    /// The rung is over.
    Done,
}

impl Ladder<'_> {
    /// Returns the request for a summary of what no summary covers, once the policy's steps are over.
    pub(super) fn covering(&mut self) -> Option<NextStep> {
        if !self.policy.covers() || matches!(self.cover, Cover::Done) {
            return None;
        }
        let planned = self.planned()?;
        let gone = self.gone(&planned)?;
        let beside = self.job(planned.clone(), gone, false).filter(|_| matches!(self.cover, Cover::Open));
        let (trim, job, least) = match beside {
            Some((trim, job)) => (trim, job, false),
            None => {
                let trim = self.least(planned.clip)?;
                let gone = self.gone(&trim)?;
                let (trim, job) = self.job(trim, gone, true)?;
                (trim, job, true)
            }
        };
        self.cover = Cover::Asked { trim: Box::new(trim), job: Box::new(job.clone()), least };
        Some(NextStep::Summarise(vec![job]))
    }

    /// Takes the text that the rung asked for. Returns whether the rung had asked.
    pub(super) fn cover_with(&mut self, text: Option<(crate::message::Body, usize)>) -> bool {
        let Cover::Asked { trim, job, least } = std::mem::replace(&mut self.cover, Cover::Done) else {
            return false;
        };
        let Some((text, made)) = text else { return true };
        let mut draft = NodeDraft { at: self.next, job: *job, text, tokens: Tokens::ZERO, made };
        draft.tokens = cost::node(&super::node(&draft), self.ask.costs).tokens;
        let mut trim = *trim;
        trim.nodes.push(PlacedSummary { at: draft.at, from: draft.job.from, to: draft.job.to });
        trim.nodes.sort_unstable_by_key(|placed| placed.from);
        let (view, now) = self.weighed(trim, (std::slice::from_ref(&draft), &[]));
        let planned = plan::plan(&PlanInput { view: &view, ..self.ask });
        let taken = planned.is_ok_and(|plan| plan.step != Some(TrimReason::OverBudget));
        let (saved, added) = (self.now.saturating_sub(now), now.saturating_sub(self.now));
        let why = (!taken).then(|| "it does not fit beside what stays".into());
        self.taken.push(RungTaken { rung: "cover".into(), taken, saved, added, why });
        if taken {
            self.next = self.next.next();
            self.nodes.push(draft);
            (self.view, self.now) = (view, now);
        } else if !least {
            self.cover = Cover::Full;
        }
        true
    }

    /// Returns the trim that the next request would have.
    fn planned(&self) -> Option<Trim> {
        let planned = plan::plan(&self.ask()).ok()?;
        Some(Trim { waiting: Vec::new(), ..planned.trim })
    }

    /// Returns the trim that shows only what always stays: the newest exchange, the user's newest turn, pins.
    fn least(&self, clip: Vec<(Seq, crate::units::Bytes)>) -> Option<Trim> {
        let (all, old) = (self.ask.view, self.view.trim());
        let arrangement = arrange(all);
        let newest = arrangement.exchanges.iter().map(|exchange| exchange.last).max()?;
        let before = arrangement.exchanges.iter().map(|exchange| exchange.last).filter(|last| *last < newest);
        let drop_before = before.max()?.next().max(old.drop_before);
        let stub_before = drop_before.max(old.stub_before);
        let keep = all.newest_user().into_iter().filter(|seq| *seq < drop_before).collect();
        Some(Trim { drop_before, stub_before, keep, clip, nodes: Vec::new(), ..old.clone() })
    }

    /// Returns the first and last position of what a trim leaves out without a summary, and the entries in between
    /// that it does not show; `None` if a summary covers everything.
    fn gone(&self, trim: &Trim) -> Option<(Seq, Seq, BTreeSet<Seq>)> {
        let all = self.ask.view;
        let arrangement = arrange(all);
        let is_shown =
            |exchange: &&crate::pair::Exchange| trim::treatment(exchange, trim, all) != Treatment::LeftOut;
        let shown: BTreeSet<Seq> =
            arrangement.exchanges.iter().filter(is_shown).flat_map(|it| it.members.iter().copied()).collect();
        // Entries before the floor were not loaded whole; a sweep summarises them.
        let floor = all.trim().drop_before.max(self.ask.floor);
        let hidden =
            arrangement.exchanges.iter().filter(|exchange| exchange.last >= floor && !is_shown(exchange));
        let mut gone: BTreeSet<Seq> = hidden.flat_map(|it| it.members.iter().copied()).collect();
        gone.retain(|seq| !shown.contains(seq));
        // Summaries that the trim drops leave their ranges uncovered, too.
        let dropped = self.view.nodes().filter(|node| !trim.nodes.iter().any(|placed| placed.at == node.at));
        let dropped: Vec<&SummaryNode> = dropped.collect();
        let placed = self.view.with(trim, &self.view.nodes().cloned().collect::<Vec<_>>(), &[]);
        let stands = trim::stands(arrangement.exchanges.iter(), placed.trim(), &placed);
        let gaps = stands.iter().filter_map(|stand| match stand {
            GapOrSummary::Gap(from, to) => Some((*from, *to)),
            GapOrSummary::Node(..) => None,
        });
        let is_lost = |(from, to): &(Seq, Seq)| {
            gone.range(*from..=*to).next().is_some()
                || dropped.iter().any(|node| *from <= node.to && node.from <= *to)
        };
        let gaps: Vec<(Seq, Seq)> = gaps.filter(is_lost).collect();
        Some((gaps.first()?.0, gaps.last()?.1, gone))
    }

    /// Returns the summary of what a trim leaves out, merged with the summaries in between, and the trim without
    /// those; `None` if there is no room for it.
    fn job(
        &self,
        mut trim: Trim,
        (from, to, gone): (Seq, Seq, BTreeSet<Seq>),
        least: bool,
    ) -> Option<(Trim, SummaryJob)> {
        let (all, costs) = (self.ask.view, self.ask.costs);
        let sources: Vec<&SummaryNode> =
            self.view.nodes().filter(|node| from <= node.to && node.from <= to).collect();
        let from = sources.first().map_or(from, |node| node.from.min(from));
        let to = sources.last().map_or(to, |node| node.to.max(to));
        trim.nodes.retain(|placed| !sources.iter().any(|node| node.at == placed.at));
        let rest = self.weighed(trim.clone(), (&[], &[])).1;
        let frame = SUMMARY_FRAME.tokens + cost::frame(costs).tokens + plan::GAP_COST.tokens;
        let room = plan::limit(&self.ask).tokens.saturating_sub(rest + frame);
        let room = if least { Tokens(room.0 / 2) } else { room };
        if room < LEAST {
            return None;
        }
        let is_told = |seq: &Seq| sources.iter().any(|node| (node.from..=node.to).contains(seq));
        let entries: Vec<Seq> = gone.range(from..=to).copied().filter(|seq| !is_told(seq)).collect();
        let said = entries.iter().filter_map(|seq| all.entry(*seq));
        let said: Tokens = said.map(|entry| cost::sent(entry, all.trim(), costs).tokens).sum();
        let tokens = said + sources.iter().map(|node| cost::node(node, costs).tokens).sum();
        let job = SummaryJob {
            from,
            to,
            entries,
            sources: sources.iter().map(|node| node.at).collect(),
            level: sources.iter().map(|node| node.level + 1).max().unwrap_or_default(),
            detail: Detail::Full,
            tokens,
            target: summarise::target(&self.policy.summary, tokens).min(room),
            splits: false,
            inner: false,
        };
        Some((trim, job))
    }
}
