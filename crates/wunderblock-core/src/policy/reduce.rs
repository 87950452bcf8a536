//! Reduction of tool output in requests: which output becomes shorter, and by how much.

use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// Reduction of large tool output the first time a request could show it. Output that has already been shown stays
/// unchanged. Shortened output stays short, and has a handle by which the whole output can be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reduce {
    /// Extent of the reduction.
    pub level: ReductionLevel,
    /// Minimum size of a text that is reduced.
    pub least: Bytes,
    /// Kinds of text that are not reduced.
    pub except: Vec<TextKind>,
}

/// Default minimum size of a text that is reduced: below this size, a mark costs a large part of what it saves.
pub const LEAST: Bytes = Bytes(2_000);
/// Minimum size of a text that any reducer processes.
pub const FLOOR: Bytes = Bytes(512);

impl Default for Reduce {
    fn default() -> Self {
        Self { level: ReductionLevel::Off, least: LEAST, except: Vec::new() }
    }
}

/// Extent of a reduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReductionLevel {
    /// Nothing is reduced.
    #[default]
    Off,
    /// Only reductions that can be undone exactly from the shorter text.
    Lossless,
    /// Repetition is replaced by marks; every distinct item stays visible.
    Fold,
}

impl ReductionLevel {
    /// Returns the word used in policies.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Lossless => "lossless",
            Self::Fold => "fold",
        }
    }
}

/// Kinds that reducers assign to texts, in the reducers' own words. Only a reducer can decide the kind of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the reducers' own words, and described there")]
pub enum TextKind {
    Json,
    Diff,
    Html,
    Tests,
    Build,
    Infra,
    Trace,
    Search,
    Log,
    Table,
    Listing,
    Blob,
    Code,
    Markdown,
    Prose,
}

impl TextKind {
    /// All kinds.
    pub const ALL: [Self; 15] = [
        Self::Json,
        Self::Diff,
        Self::Html,
        Self::Tests,
        Self::Build,
        Self::Infra,
        Self::Trace,
        Self::Search,
        Self::Log,
        Self::Table,
        Self::Listing,
        Self::Blob,
        Self::Code,
        Self::Markdown,
        Self::Prose,
    ];

    /// Returns the word used in policies.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Diff => "diff",
            Self::Html => "html",
            Self::Tests => "tests",
            Self::Build => "build",
            Self::Infra => "infra",
            Self::Trace => "trace",
            Self::Search => "search",
            Self::Log => "log",
            Self::Table => "table",
            Self::Listing => "listing",
            Self::Blob => "blob",
            Self::Code => "code",
            Self::Markdown => "markdown",
            Self::Prose => "prose",
        }
    }
}

impl Reduce {
    /// Returns whether nothing is reduced.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.level == ReductionLevel::Off
    }
}
