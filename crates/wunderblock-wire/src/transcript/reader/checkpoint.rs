//! Stops a reader between two lines, and lets it continue later.
//!
//! A checkpoint does not contain the ids of all records, because their number grows with the file and callers have
//! them in the ledger. Before each line, a restored reader therefore names the ids that it needs.

use super::{FormatState, TranscriptReader};
use crate::transcript::format::Format;
use crate::transcript::parsing::object::Object;
use crate::transcript::parsing::seen::hash;
use memchr::memmem;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::mem::discriminant;

/// Version of the written states. The version changes when a reader's state or the meaning of that state changes.
const VERSION: u32 = 1;

/// Maximum number of bytes in a checkpoint's state. The state is stored each time a file grows, so a larger state
/// costs more than it saves. A state this large has thousands of sessions or a reply of tens of thousands of records.
const MAX_STATE: usize = 1 << 20;

/// State of a [`TranscriptReader`] between two lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Argument of [`TranscriptReader::restore`]: JSON with a version and a checksum, at most 1 MiB, usually less
    /// than 1 KiB.
    pub state: Vec<u8>,
    /// Offset of the line to continue with, if that line has already been read. `None` means the next line.
    pub resume: Option<u64>,
    /// Number of that line.
    pub resume_line: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct Sealed<'s> {
    version: u32,
    format: &'s str,
    /// Hash of format and state. The hash reveals damage that leaves the JSON valid.
    check: u64,
    #[serde(borrow)]
    state: &'s RawValue,
}

impl Sealed<'_> {
    fn sum(&self) -> u64 {
        hash([self.format, self.state.get()])
    }
}

impl TranscriptReader {
    /// Returns the state after the last line read, or `None` if no checkpoint is possible.
    ///
    /// No checkpoint is possible after [`TranscriptReader::finish`] or [`TranscriptReader::document`], if the state
    /// exceeds 1 MiB, or while a reader of Codex holds back records, which happens only near the beginning of a file.
    /// An earlier checkpoint of the file stays valid. Making a checkpoint usually takes 10 µs.
    #[must_use]
    pub fn checkpoint(&self) -> Option<Checkpoint> {
        if !self.can_continue() {
            return None;
        }
        let state = serde_json::value::to_raw_value(&self.state).ok()?;
        let mut sealed = Sealed { version: VERSION, format: self.format.name(), check: 0, state: &state };
        sealed.check = sealed.sum();
        let state = serde_json::to_vec(&sealed).ok().filter(|state| state.len() <= MAX_STATE)?;
        let (resume, resume_line) = self.open_line().unzip();
        Some(Checkpoint { state, resume, resume_line })
    }

    /// Returns the offset before which all records of the lines read so far, up to `read`, have been returned. Unlike a
    /// checkpoint, the answer takes no time that grows with the number of sessions.
    #[must_use]
    pub fn returned(&self, read: u64) -> u64 {
        if self.can_continue() { self.open_line().map_or(read, |(offset, _)| offset) } else { 0 }
    }

    fn can_continue(&self) -> bool {
        !self.ended && !matches!(&self.state, FormatState::Codex(state) if state.holds())
    }

    /// Returns the offset and the number of the first line whose records wait for later lines.
    fn open_line(&self) -> Option<(u64, u64)> {
        let FormatState::Aider(state) = &self.state else { return None };
        state.open().map(|span| (span.offset, span.line))
    }

    /// Creates a reader that continues from a [`Checkpoint::state`]. `name` is the current name of the file.
    ///
    /// Returns `None` if the state is damaged, if it has another version or format, or if the name now means another
    /// session. Callers then read the file from its beginning.
    #[must_use]
    pub fn restore(format: Format, name: &str, state: &[u8]) -> Option<Self> {
        let sealed: Sealed<'_> = serde_json::from_slice(state).ok()?;
        let known = sealed.version == VERSION && sealed.format == format.name();
        if !known || sealed.check != sealed.sum() {
            return None;
        }
        let fresh = Self::new(format, name);
        let state: FormatState = serde_json::from_str(sealed.state.get()).ok()?;
        if discriminant(&state) != discriminant(&fresh.state) {
            return None;
        }
        let state = match state {
            FormatState::ClaudeCode(state) => FormatState::ClaudeCode(Box::new(state.restored(name)?)),
            FormatState::EventLog(state) => FormatState::EventLog(Box::new(state.restored(format))),
            FormatState::Generic(state) => FormatState::Generic(state.restored(format.name())),
            state => state,
        };
        Some(Self { state, restored: true, ..fresh })
    }

