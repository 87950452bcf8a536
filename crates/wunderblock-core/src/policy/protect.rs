//! What no step touches, and where the rest may be cut.

use super::permille::Permille;
use crate::units::Tokens;
use serde::{Deserialize, Serialize};

/// What stays verbatim. Beside it, under any policy: what is pinned, the operator's messages, the user's newest request,
/// calls that wait for a result, and the state (plan, todo), which is said again at the tail.
///
/// The tail reaches back until each of its measures is met, then on to where the policy's [`Split`] may cut. What cannot be
/// protected in the room there is, is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Protect {
    /// Messages at the beginning.
    pub first: u64,
    /// Messages at the end.
    pub messages: u64,
    /// Turns at the end: back to the user's message that opened the last but so many.
    pub turns: u64,
    /// Tokens at the end.
    pub tokens: Tokens,
    /// Part of the conversation at the end.
    pub history: Permille,
    /// Part of the window at the end.
    pub window: Permille,
    /// The tail that `window` or `history` asks for has at least so many tokens.
    pub at_least: Tokens,
    /// The tail that `window` or `history` asks for has at most so many tokens; 0 for no limit.
    pub at_most: Tokens,
    /// … and at most this part of the window; 0 for no limit.
    pub at_most_share: Permille,
    /// The tail reaches back to the user's newest request, whatever lies between.
    pub to_newest_user: bool,
    /// The user's own messages before the tail, the newest first, up to so many tokens.
    pub user_tokens: Tokens,
    /// The user's first message and their own messages before the tail, the newest first, up to this part of the limit.
    pub user_share: Permille,
    /// What the user ordered for all that comes, quoted from messages that are not shown, up to this part of the limit.
    pub rules_share: Permille,
    /// Maximum number of files that stay as they were read: those read last and not changed since.
    pub files: u64,
    /// Maximum tokens of an exchange that shows such a file.
    pub files_tokens: Tokens,
    /// What the work has come to (the agent's list, files, checks, skills) stands behind each compaction in at most this part
    /// of the limit; 0 for not at all.
    pub work_share: Permille,
}

/// What the work log takes at most where a policy does not say it. Measured over 0, 0.02, 0.04, 0.06 and 0.08 under
/// `balanced` at eight windows of 15,000 to 36,000 tokens: of what the next three calls need, 80, 83, 86, 87 and 89 % is in the
/// request or one read away. With the last, less than half of a first request of 8,000 tokens is word for word
/// (docs/benchmarks.md).
const WORK_SHARE: Permille = Permille(40);

/// Claude Code's documentation, "Explore the context window": a larger file comes back as its path only.
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
            at_most: Tokens::ZERO,
            at_most_share: Permille::ZERO,
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
    /// Tokens of the tail in a window, without its part of the history.
    #[must_use]
    pub fn tail(&self, window: Tokens) -> Tokens {
        self.bounded(self.window.of(window), window).max(self.tokens)
    }

    /// A part of the tail within its bounds.
    pub(crate) fn bounded(&self, part: Tokens, window: Tokens) -> Tokens {
        let part = if part > Tokens::ZERO { part.max(self.at_least) } else { part };
        let part = if self.at_most > Tokens::ZERO { part.min(self.at_most) } else { part };
        match self.at_most_share.of(window) {
            Tokens::ZERO => part,
            most => part.min(most),
        }
    }
}

/// Where what is kept may begin. Never between a call and its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Split {
    /// At what.
    pub at: CutPoint,
    /// Whether the cut moves on to the next such place, instead of back to the one before: less is kept.
    pub forward: bool,
    /// A turn that is cut in two gets two summaries: one of what lies before it, one of its beginning.
    pub two_summaries: bool,
}

/// At what a conversation may be cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutPoint {
    /// Before a turn of the user; inside a turn only where there is no other place.
    #[default]
    User,
    /// Before any turn or reply.
    Exchange,
}
