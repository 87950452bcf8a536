//! Plays a session under a policy: the lane takes in the session's events, and builds a request before each reply.

use super::account::PolicyAccount;
use super::history::History;
use super::index::{Index, Moment};
use super::result::PolicyResult;
use super::sheet::{Sheet, SheetInput};
use super::watch::Watch;
use crate::base::error::Error;
use crate::compaction::compact::due::MeasuredSize;
use crate::lanes::in_memory::lane::{CompactContext, Lane, Tried};
use crate::request::build::Build;
use crate::request::job::BuildJob;
use crate::request::options::ContextOptions;
use crate::request::stages::{Rendered, Stopped, shorter_of};
use crate::request::target::Target;
use crate::rules::compactor::Compactor;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wunderblock_core::compact::Due;
use wunderblock_core::event::{ContextBuilt, Event, Fact};
use wunderblock_core::message::Dialect;
use wunderblock_core::plan::TrimReason;
use wunderblock_core::render;
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_redact::Redactor;

/// A window that a session is played in.
pub(super) struct PlayedWindow {
    pub(super) target: Target,
    /// Options of each request.
    pub(super) requests: Arc<ContextOptions>,
}

/// A session under a policy.
pub(super) struct Play<'a> {
    history: &'a History,
    index: &'a Index,
    target: &'a Target,
    compactor: Compactor,
    lane: Lane,
    job: BuildJob,
    /// Event at each position; `None` for events of the lane itself.
    positions: Vec<Option<usize>>,
    /// Position in this lane of each session event.
    moved: HashMap<Seq, Seq>,
    sheet: Sheet,
    account: PolicyAccount,
    time: Duration,
}

impl<'a> Play<'a> {
    pub(super) fn new(
        history: &'a History,
        index: &'a Index,
        window: &'a PlayedWindow,
        compactor: Compactor,
    ) -> Self {
        let target = &window.target;
        Self {
            history,
            index,
            target,
            lane: Lane::new(history.lane.clone(), Arc::clone(&history.texts)),
            job: BuildJob {
                options: Arc::clone(&window.requests),
                rules: compactor.policy.reduce.clone(),
                counts: history.counts(),
                ..history.job.clone()
            },
            // Positions start at 1.
            positions: vec![None],
            moved: HashMap::new(),
            sheet: Sheet::new(index),
            account: PolicyAccount::new(&compactor, target),
            time: Duration::ZERO,
            compactor,
        }
    }

    /// Plays the session. Returns `None` if the progress callback stopped the simulation.
    ///
    /// # Errors
    /// Returns an error if a stage of a build failed. A request that does not fit is a result, not an error.
    pub(super) fn run(
        mut self,
        redactor: &Arc<Redactor>,
        watch: &Watch,
    ) -> Result<Option<PolicyResult>, Error> {
        let mut next = 0;
        for moment in &self.index.moments {
            for (number, event) in self.history.events.iter().enumerate().take(moment.before).skip(next) {
                self.hear(number, event);
            }
            next = moment.before;
            self.job.now = moment.now;
            self.request(moment, redactor)?;
            if !watch.tell() {
                return Ok(None);
            }
        }
        let mut result = self.account.close(&self.sheet, self.index, self.target);
        result.time_ms = u64::try_from(self.time.as_millis()).unwrap_or(u64::MAX);
        Ok(Some(result))
    }

    /// Takes in an event of the session, at its position in this lane.
    fn hear(&mut self, number: usize, event: &Event) {
        let seq = self.lane.head().next();
        self.moved.insert(event.seq, seq);
        let mut event = Event { seq, ..event.clone() };
        if let Some(target) = event.fact.as_mut().and_then(Fact::target_mut) {
            let Some(place) = self.moved.get(target) else { return };
            *target = *place;
        }
        // Providers' measurements and refusals belong to other requests.
        match &event.fact {
            Some(Fact::UsageMeasured(_) | Fact::TurnCompleted(_)) => self.lane.see(&event),
            _ => self.lane.hear(event),
        }
        self.positions.push(Some(number));
    }

