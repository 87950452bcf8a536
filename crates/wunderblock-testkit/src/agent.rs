//! A scripted agent: runs whole sessions through the live door and checks each request before its model is called.
//!
//! The model is a sequence of random numbers, which decide its next words, the tools it calls, and the size of the
//! results. The agent uses no network and no clock. The agent imitates real failures: the process ends and the ledger
//! is reopened, an acknowledgement is lost and events are sent a second time, a tool fails, a result is huge, and the
//! instructions and tools change during the session.

#![allow(clippy::panic, reason = "a check that does not hold panics; that is what it is for")]

use crate::generate::{Random, prose};
use futures_executor::block_on;
use wunderblock::{Built, CompactionResult, Compactor, ContextOptions, Engine, Error, Session, Sources};
use wunderblock_core::event::{
    Event, EventSource, Fact, MessageAppended, NewEvent, TurnCompleted, UsageMeasured,
};
use wunderblock_core::id::{EventId, StreamId};
use wunderblock_core::message::{Dialect, Message, Part, Role};
use wunderblock_core::plan::TrimReason;
use wunderblock_core::request::Tool;
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};

/// Configuration of a scripted agent.
#[derive(Clone, Debug)]
pub struct Script {
    /// Seed that determines everything the agent does.
    pub seed: u64,
    /// The session that the agent writes.
    pub session: StreamId,
    /// Name of the agent's model.
    pub model: String,
    /// The model's window, in tokens.
    pub window: Tokens,
    /// The format of the agent's requests.
    pub dialect: Dialect,
    /// Maximum number of calls to the model.
    pub calls: usize,
    /// Compactor of the session. `None` never compacts it.
    pub compactor: Option<Compactor>,
}

/// Result of an agent's run.
#[derive(Clone, Debug, Default)]
pub struct AgentRun {
    /// Every request that was built, with the position at which it is recorded.
    pub requests: Vec<(Seq, Vec<u8>)>,
    /// Number of requests for which the lane took a step because the budget was exceeded.
    pub steps: usize,
    /// Number of compactions of the session.
    pub compactions: usize,
    /// Number of times the ledger was reopened after a simulated crash.
    pub crashes: usize,
    /// Number of events that were sent a second time.
    pub resent: usize,
}

/// Checks a built request before it is sent. Returns a description of the fault, or `None`.
pub type SessionCheck<'c> = &'c dyn Fn(&Built) -> Option<String>;

struct Agent<'s> {
    script: &'s Script,
    random: Random,
    engine: Engine,
    run: AgentRun,
    events: u64,
    last: Option<(Vec<u8>, Bytes)>,
    tools: Vec<Tool>,
}

/// Runs a session from start to end. `open` opens the ledger, at the start and after each simulated crash. `check`
/// inspects every request in addition to the checks made here: the request fits the budget, `explain` showed the same
/// bytes that `context` recorded, and the request extends the previous one unless a step, a preamble change or a
/// compaction was recorded.
///
/// # Panics
/// Panics if a check fails.
pub fn run(script: &Script, open: &dyn Fn() -> Engine, check: SessionCheck<'_>) -> AgentRun {
    let mut agent = Agent {
        script,
        random: Random::new(script.seed),
        engine: open(),
        run: AgentRun::default(),
        events: 0,
        last: None,
        tools: tools(0),
    };
    agent.say(vec![Message::text(Role::System, "You are careful. You answer in short sentences.")]);
    agent.ask();
    for number in 0..script.calls {
        if agent.random.chance(6) {
            // Nothing more is written before the ledger is reopened, so the new engine must find everything that was
            // acknowledged.
            agent.engine = open();
            agent.run.crashes += 1;
        }
        if agent.random.chance(4) {
            agent.tools = tools(number);
        }
        let Some(built) = agent.build(check) else { break };
        agent.answer(&built);
    }
    agent.run
}

