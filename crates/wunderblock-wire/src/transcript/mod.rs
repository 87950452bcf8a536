//! Agents' transcript formats: raw records in, neutral records out.
//!
//! A [`TranscriptReader`] takes one line (or one document) at a time and returns [`TranscriptRecord`]s: the span of
//! the raw bytes, the place of the record in the conversation, and its content. The reader performs no I/O, keeps no
//! text, and never fails. A record that the reader cannot understand is returned as [`RecordStatus::Opaque`] or
//! [`RecordStatus::Broken`] with the reason, and callers keep the raw bytes. [`detect()`] determines the format.

mod aider;
mod blocks;
mod chain;
mod chat_export;
mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod detect;
mod elements;
mod environment;
mod event_log;
mod export;
mod format;
mod gemini_cli;
mod generic;
mod object;
mod openai_chat;
mod opencode;
mod pi;
mod reader;
mod record;
mod requests;
mod rewinds;
mod seen;
mod statement;
mod swe_agent;
mod tau_bench;
mod time;
mod writer;
mod written;

pub use chat_export::conversation_format;
pub use detect::{Unrecognised, detect};
pub use format::{FileShape, Format};
pub use reader::{Checkpoint, TranscriptReader};
pub use record::{RecordItem, RecordPlace, RecordStatus, TranscriptRecord};
pub use statement::stated_author;
pub use time::{rfc3339, written_time};
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
            Self::ClaudeCode => claude_code::RECORD_TYPES,
            Self::Codex => codex::RECORD_TYPES,
            Self::Pi => pi::RECORD_TYPES,
            Self::GeminiCli => gemini_cli::RECORD_TYPES,
            Self::Copilot => copilot::RECORD_TYPES,
            Self::OpenCode => opencode::RECORD_TYPES,
            Self::Cursor => cursor::RECORD_TYPES,
            Self::ChatGpt => chat_export::CHATGPT_TYPES,
            Self::ClaudeAi => chat_export::CLAUDE_AI_TYPES,
            Self::Droid | Self::Grok | Self::Kimi | Self::Qwen | Self::Antigravity => {
                return event_log::Layout::of(self).map(event_log::Layout::record_types).unwrap_or_default();
            }
            Self::Anthropic | Self::OpenaiResponses | Self::Gemini => requests::RECORD_TYPES,
            Self::SweAgent => swe_agent::RECORD_TYPES,
            Self::TauBench => tau_bench::RECORD_TYPES,
            Self::OpenaiChat => openai_chat::RECORD_TYPES,
            Self::Aider => aider::RECORD_TYPES,
            Self::Wunderblock => export::RECORD_TYPES,
            Self::JsonLines | Self::JsonDocument => generic::RECORD_TYPES,
        };
        types.to_vec()
    }
}
