//! Requests of each render version, byte for byte. A change to a single byte here requires a new version, not a new
//! golden file.
//!
//! `UPDATE_GOLDEN=1 cargo test -p wunderblock golden::` writes the files. Use this command only for the files of a
//! new version.

use futures_executor::block_on;
use std::path::PathBuf;
use std::sync::Arc;
use wunderblock::store::{Commit, Storage, Write};
use wunderblock::{Config, ContextOptions, Engine, Given, OfferedTool, Resource, Session, Skill, Sources};
use wunderblock_core::event::{EventSource, Fact, MessageAppended, NewEvent};
use wunderblock_core::id::{EventId, StreamId};
use wunderblock_core::message::{Dialect, MediaForm, Message, Part, Role};
use wunderblock_core::request::Tool;
use wunderblock_core::state::{ItemStatus, StateItem, WorkState};
use wunderblock_core::units::{Millis, Seq, Tokens};
use wunderblock_testkit::backdoor::put;
use wunderblock_testkit::memory::MemoryStorage;

fn engine(storage: Arc<MemoryStorage>) -> Engine {
    // Handles are keyed with the tenant's secret, so the same secret gives the same bytes on any machine.
    block_on(storage.commit(Commit::raw(vec![Write::Tenant { name: "local".to_owned(), key: [7; 32] }])))
        .unwrap();
    let config = Config { clock: Arc::new(|| Millis(1_790_000_000_000)), ..Config::default() };
    block_on(Engine::on(storage, true, config)).unwrap()
}

fn call(id: &str, name: &str, input: &str) -> Part {
    Part::ToolCall { call: id.into(), name: name.into(), input: input.into(), gist: None, extra: None }
}

fn result(id: &str, text: &str, failed: bool) -> Message {
    let part = Part::ToolResult { call: id.into(), content: vec![Part::text(text)], failed, extra: None };
    Message::new(Role::Tool, vec![part])
}

