//! When a policy compacts.

use super::permille::Permille;
use crate::units::Tokens;
use serde::{Deserialize, Serialize};

/// When a policy compacts. No level that fires, no compaction but by hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Triggers {
    /// Waits for a boundary.
    pub soft: TriggerLevel,
    /// Waits for nothing, not even for the result of a call.
    pub hard: TriggerLevel,
    /// What `fraction` is a part of.
    pub of: FractionBase,
    /// Where a soft level may fire.
    pub boundary: Boundary,
    /// The steps go on until the request takes no more than this part of the whole; 0 for "until the trigger no longer fires".
    pub down_to: Permille,
    /// What a lane's first request is compacted to, as a part of its limit, where it is due; 0 for `down_to`. Nobody has seen
    /// that request's beginning yet, so nothing is gained by room for what comes.
    pub cold: Permille,
    /// Sets it off where the provider's cache of the lane is lost anyway (idle longer than it lives, or another model): the
    /// request takes this part of the whole; 0 for never.
    pub idle: Permille,
    /// Fires again only when the context has grown by this part of the whole since the last compaction.
    pub regrow: Permille,
}

/// What sets a level off: any of these. Nothing set is never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TriggerLevel {
    /// The request takes this part of the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fraction: Option<Permille>,
    /// The request takes more than so many tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// Maximum tokens of the conversation outside summaries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsummarised: Option<Tokens>,
    /// Less than so many tokens of the window are left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free: Option<Tokens>,
    /// More than so many messages are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<u64>,
    /// More than so many seconds since the last compaction, or since the session began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_s: Option<u64>,
    /// The provider's cache of the last request ends within so many seconds, or has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_s: Option<u64>,
}

impl TriggerLevel {
    /// Whether nothing sets it off.
    #[must_use]
    pub fn is_never(&self) -> bool {
        *self == Self::default()
    }
}

/// What a fraction is a part of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FractionBase {
    /// What sections may use: the window less what is kept for the answer and for errors of counting.
    #[default]
    Budget,
    /// The model's window.
    Window,
}

/// Where a soft trigger may fire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Boundary {
    /// Wherever no call waits for its result.
    #[default]
    Exchange,
    /// Where the user's turn has just come, or the model's has ended without a call.
    Turn,
    /// Where a task has ended.
    Task,
}
