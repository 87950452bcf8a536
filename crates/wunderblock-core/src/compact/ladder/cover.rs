//! Last rung of every ladder: a summary of what a request would otherwise leave out behind a bare mark.
//!
//! The steps of a policy may end above the limit, or drop messages. The plan then leaves messages out, and a model
//! that sees only their positions does not know why it should read them. This rung asks for one summary of all that
//! neither the request nor a summary would show, beside what the plan keeps. If there is no room for it there, the
//! request keeps only what always stays, and the summary takes most of the rest.

use super::draft::{NodeDraft, says_something};
use super::state::{COVER, Cover, Form};
use super::{Ladder, Made, NextStep};
use crate::compact::job::{Detail, SummaryJob, placed};
use crate::compact::rung::summarise;
use crate::form::fence::SUMMARY_FRAME;
use crate::lane::pair::{Exchange, arrange};
use crate::lane::trim::{self, GapOrSummary};
use crate::lane::view::{SummaryNode, View};
use crate::planning::cost;
use crate::planning::plan::{self, PlanInput};
use crate::policy::Permille;
use crate::record::budget::Treatment;
use crate::record::compaction::RungTaken;
use crate::record::decision::{PlacedSummary, Trim, TrimReason};
use crate::units::{Seq, Tokens};
use std::collections::BTreeSet;

/// Minimum length of the summary, in tokens. A shorter one says no more than a mark.
const LEAST: Tokens = Tokens(96);

/// Part of the limit that stays free.
const SLACK: Permille = Permille(25);

/// A run of positions that a trim leaves out without a summary.
struct Gap {
    from: Seq,
    to: Seq,
    /// Positions of the messages in the run.
    entries: Vec<Seq>,
    tokens: Tokens,
}

/// The gaps that a ladder's view would leave, and the summaries for them.
struct Covering<'l, 'a>(&'l Ladder<'a>);

impl Ladder<'_> {
    /// Returns the request for summaries of what no summary covers, once the policy's steps are over; or takes the
    /// texts that it asked for, the first of which has the given index.
    pub(super) fn covering(&mut self, taken: Option<(&[Made], usize)>) -> Option<NextStep> {
        if let Some((made, first)) = taken {
            cover_with(self, made, first);
            return None;
        }
        loop {
            let (trim, jobs, form, merges, drafts) = match std::mem::replace(&mut self.cover, Cover::Done) {
                Cover::Open(form) => {
                    let planned = Covering(self)
                        .planned()
                        .filter(|trim| self.policy.covers() && !Covering(self).gaps(trim).is_empty())?;
                    let found = match form {
                        Form::Beside => Covering(self).beside(planned),
                        Form::Least | Form::Catalogue => {
                            let covering = Covering(self);
                            covering.least().and_then(|trim| covering.merged(trim, form))
                        }
                    };
                    let Some((trim, jobs, merges)) = found else {
                        self.cover = Cover::Open(form.next()?);
                        continue;
                    };
                    (trim, jobs, form, merges, 0)
                }
                Cover::Made { trim, form, drafts } => {
                    let Some(job) = Covering(self).merge(&trim, form, drafts) else {
                        self.nodes.truncate(self.nodes.len().saturating_sub(drafts));
                        self.cover = Cover::Open(form.next()?);
                        continue;
                    };
                    (*trim, vec![job], form, false, drafts)
                }
                Cover::Asked { .. } | Cover::Done => return None,
            };
            self.cover = Cover::Asked { trim: Box::new(trim), jobs: jobs.clone(), form, merges, drafts };
            return Some(NextStep::Summarise(jobs));
        }
    }
}

