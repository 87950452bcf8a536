//! Triggers of a policy: the conditions under which it compacts.

use super::optional::Optional;
use super::permille::Permille;
use crate::units::Tokens;
use serde::{Deserialize, Serialize};

/// Conditions under which a policy compacts. If no condition is set, the policy compacts only by hand, or if a
/// request does not fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Triggers {
    /// Soft level, which waits for a boundary.
    pub soft: TriggerLevel,
    /// Hard level, which waits for nothing, not even for the result of a call.
    pub hard: TriggerLevel,
    /// Base of the fractions.
    pub of: FractionBase,
    /// Boundary that the soft level waits for.
    pub boundary: Boundary,
    /// Maximum fraction of the whole that the request takes after the steps. If unset, any request that fits and is
    /// shorter is accepted.
    pub down_to: Optional<Permille>,
    /// Maximum fraction of the limit that a lane's first request after a compaction takes; `down_to` if unset. Nothing
    /// in a lane's first request after a compaction has been cached yet, so room for later growth gains nothing.
    pub cold: Optional<Permille>,
    /// Fraction of the whole at which the policy compacts if the provider's cache of the lane is lost anyway (because
    /// the lane has been idle longer than the cache lives, or the model has changed); never if unset.
    pub idle: Optional<Permille>,
    /// Minimum growth since the last compaction before a level fires again, as a fraction of the whole.
    pub regrow: Permille,
}

/// Limits of a level. Passing any of the limits fires the level; a level without limits never fires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TriggerLevel {
    /// Fraction of the whole at which the request fires the level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fraction: Option<Permille>,
    /// Maximum number of tokens in the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// Maximum number of tokens in the conversation outside summaries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsummarised: Option<Tokens>,
    /// Minimum number of tokens left in the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free: Option<Tokens>,
    /// Maximum number of messages that are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<u64>,
    /// Maximum number of seconds since the last compaction, or since the session began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_s: Option<u64>,
    /// Minimum number of seconds until the provider's cache of the last request expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_s: Option<u64>,
}

impl TriggerLevel {
    /// Returns whether the level never fires.
    #[must_use]
    pub fn is_never(&self) -> bool {
        *self == Self::default()
    }
}

/// Base of a fraction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FractionBase {
    /// Number of tokens that the sections may use: the window minus the room for the reply and for counting errors.
    #[default]
    Budget,
    /// The model's window.
    Window,
}

/// Boundary at which a soft level may fire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Boundary {
    /// Any point at which no call waits for its result.
    #[default]
    Exchange,
    /// Beginning or end of a turn: the user's turn has just arrived, or the model's turn has ended without a call.
    Turn,
    /// End of a task.
    Task,
}
