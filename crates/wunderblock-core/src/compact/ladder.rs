//! Compaction ladder: tries the policy's steps in order and takes each step that saves enough, until the request is
//! small enough.

mod adopt;
mod ahead;
mod cover;
mod draft;
pub(super) mod edit;
mod fill;
mod rules;
mod state;

use super::due::{LaneMeasurement, Urgency, whole};
use super::guard::{Guard, RungInput, guard};
use super::job::SummaryJob;
use super::rung::{archive, condense, curate, dedupe, drop, shrink, stub, summarise};
use super::task::TaskRange;
use crate::lane::pair::arrange;
use crate::lane::trim;
use crate::lane::view::{SummaryNode, View};
use crate::planning::cost;
use crate::planning::plan::{self, PlanInput};
use crate::policy::{Action, Division, Permille, Policy};
use crate::record::compaction::RungTaken;
use crate::record::decision::{PartForm, PartPosition, PlacedSummary, Trim};
use crate::record::event::ContentReduced;
use crate::record::message::Body;
use crate::units::{Seq, Tokens};
pub use draft::NodeDraft;
use draft::says_something;
use rules::PricedRule;
use state::{COVER, Cover, Form};
use std::collections::{BTreeMap, HashSet};

/// A compaction in progress.
pub struct Ladder<'a> {
    policy: &'a Policy,
    ask: PlanInput<'a>,
    guard: Guard,
    tasks: &'a [TaskRange],
    /// Goal of the steps, in tokens.
    target: Tokens,
    /// Number of tokens that the policy's fractions refer to.
    whole: Tokens,
    /// Whether a person asked for the compaction, so that summaries are made even below the target.
    forced: bool,
    /// Whether the request is the lane's first.
    cold: bool,
    /// Whether the request was too long.
    overflows: bool,
    /// Whether chunks are summarised before the level is reached.
    ahead: bool,
    view: View,
    before: Tokens,
    /// Tokens of the added text to omit if the compaction would gain nothing with them. See [`Ladder::adding`].
    spare: Tokens,
    now: Tokens,
    rung: usize,
    taken: Vec<RungTaken>,
    nodes: Vec<NodeDraft>,
    /// Recorded summaries outside the view that the new trim may name.
    adopted: Vec<SummaryNode>,
    /// The user's standing rules, in order of priority.
    rules: Vec<PricedRule>,
    reduced: Vec<(Seq, ContentReduced)>,
    /// Position of the next new event, if no other event is appended first.
    next: Seq,
    /// Jobs whose texts were requested last.
    asked: Vec<SummaryJob>,
    /// State of the last rung, which follows the policy's steps.
    cover: Cover,
}

/// A text that was requested; `None` if it could not be made.
pub type Made = Option<Body>;

/// Next step of a climb.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Texts are needed: one for each job, to be passed to [`Ladder::take`].
    Summarise(Vec<SummaryJob>),
    /// The climb is over.
    Done(Box<Proposal>),
}

/// Changes that a compaction would make to a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// Head of the view that the proposal was made from. If no other event is appended first, the event of the trim
    /// gets the next position, and the summaries and shorter texts follow at the positions given with them.
    pub head: Seq,
    /// New state of the lane; `None` if no request changes.
    pub trim: Option<Trim>,
    /// Summaries to record, with their positions.
    pub nodes: Vec<NodeDraft>,
    /// Shorter texts to record, with their positions.
    pub reduced: Vec<(Seq, ContentReduced)>,
    /// Steps that were tried, with their results.
    pub rungs: Vec<RungTaken>,
    /// Tokens in the request before the compaction.
    pub before: Tokens,
    /// Tokens in the request after the compaction.
    pub after: Tokens,
    /// Goal of the policy, in tokens.
    pub goal: Tokens,
    /// Whether the compaction gains even with the text that it adds; see [`Ladder::adding`].
    pub adds: bool,
    /// Whether the goal is reached.
    pub reached: bool,
}

