//! Steps that a policy takes to make requests smaller.

use super::optional::Optional;
use super::permille::Permille;
use crate::units::{Bytes, Tokens};
use serde::{Deserialize, Serialize};

/// One step of a policy. A step is taken only if it saves at least the fraction `min_gain` of the request, and at
/// least `min_tokens` tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Action {
    /// Leaves the following out of requests, but never out of the ledger: the thinking of completed turns, empty
    /// model replies, and messages that the user repeats immediately.
    Curate {
        /// Number of newest turns whose thinking stays; `None` keeps all thinking.
        #[serde(default)]
        thinking_after: Option<u64>,
        /// Whether a run of replies is left out as a whole if one of them is empty or was broken off.
        #[serde(default)]
        invalid_runs: bool,
        /// Whether a reply that has no content left is shown as a placeholder instead of being left out.
        #[serde(default)]
        placeholder: bool,
        /// Whether a message that the user repeats immediately is shown only once.
        #[serde(default)]
        repeated: bool,
        /// Minimum fraction of the request to save; see [`Action::gain`].
        #[serde(default)]
        min_gain: Permille,
        /// Minimum number of tokens to save; see [`Action::gain`].
        #[serde(default)]
        min_tokens: Tokens,
    },
    /// Replaces a text that occurs again with a reference to the place where the same request shows it verbatim.
    Dedupe {
        /// Minimum size of a text that is replaced.
        #[serde(default = "dedupe_min")]
        min_bytes: Bytes,
        /// Minimum fraction of the request to save; see [`Action::gain`].
        #[serde(default)]
        min_gain: Permille,
        /// Minimum number of tokens to save; see [`Action::gain`].
        #[serde(default)]
        min_tokens: Tokens,
    },
    /// Replaces old tool output with a line and a handle.
    Stub {
        /// Number of newest results that stay.
        #[serde(default)]
        keep: u64,
        /// Maximum number of tokens in the newest results that stay.
        #[serde(default)]
        keep_tokens: Tokens,
        /// Maximum number of tokens in a result that is not replaced.
        #[serde(default)]
        over: Tokens,
        /// Whether the arguments of calls are replaced, too.
        #[serde(default)]
        arguments: bool,
        /// Whether only as many of the oldest results are replaced as the goal needs.
        #[serde(default)]
        as_needed: bool,
        /// Minimum fraction of the request to save; see [`Action::gain`].
        #[serde(default)]
        min_gain: Permille,
        /// Minimum number of tokens to save; see [`Action::gain`].
        #[serde(default)]
        min_tokens: Tokens,
    },
    /// Shortens long tool output to its head and tail.
    Shrink {
        /// Maximum number of tokens in a text that is not shortened.
        over: Tokens,
        /// Approximate number of tokens in a shortened text.
        to: Tokens,
        /// Fraction of the shortened text that is its head.
        #[serde(default = "half")]
        head: Permille,
        /// Number of newest results that stay.
        #[serde(default)]
        keep: u64,
        /// Minimum fraction of the request to save; see [`Action::gain`].
        #[serde(default)]
        min_gain: Permille,
        /// Minimum number of tokens to save; see [`Action::gain`].
        #[serde(default)]
        min_tokens: Tokens,
    },
    /// Replaces ranges with summaries.
    Summarise {
        /// Criterion that divides the range.
        #[serde(default)]
        by: Division,
        /// Maximum number of tokens that a summary covers; the whole range at once if unset.
        #[serde(default)]
        chunk: Optional<Tokens>,
        /// Whether earlier summaries are merged into the new one, so that there is only one at any time.
        #[serde(default)]
        anchored: bool,
        /// Maximum fraction of the summariser's window that a summary covers; no limit if unset. See [`chunk_tokens`].
        #[serde(default)]
        chunk_share: Optional<Permille>,
        /// Minimum to which `chunk_share` shrinks if messages are large. If unset, it does not shrink.
        #[serde(default)]
        chunk_least: Optional<Permille>,
        /// Fraction of the unprotected messages that is summarised, oldest first; 1 for all of them.
        #[serde(default = "one")]
        oldest: Permille,
        /// Whether only the oldest stretch is summarised, and only as much of it as the goal requires. Newer messages
        /// stay word for word, as far as they fit.
        #[serde(default)]
        as_needed: bool,
        /// Whether the step is taken even if the target has already been reached, and continues to the end of the
        /// range.
        #[serde(default)]
        all: bool,
        /// Whether each chunk is summarised as soon as it is full, before any level is reached. All summaries take
        /// effect together when the level is reached.
        #[serde(default)]
        ahead: bool,
        /// Whether to write one line per turn, with its positions, instead of a summary.
        #[serde(default)]
        catalogue: bool,
        /// Minimum fraction of the request to save; see [`Action::gain`].
        #[serde(default)]
        min_gain: Permille,
        /// Minimum number of tokens to save; see [`Action::gain`].
        #[serde(default)]
        min_tokens: Tokens,
    },
    /// Merges adjacent summaries of one level into a summary of the next level.
    Condense {
        /// Minimum number of summaries of events to merge.
        leaves: u64,
        /// Minimum number of summaries of summaries to merge.
        nodes: u64,
        /// Maximum number of tokens in the summaries that are merged into one, unless the minimum number of summaries
        /// takes more; no limit if unset.
        #[serde(default)]
        chunk: Optional<Tokens>,
        /// Maximum level of a summary; no limit if unset.
        #[serde(default)]
        most: Optional<u32>,
        /// Fraction of the whole up to which summaries are not condensed; 0 for no such limit.
        #[serde(default)]
        above: Permille,
        /// Number of tokens up to which summaries are not condensed. If set, the smaller of the two limits applies.
        #[serde(default)]
        above_tokens: Optional<Tokens>,
        /// Minimum fraction of the request to save; see [`Action::gain`].
        #[serde(default)]
        min_gain: Permille,
        /// Minimum number of tokens to save; see [`Action::gain`].
        #[serde(default)]
        min_tokens: Tokens,
    },
    /// Replaces the oldest summaries with a catalogue: one line for each summary, with the summary's positions.
    /// Nothing is summarised again.
    Archive {
        /// Fraction of the whole up to which summaries are not archived.
        above: Permille,
        /// Number of tokens up to which summaries are not archived. If set, the smaller of the two limits applies.
        #[serde(default)]
        above_tokens: Optional<Tokens>,
        /// Maximum size of the newest summaries, which are not archived, as a fraction of the whole.
        keep: Permille,
        /// Maximum number of tokens in the newest summaries, which are not archived. If set, the smaller of the two
        /// limits applies.
        #[serde(default)]
        keep_tokens: Optional<Tokens>,
        /// Maximum number of tokens in the catalogue.
        catalogue_tokens: Tokens,
        /// Minimum fraction of the request to save; see [`Action::gain`].
        #[serde(default)]
        min_gain: Permille,
        /// Minimum number of tokens to save; see [`Action::gain`].
        #[serde(default)]
        min_tokens: Tokens,
    },
    /// Leaves the remaining exchanges out of the request, with a handle in their place.
    Drop {
        /// Order in which exchanges are left out.
        #[serde(default)]
        by: DropOrder,
        /// Number of best messages that stay, wherever they are. If unset, the step continues only until the target
        /// is reached. If the order is by age, the best messages are the newest, starting at a place where the policy's
        /// [`Split`](crate::policy::Split) may cut.
        #[serde(default)]
        keep: Optional<u64>,
        /// Minimum fraction of the request to save; see [`Action::gain`].
        #[serde(default)]
        min_gain: Permille,
        /// Minimum number of tokens to save; see [`Action::gain`].
        #[serde(default)]
        min_tokens: Tokens,
    },
}