    /// Builds a request, compacts if the request makes the lane due, builds the request again, and sends it.
    fn request(&mut self, moment: &Moment, redactor: &Arc<Redactor>) -> Result<(), Error> {
        let begun = Instant::now();
        let mut drafted = self.lane.run(Build::rendered(self.job.clone()))?;
        if let Some(due) = self.is_due(&drafted)
            && self.compact(&due, &drafted, moment, redactor)?
        {
            drafted = self.lane.run(Build::rendered(self.job.clone()))?;
        }
        self.time += begun.elapsed();
        self.sheet.hear(self.index.turns.get(..moment.turns).unwrap_or_default());
        match drafted {
            Ok(request) => self.send(request)?,
            Err(Stopped::Failed(error)) => return Err(error),
            Err(Stopped::Refused { shorter, .. }) => {
                self.lane.adopt(&self.job, shorter.events);
                self.account.result.refused += 1;
                self.account.result.series.push(0);
                self.account.look(None, moment, self.index);
                return Ok(());
            }
        }
        self.account.look(Some(&self.sheet), moment, self.index);
        Ok(())
    }

    fn is_due(&self, drafted: &Result<Rendered, Stopped>) -> Option<Due> {
        let drafted = drafted.as_ref().map(|request| (&request.planned, MeasuredSize::of_rendered(request)));
        self.lane.is_due(&self.compactor.policy, drafted, self.job.now)
    }

    /// Compacts. Returns whether the compaction can change the next request.
    fn compact(
        &mut self,
        due: &Due,
        drafted: &Result<Rendered, Stopped>,
        moment: &Moment,
        redactor: &Arc<Redactor>,
    ) -> Result<bool, Error> {
        let shorter = shorter_of(drafted, |request| &request.planned);
        let shorter = shorter.map(|shorter| shorter.events.clone()).unwrap_or_default();
        let shortens = !shorter.is_empty();
        self.lane.adopt(&self.job, shorter);
        let means = CompactContext { compactor: &self.compactor, redactor, due };
        let tried = self.lane.compact(&self.job, &means)?;
        self.own_positions();
        let (climbed, is_ahead) = match tried {
            Tried::Climbed(climbed, _) => (climbed, false),
            Tried::Prepared(climbed) => (climbed, true),
            Tried::Stopped(_) => return Ok(shortens),
        };
        let drafts = &climbed.drafts;
        let refused = drafts.iter().map(|draft| draft.rejected.len() as u64).sum::<u64>();
        let spent = drafts.iter().filter_map(|draft| draft.spent.as_ref()?.micro_dollars).sum();
        self.account.spend(spent);
        let result = &mut self.account.result;
        result.refused_summaries += refused;
        if climbed.proposal.trim.is_none() && !is_ahead {
            result.rejected += 1;
            return Ok(shortens);
        }
        let nodes = &climbed.proposal.nodes;
        if !is_ahead {
            result.compactions += 1;
            self.account.compacted(moment.before);
        }
        let result = &mut self.account.result;
        result.summaries += nodes.len() as u64;
        result.summary_tokens += nodes.iter().map(|node| node.tokens.0).sum::<u64>();
        Ok(shortens || !is_ahead)
    }

    /// Marks the positions added since the session's last event as the lane's own.
    fn own_positions(&mut self) {
        let head = usize::try_from(self.lane.head().0).unwrap_or(usize::MAX);
        self.positions.resize(head.saturating_add(1), None);
    }

    /// Sends a request: the lane takes its step and records the request.
    fn send(&mut self, request: Rendered) -> Result<(), Error> {
        let Rendered { planned, rendered, .. } = request;
        let plan = planned.decision.plan;
        self.lane.adopt(&self.job, planned.decision.events);
        self.account.result.steps += u64::from(plan.step == Some(TrimReason::OverBudget));
        self.own_positions();
        let (costs, positions, places) = (&planned.costs, &self.positions, &rendered.places);
        let reading = SheetInput { index: self.index, costs, positions, places };
        let name = self.target.model_line(&planned.costs).cost;
        let sent = self.sheet.turn(&rendered.request, name, reading);
        debug_assert_eq!(sent.0, request.total, "the pieces of a request are all of it");
        self.account.send(sent, self.job.now, self.target);
        // Only the fields that a view and `due` read are filled in.
        let built = ContextBuilt {
            lane: self.lane.snapshot.lane().clone(),
            model: self.target.model.as_str().into(),
            policy: None,
            dialect: Dialect::Neutral,
            render: render::VERSION,
            budget: self.target.budget,
            plan,
            heads: Vec::new(),
            inputs: None,
            preamble: None,
            cache: Vec::new(),
            stem: None,
            common: None,
            expected_cached: None,
            calibration: None,
            overhead: None,
            sections: Vec::new(),
            total_tokens: sent.0.tokens,
            verbatim: None,
            encoded_bytes: Bytes::ZERO,
            digest: Box::default(),
        };
        self.lane.decide(&self.job, Fact::ContextBuilt(Box::new(built)))?;
        self.own_positions();
        Ok(())
    }
}
