//! A session in memory whose tools produce much output.

use futures_executor::block_on;
use std::cell::Cell;
use std::sync::{Arc, OnceLock};
use wunderblock::policy::Policies;
use wunderblock::store::{Answer, Commit, Opening, Query, Storage, StreamKind, Write};
use wunderblock::{Built, Compactor, Config, ContextOptions, Engine, Reducer, Session};
use wunderblock_core::event::{ContentReduced, Event, EventSource, Fact, MessageAppended, NewEvent};
use wunderblock_core::id::{EventId, LaneId, StreamId};
use wunderblock_core::message::{Body, Message, Part, Role};
use wunderblock_core::policy::Policy;
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};
use wunderblock_reduce::{Gap, GapUnit, Level, Options, Reduced, Untouched};
use wunderblock_testkit::backdoor::put;
use wunderblock_testkit::memory::MemoryStorage;

pub(crate) struct Scene {
    pub(crate) engine: Engine,
    pub(crate) session: Session,
    storage: Arc<MemoryStorage>,
    said: Cell<u64>,
}

/// Parses a policy with these settings and no others.
pub(crate) fn policy(more: &str) -> Arc<Policy> {
    static POLICIES: OnceLock<Policies> = OnceLock::new();
    let text = format!("name = \"own\"\n{more}");
    let parsed = POLICIES.get_or_init(Policies::embedded).parse(&text, "own.toml");
    Arc::new(parsed.unwrap_or_else(|error| panic!("{error}")).policy)
}

pub(crate) fn fold() -> Arc<Policy> {
    policy("[reduce]\nlevel = \"fold\"\n")
}

pub(crate) fn off() -> Arc<Policy> {
    policy("[reduce]\nlevel = \"off\"\n")
}

pub(crate) fn under(policy: &Arc<Policy>) -> ContextOptions {
    ContextOptions {
        lane: Some(LaneId::main()),
        model: Some("gpt-4o".to_owned()),
        window: Some(Tokens(100_000)),
        compactor: Some(Compactor::new(Arc::clone(policy))),
        ..ContextOptions::uncompacted()
    }
}

pub(crate) fn within(window: u64, options: ContextOptions) -> ContextOptions {
    ContextOptions { window: Some(Tokens(window)), reserve: Some(Tokens(window / 8)), ..options }
}

pub(crate) fn of(lane: &str, options: ContextOptions) -> ContextOptions {
    ContextOptions { lane: Some(LaneId::new(lane).unwrap()), ..options }
}

/// Returns repetitive output that differs for each number.
pub(crate) fn output(number: usize, lines: usize) -> String {
    let line = |line: usize| match line {
        7 => format!("12:00:07 ERROR run {number} refused by peer-{number}: certificate expired\n"),
        line => format!("12:00:{:02} INFO run {number} served request {line} in 12 ms\n", line % 60),
    };
    (0..lines).map(line).collect()
}

