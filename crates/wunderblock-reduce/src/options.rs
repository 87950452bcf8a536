//! Options for a reduction.

use crate::kind::Kind;
use crate::spans::duplicates::EarlierText;

/// Level of a reduction: the limit of what it may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Level {
    /// Only changes that the short text alone can undo exactly.
    Lossless,
    /// Repetition is folded into marks: one of several similar lines is shown, and a mark or a note states what
    /// differs.
    #[default]
    Fold,
    /// The most valuable text that fits a maximum number of tokens.
    Budget(u64),
}

impl Level {
    /// Returns the name used on the command line and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lossless => "lossless",
            Self::Fold => "fold",
            Self::Budget(_) => "budget",
        }
    }
}

/// Facts about a text, and the way to reduce it.
#[derive(Clone, Copy)]
pub struct Options<'o> {
    /// Level of the reduction.
    pub level: Level,
    /// Kind of the text, if the caller knows it. Otherwise it is detected.
    pub kind: Option<Kind>,
    /// Command that produced the text, if known. The claim of the command ([`crate::Claim`]) limits how far the
    /// reduction may go.
    pub command: Option<&'o str>,
    /// Whether the command failed. The short output of a failed command stays whole.
    pub failed: bool,
    /// Words that the reader looks for. Text that is relevant to the query stays.
    pub query: Option<&'o str>,
    /// Texts that the reader has seen, latest first. Blocks of lines that the reader has seen in another text are
    /// replaced by a reference to that text.
    pub earlier: &'o [EarlierText<'o>],
    /// Handle by which the source can be read again. Marks name this handle, so store the source before the reduced
    /// text is shown.
    pub handle: Option<&'o str>,
    /// Number of bytes at the start of the source, in whole lines, that the reader has already seen unchanged. The
    /// reduced text continues after the bytes that were seen, and its marks name places in the whole source.
    pub shown: usize,
    /// Counts the tokens of a text. By default, one token is counted for every four bytes.
    pub count: &'o (dyn Fn(&str) -> u64 + Sync),
    /// Returns whether a text is a reduction that has already been made and shown. A text that has already been
    /// reduced and shown stays as it is if it fits. Only the bytes of the text decide: in any other text, anything
    /// that looks like a mark is plain text and is escaped. The default returns `false`.
    pub known: &'o (dyn Fn(&str) -> bool + Sync),
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            level: Level::default(),
            kind: None,
            command: None,
            failed: false,
            query: None,
            earlier: &[],
            handle: None,
            shown: 0,
            count: &|text| text.len().div_ceil(4) as u64,
            known: &|_| false,
        }
    }
}
