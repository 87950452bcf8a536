//! Reads content verbatim: bodies, ranges of a session, and imported sources.

use crate::base::apart::{ToldWriter, apart_writing};
use crate::base::error::{Error, write_error};
use crate::base::future::BoxFuture;
use crate::histories::Place;
use crate::import::transcripts::is_same;
use crate::ledger::engine::Engine;
use crate::ledger::page_finder::{LineFinder, PageFinder, ceil_char, floor_char};
use crate::ledger::reading::address::{Address, Slice};
use crate::ledger::reading::content::NamedContent;
use crate::ledger::reading::originals::{copy_source, newest_source, originals};
use crate::ledger::reading::stored::{read_texts, with_whole_texts};
use crate::ledger::session::Session;
use crate::limits::SOURCE_CHUNK;
use std::io::Write as _;
use wunderblock_core::author::{self, Author};
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::message::Body;
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::Seq;

/// Content that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Bytes of the part.
    pub bytes: Vec<u8>,
    /// Length of the whole content in bytes.
    pub total: u64,
    /// Number of the page and number of pages, if a page was read.
    pub page: Option<(u64, u64)>,
}

pub(crate) async fn read(engine: &Engine, address: Address, slice: &Slice) -> Result<Content, Error> {
    let content = NamedContent::find(engine, address.handle, address.range).await?;
    // A range of bytes is read without reading the rest of the source.
    if let (NamedContent::Source(info), Slice::Bytes(from, to)) = (&content, slice) {
        let total = info.revision.len;
        let (from, to) = byte_range(*from, *to, total)?;
        let bytes = content.part(engine, from, to).await?;
        return Ok(Content { bytes, total, page: None });
    }
    cut(&content.whole(engine).await?, slice)
}

impl Engine {
    /// Returns the texts of events that are stored as blobs.
    ///
    /// # Errors
    /// Returns an error if the ledger cannot be read.
    pub async fn bodies(&self, events: &[Event]) -> Result<impl Bodies, Error> {
        let facts = events.iter().filter_map(|event| event.fact.as_ref());
        let handles =
            facts.flat_map(|fact| fact.bodies().into_iter().filter_map(Body::handle).collect::<Vec<_>>());
        read_texts(self, handles.collect::<Vec<_>>()).await
    }

    /// Returns the latest branch of the session that was imported from a transcript. The flag states whether the file
    /// still has the length and modification time that it had at the import.
    ///
    /// # Errors
    /// Returns an error if the ledger cannot be read.
    pub fn imported<'a>(&'a self, path: &'a std::path::Path) -> BoxFuture<'a, Option<(StreamId, bool)>> {
        Box::pin(async move {
            let Ok(place) = Place::of(&self.exports, path) else { return Ok(None) };
            let Some(source) = newest_source(self, &place.key()).await? else { return Ok(None) };
            let current = place.stamp().is_ok_and(|stamp| is_same(&source, stamp));
            Ok(source.revision.leaf.map(|leaf| (leaf, current)))
        })
    }
}

async fn export(session: &Session, from: Seq, to: Seq, out: &mut ToldWriter) -> Result<u64, Error> {
    let mut written = 0;
    let mut pages = session.pages(from, to);
    while let Some(events) = pages.next().await? {
        for event in with_whole_texts(&session.engine, events).await? {
            let mut line =
                serde_json::to_string(&event).map_err(|error| Error::Internal(error.to_string()))?;
            if let Some(author) = told_author(&event) {
                line.pop();
                line.push_str(&format!(",\"author\":\"{}\"}}", author.name()));
            }
            writeln!(out, "{line}").map_err(|error| write_error(&error))?;
            written += 1;
        }
    }
    Ok(written)
}

async fn export_original(
    session: &Session,
    number: Option<usize>,
    out: &mut ToldWriter,
) -> Result<u64, Error> {
    let info = session.info().await?;
    let sources = originals(session).await?;
    let (id, count) = (&info.id, sources.len());
    let found = match number {
        None => sources.last().ok_or(format!("session `{id}` was not imported: it has no original")),
        Some(number) => sources
            .get(number.saturating_sub(1))
            .ok_or(format!("session `{id}` has {count} originals; there is no number {number}")),
    };
    let source = found.map_err(Error::Address)?;
    let revision = &source.revision;
    if !revision.whole {
        return Err(Error::Unfinished { session: info.id, path: source.key.clone() });
    }
    let mut hashing = Hashing { hasher: blake3::Hasher::new(), out };
    let copied = copy_source(&session.engine, source, 0, revision.len, &mut hashing).await?;
    // A revision with erasures no longer matches the hash of the imported file.
    let stated = revision.hash.filter(|_| revision.erased.is_empty());
    if copied != revision.len || stated.is_some_and(|stated| *hashing.hasher.finalize().as_bytes() != stated)
    {
        let why = format!("the stored content of `{}` differs from the imported file", source.key);
        return Err(Error::Store(wunderblock_store::StoreError::Damaged(why)));
    }
    Ok(copied)
}

