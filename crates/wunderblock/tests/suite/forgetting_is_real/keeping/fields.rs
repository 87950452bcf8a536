//! Every text of a caller is erasable, in whichever field of whichever kind it is.

use super::scene::{Home, open, problems, stream};
use futures_executor::block_on;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use wunderblock::store::codec::pack_event;
use wunderblock::store::sqlite::{Access, Sqlite};
use wunderblock::store::{Answer, Commit, Opening, Query, Storage as _, StreamKind, Write};
use wunderblock::{Along, Engine, TextFound};
use wunderblock_core::event::{EventSource, Fact, NewEvent};
use wunderblock_core::id::{EventId, Handle, Scope};
use wunderblock_core::units::{Millis, Seq};

const SESSION: &str = "talk";

/// Returns each kind with a mark in each text, except for the names of sessions.
fn samples() -> Vec<Fact> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/forgetting_is_real/keeping/fields.jsonl");
    let lines = std::fs::read_to_string(path).unwrap();
    let read = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    lines.lines().map(read).collect()
}

/// Returns the marks in the texts of a value.
fn marks(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            found.extend(text.split('"').filter(|part| part.starts_with("qx-")).map(str::to_owned))
        }
        Value::Array(values) => values.iter().for_each(|value| marks(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| marks(value, found)),
        _ => {}
    }
}

/// Stores the samples as a session, and returns their marks.
fn record(db: &Path) -> Vec<String> {
    let store = Sqlite::open(db, Access::Write).unwrap();
    let asked = block_on(store.query(vec![Query::Tenant { name: "a".to_owned() }])).unwrap();
    let Some(Answer::Tenant(Some(tenant))) = asked.into_iter().next() else { panic!("no tenant") };
    let events: Vec<NewEvent> = samples()
        .into_iter()
        .enumerate()
        .map(|(at, fact)| NewEvent {
            id: EventId::new(format!("qx-id-{at}")).unwrap(),
            at: Millis(1_700_000_000_000),
            source: EventSource::Live,
            fact,
        })
        .collect();
    let mut found = BTreeSet::new();
    events.iter().for_each(|event| marks(&serde_json::to_value(event).unwrap(), &mut found));
    let opening = Opening::New { parent: None };
    let scope = Scope {
        user: Some("qx-user".into()),
        project: Some("qx-project".into()),
        folder: Some("qx-scope-folder".into()),
        agent: Some("qx-agent".into()),
        session: Some("qx-scope-session".into()),
        run: Some("qx-run".into()),
    };
    let open = Write::Open {
        tenant: tenant.no,
        kind: StreamKind::Session,
        stream: stream(SESSION),
        handle: Handle(7),
        opening,
        scope,
        at: Millis(1),
    };
    let events = events.into_iter().map(|event| pack_event(&tenant.key, [3; 16], event).unwrap()).collect();
    let append = Write::Append { tenant: tenant.no, stream: stream(SESSION), expect_head: None, events };
    block_on(store.commit(Commit::raw(vec![open, append]))).unwrap();
    found.into_iter().collect()
}

/// Returns the texts that occur in the files of a folder.
fn left<'m>(folder: &Path, marks: &'m [String]) -> Vec<&'m str> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    let files: Vec<Vec<u8>> = files.collect();
    let is_there =
        |mark: &&String| files.iter().any(|file| memchr::memmem::find(file, mark.as_bytes()).is_some());
    marks.iter().filter(is_there).map(String::as_str).collect()
}

/// A ledger with the samples, and their marks.
struct Marked {
    home: Home,
    engine: Engine,
    marks: Vec<String>,
}

impl Marked {
    fn new() -> Self {
        let home = Home::new();
        let engine = open(&home.db(), "a");
        let marks = record(&home.db());
        assert_eq!(
            left(home.0.path(), &marks).len(),
            marks.len(),
            "each mark is stored, and the scan sees it"
        );
        Self { home, engine, marks }
    }

    fn assert_gone(self) {
        assert_eq!(problems(&self.engine), [""; 0]);
        drop(self.engine);
        assert_eq!(left(self.home.0.path(), &self.marks), [""; 0]);
    }
}

#[test]
fn every_kind_has_a_sample() {
    let kinds: BTreeSet<&str> = samples().iter().map(Fact::kind).collect();
    let known: BTreeSet<&str> = Fact::OPEN_KINDS.iter().chain(Fact::ENGINE_KINDS).copied().collect();
    assert_eq!(kinds, known);
}

#[test]
fn an_erased_session_leaves_no_text_of_any_field() {
    let marked = Marked::new();
    let session = marked.engine.session_by_id(stream(SESSION));
    block_on(session.erase_all(None, Along::default())).unwrap();
    marked.assert_gone();
}

#[test]
fn erased_positions_leave_the_names_of_lanes_alone() {
    let Marked { home, engine, marks } = Marked::new();
    let session = engine.session_by_id(stream(SESSION));
    let head = block_on(session.info()).unwrap().head;
    // One position is left, so the session is not erased as a whole.
    block_on(session.erase(Seq(1), head.prev(), None)).unwrap();
    assert_eq!(problems(&engine), [""; 0]);
    drop(engine);
    let last = format!("qx-id-{}", head.0 - 1);
    let left = left(home.0.path(), &marks);
    // The id of the position that is left may begin with that of an earlier one.
    let stays = |mark: &&str| mark.starts_with("qx-lane") || last.starts_with(*mark);
    assert!(left.iter().all(stays), "{left:?}");
}

#[test]
fn every_text_is_found_and_erased_by_itself() {
    let marked = Marked::new();
    for mark in &marked.marks {
        let find = || block_on(TextFound::of(&marked.engine, mark, &mut |_| {})).unwrap();
        let found = find();
        // An earlier text may have been in the same event.
        if !found.is_empty() {
            block_on(found.erase(&marked.engine, None)).unwrap();
        }
        assert!(find().is_empty() && find().names.is_empty(), "{mark}");
        assert_eq!(left(marked.home.0.path(), std::slice::from_ref(mark)), [""; 0]);
    }
    marked.assert_gone();
}

#[test]
fn an_erased_id_is_recognised_but_not_kept() {
    let marked = Marked::new();
    let session = marked.engine.session_by_id(stream(SESSION));
    block_on(session.erase_all(None, Along::default())).unwrap();
    let again =
        super::scene::append(&marked.engine, SESSION, vec![super::scene::said("qx-id-5", "another text")]);
    assert_eq!(again.unwrap(), [6], "the id is that of the erased position");
    marked.assert_gone();
}
