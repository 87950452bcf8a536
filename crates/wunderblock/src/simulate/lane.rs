//! A lane that exists in memory only: a session's events come by, and before each reply it builds a request.

use super::Watch;
use super::account::Account;
use super::history::History;
use super::index::{Index, Moment};
use super::result::PolicyResult;
use super::sheet::{Reading, Sheet};
use crate::build::load::Texts;
use crate::build::{Aim, Shelf};
use crate::compact::{self, Climb, Climbed, Ration};
use crate::gauge::Scales;
use crate::redact::Redactor;
use crate::reduce::{Choice, Means, in_order, named, shorten};
use crate::summarize::Summarise;
use std::borrow::Cow;
use std::collections::HashMap;
use std::time::{Duration, Instant};
use wunderblock_core::compact::{Due, Level, Mark, Measure, due, due::Stands, due::stands, task};
use wunderblock_core::event::{ContentPinned, ContextBuilt, Event, Fact, Source, ViewTrimmed};
use wunderblock_core::id::{EventId, Handle};
use wunderblock_core::message::{Body, Dialect};
use wunderblock_core::pair::arrange;
use wunderblock_core::plan::{Ask, Fixed, Plan, Refusal, TrimReason, plan, weigh};
use wunderblock_core::policy::Policy;
use wunderblock_core::ports::Bodies;
use wunderblock_core::render::{self, Rendered, Scene};
use wunderblock_core::section::Section;
use wunderblock_core::units::{Bytes, Cost, Millis, Seq, Tokens};
use wunderblock_core::view::View;

/// A lane under a policy.
pub(super) struct Lane<'a> {
    history: &'a History,
    index: &'a Index,
    aim: &'a Aim,
    policy: &'a Policy,
    gauge: Scales,
    shelf: Shelf<'a>,
    /// The texts the lane has made: summaries, shortened texts.
    made: Texts,
    view: View,
    /// Which event stands at each position; none for the lane's own.
    positions: Vec<Option<usize>>,
    /// Where an event of the session stands here.
    moved: HashMap<Seq, Seq>,
    /// Where tasks begin and end, by the caller's events.
    marks: Vec<Mark>,
    /// The lane's newest step, and when it took it.
    step: Option<(Millis, ViewTrimmed)>,
    /// How many compactions in a row came to nothing, and what the request took at the last.
    rounds: Option<(u32, Tokens)>,
    /// When a summariser was asked, and how often.
    calls: Vec<(Millis, u32)>,
    now: Millis,
    sheet: Sheet,
    account: Account,
    time: Duration,
}

/// In milliseconds.
const HOUR: i64 = 3_600_000;

/// A request before it is sent.
struct Draft<'v> {
    plan: Plan,
    view: Cow<'v, View>,
    rendered: Rendered,
    total: Cost,
}

/// The texts of a session, and those a lane has made.
struct Both<'a>(&'a Texts, &'a Texts);

impl Bodies for Both<'_> {
    fn text(&self, handle: Handle) -> Option<&str> {
        self.0.text(handle).or_else(|| self.1.text(handle))
    }
}

impl<'a> Lane<'a> {
    pub(super) fn new(history: &'a History, index: &'a Index, aim: &'a Aim, policy: &'a Policy) -> Self {
        Self {
            history,
            index,
            aim,
            policy,
            gauge: history.gauge(aim),
            shelf: Shelf::new(&history.key),
            made: Texts::default(),
            view: View::new(history.lane.clone()),
            // Positions are counted from 1.
            positions: vec![None],
            moved: HashMap::new(),
            marks: Vec::new(),
            step: None,
            rounds: None,
            calls: Vec::new(),
            now: Millis::ZERO,
            sheet: Sheet::new(index),
            account: Account::new(&policy.name, aim),
            time: Duration::ZERO,
        }
    }

    /// Plays the session. None if whoever watches it stopped it.
    pub(super) fn run(
        mut self,
        summariser: Option<&dyn Summarise>,
        redactor: &Redactor,
        watch: &Watch,
    ) -> Option<PolicyResult> {
        let mut next = 0;
        for moment in &self.index.moments {
            for (number, event) in self.history.events.iter().enumerate().take(moment.before).skip(next) {
                self.hear(number, event);
            }
            next = moment.before;
            self.now = moment.now;
            self.request(moment, summariser, redactor);
            if !watch.tell() {
                return None;
            }
        }
        let mut result = self.account.close(&self.sheet, self.index, self.aim);
        result.time_ms = u64::try_from(self.time.as_millis()).unwrap_or(u64::MAX);
        Some(result)
    }

