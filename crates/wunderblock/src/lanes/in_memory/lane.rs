//! A lane in memory: it folds events, and drives its own builds.

use crate::base::error::Error;
use crate::compaction::compact::call_budget::CallBudget;
use crate::compaction::compact::climb::{Climb, Climbed};
use crate::compaction::compact::due::{
    MeasuredSize, after_refusal, between_tasks, found, is_stopped, may_stop, measure,
};
use crate::compaction::compact::history::{settled, task_mark};
use crate::compaction::compact::prepare::Prepared;
use crate::compaction::compact::publish::{CompactionOrigin, facts, prompt};
use crate::ledger::texts::Texts;
use crate::request::build::{Build, Polled};
use crate::request::job::BuildJob;
use crate::request::need::{Need, ShownTexts};
use crate::request::snapshot::{LaneWanted, OPENING, Snapshot, view_handles};
use crate::request::stages::{Planned, Stopped};
use crate::rules::compactor::Compactor;
use std::sync::Arc;
use wunderblock_core::compact::{Due, TaskMark, Urgency};
use wunderblock_core::event::{Event, EventSource, Fact, NewEvent};
use wunderblock_core::id::{EventId, Handle, HandlePrefix, LaneId};
use wunderblock_core::policy::Policy;
use wunderblock_core::units::{Millis, Seq, Tokens};
use wunderblock_redact::Redactor;
use wunderblock_store::{TallyRow, codec};

/// Milliseconds per hour.
const HOUR: i64 = 3_600_000;

/// Lane of one session. The lane's builds need nothing from outside except files and state providers.
#[derive(Clone)]
pub(crate) struct Lane {
    pub(crate) snapshot: Snapshot,
    /// Texts that this lane shares with other lanes.
    shared: Arc<Texts>,
    /// Texts of this lane only.
    texts: Texts,
    /// Starts and ends of tasks, as marked by events.
    pub(crate) marks: Vec<TaskMark>,
    /// Number of consecutive compactions that gained nothing, and the number of tokens in the request at the last
    /// one.
    pub(crate) rounds: Option<(u32, Tokens)>,
    /// Times at which a summariser was called, each with the number of calls.
    calls: Vec<(Millis, u32)>,
    /// Events of the lane, for views at earlier positions or without steps. `None` unless [`Lane::keeping`] was
    /// called.
    pub(crate) events: Option<Vec<Event>>,
    /// Running sums at each position. Positions that were not counted are missing.
    pub(crate) tallies: Vec<TallyRow>,
}

/// Result of a compaction.
pub(crate) enum Tried {
    /// Number of consecutive compactions that gained nothing. The lane is no longer compacted.
    Stopped(u32),
    /// Summaries that were made ahead of time and are now being applied.
    Prepared(Box<Climbed>),
    /// A proposal. The proposal is applied if it changes the lane.
    Climbed(Box<Climbed>, Box<Prepared>),
}

/// Settings of a compaction.
pub(crate) struct CompactContext<'a> {
    pub(crate) compactor: &'a Compactor,
    pub(crate) redactor: &'a Arc<Redactor>,
    pub(crate) due: &'a Due,
}

impl Lane {
    /// Creates an empty lane that also finds the texts in `shared`. The lane keeps no events, so only its current
    /// state can be viewed.
    pub(crate) fn new(lane: LaneId, shared: Arc<Texts>) -> Self {
        Self {
            snapshot: Snapshot::new(lane),
            shared,
            texts: Texts::default(),
            marks: Vec::new(),
            rounds: None,
            calls: Vec::new(),
            events: None,
            tallies: Vec::new(),
        }
    }

    /// Makes the lane keep its events from now on, so that it can be viewed at any position and without its steps.
    pub(crate) fn keeping(self) -> Self {
        Self { events: Some(Vec::new()), ..self }
    }

    /// Returns the latest position.
    pub(crate) fn head(&self) -> Seq {
        self.snapshot.view.head()
    }

    /// Returns the text of a handle.
    pub(crate) fn text(&self, handle: Handle) -> Option<&Arc<str>> {
        self.texts.get(handle).or_else(|| self.shared.get(handle))
    }

    /// Returns the text whose handle begins with a prefix, if exactly one handle does.
    pub(crate) fn named(&self, prefix: HandlePrefix) -> Option<&Arc<str>> {
        let handles = self.texts.named(prefix).chain(self.shared.named(prefix));
        let handles: std::collections::BTreeSet<Handle> = handles.collect();
        handles.first().filter(|_| handles.len() == 1).and_then(|handle| self.text(*handle))
    }

