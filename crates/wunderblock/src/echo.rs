//! Where imported files hold what is erased: records by their ids and sessions, and records that say an erased text once
//! more. Transcripts repeat what was said in records that are no part of the conversation (a title, the last prompt, a
//! notice for the screen), and no event points at those.
//!
//! A revision is read again as it was imported. Texts too short to tell anything are not looked for.

use crate::engine::Engine;
use crate::error::Error;
use crate::import::{record_name, session_name};
use crate::store::{REPEATED_MIN, SourceInfo, SourceSpan};
use aho_corasick::AhoCorasick;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use wunderblock_wire::transcript::{Format, Kept, Reader, Record, Shape};

/// What is looked for in a revision.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// Sessions by the agent's own ids: all their records, or those of `records`.
    pub(crate) sessions: BTreeSet<String>,
    /// Whether all records of the sessions are wanted.
    pub(crate) whole: bool,
    /// Records of the sessions, by their own ids or `r` and their offset.
    pub(crate) records: BTreeSet<String>,
    /// Texts of records that make no event, by their beginnings as they stand inside a JSON string.
    pub(crate) beginnings: Vec<String>,
}

/// A record that holds what was looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Where.
    pub(crate) span: SourceSpan,
    /// Its session, by the agent's own id.
    pub(crate) session: String,
    /// Its own id, or `r` and its offset.
    pub(crate) record: String,
}

/// As much of a text's beginning is looked for: a title or a preview may be cut.
const BEGINNING: usize = 40;

/// Records up to this many bytes go whole.
const SMALL: usize = 16 << 10;

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
    wanted: Wanted,
    texts: AhoCorasick,
    /// What the ledger calls the file.
    file: String,
    line: Vec<u8>,
    offset: u64,
    number: u64,
    source: SourceInfo,
    found: Vec<Hit>,
}

impl Listening {
    fn take(&mut self, records: Vec<Record>) {
        for record in records {
            let session = session_name(self.reader.format(), &self.file, &record, self.reader.session());
            let name = record_name(&record);
            let ours = self.wanted.sessions.contains(&session);
            let spans = if ours && (self.wanted.whole || self.wanted.records.contains(&*name)) {
                vec![(0, record.len)]
            } else {
                self.repeated(&record)
            };
            for (from, to) in spans {
                let span = SourceSpan {
                    source: self.source.handle,
                    revision: self.source.revision.no,
                    offset: record.offset + from,
                    len: to - from,
                };
                self.found.push(Hit { span, session: session.clone(), record: name.to_string() });
            }
        }
    }

    /// Where a record that makes no event repeats a text.
    fn repeated(&self, record: &Record) -> Vec<(u64, u64)> {
        let from = record.offset.checked_sub(self.offset).and_then(|from| usize::try_from(from).ok());
        let to = from.zip(usize::try_from(record.len).ok()).map(|(from, len)| from.saturating_add(len));
        let raw = from.zip(to).and_then(|(from, to)| self.line.get(from..to.min(self.line.len())));
        let silent = record.kept == Kept::Bookkeeping || record.items.is_empty();
        let Some(raw) = raw.filter(|_| silent && !self.wanted.beginnings.is_empty()) else {
            return Vec::new();
        };
        losing(raw, &self.texts).into_iter().map(|(from, to)| (from as u64, to as u64)).collect()
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

/// What a record loses: all of it, or of a large one (what surrounds the messages of a document) the strings.
fn losing(raw: &[u8], wanted: &AhoCorasick) -> Vec<(usize, usize)> {
    if raw.len() <= SMALL {
        return if wanted.is_match(raw) { vec![(0, raw.len())] } else { Vec::new() };
    }
    let is_quote = |at: usize| {
        let escapes = || raw.get(..at).unwrap_or_default().iter().rev().take_while(|byte| **byte == b'\\');
        raw.get(at) == Some(&b'"') && escapes().count().is_multiple_of(2)
    };
    let mut strings: Vec<(usize, usize)> = Vec::new();
    for found in wanted.find_iter(raw) {
        if strings.last().is_some_and(|(_, end)| found.start() < *end) {
            continue;
        }
        let start = (0..found.start()).rev().find(|at| is_quote(*at)).map_or(0, |at| at + 1);
        let end = (found.end()..raw.len()).find(|at| is_quote(*at)).unwrap_or(raw.len());
        strings.push((start, end));
    }
    strings
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
    /// The records of a revision that hold what is wanted.
    pub(crate) async fn hits(&self, source: SourceInfo, wanted: Wanted) -> Result<Vec<Hit>, Error> {
        let Some(format) = Format::from_name(&source.revision.format) else { return Ok(Vec::new()) };
        let texts = AhoCorasick::new(&wanted.beginnings).map_err(|error| Error::Query(error.to_string()))?;
        let path = PathBuf::from(&source.key);
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let len = source.revision.len;
        let file = self.file_name(&source, format).await?;
        let mut head = Vec::new();
        self.copy_source(&source, (0, len.min(64 << 10)), &mut head).await?;
        let mut listening = Listening {
            reader: Reader::new(format, &name),
            wanted,
            texts,
            file,
            line: Vec::new(),
            offset: 0,
            number: 0,
            found: Vec::new(),
            source: source.clone(),
        };
        if format.shape(&head) == Shape::Document {
            let mut bytes = Vec::new();
            self.copy_source(&source, (0, len), &mut bytes).await?;
            let records = listening.reader.document(&bytes);
            listening.line = bytes;
            listening.take(records);
        } else {
            self.copy_source(&source, (0, len), &mut listening).await?;
            if !listening.line.is_empty() {
                listening.end_line();
            }
        }
        let last = listening.reader.finish();
        listening.take(last);
        Ok(listening.found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_record_loses_strings_a_small_one_all() {
        let wanted = AhoCorasick::new(["the secret words"]).unwrap();
        let small = br#"{"a":"the secret words","b":1}"#;
        assert_eq!(losing(small, &wanted), [(0, small.len())]);
        assert_eq!(losing(b"{}", &wanted), []);
        let said = r#"say \"it\": the secret words \\"#;
        let large = format!(r#"{{"pad":"{}","a":"{said}","b":["the secret words"]}}"#, "x".repeat(SMALL));
        let lost: Vec<&str> = losing(large.as_bytes(), &wanted).iter().map(|it| &large[it.0..it.1]).collect();
        assert_eq!(lost, [said, "the secret words"]);
    }

    #[test]
    fn short_texts_are_not_looked_for() {
        assert_eq!(beginning("yes, go on"), None);
        assert_eq!(
            beginning(&"a \"b\" ".repeat(9)).unwrap(),
            r#"a \"b\" a \"b\" a \"b\" a \"b\" a \"b\" a \"b\" a \"b"#
        );
    }
}
