//! Which output of tools enters a request shorter, and how much.

use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// What becomes of large output of tools the first time a request could show it. What has been shown once stays as it was
/// shown; what has become shorter stays so, and leads back to the whole by a handle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reduce {
    /// How far it goes.
    pub level: ReductionLevel,
    /// Shorter texts stay as they are.
    pub least: Bytes,
    /// Kinds of text that stay as they are.
    pub except: Vec<TextKind>,
}

/// The least text that is reduced where a policy does not say: below it a mark costs a good part of what it saves.
pub const LEAST: Bytes = Bytes(2_000);
/// No reducer looks at a shorter text.
pub const FLOOR: Bytes = Bytes(512);

impl Default for Reduce {
    fn default() -> Self {
        Self { level: ReductionLevel::Off, least: LEAST, except: Vec::new() }
    }
}

/// How far a reduction goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReductionLevel {
    /// Nothing is reduced.
    #[default]
    Off,
    /// Only what can be undone exactly from the shorter text.
    Lossless,
    /// Repetition becomes a mark; every different thing stays visible.
    Fold,
}

impl ReductionLevel {
    /// Its word in a policy.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Lossless => "lossless",
            Self::Fold => "fold",
        }
    }
}

/// What a text can be taken for. The words are those of the reducers; whether a text is of a kind, only they can say.
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
    /// Every kind.
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

    /// Its word in a policy.
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
    /// Whether nothing is reduced.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.level == ReductionLevel::Off
    }
}