/// A predictable reducer, which keeps the first and the last of consecutive lines that differ only in numbers. The
/// predictable reducer rejects what the real reducer rejects, and its marks are real.
fn plain(bytes: &[u8], options: &Options<'_>) -> Reduced {
    let text = std::str::from_utf8(bytes).unwrap();
    let bare = |line: &str| line.replace(|c: char| c.is_ascii_digit(), "0");
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (mut short, mut gaps, mut at, mut start) = (String::new(), Vec::new(), 0, 0);
    while at < lines.len() {
        let run = lines[at..].iter().take_while(|line| bare(line) == bare(lines[at])).count();
        let (last, end) = (at + run - 1, start + lines[at..at + run].concat().len());
        short.push_str(lines[at]);
        if run > 3 && options.level != Level::Lossless {
            let span = start + lines[at].len()..end - lines[last].len();
            let (first, until) = (at as u64 + 2, last as u64);
            let gap =
                Gap { span, measure: GapUnit::Lines, first, last: until, within: None, told: Vec::new() };
            short.push_str(&gap.mark(options.handle));
            short.push('\n');
            short.push_str(lines[last]);
            gaps.push(gap);
        } else {
            short.push_str(&lines[at + 1..=last].concat());
        }
        (at, start) = (at + run, end);
    }
    let is_ours = (options.known)(text);
    let kind = options.kind.unwrap_or_else(|| wunderblock_reduce::detect(text));
    let (before, after) = ((options.count)(text), (options.count)(&short));
    let untouched = is_ours.then_some(Untouched::Reduced).or((after >= before).then_some(Untouched::NoGain));
    Reduced {
        text: short,
        kind,
        level: options.level,
        tokens_before: before,
        tokens_after: after,
        lossless: gaps.is_empty(),
        gaps,
        untouched,
    }
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::with(plain)
    }

    /// Creates a scene with the default reducer.
    pub(crate) fn real() -> Self {
        Self::with(Config::default().reducer)
    }

    fn with(reducer: Reducer) -> Self {
        let storage = Arc::new(MemoryStorage::new());
        let engine = Self::open(&storage, reducer);
        let session = engine.session_by_id(StreamId::new("s").unwrap());
        Self { engine, session, storage, said: Cell::new(0) }
    }

    fn open(storage: &Arc<MemoryStorage>, reducer: Reducer) -> Engine {
        let clock = Arc::new(|| Millis(1_800_000_000_000));
        let config = Config { clock, reducer, ..Config::default() };
        block_on(Engine::on(storage.clone(), true, config)).unwrap()
    }

    /// Opens the same ledger as another process would.
    pub(crate) fn other(&self) -> Engine {
        Self::open(&self.storage, plain)
    }

    pub(crate) fn add(&self, facts: Vec<Fact>) -> Vec<Seq> {
        self.add_to(&self.session, facts)
    }

    pub(crate) fn add_to(&self, session: &Session, facts: Vec<Fact>) -> Vec<Seq> {
        let event = |fact| {
            self.said.set(self.said.get() + 1);
            let id = EventId::new(format!("e{}", self.said.get())).unwrap();
            NewEvent { id, at: Millis(1_700_000_000_000), source: EventSource::Live, fact }
        };
        let is_open = facts.iter().all(Fact::is_open);
        let events = facts.into_iter().map(event).collect();
        if !is_open {
            return put(self.storage.as_ref(), "local", session.id(), events);
        }
        block_on(session.append(events)).unwrap().into_iter().map(|one| one.seq).collect()
    }

    pub(crate) fn say(&self, role: Role, parts: Vec<Part>) -> Seq {
        self.add(vec![Fact::MessageAppended(MessageAppended { message: Message::new(role, parts) })])[0]
    }

    pub(crate) fn user(&self, text: &str) -> Seq {
        self.say(Role::User, vec![Part::text(text)])
    }

    /// Appends a call and its result. Returns the position of the result.
    pub(crate) fn ran(&self, (tool, gist): (&str, &str), text: &str, failed: bool) -> Seq {
        let id = format!("call-{}", self.said.get());
        self.say(Role::Assistant, vec![call(&id, tool, gist)]);
        let content = vec![Part::text(text)];
        self.say(
            Role::Tool,
            vec![Part::ToolResult { call: id.as_str().into(), content, failed, extra: None }],
        )
    }

    /// Appends a turn up to the point at which a request is due.
    pub(crate) fn turn(&self, number: usize) -> Seq {
        self.user(&format!("Run it once more, for the {number}th time."));
        self.ran(("Bash", "make check"), &output(number, 120), false)
    }

    pub(crate) fn build(&self, options: &ContextOptions) -> Built {
        build(&self.session, options)
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        events(&self.session)
    }

    /// Returns the standing reductions in order, with their texts.
    pub(crate) fn standing(&self) -> Vec<(Seq, ContentReduced, String)> {
        let reduced = self.events().into_iter().filter_map(|event| match event.fact? {
            Fact::ContentReduced(reduced) => Some((event.seq, *reduced)),
            _ => None,
        });
        reduced
            .filter(|(_, reduced)| reduced.standing)
            .map(|(seq, reduced)| {
                let text = self.text(&reduced.text);
                (seq, reduced, text)
            })
            .collect()
    }

    pub(crate) fn text(&self, body: &Body) -> String {
        match body {
            Body::Inline(text) => text.clone(),
            Body::Blob { blob, .. } => String::from_utf8(self.read(&blob.to_string())).unwrap(),
        }
    }

    /// Reads the content under an address that has the form in which marks print addresses.
    pub(crate) fn read(&self, address: &str) -> Vec<u8> {
        let (address, slice) = block_on(wunderblock::Address::find(&self.engine, address)).unwrap();
        block_on(self.engine.recall().read(address, &slice)).unwrap().bytes
    }

    /// Replays every recorded request, which checks its hash. Returns the number of requests.
    pub(crate) fn replay_all(&self) -> usize {
        let built =
            self.events().into_iter().filter(|event| matches!(event.fact, Some(Fact::ContextBuilt(_))));
        built
            .map(|event| {
                let again =
                    block_on(self.session.replay(Some(event.seq))).unwrap_or_else(|error| panic!("{error}"));
                assert!(!again.erased, "{}", event.seq);
            })
            .count()
    }

    /// Creates a session that branches off after a position of this one.
    pub(crate) fn fork(&self, id: &str, at_seq: Seq) -> Session {
        let tenant = block_on(self.storage.query(vec![Query::Tenant { name: "local".to_owned() }])).unwrap();
        let Some(Answer::Tenant(Some(tenant))) = tenant.first() else { panic!("{tenant:?}") };
        let stream = StreamId::new(id).unwrap();
        let open = Write::Open {
            tenant: tenant.no,
            kind: StreamKind::Session,
            handle: wunderblock::store::codec::name_handle(&tenant.key, "stream", id),
            stream: stream.clone(),
            opening: Opening::Fork { parent: self.session.id().clone(), at_seq },
            scope: Default::default(),
            at: Millis(0),
        };
        block_on(self.storage.commit(Commit::raw(vec![open]))).unwrap();
        self.engine.session_by_id(stream)
    }
}

