//! Agents' transcript formats: raw records in, neutral records out.
//!
//! A [`TranscriptReader`] takes one line (or one document) at a time and returns [`TranscriptRecord`]s: the span of
//! the raw bytes, the place of the record in the conversation, and its content. The reader performs no I/O, keeps no
//! text, and never fails. A record that the reader cannot understand is returned as [`RecordStatus::Opaque`] or
//! [`RecordStatus::Broken`] with the reason, and callers keep the raw bytes. [`detect()`] determines the format.

mod agents;
mod detect;
mod format;
mod logs;
mod parsing;
mod reader;
mod record;
mod statement;
mod writer;
mod written;

pub use detect::{Unrecognised, detect};
pub use format::{FileShape, Format};
pub use logs::chat_export::conversation_format;
pub use parsing::time::{rfc3339, written_time};
pub use reader::{Checkpoint, TranscriptReader};
pub use record::{RecordItem, RecordPlace, RecordStatus, TranscriptRecord};
pub use statement::stated_author;
pub use writer::{LeftOut, SessionOutline};
pub use written::{AgentFormat, TranscriptWriter, WrittenTranscript, write_transcript};

impl Format {
    /// Returns whether a file of this format that begins with `head` is read line by line or as a whole.
    ///
    /// Chats and logs of requests have both shapes: several JSON values on separate lines, or one document. One value
    /// on one line is a document. If the first line is longer than `head`, an object is taken for a line and an array for a
    /// document.
    #[must_use]
    pub fn shape(self, head: &[u8]) -> FileShape {
        match self {
            Self::ClaudeCode
            | Self::Codex
            | Self::Pi
            | Self::Copilot
            | Self::Cursor
            | Self::ChatGpt
            | Self::ClaudeAi
            | Self::Droid
            | Self::Grok
            | Self::Kimi
            | Self::Qwen
            | Self::Antigravity
            | Self::Aider
            | Self::JsonLines
            | Self::Wunderblock => FileShape::Lines,
            Self::JsonDocument => FileShape::Document,
            Self::Anthropic
            | Self::OpenaiResponses
            | Self::Gemini
            | Self::SweAgent
            | Self::TauBench
            | Self::OpenaiChat
            | Self::OpenCode
            | Self::GeminiCli => detect::chat_shape(head),
        }
    }

    /// Returns every record type that the format's reader knows, and what is read from each of them.
    #[must_use]
    pub fn record_types(self) -> Vec<(&'static str, &'static str)> {
        let types = match self {
            Self::ClaudeCode => agents::claude_code::RECORD_TYPES,
            Self::Codex => agents::codex::RECORD_TYPES,
            Self::Pi => agents::pi::RECORD_TYPES,
            Self::GeminiCli => agents::gemini_cli::RECORD_TYPES,
            Self::Copilot => agents::copilot::RECORD_TYPES,
            Self::OpenCode => agents::opencode::RECORD_TYPES,
            Self::Cursor => agents::cursor::RECORD_TYPES,
            Self::ChatGpt => logs::chat_export::CHATGPT_TYPES,
            Self::ClaudeAi => logs::chat_export::CLAUDE_AI_TYPES,
            Self::Droid | Self::Grok | Self::Kimi | Self::Qwen | Self::Antigravity => {
                return agents::event_log::Layout::of(self)
                    .map(agents::event_log::Layout::record_types)
                    .unwrap_or_default();
            }
            Self::Anthropic | Self::OpenaiResponses | Self::Gemini => logs::requests::RECORD_TYPES,
            Self::SweAgent => logs::swe_agent::RECORD_TYPES,
            Self::TauBench => logs::tau_bench::RECORD_TYPES,
            Self::OpenaiChat => logs::openai_chat::RECORD_TYPES,
            Self::Aider => agents::aider::RECORD_TYPES,
            Self::Wunderblock => logs::export::RECORD_TYPES,
            Self::JsonLines | Self::JsonDocument => logs::generic::RECORD_TYPES,
        };
        types.to_vec()
    }
}
