//! What a writer needs to know about a whole session before it writes the first record.

use super::conversation::{Entry, EntryItem};
use super::left_out::LeftOutCounts;
use crate::call_id::made_names;
use std::collections::{BTreeSet, HashSet, VecDeque};
use wunderblock_core::event::{Event, Fact, SessionCompacted, SessionOpened};
use wunderblock_core::units::{Millis, Seq};

/// Outline of a session: its opening, title and compactions, and what is hidden. It holds none of the messages.
#[derive(Debug, Default)]
pub struct SessionOutline {
    /// Id of the session.
    pub(in super::super) session: Option<String>,
    /// Opening of the session.
    pub(in super::super) opened: Option<SessionOpened>,
    /// Time of the session's first event.
    pub(in super::super) began: Millis,
    /// Latest title, with the id and the time of its event.
    pub(in super::super) title: Option<(String, String, Millis)>,
    /// Ids of calls and results that look like names made by us.
    pub(in super::super) names: HashSet<String>,
    /// Position of the last report of usage.
    pub(super) last_usage: Seq,
    /// Compactions to be written, each with the last position that it summarises.
    pub(super) compactions: VecDeque<(Seq, Entry)>,
    /// Positions of hidden messages.
    pub(super) hidden: BTreeSet<Seq>,
    /// Calls that are hidden with their results.
    pub(super) hidden_calls: BTreeSet<Box<str>>,
    /// Content that cannot be written.
    pub(in super::super) left_out: LeftOutCounts,
    /// Positions of the messages.
    said: Vec<Seq>,
    /// Last position that a compaction summarises.
    summarised: Seq,
}

impl SessionOutline {
    /// Reads the next events of the session, in order. Only compactions need their texts inline.
    pub fn read(&mut self, events: &[Event]) {
        if let (None, Some(first)) = (&self.session, events.first()) {
            (self.session, self.began) = (Some(first.stream.as_str().to_owned()), first.at);
        }
        for (event, fact) in valid(events) {
            match fact {
                Fact::MessageAppended(said) => {
                    self.said.push(event.seq);
                    self.names.extend(made_names(&said.message));
                }
                Fact::UsageMeasured(_) => self.last_usage = event.seq,
                Fact::SessionOpened(opened) if self.opened.is_none() => self.opened = Some(opened.clone()),
                Fact::SessionDescribed(described) => {
                    if let Some(title) = described.title.as_deref() {
                        let title = (event.id.as_str().to_owned(), title.to_owned(), event.at);
                        self.title = Some(title).filter(|(_, title, _)| !title.is_empty());
                    }
                }
                Fact::ContentHidden(change) if change.hidden => drop(self.hidden.insert(change.target)),
                Fact::ContentHidden(change) => drop(self.hidden.remove(&change.target)),
                Fact::SessionCompacted(made) if made.lane.is_none() => self.compacted(event, made),
                _ => {}
            }
        }
    }

    /// Returns whether messages are hidden. All events then have to be read once more by
    /// [`SessionOutline::read_hidden`].
    #[must_use]
    pub fn hides(&self) -> bool {
        !self.hidden.is_empty()
    }

    /// Reads events again, for the calls of hidden messages, which are hidden with their results.
    pub fn read_hidden(&mut self, events: &[Event]) {
        for (event, fact) in valid(events) {
            if let (Fact::MessageAppended(said), true) = (fact, self.hidden.contains(&event.seq)) {
                let ids = said.message.calls().chain(said.message.results());
                self.hidden_calls.extend(ids.map(|call| call.0.clone()));
            }
        }
    }

    /// Adds a compaction by an agent, if it can be written.
    ///
    /// An agent continues with its latest summary and what follows it, so a summary of a part that does not begin where
    /// the summary before it ended cannot be written. The messages that such a summary covers are written instead.
    fn compacted(&mut self, event: &Event, made: &SessionCompacted) {
        let first = self.said.get(self.said.partition_point(|seq| *seq <= self.summarised));
        if first.is_some_and(|first| *first < made.from_seq) {
            self.left_out.add("a summary of a part of the session");
            return;
        }
        self.summarised = made.to_seq;
        // The latest compaction counts, so an earlier one that would stand after it is not written.
        while self.compactions.back().is_some_and(|(to, _)| *to > made.to_seq) {
            self.compactions.pop_back();
            self.left_out.add("a summary that another one replaces");
        }
        let summary = made.summary.as_ref().and_then(|summary| summary.inline());
        let Some(summary) = summary.filter(|summary| !summary.trim().is_empty()) else {
            self.left_out.add("a compaction without a text as its summary");
            return;
        };
        let item = EntryItem::Compacted {
            trigger: made.trigger.clone(),
            tokens_before: made.tokens_before,
            summary: summary.into(),
        };
        let entry = Entry { seq: event.seq, id: event.id.as_str().into(), at: event.at, item };
        self.compactions.push_back((made.to_seq, entry));
    }

    /// Returns the folder in which the agent worked.
    pub(in super::super) fn folder(&self) -> Option<&str> {
        self.opened.as_ref().and_then(|opened| opened.cwd.as_deref())
    }

    /// Returns the branch of the repository in which the agent worked.
    pub(in super::super) fn branch(&self) -> Option<&str> {
        self.opened.as_ref().and_then(|opened| opened.branch.as_deref())
    }

    /// Returns the version of the agent, if the session is from the agent of this format.
    pub(in super::super) fn version(&self, format: &str) -> Option<&str> {
        let opened = self.opened.as_ref().filter(|opened| opened.format.as_deref() == Some(format))?;
        opened.version.as_deref()
    }

    /// Returns the id of the session; empty without events.
    pub(in super::super) fn session(&self) -> &str {
        self.session.as_deref().unwrap_or_default()
    }
}

/// Returns the events that have a fact which is consistent with their position.
pub(super) fn valid(events: &[Event]) -> impl Iterator<Item = (&Event, &Fact)> {
    events.iter().filter_map(|event| {
        let fact = event.fact.as_ref().filter(|fact| fact.contradiction(event.seq).is_none());
        Some((event, fact?))
    })
}
