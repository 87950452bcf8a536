//! Reads raw bytes into records: the part of reading that all formats share.

mod checkpoint;

pub use checkpoint::Checkpoint;

use super::agents::aider::Aider;
use super::agents::claude_code::ClaudeCode;
use super::agents::codex::Codex;
use super::agents::copilot::Copilot;
use super::agents::cursor::Cursor;
use super::agents::event_log::{EventLog, Layout};
use super::agents::gemini_cli::GeminiCli;
use super::agents::opencode::OpenCode;
use super::agents::pi::Pi;
use super::format::Format;
use super::logs::chat_export::ChatExport;
use super::logs::export::ExportReader;
use super::logs::generic::Generic;
use super::logs::openai_chat::OpenaiChat;
use super::logs::requests::RequestLog;
use super::logs::swe_agent::SweAgent;
use super::logs::tau_bench::TauBench;
use super::parsing::elements;
use super::parsing::object::{self, Object};
use super::record::{ByteSpan, TranscriptRecord};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use wunderblock_core::message::Dialect;

/// UTF-8 byte order mark.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Reads one file of a known format.
///
/// Every byte of the file is in exactly one record, except for white space between records, commas between the
/// elements of a document, and a byte order mark.
///
/// The state of the reader does not grow with the texts. The reader keeps 13 bytes per record of a format with native
/// ids, and the id of each record of our own export.
///
/// # Stopping and continuing
///
/// [`TranscriptReader::checkpoint`] returns the state between two lines, without those 13 bytes per record.
/// [`TranscriptReader::restore`] creates a reader from it, possibly in another process and years later. The records
/// of the lines before the checkpoint and those of the restored reader are together the records of the whole file, if
/// the caller follows four rules:
///
/// 1. It makes the checkpoint between two complete lines, and before [`TranscriptReader::finish`].
/// 2. The caller continues at [`Checkpoint::resume`], or else with the line after the last one read. Lines are passed
///    with the offsets and numbers that they have in the file. Records of [`TranscriptReader::finish`] that begin at
///    or after `resume` are replaced by those of the continued reading.
/// 3. Before each [`TranscriptReader::line`], the caller calls [`TranscriptReader::unknown`], which returns the
///    earlier records that the line refers to. The caller looks up these records among those before the checkpoint,
///    and passes those that exist to [`TranscriptReader::remind`]. Every record with a [`TranscriptRecord::id`]
///    counts, including records without items. If several have one id, the last one in the file counts.
/// 4. The caller detects the format of the grown file again, because a file with few lines may show another format or
///    [`FileShape`](super::FileShape) when it has more lines. A checkpoint is valid only for the same format, and
///    only for files that are read in lines.
///
/// If the reader cannot be restored, the caller reads the file from its beginning, with the same result.
#[derive(Debug)]
pub struct TranscriptReader {
    format: Format,
    state: FormatState,
    /// Whether the reader was made from a checkpoint. If so, the file may have earlier records that the reader does
    /// not know.
    restored: bool,
    /// Whether a document or the end of the file has been read. No line follows then.
    ended: bool,
}

#[derive(Debug, Serialize, Deserialize)]
enum FormatState {
    ClaudeCode(Box<ClaudeCode>),
    Codex(Box<Codex>),
    Pi(Box<Pi>),
    GeminiCli(Box<GeminiCli>),
    Copilot(Box<Copilot>),
    OpenCode(Box<OpenCode>),
    Cursor(Box<Cursor>),
    ChatExport(Box<ChatExport>),
    EventLog(Box<EventLog>),
    Requests(Box<RequestLog>),
    SweAgent(SweAgent),
    TauBench(TauBench),
    OpenaiChat(OpenaiChat),
    Aider(Box<Aider>),
    Wunderblock(Box<ExportReader>),
    Generic(Generic),
}

impl TranscriptReader {
    /// Creates a reader for one file. `name` is the file's name, which identifies the file of a sub-agent.
    #[must_use]
    pub fn new(format: Format, name: &str) -> Self {
        let requests = |dialect| FormatState::Requests(Box::new(RequestLog::new(dialect)));
        let state = match format {
            Format::ClaudeCode => FormatState::ClaudeCode(Box::new(ClaudeCode::new(name))),
            Format::Codex => FormatState::Codex(Box::default()),
            Format::Pi => FormatState::Pi(Box::default()),
            Format::GeminiCli => FormatState::GeminiCli(Box::default()),
            Format::Copilot => FormatState::Copilot(Box::default()),
            Format::OpenCode => FormatState::OpenCode(Box::default()),
            Format::Cursor => FormatState::Cursor(Box::default()),
            Format::ChatGpt | Format::ClaudeAi => FormatState::ChatExport(Box::default()),
            Format::Droid | Format::Grok | Format::Kimi | Format::Qwen | Format::Antigravity => {
                FormatState::EventLog(Box::new(EventLog::new(Layout::of(format))))
            }
            Format::Anthropic => requests(Dialect::Anthropic),
            Format::OpenaiResponses => requests(Dialect::OpenaiResponses),
            Format::Gemini => requests(Dialect::Gemini),
            Format::SweAgent => FormatState::SweAgent(SweAgent::default()),
            Format::TauBench => FormatState::TauBench(TauBench::default()),
            Format::OpenaiChat => FormatState::OpenaiChat(OpenaiChat::default()),
            Format::Aider => FormatState::Aider(Box::default()),
            Format::Wunderblock => FormatState::Wunderblock(Box::default()),
            Format::JsonLines | Format::JsonDocument => FormatState::Generic(Generic::new(format.name())),
        };
        Self { format, state, restored: false, ended: false }
    }