impl<'a> Ladder<'a> {
    /// Starts a climb. `ask.view` must hold everything from the frontier on, and `ask.bodies` all texts of the view.
    #[must_use]
    pub fn new(policy: &'a Policy, ask: PlanInput<'a>, level: Urgency, tasks: &'a [TaskRange]) -> Self {
        let guard = guard(policy, &ask, &arrange(ask.view));
        let before = plan::weigh(&ask).tokens;
        let limit = plan::limit(&ask).tokens;
        let measure = LaneMeasurement { limit, window: ask.budget.window, ..LaneMeasurement::default() };
        let whole = whole(policy.trigger.of, &measure);
        let down_to = match policy.trigger.down_to.get() {
            None => limit.min(before).saturating_sub(Tokens(1)),
            Some(part) => part.of(whole),
        };
        // A first request at the soft level would be compacted again immediately.
        let soft = policy.trigger.soft.fraction.map_or(limit, |soft| soft.of(whole));
        let cold = policy.trigger.cold.get().unwrap_or_default().of(limit).min(COLD_MOST.of(soft));
        let mut ladder = Self {
            policy,
            guard,
            tasks,
            // A request that was too long must become shorter, even if it fits by our count.
            target: match level {
                Urgency::Cold => cold,
                Urgency::Overflow => down_to.min(limit).min(Tokens(before.0 / 4 * 3)),
                _ => down_to.min(limit),
            },
            whole,
            forced: level == Urgency::Manual,
            cold: level == Urgency::Cold,
            overflows: level == Urgency::Overflow,
            ahead: level == Urgency::Ahead,
            view: ask.view.clone(),
            before,
            spare: Tokens::ZERO,
            now: before,
            rung: 0,
            taken: Vec::new(),
            nodes: Vec::new(),
            adopted: Vec::new(),
            rules: Vec::new(),
            reduced: Vec::new(),
            // The position directly after the head belongs to the event of the trim.
            next: ask.view.head().next().next(),
            asked: Vec::new(),
            cover: Cover::default(),
            ask,
        };
        if !ladder.ahead {
            ladder.cut_newest();
        }
        ladder
    }

    /// Accounts for a text that only this compaction adds: the work log. `before` is the size of the request without
    /// the added text, in tokens. `spare` is the number of tokens of the added text to omit if the compaction would
    /// gain nothing with them.
    #[must_use]
    pub fn adding(mut self, before: Tokens, spare: Tokens) -> Self {
        (self.before, self.spare) = (before, spare);
        if self.overflows {
            self.target = self.target.min(Tokens(before.0 / 4 * 3));
        }
        self
    }

    /// Protects the exchanges of the given speakers, too.
    #[must_use]
    pub fn keeping(mut self, speakers: &[Seq]) -> Self {
        self.guard.keep.extend(speakers);
        self.guard.keep.sort_unstable();
        self.guard.keep.dedup();
        self
    }

    /// Returns the protected content.
    #[must_use]
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Returns the summary that the climb will record at a position.
    #[must_use]
    pub fn draft(&self, at: Seq) -> Option<&NodeDraft> {
        self.nodes.iter().find(|draft| draft.at == at)
    }

    /// Returns the view after the steps that were taken.
    #[must_use]
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Continues the climb until it needs texts or is over.
    pub fn climb(&mut self) -> NextStep {
        let policy = self.policy;
        if self.ahead {
            let jobs = self.jobs_ahead();
            if jobs.is_empty() {
                return NextStep::Done(Box::new(self.proposal_ahead()));
            }
            self.asked.clone_from(&jobs);
            return NextStep::Summarise(jobs);
        }
        while let Some(action) = policy.steps.get(self.rung) {
            let deep = !matches!(
                action,
                Action::Curate { .. } | Action::Dedupe { .. } | Action::Stub { .. } | Action::Shrink { .. }
            );
            // A first request is filled up after its summaries are made, so the summaries must keep to their room
            // even below the target.
            let keeps = self.cold && matches!(action, Action::Condense { .. });
            let is_enough = self.now <= self.target && !(self.forced && deep);
            if is_enough && !keeps && !is_standing(action) {
                self.rung += 1;
                continue;
            }
            let jobs = self.jobs(action);
            if !jobs.is_empty() {
                self.asked.clone_from(&jobs);
                return NextStep::Summarise(jobs);
            }
            if let Some((trim, reduced)) = self.pure(action) {
                self.judge(action, trim, Vec::new(), reduced);
            }
            self.rung += 1;
        }
        // What is filled up is shown before the last rung looks at what is not.
        if matches!(self.cover, Cover::Open(Form::Beside)) {
            self.fill();
        }
        self.covering(None).unwrap_or_else(|| NextStep::Done(Box::new(self.proposal())))
    }

