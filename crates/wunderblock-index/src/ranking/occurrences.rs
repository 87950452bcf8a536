//! Occurrences of a question's terms, by position in the order of passages.

use crate::ranking::order::PassageOrder;
use crate::searching::query::ParsedQuery;
use crate::searching::reader::{Origin, PostingsReader, PostingsSource};
use crate::searching::request::SearchError;
use crate::searching::scope::Visible;
use crate::searching::tail::Tail;
use crate::storing::header::Header;

/// A passage that contains a term, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Occurrence {
    pub(crate) at: u32,
    pub(crate) count: u32,
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
    let mut reader = PostingsReader::new(fetch);
    let mut found = vec![Vec::new(); query.terms.len()];
    let stored = segments.iter().enumerate().rev();
    let stored = stored.map(|(at, header)| (Some(at), &header.docs, Origin::Segment(at, header)));
    let tail = tail.map(|tail| (None, &tail.docs, Origin::Tail(&tail.postings)));
    // Oldest first, so that the positions are nearly in order.
    for (segment, docs, origin) in stored.chain(tail) {
        if !order.has(segment) {
            continue;
        }
        let source = PostingsSource { docs, visible: Visible::All, origin };
        for (at, found) in found.iter_mut().enumerate() {
            let Some(rows) = reader.rows(&source, query, at)? else { continue };
            let place = |row: u32| order.position(segment, row);
            found.extend(
                rows.iter().filter_map(|row| Some(Occurrence { at: place(row.doc)?, count: row.count })),
            );
        }
    }
    Ok(found.into_iter().map(|all| Occurrences::of(all, order)).collect())
}

impl Occurrences {
    fn of(mut all: Vec<Occurrence>, order: &PassageOrder) -> Self {
        // A stable sort, because it is fast for parts that are in order.
        all.sort();
        let doc = |occurrence: &Occurrence| order.entry(occurrence.at).map(|entry| entry.doc);
        let docs = all.chunk_by(|a, b| doc(a) == doc(b)).count() as u64;
        Self { all, docs }
    }
}
