//! Stopping a reader between two lines and going on later.
//!
//! The ids of all records are left out of a checkpoint, since they grow with the file: the caller has them in its
//! ledger. So a restored reader names the ids it needs to know of before each line.

use super::{FormatState, TranscriptReader};
use crate::transcript::format::Format;
use crate::transcript::object::Object;
use crate::transcript::seen::hash;
use memchr::memmem;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::mem::discriminant;

/// The version of the states written. A reader whose state or whose meaning of it changes needs another one.
const VERSION: u32 = 1;

/// Maximum bytes of a checkpoint's state. It is stored with each growth of a file, so a larger one costs more than it
/// saves. A state this large has thousands of sessions or a reply of tens of thousands of records.
const MAX_STATE: usize = 1 << 20;

/// The state of a [`TranscriptReader`] between two lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// What [`TranscriptReader::restore`] takes: JSON with a version and a checksum, at most 1 MiB, usually less than 1 KiB.
    pub state: Vec<u8>,
    /// The first byte of the line to go on with, if it is one read before. `None`: go on with the next line.
    pub resume: Option<u64>,
    /// The number of that line.
    pub resume_line: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct Sealed<'s> {
    version: u32,
    format: &'s str,
    /// Hash of format and state, so that damage is found where it leaves valid JSON.
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
    /// The state after the lines read so far; `None` where no checkpoint is possible.
    ///
    /// A reader gives none after [`TranscriptReader::finish`] and [`TranscriptReader::document`], none where its state exceeds 1 MiB, and
    /// for Codex none while it holds back records, which happens near the beginning of a file only. An earlier
    /// checkpoint of the file stays valid. Making one usually takes 10 µs.
    #[must_use]
    pub fn checkpoint(&self) -> Option<Checkpoint> {
        let (holds, open) = match &self.state {
            FormatState::Codex(state) => (state.holds(), None),
            FormatState::Aider(state) => (false, state.open()),
            _ => (false, None),
        };
        if self.ended || holds {
            return None;
        }
        let state = serde_json::value::to_raw_value(&self.state).ok()?;
        let mut sealed = Sealed { version: VERSION, format: self.format.name(), check: 0, state: &state };
        sealed.check = sealed.sum();
        let state = serde_json::to_vec(&sealed).ok().filter(|state| state.len() <= MAX_STATE)?;
        Some(Checkpoint {
            state,
            resume: open.map(|span| span.offset),
            resume_line: open.map(|span| span.line),
        })
    }

    /// A reader that goes on from a [`Checkpoint::state`]; `name` is the file's name today.
    ///
    /// `None` if the state is damaged, of another version or of another format, or if the name now means another
    /// session. The caller then reads the file from its beginning.
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
            FormatState::Generic(state) => FormatState::Generic(state.restored(format.name())),
            state => state,
        };
        Some(Self { state, restored: true, ..fresh })
    }

    /// The ids of earlier records a line refers to that this reader does not know.
    ///
    /// The caller asks before each line and answers with [`TranscriptReader::remind`]. Nothing is unknown to a reader that began
    /// at the file's beginning, nor to one of a format whose records do not refer to each other.
    #[must_use]
    pub fn unknown(&self, bytes: &[u8]) -> Vec<Box<str>> {
        if !self.restored || !self.may_refer(bytes) {
            return Vec::new();
        }
        let Ok(text) = std::str::from_utf8(bytes) else { return Vec::new() };
        let values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
        let objects = values.map_while(Result::ok).filter_map(Object::of);
        let ids = objects.filter_map(|object| match &self.state {
            FormatState::ClaudeCode(state) => state.unknown(&object),
            FormatState::Pi(state) => state.unknown(&object),
            _ => None,
        });
        ids.collect()
    }

    /// Tells the reader that an earlier record has this id.
    ///
    /// `session` is that record's [`Record::session`](crate::transcript::TranscriptRecord::session): its native name, `None` for
    /// the file's own. The reader keeps what it knows of records it has read itself.
    pub fn remind(&mut self, id: &str, session: Option<&str>) {
        match &mut self.state {
            FormatState::ClaudeCode(state) => state.remind(id, session),
            FormatState::Pi(state) => state.remind(id),
            _ => {}
        }
    }
}

impl TranscriptReader {
    /// Whether a line may refer to an unknown record. Most lines follow the one before, so a scan for the field's name
    /// spares parsing them. It errs on one side only: what a field inside another says may come out as a reference.
    fn may_refer(&self, bytes: &[u8]) -> bool {
        let key: &[u8] = match &self.state {
            // The end of `parentUuid` and of `logicalParentUuid`.
            FormatState::ClaudeCode(_) => b"arentUuid\"",
            FormatState::Pi(_) => b"parentId\"",
            _ => return false,
        };
        memmem::find_iter(bytes, key).any(|at| {
            let behind = bytes.get(at + key.len()..).unwrap_or_default().trim_ascii_start();
            behind.strip_prefix(b":").is_some_and(|value| !self.knows(value.trim_ascii_start()))
        }) || has_escaped_letter(bytes)
    }

    /// Whether the value a text begins with is the id of a known record, or no text.
    fn knows(&self, value: &[u8]) -> bool {
        let Some(text) = value.strip_prefix(b"\"") else { return true };
        let id = memchr::memchr2(b'"', b'\\', text).and_then(|end| {
            let ended = text.get(end) == Some(&b'"');
            std::str::from_utf8(text.get(..end)?).ok().filter(|_| ended)
        });
        match (&self.state, id) {
            (FormatState::ClaudeCode(state), Some(id)) => state.knows(id),
            (FormatState::Pi(state), Some(id)) => state.knows(id),
            _ => false,
        }
    }
}

/// Whether a letter is written as `\u00xx`, so that a field's name may be spelled in another way.
fn has_escaped_letter(bytes: &[u8]) -> bool {
    let escape = b"\\u00";
    let digit = |at: usize| bytes.get(at + escape.len());
    memmem::find_iter(bytes, escape).any(|at| matches!(digit(at), Some(b'4'..=b'7')))
}
