//! Scopes: the documents that a searcher may see. All other documents are excluded, even from the statistics.

use crate::searching::score::Statistics;
use crate::storing::docs::{Doc, DocKey, Docs, StreamSpan};
use std::ops::RangeInclusive;

/// A set of documents: everything, or ranges of positions in streams, such as a session with its ancestors, or all
/// sessions of a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocScope(Option<Vec<PositionRange>>);

/// Consecutive positions of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PositionRange {
    stream: u32,
    from: u64,
    to: u64,
}

impl DocScope {
    /// Returns a scope of all documents. Use this scope only for an index that contains a single tenant.
    #[must_use]
    pub const fn everything() -> Self {
        Self(None)
    }

    /// Returns the union of ranges of streams. Without ranges, nothing is visible.
    #[must_use]
    pub fn of(ranges: impl IntoIterator<Item = (u32, RangeInclusive<u64>)>) -> Self {
        let part = |(stream, range): (u32, RangeInclusive<u64>)| PositionRange {
            stream,
            from: *range.start(),
            to: *range.end(),
        };
        let mut parts: Vec<PositionRange> =
            ranges.into_iter().map(part).filter(|part| part.from <= part.to).collect();
        parts.sort_unstable();
        parts.dedup_by(|later, kept| {
            let touch = later.stream == kept.stream && later.from <= kept.to.saturating_add(1);
            if touch {
                kept.to = kept.to.max(later.to);
            }
            touch
        });
        Self(Some(parts))
    }

    /// Returns whether a document is visible.
    #[must_use]
    pub fn contains(&self, key: DocKey) -> bool {
        let Some(parts) = &self.0 else { return true };
        let after = parts.partition_point(|part| (part.stream, part.from) <= (key.stream, key.seq));
        let part = after.checked_sub(1).and_then(|at| parts.get(at));
        part.is_some_and(|part| part.stream == key.stream && key.seq <= part.to)
    }

    /// Returns `true` if all of a stream's documents in a segment are visible, `false` if none are, and `None` if the
    /// range of positions cannot decide this.
    fn covers(&self, span: &StreamSpan) -> Option<bool> {
        let Some(parts) = &self.0 else { return Some(true) };
        let after = parts.partition_point(|part| (part.stream, part.from) <= (span.stream, span.last));
        match after.checked_sub(1).and_then(|at| parts.get(at)) {
            Some(part) if part.stream == span.stream && part.to >= span.first => {
                (part.from <= span.first && span.last <= part.to).then_some(true)
            }
            _ => Some(false),
        }
    }

    /// Returns the visible part of a segment's documents, and its statistics.
    pub(crate) fn look(&self, docs: &Docs) -> (Visible, Statistics) {
        let mut sums = Statistics::default();
        let (mut all, mut none) = (true, true);
        for span in &docs.spans {
            let covered = self.covers(span);
            all &= covered == Some(true);
            none &= covered == Some(false);
            if covered == Some(true) {
                sums.docs += span.docs;
                sums.terms += span.terms;
            }
        }
        if all || none {
            return (if none { Visible::Nothing } else { Visible::All }, sums);
        }
        sums = Statistics::default();
        let mut look = |doc: &Doc| {
            let visible = self.contains(doc.key());
            if visible {
                sums.docs += 1;
                sums.terms += u64::from(doc.len);
            }
            visible
        };
        (Visible::Some(docs.all.iter().map(&mut look).collect()), sums)
    }
}

/// Visible part of a segment.
#[derive(Debug)]
pub(crate) enum Visible {
    All,
    Nothing,
    /// Whether each document is visible, by document number.
    Some(Vec<bool>),
}

impl Visible {
    pub(crate) fn has(&self, doc: u32) -> bool {
        match self {
            Self::All => true,
            Self::Nothing => false,
            Self::Some(docs) => docs.get(doc as usize).copied().unwrap_or(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storing::docs::{DocsWriter, Row};

    proptest::proptest! {
        #[test]
        fn a_scope_is_the_union_of_its_ranges(
            ranges in proptest::collection::vec((0u32..3, 0u64..12, 0u64..12), 0..6),
            docs in proptest::collection::vec((0u32..4, 0u64..14, 0u32..9), 0..20),
        ) {
            let scope = DocScope::of(ranges.iter().map(|(stream, from, to)| (*stream, *from..=*to)));
            let mut writer = DocsWriter::default();
            for (stream, seq, len) in docs {
                writer.push(DocKey { stream, seq }, Row { len, ..Row::WHOLE });
            }
            let docs = writer.finish();
            let (visible, sums) = scope.look(&docs);
            let mut expected = Statistics::default();
            for (at, doc) in (0..).zip(&docs.all) {
                let seen = ranges.iter().any(|(s, from, to)| *s == doc.stream && (*from..=*to).contains(&doc.seq));
                assert_eq!(scope.contains(doc.key()), seen);
                assert_eq!(visible.has(at), seen);
                expected.docs += u64::from(seen);
                expected.terms += if seen { u64::from(doc.len) } else { 0 };
            }
            assert_eq!(sums, expected);
        }
    }
}
