//! Every byte before the tail stays the same, turn by turn, although sources change.

use crate::scene::*;
use crate::untrusted_stays_untrusted::outside::desk::*;
use crate::untrusted_stays_untrusted::outside::twin::{Twin, append_open};
use std::collections::BTreeSet;
use std::sync::Arc;
use wunderblock::{Built, ContextOptions, Engine, Session, Sources};
use wunderblock_core::event::{EventSource, Fact, NewEvent};
use wunderblock_core::message::{Body, Dialect, MessageOrigin, Part, Role};
use wunderblock_core::state::{NamedText, WorkState};
use wunderblock_core::units::{Bytes, Tokens};
use wunderblock_testkit::memory::MemoryStorage;

/// Opens a ledger in memory, because these sessions are long.
pub(crate) fn in_memory() -> Engine {
    let store = Arc::new(MemoryStorage::new());
    futures_executor::block_on(Engine::on(store, true, config())).unwrap()
}

/// A session that is appended event by event, with a request before each of the assistant's replies. If the session
/// has a twin, a lane in memory receives the same events and must build the same requests.
struct Telling {
    session: Session,
    twin: Option<Twin>,
    project: Project,
    dialect: Dialect,
    built: usize,
    last: Option<Built>,
    entered: usize,
}

impl Telling {
    fn new(engine: &Engine, project: Project, dialect: Dialect) -> Self {
        let session = engine.session_by_id(stream(dialect.name()));
        Self { session, twin: None, project, dialect, built: 0, last: None, entered: 0 }
    }

    /// Returns the options of the next request: the state changes every few turns, whereas the lists never change.
    fn options(&self) -> ContextOptions {
        let status = format!("{} files changed", self.built / 7);
        let sources = Sources {
            safety: Some(vec![given("policy", "Delete nothing.")]),
            system: Some(vec![given("house", &long("You are careful"))]),
            tools: Some(vec![
                tool("Read", &long("Reads a file")).into(),
                tool("Bash", "Runs a command.").into(),
            ]),
            skills: Some(vec![skill("bake", "Bakes bread.", "Heat the oven.")]),
            memory: Some(vec![given("taste", "Likes rye.")]),
            state: Some(WorkState {
                provided: vec![NamedText { name: "git status".into(), text: status.into() }],
                ..WorkState::default()
            }),
            ..self.project.sources()
        };
        ContextOptions {
            dialect: Some(self.dialect),
            window: Some(Tokens(20_000_000)),
            reserve: Some(Tokens(1_000)),
            ..with(sources)
        }
    }

    fn build(&mut self) {
        let next = built(&self.session, &self.options());
        let options = self.options();
        if let Some(twin) = &mut self.twin {
            twin.build(&options, Ok(&next));
        }
        assert!(
            next.draft.step.is_none() && next.draft.changes.is_empty() && next.draft.pending.is_empty(),
            "request {}",
            self.built
        );
        if let Some(last) = &self.last {
            assert!(goes_on(last, &next), "request {} for {} is rewritten", self.built, self.dialect.name());
            let (common, stem) = next.draft.cache.common.unwrap();
            assert_eq!((common, stem), (stem, bare(last)), "request {}", self.built);
        }
        self.built += 1;
        self.last = Some(next);
    }

    fn append(&mut self, events: Vec<NewEvent>) {
        match &mut self.twin {
            Some(twin) => twin.append(&self.session, events),
            None => append_open(&self.session, events),
        }
    }

    /// Appends the events, and builds a request before each reply for which `due` returns true.
    fn tell(&mut self, events: Vec<NewEvent>, due: &dyn Fn(usize) -> bool) {
        let mut waiting = Vec::new();
        let (mut reply, mut replies) = (None, 0);
        for event in events {
            if let Some(id) = reply_of(&event)
                && reply.as_ref() != Some(&id)
            {
                if due(replies) {
                    self.append(std::mem::take(&mut waiting));
                    self.build();
                }
                replies += 1;
                reply = Some(id);
            }
            waiting.push(event);
        }
        self.append(waiting);
        self.build();
        let replayed = futures_executor::block_on(self.session.replay(None)).unwrap();
        assert!(replayed.body == self.last.as_ref().unwrap().draft.body);
        self.entered = kinds(&self.session, "context.injected");
        assert_eq!(preambles(&self.session).len(), 1);
    }
}

/// Returns the length of a request's stem without cache marks.
fn bare(built: &Built) -> Bytes {
    Bytes(wunderblock_wire::without_marks(&built.draft.body[..built.draft.stem.0 as usize]).len() as u64)
}