/// Tools that the agent declares. The descriptions of the tools change with `number`, and odd numbers add a fourth
/// tool.
fn tools(number: usize) -> Vec<Tool> {
    let tool = |name: &str| Tool {
        name: name.into(),
        description: format!("Version {number} of a tool that does what its name says.").into(),
        schema: r#"{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}}}"#
            .into(),
        extra: None,
    };
    let names = ["Bash", "Edit", "Read", "Search"];
    names.into_iter().take(3 + number % 2).map(tool).collect()
}

impl Agent<'_> {
    fn session(&self) -> Session {
        self.engine.session_by_id(self.script.session.clone())
    }

    /// Appends messages under sequential ids, sometimes twice, as a client does after a lost answer.
    fn say(&mut self, messages: Vec<Message>) {
        let facts = messages.into_iter().map(|message| Fact::MessageAppended(MessageAppended { message }));
        self.append(facts.collect());
    }

    fn append(&mut self, facts: Vec<Fact>) {
        let events: Vec<NewEvent> = facts
            .into_iter()
            .filter_map(|fact| {
                self.events += 1;
                let id = EventId::new(format!("{}/{}", self.script.session, self.events)).ok()?;
                let at = Millis(1_750_000_000_000 + i64::try_from(self.events * 700).unwrap_or_default());
                Some(NewEvent { id, at, source: EventSource::Live, fact })
            })
            .collect();
        let placed = must(block_on(self.session().append(events.clone())));
        assert!(placed.iter().all(|one| !one.duplicate), "new events are new: {placed:?}");
        if self.random.chance(15) {
            let again = must(block_on(self.session().append(events)));
            let same =
                again.iter().zip(&placed).all(|(again, first)| again.duplicate && again.seq == first.seq);
            assert!(same, "sent again, they stand where they stood: {again:?}, {placed:?}");
            self.run.resent += again.len();
        }
    }

    /// Appends the user's next turn.
    fn ask(&mut self) {
        let length = self.random.between(20, 900);
        let mut text = prose(&mut self.random, length);
        // Names a file that earlier calls may have read, so that recall has something to find.
        if self.random.chance(20) {
            text.push_str(" Look at src/part_1.rs again.");
        }
        self.say(vec![Message::text(Role::User, text)]);
    }

    fn options(&self) -> ContextOptions {
        ContextOptions {
            model: Some(self.script.model.clone()),
            window: Some(self.script.window),
            dialect: Some(self.script.dialect),
            sources: Sources {
                tools: Some(self.tools.iter().cloned().map(Into::into).collect()),
                ..Sources::default()
            },
            compactor: self.script.compactor.clone(),
            ..ContextOptions::uncompacted()
        }
    }

    /// Builds the next request and checks it. Returns `None` if the window is too small for the required content.
    fn build(&mut self, check: SessionCheck<'_>) -> Option<Built> {
        let options = self.options();
        let explained = block_on(self.session().explain(&options));
        let built = match block_on(self.session().context(&options)) {
            Err(Error::OverBudget(refusal)) => {
                assert!(!refusal.needed.fits(refusal.limit), "{refusal}");
                return None;
            }
            other => must(other),
        };
        let compacted =
            built.compacted.as_ref().is_some_and(|done| done.outcome == CompactionResult::Compacted);
        assert!(must(explained).draft.body == built.draft.body, "what is explained is what is built");
        let report = &built.draft.report;
        assert!(report.total_tokens <= report.limit, "{} of {} tokens", report.total_tokens, report.limit);
        assert!(Bytes(built.draft.body.len() as u64) <= report.total_bytes, "the bytes are accounted for");
        if let Some(wrong) = check(&built) {
            panic!("request {}: {wrong}", self.run.requests.len());
        }
        if let Some((body, stem)) = &self.last
            && built.draft.step.is_none()
            && built.draft.changes.is_empty()
            && !compacted
        {
            let goes_on = wunderblock_wire::continues(body, stem.0 as usize, &built.draft.body);
            assert!(goes_on, "the request was rewritten without a step");
        }
        self.run.compactions += usize::from(compacted);
        self.run.steps += usize::from(built.draft.step == Some(TrimReason::OverBudget));
        self.last = Some((built.draft.body.clone(), built.draft.stem));
        self.run.requests.push((built.recorded.unwrap_or_default(), built.draft.body.clone()));
        Some(built)
    }

    /// Appends the model's reply to a request, and the tool results or the user turn that follow.
    fn answer(&mut self, built: &Built) {
        if self.random.chance(5) {
            // The provider failed before it sent a reply, so the same request is built again.
            let turn = TurnCompleted {
                stop_reason: "error".into(),
                error_code: Some("overloaded".into()),
                ..TurnCompleted::default()
            };
            return self.append(vec![Fact::TurnCompleted(turn)]);
        }
        let (mut parts, mut results) = (Vec::new(), Vec::new());
        if self.random.chance(60) {
            let length = self.random.between(10, 600);
            parts.push(Part::text(prose(&mut self.random, length)));
        }
        let calls = if parts.is_empty() || self.random.chance(70) { 1 + self.random.below(3) } else { 0 };
        for number in 0..calls {
            let (call, result) = self.call(number);
            parts.push(call);
            results.push(result);
        }
        let usage = UsageMeasured {
            model: Some(self.script.model.as_str().into()),
            input: built.draft.report.total_tokens,
            output: Tokens(50),
            ..UsageMeasured::default()
        };
        let message = Message {
            model: Some(self.script.model.as_str().into()),
            api_id: Some(format!("msg_{}", self.events).into()),
            ..Message::new(Role::Assistant, parts)
        };
        self.append(vec![Fact::MessageAppended(MessageAppended { message }), Fact::UsageMeasured(usage)]);
        if results.is_empty() {
            let end = TurnCompleted { stop_reason: "end".into(), ..TurnCompleted::default() };
            self.append(vec![Fact::TurnCompleted(end)]);
            return self.ask();
        }
        // Tools that run in parallel answer together; others answer one after the other.
        if self.random.chance(50) {
            self.say(results);
        } else {
            results.into_iter().for_each(|result| self.say(vec![result]));
        }
    }

    fn call(&mut self, number: usize) -> (Part, Message) {
        let id = format!("call_{}_{number}", self.events);
        let file = self.random.below(9);
        let input = format!("{{\"path\":\"src/part_{file}.rs\",\"limit\":{}}}", self.random.below(400));
        let call = Part::ToolCall {
            call: id.as_str().into(),
            name: "Read".into(),
            input: input.into(),
            gist: None,
            extra: None,
        };
        let length = match self.random.below(20) {
            0 => 60_000,
            1..=4 => 12_000,
            5..=12 => 2_500,
            _ => 120,
        };
        let failed = self.random.chance(10);
        let content = vec![Part::text(prose(&mut self.random, length))];
        let result = Part::ToolResult { call: id.as_str().into(), content, failed, extra: None };
        (call, Message::new(Role::Tool, vec![result]))
    }
}

/// Replays every request of a run and compares it byte for byte.
///
/// # Panics
/// Panics if a replayed request differs from the recorded one.
pub fn replay_all(engine: &Engine, session: &StreamId, run: &AgentRun) {
    for (seq, body) in &run.requests {
        let replayed = must(block_on(engine.session_by_id(session.clone()).replay(Some(*seq))));
        assert!(replayed.seq == *seq && replayed.body == *body && !replayed.erased, "the request at {seq}");
    }
}

/// Returns the number of messages in a session.
///
/// # Panics
/// Panics if the session cannot be read.
#[must_use]
pub fn messages(engine: &Engine, session: &StreamId) -> usize {
    let (limit, text) = (u64::from(u32::MAX), Bytes(i64::MAX.unsigned_abs()));
    let to = Seq(i64::MAX.unsigned_abs());
    let events = block_on(engine.session_by_id(session.clone()).events(Seq(1), to, limit, text));
    let said = |event: &&Event| matches!(event.fact, Some(Fact::MessageAppended(_)));
    must(events).iter().filter(said).count()
}

fn must<T>(result: Result<T, Error>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}