/// Takes the texts that the rung asked for, the first of which has the index `first`.
fn cover_with(ladder: &mut Ladder<'_>, made: &[Made], first: usize) {
    let (trim, jobs, form, merges, before) = match std::mem::replace(&mut ladder.cover, Cover::Done) {
        Cover::Asked { trim, jobs, form, merges, drafts } => (trim, jobs, form, merges, drafts),
        other => {
            ladder.cover = other;
            return;
        }
    };
    let texts = made.iter().flatten().filter(|text| says_something(text));
    let drafts = jobs.into_iter().zip(texts.enumerate()).map(|(job, (index, text))| {
        let at = Seq(ladder.next.0 + (before + index) as u64);
        let mut draft = NodeDraft { at, job, text: text.clone(), tokens: Tokens::ZERO, made: first + index };
        draft.tokens = cost::node(&draft.summary(), ladder.ask.costs).tokens;
        draft
    });
    let drafts: Vec<NodeDraft> = drafts.collect();
    let is_whole = !drafts.is_empty() && drafts.len() == made.len();
    if is_whole && merges {
        ladder.cover = Cover::Made { trim, form, drafts: drafts.len() };
        ladder.nodes.extend(drafts);
    } else if !(is_whole && covered(ladder, *trim, drafts)) {
        ladder.nodes.truncate(ladder.nodes.len().saturating_sub(before));
        ladder.cover = form.next().map_or(Cover::Done, Cover::Open);
    }
}

/// Takes summaries if the request fits with them. Returns whether they were taken.
fn covered(ladder: &mut Ladder<'_>, mut trim: Trim, drafts: Vec<NodeDraft>) -> bool {
    let placed = drafts.iter().map(|draft| {
        let (from, to) = (draft.job.from, draft.job.to);
        PlacedSummary { at: draft.at, from, to }
    });
    trim.nodes.extend(placed);
    trim.nodes.sort_unstable_by_key(|placed| placed.from);
    let (view, now) = ladder.weighed(trim, &drafts, &[]);
    let planned = plan::plan(&Covering(ladder).tight(&view));
    let taken = planned.is_ok_and(|plan| plan.step != Some(TrimReason::OverBudget));
    let (saved, added) = (ladder.now.saturating_sub(now), now.saturating_sub(ladder.now));
    let why = (!taken).then(|| "it does not fit beside what stays".into());
    ladder.taken.push(RungTaken { rung: COVER.into(), taken, saved, added, why });
    if taken {
        ladder.next = drafts.last().map_or(ladder.next, |draft| draft.at.next());
        ladder.nodes.extend(drafts);
        (ladder.view, ladder.now) = (view, now);
    }
    taken
}