    /// Returns the ids of earlier records that a line refers to and this reader does not know.
    ///
    /// Callers ask for these ids before each line and answer with [`TranscriptReader::remind`]. A reader that began
    /// at the beginning of the file knows all ids. A reader of a format whose records do not refer to each other
    /// needs no ids.
    #[must_use]
    pub fn unknown(&self, bytes: &[u8]) -> Vec<Box<str>> {
        if !self.restored || !self.may_refer(bytes) {
            return Vec::new();
        }
        let Ok(text) = std::str::from_utf8(bytes) else { return Vec::new() };
        let values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
        let values = values.map_while(Result::ok);
        if let FormatState::Requests(state) = &self.state {
            return state.unknown(values.collect());
        }
        let ids = values.filter_map(Object::of).flat_map(|object| match &self.state {
            FormatState::ClaudeCode(state) => state.unknown(&object).into_iter().collect(),
            FormatState::Pi(state) => state.unknown(&object).into_iter().collect(),
            FormatState::EventLog(state) => state.unknown(&object).into_iter().collect(),
            FormatState::GeminiCli(state) => state.unknown(&object),
            FormatState::OpenCode(state) => state.unknown(&object),
            FormatState::Cursor(state) => state.unknown(&object),
            FormatState::ChatExport(state) => state.unknown(&object),
            _ => Vec::new(),
        });
        ids.collect()
    }

    /// Tells the reader that an earlier record has this id.
    ///
    /// `session` is that record's [`session`](crate::transcript::TranscriptRecord::session): its native name, or
    /// `None` for the file's own session. Records that the reader has read itself take precedence.
    pub fn remind(&mut self, id: &str, session: Option<&str>) {
        let seen = match &mut self.state {
            FormatState::ClaudeCode(state) => return state.remind(id, session),
            FormatState::Pi(state) => &mut state.seen,
            FormatState::GeminiCli(state) => &mut state.seen,
            FormatState::OpenCode(state) => &mut state.seen,
            FormatState::Cursor(state) => &mut state.seen,
            FormatState::ChatExport(state) => &mut state.seen,
            FormatState::EventLog(state) => &mut state.seen,
            FormatState::Requests(state) => &mut state.seen,
            _ => return,
        };
        seen.remind(id, 0);
    }
}

impl TranscriptReader {
    /// Returns whether a line may refer to an unknown record. Most lines follow the previous line, so a scan for the
    /// field's name avoids parsing them. The scan may report a field of a nested object as a reference, but never
    /// misses a reference.
    fn may_refer(&self, bytes: &[u8]) -> bool {
        let key: &[u8] = match &self.state {
            // The end of `parentUuid` and of `logicalParentUuid`.
            FormatState::ClaudeCode(_) => b"arentUuid\"",
            FormatState::Pi(_) => b"parentId\"",
            FormatState::EventLog(_)
            | FormatState::Requests(_)
            | FormatState::OpenCode(_)
            | FormatState::Cursor(_)
            | FormatState::ChatExport(_) => return true,
            FormatState::GeminiCli(_) => return memmem::find(bytes, b"\"$").is_some(),
            _ => return false,
        };
        memmem::find_iter(bytes, key).any(|at| {
            let behind = bytes.get(at + key.len()..).unwrap_or_default().trim_ascii_start();
            behind.strip_prefix(b":").is_some_and(|value| !self.knows(value.trim_ascii_start()))
        }) || has_escaped_letter(bytes)
    }

    /// Returns whether the value at the beginning of a text is the id of a known record, or not a string.
    fn knows(&self, value: &[u8]) -> bool {
        let Some(text) = value.strip_prefix(b"\"") else { return true };
        let id = memchr::memchr2(b'"', b'\\', text).and_then(|end| {
            let ended = text.get(end) == Some(&b'"');
            std::str::from_utf8(text.get(..end)?).ok().filter(|_| ended)
        });
        match (&self.state, id) {
            (FormatState::ClaudeCode(state), Some(id)) => state.knows(id),
            (FormatState::Pi(state), Some(id)) => state.seen.contains(id),
            _ => false,
        }
    }
}

/// Returns whether a letter is escaped as `\u00xx`, so that a field's name may have another spelling.
fn has_escaped_letter(bytes: &[u8]) -> bool {
    let escape = b"\\u00";
    let digit = |at: usize| bytes.get(at + escape.len());
    memmem::find_iter(bytes, escape).any(|at| matches!(digit(at), Some(b'4'..=b'7')))
}
