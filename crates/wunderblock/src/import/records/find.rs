//! Finds erased content in imported files: records by their ids and sessions, and records that repeat an erased text.
//! Transcripts repeat messages in records outside the conversation (a title, the last prompt, a notice for the
//! screen), and no event points to those records.
//!
//! Each revision is read again in the same way as it was imported. Texts below a minimum length are not searched for,
//! because they occur everywhere.

use crate::base::deadline::Deadline;
use crate::base::error::{Error, file_error};
use crate::import::records::file_name::file_name;
use crate::import::records::lost::LostContent;
use crate::import::records::name::{event_id, is_unique, raw_of, record_name, session_name};
use crate::ledger::engine::Engine;
use crate::ledger::kept_bytes::{AROUND, KeptText, Window};
use crate::ledger::reading::lineage::native;
use crate::ledger::reading::originals::{copy_source, readers_of};
use aho_corasick::AhoCorasick;
use memchr::memmem;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use wunderblock_core::id::Handle;
use wunderblock_store::{Answer, Query, REPEATED_MIN, SourceInfo, SourceSpan};
use wunderblock_wire::transcript::{FileShape, Format, RecordStatus, TranscriptReader, TranscriptRecord};

/// Query for records of a revision. A record that meets any of the conditions is a hit.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordQuery {
    /// The agent's ids for the sessions whose records are wanted: either all of their records, or only those of
    /// `events`.
    pub(crate) sessions: BTreeSet<String>,
    /// Whether all records of the sessions are wanted.
    pub(crate) whole: bool,
    /// Ids of the events whose records are wanted: within `sessions`, and in any session if they are unique.
    pub(crate) events: BTreeSet<String>,
    /// Places in the imported files from which the wanted events were read.
    pub(crate) spans: BTreeSet<SourceSpan>,
    /// Content erased earlier, by session.
    pub(crate) records: LostContent,
    /// Beginnings of texts to find in records that produce no event, escaped as in a JSON string.
    pub(crate) beginnings: Vec<String>,
    /// Text to find in any record.
    pub(crate) text: Option<Needle>,
}

/// Record that matches a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordHit {
    /// Place of the record, or of the part of it that matches.
    pub(crate) span: SourceSpan,
    /// The agent's id for the record's session.
    pub(crate) session: String,
    /// Id of the record, or `r` and its offset if the record has none.
    pub(crate) record: String,
}

/// Returns whether a record produced one of these events.
fn made_one(record: &TranscriptRecord, name: &str, events: &BTreeSet<String>) -> bool {
    let mut ids = (0..=record.items.len()).filter_map(|number| event_id(name, number).ok());
    !events.is_empty() && ids.any(|id| events.contains(id.as_str()))
}

/// Number of bytes from which the shape of a file is detected.
const HEAD: u64 = 64 << 10;

/// Number of bytes searched for from the beginning of a text: titles and previews may be cut, so the whole text may
/// not occur.
const BEGINNING: usize = 40;

/// Maximum size in bytes of a record that is erased as a whole.
const SMALL: usize = 16 << 10;

/// Returns the beginning of a text, escaped as in a JSON string. `None` if the text is too short.
pub(crate) fn beginning(text: &str) -> Option<String> {
    let text = text.trim();
    if (text.len() as u64) < REPEATED_MIN {
        return None;
    }
    let head = text.get(..text.floor_char_boundary(BEGINNING))?;
    let quoted = serde_json::to_string(head).ok()?;
    Some(quoted.trim_matches('"').to_owned())
}

/// Record passed to a listener, with its session, its name and its raw bytes.
struct Heard<'r> {
    record: &'r TranscriptRecord,
    session: String,
    name: Box<str>,
    raw: &'r [u8],
}

/// Writer that parses a transcript line by line and passes each record to a listener.
struct Listening<F> {
    reader: TranscriptReader,
    /// Name of the file in the ledger.
    file: String,
    line: Vec<u8>,
    offset: u64,
    number: u64,
    each: F,
}