impl<'a> Covering<'_, 'a> {
    /// Returns a trim with a summary of each of its gaps; `None` if there is no room for them, or if the trim drops
    /// summaries.
    fn beside(&self, trim: Trim) -> Option<(Trim, Vec<SummaryJob>, bool)> {
        let gaps = self.gaps(&trim);
        let is_kept = |node: &SummaryNode| trim.nodes.iter().any(|placed| placed.at == node.at);
        if !self.0.view.nodes().all(is_kept) {
            return None;
        }
        let room = self.room_beside(&trim, gaps.len());
        let all: Tokens = gaps.iter().map(|gap| gap.tokens).sum();
        let job = |gap: &Gap| {
            let room = Tokens(room.0.saturating_mul(gap.tokens.0) / all.0.max(1));
            (room >= LEAST).then(|| self.job(gap, room, Detail::Full))
        };
        let jobs = gaps.iter().map(job).collect::<Option<Vec<_>>>()?;
        Some((trim, jobs, false))
    }

    /// Returns the trim of what always stays, and the summaries that one summary of all that is left out is made from;
    /// `None` if there is no room for it.
    fn merged(&self, trim: Trim, form: Form) -> Option<(Trim, Vec<SummaryJob>, bool)> {
        let room = self.room_beside(&trim, 1);
        let nodes = self.0.view.trim().nodes.clone();
        let gaps = self.gaps(&Trim { nodes: nodes.clone(), ..trim.clone() });
        if room < LEAST {
            return None;
        }
        let merges = gaps.len() > 1 || !nodes.is_empty();
        let inner = |gap: &Gap| SummaryJob { inner: merges, ..self.job(gap, room, form.detail()) };
        let jobs: Vec<SummaryJob> = gaps.iter().map(inner).collect();
        match (jobs.is_empty(), merges) {
            (true, true) => Some((trim.clone(), vec![self.merge(&trim, form, 0)?], false)),
            (true, false) => None,
            (false, _) => Some((trim, jobs, merges)),
        }
    }

    /// Returns one summary of the lane's summaries and of the drafts that were made for it.
    fn merge(&self, trim: &Trim, form: Form, drafts: usize) -> Option<SummaryJob> {
        let room = self.room_beside(trim, 1);
        let inner = self.0.nodes.iter().rev().take(drafts).map(NodeDraft::summary);
        let mut nodes: Vec<SummaryNode> = self.0.view.nodes().cloned().chain(inner).collect();
        nodes.sort_unstable_by_key(|node| node.from);
        // A sweep that is not over leaves ranges without a summary, which no other summary may seem to cover.
        if !nodes.windows(2).all(|two| matches!(two, [a, b] if a.to.next() == b.from)) {
            return None;
        }
        let tokens: Tokens = nodes.iter().map(|node| cost::node(node, self.0.ask.costs).tokens).sum();
        let target = summarise::target(&self.0.policy.summary, tokens).min(room);
        let nodes: Vec<&SummaryNode> = nodes.iter().collect();
        SummaryJob::of_summaries(&placed(&nodes), tokens, target, form.detail())
    }

    /// Returns the tokens that summaries may take beside what a trim shows.
    fn room_beside(&self, trim: &Trim, summaries: usize) -> Tokens {
        let rest = self.0.weighed(trim.clone(), &[], &[]).1;
        let frame = SUMMARY_FRAME.tokens + cost::frame(self.0.ask.costs).tokens + plan::GAP_COST.tokens;
        let rest = rest + Tokens(frame.0.saturating_mul(summaries as u64));
        let room = plan::limit(&self.tight(&self.0.view)).tokens.saturating_sub(rest);
        // A summary may be a little longer than its target.
        Tokens(room.0 / 4 * 3)
    }

    fn job(&self, gap: &Gap, room: Tokens, detail: Detail) -> SummaryJob {
        SummaryJob {
            from: gap.from,
            to: gap.to,
            entries: gap.entries.clone(),
            sources: Vec::new(),
            level: 0,
            detail,
            tokens: gap.tokens,
            target: summarise::target(&self.0.policy.summary, gap.tokens).min(room),
            splits: false,
            inner: false,
        }
    }

    /// Returns the input of a plan with a little less room than the next build has: a build adds what a compaction does
    /// not know, such as the tools of calls that come into view.
    fn tight<'v>(&'v self, view: &'v View) -> PlanInput<'v> {
        let mut budget = self.0.ask.budget;
        budget.margin += SLACK.of(plan::limit(&self.0.ask).tokens);
        PlanInput { view, budget, ..self.0.ask }
    }

    /// Returns the trim that the next request would have. What a step would show as stubs leaves, too, so that the
    /// request has room for the summary.
    fn planned(&self) -> Option<Trim> {
        let planned = plan::plan(&self.tight(&self.0.view)).ok()?;
        let stub_before = planned.trim.stub_before;
        let drop_before = match planned.step {
            Some(TrimReason::OverBudget) => stub_before,
            _ => planned.trim.drop_before,
        };
        Some(Trim { waiting: Vec::new(), drop_before, ..planned.trim })
    }

    /// Returns the trim that shows only what always stays: the user's newest turn, pins, and the newest exchange, which
    /// leaves half of the room to the summary.
    fn least(&self) -> Option<Trim> {
        let (all, old) = (self.0.ask.view, self.0.view.trim());
        let arrangement = arrange(all);
        let said = arrangement.exchanges.iter().filter(|exchange| plan::is_said(exchange, all));
        let newest = said.map(|exchange| exchange.last).max()?;
        let before = arrangement.exchanges.iter().map(|exchange| exchange.last).filter(|last| *last < newest);
        let drop_before = before.max()?.next().max(old.drop_before);
        let stub_before = drop_before.max(old.stub_before);
        let keep = all.newest_user().into_iter().filter(|seq| *seq < drop_before).collect();
        let clip = plan::newest_clip(&self.tight(&self.0.view));
        Some(Trim { drop_before, stub_before, keep, clip, nodes: Vec::new(), ..old.clone() })
    }

    /// Returns the runs of positions that a trim leaves out without a summary and that hold messages.
    fn gaps(&self, trim: &Trim) -> Vec<Gap> {
        let (all, costs) = (self.0.ask.view, self.0.ask.costs);
        let arrangement = arrange(all);
        let is_shown = |exchange: &&Exchange| trim::treatment(exchange, trim, all) != Treatment::LeftOut;
        let shown = arrangement.exchanges.iter().filter(is_shown);
        let shown: BTreeSet<Seq> = shown.flat_map(|exchange| exchange.members.iter().copied()).collect();
        // Entries before the floor were not loaded whole, except those that requests keep; a sweep summarises them.
        let floor = all.trim().drop_before.max(self.0.ask.floor);
        let was_shown =
            |it: &&Exchange| it.last >= floor || trim::treatment(it, all.trim(), all) != Treatment::LeftOut;
        let gone = arrangement.exchanges.iter().filter(|it| was_shown(it) && !is_shown(it));
        let gone: Vec<&Exchange> = gone.collect();
        let nodes: Vec<SummaryNode> = self.0.view.nodes().cloned().collect();
        let dropped: Vec<&SummaryNode> =
            nodes.iter().filter(|node| !trim.nodes.iter().any(|placed| placed.at == node.at)).collect();
        let view = all.with(trim, &nodes, &[]);
        let stands = trim::stands(arrangement.exchanges.iter(), trim, &view);
        let gaps = stands.into_iter().filter_map(|stand| {
            let GapOrSummary::Gap(from, to) = stand else { return None };
            let is_lost = gone.iter().any(|exchange| (from..=to).contains(&exchange.last))
                || dropped.iter().any(|node| from <= node.to && node.from <= to);
            is_lost.then_some(Gap { from, to, entries: Vec::new(), tokens: Tokens::ZERO })
        });
        let mut gaps: Vec<Gap> = gaps.collect();
        // Ranges are adjacent, like those of the steps: a kept turn between two of them belongs to the later one.
        let begins: BTreeSet<Seq> =
            trim.nodes.iter().map(|placed| placed.from).chain(gaps.iter().map(|gap| gap.from)).collect();
        let mut ends: Vec<Seq> = trim.nodes.iter().map(|placed| placed.to).collect();
        for gap in &mut gaps {
            let next = begins.range(gap.to.next()..).next();
            gap.to = next
                .filter(|from| trim.nodes.iter().any(|it| it.from == **from))
                .map_or(gap.to, |it| it.prev());
            let before = ends.iter().filter(|to| **to < gap.from).max();
            gap.from = before.map_or(gap.from, |to| to.next());
            ends.push(gap.to);
            // An exchange belongs to the range in which it ends, with everything that it began before. What the
            // request keeps within the range belongs to it, too: once a later request does not keep it, no other
            // summary would tell of it.
            let kept = arrangement.exchanges.iter().filter(is_shown);
            let ends = gone.iter().copied().chain(kept);
            let ends = ends.filter(|exchange| (gap.from..=gap.to).contains(&exchange.last));
            let entries: BTreeSet<Seq> = ends.flat_map(|exchange| exchange.members.iter().copied()).collect();
            let replaced = entries.iter().filter(|seq| !shown.contains(seq));
            let replaced = replaced.filter_map(|seq| all.entry(*seq));
            gap.tokens = replaced.map(|entry| cost::sent(entry, all.trim(), costs).tokens).sum();
            gap.entries = entries.into_iter().collect();
        }
        gaps
    }
}
