//! The rungs of a policy's ladder.

use super::permille::Permille;
use crate::units::{Bytes, Tokens};
use serde::{Deserialize, Serialize};

/// One step. It is taken only if it saves its `min_gain` part of the request and its `min_tokens`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Action {
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
        /// See [`Action::gain`].
        #[serde(default)]
        min_gain: Permille,
        /// See [`Action::gain`].
        #[serde(default)]
        min_tokens: Tokens,
    },
    /// A text that stands a second time becomes a reference to where it stands verbatim in the same request.
    Dedupe {
        /// Shorter texts stay.
        #[serde(default = "dedupe_min")]
        min_bytes: Bytes,
        /// See [`Action::gain`].
        #[serde(default)]
        min_gain: Permille,
        /// See [`Action::gain`].
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
        /// See [`Action::gain`].
        #[serde(default)]
        min_gain: Permille,
        /// See [`Action::gain`].
        #[serde(default)]
        min_tokens: Tokens,
    },
    /// Long output of tools keeps head and tail.
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
        /// See [`Action::gain`].
        #[serde(default)]
        min_gain: Permille,
        /// See [`Action::gain`].
        #[serde(default)]
        min_tokens: Tokens,
    },
    /// Ranges become summaries.
    Summarise {
        /// By what the range is divided.
        #[serde(default)]
        by: Division,
        /// A summary covers at most so many tokens; 0 for the whole range at once.
        #[serde(default)]
        chunk: Tokens,
        /// The summaries before it go into it, so that there is ever only one.
        #[serde(default)]
        anchored: bool,
        /// … and at most this part of the summariser's window; 0 for no such limit. See [`chunk_tokens`].
        #[serde(default)]
        chunk_share: Permille,
        /// Where messages are large, `chunk_share` shrinks down to this; 0 for not at all.
        #[serde(default)]
        chunk_least: Permille,
        /// Only this part of the messages that are not protected, the oldest; 1 for all of them.
        #[serde(default = "one")]
        oldest: Permille,
        /// Only the oldest stretch without which the goal is reached; what is newer stays word for word, as much as has room.
        #[serde(default)]
        as_needed: bool,
        /// It is taken, and goes on to the end of the range, even where the target has been reached before.
        #[serde(default)]
        all: bool,
        /// Each chunk is summarised as soon as it is full, before any level; all take effect together at the level.
        #[serde(default)]
        ahead: bool,
        /// One line per turn with its positions, instead of a summary.
        #[serde(default)]
        catalogue: bool,
        /// See [`Action::gain`].
        #[serde(default)]
        min_gain: Permille,
        /// See [`Action::gain`].
        #[serde(default)]
        min_tokens: Tokens,
    },
    /// Summaries of one level, side by side, become one of the next.
    Condense {
        /// At least so many summaries of events.
        leaves: u64,
        /// At least so many summaries of summaries.
        nodes: u64,
        /// Summaries of at most so many tokens together go into one, unless fewer would not be enough of them; 0 for no
        /// limit.
        #[serde(default)]
        chunk: Tokens,
        /// The highest level; 0 for no limit.
        #[serde(default)]
        most: u32,
        /// Nothing is condensed while the summaries take less than this part of the whole; 0 for no such limit.
        #[serde(default)]
        above: Permille,
        /// The same in tokens, where that is less; 0 for no such limit.
        #[serde(default)]
        above_tokens: Tokens,
        /// See [`Action::gain`].
        #[serde(default)]
        min_gain: Permille,
        /// See [`Action::gain`].
        #[serde(default)]
        min_tokens: Tokens,
    },
    /// The oldest summaries become a catalogue: one line each, with its positions. Nothing is summarised again.
    Archive {
        /// Nothing is archived while the summaries take less than this part of the whole.
        above: Permille,
        /// The same in tokens, where that is less; 0 for no such limit.
        #[serde(default)]
        above_tokens: Tokens,
        /// The newest summaries stay, up to this part of the whole.
        keep: Permille,
        /// The same in tokens, where that is less; 0 for no such limit.
        #[serde(default)]
        keep_tokens: Tokens,
        /// Maximum tokens of the catalogue.
        catalogue_tokens: Tokens,
        /// See [`Action::gain`].
        #[serde(default)]
        min_gain: Permille,
        /// See [`Action::gain`].
        #[serde(default)]
        min_tokens: Tokens,
    },
    /// What is left over goes out of the request, with a handle in its place.
    Drop {
        /// Which goes first.
        #[serde(default)]
        by: DropOrder,
        /// The best so many messages stay, wherever they stand; 0 to go on only until the target is reached. By age they
        /// are the newest, from where the policy's [`Split`](crate::policy::Split) may cut.
        #[serde(default)]
        keep: u64,
        /// See [`Action::gain`].
        #[serde(default)]
        min_gain: Permille,
        /// See [`Action::gain`].
        #[serde(default)]
        min_tokens: Tokens,
    },
}

/// How many tokens a chunk has that may take `share` of a window.
///
/// Messages whose mean, times the margin of the counts, takes more than a tenth of the window would overshoot it: the
/// share is lessened by twice that part, down to `least`. The rule is OpenClaw's (`computeAdaptiveChunkRatio` in its
/// `src/agents/compaction-planning.ts`), with 0.4, 0.15 and a margin of 1.2.
#[must_use]
pub fn chunk_tokens(
    share: Permille,
    least: Permille,
    window: Tokens,
    mean: Tokens,
    margin: Permille,
) -> Tokens {
    let part = Permille::ratio(margin.of(mean).0, window.0).0;
    let may_shrink = least > Permille::ZERO && part > 100;
    let less = if may_shrink { part.saturating_mul(2).min(share.0.saturating_sub(least.0)) } else { 0 };
    Permille(share.0 - less.min(share.0)).of(window)
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

impl Action {
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
            | Self::Archive { min_gain, min_tokens, .. }
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
            Self::Archive { .. } => "archive",
            Self::Drop { .. } => "drop",
        }
    }
}

/// By what a range is divided into summaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Division {
    /// By its length.
    #[default]
    Length,
    /// By task: an active one in full, a finished one as its key points, older ones as numbers.
    Task,
}

/// What goes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropOrder {
    /// The oldest.
    #[default]
    Age,
    /// The least important, by [`crate::compact::importance`].
    Importance,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_shrinks_where_messages_are_large() {
        let table = [
            // Mean 10,000 · 1.2 = 12,000: 6 % of the window.
            (200_000, 10_000, 150, 80_000),
            // 20,000 · 1.2: 12 %, so 0.40 − 0.24.
            (200_000, 20_000, 150, 32_000),
            // 50,000 · 1.2: 30 %, and the least is 0.15.
            (200_000, 50_000, 150, 30_000),
            (200_000, 50_000, 0, 80_000),
            (0, 50_000, 150, 0),
        ];
        for (window, mean, least, chunk) in table {
            let found =
                chunk_tokens(Permille(400), Permille(least), Tokens(window), Tokens(mean), Permille(1_200));
            assert_eq!(found, Tokens(chunk), "{window} {mean} {least}");
        }
        let share = chunk_tokens(Permille(100), Permille(400), Tokens(1_000), Tokens(900), Permille(1_200));
        assert_eq!(share, Tokens(100), "a least above the share lessens nothing");
    }
}
