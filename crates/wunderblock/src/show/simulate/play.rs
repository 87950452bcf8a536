//! Plays a session under a policy: the lane takes in the session's events, and builds a request before each reply.

use super::account::PolicyAccount;
use super::result::PolicyResult;
use super::sheet::{Sheet, SheetInput};
use super::watch::Watch;
use crate::base::error::Error;
use crate::compaction::compact::accounting::account::{Compacted, CompactionResult};
use crate::lanes::in_memory::lane::Lane;
use crate::lanes::turn::{Request, Turn, turn};
use crate::ledger::engine::Config;
use crate::request::build::{Build, rendered};
use crate::request::desk::{Desk, House};
use crate::request::input::job::BuildJob;
use crate::request::input::options::ContextOptions;
use crate::request::input::target::Target;
use crate::request::need::Asking;
use crate::request::stages::{Rendered, Stopped};
use crate::rules::compactor::Compactor;
use crate::show::simulate::reading::history::History;
use crate::show::simulate::reading::index::{Index, Moment};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wunderblock_core::event::{ContextBuilt, Event, EventSource, Fact, NewEvent};
use wunderblock_core::id::{EventId, StreamId};
use wunderblock_core::message::Dialect;
use wunderblock_core::plan::TrimReason;
use wunderblock_core::render;
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};

/// A window that a session is played in.
pub(super) struct PlayedWindow {
    pub(super) target: Target,
    /// Options of each request.
    pub(super) requests: ContextOptions,
}

/// A session under a policy.
pub(super) struct Play<'a> {
    history: &'a History,
    index: &'a Index,
    target: &'a Target,
    lane: Lane,
    house: House,
    options: Arc<ContextOptions>,
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
        recalls: bool,
    ) -> Self {
        let target = &window.target;
        Self {
            history,
            index,
            target,
            lane: Lane::new(history.lane.clone(), Arc::clone(&history.texts)),
            house: House { counts: history.counts(), ..history.house.clone() },
            account: PolicyAccount::new(&compactor, target),
            options: Arc::new(ContextOptions {
                lane: Some(history.lane.clone()),
                recall: recalls,
                compactor: Some(compactor),
                ..window.requests.clone()
            }),
            // Positions start at 1.
            positions: vec![None],
            moved: HashMap::new(),
            sheet: Sheet::new(index),
            time: Duration::ZERO,
        }
    }

    /// Plays the session. Returns `None` if the progress callback stopped the simulation.
    ///
    /// # Errors
    /// Returns an error if a stage of a build failed. A request that does not fit is a result, not an error.
    pub(super) fn run(mut self, watch: &Watch) -> Result<Option<PolicyResult>, Error> {
        let mut next = 0;
        for moment in &self.index.moments {
            for (number, event) in self.history.events.iter().enumerate().take(moment.before).skip(next) {
                self.hear(number, event);
            }
            next = moment.before;
            self.request(moment)?;
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

    /// Builds a request, compacts if the request makes the lane due, and sends it.
    fn request(&mut self, moment: &Moment) -> Result<(), Error> {
        let begun = Instant::now();
        let now = moment.now;
        let config = Config { clock: Arc::new(move || now), ..self.house.config.clone() };
        let house = House { config, ..self.house.clone() };
        let (own, options) = (house.clone(), Arc::clone(&self.options));
        let build = Build::new(async move |ask| turn(&Desk { house: own, ask }, &options).await);
        let done: Turn<Rendered> = self.lane.run(&house, build)??;
        self.time += begun.elapsed();
        self.own_positions();
        if let Some(done) = &done.compacted {
            self.compacted(done, moment);
        }
        self.sheet.hear(self.index.turns.get(..moment.turns).unwrap_or_default());
        match done.request {
            Ok(request) => {
                self.send(&request, now);
                self.account.look(Some(&self.sheet), moment, self.index);
            }
            Err(Error::OverBudget(_)) => {
                self.account.result.refused += 1;
                self.account.result.series.push(0);
                self.account.look(None, moment, self.index);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Adds a compaction to the account.
    fn compacted(&mut self, done: &Compacted, moment: &Moment) {
        self.account.spend(done.spent.iter().filter_map(|spent| spent.micro_dollars).sum());
        let result = &mut self.account.result;
        result.refused_summaries += done.rejected.len() as u64;
        match done.outcome {
            CompactionResult::Compacted => {
                result.compactions += 1;
                self.account.compacted(moment.before);
            }
            CompactionResult::Prepared => {}
            // The lane is left alone.
            CompactionResult::Stopped(_) => return,
            _ => {
                result.rejected += 1;
                return;
            }
        }
        let result = &mut self.account.result;
        result.summaries += done.nodes.len() as u64;
        result.summary_tokens += done.nodes.iter().map(|node| node.after.0).sum::<u64>();
    }

    /// Marks the positions added since the session's last event as the lane's own.
    fn own_positions(&mut self) {
        let head = usize::try_from(self.lane.head().0).unwrap_or(usize::MAX);
        self.positions.resize(head.saturating_add(1), None);
    }

    /// Sends a request that the lane has recorded.
    fn send(&mut self, request: &Rendered, now: Millis) {
        let Rendered { planned, rendered, .. } = request;
        self.account.result.steps += u64::from(planned.decision.plan.step == Some(TrimReason::OverBudget));
        let (costs, positions, places) = (&planned.costs, &self.positions, &rendered.places);
        let reading = SheetInput { index: self.index, costs, positions, places };
        let name = self.target.model_line(&planned.costs).cost;
        let sent = self.sheet.turn(&rendered.request, name, reading);
        debug_assert_eq!(sent.0, request.total, "the pieces of a request are all of it");
        self.account.send(sent.0, sent.1, now, self.target);
    }
}

impl Request for Rendered {
    fn build(job: &BuildJob, ask: &Asking) -> impl Future<Output = Result<Self, Stopped>> + Send {
        rendered(job, ask)
    }

    fn to_record(&self, _: &StreamId, now: Millis) -> Result<(Seq, Vec<NewEvent>), Error> {
        let decision = &self.planned.decision;
        let mut events = decision.events.clone();
        let seq = Seq(self.planned.through().0 + events.len() as u64 + 1);
        // Only the fields that a view and the measure of a lane read are filled in.
        let built = ContextBuilt {
            lane: self.planned.snapshot.lane().clone(),
            model: self.planned.target.model.as_str().into(),
            policy: None,
            dialect: Dialect::Neutral,
            render: render::VERSION,
            budget: self.planned.target.budget,
            plan: decision.plan.clone(),
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
            total_tokens: self.total.tokens,
            verbatim: None,
            encoded_bytes: Bytes::ZERO,
            digest: Box::default(),
        };
        let fact = Fact::ContextBuilt(Box::new(built));
        let id = EventId::new(format!("{}@{seq}", fact.kind()))?;
        events.push(NewEvent { id, at: now, source: EventSource::Engine, fact });
        Ok((seq, events))
    }

    fn used(&self) -> Tokens {
        self.total.tokens
    }
}
