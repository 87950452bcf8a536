//! Findings about sources.

use serde::{Deserialize, Serialize};

/// Something to know about a source: what was refused, is in conflict, or could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Which source.
    pub source: Box<str>,
    /// The line of it, counted from 1, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What kind of thing.
    pub what: FindingKind,
    /// What happened, and what to do.
    pub detail: Box<str>,
}

/// What kind of thing a [`Finding`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// A block that may not be replaced or added to; the attempt has no effect.
    Refused,
    /// Two files of one directory define the same block; the later one holds.
    Conflict,
    /// A block was replaced by one that is closer.
    Replaced,
    /// It is there, and cannot be used.
    Unusable,
    /// An ignore rule keeps it out.
    Ignored,
    /// The same text is there already.
    Repeated,
    /// It has changed; that takes effect later.
    Deferred,
    /// There is no room for it.
    NoRoom,
}