    /// Takes the requested texts, up to the first missing or blank one. `first` is the index of the first text.
    pub fn take(&mut self, made: Vec<Made>, first: usize) {
        if matches!(self.cover, Cover::Asked { .. }) {
            self.covering(Some((&made, first)));
            return;
        }
        let jobs = std::mem::take(&mut self.asked);
        let Some(action) = self.policy.steps.get(self.rung) else { return };
        let mut drafts = Vec::new();
        for (index, (job, text)) in jobs.into_iter().zip(made).enumerate() {
            let Some(text) = text.filter(says_something) else { break };
            let at = Seq(self.next.0 + drafts.len() as u64);
            let mut draft = NodeDraft { at, job, text, tokens: Tokens::ZERO, made: first + index };
            draft.tokens = cost::node(&draft.summary(), self.ask.costs).tokens;
            drafts.push(draft);
        }
        if self.ahead {
            self.nodes = drafts;
            self.rung += 1;
            return;
        }
        let repeats = matches!(action, Action::Condense { .. });
        let trim = self.with_nodes(action, &drafts);
        let taken = match trim {
            Some(trim) => self.judge(action, trim, drafts, Vec::new()),
            None => {
                self.note(action, false, Tokens::ZERO, Some("no summary could be had"));
                false
            }
        };
        if !(repeats && taken) {
            self.rung += 1;
        }
    }

