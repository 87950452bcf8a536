//! Helpers of these tests.

use futures_executor::block_on;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use wunderblock::store::sqlite::Access;
use wunderblock::{Config, Engine, Error};
use wunderblock_core::event::{EventSource, Fact, MessageAppended, NewEvent};
use wunderblock_core::id::{EventId, StreamId, TenantId};
use wunderblock_core::message::{Message, Role};
use wunderblock_core::units::{Millis, Seq};

/// A temporary folder.
pub(crate) struct Home(pub(crate) TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn db(&self) -> PathBuf {
        self.path("ledger.db")
    }

    /// Returns the names of all files in the folder.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub(crate) fn tenant(name: &str) -> Config {
    Config { tenant: TenantId::new(name).unwrap(), ..Config::default() }
}

pub(crate) fn open(path: &Path, name: &str) -> Engine {
    block_on(Engine::open_with(path, Access::Create, tenant(name))).unwrap()
}

pub(crate) fn stream(id: &str) -> StreamId {
    StreamId::new(id).unwrap()
}

pub(crate) fn said(id: &str, text: &str) -> NewEvent {
    let fact = Fact::MessageAppended(MessageAppended { message: Message::text(Role::User, text) });
    NewEvent { id: EventId::new(id).unwrap(), at: Millis(1_700_000_000_000), source: EventSource::Live, fact }
}

pub(crate) fn append(engine: &Engine, id: &str, events: Vec<NewEvent>) -> Result<Vec<u64>, Error> {
    let done = block_on(engine.session_by_id(stream(id)).append(events))?;
    Ok(done.into_iter().map(|one| one.seq.0).collect())
}

/// Returns a session as JSON lines, or an empty text if there is no such session.
pub(crate) fn exported(engine: &Engine, id: &str) -> String {
    let mut out = Vec::new();
    let done = block_on(engine.session_by_id(stream(id)).export(Seq(1), Seq(i64::MAX as u64), &mut out));
    match done {
        Ok(_) | Err(Error::NoSession(_) | Error::Store(wunderblock::store::StoreError::NoStream(_))) => {}
        Err(error) => panic!("{error}"),
    }
    String::from_utf8(out).unwrap()
}

/// Returns the problems that `doctor` finds, as `rule: detail`.
pub(crate) fn problems(engine: &Engine) -> Vec<String> {
    let found = block_on(engine.ledger().doctor(&mut |_| {})).unwrap();
    found.problems.into_iter().map(|problem| format!("{}: {}", problem.rule, problem.detail)).collect()
}
