//! A project with instruction files, and sources from outside the ledger.

use crate::scene::*;
use std::path::PathBuf;
use tempfile::TempDir;
use wunderblock::sources::{InstructionRules, Workspace};
use wunderblock::{Built, ContextOptions, Engine, Given, Instructions, Session, Skill, Sources};
use wunderblock_core::event::{Fact, NewEvent};
use wunderblock_core::message::{Body, Message, Part, Role};
use wunderblock_core::preamble::{PreambleChange, PreambleChanged};
use wunderblock_core::request::{Request, Tool};
use wunderblock_core::units::{Seq, Tokens};

/// A folder that is a project.
pub(crate) struct Project {
    folder: TempDir,
}

impl Project {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let project = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(project.path(".git")).unwrap();
        files.iter().for_each(|(path, text)| project.write(path, text));
        project
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        std::fs::remove_file(self.path(path)).unwrap();
    }

    pub(crate) fn instructions(&self) -> Instructions {
        let rules = InstructionRules::default();
        let workspace = Workspace::find(self.folder.path(), &rules.markers).unwrap();
        Instructions { workspace, rules, session: Vec::new() }
    }

    pub(crate) fn sources(&self) -> Sources {
        Sources { instructions: Some(self.instructions()), ..Sources::default() }
    }
}

pub(crate) fn given(name: &str, text: &str) -> Given {
    Given { name: name.to_owned(), text: text.to_owned() }
}

pub(crate) fn tool(name: &str, description: &str) -> Tool {
    let schema = r#"{"type":"object","properties":{"path":{"type":"string"}}}"#;
    Tool { name: name.into(), description: description.into(), schema: schema.into(), extra: None }
}

pub(crate) fn skill(name: &str, description: &str, body: &str) -> Skill {
    Skill { name: name.to_owned(), description: description.to_owned(), body: body.to_owned() }
}

/// Returns a text long enough to be stored as a blob beside the records.
pub(crate) fn long(words: &str) -> String {
    format!("{words}. ").repeat(700 / words.len() + 1)
}

pub(crate) fn with(sources: Sources) -> ContextOptions {
    let model = Some("claude-sonnet-4-5".to_owned());
    ContextOptions { model, window: Some(Tokens(100_000)), sources, ..ContextOptions::uncompacted() }
}

/// Creates a session with one message.
pub(crate) fn begun(engine: &Engine, id: &str) -> Session {
    append(engine, id, vec![said("first", Role::User, "Good morning.")]);
    engine.session_by_id(stream(id))
}

/// Returns a call that names a path, and its result.
pub(crate) fn reads(number: usize, path: &str) -> Vec<NewEvent> {
    let (id, call_id) = (format!("read {number}"), format!("call_{number}"));
    let input = format!(r#"{{"file_path":"{path}"}}"#);
    vec![
        call(&id, &[(&call_id, "Read", &input)]),
        result(&format!("{id} result"), &call_id, "the content of a file"),
    ]
}

/// Returns a request as the provider reads it.
pub(crate) fn decoded(built: &Built) -> Request {
    wunderblock_wire::decode(built.draft.dialect, &built.draft.body).unwrap()
}

fn inline(body: &Body) -> String {
    body.inline().expect("a request has its texts in place").to_owned()
}

fn words_of(part: &Part) -> Vec<String> {
    match part {
        Part::ToolResult { content, .. } => content.iter().flat_map(words_of).collect(),
        part => part.bodies().into_iter().map(inline).collect(),
    }
}

/// Returns the parts of the system text.
pub(crate) fn commands(request: &Request) -> Vec<String> {
    let between = request.messages.iter().filter(|message| message.role == Role::System);
    request.system.iter().chain(between.flat_map(|message| &message.parts)).flat_map(words_of).collect()
}

/// Returns the texts on the user's side one by one, without tool results.
pub(crate) fn heard(request: &Request) -> Vec<String> {
    let user = request.messages.iter().filter(|message| message.role == Role::User);
    let own = user.flat_map(Message::own_parts);
    own.filter(|part| matches!(part, Part::Text { .. })).flat_map(words_of).collect()
}

/// Returns how often a request contains certain words.
pub(crate) fn times(built: &Built, words: &str) -> usize {
    String::from_utf8_lossy(&built.draft.body).matches(words).count()
}

/// Returns whether a request only adds to the one before.
pub(crate) fn goes_on(before: &Built, after: &Built) -> bool {
    wunderblock_wire::continues(&before.draft.body, before.draft.stem.0 as usize, &after.draft.body)
}

/// Returns the recorded preambles and their positions.
pub(crate) fn preambles(session: &Session) -> Vec<(Seq, PreambleChanged)> {
    let all = events(session).into_iter();
    let changed = all.filter_map(|event| match event.fact {
        Some(Fact::PreambleChanged(changed)) => Some((event.seq, *changed)),
        _ => None,
    });
    changed.collect()
}

pub(crate) fn kinds(session: &Session, kind: &str) -> usize {
    let of = |fact: &Fact| fact.kind() == kind;
    events(session).iter().filter(|event| event.fact.as_ref().is_some_and(of)).count()
}

/// Returns changes as words: `tools Read altered`.
pub(crate) fn told(changes: &[PreambleChange]) -> Vec<String> {
    let line =
        |change: &PreambleChange| format!("{} {} {}", change.section.name(), change.name, change.how.label());
    changes.iter().map(line).collect()
}
