//! Raw bytes to records: what all formats have in common.

mod checkpoint;

pub use checkpoint::Checkpoint;

use super::aider::Aider;
use super::claude_code::ClaudeCode;
use super::codex::Codex;
use super::elements;
use super::export::Export;
use super::format::Format;
use super::generic::Generic;
use super::object::{self, Object};
use super::openai_chat::OpenaiChat;
use super::pi::Pi;
use super::record::{Record, Span};
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
/// [`Reader::checkpoint`] gives the state between two lines, without those 13 bytes per record, and
/// [`Reader::restore`] makes a reader of it, in another process and years later if need be. The records of the lines
/// before the checkpoint and those of the restored reader together are the records of the whole file, if the caller
/// does four things:
///
/// 1. It makes the checkpoint between two lines that are complete, and before [`Reader::finish`].
/// 2. It goes on at [`Checkpoint::resume`], or else with the line after the last one read, with the offsets and line
///    numbers those lines have in the file. Records of [`Reader::finish`] that begin at `resume` or after it are
///    replaced by what is read again.
/// 3. Before each [`Reader::line`] it asks [`Reader::unknown`] which earlier records the line refers to, looks them
///    up among the records before the checkpoint, and tells those that exist by [`Reader::remind`]. Every record with a
///    [`Record::id`] counts, also those without items; of several with one id the last one in the file counts.
/// 4. It detects the format of the grown file again: a file of few lines may show another format or
///    [`Shape`](super::Shape) when there are more. A checkpoint is of use for the same format and for lines.
///
/// Where the reader cannot be restored, the file is read from its beginning, with the same result.
#[derive(Debug)]
pub struct Reader {
    format: Format,
    state: State,
    /// Made from a checkpoint: the file may have earlier records it does not know.
    restored: bool,
    /// A document was read, or the file's end: no line follows.
    ended: bool,
}

#[derive(Debug, Serialize, Deserialize)]
enum State {
    ClaudeCode(Box<ClaudeCode>),
    Codex(Box<Codex>),
    Pi(Box<Pi>),
    OpenaiChat(OpenaiChat),
    Aider(Box<Aider>),
    Wunderblock(Box<Export>),
    Generic(Generic),
}

impl Reader {
    /// A reader for one file; `name` is its file name, from which a sub-agent's file is known.
    #[must_use]
    pub fn new(format: Format, name: &str) -> Self {
        let state = match format {
            Format::ClaudeCode => State::ClaudeCode(Box::new(ClaudeCode::new(name))),
            Format::Codex => State::Codex(Box::default()),
            Format::Pi => State::Pi(Box::default()),
            Format::OpenaiChat => State::OpenaiChat(OpenaiChat::default()),
            Format::Aider => State::Aider(Box::default()),
            Format::Wunderblock => State::Wunderblock(Box::default()),
            Format::JsonLines | Format::JsonDocument => State::Generic(Generic::new(format.name())),
        };
        Self { format, state, restored: false, ended: false }
    }

