//! Options of a search in the original texts.

use crate::base::deadline::Deadline;
use crate::recall::search::SearchIn;
use wunderblock_core::id::StreamId;
use wunderblock_store::{EventFilter, StreamFilter};

/// Options of a search.
#[derive(Clone, Debug, Default)]
pub struct GrepOptions {
    /// Whether to search sessions, documents, or both, if `session` is `None`.
    pub within: SearchIn,
    /// Session to search, including the events before its fork. `None` searches all sessions.
    pub session: Option<StreamId>,
    /// Whether the pattern is a regular expression.
    pub regex: bool,
    /// Whether to ignore case.
    pub ignore_case: bool,
    /// Number of lines returned before and after each match.
    pub context: usize,
    /// Sessions to search, if `session` is `None`. Documents must pass the filter, too.
    pub sessions: StreamFilter,
    /// Filter for the events.
    pub events: EventFilter,
    /// Time at which the search is given up.
    pub deadline: Deadline,
    /// Whether to leave out texts that are kept as bytes: outputs of commands that are too long for a message, and
    /// records that are too long to be parsed.
    pub messages_only: bool,
    /// Whether secrets in the lines are shown as asterisks.
    pub masked: bool,
}
