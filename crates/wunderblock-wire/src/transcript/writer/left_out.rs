//! Content that a transcript does not hold, counted by its description.

use crate::call_id;
use crate::outcome::Dropped;
use std::collections::BTreeMap;
use wunderblock_core::author;
use wunderblock_core::budget::Reason;
use wunderblock_core::message::{Dialect, Message, MessageOrigin, Part};

/// Content of one kind that a transcript does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Description of the content.
    pub what: String,
    /// Number of occurrences.
    pub count: u64,
}

/// Counts of content that a transcript does not hold, by description.
#[derive(Debug, Default)]
pub(in super::super) struct LeftOutCounts(BTreeMap<String, u64>);

impl LeftOutCounts {
    pub(in super::super) fn add(&mut self, what: impl Into<String>) {
        *self.0.entry(what.into()).or_default() += 1;
    }

    /// Adds the content that an encoder left out. Texts without content are no loss.
    pub(in super::super) fn extend(&mut self, dropped: Vec<Dropped>) {
        for dropped in dropped.into_iter().filter(|dropped| dropped.reason != Reason::Empty) {
            // The description of a medium ends with its size, by which media of one kind are not distinguished.
            let what = dropped.what.split_once(" (").map_or(&*dropped.what, |(kind, _)| kind);
            self.add(what);
        }
    }

    /// Notes the names of tools that the provider would refuse, and the number of ids of calls. Both are replaced.
    pub(in super::super) fn note_names(&mut self, message: &Message, dialect: Dialect, ids: usize) {
        for _ in 0..ids {
            self.add("the id of a tool call");
        }
        for part in &message.parts {
            if matches!(part, Part::ToolCall { name, .. } if call_id::tool_name(dialect, name) != **name) {
                self.add("the name of a tool");
            }
        }
    }

    /// Notes the origin of a message if it differs from the origin that the format's reader finds.
    pub(in super::super) fn note_origin(&mut self, message: &Message, read: MessageOrigin) {
        let read = author::settled(message.clone().standing(read)).standing;
        match (&message.standing, &read) {
            (own, read) if own == read => {}
            (MessageOrigin::Injected(_), MessageOrigin::Injected(_)) => {
                self.add("the name of an injected text")
            }
            (MessageOrigin::Injected(_), _) => self.add("the mark of an injected text"),
            _ => self.add("the mark that a person typed a text"),
        }
    }

    pub(in super::super) fn list(self) -> Vec<LeftOut> {
        self.0.into_iter().map(|(what, count)| LeftOut { what, count }).collect()
    }
}