    /// Takes in an event of the session, at the position it has in this lane.
    fn hear(&mut self, number: usize, event: &Event) {
        let seq = self.view.head().next();
        let mut event = Event { seq, ..event.clone() };
        self.moved.insert(self.history.events.get(number).map_or(seq, |event| event.seq), seq);
        if let Some(Fact::ContentPinned(pin)) = &mut event.fact {
            let Some(target) = self.moved.get(&pin.target) else { return };
            *pin = ContentPinned { target: *target, ..pin.clone() };
        }
        self.marks.extend(compact::task_mark(&event));
        self.apply(&event, Some(number));
    }

    fn apply(&mut self, event: &Event, number: Option<usize>) {
        self.view.apply(event);
        self.positions.push(number);
    }

    /// A fact of the lane's own, as the event it would be.
    fn event(&self, seq: Seq, fact: Fact) -> Option<Event> {
        Some(Event {
            tenant: self.history.tenant.clone(),
            stream: self.history.stream.clone(),
            seq,
            id: EventId::new(format!("{}@{seq}", fact.kind())).ok()?,
            at: self.now,
            source: Source::Engine,
            fact: Some(fact),
            erased: None,
        })
    }

    fn ask<'s>(&'s self, view: &'s View, bodies: &'s Both<'_>, fixed: &'s [Fixed]) -> Ask<'s> {
        Ask {
            view,
            budget: self.aim.budget(),
            gauge: &self.gauge,
            bodies,
            fixed,
            must: &[],
            hits: &[],
            recall: Tokens::ZERO,
            transcript: self.aim.transcript,
            floor: Seq::START,
        }
    }

    /// Builds a request, compacts if it says that the lane is due, builds it again, and sends it.
    fn request(&mut self, moment: &Moment, summariser: Option<&dyn Summarise>, redactor: &Redactor) {
        let begun = Instant::now();
        self.reduce();
        let drafted = self.draft();
        let due = self.is_due(&drafted);
        let kept = drafted.map(Draft::into_owned);
        let again = due.is_some_and(|due| self.compact(&due, summariser, redactor));
        let drafted = if again { self.draft().map(Draft::into_owned) } else { kept };
        self.time += begun.elapsed();
        match drafted {
            Ok(draft) => self.send(draft),
            Err(_) => {
                self.account.result.refused += 1;
                self.account.result.series.push(0);
                return;
            }
        }
        self.account.look(&self.sheet, moment, self.index);
    }

    /// Shortens what no request has shown yet, as a build would before it is recorded.
    fn reduce(&mut self) {
        let rules = &self.policy.reduce;
        let means = Means { rules, gauge: &self.gauge, reducer: self.history.reducer };
        let room = self.aim.budget().limit().tokens;
        let (mut choice, mut facts) = (Choice::new(&self.view, &means, room), Vec::new());
        let pack = |text: String| self.shelf.pack(text);
        loop {
            let candidates = choice.more();
            let texts = &self.history.texts;
            let own = candidates.iter().filter_map(|candidate| texts.text(candidate.handle));
            let ours = named(own).into_iter().filter(|handle| texts.text(*handle).is_some()).collect();
            let more = shorten(&candidates, texts, &means, &ours, &pack).unwrap_or_default();
            if candidates.is_empty() {
                break;
            }
            choice.gained(&more);
            facts.extend(more);
        }
        for fact in in_order(facts) {
            self.shelve();
            let seq = self.view.head().next();
            if let Some(event) = self.event(seq, Fact::ContentReduced(Box::new(fact))) {
                self.apply(&event, None);
            }
        }
    }

    /// Takes what was packed from the shelf to where it is found, and counts it.
    fn shelve(&mut self) {
        for (handle, text) in self.shelf.drain() {
            self.gauge.learn(handle, self.gauge.measure(&text));
            self.made.0.insert(handle, text);
        }
    }

    fn draft(&self) -> Result<Draft<'_>, Box<Refusal>> {
        let bodies = Both(&self.history.texts, &self.made);
        let fixed = self.aim.fixed(&self.view, &self.gauge);
        let plan = plan(&self.ask(&self.view, &bodies, &fixed))?;
        let mut view = Cow::Borrowed(&self.view);
        if let Some(reason) = plan.step
            && let Some(event) =
                self.event(self.view.head().next(), Fact::ViewTrimmed(self.trimmed(&plan, reason)))
        {
            view.to_mut().apply(&event);
        }
        let scene = Scene { stream: self.history.handle, bodies: &bodies, gauge: &self.gauge, tools: &[] };
        let rendered = render::render(&view, &plan.trim, scene);
        let name = self.aim.line(&self.gauge).cost;
        let total = name + rendered.lines.iter().map(|line| line.cost).sum();
        Ok(Draft { plan, view, rendered, total })
    }

    fn trimmed(&self, plan: &Plan, reason: TrimReason) -> ViewTrimmed {
        ViewTrimmed { lane: self.history.lane.clone(), trim: plan.trim.clone(), reason, compaction: None }
    }

    /// Whether what was drafted makes the lane due.
    fn is_due(&self, drafted: &Result<Draft<'_>, Box<Refusal>>) -> Option<Due> {
        let draft = match drafted {
            Ok(draft) => draft,
            Err(refusal) => return self.is_relieved(refusal),
        };
        let step = self.step.as_ref();
        let begun = self.history.events.first().map_or(self.now, |event| event.at);
        let lifetime = self.aim.row().cache.lifetime;
        let cached = self.account.sent_at().filter(|_| lifetime > Millis::ZERO);
        let measure = Measure {
            tokens: draft.total.tokens,
            limit: self.aim.budget().limit().tokens,
            window: self.aim.budget().window,
            overflows: draft.plan.step == Some(TrimReason::OverBudget),
            refused: false,
            messages: draft.rendered.lines.iter().filter(|line| line.seq.is_some()).count() as u64,
            age: Millis(self.now.0.saturating_sub(step.map_or(begun, |(at, _)| *at).0)),
            cache_left: cached.map(|at| Millis(at.0.saturating_add(lifetime.0).saturating_sub(self.now.0))),
            after_last: step.and_then(|(_, step)| step.compaction.as_ref()).map(|last| last.tokens_after),
            stands: Stands::BetweenTasks,
        };
        // Where it stands matters only to what would be due between tasks.
        due(self.policy, &measure)?;
        let view = &*draft.view;
        let found = due(self.policy, &Measure { stands: stands(&arrange(view), view, false), ..measure });
        if found.as_ref().is_none_or(|found| found.level > Level::Soft) {
            return found;
        }
        let bodies = Both(&self.history.texts, &self.made);
        let marks = compact::settled(self.marks.clone(), view, &bodies);
        if marks.is_empty() { found } else { compact::between_tasks(self.policy, measure, (view, &marks)) }
    }

    /// What is due where no request could be built: nothing if what stands outside the conversation does not fit by itself.
    fn is_relieved(&self, refusal: &Refusal) -> Option<Due> {
        let stands = |part: &&Fixed| part.section != Section::Transcript;
        let fixed: Tokens = refusal.parts.iter().filter(stands).map(|part| part.cost.tokens).sum();
        let helps = fixed < refusal.limit.tokens && !self.policy.is_off();
        helps.then(|| Due { level: Level::Overflow, why: refusal.to_string() })
    }

    /// Compacts. Whether anything changed.
    fn compact(&mut self, due: &Due, summariser: Option<&dyn Summarise>, redactor: &Redactor) -> bool {
        let bodies = Both(&self.history.texts, &self.made);
        let fixed = self.aim.fixed(&self.view, &self.gauge);
        let ask = self.ask(&self.view, &bodies, &fixed);
        let tokens = weigh(&ask).tokens;
        let limit = self.aim.budget().limit().tokens;
        if self.rounds.is_some_and(|rounds| compact::is_stopped(self.policy, rounds, (tokens, limit))) {
            return false;
        }
        let marks = compact::settled(self.marks.clone(), &self.view, &bodies);
        let tasks = task::tasks(&self.view, &marks, &bodies);
        let ration = self.ration();
        let climb = Climb {
            ration: &ration,
            ask,
            tasks: &tasks,
            policy: self.policy,
            summariser,
            redactor,
            focus: None,
            progress: None,
        };
        let climbed = climb.run(due.level);
        let drafts = &climbed.drafts;
        let refused = drafts.iter().map(|draft| draft.rejected.len() as u64).sum::<u64>();
        let spent = drafts.iter().filter_map(|draft| draft.spent.as_ref()?.micro_dollars).sum();
        let calls = drafts.iter().filter_map(|draft| draft.spent.as_ref()).map(|spent| spent.calls).sum();
        self.calls.push((self.now, calls));
        self.account.result.refused_summaries += refused;
        self.account.spend(spent);
        if climbed.proposal.trim.is_none() {
            let round = self.rounds.map_or(0, |(round, _)| round).saturating_add(1);
            self.rounds = Some((round, tokens));
            self.account.result.rejected += 1;
            return false;
        }
        self.publish(&climbed, due);
        true
    }

    /// How often a summariser may be asked within the hour.
    fn ration(&self) -> Ration {
        let recent = self.calls.iter().filter(|(at, _)| self.now.0.saturating_sub(at.0) < HOUR);
        let asked = recent.map(|(_, calls)| *calls).sum();
        Ration::of(self.policy.limits.calls_per_hour.saturating_sub(asked))
    }

    /// Applies what a compaction would record.
    fn publish(&mut self, climbed: &Climbed, due: &Due) {
        let prompt = compact::prompt(self.policy);
        let by = compact::By {
            lane: &self.history.lane,
            policy: &self.policy.name,
            due,
            focus: None,
            prompt: &prompt,
        };
        for (seq, mut fact) in compact::facts(&climbed.proposal, &climbed.drafts, &by) {
            for body in fact.bodies_mut() {
                if let Body::Inline(text) = body {
                    *body = self.shelf.pack(std::mem::take(text));
                }
            }
            self.shelve();
            if let Fact::ViewTrimmed(step) = &fact {
                self.step = Some((self.now, step.clone()));
            }
            if let Some(event) = self.event(seq, fact) {
                self.apply(&event, None);
            }
        }
        let nodes = &climbed.proposal.nodes;
        let result = &mut self.account.result;
        result.compactions += 1;
        result.summaries += nodes.len() as u64;
        result.summary_tokens += nodes.iter().map(|node| node.tokens.0).sum::<u64>();
        self.rounds = None;
    }

    /// Sends a request: the lane has taken its step, and the request is on record.
    fn send(&mut self, draft: Sent) {
        if let Some(reason) = draft.plan.step {
            let trimmed = self.trimmed(&draft.plan, reason);
            self.account.result.steps += u64::from(reason == TrimReason::OverBudget);
            self.step = Some((self.now, trimmed.clone()));
            if let Some(event) = self.event(self.view.head().next(), Fact::ViewTrimmed(trimmed)) {
                self.apply(&event, None);
            }
        }
        let reading = Reading { index: self.index, gauge: &self.gauge, positions: &self.positions };
        let name = self.aim.line(&self.gauge).cost;
        let sent = self.sheet.turn(&draft.rendered.request, name, reading);
        debug_assert_eq!(sent.0, draft.total, "the pieces of a request are all of it");
        self.account.send(sent, self.now, self.aim);
        let built = self.built(draft.plan, sent.0.tokens);
        if let Some(event) = self.event(self.view.head().next(), Fact::ContextBuilt(Box::new(built))) {
            self.apply(&event, None);
        }
    }

    /// The record of a request, as far as a view looks at it.
    fn built(&self, plan: Plan, total_tokens: Tokens) -> ContextBuilt {
        ContextBuilt {
            lane: self.history.lane.clone(),
            model: self.aim.model().into(),
            dialect: Dialect::Neutral,
            render: render::VERSION,
            budget: self.aim.budget(),
            plan,
            heads: Vec::new(),
            inputs: None,
            preamble: None,
            cache: Vec::new(),
            stem: None,
            common: None,
            expected_cached: None,
            calibration: None,
            sections: Vec::new(),
            total_tokens,
            encoded_bytes: Bytes::ZERO,
            digest: Box::default(),
        }
    }
}

/// A request that is sent.
struct Sent {
    plan: Plan,
    rendered: Rendered,
    total: Cost,
}

impl Draft<'_> {
    fn into_owned(self) -> Sent {
        Sent { plan: self.plan, rendered: self.rendered, total: self.total }
    }
}
