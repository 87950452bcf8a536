//! What the writers of all formats share. See [`written`](super::written).

mod conversation;
mod ids;
mod left_out;
mod outline;
mod usage;

use crate::outcome::WireError;
use crate::writing::Writing;
pub(super) use conversation::{Conversation, Entry, EntryItem};
pub(super) use ids::EntryIds;
pub use left_out::LeftOut;
pub(super) use left_out::LeftOutCounts;
pub use outline::SessionOutline;
pub(super) use usage::{Measured, ReplyUsage};
use wunderblock_core::message::Dialect;
use wunderblock_core::request::Request;

/// Writer of one agent's format.
pub(super) trait AgentWriter {
    /// Takes the next entry, and writes the records that no later entry can change.
    fn push(&mut self, entry: Entry, out: &mut Output) -> Result<(), WireError>;

    /// Writes the remaining records. Returns the id of the session, and the path of its file in the agent's folder.
    fn finish(self: Box<Self>, out: &mut Output) -> Result<(String, Option<String>), WireError>;
}

/// What a writer has written.
#[derive(Default)]
pub(super) struct Output {
    pub(super) text: String,
    pub(super) left_out: LeftOutCounts,
}

impl Output {
    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }
}

/// Returns the state of writing messages for a provider: only what the provider accepts is written.
pub(super) fn writing_for(dialect: Dialect) -> Writing {
    Writing::new(dialect, &Request { cache: Some(Vec::new()), ..Request::default() })
}
