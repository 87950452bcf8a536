//! Raw bytes to records: what all formats have in common.

mod checkpoint;

pub use checkpoint::Checkpoint;

use super::aider::Aider;
use super::claude_code::ClaudeCode;
use super::codex::Codex;
use super::elements;
use super::export::ExportReader;
use super::format::Format;
use super::generic::Generic;
use super::object::{self, Object};
use super::openai_chat::OpenaiChat;
use super::pi::Pi;
use super::record::{ByteSpan, TranscriptRecord};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The UTF-8 byte order mark.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Reads one file of a known format.
///
/// Every byte of it stands in exactly one record, but for white space between records, the commas between elements of a
/// document, and a byte order mark.
///
/// Its state does not grow with the texts read: per record of a format with native ids it keeps 13 bytes, of our own
/// export the id.
///
/// # Stopping and going on
///
/// [`TranscriptReader::checkpoint`] gives the state between two lines, without those 13 bytes per record, and
/// [`TranscriptReader::restore`] makes a reader of it, in another process and years later if need be. The records of the lines
/// before the checkpoint and those of the restored reader together are the records of the whole file, if the caller
/// does four things:
///
/// 1. It makes the checkpoint between two lines that are complete, and before [`TranscriptReader::finish`].
/// 2. It goes on at [`Checkpoint::resume`], or else with the line after the last one read, with the offsets and line
///    numbers those lines have in the file. Records of [`TranscriptReader::finish`] that begin at `resume` or after it are
///    replaced by what is read again.
/// 3. Before each [`TranscriptReader::line`] it asks [`TranscriptReader::unknown`] which earlier records the line refers to, looks them
///    up among the records before the checkpoint, and tells those that exist by [`TranscriptReader::remind`]. Every record with a
///    [`TranscriptRecord::id`] counts, also those without items; of several with one id the last one in the file counts.
/// 4. It detects the format of the grown file again: a file of few lines may show another format or
///    [`FileShape`](super::FileShape) when there are more. A checkpoint is of use for the same format and for lines.
///
/// Where the reader cannot be restored, the file is read from its beginning, with the same result.
#[derive(Debug)]
pub struct TranscriptReader {
    format: Format,
    state: FormatState,
    /// Made from a checkpoint: the file may have earlier records it does not know.
    restored: bool,
    /// A document was read, or the file's end: no line follows.
    ended: bool,
}

#[derive(Debug, Serialize, Deserialize)]
enum FormatState {
    ClaudeCode(Box<ClaudeCode>),
    Codex(Box<Codex>),
    Pi(Box<Pi>),
    OpenaiChat(OpenaiChat),
    Aider(Box<Aider>),
    Wunderblock(Box<ExportReader>),
    Generic(Generic),
}

impl TranscriptReader {
    /// A reader for one file; `name` is its file name, from which a sub-agent's file is known.
    #[must_use]
    pub fn new(format: Format, name: &str) -> Self {
        let state = match format {
            Format::ClaudeCode => FormatState::ClaudeCode(Box::new(ClaudeCode::new(name))),
            Format::Codex => FormatState::Codex(Box::default()),
            Format::Pi => FormatState::Pi(Box::default()),
            Format::OpenaiChat => FormatState::OpenaiChat(OpenaiChat::default()),
            Format::Aider => FormatState::Aider(Box::default()),
            Format::Wunderblock => FormatState::Wunderblock(Box::default()),
            Format::JsonLines | Format::JsonDocument => FormatState::Generic(Generic::new(format.name())),
        };
        Self { format, state, restored: false, ended: false }
    }

