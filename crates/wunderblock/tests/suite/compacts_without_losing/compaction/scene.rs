//! A session on an in-memory store with faults, a clock that is set by hand, and checks made after a compaction.

use crate::scene as words;
use futures_executor::block_on;
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use wunderblock::policy::Policies;
use wunderblock::store::{Commit, Storage as _, Write};
use wunderblock::summarize::{CallFailure, Summarise, SummaryTask, SummaryText};
use wunderblock::summary_graph::{Expand, GraphNode};
use wunderblock::{
    Address, Built, CompactOptions, Compacted, Compactor, Config, ContextOptions, Engine, Error, Session,
};
use wunderblock_core::compact::{Due, Urgency};
use wunderblock_core::decision::{Trim, TrimReason};
use wunderblock_core::event::{
    CompactionRejected, Event, EventSource, Fact, MessageAppended, NewEvent, SessionCompacted, ViewTrimmed,
};
use wunderblock_core::id::{EventId, LaneId, StreamId};
use wunderblock_core::message::{Body, Message, Part, Role};
use wunderblock_core::policy::Policy;
use wunderblock_core::units::{Millis, Seq, Tokens};
use wunderblock_testkit::faults::{FaultPlan, FaultyStorage};
use wunderblock_testkit::memory::MemoryStorage;

pub(crate) const MODEL: &str = "claude-sonnet-4-5";
const BEGIN: i64 = 1_800_000_000_000;

/// A session with its engine, its store and its clock.
pub(crate) struct Scene {
    pub(crate) engine: Engine,
    pub(crate) session: Session,
    pub(crate) faults: Arc<FaultPlan>,
    pub(crate) clock: Arc<AtomicI64>,
    storage: Arc<FaultyStorage<MemoryStorage>>,
    said: Cell<u64>,
}

pub(crate) fn policies() -> &'static Policies {
    static POLICIES: OnceLock<Policies> = OnceLock::new();
    POLICIES.get_or_init(Policies::embedded)
}

pub(crate) fn preset(name: &str) -> Arc<Policy> {
    policies().preset(name).unwrap()
}

/// Parses a policy that differs from a preset.
pub(crate) fn policy(text: &str) -> Arc<Policy> {
    let parsed = policies().parse(&format!("name = \"own\"\n{text}"), "own.toml");
    Arc::new(parsed.unwrap_or_else(|error| panic!("{error}")).policy)
}

/// Returns all presets that do something, by name.
pub(crate) fn active() -> impl Iterator<Item = Arc<Policy>> {
    policies().names().map(preset).filter(|policy| !policy.is_off())
}

/// Returns options for a request of the main lane with this window, without compaction.
pub(crate) fn window(tokens: u64) -> ContextOptions {
    ContextOptions {
        lane: Some(LaneId::main()),
        model: Some(MODEL.to_owned()),
        window: Some(Tokens(tokens)),
        reserve: Some(Tokens(tokens / 8)),
        ..ContextOptions::uncompacted()
    }
}

/// Returns options for a request that is compacted by a policy when its lane is due.
pub(crate) fn under(policy: &Arc<Policy>, tokens: u64) -> ContextOptions {
    ContextOptions { compactor: Some(Compactor::new(Arc::clone(policy))), ..window(tokens) }
}

/// Returns options for a compaction that a person asked for.
pub(crate) fn by_hand(policy: &Arc<Policy>, tokens: u64) -> CompactOptions {
    CompactOptions::new(window(tokens), Compactor::new(Arc::clone(policy)))
}

/// Returns options for an automatic compaction.
pub(crate) fn by_itself(policy: &Arc<Policy>, tokens: u64) -> CompactOptions {
    let due = Due { level: Urgency::Hard, why: "a test".to_owned() };
    CompactOptions { due: Some(due), ..by_hand(policy, tokens) }
}

