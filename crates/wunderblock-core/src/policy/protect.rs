//! Content that no step touches, and places where the rest may be cut.

use super::optional::Optional;
use super::permille::Permille;
use crate::units::Tokens;
use serde::{Deserialize, Serialize};

/// Content that stays verbatim. Some content stays verbatim under any policy: pins, the operator's messages, the
/// user's newest request, calls that wait for a result, and the state (plan, todo), which is repeated at the tail.
///
/// The tail reaches back until each of its measures is met, and from there to a place where the policy's [`Split`]
/// may cut. Content that does not fit into the available room is not protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Protect {
    /// Number of messages at the beginning.
    pub first: u64,
    /// Minimum number of messages at the end.
    pub messages: u64,
    /// Minimum number of the user's turns at the end.
    pub turns: u64,
    /// Minimum number of tokens at the end.
    pub tokens: Tokens,
    /// Minimum fraction of the conversation kept at the end.
    pub history: Permille,
    /// Minimum fraction of the window kept at the end.
    pub window: Permille,
    /// Minimum number of tokens in the tail that `window` or `history` asks for.
    pub at_least: Tokens,
    /// Maximum number of tokens in the tail that `window` or `history` asks for; no limit if unset.
    pub at_most: Optional<Tokens>,
    /// Maximum size of the tail that `window` or `history` asks for, as a fraction of the window; no limit if unset.
    pub at_most_share: Optional<Permille>,
    /// Whether the tail reaches back to the user's newest request, whatever lies between.
    pub to_newest_user: bool,
    /// Maximum number of tokens in the user's own messages kept before the tail, newest first.
    pub user_tokens: Tokens,
    /// Maximum fraction of the limit used for the user's first message and the user's messages before the tail,
    /// newest first.
    pub user_share: Permille,
    /// Maximum fraction of the limit used for standing rules, quoted from messages that are not shown.
    pub rules_share: Permille,
    /// Maximum number of files that stay as they were read: the most recently read files that have not changed since.
    pub files: u64,
    /// Maximum number of tokens in an exchange that shows one of these files.
    pub files_tokens: Tokens,
    /// Maximum fraction of the limit used for the work log (the agent's list, files, checks, skills) after each
    /// compaction; 0 for no work log.
    pub work_share: Permille,
}

/// Default of `work_share`. Under `balanced` at eight windows of 15,000 to 36,000 tokens, values of 0, 0.02, 0.04,
/// 0.06 and 0.08 put 80, 83, 86, 87 and 89 % of what the next three calls need in the request or one read away. With
/// 0.08, less than half of a first request of 8,000 tokens is shown verbatim (docs/benchmarks.md).
const WORK_SHARE: Permille = Permille(40);

/// Default of `files_tokens`. According to Claude Code's documentation ("Explore the context window"), only the path
/// of a larger file is restored.
const FILES_TOKENS: Tokens = Tokens(5_000);

impl Default for Protect {
    fn default() -> Self {
        Self {
            first: 0,
            messages: 0,
            turns: 0,
            tokens: Tokens::ZERO,
            history: Permille::ZERO,
            window: Permille::ZERO,
            at_least: Tokens::ZERO,
            at_most: Optional::UNSET,
            at_most_share: Optional::UNSET,
            to_newest_user: false,
            user_tokens: Tokens::ZERO,
            user_share: Permille::ZERO,
            rules_share: Permille::ZERO,
            files: 0,
            files_tokens: FILES_TOKENS,
            work_share: WORK_SHARE,
        }
    }
}

impl Protect {
    /// Returns the number of tokens in the tail for a given window, ignoring the fraction of the history.
    #[must_use]
    pub fn tail(&self, window: Tokens) -> Tokens {
        self.bounded(self.window.of(window), window).max(self.tokens)
    }

    /// Limits the size of the tail that `window` or `history` asks for to its minimum and maximum.
    pub(crate) fn bounded(&self, part: Tokens, window: Tokens) -> Tokens {
        let part = if part > Tokens::ZERO { part.max(self.at_least) } else { part };
        self.at_most_share.of(window).cap(self.at_most.cap(part))
    }
}

/// Places at which the kept part may begin. The kept part never begins between a call and its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Split {
    /// Kind of place.
    pub at: CutPoint,
    /// Whether the cut moves forward to the next possible place instead of back to the previous one, so that less is
    /// kept.
    pub forward: bool,
    /// Whether a cut inside a turn produces two summaries: one of the content before the turn, and one of the
    /// beginning of the turn.
    pub two_summaries: bool,
}

/// Kind of place at which a conversation may be cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutPoint {
    /// Before a user turn; inside a turn only if there is no other place.
    #[default]
    User,
    /// Before any turn or reply.
    Exchange,
}