    fn ask(&self) -> PlanInput<'_> {
        PlanInput { view: &self.view, ..self.ask }
    }

    fn jobs(&self, action: &Action) -> Vec<SummaryJob> {
        let ask = self.ask();
        match *action {
            Action::Summarise {
                by,
                chunk,
                chunk_share,
                chunk_least,
                oldest,
                all,
                anchored,
                as_needed,
                ahead,
                catalogue,
                ..
            } => {
                let rules = summarise::SummariseRules {
                    policy: self.policy,
                    by,
                    chunk,
                    chunk_share,
                    chunk_least,
                    oldest,
                    all: all || ahead || self.forced,
                    as_needed: as_needed && self.now > self.target,
                    anchored,
                    ahead,
                    catalogue,
                    excess: self.now.saturating_sub(self.target),
                    next: self.next,
                };
                let tasks = if by == Division::Task { self.tasks } else { &[] };
                let arrangement = arrange(&self.view);
                let jobs = summarise::jobs(&rules, &ask, &self.guard, &arrangement, tasks);
                self.within_room(jobs)
            }
            Action::Condense { leaves, nodes, chunk, most, above, above_tokens, .. } => {
                let above = above_tokens.cap(above.of(self.whole));
                let above = if self.cold { above.min(self.room()) } else { above };
                let (most, chunk) = (most.get(), chunk.get());
                let rules = condense::CondenseRules { leaves, nodes, most, above, chunk, must: self.cold };
                condense::job(rules, self.policy, &ask).into_iter().collect()
            }
            Action::Archive { .. } => {
                let sizes = self.policy.archive(self.whole);
                sizes.and_then(|sizes| archive::job(sizes, &ask)).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Shortens the targets of summaries to the room left by the content they do not replace. If the request did not
    /// fit, the plan would leave those summaries out again.
    fn within_room(&self, mut jobs: Vec<SummaryJob>) -> Vec<SummaryJob> {
        let shown = || jobs.iter().filter(|job| !job.inner);
        let replaced: Tokens = shown().map(|job| job.tokens).sum();
        let asked: Tokens = shown().map(|job| job.target).sum();
        let limit = plan::limit(&self.ask).tokens;
        let stand: Tokens = self.view.nodes().map(|node| cost::node(node, self.ask.costs).tokens).sum();
        let room = limit.saturating_sub(self.now.saturating_sub(replaced));
        let room = room.min(self.room().saturating_sub(stand));
        // In a window smaller than any summary, a summary still gets a part of the window.
        let least = self.policy.summary.at_least.min(COLD_ROOM.of(limit));
        if asked > room {
            for job in jobs.iter_mut().filter(|job| !job.inner) {
                let part = Tokens(room.0.saturating_mul(job.target.0) / asked.0.max(1));
                job.target = part.max(least).min(job.target);
            }
        }
        jobs
    }

    /// Returns the maximum number of tokens in all summaries together. A lane's first request keeps at least half for
    /// verbatim text.
    fn room(&self) -> Tokens {
        let room = self.policy.summary.room.of(plan::limit(&self.ask).tokens);
        if self.cold { room.min(COLD_ROOM.of(self.target)) } else { room }
    }

    /// Returns the trim that a step makes without new summaries; `None` if the step changes nothing.
    fn pure(&self, action: &Action) -> Option<(Trim, Vec<(Seq, ContentReduced)>)> {
        let ask = self.ask();
        let input = RungInput { ask: &ask, guard: &self.guard, arrangement: &arrange(&self.view) };
        let forms = match *action {
            Action::Curate { thinking_after, invalid_runs, placeholder, repeated, .. } => {
                curate::curate(input, thinking_after, invalid_runs, placeholder, repeated)
            }
            Action::Dedupe { min_bytes, .. } => dedupe::dedupe(input, min_bytes),
            Action::Stub { keep, keep_tokens, over, arguments, as_needed, .. } => {
                let excess = as_needed.then(|| self.now.saturating_sub(self.target));
                let newest = stub::newest_results(keep, keep_tokens, input);
                stub::stub(input, newest, over, arguments, excess)
            }
            Action::Shrink { over, to, head, keep, .. } => {
                return self.shrunk(shrink::shrink(input, over, to, head, keep));
            }
            Action::Drop { by, keep, .. } => {
                let excess = self.now.saturating_sub(self.target);
                let trim = drop::drop(input, by, keep.get(), excess);
                return (trim != *self.view.trim()).then_some((trim, Vec::new()));
            }
            Action::Summarise { as_needed: true, .. } => return self.told_gone(),
            Action::Summarise { .. } | Action::Condense { .. } | Action::Archive { .. } => return None,
        };
        (!forms.is_empty()).then(|| (with_forms(self.view.trim(), forms), Vec::new()))
    }

    fn shrunk(&self, short: shrink::ShortTexts) -> Option<(Trim, Vec<(Seq, ContentReduced)>)> {
        let (forms, placed) = self.placed(short);
        (!forms.is_empty()).then(|| (with_forms(self.view.trim(), forms), placed))
    }

    /// Returns the trim with new summaries in their places.
    fn with_nodes(&self, action: &Action, drafts: &[NodeDraft]) -> Option<Trim> {
        let old = self.view.trim();
        let last = drafts.last()?;
        let sources: HashSet<Seq> =
            drafts.iter().flat_map(|draft| draft.job.sources.iter().copied()).collect();
        let stands = |placed: &&PlacedSummary| !sources.contains(&placed.at);
        let mut nodes: Vec<PlacedSummary> = old.nodes.iter().filter(stands).copied().collect();
        let shown = drafts.iter().filter(|draft| !draft.job.inner);
        nodes.extend(shown.map(|draft| PlacedSummary {
            at: draft.at,
            from: draft.job.from,
            to: draft.job.to,
        }));
        nodes.sort_unstable_by_key(|placed| placed.from);
        if matches!(action, Action::Condense { .. } | Action::Archive { .. }) {
            return Some(Trim { nodes, ..old.clone() });
        }
        let drop_before = last.job.to.next().max(old.drop_before);
        let trim = self.cut_at(drop_before, nodes);
        // A person who asks for a compaction below the goal wants the request shorter than the goal.
        let fills = self.now > self.target && matches!(action, Action::Summarise { as_needed: true, .. });
        Some(if fills { self.filled(trim, drafts) } else { trim })
    }

    /// Returns the view that a trim shows once the trim is settled, and the tokens of that view.
    fn weighed(
        &self,
        mut trim: Trim,
        drafts: &[NodeDraft],
        reduced: &[(Seq, ContentReduced)],
    ) -> (View, Tokens) {
        let all = self.ask.view;
        let arrangement = arrange(all);
        trim.rules = self.standing(&trim, &arrangement);
        trim::settle(&mut trim, &arrangement, all);
        let nodes = self.nodes.iter().chain(drafts).map(NodeDraft::summary);
        let nodes: Vec<SummaryNode> =
            nodes.chain(all.nodes().cloned()).chain(self.adopted.iter().cloned()).collect();
        let reduced = self.reduced.iter().chain(reduced);
        let mut texts: Vec<(Seq, Body)> = reduced.map(|(at, reduced)| (*at, reduced.text.clone())).collect();
        texts.extend(trim.named().filter_map(|at| Some((at, all.reductions().text(at)?.clone()))));
        let view = all.with(&trim, &nodes, &texts);
        let now = plan::weigh(&PlanInput { view: &view, ..self.ask }).tokens;
        (view, now)
    }

    /// Takes a trim if it saves the minimum of the step. Returns whether the trim was taken.
    fn judge(
        &mut self,
        action: &Action,
        trim: Trim,
        drafts: Vec<NodeDraft>,
        reduced: Vec<(Seq, ContentReduced)>,
    ) -> bool {
        let (view, now) = self.weighed(trim, &drafts, &reduced);
        let saved = self.now.saturating_sub(now);
        let (part, least) = action.gain();
        let needed = part.of(self.now).max(least).max(Tokens(1));
        if saved < needed {
            let why = format!("it saves {saved} tokens, and must save {needed}");
            self.note(action, false, saved, Some(&why));
            return false;
        }
        self.note(action, true, saved, None);
        self.next = Seq(self.next.0 + (drafts.len() + reduced.len()) as u64);
        self.nodes.extend(drafts);
        self.reduced.extend(reduced);
        self.view = view;
        self.now = now;
        true
    }

    fn note(&mut self, action: &Action, taken: bool, saved: Tokens, why: Option<&str>) {
        let why = why.map(Into::into);
        self.taken.push(RungTaken { rung: action.name().into(), taken, saved, added: Tokens::ZERO, why });
    }

    fn proposal(&mut self) -> Proposal {
        let adds = self.now < self.before;
        let now = if adds { self.now } else { self.now.saturating_sub(self.spare) };
        // A summary of what a step would leave behind a bare mark stays even if it takes more than the step saves.
        let covers = self.taken.iter().any(|rung| rung.taken && &*rung.rung == COVER);
        let gained = now < self.before || covers;
        Proposal {
            head: self.ask.view.head(),
            trim: gained.then(|| self.view.trim().clone()),
            nodes: if gained { std::mem::take(&mut self.nodes) } else { Vec::new() },
            reduced: if gained { std::mem::take(&mut self.reduced) } else { Vec::new() },
            rungs: std::mem::take(&mut self.taken),
            before: self.before,
            // A proposal that gains nothing records nothing, so the request stays as it was.
            after: if gained { now } else { self.before },
            adds,
            goal: self.target,
            reached: now <= self.target,
        }
    }
}

/// Maximum size of a lane's first request, as a fraction of the soft level.
const COLD_MOST: Permille = Permille(900);
/// Maximum part of a first request's goal for summaries. With 0.4, less than half of the text stayed word for word.
const COLD_ROOM: Permille = Permille(350);

/// Returns whether a step is taken even below the goal: it keeps a number of messages, or is always taken.
fn is_standing(action: &Action) -> bool {
    match action {
        Action::Drop { keep, .. } => keep.get().is_some(),
        // Chunks made ahead take effect at the level, however large the window is.
        Action::Summarise { all, ahead, .. } => *all || *ahead,
        Action::Archive { .. } => true,
        Action::Condense { above, above_tokens, .. } => {
            *above == Permille::ZERO && above_tokens.get().is_none()
        }
        _ => false,
    }
}

fn with_forms(trim: &Trim, more: BTreeMap<PartPosition, PartForm>) -> Trim {
    let mut forms: BTreeMap<PartPosition, PartForm> = trim.forms.iter().copied().collect();
    forms.extend(more);
    Trim { forms: forms.into_iter().collect(), ..trim.clone() }
}