impl Scene {
    pub(crate) fn new() -> Self {
        let storage = Arc::new(FaultyStorage::new(Arc::new(MemoryStorage::new())));
        // Handles derive from the key, and each has its own number of tokens: under one key two scenes have one plan.
        block_on(storage.commit(Commit::raw(vec![Write::Tenant { name: "local".to_owned(), key: [7; 32] }])))
            .unwrap();
        let clock = Arc::new(AtomicI64::new(BEGIN));
        let engine = open(&storage, &clock);
        let session = engine.session_by_id(words::stream("s"));
        Self { engine, session, faults: storage.faults(), clock, storage, said: Cell::new(0) }
    }

    /// Creates a session of `turns` turns.
    pub(crate) fn of(turns: u64) -> Self {
        let scene = Self::new();
        scene.turns(0..turns);
        scene
    }

    /// Opens the same session as another process would.
    pub(crate) fn elsewhere(&self) -> Session {
        open(&self.storage, &self.clock).session_by_id(self.session.id().clone())
    }

    pub(crate) fn wait(&self, millis: i64) {
        self.clock.fetch_add(millis, Ordering::SeqCst);
    }

    pub(crate) fn add(&self, facts: Vec<Fact>) -> Vec<Seq> {
        let events: Vec<_> = facts.into_iter().map(|fact| self.event(fact)).collect();
        let placed = block_on(self.session.append(events)).unwrap();
        placed.into_iter().map(|one| one.seq).collect()
    }

    pub(crate) fn event(&self, fact: Fact) -> NewEvent {
        self.said.set(self.said.get() + 1);
        let id = EventId::new(format!("e{}", self.said.get())).unwrap();
        let at = Millis(self.clock.load(Ordering::SeqCst));
        NewEvent { id, at, source: EventSource::Live, fact }
    }

    pub(crate) fn say(&self, message: Message) -> Seq {
        self.add(vec![said(message)])[0]
    }

    pub(crate) fn user(&self, text: &str) -> Seq {
        self.say(Message::text(Role::User, text))
    }

    pub(crate) fn reply(&self, text: &str) -> Seq {
        self.say(Message::text(Role::Assistant, text))
    }

    /// Adds turns of a coding session. Each turn contains words that occur nowhere else.
    pub(crate) fn turns(&self, numbers: std::ops::Range<u64>) {
        for number in numbers {
            self.add(turn(number).into_iter().map(said).collect());
        }
    }

    pub(crate) fn build(&self, options: &ContextOptions) -> Built {
        let built = block_on(self.session.context(options)).unwrap_or_else(|error| panic!("{error}"));
        words::sound(&built);
        built
    }

    /// Builds the next request. Returns `None` if there is nothing to send.
    pub(crate) fn build_or_none(&self, options: &ContextOptions) -> Option<Built> {
        block_on(self.session.context(options)).ok()
    }

    pub(crate) fn explain(&self, options: &ContextOptions) -> Built {
        let built = block_on(self.session.explain(options)).unwrap_or_else(|error| panic!("{error}"));
        words::sound(&built);
        built
    }

    pub(crate) fn compact(&self, options: &CompactOptions) -> Compacted {
        block_on(self.session.compact(options)).unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        words::events(&self.session)
    }

    pub(crate) fn head(&self) -> Seq {
        block_on(self.session.info()).unwrap().head
    }

    pub(crate) fn count(&self, kind: &str) -> usize {
        let of = |event: &&Event| event.fact.as_ref().is_some_and(|fact| fact.kind() == kind);
        self.events().iter().filter(of).count()
    }

    /// Returns the steps of all lanes, oldest first.
    pub(crate) fn steps(&self) -> Vec<(Seq, ViewTrimmed)> {
        let step = |event: Event| match event.fact {
            Some(Fact::ViewTrimmed(step)) => Some((event.seq, step)),
            _ => None,
        };
        self.events().into_iter().filter_map(step).collect()
    }

    pub(crate) fn compactions(&self) -> usize {
        self.steps().iter().filter(|(_, step)| step.reason == TrimReason::Compacted).count()
    }

    pub(crate) fn trim(&self) -> Trim {
        self.steps().pop().map(|(_, step)| step.trim).unwrap_or_default()
    }