/// Returns the id of the reply that an event is a piece of.
pub(crate) fn reply_of(event: &NewEvent) -> Option<String> {
    let Fact::MessageAppended(said) = &event.fact else { return None };
    let counts = said.message.role == Role::Assistant && said.message.standing == MessageOrigin::Said;
    counts.then(|| said.message.api_id.as_deref().map_or(event.id.to_string(), ToOwned::to_owned))
}

fn shorten(part: &mut Part, most: usize) {
    for body in part.bodies_mut() {
        if let Body::Inline(text) = body {
            let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap();
            text.truncate(end);
        }
    }
}

/// Generates a session of `replies` replies with short results. The paths in the session lie in the project, and some
/// of their directories have instructions.
fn generated(replies: usize, seed: u64) -> (Vec<NewEvent>, Project) {
    let project = Project::new(&[("AGENTS.md", "Use tabs.")]);
    let root = project.path("").canonicalize().unwrap();
    let mut events = Vec::new();
    let (mut told, mut directories) = (0, BTreeSet::new());
    // Leave out providers' reports: a view loads a limited number of events, and the reports would take the place of
    // messages.
    let told_by = |event: &NewEvent| matches!(event.fact, Fact::MessageAppended(_));
    for mut event in wunderblock_testkit::generate::session(replies * 8, seed).filter(told_by) {
        told += usize::from(reply_of(&event).is_some());
        if told > replies {
            break;
        }
        if let Fact::MessageAppended(said) = &mut event.fact {
            for part in &mut said.message.parts {
                match part {
                    Part::ToolCall { input: Body::Inline(input), .. } => {
                        let place = root.to_string_lossy();
                        *input = input.replace("/home/dev/project", &place);
                        let path =
                            serde_json::from_str::<serde_json::Value>(input).unwrap()["file_path"].clone();
                        let path = path.as_str().and_then(|path| path.strip_prefix(&*place));
                        let directory = path.and_then(|path| path.trim_start_matches('/').rsplit_once('/'));
                        directories.extend(directory.map(|(directory, _)| directory.to_owned()));
                    }
                    Part::ToolResult { content, .. } => {
                        content.iter_mut().for_each(|part| shorten(part, 120))
                    }
                    part => shorten(part, 80),
                }
            }
        }
        events.push(event);
    }
    for (number, directory) in directories.iter().enumerate() {
        project.write(&format!("{directory}/file.txt"), "");
        if number % 9 == 0 {
            project.write(&format!("{directory}/AGENTS.md"), &format!("Rule {number}."));
        }
    }
    (events, project)
}

/// Plays a generated session of `replies` replies, with a request before each reply.
fn grows(dialect: Dialect, replies: usize) {
    let engine = in_memory();
    let (events, project) = generated(replies, 5);
    let mut telling = Telling::new(&engine, project, dialect);
    telling.twin = (replies < 500).then(Twin::default);
    telling.tell(events, &|_| true);
    assert_eq!(telling.built, replies + 1);
    // The texts that entered the requests are all changes of the state, and the instructions of some directories.
    assert!(telling.entered > replies / 7 + 2, "{} texts entered", telling.entered);
}

pub(crate) fn example() -> Vec<NewEvent> {
    let home = Home::new();
    let engine = home.engine();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/session.jsonl");
    let imported = import(&engine, path.as_ref());
    let lines = exported(&engine.session_by_id(imported.sessions[0].clone()));
    let live = |line| NewEvent { source: EventSource::Live, ..serde_json::from_str(line).unwrap() };
    lines.lines().map(live).collect()
}

fn example_grows(dialect: Dialect, due: &dyn Fn(usize) -> bool) -> usize {
    let engine = in_memory();
    let mut telling = Telling::new(&engine, Project::new(&[("AGENTS.md", "Use tabs.")]), dialect);
    telling.tell(example(), due);
    telling.built
}

#[test]
fn a_generated_session_only_grows() {
    for dialect in DIALECTS {
        grows(dialect, if dialect == Dialect::Anthropic { 60 } else { 24 });
    }
}

#[test]
#[ignore = "takes minutes: .ci/full runs it, and so does --ignored"]
fn a_generated_session_of_a_thousand_replies_only_grows() {
    grows(Dialect::Anthropic, 1_000);
}

#[test]
fn the_example_session_only_grows() {
    for dialect in DIALECTS {
        // Requests are due at the beginning of the session, in a sample of its middle, and at its end.
        let due = |reply: usize| reply < 10 || reply.is_multiple_of(60) || reply > 304;
        assert!(example_grows(dialect, &due) > 14);
    }
}

#[test]
#[ignore = "takes minutes: .ci/full runs it, and so does --ignored"]
fn the_whole_example_session_only_grows() {
    for dialect in DIALECTS {
        assert_eq!(example_grows(dialect, &|_| true), 308);
    }
}
