//! A session, reduced to what agents' transcripts can hold.

use super::left_out::LeftOutCounts;
use super::outline::{SessionOutline, valid};
use std::collections::{BTreeSet, HashMap, VecDeque};
use wunderblock_core::event::{Event, Fact, UsageMeasured};
use wunderblock_core::message::{Message, MessageOrigin, Part, Role};
use wunderblock_core::units::{Millis, Seq, Tokens};

/// One record to be written.
#[derive(Debug)]
pub(in super::super) struct Entry {
    /// Position of the event.
    pub(in super::super) seq: Seq,
    /// Id of the event.
    pub(in super::super) id: Box<str>,
    /// Time of the event.
    pub(in super::super) at: Millis,
    pub(in super::super) item: EntryItem,
}

/// Content of an [`Entry`].
#[derive(Debug)]
pub(in super::super) enum EntryItem {
    /// A message that a model may see, without tool results whose call is missing.
    Message(Message),
    /// Usage of the reply before it.
    Usage(UsageMeasured),
    /// A compaction of everything before it.
    Compacted {
        /// What started it.
        trigger: Option<Box<str>>,
        /// Tokens before it.
        tokens_before: Option<Tokens>,
        summary: Box<str>,
    },
}

/// Messages, usage and compactions of a session, in order.
#[derive(Default)]
pub(in super::super) struct Conversation {
    compactions: VecDeque<(Seq, Entry)>,
    hidden: BTreeSet<Seq>,
    hidden_calls: BTreeSet<Box<str>>,
    /// Number of results that each call still waits for.
    waiting: HashMap<Box<str>, u64>,
    /// Whether the model's last message is left out.
    is_reply_left_out: bool,
    /// Entries that have not been taken.
    entries: Vec<Entry>,
}

impl Conversation {
    pub(in super::super) fn of(outline: &mut SessionOutline) -> Self {
        Self {
            compactions: std::mem::take(&mut outline.compactions),
            hidden: std::mem::take(&mut outline.hidden),
            hidden_calls: std::mem::take(&mut outline.hidden_calls),
            ..Self::default()
        }
    }

    /// Returns the entries of the next events.
    pub(in super::super) fn read(&mut self, events: &[Event], left_out: &mut LeftOutCounts) -> Vec<Entry> {
        for (event, fact) in valid(events) {
            // The usage of the last summarised message belongs before the compaction.
            let is_message = matches!(fact, Fact::MessageAppended(_));
            while is_message && self.compactions.front().is_some_and(|(to, _)| *to < event.seq) {
                // No call waits for a result beyond a compaction, because the call is only in the summary.
                self.waiting.clear();
                self.entries.extend(self.compactions.pop_front().map(|(_, entry)| entry));
            }
            self.take(event, fact, left_out);
        }
        std::mem::take(&mut self.entries)
    }

    /// Returns the entries that follow the last event.
    pub(in super::super) fn finish(self) -> impl Iterator<Item = Entry> {
        self.compactions.into_iter().map(|(_, entry)| entry)
    }

    fn take(&mut self, event: &Event, fact: &Fact, left_out: &mut LeftOutCounts) {
        let item = match fact {
            Fact::SessionDescribed(described) => {
                if described.tags.as_ref().is_some_and(|tags| !tags.is_empty()) {
                    left_out.add("the tags of the session");
                }
                return;
            }
            Fact::MessageAppended(_) if self.hidden.contains(&event.seq) => {
                return left_out.add("a hidden message");
            }
            Fact::MessageAppended(said) => {
                let sendable = self.sendable(&said.message, left_out);
                if said.message.role == Role::Assistant {
                    self.is_reply_left_out = sendable.is_none();
                }
                let Some(message) = sendable else { return };
                EntryItem::Message(message)
            }
            Fact::UsageMeasured(_) if self.is_reply_left_out => {
                return left_out.add("the usage of a message that is left out");
            }
            Fact::UsageMeasured(usage) => EntryItem::Usage(usage.clone()),
            Fact::SessionOpened(_) | Fact::SessionForked(_) | Fact::ContentHidden(_) => return,
            Fact::SessionCompacted(made) if made.lane.is_none() => return,
            other => return left_out.add(format!("the event `{}`", other.kind())),
        };
        self.entries.push(Entry { seq: event.seq, id: event.id.as_str().into(), at: event.at, item });
    }

    /// Returns the parts of a message that a model may see. `None` if there are none.
    fn sendable(&mut self, message: &Message, left_out: &mut LeftOutCounts) -> Option<Message> {
        match message.standing {
            MessageOrigin::Said | MessageOrigin::Injected(_) => {}
            MessageOrigin::Failed(_) => {
                left_out.add("a message of a failed turn");
                return None;
            }
            MessageOrigin::Aside(_) => {
                left_out.add("a message beside the conversation");
                return None;
            }
        }
        let mut message = message.clone();
        message.parts.retain(|part| match part {
            Part::ToolCall { call, .. } => {
                let shown = !self.hidden_calls.contains(call.as_str());
                if shown {
                    *self.waiting.entry(call.0.clone()).or_default() += 1;
                }
                shown
            }
            Part::ToolResult { call, .. } if self.hidden_calls.contains(call.as_str()) => false,
            Part::ToolResult { call, .. } => match self.waiting.get_mut(call.as_str()) {
                Some(waiting) => {
                    *waiting -= 1;
                    if *waiting == 0 {
                        self.waiting.remove(call.as_str());
                    }
                    true
                }
                None => {
                    left_out.add("a tool result without its call");
                    false
                }
            },
            _ => true,
        });
        message.parts.iter().any(|part| part.speaks() || part.is_thinking()).then_some(message)
    }
}