    /// Returns the records of summaries, oldest first.
    pub(crate) fn made(&self) -> Vec<(Seq, SessionCompacted)> {
        let made = |event: Event| match event.fact {
            Some(Fact::SessionCompacted(made)) => Some((event.seq, *made)),
            _ => None,
        };
        self.events().into_iter().filter_map(made).collect()
    }

    pub(crate) fn rejected(&self) -> Vec<CompactionRejected> {
        let rejected = |event: Event| match event.fact {
            Some(Fact::CompactionRejected(rejected)) => Some(rejected),
            _ => None,
        };
        self.events().into_iter().filter_map(rejected).collect()
    }

    pub(crate) fn nodes(&self) -> Vec<GraphNode> {
        block_on(self.session.nodes(None)).unwrap()
    }

    /// Returns the problems of the ledger after background counting is complete.
    pub(crate) fn problems(&self) -> Vec<String> {
        words::catch_up(&self.engine);
        words::problems(&self.engine)
    }

    /// Returns the messages with their full texts.
    pub(crate) fn messages(&self) -> Vec<(Seq, Message)> {
        messages(&self.session)
    }

    /// Returns all pages behind an address, joined.
    pub(crate) fn expanded(&self, address: &str) -> String {
        let address: Address = address.parse().unwrap();
        let mut wanted = Expand { children: false, ..Expand::default() };
        let mut out = String::new();
        loop {
            let page = block_on(self.engine.recall().expand(address, &wanted)).unwrap();
            assert!(page.tokens.0 <= wanted.page_tokens);
            page.items.iter().for_each(|item| out.push_str(&item.text));
            match page.next {
                Some(next) => wanted.page = Some(next),
                None => return out,
            }
        }
    }

    /// C-01, C-02: every message is in the request, or under a handle that the request shows. Returns the positions
    /// of the messages that the request and its handles lack.
    pub(crate) fn unreachable(&self, built: &Built) -> Vec<Seq> {
        self.unreachable_of(&self.messages(), built)
    }

    /// Does the same for the session's messages, where they have been read already.
    pub(crate) fn unreachable_of(&self, messages: &[(Seq, Message)], built: &Built) -> Vec<Seq> {
        let shown = Shown::of(&built.draft.body);
        let own = block_on(self.session.info()).unwrap().handle.to_string();
        let missing = |(seq, message): &&(Seq, Message)| {
            let ranged = shown.handles.iter().any(|handle| match handle.split_once('#') {
                Some((stream, range)) if own.starts_with(stream) => {
                    let (from, to) = range.split_once('-').unwrap_or((range, range));
                    (from.parse().unwrap()..=to.parse().unwrap()).contains(&seq.0)
                }
                _ => false,
            });
            !ranged && !message.parts.iter().all(|part| self.is_shown(part, &shown))
        };
        messages.iter().filter(missing).map(|(seq, _)| *seq).collect()
    }

    fn is_shown(&self, part: &Part, shown: &Shown) -> bool {
        match part {
            Part::ToolResult { content, .. } => content.iter().all(|part| self.is_shown(part, shown)),
            // Providers receive arguments and blocks as objects, not as text.
            Part::ToolCall { input: json, .. } | Part::Opaque { raw: json, .. }
                if shown.has_values(text_of(json)) =>
            {
                true
            }
            part => part.bodies().into_iter().all(|body| {
                let text = body.inline().unwrap();
                let read = |handle: &String| {
                    let (address, _) = block_on(Address::find(&self.engine, handle)).unwrap();
                    address.range.is_none()
                        && block_on(self.engine.recall().read(address, &wunderblock::Slice::All))
                            .is_ok_and(|content| content.bytes == text.as_bytes())
                };
                shown.says(text) || shown.handles.iter().any(read)
            }),
        }
    }

