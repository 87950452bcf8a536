//! Entries and summaries of a view.

use crate::record::compaction::SessionCompacted;
use crate::record::event::Event;
use crate::record::message::{Body, Message};
use crate::source::section::Section;
use crate::units::{Millis, Seq};

/// Section and name of a text at the tail.
pub(super) type TailName = (Section, Box<str>);

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
    /// Items that the text consists of, if they are known.
    pub items: Option<Body>,
    /// Time at which the summary was made.
    pub made: Millis,
    /// Producer of a summary that another program wrote and that was never checked; otherwise `None`.
    pub unchecked: Option<Box<str>>,
}

impl SummaryNode {
    /// Returns the summary that an event recorded; `None` if its text was erased.
    #[must_use]
    pub fn of(event: &Event, made: &SessionCompacted) -> Option<Self> {
        let (from, to, text) = (made.from_seq, made.to_seq, made.summary.clone()?);
        let unchecked = (made.lane.is_none() && made.check.is_none()).then(|| made.producer.clone());
        let (level, items) = (made.level, made.items.clone());
        Some(Self { at: event.seq, from, to, level, text, items, made: event.at, unchecked })
    }
}
