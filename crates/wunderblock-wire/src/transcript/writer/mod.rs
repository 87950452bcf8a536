//! Writes a session in an agent's own transcript format, so that the agent can continue it.
//!
//! The session is first reduced to what any agent can hold: its messages in order, the usage of its replies, and the
//! compactions with their summaries. Each format then writes these in its own records, beside its reader. The blocks
//! of a message are those of a request to the agent's provider, so a transcript contains nothing that the provider
//! would refuse. Content that the format cannot hold is counted in [`WrittenTranscript::left_out`].
//!
//! A compaction is written where its summary takes effect, before the messages that it kept. In each of the formats,
//! the agent then continues with the summary and everything after it.
//!
//! The bytes depend on the events alone. Ids are made from the session's id and the ids of its events.

mod conversation;
mod ids;

use super::format::Format;
use super::{claude_code, codex, pi};
use crate::call_id::{self, IdRule};
use crate::outcome::{Dropped, WireError};
use crate::writing::Writing;
pub(super) use conversation::{Conversation, Entry, EntryItem};
pub(super) use ids::EntryIds;
use std::collections::BTreeMap;
use wunderblock_core::author;
use wunderblock_core::budget::Reason;
use wunderblock_core::event::Event;
use wunderblock_core::message::{Dialect, Message, MessageOrigin, Part};
use wunderblock_core::request::Request;

/// Agent in whose transcript format a session can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentFormat {
    /// Claude Code sessions.
    ClaudeCode,
    /// Codex rollouts.
    Codex,
    /// pi sessions, version 3.
    Pi,
}

impl AgentFormat {
    /// All formats that can be written.
    pub const ALL: [Self; 3] = [Self::ClaudeCode, Self::Codex, Self::Pi];

    /// Returns the format that reads the transcript.
    #[must_use]
    pub const fn format(self) -> Format {
        match self {
            Self::ClaudeCode => Format::ClaudeCode,
            Self::Codex => Format::Codex,
            Self::Pi => Format::Pi,
        }
    }
}

/// A session in an agent's transcript format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenTranscript {
    /// Id of the session in the agent. It differs from the id of the original session, so the agent keeps both.
    pub session: String,
    /// Path at which the agent looks for the transcript, relative to the agent's own folder. `None` if the path
    /// depends on the project's folder, and this folder is not known.
    pub file: Option<String>,
    /// The transcript: JSON lines.
    pub text: String,
    /// Content of the session that the transcript does not hold, in alphabetical order.
    pub left_out: Vec<LeftOut>,
}

/// Content of one kind that a transcript does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Description of the content.
    pub what: String,
    /// Number of occurrences.
    pub count: u64,
}

/// Writes a session in an agent's transcript format. `events` are all events of the session in order, with their texts
/// inline. An event that contradicts its position is ignored.
///
/// # Errors
/// Returns an error if the text of a message is in a blob, or if a text that must be JSON (an opaque part, an extra)
/// is not JSON.
pub fn write_transcript(format: AgentFormat, events: &[Event]) -> Result<WrittenTranscript, WireError> {
    let mut conversation = Conversation::of(events);
    match format {
        AgentFormat::ClaudeCode => claude_code::writer::write(&mut conversation),
        AgentFormat::Codex => codex::writer::write(&mut conversation),
        AgentFormat::Pi => pi::writer::write(&mut conversation),
    }
}

/// Counts of content that a transcript does not hold, by description.
#[derive(Debug, Default)]
pub(super) struct LeftOutCounts(BTreeMap<String, u64>);

impl LeftOutCounts {
    pub(super) fn add(&mut self, what: impl Into<String>) {
        *self.0.entry(what.into()).or_default() += 1;
    }

    /// Adds the content that an encoder left out. Texts without content are no loss.
    pub(super) fn extend(&mut self, dropped: Vec<Dropped>) {
        for dropped in dropped.into_iter().filter(|dropped| dropped.reason != Reason::Empty) {
            // The description of a medium ends with its size, by which media of one kind are not distinguished.
            let what = dropped.what.split_once(" (").map_or(&*dropped.what, |(kind, _)| kind);
            self.add(what);
        }
    }

    /// Notes the names of tools and the ids of calls that the provider would refuse, and that are therefore replaced.
    pub(super) fn note_names(&mut self, messages: &[Message], (dialect, rule): (Dialect, IdRule)) {
        for _ in 0..call_id::choose(messages, rule).replaced() {
            self.add("the id of a tool call");
        }
        for part in messages.iter().flat_map(|message| &message.parts) {
            if matches!(part, Part::ToolCall { name, .. } if call_id::tool_name(dialect, name) != **name) {
                self.add("the name of a tool");
            }
        }
    }

    /// Notes the origin of a message if it differs from the origin that the format's reader finds.
    pub(super) fn note_origin(&mut self, message: &Message, read: MessageOrigin) {
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

    fn list(self) -> Vec<LeftOut> {
        self.0.into_iter().map(|(what, count)| LeftOut { what, count }).collect()
    }
}

impl WrittenTranscript {
    pub(super) fn new(
        (session, file): (String, Option<String>),
        lines: &[String],
        left_out: LeftOutCounts,
    ) -> Self {
        let text = lines.iter().flat_map(|line| [line, "\n"]).collect();
        Self { session, file, text, left_out: left_out.list() }
    }
}

/// Returns the state of writing messages for a provider: only what the provider accepts is written.
pub(super) fn writing_for(dialect: Dialect) -> Writing {
    Writing::new(dialect, &Request { cache: Some(Vec::new()), ..Request::default() })
}