    /// Checks the properties that hold after every compaction: a healthy ledger, and C-02 to C-05.
    pub(crate) fn is_whole(&self) {
        assert_eq!(self.problems(), [""; 0]);
        let trim = self.trim();
        let made = self.made();
        let own = |at: Seq| &made.iter().find(|(seq, _)| *seq == at).unwrap().1;
        for pair in trim.nodes.windows(2) {
            assert!(pair[0].to < pair[1].from, "C-05: in order, and none overlaps another: {:?}", trim.nodes);
        }
        for placed in &trim.nodes {
            let node = own(placed.at);
            assert_eq!((node.from_seq, node.to_seq), (placed.from, placed.to), "as recorded");
            let mut leaves = Vec::new();
            collect(&made, placed.at, &mut leaves);
            assert_eq!(leaves.first().unwrap().0, placed.from, "C-03");
            assert_eq!(leaves.last().unwrap().1, placed.to, "C-03");
            assert!(leaves.windows(2).all(|two| two[0].1.next() == two[1].0), "C-03: contiguous: {leaves:?}");
        }
        for (seq, node) in &made {
            let level = node.sources.iter().map(|source| own(*source).level).max().map_or(0, |max| max + 1);
            assert_eq!(node.level, level, "C-04: position {seq}");
        }
    }
}

/// Collects the ranges of the leaves below a node, in order.
fn collect(made: &[(Seq, SessionCompacted)], at: Seq, leaves: &mut Vec<(Seq, Seq)>) {
    let node = &made.iter().find(|(seq, _)| *seq == at).unwrap().1;
    if node.sources.is_empty() {
        return leaves.push((node.from_seq, node.to_seq));
    }
    let mut sources = node.sources.clone();
    sources.sort_by_key(|source| made.iter().find(|(seq, _)| seq == source).unwrap().1.from_seq);
    // An anchored summary covers the previous summary, and directly covers the events after the previous summary.
    sources.into_iter().for_each(|source| collect(made, source, leaves));
    if leaves.last().is_some_and(|(_, to)| *to < node.to_seq) {
        let from = leaves.last().unwrap().1.next();
        leaves.push((from, node.to_seq));
    }
}

fn open(storage: &Arc<FaultyStorage<MemoryStorage>>, clock: &Arc<AtomicI64>) -> Engine {
    let clock = Arc::clone(clock);
    let config =
        Config { clock: Arc::new(move || Millis(clock.load(Ordering::SeqCst))), ..Config::default() };
    block_on(Engine::on(storage.clone(), true, config)).unwrap()
}

pub(crate) fn said(message: Message) -> Fact {
    Fact::MessageAppended(MessageAppended { message })
}

pub(crate) fn call(id: &str, name: &str, input: &str) -> Part {
    Part::ToolCall { call: id.into(), name: name.into(), input: input.into(), gist: None, extra: None }
}

pub(crate) fn result(id: &str, text: &str) -> Message {
    let content = vec![Part::text(text)];
    Message::new(Role::Tool, vec![Part::ToolResult { call: id.into(), content, failed: false, extra: None }])
}

