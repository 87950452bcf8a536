//! A session, reduced to what agents' transcripts can hold.

use super::LeftOutCounts;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use wunderblock_core::event::{Event, Fact, SessionCompacted, SessionOpened, UsageMeasured};
use wunderblock_core::message::{Message, MessageOrigin, Part, Role};
use wunderblock_core::units::{Millis, Seq};

/// Messages, usage and compactions of a session, in order.
pub(in super::super) struct Conversation<'e> {
    /// Id of the session.
    pub(in super::super) session: &'e str,
    /// Opening of the session.
    pub(in super::super) opened: Option<&'e SessionOpened>,
    /// Time of the session's first event.
    pub(in super::super) began: Millis,
    /// Latest title, with the id and the time of its event.
    pub(in super::super) title: Option<(&'e str, &'e str, Millis)>,
    /// Messages that a model may see, without tool results whose call is missing.
    pub(in super::super) messages: Vec<Message>,
    /// Records to be written.
    pub(in super::super) entries: Vec<Entry<'e>>,
    /// Content of the session that no agent's transcript can hold.
    pub(in super::super) left_out: LeftOutCounts,
    /// Number of results that each call still waits for.
    waiting: HashMap<Box<str>, u64>,
    /// Whether the model's last message is left out.
    is_reply_left_out: bool,
}

/// One record to be written.
pub(in super::super) struct Entry<'e> {
    /// Id of the event.
    pub(in super::super) id: &'e str,
    /// Time of the event.
    pub(in super::super) at: Millis,
    pub(in super::super) item: EntryItem<'e>,
}

/// Content of an [`Entry`].
pub(in super::super) enum EntryItem<'e> {
    /// A message, as its index in [`Conversation::messages`].
    Message(usize),
    /// Usage of the reply before it.
    Usage(&'e UsageMeasured),
    /// A compaction of everything before it, with its summary.
    Compacted(&'e SessionCompacted, &'e str),
}

impl<'e> Conversation<'e> {
    pub(super) fn of(events: &'e [Event]) -> Self {
        let mut conversation = Self {
            session: events.first().map_or("", |event| event.stream.as_str()),
            opened: None,
            began: events.first().map_or(Millis(0), |event| event.at),
            title: None,
            messages: Vec::new(),
            entries: Vec::new(),
            left_out: LeftOutCounts::default(),
            waiting: HashMap::new(),
            is_reply_left_out: false,
        };
        let hidden = hidden(events);
        let mut compactions = conversation.compactions(events).into_iter().peekable();
        for event in events {
            // The usage of the last summarised message belongs before the compaction.
            let is_message = matches!(event.fact, Some(Fact::MessageAppended(_)));
            while let Some((_, entry)) = compactions.next_if(|(to, _)| is_message && *to < event.seq) {
                // No call waits for a result beyond a compaction, because the call is only in the summary.
                conversation.waiting.clear();
                conversation.entries.push(entry);
            }
            conversation.take(event, &hidden);
        }
        conversation.entries.extend(compactions.map(|(_, entry)| entry));
        conversation
    }

