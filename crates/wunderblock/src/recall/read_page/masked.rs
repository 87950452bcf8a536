//! A page of a part of a content, with its secrets masked. Pages are found in the bytes as they are, and secrets only
//! around the page: the content may be much larger than memory.
//!
//! ```text
//! content ─► part: lines, bytes ─┬► page ─► its bytes and those around it ─► masked
//!                                └► masked, piece by piece ─► matching lines ─► page
//! ```

use super::ReadPage;
use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::kept_bytes::{AROUND, masked};
use crate::ledger::page_finder::{LineFinder, PageFinder, ceil_char, floor_char};
use crate::ledger::reading::address::{Address, Slice};
use crate::ledger::reading::content::NamedContent;
use crate::limits::{MAX_DOCUMENT, MAX_LINE};
use crate::recall::read::{byte_range, cut};
use crate::recall::summary_graph::Expand;
use memchr::memmem::Finder;
use std::ops::Range;
use wunderblock_core::stub::grouped;
use wunderblock_redact::Redactor;

/// Number of bytes that are masked together.
const BLOCK: usize = 1 << 20;
/// Number of bytes that are searched between two looks at the deadline.
const STEP: u64 = 8 << 20;

/// Reads a page of a part of a content, or of the lines in it that match a query.
pub(super) async fn read(
    engine: &Engine,
    address: Address,
    slice: &Slice,
    wanted: &Expand,
) -> Result<ReadPage, Error> {
    let content =
        readable(engine, NamedContent::find(engine, address.handle, address.range).await?, slice).await?;
    let range = bounds(engine, &content, slice).await?;
    let mut finder = PageFinder::new(wanted.page.unwrap_or(1));
    let (bytes, pages, stopped) = match &wanted.query {
        Some(_) => {
            let stopped = matching(engine, &content, range.0..range.1, wanted, &mut finder).await?;
            let (found, pages) = finder.finish()?;
            (found.bytes, pages, stopped)
        }
        None => {
            content.copy(engine, range.0, range.1, &mut |piece| finder.add(piece)).await?;
            let (found, pages) = finder.finish()?;
            let from = range.0 + found.from;
            let to = from + found.bytes.len() as u64;
            (masked_part(engine, &content, from, to).await?, pages, None)
        }
    };
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if let Some(at) = stopped {
        let (at, of) = (grouped(at - range.0), grouped(range.1 - range.0));
        text.push_str(&format!(
            "\n⟨the search was given up after {at} of {of} bytes; name lines to search⟩\n"
        ));
    }
    let page = wanted.page.unwrap_or(1);
    Ok(ReadPage { address: address.to_string(), text, page, pages, more: None })
}

/// Returns a content as its lines and paths are counted: a text in UTF-16 or Windows-1252 is decoded, and the value at a
/// path takes the place of the whole.
async fn readable(engine: &Engine, content: NamedContent, slice: &Slice) -> Result<NamedContent, Error> {
    let is_whole = matches!(slice, Slice::Bytes(..)) || !content.is_small();
    if is_whole && !matches!(slice, Slice::JsonPath(_)) {
        return Ok(content);
    }
    let len = content.len(engine).await?;
    if len > MAX_DOCUMENT {
        let (len, most) = (grouped(len), grouped(MAX_DOCUMENT));
        let why = format!("the content has {len} bytes, and paths into JSON need all of it, at most {most}");
        return Err(Error::Address(format!("{why}: give lines (#L1-40) or bytes (#B0-4096)")));
    }
    let bytes = content.whole(engine).await?;
    let bytes = wunderblock_text::encoding::decode_other(&bytes).map_or(bytes, String::into_bytes);
    if matches!(slice, Slice::JsonPath(_)) {
        // The value is unescaped, which moves all places in it, so its secrets are looked for before.
        let masked = masked(&bytes, &engine.config.redactor);
        return Ok(NamedContent::Held(cut(&masked, slice)?.bytes));
    }
    Ok(NamedContent::Held(bytes))
}

/// Returns the range of bytes of a part, excluding its end.
async fn bounds(engine: &Engine, content: &NamedContent, slice: &Slice) -> Result<(u64, u64), Error> {
    let len = content.len(engine).await?;
    match (slice, content) {
        (Slice::Lines(from, to), _) => {
            let mut finder = LineFinder::new(*from, *to);
            content.copy(engine, 0, len, &mut |piece| finder.add(piece)).await?;
            finder.finish()
        }
        (Slice::Bytes(from, to), NamedContent::Held(bytes)) => {
            let (from, to) = byte_range(*from, *to, len)?;
            let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
            Ok((floor_char(bytes, index(from)) as u64, ceil_char(bytes, index(to)) as u64))
        }
        (Slice::Bytes(from, to), _) => byte_range(*from, *to, len),
        _ => Ok((0, len)),
    }
}

