//! What the caller asks for.

use crate::duplicates::EarlierText;
use crate::kind::Kind;

/// How far a reduction may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Level {
    /// Only what the short text alone can undo exactly.
    Lossless,
    /// Repetition is folded into marks: what is alike stands once, and a mark or a note says what differs.
    #[default]
    Fold,
    /// What is worth most, within a maximum number of tokens.
    Budget(u64),
}

impl Level {
    /// The name used on the command line and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lossless => "lossless",
            Self::Fold => "fold",
            Self::Budget(_) => "budget",
        }
    }
}

/// What is known about a text, and how it is to be reduced.
#[derive(Clone, Copy)]
pub struct Options<'o> {
    /// How far to go.
    pub level: Level,
    /// The kind of the text, if the caller knows it; else it is detected.
    pub kind: Option<Kind>,
    /// The command whose output the text is, if known: what it claims ([`crate::Claim`]) decides how far a reduction may
    /// go.
    pub command: Option<&'o str>,
    /// Whether the command failed. The short output of a failure stays whole.
    pub failed: bool,
    /// What the reader looks for: text that is relevant to it stays.
    pub query: Option<&'o str>,
    /// Texts that the reader has seen, the latest first. Blocks of lines that they have are replaced by their place
    /// there.
    pub earlier: &'o [EarlierText<'o>],
    /// The handle by which the source can be read again. Every mark has it, so store the source before the text is
    /// shown.
    pub handle: Option<&'o str>,
    /// Bytes at the beginning, whole lines, that the reader has seen as they are: the text continues after them, and
    /// its marks name places of the whole.
    pub shown: usize,
    /// Counts the tokens of a text. The default takes four bytes for one token.
    pub count: &'o (dyn Fn(&str) -> u64 + Sync),
    /// Whether a text is a reduction that was made and shown before: it stays as it is where it fits. Its bytes decide;
    /// what looks like a mark in any other text is text, and is escaped. The default knows none.
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
