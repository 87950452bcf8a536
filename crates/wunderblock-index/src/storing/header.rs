//! Header of a segment: its documents with their rows, and the first term of each block.
//!
//! ```text
//! rows varint
//! runs of one stream varint │ per run: stream varint, rows varint
//! per row: position, zigzag varint: as itself for the first of a run, else against one past the row before
//! per row: length in terms varint
//! names varint │ per name: length varint, the name           from version 2 on, up to
//! per row: traits varint
//! per row: day, zigzag varint against the row before
//! per row: number of the speaker's name varint               here
//! blocks varint │ per block: length of its first term 1, the first term
//! ```
//! A row that follows a row with the same position is a further passage of that document. In version 1, each document
//! is one text as a whole.

use crate::passages::traits::Traits;
use crate::passages::voice::Day;
use crate::storing::docs::{DocKey, Docs, DocsWriter, Row};
use crate::storing::frame::{FrameKind, Framer, SegmentError, unwrap, version};
use crate::storing::varint;
use crate::words::MAX_TERM_BYTES;

/// Maximum number of rows in a segment: passages, and texts as a whole.
pub const MAX_DOCS: usize = 1 << 20;

/// A decoded header. Callers should keep the header in memory: it takes up 16 bytes per document, 16 bytes per row, and
/// one term per 16 KB of index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub(crate) docs: Docs,
    pub(crate) first_terms: Vec<Box<[u8]>>,
}

impl Header {
    /// Decodes a header.
    ///
    /// # Errors
    /// Fails if the bytes are damaged or were written by a later version.
    pub fn decode(bytes: &[u8]) -> Result<Self, SegmentError> {
        let raw = unwrap(FrameKind::Header, bytes)?;
        let malformed = SegmentError::Malformed { what: "a segment's header does not follow the format" };
        parse(&raw, version(bytes)).ok_or(malformed)
    }

    /// Returns the number of rows in the segment: passages, and texts as a whole. There are at most [`MAX_DOCS`].
    #[must_use]
    pub fn len(&self) -> usize {
        self.docs.rows.len()
    }

    /// Returns whether the segment has no documents. A segment becomes empty if all its documents are removed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.docs.all.is_empty()
    }

    /// Returns the documents, oldest first.
    pub fn docs(&self) -> impl DoubleEndedIterator<Item = DocKey> + '_ {
        self.docs.all.iter().map(|doc| doc.key())
    }

    /// Returns the number of blocks in the segment.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.first_terms.len()
    }

    /// Returns the only block that can contain a term; `None` if the term precedes all blocks.
    #[must_use]
    pub fn block_of(&self, term: &[u8]) -> Option<u32> {
        let after = self.first_terms.partition_point(|first| &**first <= term);
        after.checked_sub(1).and_then(|block| u32::try_from(block).ok())
    }
}

/// Encodes a header.
pub(crate) fn encode(
    docs: &Docs,
    first_terms: &[Box<[u8]>],
    framer: &mut Framer,
) -> Result<Vec<u8>, SegmentError> {
    let mut raw = Vec::with_capacity(docs.rows.len() * 8 + first_terms.len() * 16);
    put_keys(&docs.keyed().map(|(key, _)| key).collect::<Vec<_>>(), &mut raw);
    docs.rows.iter().for_each(|row| varint::put(u64::from(row.len), &mut raw));
    varint::put(docs.names.len() as u64, &mut raw);
    for name in &docs.names {
        varint::put(name.len() as u64, &mut raw);
        raw.extend_from_slice(name.as_bytes());
    }
    docs.rows.iter().for_each(|row| varint::put(u64::from(row.traits.0), &mut raw));
    let mut before = 0;
    for Row { day: Day(day), .. } in &docs.rows {
        varint::put(varint::zigzag(i64::from(*day) - before), &mut raw);
        before = i64::from(*day);
    }
    docs.rows.iter().for_each(|row| varint::put(u64::from(row.speaker), &mut raw));
    varint::put(first_terms.len() as u64, &mut raw);
    for term in first_terms {
        raw.push(term.len() as u8);
        raw.extend_from_slice(term);
    }
    framer.wrap(FrameKind::Header, &raw)
}