/// Returns a conversation with every kind of content that a request can contain.
fn conversation() -> Vec<Message> {
    let long: String =
        (1..=160).map(|line| format!("{line:>4} │ let value_{line} = step({line});\n")).collect();
    let thinking = Part::Thinking {
        text: "The test counts lines; look at the counter first.".into(),
        signature: Some("c2lnbmF0dXJl".into()),
        extra: None,
    };
    let unsigned = Part::Thinking { text: "No signature here.".into(), signature: None, extra: None };
    let picture = Part::Media {
        mime: "image/png".into(),
        form: MediaForm::Base64,
        body: "iVBORw0KGgo=".into(),
        extra: None,
    };
    vec![
        Message::text(Role::System, "You are a careful engineer."),
        Message::text(Role::User, "The line counter is off by one. 请修复它。"),
        Message::new(Role::Assistant, vec![thinking, call("c1", "Read", r#"{"file_path":"src/count.rs"}"#)]),
        result("c1", &long, false),
        Message::new(
            Role::Assistant,
            vec![
                Part::text("Two things to look at."),
                call("c2", "Bash", r#"{"command":"cargo test count","timeout":12345678901234567890}"#),
                call("c3", "Grep", r#"{"pattern":"fn count_lines","path":"src"}"#),
            ],
        ),
        result("c2", "test count::empty ... FAILED\nassertion failed: left 1, right 0", true),
        result("c3", "src/count.rs:12:pub fn count_lines(text: &str) -> u64 {", false),
        Message::new(Role::User, vec![Part::text("Here is how it looks:"), picture]),
        Message::new(
            Role::Assistant,
            vec![unsigned, call("c4", "Edit", r#"{"file_path":"src/count.rs","old":"a","new":"b"}"#)],
        ),
        Message::text(Role::User, "Stop. Show me src/count.rs once more before you edit."),
    ]
}

/// Creates a session with the messages of the conversation.
fn session() -> Session {
    session_in(Arc::new(MemoryStorage::new()))
}

fn session_in(storage: Arc<MemoryStorage>) -> Session {
    let session = engine(storage).session_by_id(StreamId::new("golden").unwrap());
    let events = conversation().into_iter().enumerate().map(|(number, message)| NewEvent {
        id: EventId::new(format!("m{number}")).unwrap(),
        at: Millis(1_790_000_000_000 + number as i64),
        source: EventSource::Live,
        fact: Fact::MessageAppended(MessageAppended { message }),
    });
    block_on(session.append(events.collect::<Vec<_>>())).unwrap();
    session
}

/// Formats that earlier versions wrote.
const FIRST: [Dialect; 3] = [Dialect::Anthropic, Dialect::OpenaiChat, Dialect::Neutral];

fn cases(dialects: &[Dialect]) -> impl Iterator<Item = (Dialect, u64)> {
    dialects.iter().flat_map(|dialect| [(*dialect, 100_000), (*dialect, 2_600)])
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/suite/replayable/golden")
}

fn read(name: &str) -> String {
    let path = folder().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Records of an earlier version replay to exactly the requests that version sent.
#[test]
fn requests_of_earlier_versions_stay_as_they_are() {
    for (version, (dialect, window)) in
        [1, 2].into_iter().flat_map(|version| cases(&FIRST).map(move |case| (version, case)))
    {
        let name = format!("v{version}-{}-{window}", dialect.name());
        let storage = Arc::new(MemoryStorage::new());
        let session = session_in(storage.clone());
        let record: Vec<(EventId, Fact)> =
            serde_json::from_str(&read(&format!("{name}.record.json"))).unwrap();
        let events = record.into_iter().map(|(id, fact)| NewEvent {
            id,
            at: Millis(1_790_000_000_000),
            source: EventSource::Engine,
            fact,
        });
        put(storage.as_ref(), "local", session.id(), events.collect());
        let replayed = block_on(session.replay(None)).unwrap();
        assert_eq!(String::from_utf8_lossy(&replayed.body), read(&format!("{name}.json")), "{name}");
    }
}

/// Returns sources of every kind.
fn sources() -> Sources {
    let given = |name: &str, text: &str| Some(vec![Given { name: name.to_owned(), text: text.to_owned() }]);
    let tool = |name: &str, deferred: bool| OfferedTool {
        tool: Tool {
            name: name.into(),
            description: "Reads a file.".into(),
            schema: r#"{"type":"object","properties":{"file_path":{"type":"string"}}}"#.into(),
            extra: None,
        },
        deferred,
    };
    let resource = |uri: &str, pinned: bool| Resource {
        uri: uri.to_owned(),
        name: String::new(),
        description: "How releases are made.".to_owned(),
        text: Some("First the tests, then the tag.".to_owned()),
        pinned,
    };
    Sources {
        safety: given("safety", "Never push to main."),
        system: given("system", "Answer briefly."),
        tools: Some(vec![tool("Read", false), tool("Write", true)]),
        skills: Some(vec![Skill {
            name: "release".to_owned(),
            description: "Makes a release.".to_owned(),
            body: "Tag, build, publish.".to_owned(),
        }]),
        memory: given("habits", "The user prefers small commits."),
        resources: Some(vec![resource("doc://release", false), resource("doc://style", true)]),
        state: Some(WorkState {
            plan: vec![StateItem { what: "fix the counter".into(), status: ItemStatus::InProgress }],
            ..WorkState::default()
        }),
        ..Sources::default()
    }
}

#[test]
fn requests_of_version_3_stay_as_they_are() {
    for (dialect, window) in cases(&crate::scene::DIALECTS) {
        let session = session();
        let options = ContextOptions {
            model: Some("claude-sonnet-4-5".to_owned()),
            window: Some(Tokens(window)),
            reserve: Some(Tokens(400)),
            dialect: Some(dialect),
            sources: sources(),
            ..ContextOptions::uncompacted()
        };
        let built = block_on(session.context(&options)).unwrap();
        let replayed = block_on(session.replay(Some(Seq(u64::from(u32::MAX))))).unwrap();
        assert_eq!(replayed.body, built.draft.body, "a replay is what was built");
        let name = format!("v3-{}-{window}.json", dialect.name());
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(folder().join(&name), &built.draft.body).unwrap();
        }
        assert_eq!(String::from_utf8_lossy(&built.draft.body), read(&name), "{name}");
    }
}