pub(crate) fn build(session: &Session, options: &ContextOptions) -> Built {
    let explained = block_on(session.explain(options)).unwrap_or_else(|error| panic!("{error}"));
    let built = block_on(session.context(options)).unwrap_or_else(|error| panic!("{error}"));
    if built.compacted.is_none() {
        assert_eq!(explained.draft.digest, built.draft.digest, "what was explained is what was built");
        assert_eq!(explained.draft.report, built.draft.report);
    }
    let sections: Tokens = built.draft.report.sections.iter().map(|section| section.tokens).sum();
    let entries: Tokens = built.draft.report.entries.iter().map(|entry| entry.tokens).sum();
    assert_eq!((sections, entries), (built.draft.report.total_tokens, built.draft.report.total_tokens));
    assert!(built.draft.report.total_tokens <= built.draft.report.limit);
    built
}

pub(crate) fn events(session: &Session) -> Vec<Event> {
    let (limit, text) = (u64::from(u32::MAX), Bytes(i64::MAX as u64));
    block_on(session.events(Seq(1), Seq(i64::MAX as u64), limit, text)).unwrap()
}

pub(crate) fn call(id: &str, tool: &str, gist: &str) -> Part {
    let input = serde_json::json!({ "command": gist }).to_string();
    Part::ToolCall {
        call: id.into(),
        name: tool.into(),
        input: input.as_str().into(),
        gist: Some(gist.into()),
        extra: None,
    }
}

/// Returns whether a request only adds to another.
pub(crate) fn goes_on(before: &Built, after: &Built) -> bool {
    let stem = usize::try_from(before.draft.stem.0).unwrap();
    wunderblock_wire::continues(&before.draft.body, stem, &after.draft.body)
}

/// Returns the texts of tool results in a request, in order.
pub(crate) fn results(built: &Built) -> Vec<String> {
    let messages = wunderblock_wire::decode(built.draft.dialect, &built.draft.body).unwrap().messages;
    let parts = messages.into_iter().flat_map(|message| message.parts);
    let texts = parts.filter_map(|part| match part {
        Part::ToolResult { content, .. } => content.iter().find_map(|inner| match inner {
            Part::Text { text, .. } => Some(text.inline().unwrap().to_owned()),
            _ => None,
        }),
        _ => None,
    });
    texts.collect()
}
