//! The rungs of a policy's ladder.

use super::Permille;
use crate::units::{Bytes, Tokens};
use serde::{Deserialize, Serialize};

/// One step. It is taken only if it saves its `min_gain` part of the request and its `min_tokens`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Act {
    /// Leaves out of what is shown, never of the ledger: thinking of turns that are over, replies of the model with nothing
    /// in them, what the user said twice in a row.
    Curate {
        /// Thinking before the newest so many turns goes; none leaves it.
        #[serde(default)]
        thinking_after: Option<u64>,
        /// A run of replies goes as a whole if one of them is empty or was broken off.
        #[serde(default)]
        invalid_runs: bool,
        /// A reply that has nothing left is shown as a placeholder instead of not at all.
        #[serde(default)]
        placeholder: bool,
        /// The same words of the user again, directly after one another, are shown once.
        #[serde(default)]
        repeated: bool,
        /// See [`Act::gain`].
        #[serde(default)]
        min_gain: Permille,
        /// See [`Act::gain`].
        #[serde(default)]
        min_tokens: Tokens,
    },
    /// A text that stands a second time becomes a reference to where it stands verbatim in the same request.
    Dedupe {
        /// Shorter texts stay.
        #[serde(default = "dedupe_min")]
        min_bytes: Bytes,
        /// See [`Act::gain`].
        #[serde(default)]
        min_gain: Permille,
        /// See [`Act::gain`].
        #[serde(default)]
        min_tokens: Tokens,
    },
    /// Old output of tools becomes a line with a handle.
    Stub {
        /// The newest so many results stay.
        #[serde(default)]
        keep: u64,
        /// The newest results stay up to so many tokens.
        #[serde(default)]
        keep_tokens: Tokens,
        /// Only results larger than this.
        #[serde(default)]
        over: Tokens,
        /// The arguments of calls, too.
        #[serde(default)]
        arguments: bool,
        /// See [`Act::gain`].
        #[serde(default)]
        min_gain: Permille,
        /// See [`Act::gain`].
        #[serde(default)]
        min_tokens: Tokens,
    },
    /// Long texts keep head and tail.
    Shrink {
        /// Texts larger than this.
        over: Tokens,
        /// To about so many tokens.
        to: Tokens,
        /// The part of it that is head.
        #[serde(default = "half")]
        head: Permille,
        /// The newest so many results stay.
        #[serde(default)]
        keep: u64,
        /// See [`Act::gain`].
        #[serde(default)]
        min_gain: Permille,
        /// See [`Act::gain`].
        #[serde(default)]
        min_tokens: Tokens,
    },
    /// Ranges become summaries.
    Summarise {
        /// By what the range is divided.
        #[serde(default)]
        by: Measure,
        /// A summary covers at most so many tokens; 0 for the whole range at once.
        #[serde(default)]
        chunk: Tokens,
        /// Only the oldest part of what is not protected; 1 for all of it.
        #[serde(default = "one")]
        oldest: Permille,
        /// The summaries before it go into it, so that there is ever only one.
        #[serde(default)]
        anchored: bool,
        /// See [`Act::gain`].
        #[serde(default)]
        min_gain: Permille,
        /// See [`Act::gain`].
        #[serde(default)]
        min_tokens: Tokens,
    },
    /// Summaries of one level become one of the next.
    Condense {
        /// So many leaves.
        leaves: u64,
        /// So many condensed ones.
        nodes: u64,
        /// The highest level; 0 for no limit.
        #[serde(default)]
        most: u32,
        /// Nothing is condensed while the summaries take less than this part of the whole.
        #[serde(default)]
        above: Permille,
        /// See [`Act::gain`].
        #[serde(default)]
        min_gain: Permille,
        /// See [`Act::gain`].
        #[serde(default)]
        min_tokens: Tokens,
    },
    /// What is left over goes out of the request, with a handle in its place.
    Drop {
        /// Which goes first.
        #[serde(default)]
        by: Order,
        /// The best so many messages stay, wherever they stand; 0 to go on only until the target is reached.
        #[serde(default)]
        keep: u64,
        /// See [`Act::gain`].
        #[serde(default)]
        min_gain: Permille,
        /// See [`Act::gain`].
        #[serde(default)]
        min_tokens: Tokens,
    },
}

const fn dedupe_min() -> Bytes {
    Bytes(512)
}

const fn half() -> Permille {
    Permille(500)
}

const fn one() -> Permille {
    Permille::ONE
}

impl Act {
    /// What the step must save at least: a part of the request, and tokens.
    #[must_use]
    pub const fn gain(&self) -> (Permille, Tokens) {
        match self {
            Self::Curate { min_gain, min_tokens, .. }
            | Self::Dedupe { min_gain, min_tokens, .. }
            | Self::Stub { min_gain, min_tokens, .. }
            | Self::Shrink { min_gain, min_tokens, .. }
            | Self::Summarise { min_gain, min_tokens, .. }
            | Self::Condense { min_gain, min_tokens, .. }
            | Self::Drop { min_gain, min_tokens, .. } => (*min_gain, *min_tokens),
        }
    }

    /// Its name, as in a policy file.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Curate { .. } => "curate",
            Self::Dedupe { .. } => "dedupe",
            Self::Stub { .. } => "stub",
            Self::Shrink { .. } => "shrink",
            Self::Summarise { .. } => "summarise",
            Self::Condense { .. } => "condense",
            Self::Drop { .. } => "drop",
        }
    }
}

/// By what a range is divided into summaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// By its length.
    #[default]
    Length,
    /// By task: an active one in full, a finished one as its key points, older ones as numbers.
    Task,
}

/// What goes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The oldest.
    #[default]
    Age,
    /// The least important, by [`crate::compact::importance`].
    Importance,
}