    /// Adds a text.
    pub(crate) fn learn(&mut self, handle: Handle, text: impl Into<Arc<str>>) {
        self.texts.insert(handle, text);
    }

    /// Adds an event whose long bodies were moved out.
    pub(crate) fn hear(&mut self, event: Event) {
        self.marks.extend(task_mark(&event));
        self.snapshot.fold(&event, false);
        if let Some(events) = &mut self.events {
            events.push(event);
        }
    }

    /// Adds an event to the view only. The event's facts about sent requests are ignored, because this lane did not
    /// build those requests.
    pub(crate) fn see(&mut self, event: &Event) {
        self.marks.extend(task_mark(event));
        if self.snapshot.opened_at == Millis::ZERO {
            self.snapshot.opened_at = event.at;
        }
        Arc::make_mut(&mut self.snapshot.view).apply(event);
    }

    /// Adds events that the lane itself decided, with full texts.
    pub(crate) fn adopt(&mut self, job: &BuildJob, events: impl IntoIterator<Item = NewEvent>) {
        for NewEvent { id, at, source, mut fact } in events {
            codec::move_out(&job.key, &mut fact, &mut |hash, text| {
                self.texts.insert(codec::handle(&hash), text);
            });
            let seq = self.head().next();
            let (tenant, stream) = (job.tenant.clone(), job.stream.clone());
            self.hear(Event { tenant, stream, seq, id, at, source, fact: Some(fact), erased: None });
        }
    }

    /// Adds a fact that the lane itself decided.
    pub(crate) fn decide(&mut self, job: &BuildJob, fact: Fact) -> Result<Seq, Error> {
        let seq = self.head().next();
        let id = EventId::new(format!("{}@{seq}", fact.kind()))?;
        self.adopt(job, [NewEvent { id, at: job.now, source: EventSource::Engine, fact }]);
        Ok(seq)
    }

    /// Drives a build to its end.
    pub(crate) fn run<T>(&self, mut build: Build<T>) -> Result<T, Error> {
        loop {
            match build.next()? {
                Polled::Done(done) => return Ok(done),
                Polled::Need(need) => self.answer(need),
            }
        }
    }

    fn answer(&self, need: Need) {
        match need {
            Need::Lane(wanted, reply) => reply.give(self.look(&wanted)),
            Need::Texts(handles, reply) => reply.give(self.some(handles)),
            // Reductions that the lane itself made are already part of the lane.
            Need::Known(_, reply) => reply.give(std::collections::HashSet::new()),
            // A lane in memory has no index. Bodies that a turn names by path or handle are recalled even without an
            // index.
            Need::Search(_, reply) => reply.give(Vec::new()),
            Need::Outside(wanted, reply) => reply.give(wanted.read()),
            Need::Shown(wanted, reply) => {
                let tally = |seq: Seq| {
                    let place = usize::try_from(seq.0).ok()?.checked_sub(1)?;
                    Some((seq, *self.tallies.get(place)?))
                };
                let tallies = wanted.edges.into_iter().filter_map(tally).collect();
                reply.give(ShownTexts { texts: self.some(wanted.handles), tallies });
            }
        }
    }

    fn some(&self, handles: Vec<Handle>) -> Texts {
        let mut texts = Texts::default();
        for handle in handles {
            if let Some(text) = self.text(handle) {
                texts.insert(handle, Arc::clone(text));
            }
        }
        texts
    }

    /// Returns the snapshot of the lane for a build.
    fn look(&self, wanted: &LaneWanted) -> Snapshot {
        let is_past = wanted.at.is_some_and(|at| at < self.head());
        let look = |events: &Vec<Event>, at: Option<Seq>, ignores_steps| {
            let mut snapshot = Snapshot::new(self.snapshot.lane().clone());
            let up_to = |event: &&Event| at.is_none_or(|at| event.seq <= at);
            events.iter().take_while(up_to).for_each(|event| snapshot.fold(event, ignores_steps));
            snapshot
        };
        let events = self.events.as_ref();
        let mut snapshot = match events.filter(|_| is_past || wanted.ignores_steps) {
            Some(events) => look(events, wanted.at, wanted.ignores_steps),
            None => self.snapshot.clone(),
        };
        if snapshot.before.is_none() && snapshot.view.trim().drop_before > Seq(2) {
            snapshot.opening = events.map(|events| Box::new(look(events, Some(OPENING), true)));
        }
        snapshot
    }