/// Returns a range of bytes with its secrets masked. The range may cut a secret, so more is read than it.
async fn masked_part(engine: &Engine, content: &NamedContent, from: u64, to: u64) -> Result<Vec<u8>, Error> {
    let begin = from.saturating_sub(AROUND as u64);
    let bytes = content.part(engine, begin, to.saturating_add(AROUND as u64)).await?;
    let masked = masked(&bytes, &engine.config.redactor);
    let index = |at: u64| usize::try_from(at - begin).unwrap_or(usize::MAX);
    Ok(masked.get(index(from)..index(to)).unwrap_or_default().to_vec())
}

/// Finds a page of the lines of a range that contain a query, each prefixed with its number and a colon. Returns the place
/// at which the search was given up.
async fn matching(
    engine: &Engine,
    content: &NamedContent,
    Range { start: from, end: to }: Range<u64>,
    wanted: &Expand,
    finder: &mut PageFinder,
) -> Result<Option<u64>, Error> {
    let query = wanted.query.as_deref().unwrap_or_default();
    let mut lines =
        MatchingLines { query: Finder::new(query), line: Vec::new(), number: 1, found: 0, finder };
    // A secret may begin before the range and end after it.
    let pending = content.part(engine, from.saturating_sub(AROUND as u64), from).await?;
    let done = pending.len();
    let mut masking = Masking { redactor: &engine.config.redactor, pending, done };
    // Events are written again for each step.
    let step = if matches!(content, NamedContent::Events(..)) { u64::MAX } else { STEP };
    let (mut at, mut stopped) = (from, None);
    while at < to && stopped.is_none() {
        let _turn = wanted.deadline.turn().await;
        let next = at.saturating_add(step).min(to);
        content
            .copy(engine, at, next, &mut |piece| masking.add(piece, &mut |masked| lines.add(masked)))
            .await?;
        at = next;
        stopped = Some(at).filter(|at| at < &to && wanted.deadline.is_over());
    }
    let after = content.part(engine, at, at.saturating_add(AROUND as u64)).await?;
    masking.finish(&after, &mut |masked| lines.add(masked));
    lines.finish();
    match (lines.found, stopped) {
        (0, None) => Err(Error::NoMatch(query.to_owned())),
        _ => Ok(stopped),
    }
}

/// Masks a content piece by piece. Each block is masked with what stands around it.
struct Masking<'r> {
    redactor: &'r Redactor,
    pending: Vec<u8>,
    /// Number of pending bytes that were passed on.
    done: usize,
}

impl Masking<'_> {
    fn add(&mut self, bytes: &[u8], take: &mut dyn FnMut(&[u8])) {
        for bytes in bytes.chunks(BLOCK) {
            self.pending.extend_from_slice(bytes);
            let until = self.pending.len().saturating_sub(AROUND);
            if until >= self.done + BLOCK {
                self.pass_on(until, take);
                self.pending.drain(..until - AROUND);
                self.done = AROUND;
            }
        }
    }

    fn finish(mut self, after: &[u8], take: &mut dyn FnMut(&[u8])) {
        let until = self.pending.len();
        self.pending.extend_from_slice(after);
        self.pass_on(until, take);
    }

    fn pass_on(&self, until: usize, take: &mut dyn FnMut(&[u8])) {
        let masked = masked(&self.pending, self.redactor);
        take(masked.get(self.done..until).unwrap_or_default());
    }
}

/// Passes matching lines on to a finder of pages.
struct MatchingLines<'f> {
    query: Finder<'f>,
    /// The line that has not ended.
    line: Vec<u8>,
    number: u64,
    found: u64,
    finder: &'f mut PageFinder,
}

impl MatchingLines<'_> {
    fn add(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            let is_whole = self.line.ends_with(b"\n");
            if is_whole || self.line.len() > MAX_LINE {
                self.finish();
            }
            self.number += u64::from(is_whole);
        }
    }

    fn finish(&mut self) {
        if self.query.find(&self.line).is_some() {
            self.found += 1;
            self.finder.add(format!("{}:", self.number).as_bytes());
            self.finder.add(&self.line);
        }
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5";

    fn masked_in_pieces(text: &[u8], piece: usize) -> Vec<u8> {
        let redactor = Redactor::embedded();
        let mut masking = Masking { redactor: &redactor, pending: Vec::new(), done: 0 };
        let mut out = Vec::new();
        text.chunks(piece).for_each(|piece| masking.add(piece, &mut |masked| out.extend_from_slice(masked)));
        masking.finish(b"", &mut |masked| out.extend_from_slice(masked));
        out
    }

    #[test]
    fn pieces_hide_no_secret_and_move_no_byte() {
        let filler = "a line of filler: é\n".repeat(BLOCK / 21);
        let text = format!("{filler}{SECRET}\n{filler}{SECRET}\n{SECRET}");
        let redactor = Redactor::embedded();
        let whole = masked(text.as_bytes(), &redactor);
        assert!(!String::from_utf8_lossy(&whole).contains("ghp_aB3d"));
        for piece in [BLOCK - 7, BLOCK + AROUND + 19, text.len()] {
            assert!(masked_in_pieces(text.as_bytes(), piece) == *whole, "{piece}");
        }
    }
}
