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
//!
//! ```text
//! events, first pass ─► SessionOutline ─┐
//! events, second pass ──────────────────┴► Conversation ─► entries ─► the format's writer ─► lines
//! ```
//! A session may be longer than the memory, so it is read twice and written while it is read. Each stage holds only what
//! the next events can still change: the blocks of a turn, and the reply whose usage has not been reported.

use super::agents::{claude_code, codex, pi};
use super::format::Format;
use super::writer::{AgentWriter, Conversation, LeftOut, Output, SessionOutline};
use crate::outcome::WireError;
use wunderblock_core::event::Event;

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
    /// The transcript: JSON lines. If it was written in parts, the last part.
    pub text: String,
    /// Content of the session that the transcript does not hold, in alphabetical order.
    pub left_out: Vec<LeftOut>,
}

/// Writes a session in an agent's transcript format. `events` are all events of the session in order, with their texts
/// inline. An event that contradicts its position is ignored.
///
/// # Errors
/// Returns an error if the text of a message is in a blob, or if a text that must be JSON (an opaque part, an extra)
/// is not JSON.
pub fn write_transcript(format: AgentFormat, events: &[Event]) -> Result<WrittenTranscript, WireError> {
    let mut outline = SessionOutline::default();
    outline.read(events);
    if outline.hides() {
        outline.read_hidden(events);
    }
    let mut writer = TranscriptWriter::new(format, outline);
    let mut text = writer.write(events)?;
    let last = writer.finish()?;
    text.push_str(&last.text);
    Ok(WrittenTranscript { text, ..last })
}

/// Writes a session in an agent's transcript format, part by part.
pub struct TranscriptWriter {
    conversation: Conversation,
    agent: Box<dyn AgentWriter + Send>,
    out: Output,
}

impl std::fmt::Debug for TranscriptWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TranscriptWriter").finish_non_exhaustive()
    }
}

impl TranscriptWriter {
    /// Creates a writer for a session whose outline was read to the end.
    #[must_use]
    pub fn new(format: AgentFormat, mut outline: SessionOutline) -> Self {
        let conversation = Conversation::of(&mut outline);
        let out = Output { text: String::new(), left_out: std::mem::take(&mut outline.left_out) };
        let agent: Box<dyn AgentWriter + Send> = match format {
            AgentFormat::ClaudeCode => Box::new(claude_code::writer::Writer::new(outline)),
            AgentFormat::Codex => Box::new(codex::writer::Writer::new(outline)),
            AgentFormat::Pi => Box::new(pi::writer::Writer::new(outline)),
        };
        Self { conversation, agent, out }
    }

    /// Returns the part of the transcript that the next events add. The events are those of the outline, in order, with
    /// their texts inline.
    ///
    /// # Errors
    /// See [`write_transcript`].
    pub fn write(&mut self, events: &[Event]) -> Result<String, WireError> {
        for entry in self.conversation.read(events, &mut self.out.left_out) {
            self.agent.push(entry, &mut self.out)?;
        }
        Ok(std::mem::take(&mut self.out.text))
    }

    /// Returns the transcript with its last part.
    ///
    /// # Errors
    /// See [`write_transcript`].
    pub fn finish(mut self) -> Result<WrittenTranscript, WireError> {
        for entry in self.conversation.finish() {
            self.agent.push(entry, &mut self.out)?;
        }
        let (session, file) = self.agent.finish(&mut self.out)?;
        let Output { text, left_out } = self.out;
        Ok(WrittenTranscript { session, file, text, left_out: left_out.list() })
    }
}