/// Appends the key of each row.
pub(crate) fn put_keys(keys: &[DocKey], raw: &mut Vec<u8>) {
    let runs: Vec<&[DocKey]> = keys.chunk_by(|a, b| a.stream == b.stream).collect();
    varint::put(keys.len() as u64, raw);
    varint::put(runs.len() as u64, raw);
    for run in &runs {
        varint::put(run.first().map_or(0, |key| u64::from(key.stream)), raw);
        varint::put(run.len() as u64, raw);
    }
    for run in &runs {
        let mut expected = 0u64;
        for key in *run {
            varint::put(varint::zigzag(key.seq.wrapping_sub(expected).cast_signed()), raw);
            expected = key.seq.wrapping_add(1);
        }
    }
}

/// Reads a length. No length may exceed the number of remaining bytes, which bounds what is allocated for it.
pub(crate) fn take_len(rest: &mut &[u8]) -> Option<usize> {
    usize::try_from(varint::take(rest)?).ok().filter(|len| *len <= rest.len())
}

fn parse(raw: &[u8], version: u8) -> Option<Header> {
    let mut rest = raw;
    let keys = parse_keys(&mut rest)?;
    let mut rows = vec![Row::WHOLE; keys.len()];
    for row in &mut rows {
        row.len = varint::take_u32(&mut rest)?;
    }
    let mut docs = DocsWriter::default();
    if version > 1 {
        parse_rows(&mut rest, &mut rows, &mut docs)?;
    }
    keys.iter().zip(rows).for_each(|(key, row)| docs.push(*key, row));
    let blocks = take_len(&mut rest)?;
    let mut first_terms: Vec<Box<[u8]>> = Vec::with_capacity(blocks);
    for _ in 0..blocks {
        let (&len, tail) = rest.split_first()?;
        let (term, tail) = tail.split_at_checked(usize::from(len))?;
        let follows = first_terms.last().is_none_or(|before| &**before < term);
        if !follows || !(1..=MAX_TERM_BYTES).contains(&term.len()) {
            return None;
        }
        first_terms.push(term.into());
        rest = tail;
    }
    rest.is_empty().then(|| Header { docs: docs.finish(), first_terms })
}

/// Reads the key of each row.
pub(crate) fn parse_keys(rest: &mut &[u8]) -> Option<Vec<DocKey>> {
    let n = take_len(rest).filter(|n| *n <= MAX_DOCS)?;
    let runs = take_len(rest)?;
    let mut keys: Vec<DocKey> = Vec::with_capacity(n);
    let mut starts = vec![false; n];
    for _ in 0..runs {
        let stream = varint::take_u32(rest)?;
        let len = usize::try_from(varint::take(rest)?).ok().filter(|len| *len > 0)?;
        *starts.get_mut(keys.len())? = true;
        let end = keys.len().checked_add(len).filter(|end| *end <= n)?;
        keys.resize(end, DocKey { stream, seq: 0 });
    }
    if keys.len() != n {
        return None;
    }
    let mut expected = 0u64;
    for (key, starts) in keys.iter_mut().zip(starts) {
        expected = if starts { 0 } else { expected };
        key.seq = expected.wrapping_add(varint::unzigzag(varint::take(rest)?).cast_unsigned());
        expected = key.seq.wrapping_add(1);
    }
    Some(keys)
}

/// Reads what version 2 added to each row, and the names of speakers.
fn parse_rows(rest: &mut &[u8], rows: &mut [Row], docs: &mut DocsWriter) -> Option<()> {
    let names = take_len(rest)?;
    for number in 1..=names {
        let len = take_len(rest)?;
        let (name, tail) = rest.split_at_checked(len)?;
        *rest = tail;
        // A name that is listed twice would get the number of the first.
        if usize::from(docs.speaker(std::str::from_utf8(name).ok()?)) != number {
            return None;
        }
    }
    for row in &mut *rows {
        row.traits = Traits(u16::try_from(varint::take(rest)?).ok()?);
    }
    let mut before = 0i64;
    for row in &mut *rows {
        before = before.checked_add(varint::unzigzag(varint::take(rest)?))?;
        row.day = Day(u32::try_from(before).ok()?);
    }
    for row in rows {
        row.speaker =
            u16::try_from(varint::take(rest)?).ok().filter(|number| usize::from(*number) <= names)?;
    }
    Some(())
}
