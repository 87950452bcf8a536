//! aider's Markdown history: `#### ` begins a line of the user, `> ` a line of output from aider and its tools, and
//! all other lines are the model's.
//!
//! The format has no escapes: a reply that quotes such lines is read the way aider itself reads it. A record is one
//! block of lines from one speaker, with the blank lines that follow it.

use crate::transcript::parsing::time::rfc3339;
use crate::transcript::record::{ByteSpan, TranscriptRecord};
use serde::{Deserialize, Serialize};
use wunderblock_core::message::{Message, MessageOrigin, Role};
use wunderblock_core::units::Millis;

/// Record types, and what is read from each of them.
pub(in crate::transcript) const RECORD_TYPES: &[(&str, &str)] = &[
    ("heading", "beginning of a new session, with its time"),
    ("user", "message"),
    ("output", "injected message: output of aider and its tools"),
    ("assistant", "message"),
];

/// Prefix of the line that begins a chat. The local time follows this prefix.
pub(in crate::transcript) const HEADING: &str = "# aider chat started at ";

/// Prefix of the second and third line of a reply's cost. In 2024, aider wrote these lines without the output mark.
const COSTS: &str = "Cost";
/// Prefix of the first line of a reply's cost.
const TOKENS: &str = "Tokens: ";

/// Maximum number of bytes in a block before it is split, so that memory stays bounded.
const MAX_BLOCK: usize = 16 << 20;

/// State of a history that is being read.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::transcript) struct Aider {
    chats: u64,
    at: Option<Millis>,
    opened: bool,
    /// This state is not part of a checkpoint, because reading continues at the block's first line.
    #[serde(skip)]
    block: Option<SpeakerBlock>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AiderSpeaker {
    User,
    Output,
    Assistant,
}

#[derive(Debug)]
struct SpeakerBlock {
    span: ByteSpan,
    speaker: AiderSpeaker,
    text: String,
    /// Whether blank lines followed the text.
    paused: bool,
}

impl Aider {
    /// Returns the span of the block that is not complete yet. All other state is from before this block.
    pub(in crate::transcript) fn open(&self) -> Option<ByteSpan> {
        self.block.as_ref().map(|block| block.span)
    }

    pub(in crate::transcript) fn line(&mut self, span: ByteSpan, bytes: &[u8]) -> Vec<TranscriptRecord> {
        let bytes =
            if span.offset == 0 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) } else { bytes };
        let Ok(line) = std::str::from_utf8(bytes) else {
            let mut records = self.finish();
            records.push(self.in_chat(TranscriptRecord::broken(span, "invalid UTF-8".to_owned())));
            return records;
        };
        let line = line.trim_ascii_end();
        if line.is_empty() {
            if let Some(block) = &mut self.block {
                block.extend(span, "");
                block.paused = true;
            }
            return Vec::new();
        }
        if let Some(when) = line.strip_prefix(HEADING) {
            let mut records = self.finish();
            self.chats += 1;
            self.at = rfc3339(when);
            self.opened = false;
            let mut record = TranscriptRecord::bookkeeping(span, "heading");
            record.at = self.at;
            records.push(self.in_chat(record));
            return records;
        }
        let (mut speaker, text) = spoken(line);
        if line.starts_with(COSTS) && self.block.as_ref().is_some_and(SpeakerBlock::counts) {
            speaker = AiderSpeaker::Output;
        }
        let goes_on = self.block.as_mut().filter(|block| block.goes_on(speaker));
        if let Some(block) = goes_on {
            block.extend(span, text);
            return Vec::new();
        }
        let records = self.finish();
        self.block = Some(SpeakerBlock { span, speaker, text: text.to_owned(), paused: false });
        records
    }

    pub(in crate::transcript) fn finish(&mut self) -> Vec<TranscriptRecord> {
        let Some(block) = self.block.take() else { return Vec::new() };
        let (kind, role) = match block.speaker {
            AiderSpeaker::User => ("user", Role::User),
            AiderSpeaker::Output => ("output", Role::User),
            AiderSpeaker::Assistant => ("assistant", Role::Assistant),
        };
        let mut record = TranscriptRecord::bookkeeping(block.span, kind);
        record.at = self.at;
        let text = block.text.trim_end();
        if text.is_empty() {
            return vec![self.in_chat(record)];
        }
        if !std::mem::replace(&mut self.opened, true) {
            record.open("aider");
        }
        let mut message = Message::text(role, text);
        if block.speaker == AiderSpeaker::Output {
            message.standing = MessageOrigin::Injected("aider".into());
        }
        record.say(message);
        vec![self.in_chat(record)]
    }

    fn in_chat(&self, mut record: TranscriptRecord) -> TranscriptRecord {
        if self.chats > 1 {
            record.session = Some(format!("chat-{}", self.chats).into());
        }
        record
    }
}

impl SpeakerBlock {
    /// Returns whether the block is output whose last line belongs to a reply's cost.
    fn counts(&self) -> bool {
        let last = self.text.lines().next_back().unwrap_or_default();
        self.speaker == AiderSpeaker::Output
            && !self.paused
            && (last.starts_with(TOKENS) || last.starts_with(COSTS))
    }

    fn extend(&mut self, span: ByteSpan, text: &str) {
        self.span.len = span.offset + span.len - self.span.offset;
        self.text.push('\n');
        self.text.push_str(text);
    }

    /// Returns whether a line of `speaker` continues the block. A blank line ends a user block, because aider writes
    /// the user's text without blank lines. Other blocks may contain several paragraphs.
    fn goes_on(&self, speaker: AiderSpeaker) -> bool {
        let ended = self.paused && speaker == AiderSpeaker::User;
        self.speaker == speaker && !ended && self.text.len() < MAX_BLOCK
    }
}

fn spoken(line: &str) -> (AiderSpeaker, &str) {
    if let Some(text) = line.strip_prefix("#### ") {
        return (AiderSpeaker::User, text);
    }
    if line == "####" {
        return (AiderSpeaker::User, "");
    }
    match line.strip_prefix('>') {
        Some(text) if text.is_empty() || text.starts_with(' ') => {
            (AiderSpeaker::Output, text.strip_prefix(' ').unwrap_or(text))
        }
        _ => (AiderSpeaker::Assistant, line),
    }
}
