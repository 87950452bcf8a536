//! A lane in memory: the fold of its events, and the driver of its builds.

use crate::compact::call_budget::CallBudget;
use crate::compact::climb::{Climb, Climbed};
use crate::compact::due::{MeasuredSize, after_refusal, between_tasks, found, is_stopped, measure};
use crate::compact::history::{settled, task_mark};
use crate::compact::prepare::Prepared;
use crate::compact::publish::{CompactionOrigin, facts, prompt};
use crate::compactor::Compactor;
use crate::error::Error;
use crate::redact::Redactor;
use crate::request::build::{Build, Polled};
use crate::request::job::BuildJob;
use crate::request::need::{Need, ShownTexts};
use crate::request::snapshot::{LaneWanted, OPENING, Snapshot, view_handles};
use crate::request::stages::{Planned, Stopped};
use crate::store::{TallyRow, codec};
use crate::texts::Texts;
use std::sync::Arc;
use wunderblock_core::compact::{Due, TaskMark, Urgency};
use wunderblock_core::event::{Event, EventSource, Fact, NewEvent};
use wunderblock_core::id::{EventId, Handle, HandlePrefix, LaneId};
use wunderblock_core::policy::Policy;
use wunderblock_core::units::{Millis, Seq, Tokens};

/// In milliseconds.
const HOUR: i64 = 3_600_000;

/// A lane of one session. Its builds need nothing from outside but files and state providers.
#[derive(Clone)]
pub(crate) struct Lane {
    pub(crate) snapshot: Snapshot,
    /// Texts that this lane shares with others.
    shared: Arc<Texts>,
    /// Texts of this lane alone.
    texts: Texts,
    /// Where tasks begin and end, by events.
    pub(crate) marks: Vec<TaskMark>,
    /// How many compactions in a row came to nothing, and what the request took at the last.
    pub(crate) rounds: Option<(u32, Tokens)>,
    /// When a summariser was asked, and how often.
    calls: Vec<(Millis, u32)>,
    /// What came by, for a look at an earlier position or past the lane's steps; see [`Lane::keeping`].
    pub(crate) events: Option<Vec<Event>>,
    /// What the session holds up to each position; none for positions that are not accounted for.
    pub(crate) tallies: Vec<TallyRow>,
}

/// What came of a compaction.
pub(crate) enum Tried {
    /// So many in a row came to nothing that the lane is left alone.
    Stopped(u32),
    /// Summaries were made before their level, and are applied.
    Prepared(Box<Climbed>),
    /// A proposal, applied if it changes the lane.
    Climbed(Box<Climbed>, Box<Prepared>),
}

/// With what a lane is compacted.
pub(crate) struct CompactContext<'a> {
    pub(crate) compactor: &'a Compactor,
    pub(crate) redactor: &'a Redactor,
    pub(crate) due: &'a Due,
}

impl Lane {
    /// An empty lane that finds the texts of `shared`, too. It keeps no events: it is looked at as it stands only.
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

    /// The lane, which keeps its events from here on: it can be looked at as of any position, and without its steps.
    pub(crate) fn keeping(self) -> Self {
        Self { events: Some(Vec::new()), ..self }
    }

    /// The newest position.
    pub(crate) fn head(&self) -> Seq {
        self.snapshot.view.head()
    }

    /// The text behind a handle.
    pub(crate) fn text(&self, handle: Handle) -> Option<&Arc<str>> {
        self.texts.get(handle).or_else(|| self.shared.get(handle))
    }

    /// The one text whose handle begins so.
    pub(crate) fn named(&self, prefix: HandlePrefix) -> Option<&Arc<str>> {
        let handles = self.texts.named(prefix).chain(self.shared.named(prefix));
        let handles: std::collections::BTreeSet<Handle> = handles.collect();
        handles.first().filter(|_| handles.len() == 1).and_then(|handle| self.text(*handle))
    }

    /// Adds a text.
    pub(crate) fn learn(&mut self, handle: Handle, text: impl Into<Arc<str>>) {
        self.texts.insert(handle, text);
    }

    /// Takes in an event, its long bodies moved out.
    pub(crate) fn hear(&mut self, event: Event) {
        self.marks.extend(task_mark(&event));
        self.snapshot.fold(&event, false);
        if let Some(events) = &mut self.events {
            events.push(event);
        }
    }

    /// Takes in an event as far as a view shows it: what it says of requests that were sent is of others than ours.
    pub(crate) fn see(&mut self, event: &Event) {
        self.marks.extend(task_mark(event));
        if self.snapshot.opened_at == Millis::ZERO {
            self.snapshot.opened_at = event.at;
        }
        Arc::make_mut(&mut self.snapshot.view).apply(event);
    }

    /// Takes in what the lane itself decided: facts with their texts in full.
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

    /// Takes in a fact of the lane's own.
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
            // What was reduced here stands in the lane itself.
            Need::Known(_, reply) => reply.give(std::collections::HashSet::new()),
            // There is no index to search; what a turn names by path or handle comes back all the same.
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

    /// The lane as a build finds it.
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

    /// Whether what was drafted makes the lane due.
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

    /// Compacts, and applies what comes of it.
    pub(crate) fn compact(&mut self, job: &BuildJob, means: &CompactContext<'_>) -> Result<Tried, Error> {
        let mut bench = self.run(Build::bench(job.clone()))??;
        let missing = bench.texts.missing(view_handles(&bench.view));
        bench.texts.extend(self.some(missing));
        let marks = settled(self.marks.clone(), &bench.view, &bench.texts);
        let policy = &means.compactor.policy;
        let prepared = Prepared::new(bench, &marks, policy);
        if let Some(rounds) = self.rounds.filter(|rounds| is_stopped(policy, *rounds, &prepared)) {
            return Ok(Tried::Stopped(rounds.0));
        }
        let budget = self.budget(policy.limits.calls_per_hour, job.now);
        let climb = Climb {
            ask: prepared.bench.ask(),
            tasks: &prepared.tasks,
            before: (prepared.tokens, prepared.spare),
            adopted: &prepared.adopted,
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

    /// Applies what a proposal means.
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

    /// How often a summariser may be asked within the hour.
    fn budget(&self, per_hour: u32, now: Millis) -> CallBudget {
        let recent = self.calls.iter().filter(|(at, _)| now.0.saturating_sub(at.0) < HOUR);
        CallBudget::of(per_hour.saturating_sub(recent.map(|(_, calls)| *calls).sum()))
    }
}