impl<F: FnMut(Heard<'_>)> Listening<F> {
    fn take(&mut self, records: Vec<TranscriptRecord>) {
        for record in records {
            let session = session_name(self.reader.format(), &self.file, &record, self.reader.session());
            let name = record_name(&record);
            let raw = raw_of(&record, &self.line, self.offset);
            (self.each)(Heard { record: &record, session, name, raw });
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

    /// Processes the end of a file. A document is parsed here as a whole, because it has no lines.
    fn end(mut self, document: Option<Vec<u8>>) {
        if let Some(bytes) = document {
            let records = self.reader.document(&bytes);
            self.line = bytes;
            self.take(records);
        } else if !self.line.is_empty() {
            self.end_line();
        }
        let last = self.reader.finish();
        self.take(last);
    }
}

/// Collects the records of a revision that match a query.
struct Finder {
    wanted: RecordQuery,
    /// Matcher for the wanted beginnings.
    beginnings: AhoCorasick,
    source: Handle,
    revision: u32,
    found: Vec<RecordHit>,
}

impl Finder {
    fn take(&mut self, Heard { record, session, name, raw }: Heard<'_>) {
        let whole = self.span(record.offset, record.len);
        let ours = self.wanted.sessions.contains(&session);
        let ours = ours && self.wanted.whole
            || (ours || is_unique(&name)) && made_one(record, &name, &self.wanted.events);
        let lost = self.wanted.records.get(&session);
        let lost = lost.is_some_and(|lost| lost.has_record(record, &name));
        let spans = if ours || lost || self.wanted.spans.contains(&whole) {
            vec![(0, record.len)]
        } else {
            self.repeated(record, raw)
        };
        for (from, to) in spans {
            let span = self.span(record.offset + from, to - from);
            self.found.push(RecordHit { span, session: session.clone(), record: name.to_string() });
        }
    }

    fn span(&self, offset: u64, len: u64) -> SourceSpan {
        SourceSpan { source: self.source, revision: self.revision, offset, len }
    }

    /// Returns the parts of a record that repeat a wanted text, as ranges of bytes.
    fn repeated(&self, record: &TranscriptRecord, raw: &[u8]) -> Vec<(u64, u64)> {
        let silent = record.kept == RecordStatus::Bookkeeping || record.items.is_empty();
        let begins = silent && !self.wanted.beginnings.is_empty();
        let holds = |raw: &[u8]| {
            begins && self.beginnings.is_match(raw)
                || self.wanted.text.as_ref().is_some_and(|text| text.is_in(raw))
        };
        losing(raw, &holds).into_iter().map(|(from, to)| (from as u64, to as u64)).collect()
    }
}

/// Returns the parts of a record that must be erased: the whole record, or only the matching strings if the record is
/// large. The text around the messages of a document forms one large record.
fn losing(raw: &[u8], holds: &dyn Fn(&[u8]) -> bool) -> Vec<(usize, usize)> {
    if !holds(raw) {
        return Vec::new();
    }
    if raw.len() <= SMALL {
        return vec![(0, raw.len())];
    }
    let mut strings = Vec::new();
    let (mut start, mut escaped) = (0, false);
    for (at, byte) in raw.iter().enumerate() {
        if *byte == b'"' && !escaped {
            strings.push((start, at));
            start = at + 1;
        }
        escaped = *byte == b'\\' && !escaped;
    }
    strings.push((start, raw.len()));
    strings.retain(|(from, to)| raw.get(*from..*to).is_some_and(holds));
    // If the text is found only across several strings, the whole record is erased.
    if strings.is_empty() { vec![(0, raw.len())] } else { strings }
}

/// Finds a text both in plain form and escaped inside JSON strings, in any way that JSON allows.
#[derive(Clone, Debug)]
pub(crate) struct Needle(memmem::Finder<'static>);

/// Maximum nesting depth of JSON strings within JSON strings. A record may hold a call whose arguments are JSON in a
/// string, and that JSON may itself contain strings of JSON.
const NESTED: usize = 3;

impl Needle {
    pub(crate) fn new(text: &str) -> Self {
        Self(memmem::Finder::new(text.as_bytes()).into_owned())
    }

    /// Returns the maximum number of bytes that the text takes if it is escaped once: an escape takes at most six bytes
    /// per byte of the text.
    fn span(&self) -> usize {
        self.0.needle().len().saturating_mul(6)
    }

    pub(crate) fn is_in(&self, raw: &[u8]) -> bool {
        let mut layer = Cow::Borrowed(raw);
        for _ in 0..=NESTED {
            if self.0.find(&layer).is_some() {
                return true;
            }
            match unescaped(&layer) {
                Some(next) => layer = Cow::Owned(next),
                None => return false,
            }
        }
        false
    }
}

/// Removes one layer of JSON escapes (RFC 8259, section 7). `None` without escapes.
fn unescaped(raw: &[u8]) -> Option<Vec<u8>> {
    memchr::memchr(b'\\', raw)?;
    let mut out = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let (plain, escape) = rest.split_at(at);
        out.extend_from_slice(plain);
        rest = escape.get(2..).unwrap_or_default();
        match escape.get(1).copied() {
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(b'r') => out.push(b'\r'),
            Some(b'b') => out.push(8),
            Some(b'f') => out.push(12),
            Some(b'u') => {
                let (c, len) = code_point(rest);
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                rest = rest.get(len..).unwrap_or_default();
            }
            other => out.extend(other),
        }
    }
    out.extend_from_slice(rest);
    Some(out)
}

/// Returns the character after `\u`, and the number of bytes it takes.
fn code_point(rest: &[u8]) -> (char, usize) {
    let unit = |from: usize| {
        let digits = std::str::from_utf8(rest.get(from..from + 4)?).ok()?;
        u16::from_str_radix(digits, 16).ok()
    };
    let Some(first) = unit(0) else { return (char::REPLACEMENT_CHARACTER, 0) };
    let second = unit(6).filter(|_| rest.get(4..6) == Some(b"\\u"));
    match char::decode_utf16([Some(first), second].into_iter().flatten()).next() {
        Some(Ok(c)) => (c, if c.len_utf16() == 2 { 10 } else { 4 }),
        _ => (char::REPLACEMENT_CHARACTER, 4),
    }
}

impl<F: FnMut(Heard<'_>)> Write for Listening<F> {
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

/// Adds the places of a text in a window of bytes that no reader divides into records. A text that is found only without
/// its escapes is erased with its line.
fn find_in_window(window: &Window, needle: &Needle, found: &mut BTreeSet<(u64, u64)>) {
    let len = needle.0.needle().len();
    let within = window.reach(len.saturating_sub(1));
    let from = window.at(window.own.start);
    found.extend(needle.0.find_iter(within).map(|at| (from + at as u64, from + (at + len) as u64)));
    // A line may go on in the next window.
    let mut rest = window.reach(needle.span());
    let mut start = 0;
    while start < window.own.len() && !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let (line, others) = rest.split_at(end);
        if memchr::memchr(b'\\', line).is_some() && needle.0.find(line).is_none() && needle.is_in(line) {
            found.insert((from + start as u64, from + (start + end) as u64));
        }
        (start, rest) = (start + end, others);
    }
}

/// Finds a text in a source without records.
async fn find_raw(engine: &Engine, source: SourceInfo, needle: &Needle) -> Result<Vec<RecordHit>, Error> {
    let (text, mut found) = (KeptText::whole(source), BTreeSet::new());
    let around = needle.span().max(AROUND);
    let _ = text
        .each_window(engine, around, &Deadline::default(), &mut |window| {
            find_in_window(&window, needle, &mut found);
            Ok(ControlFlow::Continue(()))
        })
        .await?;
    let source = &text.source;
    let readers = readers_of(engine, source.no, source.revision.no).await?;
    let session = readers.first().map(|stream| native(stream).to_owned()).unwrap_or_default();
    let (handle, revision) = (source.handle, source.revision.no);
    let hit = |(from, to): (u64, u64)| RecordHit {
        span: SourceSpan { source: handle, revision, offset: from, len: to - from },
        session: session.clone(),
        record: format!("r{from}"),
    };
    Ok(found.into_iter().map(hit).collect())
}

/// Finds the records of a revision that match a query. In a source without records, such as the output of a command,
/// only a text can be found.
pub(crate) async fn find_records(
    engine: &Engine,
    source: SourceInfo,
    wanted: RecordQuery,
) -> Result<Vec<RecordHit>, Error> {
    if Format::from_name(&source.revision.format).is_none() {
        return match &wanted.text {
            Some(needle) => find_raw(engine, source, needle).await,
            None => Ok(Vec::new()),
        };
    }
    let beginnings = AhoCorasick::new(&wanted.beginnings).map_err(|error| Error::Query(error.to_string()))?;
    let (handle, revision, len) = (source.handle, source.revision.no, source.revision.len);
    let mut finder = Finder { wanted, beginnings, source: handle, revision, found: Vec::new() };
    let Some(mut listening) = listen(engine, &source, |heard| finder.take(heard)).await? else {
        return Ok(Vec::new());
    };
    let mut head = Vec::new();
    copy_source(engine, &source, 0, len.min(HEAD), &mut head).await?;
    if listening.reader.format().shape(&head) == FileShape::Document {
        let mut bytes = Vec::new();
        copy_source(engine, &source, 0, len, &mut bytes).await?;
        listening.end(Some(bytes));
    } else {
        copy_source(engine, &source, 0, len, &mut listening).await?;
        listening.end(None);
    }
    Ok(finder.found)
}

/// Returns whether the file on disk holds only erased records in the ranges that were erased from its revision.
/// Returns false if the format is unknown.
pub(crate) async fn holds_erased_text(
    engine: &Engine,
    source: &SourceInfo,
    file: &mut (impl Read + Seek),
) -> Result<bool, Error> {
    let (tenant, sessions) = (engine.tenant.no, Vec::new());
    let erasures = engine.ask(Query::Erasures { tenant, sessions }, Answer::erasures).await?;
    let (lost, mut holds) = (LostContent::of(&engine.tenant.key, &erasures), true);
    let look = |Heard { record, session, name, .. }: Heard<'_>| {
        let end = record.offset + record.len;
        let is_there = source.revision.erased.iter().any(|(from, to)| *from < end && record.offset < *to);
        let lost = lost.get(&session);
        holds &= !is_there || lost.is_some_and(|lost| lost.whole || lost.has_record(record, &name));
    };
    let Some(mut listening) = listen(engine, source, look).await? else { return Ok(false) };
    let failed = |error| file_error(Path::new(&source.key), &error);
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    let mut head = Vec::new();
    Read::by_ref(file).take(HEAD).read_to_end(&mut head).map_err(failed)?;
    if listening.reader.format().shape(&head) == FileShape::Document {
        file.read_to_end(&mut head).map_err(failed)?;
        listening.end(Some(head));
    } else {
        listening.write_all(&head).map_err(failed)?;
        std::io::copy(file, &mut listening).map_err(failed)?;
        listening.end(None);
    }
    Ok(holds)
}

async fn listen<F: FnMut(Heard<'_>)>(
    engine: &Engine,
    source: &SourceInfo,
    each: F,
) -> Result<Option<Listening<F>>, Error> {
    let Some(format) = Format::from_name(&source.revision.format) else { return Ok(None) };
    let path = PathBuf::from(&source.key);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let file = file_name(engine, source, format).await?;
    let reader = TranscriptReader::new(format, &name);
    Ok(Some(Listening { reader, file, line: Vec::new(), offset: 0, number: 0, each }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_record_loses_strings_a_small_one_all() {
        let wanted = Needle::new("the secret words");
        let lost = |raw: &str| losing(raw.as_bytes(), &|raw| wanted.is_in(raw));
        let small = r#"{"a":"the secret words","b":1}"#;
        assert_eq!(lost(small), [(0, small.len())]);
        assert_eq!(lost("{}"), []);
        let said = r#"say \"it\": the secret words \\"#;
        let large = format!(r#"{{"pad":"{}","a":"{said}","b":["the secret words"]}}"#, "x".repeat(SMALL));
        let strings: Vec<&str> = lost(&large).iter().map(|it| &large[it.0..it.1]).collect();
        assert_eq!(strings, [said, "the secret words"]);
    }

    #[test]
    fn a_text_is_found_in_bytes_without_records() {
        let needle = Needle::new("the \"secret\" words");
        let found = |bytes: &[u8], own: std::ops::Range<usize>| {
            let mut found = BTreeSet::new();
            let window = Window { bytes: bytes.to_vec(), own, offset: 100, line: 1 };
            find_in_window(&window, &needle, &mut found);
            found.into_iter().collect::<Vec<_>>()
        };
        let text = b"first line\nsay the \"secret\" words and go\n";
        assert_eq!(found(text, 0..text.len()), [(115, 133)]);
        assert_eq!(found(text, 0..20), [(115, 133)], "the text begins in the part");
        assert_eq!(found(text, 20..text.len()), [], "and is not found twice");
        let escaped = b"a\nsay the \\\"secret\\\" words\nb";
        assert_eq!(found(escaped, 0..escaped.len()), [(102, 127)], "with its line");
        assert_eq!(found(escaped, 0..15), [(102, 127)], "also if the line goes on in the next window");
        assert_eq!(found(b"nothing\n", 0..8), []);
    }

    #[test]
    fn a_text_is_found_however_it_is_escaped() {
        let is_in = |text: &str, written: &str| Needle::new(text).is_in(written.as_bytes());
        assert!(is_in("hunter2", r#"{"a":"hunter2"}"#) && !is_in("hunter2", r"hunter\u0033"));
        let nested = |text: &str| serde_json::Value::from(text).to_string();
        let (text, mut written) = ("a\"b\\c\n😀/é", String::new());
        for layer in 0..=NESTED {
            written = if layer == 0 { text.to_owned() } else { nested(&written) };
            assert!(is_in(text, &written), "{written}");
        }
        assert!(!is_in(text, &nested(&written)), "deeper than is looked");
        assert!(is_in(text, r#"a\"b\\c\n\ud83d\uDE00\/\u00E9"#));
        for broken in ["\\", "\\u", "\\u12", "\\ud83d", "\\ud83d\\u0041", "\\uzzzz"] {
            assert!(!is_in("hunter2", broken));
        }
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