impl crate::ledger::session::Session {
    /// Writes events as JSON lines with full texts, in the format that `append` reads.
    ///
    /// # Errors
    /// Fails if the session does not exist, if a record is damaged, or if `out` cannot be written.
    pub fn export<'a>(
        &'a self,
        from: Seq,
        to: Seq,
        out: &'a mut (dyn std::io::Write + Send),
    ) -> BoxFuture<'a, u64> {
        let session = self.clone();
        Box::pin(apart_writing(out, move |mut out| async move {
            Ok((export(&session, from, to, &mut out).await?, out))
        }))
    }

    /// Writes an imported file of the session, byte for byte. Without a number, writes the file that was read last;
    /// otherwise, the file with this number in [`originals`], counted from 1.
    ///
    /// # Errors
    /// Fails if the session was not imported, if its import was interrupted, if its bytes are damaged, or if `out`
    /// cannot be written.
    pub fn export_original<'a>(
        &'a self,
        number: Option<usize>,
        out: &'a mut (dyn std::io::Write + Send),
    ) -> BoxFuture<'a, u64> {
        let session = self.clone();
        Box::pin(apart_writing(out, move |mut out| async move {
            Ok((export_original(&session, number, &mut out).await?, out))
        }))
    }

    /// Returns the engine of the session.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the positions of the session that hold a body, each with the first line of the body.
    ///
    /// # Errors
    /// Returns an error if the ledger cannot be read.
    pub(crate) async fn holders(&self, handle: Handle) -> Result<Vec<(Seq, String)>, Error> {
        let texts = read_texts(&self.engine, [handle]).await?;
        let Some(text) = texts.text(handle) else { return Ok(Vec::new()) };
        let line = text.lines().next().unwrap_or_default().chars().take(200).collect::<String>();
        let head = self.info().await?.head;
        let mut found = Vec::new();
        let mut pages = self.pages(Seq(1), head);
        while let Some(events) = pages.next().await? {
            let holds = |event: &Event| {
                event.fact.iter().flat_map(Fact::bodies).any(|body| body.handle() == Some(handle))
            };
            found.extend(events.iter().filter(|event| holds(event)).map(|event| (event.seq, line.clone())));
        }
        Ok(found)
    }
}

/// Writer that hashes everything written through it.
struct Hashing<'o> {
    hasher: blake3::Hasher,
    out: &'o mut (dyn std::io::Write + Send),
}

impl std::io::Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hasher.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

pub(crate) fn cut(bytes: &[u8], slice: &Slice) -> Result<Content, Error> {
    let total = bytes.len() as u64;
    let whole = |part: &[u8]| Content { bytes: part.to_vec(), total, page: None };
    match slice {
        Slice::All => Ok(whole(bytes)),
        Slice::Bytes(from, to) => {
            let (from, to) = byte_range(*from, *to, total)?;
            let (from, to) = (index(from), index(to));
            Ok(whole(bytes.get(floor_char(bytes, from)..ceil_char(bytes, to)).unwrap_or_default()))
        }
        Slice::Lines(from, to) => {
            // A text in UTF-16 or Windows-1252 is shown decoded, and line numbers in marks refer to the decoded text.
            let decoded = wunderblock_text::encoding::decode_other(bytes);
            let bytes = decoded.as_deref().map_or(bytes, str::as_bytes);
            let mut finder = LineFinder::new(*from, *to);
            finder.add(bytes);
            let (from, to) = finder.finish()?;
            Ok(whole(bytes.get(index(from)..index(to)).unwrap_or_default()))
        }
        Slice::Grep { pattern, regex } => matching(bytes, pattern, *regex).map(|part| whole(&part)),
        Slice::JsonPath(path) => json_path(bytes, path).map(|part| whole(&part)),
        Slice::Page(number) => page(bytes, *number),
    }
}

/// Returns the matching lines, each prefixed with its number and a colon.
fn matching(bytes: &[u8], pattern: &str, regex: bool) -> Result<Vec<u8>, Error> {
    let escaped = if regex { pattern.to_owned() } else { regex::escape(pattern) };
    let wrong = |error: regex::Error| Error::Address(format!("invalid pattern `{pattern}`: {error}"));
    let finder = regex::bytes::RegexBuilder::new(&escaped).build().map_err(wrong)?;
    let mut found = Vec::new();
    let decoded = wunderblock_text::encoding::decode_other(bytes);
    let bytes = decoded.as_deref().map_or(bytes, str::as_bytes);
    for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        if finder.is_match(line) {
            found.extend_from_slice(format!("{}:", index + 1).as_bytes());
            found.extend_from_slice(line);
        }
    }
    if found.is_empty() {
        return Err(Error::NoMatch(pattern.to_owned()));
    }
    Ok(found)
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn page(bytes: &[u8], number: u64) -> Result<Content, Error> {
    let mut finder = PageFinder::new(number);
    bytes.chunks(SOURCE_CHUNK).for_each(|piece| finder.add(piece));
    let (found, count) = finder.finish()?;
    Ok(Content { bytes: found.bytes, total: bytes.len() as u64, page: Some((number, count)) })
}

