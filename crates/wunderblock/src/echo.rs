//! Where an imported file says an erased text once more: transcripts repeat what was said in records that are no part
//! of the conversation (a title, the last prompt, a notice for the screen), and no event points at those.
//!
//! The source is read again as it was imported, and such records that hold the beginning of an erased text go with it,
//! whole. Texts too short to tell anything are not looked for.

use crate::engine::Engine;
use crate::error::Error;
use crate::store::{REPEATED_MIN, SourceInfo, SourceSpan};
use aho_corasick::AhoCorasick;
use std::io::Write;
use wunderblock_wire::transcript::{Format, Kept, Reader, Record, Shape};

/// As much of a text's beginning is looked for: a title or a preview may be cut.
const BEGINNING: usize = 40;

/// The beginning of a text as it stands inside a JSON string; `None` for one that is too short.
pub(crate) fn beginning(text: &str) -> Option<String> {
    let text = text.trim();
    if (text.len() as u64) < REPEATED_MIN {
        return None;
    }
    let head = text.get(..text.floor_char_boundary(BEGINNING))?;
    let quoted = serde_json::to_string(head).ok()?;
    Some(quoted.trim_matches('"').to_owned())
}

/// Reads a source line by line as it is written.
struct Listening {
    reader: Reader,
    wanted: AhoCorasick,
    line: Vec<u8>,
    offset: u64,
    number: u64,
    source: SourceInfo,
    found: Vec<SourceSpan>,
}

impl Listening {
    fn take(&mut self, records: Vec<Record>) {
        for record in records {
            let from = record.offset.checked_sub(self.offset).and_then(|from| usize::try_from(from).ok());
            let to = from.zip(usize::try_from(record.len).ok()).map(|(from, len)| from.saturating_add(len));
            let raw = from.zip(to).and_then(|(from, to)| self.line.get(from..to.min(self.line.len())));
            let silent = record.kept == Kept::Bookkeeping || record.items.is_empty();
            if silent && raw.is_some_and(|raw| self.wanted.is_match(raw)) {
                self.found.push(SourceSpan {
                    source: self.source.handle,
                    revision: self.source.revision,
                    offset: record.offset,
                    len: record.len,
                });
            }
        }
    }

    fn end_line(&mut self) {
        self.number += 1;
        let bare = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let bare = bare.strip_suffix(b"\r").unwrap_or(bare);
        let records = self.reader.line(self.offset, self.number, bare);
        self.take(records);
        self.offset += self.line.len() as u64;
        self.line.clear();
    }
}

impl Write for Listening {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.end_line();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Engine {
    /// The records of a source that say something of erased texts once more, and that no event points at.
    pub(crate) async fn echoes(
        &self,
        source: SourceInfo,
        beginnings: &[String],
    ) -> Result<Vec<SourceSpan>, Error> {
        let Some(format) = Format::from_name(&source.format) else { return Ok(Vec::new()) };
        let wanted = AhoCorasick::new(beginnings).map_err(|error| Error::Query(error.to_string()))?;
        let name = std::path::Path::new(&source.key).file_name();
        let name = name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut head = Vec::new();
        self.copy_source(&source, (0, source.len.min(64 << 10)), &mut head).await?;
        let mut listening = Listening {
            reader: Reader::new(format, &name),
            wanted,
            line: Vec::new(),
            offset: 0,
            number: 0,
            found: Vec::new(),
            source: source.clone(),
        };
        if format.shape(&head) == Shape::Document {
            let mut bytes = Vec::new();
            self.copy_source(&source, (0, source.len), &mut bytes).await?;
            let records = listening.reader.document(&bytes);
            listening.line = bytes;
            listening.take(records);
        } else {
            self.copy_source(&source, (0, source.len), &mut listening).await?;
            if !listening.line.is_empty() {
                listening.end_line();
            }
        }
        Ok(listening.found)
    }
}
