//! What is asked of a reduction.

use crate::duplicates::EarlierText;
use crate::kind::Kind;

/// How far a reduction may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Level {
    /// Only what can be undone exactly from the short text alone.
    Lossless,
    /// Repetition is folded into marks; every different thing stays visible.
    #[default]
    Fold,
    /// What is worth most, up to so many tokens.
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

/// What is known about a text, and what is wanted of it.
#[derive(Clone, Copy)]
pub struct Options<'o> {
    /// How far to go.
    pub level: Level,
    /// What the text is, if the caller knows; else it is detected.
    pub kind: Option<Kind>,
    /// The command whose output the text is, if known. The output of a selection (`sed -n`, `head`, `jq`) was chosen by
    /// someone already: it is reduced losslessly only.
    pub command: Option<&'o str>,
    /// Whether the command failed. What a failure says in few words is read whole.
    pub failed: bool,
    /// What the reader looks for: what is relevant to it stays.
    pub query: Option<&'o str>,
    /// Texts the reader has seen, the newest first. Blocks of lines they have are named by where they stand there.
    pub earlier: &'o [EarlierText<'o>],
    /// By what the source can be read again. It stands in every mark, so it must be stored before the text is shown.
    pub handle: Option<&'o str>,
    /// How many tokens a text has. The default takes four bytes for one.
    pub count: &'o (dyn Fn(&str) -> u64 + Sync),
    /// Whether a handle found in the text is one of the caller's. A text with such marks is reduced already, and left
    /// alone; marks with other handles are text like any other. The default takes all for its own.
    pub ours: &'o (dyn Fn(&str) -> bool + Sync),
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
            count: &|text| text.len().div_ceil(4) as u64,
            ours: &|_| true,
        }
    }
}
