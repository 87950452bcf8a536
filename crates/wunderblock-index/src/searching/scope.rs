//! Scopes: the documents that a searcher may see. All other documents are excluded.

use crate::storing::docs::{DocKey, Docs};
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
        self.touches(key.stream, &(key.seq..=key.seq))
    }

    /// Returns whether some document of a stream at these positions is visible.
    #[must_use]
    pub fn touches(&self, stream: u32, positions: &RangeInclusive<u64>) -> bool {
        let Some(parts) = &self.0 else { return true };
        let after = parts.partition_point(|part| (part.stream, part.from) <= (stream, *positions.end()));
        let part = after.checked_sub(1).and_then(|at| parts.get(at));
        part.is_some_and(|part| part.stream == stream && *positions.start() <= part.to)
    }

    /// Returns whether any of some documents may be visible, given the range of positions of each stream.
    pub(crate) fn has_any(&self, docs: &Docs) -> bool {
        let Some(parts) = &self.0 else { return true };
        docs.spans.iter().any(|(stream, (first, last))| {
            let after = parts.partition_point(|part| (part.stream, part.from) <= (*stream, *last));
            let part = after.checked_sub(1).and_then(|at| parts.get(at));
            part.is_some_and(|part| part.stream == *stream && part.to >= *first)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storing::docs::{Doc, DocsWriter, Row};

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
            for doc in &docs.all {
                let seen = ranges.iter().any(|(s, from, to)| *s == doc.stream && (*from..=*to).contains(&doc.seq));
                assert_eq!(scope.contains(doc.key()), seen);
                assert!(!seen || scope.has_any(&docs));
            }
            let alone = |doc: &Doc| {
                let mut writer = DocsWriter::default();
                writer.push(doc.key(), Row::WHOLE);
                scope.has_any(&writer.finish())
            };
            assert!(docs.all.iter().all(|doc| alone(doc) == scope.contains(doc.key())));
        }
    }
}