/// Checks that a range of bytes, excluding its end, is within a length.
pub(crate) fn byte_range(from: u64, to: u64, len: u64) -> Result<(u64, u64), Error> {
    if from > to || to > len {
        return Err(Error::Address(format!("invalid bytes {from} to {to}: the content has {len} bytes")));
    }
    Ok((from, to))
}

/// Returns the value at a path, verbatim; a whole string is returned unescaped.
fn json_path(bytes: &[u8], path: &str) -> Result<Vec<u8>, Error> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| Error::Address("the content is not UTF-8: JSON paths need text".to_owned()))?;
    let place = wunderblock_reduce::find_json(text, path).map_err(Error::Address)?;
    let found = bytes.get(place.span).unwrap_or_default();
    let string = place.is_string.then(|| serde_json::from_slice::<String>(found).ok()).flatten();
    Ok(string.map_or_else(|| found.to_vec(), String::into_bytes))
}

/// Returns the author of an event that its message alone does not show.
fn told_author(event: &Event) -> Option<Author> {
    let Some(Fact::MessageAppended(said)) = &event.fact else { return None };
    let own = said.message.authors.as_ref()?.by;
    let mut alone = said.message.clone();
    author::settle(&mut alone, None);
    (alone.author() != own).then_some(own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pages_joined_are_the_whole(lines in "(\\PC{0,40}\n){0,100}", times in 0..20_usize) {
            let text = lines.repeat(times);
            let first = page(text.as_bytes(), 1).unwrap();
            let (_, count) = first.page.unwrap();
            let mut joined = Vec::new();
            for number in 1..=count {
                let part = page(text.as_bytes(), number).unwrap();
                prop_assert!(std::str::from_utf8(&part.bytes).is_ok());
                joined.extend(part.bytes);
            }
            prop_assert_eq!(joined, text.as_bytes());
        }
    }

    #[test]
    fn a_line_longer_than_a_page_is_split_not_skipped() {
        let text = "x".repeat(100_000);
        let (_, count) = page(text.as_bytes(), 1).unwrap().page.unwrap();
        assert_eq!(count, 7);
        assert!(page(text.as_bytes(), 8).is_err());
    }

    #[test]
    fn addresses_name_bodies_and_ranges() {
        let address: Address = "wb:3f9c1a7be2d04c58#12-80".parse().unwrap();
        assert_eq!(address.range, Some((Seq(12), Seq(80))));
        for text in ["wb:3f9c1a7be2d04c58", "wb:3f9c1a7be2d04c58#12", "wb:3f9c1a7be2d04c58#12-80"] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
        for wrong in [
            "wb:3f9c",
            "wb:3f9c1a7b",
            "3f9c1a7be2d04c58",
            "wb:3f9c1a7be2d04c58#80-12",
            "wb:3f9c1a7be2d04c58#x",
        ] {
            assert!(wrong.parse::<Address>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_out_of_range_is_an_error() {
        let text = b"one\ntwo\nthree";
        for (slice, wanted) in [
            (Slice::Lines(2, 3), Some("two\nthree")),
            (Slice::Lines(0, 2), None),
            (Slice::Lines(3, 4), None),
            (Slice::Lines(4, 4), None),
            (Slice::Bytes(4, 7), Some("two")),
            (Slice::Bytes(4, 14), None),
            (Slice::Bytes(5, 4), None),
        ] {
            let got = cut(text, &slice).ok().map(|content| String::from_utf8(content.bytes).unwrap());
            assert_eq!(got.as_deref(), wanted, "{slice:?}");
        }
    }

    #[test]
    fn places_are_read_as_marks_print_them() {
        for (place, slice) in [
            ("L120-181", Slice::Lines(120, 181)),
            ("#L7", Slice::Lines(7, 7)),
            ("B0-64", Slice::Bytes(0, 64)),
            ("$.items[13..198]", Slice::JsonPath("$.items[13..198]".to_owned())),
        ] {
            assert_eq!(place.parse::<Slice>().unwrap(), slice);
        }
        for wrong in ["L0", "L9-7", "120-181", "Lx", "", "X1"] {
            assert!(wrong.parse::<Slice>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn json_paths_in_either_form() {
        let text = br#"{"items":[{"name":"a"},{"name":"b"}]}"#;
        assert_eq!(json_path(text, "items[1].name").unwrap(), b"b");
        assert_eq!(json_path(text, "$.items[0..1]").unwrap(), br#"{"name":"a"},{"name":"b"}"#);
        assert_eq!(json_path(text, "/items/0").unwrap(), br#"{"name":"a"}"#);
        assert!(json_path(text, "items[2]").is_err());
    }
}