    /// Returns the compactions by agents that can be written, each with the last position that it summarises.
    ///
    /// An agent continues with its latest summary and what follows it, so a summary of a part that does not begin where
    /// the summary before it ended cannot be written. The messages that such a summary covers are written instead.
    fn compactions(&mut self, events: &'e [Event]) -> Vec<(Seq, Entry<'e>)> {
        let said: Vec<Seq> = valid(events)
            .filter(|(_, fact)| matches!(fact, Fact::MessageAppended(_)))
            .map(|(event, _)| event.seq)
            .collect();
        let mut written: Vec<(Seq, Entry<'e>)> = Vec::new();
        let mut last = Seq::START;
        for (event, fact) in valid(events) {
            let Fact::SessionCompacted(made) = fact else { continue };
            if made.lane.is_some() {
                continue;
            }
            let first = said.get(said.partition_point(|seq| *seq <= last));
            if first.is_some_and(|first| *first < made.from_seq) {
                self.left_out.add("a summary of a part of the session");
                continue;
            }
            last = made.to_seq;
            // The latest compaction counts, so an earlier one that would stand after it is not written.
            while written.last().is_some_and(|(to, _)| *to > made.to_seq) {
                written.pop();
                self.left_out.add("a summary that another one replaces");
            }
            let summary = made.summary.as_ref().and_then(|summary| summary.inline());
            let Some(summary) = summary.filter(|summary| !summary.trim().is_empty()) else {
                self.left_out.add("a compaction without a text as its summary");
                continue;
            };
            let item = EntryItem::Compacted(made, summary);
            written.push((made.to_seq, Entry { id: event.id.as_str(), at: event.at, item }));
        }
        written
    }

    fn take(&mut self, event: &'e Event, hidden: &Hidden) {
        let Some(fact) = event.fact.as_ref().filter(|fact| fact.contradiction(event.seq).is_none()) else {
            return;
        };
        let (id, at) = (event.id.as_str(), event.at);
        match fact {
            Fact::SessionOpened(opened) => self.opened = self.opened.or(Some(opened)),
            Fact::SessionDescribed(described) => {
                if let Some(title) = described.title.as_deref() {
                    self.title = Some((title, id, at)).filter(|(title, ..)| !title.is_empty());
                }
                if described.tags.as_ref().is_some_and(|tags| !tags.is_empty()) {
                    self.left_out.add("the tags of the session");
                }
            }
            Fact::MessageAppended(_) if hidden.messages.contains(&event.seq) => {
                self.left_out.add("a hidden message");
            }
            Fact::MessageAppended(said) => {
                let sendable = self.sendable(&said.message, hidden);
                if said.message.role == Role::Assistant {
                    self.is_reply_left_out = sendable.is_none();
                }
                if let Some(message) = sendable {
                    let item = EntryItem::Message(self.messages.len());
                    self.messages.push(message);
                    self.entries.push(Entry { id, at, item });
                }
            }
            Fact::UsageMeasured(_) if self.is_reply_left_out => {
                self.left_out.add("the usage of a message that is left out");
            }
            Fact::UsageMeasured(usage) => {
                self.entries.push(Entry { id, at, item: EntryItem::Usage(usage) });
            }
            Fact::SessionForked(_) | Fact::ContentHidden(_) => {}
            Fact::SessionCompacted(made) if made.lane.is_none() => {}
            other => self.left_out.add(format!("the event `{}`", other.kind())),
        }
    }

    /// Returns the parts of a message that a model may see. `None` if there are none.
    fn sendable(&mut self, message: &Message, hidden: &Hidden) -> Option<Message> {
        match message.standing {
            MessageOrigin::Said | MessageOrigin::Injected(_) => {}
            MessageOrigin::Failed(_) => {
                self.left_out.add("a message of a failed turn");
                return None;
            }
            MessageOrigin::Aside(_) => {
                self.left_out.add("a message beside the conversation");
                return None;
            }
        }
        let mut message = message.clone();
        message.parts.retain(|part| match part {
            Part::ToolCall { call, .. } => {
                let shown = !hidden.calls.contains(call.as_str());
                if shown {
                    *self.waiting.entry(call.0.clone()).or_default() += 1;
                }
                shown
            }
            Part::ToolResult { call, .. } if hidden.calls.contains(call.as_str()) => false,
            Part::ToolResult { call, .. } => match self.waiting.get_mut(call.as_str()) {
                Some(waiting) if *waiting > 0 => {
                    *waiting -= 1;
                    true
                }
                _ => {
                    self.left_out.add("a tool result without its call");
                    false
                }
            },
            _ => true,
        });
        message.parts.iter().any(|part| part.speaks() || part.is_thinking()).then_some(message)
    }

    /// Returns the usage of each message that has one: the usage reported next after a message of the model that is
    /// written. Counts usage that belongs to no such message as left out.
    pub(in super::super) fn usage(
        &self,
        is_written: impl Fn(usize) -> bool,
        left_out: &mut LeftOutCounts,
    ) -> BTreeMap<usize, &'e UsageMeasured> {
        let mut usage = BTreeMap::new();
        let mut last = None;
        for entry in &self.entries {
            match entry.item {
                EntryItem::Message(at) => {
                    let spoke = self.messages.get(at).is_some_and(|message| message.role == Role::Assistant);
                    last = if spoke && is_written(at) { Some(at) } else { last };
                }
                EntryItem::Usage(measured) => match last.take() {
                    Some(at) => drop(usage.insert(at, measured)),
                    None => left_out.add("usage without a message of the model"),
                },
                EntryItem::Compacted(..) => last = None,
            }
        }
        usage
    }

    /// Returns the folder in which the agent worked.
    pub(in super::super) fn folder(&self) -> Option<&'e str> {
        self.opened.and_then(|opened| opened.cwd.as_deref())
    }

    /// Returns the branch of the repository in which the agent worked.
    pub(in super::super) fn branch(&self) -> Option<&'e str> {
        self.opened.and_then(|opened| opened.branch.as_deref())
    }

    /// Returns the version of the agent, if the session is from the agent of this format.
    pub(in super::super) fn version(&self, format: &str) -> Option<&'e str> {
        let opened = self.opened.filter(|opened| opened.format.as_deref() == Some(format))?;
        opened.version.as_deref()
    }
}

/// Hidden messages, and calls that are hidden with their results.
#[derive(Default)]
struct Hidden {
    messages: BTreeSet<Seq>,
    calls: BTreeSet<Box<str>>,
}

fn hidden(events: &[Event]) -> Hidden {
    let mut hidden = Hidden::default();
    for (_, fact) in valid(events) {
        if let Fact::ContentHidden(change) = fact {
            if change.hidden {
                hidden.messages.insert(change.target);
            } else {
                hidden.messages.remove(&change.target);
            }
        }
    }
    for (event, fact) in valid(events) {
        if let (Fact::MessageAppended(said), true) = (fact, hidden.messages.contains(&event.seq)) {
            let ids = said.message.calls().chain(said.message.results());
            hidden.calls.extend(ids.map(|call| call.0.clone()));
        }
    }
    hidden
}

/// Returns the events that have a fact which is consistent with their position.
fn valid(events: &[Event]) -> impl Iterator<Item = (&Event, &Fact)> {
    events.iter().filter_map(|event| {
        let fact = event.fact.as_ref().filter(|fact| fact.contradiction(event.seq).is_none());
        Some((event, fact?))
    })
}