    /// The format it reads.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// The format's own id of the file's own session, as far as the records read so far have told it. Records of that
    /// session have [`Record::session`] `None`.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        match &self.state {
            State::ClaudeCode(state) => state.session(),
            State::Codex(state) => state.session(),
            State::Pi(state) => state.session(),
            State::Wunderblock(state) => state.session(),
            State::OpenaiChat(_) | State::Aider(_) | State::Generic(_) => None,
        }
    }

    /// Reads one line. `offset` is its first byte in the file, `line` its number from 1, `bytes` it without its end.
    ///
    /// A line usually gives one record. It gives none if it is blank or its record is not complete yet, and several if
    /// values stand on it side by side, if it holds a whole conversation, or if it settles what came before.
    pub fn line(&mut self, offset: u64, line: u64, bytes: &[u8]) -> Vec<Record> {
        let span = Span { offset, len: bytes.len() as u64, line };
        if let State::Aider(state) = &mut self.state {
            return state.line(span, bytes);
        }
        let text = match text(bytes, offset) {
            Ok(text) if text.trim_ascii().is_empty() => return Vec::new(),
            Ok(text) => text,
            Err(why) => return self.settled(vec![Record::broken(span, why)]),
        };
        if object::too_deep(text) {
            return self.settled(vec![Record::broken(span, too_deep())]);
        }
        match Object::parse(text) {
            Ok(object) => self.object(at_text(span, text), text, &object),
            Err(_) => self.values(span, text),
        }
    }

    /// Reads a whole document.
    pub fn document(&mut self, bytes: &[u8]) -> Vec<Record> {
        self.ended = true;
        let span = Span { offset: 0, len: bytes.len() as u64, line: 1 };
        if matches!(self.state, State::Aider(_)) {
            return self.each_line(bytes);
        }
        let text = match text(bytes, 0) {
            Ok(text) if text.trim_ascii().is_empty() => return Vec::new(),
            Ok(text) => text,
            Err(why) => return vec![Record::broken(span, why)],
        };
        if object::too_deep(text) {
            return vec![Record::broken(span, too_deep())];
        }
        match serde_json::from_str::<&RawValue>(text) {
            Ok(value) => {
                let part = elements::span_of(value.get(), text, at_text(span, text));
                match &mut self.state {
                    State::OpenaiChat(state) => state.document(part, value.get()),
                    State::Generic(state) => state.document(part, value.get()),
                    _ => self.value(part, value.get()),
                }
            }
            Err(_) if begins_with_a_value(text) => self.each_line(bytes),
            Err(error) => vec![Record::broken(span, broken(&error))],
        }
    }

    /// What was held back until the file's end.
    pub fn finish(&mut self) -> Vec<Record> {
        self.ended = true;
        match &mut self.state {
            State::Codex(state) => state.finish(),
            State::Aider(state) => state.finish(),
            _ => Vec::new(),
        }
    }

    fn each_line(&mut self, bytes: &[u8]) -> Vec<Record> {
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
    fn values(&mut self, span: Span, text: &str) -> Vec<Record> {
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
            let record = Record::broken(part, failure);
            records.extend(self.settled(vec![record]));
            return records;
        }
    }

    /// One JSON value.
    fn value(&mut self, span: Span, text: &str) -> Vec<Record> {
        match Object::parse(text) {
            Ok(object) => self.object(span, text, &object),
            Err(error) if text.starts_with('{') => self.settled(vec![Record::broken(span, broken(&error))]),
            Err(_) => self.other(span, text),
        }
    }

    fn object(&mut self, span: Span, text: &str, object: &Object<'_>) -> Vec<Record> {
        match &mut self.state {
            State::ClaudeCode(state) => vec![state.read(span, object)],
            State::Codex(state) => state.read(span, object),
            State::Pi(state) => vec![state.read(span, object)],
            State::OpenaiChat(state) => state.line(span, text, object),
            State::Generic(state) => state.line(span, text, object),
            State::Wunderblock(state) => vec![state.read(span, text, object)],
            State::Aider(_) => Vec::new(),
        }
    }

    /// A JSON value that is no object.
    fn other(&mut self, span: Span, text: &str) -> Vec<Record> {
        if text.starts_with('[') {
            let records = match &mut self.state {
                State::OpenaiChat(state) => state.array(span, text),
                State::Generic(state) => state.array(span, text),
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
        self.settled(vec![Record::opaque(span, kind, format!("{found} where an object was expected"))])
    }

    /// Records that say nothing to the format, behind whatever it holds back.
    fn settled(&mut self, records: Vec<Record>) -> Vec<Record> {
        match &mut self.state {
            State::Codex(state) => state.behind(records),
            _ => records,
        }
    }
}

/// The text of a line. A byte order mark at the beginning of the file is no part of it.
fn text(bytes: &[u8], offset: u64) -> Result<&str, String> {
    let bytes = if offset == 0 { bytes.strip_prefix(BOM).unwrap_or(bytes) } else { bytes };
    std::str::from_utf8(bytes)
        .map_err(|error| format!("no UTF-8 at byte {} of the record", error.valid_up_to()))
}

/// The span of a text that stands at the end of `span`: behind a byte order mark, if there is one.
fn at_text(span: Span, text: &str) -> Span {
    let len = text.len() as u64;
    Span { offset: span.offset + span.len.saturating_sub(len), len, line: span.line }
}

/// The span of a part of a line.
fn part_span(part: &str, line: &str, base: Span) -> Span {
    Span {
        offset: base.offset + object::position(part, line) as u64,
        len: part.len() as u64,
        line: base.line,
    }
}

fn begins_with_a_value(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    serde_json::from_str::<&RawValue>(first).is_ok()
}

fn too_deep() -> String {
    format!("JSON nested deeper than {} levels", object::MAX_DEPTH)
}

fn broken(error: &serde_json::Error) -> String {
    format!("no JSON: {error}")
}
