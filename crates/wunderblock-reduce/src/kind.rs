//! The kinds of text that this crate can shorten.

use std::fmt;

/// The kind of a text, by its structure. A wrong kind costs savings, never content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// JSON: a single document, one document per line, or documents inside other text.
    Json,
    /// Lines with times or levels, of any format.
    Log,
    /// The output of compilers and build tools: diagnostics with a place, and progress.
    Build,
    /// The output of test runners: cases with a status, failures, and totals.
    Tests,
    /// Search results: paths, line numbers, and matching lines.
    Search,
    /// A unified diff, alone or in a log of commits.
    Diff,
    /// A listing of files or processes, with one item per line, in columns.
    Listing,
    /// CSV, TSV, or a table drawn with characters.
    Table,
    /// A page of markup.
    Html,
    /// Markdown.
    Markdown,
    /// Source code.
    Code,
    /// A stack trace, with little else.
    Trace,
    /// The output of infrastructure tools: plans, plays, resources and their changes.
    Infra,
    /// Text without words: base64, hexadecimal, or minified code.
    Blob,
    /// Sentences, and any text of no other kind.
    Prose,
}

impl Kind {
    /// All kinds, in the order that decides between equal votes.
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

    /// Returns the name used on the command line and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Log => "log",
            Self::Build => "build",
            Self::Tests => "tests",
            Self::Search => "search",
            Self::Diff => "diff",
            Self::Listing => "listing",
            Self::Table => "table",
            Self::Html => "html",
            Self::Markdown => "markdown",
            Self::Code => "code",
            Self::Trace => "trace",
            Self::Infra => "infra",
            Self::Blob => "blob",
            Self::Prose => "prose",
        }
    }

    /// Returns the kind with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
