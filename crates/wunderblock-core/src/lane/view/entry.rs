//! Entries of a view, and the progress of its lane.

use crate::record::message::{Body, Message};
use crate::units::{Millis, Seq};

/// An entry that a model could see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewEntry {
    /// Position of the entry.
    pub seq: Seq,
    /// Time of the event.
    pub at: Millis,
    /// The message.
    pub message: Message,
    /// Whether the message was recorded live, and the session's newest earlier request was one that the lane made
    /// after the lane's last step.
    pub answers: bool,
}

/// A summary in a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryNode {
    /// Position of its event.
    pub at: Seq,
    /// First position the summary covers.
    pub from: Seq,
    /// Last position the summary covers.
    pub to: Seq,
    /// Level of the summary; 0 for a summary of events.
    pub level: u32,
    /// Text of the summary.
    pub text: Body,
    /// Time at which the summary was made.
    pub made: Millis,
    /// Producer of a summary that another program wrote and that was never checked; otherwise `None`.
    pub unchecked: Option<Box<str>>,
}

/// Progress of a lane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneProgress {
    /// Position of the last request's record, and the newest position that the request considered; `None` since the
    /// last step.
    pub built: Option<(Seq, Seq)>,
    /// Speakers that the last request did not show, because results were outstanding.
    pub waited: Vec<Seq>,
    /// Newest position that any request of the lane considered, or the last position before its frontier. A step does
    /// not reset this position, since no request has shown what came later.
    pub shown: Seq,
    /// Position of the lane's newest step; [`Seq::START`] before the first.
    pub stepped: Seq,
    /// Runs of unbound thinking as of the newest request or step; see
    /// [`Trim::unbound`](crate::record::decision::Trim::unbound).
    pub unbound: Vec<(Seq, Seq)>,
    /// Whether the newest request of the session was made by the lane since the lane's last step.
    pub asked: bool,
}