/// Returns the number of tokens in a chunk that may take `share` of a window.
///
/// If the mean size of a message, multiplied by the margin for inexact counts, exceeds a tenth of the window, a chunk
/// would overshoot the window. The share is then reduced by twice the fraction of the window that a mean message
/// takes with its margin, down to `least`. The rule is OpenClaw's (`computeAdaptiveChunkRatio` in its
/// `src/agents/compaction-planning.ts`), with 0.4, 0.15 and a margin of 1.2.
#[must_use]
pub fn chunk_tokens(
    share: Permille,
    least: Optional<Permille>,
    window: Tokens,
    mean: Tokens,
    margin: Permille,
) -> Tokens {
    let part = Permille::ratio(margin.of(mean).0, window.0).0;
    let room = least.get().filter(|_| part > 100).map_or(0, |least| share.0.saturating_sub(least.0));
    let less = part.saturating_mul(2).min(room);
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
    /// Returns the minimum that the step must save: a fraction of the request, and a number of tokens.
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

    /// Returns the name of the step, as in a policy file.
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

/// Criterion that divides a range into summaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Division {
    /// By length.
    #[default]
    Length,
    /// By task: an active task in full, a finished task as its key points, and older tasks as numbers.
    Task,
}

/// Order in which exchanges are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropOrder {
    /// The oldest first.
    #[default]
    Age,
    /// The least important first, by [`crate::compact::importance`].
    Importance,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_shrinks_where_messages_are_large() {
        let table = [
            // A mean of 10,000, multiplied by 1.2, is 12,000: 6 % of the window.
            (200_000, 10_000, 150, 80_000),
            // 20,000 · 1.2: 12 %, so 0.40 − 0.24.
            (200_000, 20_000, 150, 32_000),
            // A mean of 50,000, multiplied by 1.2, is 30 % of the window, and the minimum is 0.15.
            (200_000, 50_000, 150, 30_000),
            (200_000, 50_000, 0, 80_000),
            (0, 50_000, 150, 0),
        ];
        for (window, mean, least, chunk) in table {
            let found = chunk_tokens(
                Permille(400),
                Optional::new(Permille(least)),
                Tokens(window),
                Tokens(mean),
                Permille(1_200),
            );
            assert_eq!(found, Tokens(chunk), "{window} {mean} {least}");
        }
        let share = chunk_tokens(
            Permille(100),
            Optional::new(Permille(400)),
            Tokens(1_000),
            Tokens(900),
            Permille(1_200),
        );
        assert_eq!(share, Tokens(100), "a least above the share lessens nothing");
    }
}
