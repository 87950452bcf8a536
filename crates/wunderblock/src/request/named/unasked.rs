//! What is recalled without being asked for: the search, its result, and the account of it.

use crate::recall::prompted::{PromptPassage, PromptPassages};
use serde::Serialize;
use wunderblock_core::id::StreamId;
use wunderblock_core::units::Seq;

/// A search for what bears on a turn.
pub(crate) struct RecallWanted {
    /// What a person typed in the turn.
    pub(crate) typed: String,
    /// Position from which on the session's own events are not searched: its requests show them.
    pub(crate) before: Seq,
}

/// Result of the search. What the session itself said has its name.
#[derive(Default)]
pub(crate) struct RecallFound {
    pub(crate) passages: Vec<PromptPassage>,
    /// Whether passages may be missing, because the index is behind or cannot be read.
    pub(crate) is_partly: bool,
}

impl From<PromptPassages> for RecallFound {
    fn from(found: PromptPassages) -> Self {
        Self { passages: found.passages, is_partly: found.cut.is_some() }
    }
}

/// What was recalled without being asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UnaskedRecall {
    /// Why no more entered.
    pub outcome: UnaskedOutcome,
    /// Passages that entered the request.
    pub entered: Vec<RecalledPassage>,
}

/// Why no more was recalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UnaskedOutcome {
    /// Nothing else was close enough to the turn.
    Floor,
    /// The rest is shown already, or entered within the latest five turns.
    Lately,
    /// There was no room for the rest, or it exceeds the share of recalled passages.
    NoRoom,
    /// The index is behind, or cannot be read.
    NotIndexed,
}

impl UnaskedOutcome {
    /// Returns the outcome in words.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Floor => "no other message is close enough to the newest turn",
            Self::Lately => "the other messages are shown, or were recalled within five turns",
            Self::NoRoom => "there is no room for more",
            Self::NotIndexed => "some messages are not indexed yet",
        }
    }
}

/// A passage that was recalled without being asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RecalledPassage {
    /// Session of the passage; `None` for the session of the request.
    pub session: Option<StreamId>,
    /// Position of the message in its session.
    pub at: Seq,
    /// Who said it, and when.
    pub what: Box<str>,
    /// What it has in common with the turn.
    pub why: Box<str>,
}
