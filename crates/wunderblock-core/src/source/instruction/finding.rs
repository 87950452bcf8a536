//! Findings about sources.

use serde::{Deserialize, Serialize};

/// A notable fact about a source: for example, the source was rejected, conflicts with another, or could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Name of the source.
    pub source: Box<str>,
    /// Line in the source, counted from 1, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Kind of the finding.
    pub what: FindingKind,
    /// Explanation of what happened, and of what to do about it.
    pub detail: Box<str>,
}

/// Kind of a [`Finding`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The block may not be replaced or added to, so an attempt to do so has no effect.
    Refused,
    /// Two files in one directory define the same block. The later one applies.
    Conflict,
    /// A closer definition replaced the block.
    Replaced,
    /// The source exists but cannot be used.
    Unusable,
    /// An ignore rule excludes the source.
    Ignored,
    /// The same text is already present.
    Repeated,
    /// The source has changed. The change takes effect later.
    Deferred,
    /// There is no room for the source.
    NoRoom,
}