    /// Returns the reason if a draft, or the refusal of a draft, makes the lane due for a compaction.
    pub(crate) fn is_due(
        &self,
        policy: &Policy,
        drafted: Result<(&Planned, MeasuredSize), &Stopped>,
        now: Millis,
    ) -> Option<Due> {
        let (planned, size) = match drafted {
            Ok(both) => both,
            Err(Stopped::Refused { refusal, .. }) => return after_refusal(policy, refusal),
            Err(Stopped::Failed(_)) => return None,
        };
        let measure = measure(planned, size, now);
        let found = found(policy, &measure, planned)?;
        let view = &planned.decision.view;
        let marks = settled(self.marks.clone(), view, &planned.texts);
        if found.level > Urgency::Soft || marks.is_empty() {
            return Some(found);
        }
        between_tasks(policy, measure, view, &marks)
    }

    /// Compacts the lane, and applies the result.
    pub(crate) fn compact(&mut self, job: &BuildJob, means: &CompactContext<'_>) -> Result<Tried, Error> {
        let mut bench = self.run(Build::bench(job.clone()))??;
        let missing = bench.texts.missing(view_handles(&bench.view));
        bench.texts.extend(self.some(missing));
        let marks = settled(self.marks.clone(), &bench.view, &bench.texts);
        let policy = &means.compactor.policy;
        let prepared = Prepared::new(bench, &marks, policy, Arc::clone(means.redactor));
        let rounds = self.rounds.filter(|_| may_stop(policy, means.due.level));
        if let Some(rounds) = rounds.filter(|rounds| is_stopped(policy, *rounds, &prepared)) {
            return Ok(Tried::Stopped(rounds.0));
        }
        let budget = self.budget(policy.limits.calls_per_hour, job.now);
        let climb = Climb {
            ask: prepared.bench.ask(),
            tasks: &prepared.tasks,
            before: (prepared.tokens, prepared.spare),
            adopted: &prepared.adopted,
            paid: &prepared.paid,
            rules: &prepared.rules,
            files: &prepared.files,
            policy,
            summariser: means.compactor.summariser.as_deref(),
            redactor: means.redactor,
            focus: None,
            progress: None,
            budget: &budget,
        };
        let climbed = climb.run(means.due.level);
        let spent = climbed.drafts.iter().filter_map(|draft| draft.spent.as_ref());
        self.calls.push((job.now, spent.map(|spent| spent.calls).sum()));
        if means.due.level == Urgency::Ahead {
            self.publish(job, means, (&climbed, &prepared))?;
            return Ok(Tried::Prepared(Box::new(climbed)));
        }
        if climbed.proposal.trim.is_none() {
            let round = self.rounds.map_or(0, |(round, _)| round).saturating_add(1);
            self.rounds = Some((round, prepared.tokens));
        } else {
            self.rounds = None;
            self.publish(job, means, (&climbed, &prepared))?;
        }
        Ok(Tried::Climbed(Box::new(climbed), Box::new(prepared)))
    }

    /// Applies the facts of a proposal.
    fn publish(
        &mut self,
        job: &BuildJob,
        means: &CompactContext<'_>,
        (climbed, prepared): (&Climbed, &Prepared),
    ) -> Result<(), Error> {
        let prompt = prompt(&means.compactor.policy);
        let (lane, due) = (self.snapshot.lane().clone(), means.due);
        let by = CompactionOrigin {
            lane: &lane,
            target: &prepared.bench.target,
            policy: &means.compactor.policy.name,
            due,
            focus: None,
            prompt: &prompt,
            calibration: prepared.bench.calibration.as_ref(),
            work: prepared.work.as_ref(),
        };
        for (_, fact) in facts(&climbed.proposal, &climbed.drafts, &by) {
            self.decide(job, fact)?;
        }
        Ok(())
    }

    /// Returns the number of summariser calls that remain within the hour.
    fn budget(&self, per_hour: u32, now: Millis) -> CallBudget {
        let recent = self.calls.iter().filter(|(at, _)| now.0.saturating_sub(at.0) < HOUR);
        CallBudget::of(per_hour.saturating_sub(recent.map(|(_, calls)| *calls).sum()))
    }
}