/// Returns a turn of a coding session, consisting of a question, a read and an answer.
pub(crate) fn turn(number: u64) -> Vec<Message> {
    let id = format!("call_{number}");
    let input = format!(r#"{{"file_path":"src/part_{number}.rs"}}"#);
    let line =
        |at: u64| format!("fn step_{number}_{at}() -> u32 {{ {} }} // line {at}\n", number * 1_000 + at);
    let code: String = (0..24).map(line).collect();
    vec![
        Message::text(
            Role::User,
            format!("Please look at src/part_{number}.rs and mend error E{number:04}."),
        ),
        Message::new(Role::Assistant, vec![Part::text("I read it first."), call(&id, "Read", &input)]),
        result(&id, &code),
        Message::text(
            Role::Assistant,
            format!("E{number:04} came from step_{number}_7, which I changed in src/part_{number}.rs."),
        ),
    ]
}

/// Returns the messages of a session with their full texts.
pub(crate) fn messages(session: &Session) -> Vec<(Seq, Message)> {
    let exported = words::exported(session);
    let message = |line: &str| {
        // The engine's own records are much longer than messages.
        if !line.contains(r#""kind":"message.appended""#) {
            return None;
        }
        let (_, rest) = line.split_once(r#""seq":"#).unwrap();
        let seq = rest.split_once(',').unwrap().0.parse().unwrap();
        // An erased event keeps its position but has no content.
        let event: NewEvent = serde_json::from_str(line).ok()?;
        match event.fact {
            Fact::MessageAppended(said) => Some((Seq(seq), said.message)),
            _ => None,
        }
    };
    exported.lines().filter_map(message).collect()
}

/// A request as the model sees it: its texts, and the handles in them.
pub(crate) struct Shown {
    pub(crate) texts: Vec<String>,
    pub(crate) handles: Vec<String>,
}

impl Shown {
    pub(crate) fn of(body: &[u8]) -> Self {
        let texts: Vec<String> = wunderblock_wire::string_values(body).unwrap().collect();
        let mut handles: Vec<String> = texts.iter().flat_map(|text| handles(text)).collect();
        handles.sort_unstable();
        handles.dedup();
        Self { texts, handles }
    }

    /// Returns whether all texts of a JSON value are in the request.
    fn has_values(&self, json: &str) -> bool {
        wunderblock_wire::string_values(json.as_bytes())
            .is_ok_and(|mut texts| texts.all(|text| self.says(&text)))
    }

    pub(crate) fn says(&self, words: &str) -> bool {
        self.texts.iter().any(|text| text.contains(words))
    }
}

/// Returns the handles in a text: `wb:` with 8 to 16 hexadecimal digits, including positions after them.
pub(crate) fn handles(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("wb:") {
        let rest = &text[at + 3..];
        let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        if !(8..=16).contains(&digits) {
            continue;
        }
        let mut handle = format!("wb:{}", &rest[..digits]);
        if let Some(range) = rest[digits..].strip_prefix('#') {
            let number = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
            let first = number(range);
            let second = range[first..].strip_prefix('-').map_or(0, number);
            if first > 0 {
                let end = if second > 0 { first + 1 + second } else { first };
                handle.push_str(&format!("#{}", &range[..end]));
            }
        }
        found.push(handle);
    }
    found
}

/// A summariser that calls a closure.
pub(crate) struct Acts<F>(pub(crate) F);

impl<F: Fn(&SummaryTask) -> Result<SummaryText, CallFailure> + Send + Sync> Summarise for Acts<F> {
    fn name(&self) -> String {
        "acts".to_owned()
    }

    fn window(&self) -> Option<Tokens> {
        None
    }

    fn summarise(
        &self,
        task: &SummaryTask,
        _: &mut dyn FnMut(usize) -> bool,
    ) -> Result<SummaryText, CallFailure> {
        (self.0)(task)
    }
}

/// Returns a compactor with a summariser made for the test.
pub(crate) fn with(
    policy: &Arc<Policy>,
    acts: impl Fn(&SummaryTask) -> Result<SummaryText, CallFailure> + Send + Sync + 'static,
) -> Compactor {
    Compactor { summariser: Some(Arc::new(Acts(acts))), ..Compactor::new(Arc::clone(policy)) }
}

pub(crate) fn written(text: impl Into<String>) -> Result<SummaryText, CallFailure> {
    Ok(SummaryText { text: text.into(), ..SummaryText::default() })
}

/// Returns whether a request only adds to the one before.
pub(crate) fn goes_on(before: &Built, after: &Built) -> bool {
    wunderblock_wire::continues(&before.draft.body, before.draft.stem.0 as usize, &after.draft.body)
}

pub(crate) fn text_of(body: &Body) -> &str {
    body.inline().unwrap()
}

pub(crate) fn stream(id: &str) -> StreamId {
    words::stream(id)
}

pub(crate) fn refused(result: Result<Built, Error>) -> Box<wunderblock_core::plan::PlanRefusal> {
    match result {
        Err(Error::OverBudget(refusal)) => refusal,
        Err(other) => panic!("{other}"),
        Ok(built) => panic!("it was built: {} tokens", built.draft.report.total_tokens),
    }
}
