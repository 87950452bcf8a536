//! Helpers shared by all suites.

use futures_executor::block_on;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use wunderblock::store::sqlite::Access;
use wunderblock::{Address, Built, Config, ContextOptions, Engine, Imported, Session, Slice};
use wunderblock_core::event::{Event, EventSource, Fact, MessageAppended, NewEvent};
use wunderblock_core::id::{EventId, LaneId, StreamId};
use wunderblock_core::message::{Dialect, Message, Part, Role};
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};

/// A temporary folder with a ledger in it.
pub(crate) struct Home {
    pub(crate) folder: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn db(&self) -> PathBuf {
        self.path("ledger.db")
    }

    /// Opens the ledger. An engine opened earlier must have been dropped, unless the test plays two processes.
    pub(crate) fn engine(&self) -> Engine {
        open(&self.db())
    }

    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

pub(crate) fn open(path: &Path) -> Engine {
    block_on(Engine::open_with(path, Access::Create, config())).unwrap()
}

/// Returns a configuration whose clock does not advance, so that results do not depend on the time.
pub(crate) fn config() -> Config {
    Config { clock: Arc::new(|| Millis(1_800_000_000_000)), ..Config::default() }
}

pub(crate) fn stream(id: &str) -> StreamId {
    StreamId::new(id).unwrap()
}

pub(crate) fn event(id: &str, fact: Fact) -> NewEvent {
    NewEvent { id: EventId::new(id).unwrap(), at: Millis(1_700_000_000_000), source: EventSource::Live, fact }
}

pub(crate) fn message(id: &str, message: Message) -> NewEvent {
    event(id, Fact::MessageAppended(MessageAppended { message }))
}

pub(crate) fn said(id: &str, role: Role, text: &str) -> NewEvent {
    message(id, Message::text(role, text))
}

pub(crate) fn call(id: &str, calls: &[(&str, &str, &str)]) -> NewEvent {
    let part = |(call, name, input): &(&str, &str, &str)| Part::ToolCall {
        call: (*call).into(),
        name: (*name).into(),
        input: (*input).into(),
        gist: None,
        extra: None,
    };
    message(id, Message::new(Role::Assistant, calls.iter().map(part).collect()))
}

pub(crate) fn result(id: &str, call: &str, text: &str) -> NewEvent {
    let content = vec![Part::text(text)];
    let part = Part::ToolResult { call: call.into(), content, failed: false, extra: None };
    message(id, Message::new(Role::Tool, vec![part]))
}

pub(crate) fn append(engine: &Engine, id: &str, events: Vec<NewEvent>) -> Vec<u64> {
    let done = block_on(engine.session_by_id(stream(id)).append(events)).unwrap();
    done.into_iter().map(|one| one.seq.0).collect()
}

pub(crate) fn session(engine: &Engine, id: &str) -> Session {
    block_on(engine.find_session(id)).unwrap()
}

pub(crate) fn import(engine: &Engine, path: &Path) -> Imported {
    block_on(engine.import(path, None, &mut |_, _| {})).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn original(session: &Session) -> Vec<u8> {
    let mut out = Vec::new();
    block_on(session.export_original(None, &mut out)).unwrap();
    out
}

/// Returns all events of a session, oldest first.
pub(crate) fn events(session: &Session) -> Vec<Event> {
    let (limit, text) = (u64::from(u32::MAX), Bytes(i64::MAX as u64));
    block_on(session.events(Seq(1), Seq(i64::MAX as u64), limit, text)).unwrap()
}

/// Returns a session as JSON lines.
pub(crate) fn exported(session: &Session) -> String {
    let mut out = Vec::new();
    block_on(session.export(Seq(1), Seq(i64::MAX as u64), &mut out)).unwrap();
    String::from_utf8(out).unwrap()
}

/// Returns one line per message: its role, and the beginning of each part's text.
pub(crate) fn transcript(session: &Session) -> Vec<String> {
    let line = |line: &str| -> Option<String> {
        let event: NewEvent = serde_json::from_str(line).ok()?;
        let Fact::MessageAppended(said) = event.fact else { return None };
        let words = said.message.parts.iter().map(part_words).collect::<Vec<_>>().join(" | ");
        let role = match said.message.role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        };
        let mark = match said.message.standing {
            wunderblock_core::message::MessageOrigin::Said => "",
            wunderblock_core::message::MessageOrigin::Injected(_) => "+",
            wunderblock_core::message::MessageOrigin::Failed(_) => "!",
            wunderblock_core::message::MessageOrigin::Aside(_) => "~",
        };
        Some(format!("{mark}{role}: {words}"))
    };
    exported(session).lines().filter_map(line).collect()
}

fn part_words(part: &Part) -> String {
    let short = |text: &str| text.chars().take(60).collect::<String>();
    match part {
        Part::Text { text, .. } => short(text.inline().unwrap()),
        Part::Thinking { text, .. } => format!("({})", short(text.inline().unwrap())),
        Part::ToolCall { call, name, .. } => format!("{name}#{}", call.as_str()),
        Part::ToolResult { call, content, .. } => {
            format!("#{} = {}", call.as_str(), content.iter().map(part_words).collect::<Vec<_>>().join(" "))
        }
        Part::Media { mime, .. } => format!("<{mime}>"),
        Part::Opaque { raw, .. } => format!("?{}", short(raw.inline().unwrap())),
    }
}

pub(crate) fn window(tokens: u64) -> ContextOptions {
    ContextOptions {
        lane: Some(LaneId::main()),
        window: Some(Tokens(tokens)),
        ..ContextOptions::uncompacted()
    }
}

pub(crate) fn built(session: &Session, options: &ContextOptions) -> Built {
    let built = block_on(session.context(options)).unwrap_or_else(|error| panic!("{error}"));
    sound(&built);
    built
}

/// Formats of requests.
pub(crate) const DIALECTS: [Dialect; 5] =
    [Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini, Dialect::Neutral];

/// Counts the tokens of every string value in a body with the vocabulary alone, independently of the library's
/// counts.
pub(crate) fn recount(body: &[u8]) -> u64 {
    let vocabulary = tiktoken::encoding::o200k_base;
    static O200K: std::sync::OnceLock<tiktoken::CoreBpe> = std::sync::OnceLock::new();
    let vocabulary = O200K.get_or_init(vocabulary);
    let values = wunderblock_wire::string_values(body).unwrap();
    values.map(|text| vocabulary.count(&text) as u64).sum()
}

/// Checks the properties of every request: its counts, its limit, and its validity for the provider.
pub(crate) fn sound(built: &Built) {
    let report = &built.draft.report;
    let counted = recount(&built.draft.body);
    assert!(counted <= report.total_tokens.0, "{counted} tokens, reported are {}", report.total_tokens);
    assert!(report.total_tokens <= report.limit, "{} of {}", report.total_tokens, report.limit);
    assert_eq!(report.limit.0 + report.reserve.0 + report.margin.0, report.window.0);
    assert!(
        built.draft.body.len() as u64 <= report.total_bytes.0,
        "{} of {}",
        built.draft.body.len(),
        report.total_bytes
    );
    let sections: Tokens = report.sections.iter().map(|section| section.tokens).sum();
    assert_eq!(sections, report.total_tokens);
    let entries: Tokens = report.entries.iter().map(|entry| entry.tokens).sum();
    assert_eq!(entries, report.total_tokens);
    let violations = wunderblock_wire::validate(built.draft.dialect, &built.draft.body);
    let real: Vec<_> =
        violations.iter().filter(|one| !matches!(one.rule, "prefill" | "trailing-space")).collect();
    assert!(real.is_empty(), "{real:?}");
    assert_eq!(built.draft.digest, blake3::hash(&built.draft.body).to_hex().as_str());
}

pub(crate) fn read(engine: &Engine, address: &str, slice: &Slice) -> Vec<u8> {
    let address: Address = address.parse().unwrap();
    block_on(engine.recall().read(address, slice)).unwrap().bytes
}

pub(crate) fn catch_up(engine: &Engine) {
    block_on(engine.maintenance().catch_up(&mut |_| {})).unwrap();
}

/// Returns the problems that `doctor` finds, as `rule: detail`.
pub(crate) fn problems(engine: &Engine) -> Vec<String> {
    let found = block_on(engine.maintenance().doctor(&mut |_| {})).unwrap();
    found.problems.into_iter().map(|problem| format!("{}: {}", problem.rule, problem.detail)).collect()
}
