//! Summaries that a climb will record.

use crate::compact::job::SummaryJob;
use crate::lane::view::SummaryNode;
use crate::record::message::Body;
use crate::units::{Millis, Seq, Tokens};

/// A summary to be recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeDraft {
    /// Position of the summary's event, if no other event is appended first.
    pub at: Seq,
    /// Job the summary was made for.
    pub job: SummaryJob,
    /// Text of the summary.
    pub text: Body,
    /// Maximum number of tokens in the summary as a request shows it, including its fence.
    pub tokens: Tokens,
    /// Index of the text among all texts that were handed in, counted from 0.
    pub made: usize,
}

/// Returns whether a summary has text: a blank one says nothing about its range, and no provider accepts it.
pub(super) fn says_something(text: &Body) -> bool {
    text.inline().is_none_or(|text| !text.trim().is_empty())
}

impl NodeDraft {
    /// Returns the summary as a view holds it once it is recorded, without its items.
    #[must_use]
    pub fn summary(&self) -> SummaryNode {
        SummaryNode {
            at: self.at,
            from: self.job.from,
            to: self.job.to,
            level: self.job.level,
            text: self.text.clone(),
            items: None,
            made: Millis::ZERO,
            unchecked: None,
        }
    }
}
