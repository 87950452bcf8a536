//! Stand-in for [`Sqlite`] in builds without SQLite, where no value of this type can exist.

use std::path::Path;
use std::sync::Arc;
use wunderblock_store::{FileProblem, Storage, StoreError};

/// A ledger in a file. The type has no values.
pub(crate) enum Sqlite {}

/// Result of a check of the file. It is never constructed.
pub(crate) struct Checked {
    pub(crate) found: Vec<FileProblem>,
}

impl Checked {
    pub(crate) fn is_foreign(&self) -> bool {
        false
    }
}

/// Rule of a problem that no value of [`Sqlite`] can have.
pub(crate) const UNSCRUBBED: &str = "";

impl Sqlite {
    pub(crate) fn path(&self) -> &Path {
        match *self {}
    }

    pub(crate) fn is_writable(&self) -> bool {
        match *self {}
    }

    pub(crate) fn is_waiting(&self) -> bool {
        match *self {}
    }

    pub(crate) async fn check(&self) -> Result<Checked, StoreError> {
        match *self {}
    }

    pub(crate) fn snapshot(&self) -> Result<Arc<dyn Storage>, StoreError> {
        match *self {}
    }

    pub(crate) async fn unscrubbed(&self) -> Result<u64, StoreError> {
        match *self {}
    }

    pub(crate) fn excludes_others(&self) -> bool {
        match *self {}
    }

    pub(crate) async fn scrub(&self) -> Result<(), StoreError> {
        match *self {}
    }

    pub(crate) async fn repair(&self, _rule: &str) -> Result<bool, StoreError> {
        match *self {}
    }
}
