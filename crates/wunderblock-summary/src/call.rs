//! Calls of models and of programs: the time that an answer may take, and failures.

use wunderblock_core::units::{Millis, Tokens};

/// Time allowed for each token written, which corresponds to 20 tokens a second, a rate that a model on the user's
/// own machine can still reach. A fixed time limit is too short for a long summary, and makes callers wait too long
/// for a short one.
pub const TOKEN_TIME: Millis = Millis(50);
/// Maximum time allowed for writing one text: an hour.
const WRITING_MAX: Millis = Millis(3_600_000);

/// Returns the time allowed for writing up to `most` tokens.
pub fn writing_time(per_token: Millis, most: Tokens) -> Millis {
    Millis(per_token.0.saturating_mul(i64::try_from(most.0).unwrap_or(i64::MAX)).min(WRITING_MAX.0))
}

/// Reason why a call of a model or of a program returned no usable text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallFailure {
    /// The call took too long.
    #[error("it took too long")]
    TimedOut,
    /// The answer was empty.
    #[error("it answered nothing")]
    Empty,
    /// The prompt exceeded the limits of the model or program.
    #[error("it was given more than it takes")]
    TooLarge,
    /// The provider denied access, for example because of an invalid key. Retrying does not help.
    #[error("it does not let us in: {0}")]
    Unauthorised(String),
    /// Too many calls. Holds the number of seconds to wait before a retry, if the provider stated it.
    #[error("too many calls{}", .0.map(|seconds| format!("; again after {seconds} seconds")).unwrap_or_default())]
    Limited(Option<u64>),
    /// The provider failed, with this status.
    #[error("it failed with status {0}")]
    Server(u16),
    /// The call was refused: the request was invalid, or the model declined.
    #[error("it refused: {0}")]
    Refused(String),
    /// The model or program could not be reached or started.
    #[error("it could not be reached: {0}")]
    Unreachable(String),
    /// The answer broke off or could not be understood.
    #[error("its answer is broken: {0}")]
    Broken(String),
    /// The answer reached its output limit.
    #[error("it reached its limit of output before the end")]
    CutOff,
    /// The answer exceeded twice its maximum and was stopped.
    #[error("it wrote more than twice its maximum, and was stopped")]
    TooLong,
    /// The caller stopped the call.
    #[error("it was stopped")]
    Stopped,
}
