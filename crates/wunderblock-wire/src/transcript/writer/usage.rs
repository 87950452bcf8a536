//! Gives each reply the usage that is reported after it.

use super::conversation::{Entry, EntryItem};
use super::left_out::LeftOutCounts;
use super::outline::SessionOutline;
use wunderblock_core::event::UsageMeasured;
use wunderblock_core::message::Role;
use wunderblock_core::units::Seq;

/// An entry with its content in an agent's format, and with the usage of a reply.
pub(in super::super) struct Measured<C> {
    pub(in super::super) entry: Entry,
    pub(in super::super) content: C,
    pub(in super::super) usage: Option<UsageMeasured>,
}

/// Entries that wait until the usage of the first of them is known: the usage reported next after a message of the model
/// that is written.
pub(in super::super) struct ReplyUsage<C> {
    /// Entries from the latest reply on; empty if its usage is known.
    held: Vec<Measured<C>>,
    /// Position of the session's last report of usage. Nothing waits after it.
    last: Seq,
}

impl<C> ReplyUsage<C> {
    pub(in super::super) fn new(outline: &SessionOutline) -> Self {
        Self { held: Vec::new(), last: outline.last_usage }
    }

    /// Adds an entry, and returns the entries that wait no more. `is_written` states whether a message is written. Counts
    /// usage that belongs to no message as left out.
    pub(in super::super) fn push(
        &mut self,
        entry: Entry,
        content: C,
        is_written: bool,
        left_out: &mut LeftOutCounts,
    ) -> Vec<Measured<C>> {
        let mut ready = Vec::new();
        match &entry.item {
            EntryItem::Usage(usage) => {
                match self.held.first_mut() {
                    Some(reply) => reply.usage = Some(usage.clone()),
                    None => left_out.add("usage without a message of the model"),
                }
                return self.finish();
            }
            EntryItem::Compacted { .. } => ready = self.finish(),
            EntryItem::Message(message) if message.role == Role::Assistant && is_written => {
                ready = self.finish();
                if entry.seq < self.last {
                    self.held.push(Measured { entry, content, usage: None });
                    return ready;
                }
            }
            EntryItem::Message(_) => {}
        }
        let waits = !self.held.is_empty();
        let to = if waits { &mut self.held } else { &mut ready };
        to.push(Measured { entry, content, usage: None });
        ready
    }

    /// Returns the entries that still wait.
    pub(in super::super) fn finish(&mut self) -> Vec<Measured<C>> {
        std::mem::take(&mut self.held)
    }
}
