//! Finds pages and lines in a content that is given piece by piece.

use crate::base::error::Error;
use crate::limits::PAGE_BYTES;

/// Maximum number of bytes that continue a character in UTF-8.
const CONTINUED: usize = 3;

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// Returns the beginning of the character at a place. In bytes that are not text, returns the place itself.
pub(crate) fn floor_char(bytes: &[u8], at: usize) -> usize {
    let begins = |at: &usize| bytes.get(*at).is_none_or(|byte| !is_continuation(*byte));
    (at.saturating_sub(CONTINUED)..=at).rev().find(begins).unwrap_or(at)
}

/// Returns the end of the character at a place.
pub(crate) fn ceil_char(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|byte| is_continuation(*byte)) {
        at += 1;
    }
    at
}

/// Finder of a page. Each page ends at the last line end in its last quarter, or otherwise at a character, so that all
/// pages joined make up the whole content.
pub(crate) struct PageFinder {
    wanted: u64,
    /// Number of complete pages before the place `at`.
    before: u64,
    at: u64,
    /// Bytes from `at` onwards.
    pending: Vec<u8>,
    found: Option<FoundPage>,
}

/// A page of a content.
pub(crate) struct FoundPage {
    /// Place of its first byte.
    pub(crate) from: u64,
    pub(crate) bytes: Vec<u8>,
}

impl PageFinder {
    /// Creates a finder of a page with a number, counted from 1.
    pub(crate) const fn new(wanted: u64) -> Self {
        Self { wanted, before: 0, at: 0, pending: Vec::new(), found: None }
    }

    /// Takes the next piece of the content.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let size = usize::try_from(PAGE_BYTES).unwrap_or(usize::MAX);
        self.pending.extend_from_slice(bytes);
        let mut done = 0;
        while let Some(rest) = self.pending.get(done..).filter(|rest| rest.len() > size) {
            let end = floor_char(rest, size);
            let quarter = rest.get(end - size / 4..end).unwrap_or_default();
            let newline = quarter.iter().rposition(|byte| *byte == b'\n');
            let end = newline.map_or(end, |place| end - size / 4 + place + 1);
            self.before += 1;
            if self.before == self.wanted {
                let bytes = rest.get(..end).unwrap_or_default().to_vec();
                self.found = Some(FoundPage { from: self.at + done as u64, bytes });
            }
            done += end;
        }
        self.pending.drain(..done);
        self.at += done as u64;
    }

    /// Returns the page, and the number of pages.
    ///
    /// # Errors
    /// Fails if there is no page with the number.
    pub(crate) fn finish(self) -> Result<(FoundPage, u64), Error> {
        let (count, number) = (self.before + 1, self.wanted);
        let last = FoundPage { from: self.at, bytes: self.pending };
        let found = self.found.or((number == count).then_some(last));
        let found = found.ok_or_else(|| {
            Error::Address(format!("there is no page {number}: there are {count}, counted from 1"))
        })?;
        Ok((found, count))
    }
}

/// Finder of the bytes of a range of lines.
pub(crate) struct LineFinder {
    /// First and last line, counted from 1.
    wanted: (u64, u64),
    /// Number of complete lines.
    lines: u64,
    at: u64,
    /// Whether the content ends without a line end.
    is_open: bool,
    from: Option<u64>,
    to: Option<u64>,
}

impl LineFinder {
    pub(crate) fn new(from: u64, to: u64) -> Self {
        let first = (from == 1).then_some(0);
        Self { wanted: (from, to), lines: 0, at: 0, is_open: false, from: first, to: None }
    }

    /// Takes the next piece of the content.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for end in memchr::memchr_iter(b'\n', bytes) {
            self.lines += 1;
            let next = self.at + end as u64 + 1;
            if self.lines + 1 == self.wanted.0 {
                self.from = Some(next);
            }
            if self.lines == self.wanted.1 {
                self.to = Some(next);
            }
        }
        self.at += bytes.len() as u64;
        self.is_open = bytes.last().map_or(self.is_open, |byte| *byte != b'\n');
    }

    /// Returns the range of bytes, excluding its end.
    ///
    /// # Errors
    /// Fails if the content has fewer lines.
    pub(crate) fn finish(self) -> Result<(u64, u64), Error> {
        let (from, to) = self.wanted;
        let all = self.lines + u64::from(self.is_open);
        match (self.from, self.to.or((self.is_open && to == all).then_some(self.at))) {
            (Some(begin), Some(end)) if from <= to => Ok((begin, end)),
            _ => Err(Error::Address(match all {
                0 => "the content is empty: it has no lines".to_owned(),
                all => format!("invalid lines {from} to {to}: the content has lines 1 to {all}"),
            })),
        }
    }
}
