//! Why a summary, or a range, is not changed by hand.

use wunderblock_core::id::LaneId;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::{Seq, Tokens};

/// Why a summary or a range is left as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// No such summary.
    #[error("no summary that lane `{lane}` shows is recorded at position {at}")]
    NoSummary {
        /// The position.
        at: Seq,
        /// The lane.
        lane: LaneId,
    },
    /// A range that ends inside a summary's.
    #[error("the range cuts the summary of positions {from} to {to}: name all of them, or none")]
    CutsSummary {
        /// The summary's first position.
        from: Seq,
        /// Its last.
        to: Seq,
    },
    /// A range that takes in what the next reply answers.
    #[error("the next reply answers position {0}: a range ends before it, or begins behind it")]
    ReachesNewest(Seq),
    /// Nothing to summarise.
    #[error("no whole exchange lies between positions {from} and {to}")]
    NoExchange {
        /// The first position.
        from: Seq,
        /// The last.
        to: Seq,
    },
    /// A summary of which nothing is left that could be shown.
    #[error("what the summary at position {0} was made from is erased")]
    Erased(Seq),
    /// The request would be too long.
    #[error("the request would take {} tokens, and may take {}", grouped(needed.0), grouped(limit.0))]
    NoRoom {
        /// What it would take.
        needed: Tokens,
        /// What it may take.
        limit: Tokens,
    },
}
