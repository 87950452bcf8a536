//! Postings: the documents that contain a term, with the number of occurrences.
//!
//! Each document has one entry; the entries are in ascending order of document number: `gap << 1 | more`. The gap is
//! the number of documents skipped since the previous entry. If `more` is set, the number of occurrences follows;
//! otherwise it is one.

use crate::storing::varint;

/// A document that contains a term: the document's number in the segment, and the number of occurrences of the term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Posting {
    pub(crate) doc: u32,
    pub(crate) count: u32,
}

/// Packed postings of one term.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Postings {
    /// Number of documents.
    pub(crate) docs: u32,
    /// Packed entries.
    pub(crate) bytes: Vec<u8>,
    /// Lowest document number that the next entry may have.
    next: u32,
}

impl Postings {
    pub(crate) fn clear(&mut self) {
        self.docs = 0;
        self.bytes.clear();
        self.next = 0;
    }

    /// Appends a document. Documents must be in ascending order.
    pub(crate) fn push(&mut self, posting: Posting) {
        debug_assert!(posting.doc >= self.next && posting.count > 0);
        let gap = u64::from(posting.doc.saturating_sub(self.next));
        varint::put(gap << 1 | u64::from(posting.count > 1), &mut self.bytes);
        if posting.count > 1 {
            varint::put(u64::from(posting.count), &mut self.bytes);
        }
        self.next = posting.doc.saturating_add(1);
        self.docs += 1;
    }

    /// Takes over packed entries of a segment of `limit` documents. Returns `None` if they are malformed, or name a
    /// document at or above `limit`.
    pub(crate) fn of_packed(packed: &[u8], limit: u32) -> Option<Self> {
        let (docs, _) = check(packed, limit)?;
        // The last document is not kept, so `next` prevents further appends.
        Some(Self { docs, bytes: packed.to_vec(), next: u32::MAX })
    }

    /// Appends packed entries of a segment of `limit` documents, with `shift` added to each document number. Returns
    /// `None` if the entries are malformed, name a document at or above `limit`, or do not follow the existing entries.
    pub(crate) fn append(&mut self, packed: &[u8], shift: u32, limit: u32) -> Option<()> {
        let (docs, last) = check(packed, limit)?;
        let mut entries = Iter { bytes: packed, next: 0 };
        let first = entries.next()?;
        let rest = entries.bytes;
        let doc = first.doc.checked_add(shift)?;
        if doc < self.next {
            return None;
        }
        // Only the first entry changes. The other entries store gaps, which do not depend on the first document.
        self.push(Posting { doc, ..first });
        self.bytes.extend_from_slice(rest);
        self.docs += docs - 1;
        self.next = last.checked_add(shift)?.checked_add(1)?;
        Some(())
    }

    /// Iterates over the entries. Iteration ends early at malformed bytes; [`check`] detects them.
    pub(crate) fn iter(&self) -> Iter<'_> {
        Iter { bytes: &self.bytes, next: 0 }
    }
}

/// Iterator over packed entries.
pub(crate) struct Iter<'a> {
    bytes: &'a [u8],
    next: u32,
}

impl Iterator for Iter<'_> {
    type Item = Posting;

    fn next(&mut self) -> Option<Posting> {
        let head = varint::take(&mut self.bytes)?;
        let doc = self.next.checked_add(u32::try_from(head >> 1).ok()?)?;
        let count = if head & 1 == 1 { varint::take_u32(&mut self.bytes)? } else { 1 };
        self.next = doc.checked_add(1)?;
        Some(Posting { doc, count })
    }
}

/// Returns the number of packed entries, and the last document. Returns `None` if there are no entries, if they are
/// malformed, or if they name a document at or above `limit`.
fn check(packed: &[u8], limit: u32) -> Option<(u32, u32)> {
    let mut iter = Iter { bytes: packed, next: 0 };
    let (mut docs, mut last) = (0, 0);
    while !iter.bytes.is_empty() {
        last = iter.next().filter(|entry| entry.doc < limit && entry.count > 0)?.doc;
        docs += 1;
    }
    (docs > 0).then_some((docs, last))
}

/// Skips `docs` entries at the front of `bytes` without checking them.
pub(crate) fn skip(docs: u32, bytes: &mut &[u8]) -> Option<()> {
    let mut rest = bytes.iter();
    for _ in 0..docs {
        let first = *rest.next()?;
        let mut byte = first;
        while byte >= 0x80 {
            byte = *rest.next()?;
        }
        if first & 1 == 1 {
            while *rest.next()? >= 0x80 {}
        }
    }
    *bytes = rest.as_slice();
    Some(())
}

/// Combines the postings of several terms in a segment of `limit` documents. Occurrences in the same document are
/// added up.
pub(crate) fn union(mut lists: Vec<Postings>, limit: u32) -> Postings {
    if lists.len() == 1 {
        return lists.pop().unwrap_or_default();
    }
    // A single Chinese character can be the first of thousands of different pairs. Adding up by document takes linear
    // time, whereas sorting would not.
    let mut counts = vec![0u32; limit as usize];
    for posting in lists.iter().flat_map(Postings::iter) {
        if let Some(count) = counts.get_mut(posting.doc as usize) {
            *count = count.saturating_add(posting.count);
        }
    }
    let mut packed = Postings::default();
    for (doc, count) in (0..).zip(counts).filter(|(_, count)| *count > 0) {
        packed.push(Posting { doc, count });
    }
    packed
}