    /// The format it reads.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// The format's own id of the file's own session, as far as the records read so far have told it. Records of that
    /// session have [`TranscriptRecord::session`] `None`.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        match &self.state {
            FormatState::ClaudeCode(state) => state.session(),
            FormatState::Codex(state) => state.session(),
            FormatState::Pi(state) => state.session(),
            FormatState::Wunderblock(state) => state.session(),
            FormatState::OpenaiChat(_) | FormatState::Aider(_) | FormatState::Generic(_) => None,
        }
    }

    /// Reads one line. `offset` is its first byte in the file, `line` its number from 1, `bytes` it without its end.
    ///
    /// A line usually gives one record. It gives none if it is blank or its record is not complete yet, and several if
    /// values stand on it side by side, if it holds a whole conversation, or if it settles what came before.
    pub fn line(&mut self, offset: u64, line: u64, bytes: &[u8]) -> Vec<TranscriptRecord> {
        let span = ByteSpan { offset, len: bytes.len() as u64, line };
        if let FormatState::Aider(state) = &mut self.state {
            return state.line(span, bytes);
        }
        let text = match text(bytes, offset) {
            Ok(text) if text.trim_ascii().is_empty() => return Vec::new(),
            Ok(text) => text,
            Err(why) => return self.settled(vec![TranscriptRecord::broken(span, why)]),
        };
        match Object::parse(text) {
            Ok(object) => self.object(at_text(span, text), text, &object),
            Err(_) => self.values(span, text),
        }
    }

    /// Reads a whole document.
    pub fn document(&mut self, bytes: &[u8]) -> Vec<TranscriptRecord> {
        self.ended = true;
        let span = ByteSpan { offset: 0, len: bytes.len() as u64, line: 1 };
        if matches!(self.state, FormatState::Aider(_)) {
            return self.each_line(bytes);
        }
        let text = match text(bytes, 0) {
            Ok(text) if text.trim_ascii().is_empty() => return Vec::new(),
            Ok(text) => text,
            Err(why) => return vec![TranscriptRecord::broken(span, why)],
        };
        match serde_json::from_str::<&RawValue>(text) {
            Ok(value) => {
                let part = elements::span_of(value.get(), text, at_text(span, text));
                match &mut self.state {
                    FormatState::OpenaiChat(state) => state.document(part, value.get()),
                    FormatState::Generic(state) => state.document(part, value.get()),
                    _ => self.value(part, value.get()),
                }
            }
            Err(_) if begins_with_a_value(text) => self.each_line(bytes),
            Err(error) => vec![TranscriptRecord::broken(span, broken(&error))],
        }
    }

    /// What was held back until the file's end.
    pub fn finish(&mut self) -> Vec<TranscriptRecord> {
        self.ended = true;
        match &mut self.state {
            FormatState::Codex(state) => state.finish(),
            FormatState::Aider(state) => state.finish(),
            _ => Vec::new(),
        }
    }

    fn each_line(&mut self, bytes: &[u8]) -> Vec<TranscriptRecord> {
        let mut records = Vec::new();
        let mut offset = 0;
        for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let whole = line.len() as u64;
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            records.extend(self.line(offset, index as u64 + 1, line));
            offset += whole;
        }
        records
    }

    /// A line that is not one object: values side by side, a value of another kind, or no JSON.
    fn values(&mut self, span: ByteSpan, text: &str) -> Vec<TranscriptRecord> {
        let base = at_text(span, text);
        let mut records = Vec::new();
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
        let mut end = 0;
        loop {
            let failure = match values.next() {
                None => return records,
                Some(Ok(value)) => {
                    end = values.byte_offset();
                    records.extend(self.value(part_span(value.get(), text, base), value.get()));
                    continue;
                }
                Some(Err(error)) => broken(&error),
            };
            let rest = text.get(end..).unwrap_or_default();
            // A line broken from its beginning is one record with all its bytes, the byte order mark among them.
            let part = if end == 0 { span } else { part_span(rest.trim_ascii(), text, base) };
            let record = TranscriptRecord::broken(part, failure);
            records.extend(self.settled(vec![record]));
            return records;
        }
    }

    /// One JSON value.
    fn value(&mut self, span: ByteSpan, text: &str) -> Vec<TranscriptRecord> {
        match Object::parse(text) {
            Ok(object) => self.object(span, text, &object),
            Err(error) if text.starts_with('{') => {
                self.settled(vec![TranscriptRecord::broken(span, broken(&error))])
            }
            Err(_) => self.other(span, text),
        }
    }

    fn object(&mut self, span: ByteSpan, text: &str, object: &Object<'_>) -> Vec<TranscriptRecord> {
        match &mut self.state {
            FormatState::ClaudeCode(state) => vec![state.read(span, object)],
            FormatState::Codex(state) => state.read(span, object),
            FormatState::Pi(state) => vec![state.read(span, object)],
            FormatState::OpenaiChat(state) => state.line(span, text, object),
            FormatState::Generic(state) => state.line(span, text, object),
            FormatState::Wunderblock(state) => vec![state.read(span, text, object)],
            FormatState::Aider(_) => Vec::new(),
        }
    }

    /// A JSON value that is no object.
    fn other(&mut self, span: ByteSpan, text: &str) -> Vec<TranscriptRecord> {
        if text.starts_with('[') {
            let records = match &mut self.state {
                FormatState::OpenaiChat(state) => state.array(span, text),
                FormatState::Generic(state) => state.array(span, text),
                _ => Vec::new(),
            };
            if !records.is_empty() {
                return records;
            }
        }
        let (kind, found) = match text.as_bytes().first() {
            Some(b'[') => ("array", "an array"),
            Some(b'"') => ("string", "a string"),
            Some(b't' | b'f') => ("boolean", "a boolean"),
            Some(b'n') => ("null", "null"),
            _ => ("number", "a number"),
        };
        let why = format!("{found} where an object was expected");
        self.settled(vec![TranscriptRecord::opaque(span, kind, why)])
    }

    /// Records that say nothing to the format, behind whatever it holds back.
    fn settled(&mut self, records: Vec<TranscriptRecord>) -> Vec<TranscriptRecord> {
        match &mut self.state {
            FormatState::Codex(state) => state.behind(records),
            _ => records,
        }
    }
}

/// The text of a line, unless it nests too deep. A byte order mark at the beginning of the file is no part of it.
fn text(bytes: &[u8], offset: u64) -> Result<&str, String> {
    let bytes = if offset == 0 { bytes.strip_prefix(BOM).unwrap_or(bytes) } else { bytes };
    let text = std::str::from_utf8(bytes)
        .map_err(|error| format!("no UTF-8 at byte {} of the record", error.valid_up_to()))?;
    if object::too_deep(text) {
        return Err(format!("JSON nested deeper than {} levels", object::MAX_DEPTH));
    }
    Ok(text)
}

/// The span of a text that stands at the end of `span`: behind a byte order mark, if there is one.
fn at_text(span: ByteSpan, text: &str) -> ByteSpan {
    let len = text.len() as u64;
    ByteSpan { offset: span.offset + span.len.saturating_sub(len), len, line: span.line }
}

/// The span of a part of a line.
fn part_span(part: &str, line: &str, base: ByteSpan) -> ByteSpan {
    ByteSpan {
        offset: base.offset + object::position(part, line) as u64,
        len: part.len() as u64,
        line: base.line,
    }
}

fn begins_with_a_value(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    serde_json::from_str::<&RawValue>(first).is_ok()
}

fn broken(error: &serde_json::Error) -> String {
    format!("no JSON: {error}")
}