    /// Returns the format that this reader reads.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the id that the format gives to the file's own session, if a record has contained that id. For records
    /// of the file's own session, [`TranscriptRecord::session`] is `None`.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        match &self.state {
            FormatState::ClaudeCode(state) => state.session(),
            FormatState::Codex(state) => state.session(),
            FormatState::Pi(state) => state.session(),
            FormatState::GeminiCli(state) => state.session(),
            FormatState::Copilot(state) => state.session(),
            FormatState::OpenCode(state) => state.session(),
            FormatState::Cursor(state) => state.session(),
            FormatState::ChatExport(state) => state.session(),
            FormatState::Wunderblock(state) => state.session(),
            FormatState::EventLog(state) => state.session(),
            FormatState::Requests(state) => state.session(),
            FormatState::SweAgent(state) => state.session(),
            FormatState::TauBench(_)
            | FormatState::OpenaiChat(_)
            | FormatState::Aider(_)
            | FormatState::Generic(_) => None,
        }
    }

    /// Reads one line. `offset` is the offset of the line's first byte in the file, `line` is the line's number,
    /// counted from 1, and `bytes` excludes the line end.
    ///
    /// A line usually gives one record. A line gives no record if it is blank or if its record is not complete yet. A
    /// line gives several records if it contains several values or a whole conversation, or if it completes earlier
    /// records.
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
                    FormatState::GeminiCli(state) => state.document(part, value.get()),
                    FormatState::OpenCode(state) if value.get().starts_with('{') => {
                        state.document(part, value.get())
                    }
                    FormatState::Requests(state) => state.read(part, value.get()),
                    FormatState::TauBench(state) => state.read(part, value.get()),
                    FormatState::Generic(state) => state.document(part, value.get()),
                    _ => self.value(part, value.get()),
                }
            }
            Err(_) if begins_with_a_value(text) => self.each_line(bytes),
            Err(error) => vec![TranscriptRecord::broken(span, broken(&error))],
        }
    }

    /// Ends the file. Returns the records that have been held back so far.
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

    /// Reads a line that is not one object: several values, a value of another kind, or invalid JSON.
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
            let rest = text.get(end..).unwrap_or_default().trim_ascii();
            // A form feed is white space here, but not in JSON.
            if end > 0 && rest.is_empty() {
                return records;
            }
            // A line that is broken from its beginning is one record of all its bytes, including the byte order mark.
            let part = if end == 0 { span } else { part_span(rest, text, base) };
            let record = TranscriptRecord::broken(part, failure);
            records.extend(self.settled(vec![record]));
            return records;
        }
    }

    /// Reads one JSON value.
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
            FormatState::GeminiCli(state) => vec![state.read(span, object)],
            FormatState::Copilot(state) => vec![state.read(span, object)],
            FormatState::OpenCode(state) => state.read(span, text, object),
            FormatState::Cursor(state) => state.read(span, text, object),
            FormatState::ChatExport(state) => vec![state.read(span, object)],
            FormatState::EventLog(state) => vec![state.read(span, object)],
            FormatState::Requests(state) => state.read(span, text),
            FormatState::SweAgent(state) => state.read(span, text),
            FormatState::TauBench(state) => state.read(span, text),
            FormatState::OpenaiChat(state) => state.line(span, text, object),
            FormatState::Generic(state) => state.line(span, text, object),
            FormatState::Wunderblock(state) => vec![state.read(span, text, object)],
            FormatState::Aider(_) => Vec::new(),
        }
    }

    /// Reads a JSON value that is not an object.
    fn other(&mut self, span: ByteSpan, text: &str) -> Vec<TranscriptRecord> {
        if text.starts_with('[') {
            let records = match &mut self.state {
                FormatState::Requests(state) => state.read(span, text),
                FormatState::TauBench(state) => state.read(span, text),
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
        let why = format!("expected an object, found {found}");
        self.settled(vec![TranscriptRecord::opaque(span, kind, why)])
    }

    /// Returns the records that the format holds back, followed by records that it does not interpret.
    fn settled(&mut self, records: Vec<TranscriptRecord>) -> Vec<TranscriptRecord> {
        match &mut self.state {
            FormatState::Codex(state) => state.behind(records),
            _ => records,
        }
    }
}

/// Returns the text of a line. Fails if the text is not UTF-8 or is nested too deeply. A byte order mark at the
/// beginning of the file is not part of the text.
fn text(bytes: &[u8], offset: u64) -> Result<&str, String> {
    let bytes = if offset == 0 { bytes.strip_prefix(BOM).unwrap_or(bytes) } else { bytes };
    let text = std::str::from_utf8(bytes)
        .map_err(|error| format!("invalid UTF-8 at byte {} of the record", error.valid_up_to()))?;
    if object::too_deep(text) {
        return Err(format!("JSON nested deeper than {} levels", object::MAX_DEPTH));
    }
    Ok(text)
}

/// Returns the span of the text at the end of `span`, which excludes a byte order mark.
fn at_text(span: ByteSpan, text: &str) -> ByteSpan {
    let len = text.len() as u64;
    ByteSpan { offset: span.offset + span.len.saturating_sub(len), len, line: span.line }
}

/// Returns the span of a part of a line.
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
    format!("invalid JSON: {error}")
}
