//! Agents' transcript formats: raw records in, neutral records out.
//!
//! A [`TranscriptReader`] is fed one line (or one document) at a time and answers with [`TranscriptRecord`]s: where the raw bytes stand,
//! where the record belongs in the conversation, and what it says. It performs no I/O, keeps no text, and never fails:
//! what it cannot understand comes back as [`RecordStatus::Opaque`] or [`RecordStatus::Broken`] with the reason, and the raw bytes are
//! the caller's to keep. Formats are told apart by [`detect()`].

mod aider;
mod blocks;
mod claude_code;
mod codex;
mod detect;
mod elements;
mod environment;
mod export;
mod format;
mod generic;
mod object;
mod openai_chat;
mod pi;
mod reader;
mod record;
mod seen;
mod time;

pub use detect::{Unrecognised, detect};
pub use format::{FileShape, Format};
pub use reader::{Checkpoint, TranscriptReader};
pub use record::{RecordItem, RecordPlace, RecordStatus, TranscriptRecord};

impl Format {
    /// How a file of this format that begins with `head` is to be fed.
    ///
    /// OpenAI chat comes in both shapes: several JSON values in lines, or one document. One value on one line is a
    /// document. Where the first line is longer than `head`, an object is taken for a line and an array for a document.
    #[must_use]
    pub fn shape(self, head: &[u8]) -> FileShape {
        match self {
            Self::ClaudeCode | Self::Codex | Self::Pi | Self::Aider | Self::JsonLines | Self::Wunderblock => {
                FileShape::Lines
            }
            Self::JsonDocument => FileShape::Document,
            Self::OpenaiChat => detect::chat_shape(head),
        }
    }

    /// Every record type the format's reader knows, and what becomes of it.
    #[must_use]
    pub const fn record_types(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::ClaudeCode => claude_code::RECORD_TYPES,
            Self::Codex => codex::RECORD_TYPES,
            Self::Pi => pi::RECORD_TYPES,
            Self::OpenaiChat => openai_chat::RECORD_TYPES,
            Self::Aider => aider::RECORD_TYPES,
            Self::Wunderblock => export::RECORD_TYPES,
            Self::JsonLines | Self::JsonDocument => generic::RECORD_TYPES,
        }
    }
}
