//! What a view holds, and how far its lane has come.

use crate::message::{Body, Message};
use crate::units::{Millis, Seq};

/// One thing a model could see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewEntry {
    /// Its position.
    pub seq: Seq,
    /// When it happened.
    pub at: Millis,
    /// What was said.
    pub message: Message,
    /// Whether it was told live, and the newest request of the session until then was one of the lane's, since its last step.
    pub answers: bool,
}

/// A summary that stands before the frontier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryNode {
    /// The position of its event.
    pub at: Seq,
    /// The first position it stands for.
    pub from: Seq,
    /// The last.
    pub to: Seq,
    /// 0 for a summary of events.
    pub level: u32,
    /// What it says.
    pub text: Body,
    /// When it was made.
    pub made: Millis,
    /// Whose it is, where some other program wrote it and nothing checked it.
    pub unchecked: Option<Box<str>>,
}

/// How far a lane has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneProgress {
    /// Where its last request is recorded, and the newest position it considered; none since its last step.
    pub built: Option<(Seq, Seq)>,
    /// Speakers that that request did not show, since results were outstanding.
    pub waited: Vec<Seq>,
    /// The newest position any of its requests considered, or the last before its frontier. Steps do not reset it: what came
    /// later nobody has shown yet.
    pub shown: Seq,
    /// Where its newest step is recorded; [`Seq::START`] before the first.
    pub stepped: Seq,
    /// What its newest request or step says of thinking; see [`Trim::unbound`](crate::decision::Trim::unbound).
    pub unbound: Vec<(Seq, Seq)>,
    /// Whether the newest request of the session is one of the lane's, since its last step.
    pub asked: bool,
}
