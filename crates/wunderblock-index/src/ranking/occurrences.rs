//! Occurrences of a question's terms, by position in the order of passages.

use crate::passages::traits::Traits;
use crate::ranking::order::PassageOrder;
use crate::searching::query::ParsedQuery;
use crate::searching::reader::{Origin, PostingsReader};
use crate::searching::request::SearchError;
use crate::searching::tail::Tail;
use crate::storing::header::Header;

/// A passage that contains a term, and how often. The rest is copied from the order, whose entries are scattered in
/// memory: a term of a large ledger has tens of thousands of occurrences, which are walked several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Occurrence {
    pub(crate) at: u32,
    pub(crate) count: u32,
    pub(crate) doc: u32,
    /// Session in which it was said; `None` for other texts.
    pub(crate) session: Option<u32>,
}

/// Passages in scope that contain a term, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Occurrences {
    pub(crate) all: Vec<Occurrence>,
    /// Number of documents.
    pub(crate) docs: u64,
}

/// Returns the occurrences of each term of a query.
pub(crate) fn occurrences<E, B: AsRef<[u8]>>(
    query: &ParsedQuery,
    order: &PassageOrder,
    segments: &[&Header],
    tail: Option<&Tail>,
    fetch: impl FnMut(usize, u32) -> Result<B, E>,
) -> Result<Vec<Occurrences>, SearchError<E>> {
    let mut reader = PostingsReader::new(query, fetch);
    let mut found = vec![Vec::new(); query.terms.len()];
    let stored = segments.iter().enumerate().rev();
    let stored = stored.map(|(at, header)| (Some(at), Origin::Segment(at, header)));
    let tail = tail.map(|tail| (None, Origin::Tail(&tail.postings)));
    // Oldest first, so that the positions are nearly in order.
    for (segment, origin) in stored.chain(tail) {
        if !order.has(segment) {
            continue;
        }
        for (at, found) in found.iter_mut().enumerate() {
            for rows in reader.entries(origin, at)? {
                let place = |row: u32| order.position(segment, row);
                found.extend(rows.iter().filter_map(|row| Some((place(row.doc)?, row.count))));
            }
        }
    }
    Ok(found.into_iter().map(|all| Occurrences::of(all, order)).collect())
}

impl Occurrences {
    /// Returns the occurrences at some positions, given with their counts.
    fn of(mut found: Vec<(u32, u32)>, order: &PassageOrder) -> Self {
        // A stable sort, because it is fast for parts that are in order.
        found.sort();
        // Two words with the same stem may be in one passage.
        found.dedup_by(|(later, more), (kept, count)| {
            *count = count.saturating_add(if later == kept { *more } else { 0 });
            later == kept
        });
        let occurrence = |(at, count): (u32, u32)| {
            let entry = order.entry(at)?;
            let session = Some(entry.session).filter(|_| !entry.traits.has(Traits::OUTSIDE));
            Some(Occurrence { at, count, doc: entry.doc, session })
        };
        let all: Vec<Occurrence> = found.into_iter().filter_map(occurrence).collect();
        let docs = all.chunk_by(|a, b| a.doc == b.doc).count() as u64;
        Self { all, docs }
    }
}
