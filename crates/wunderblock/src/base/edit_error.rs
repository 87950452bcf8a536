//! Reasons why a summary or a range cannot be edited by hand.

use wunderblock_core::id::LaneId;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::{Seq, Tokens};

/// Reason why a summary or a range is left unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The lane shows no summary that is recorded at the position.
    #[error("lane `{lane}` shows no summary that is recorded at position {at}")]
    NoSummary {
        /// Position that was given.
        at: Seq,
        /// Lane that was searched.
        lane: LaneId,
    },
    /// The range begins or ends inside the range of a summary.
    #[error("the range cuts through the summary of positions {from} to {to}: include all of them, or none")]
    CutsSummary {
        /// First position of the summary.
        from: Seq,
        /// Last position of the summary.
        to: Seq,
    },
    /// The range includes the message that the next reply answers.
    #[error(
        "the range includes position {0}, which the next reply answers: end it before, or begin it after"
    )]
    ReachesNewest(Seq),
    /// The range contains nothing to summarise.
    #[error("no complete exchange between positions {from} and {to}: choose a longer range")]
    NoExchange {
        /// First position of the range.
        from: Seq,
        /// Last position of the range.
        to: Seq,
    },
    /// All content that the summary was made from has been erased.
    #[error("the summary at position {0} cannot be changed: its source content was erased")]
    Erased(Seq),
    /// The request would exceed its limit.
    #[error("the request would take {} tokens: the maximum is {}", grouped(needed.0), grouped(limit.0))]
    NoRoom {
        /// Number of tokens that the request would take.
        needed: Tokens,
        /// Maximum number of tokens that the request may take.
        limit: Tokens,
    },
}
