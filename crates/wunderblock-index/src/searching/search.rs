//! Search for the newest documents that have all words of a query, restricted to those that the searcher may see.
//!
//! Nothing moves poor matches down, so all words are required. Segments are read from the newest on, only until there
//! are enough hits. Documents are ordered by segment and by number within the segment, which is the order of indexing.
//! [`mod@crate::ranking`] orders by relevance.

use crate::searching::query::{Clause, ClauseRule};
use crate::searching::reader::{Origin, PostingsReader, exclusions};
use crate::searching::request::{DocHit, IndexSearch, SearchError};
use crate::searching::tail::Tail;
use crate::storing::header::Header;
use crate::storing::postings::Postings;

/// Finds documents, newest first. Callers check the phrases of the query, which the index does not hold
/// ([`crate::Phrase::is_in`]).
///
/// `segments` are the headers, newest first. `fetch(segment, block)` reads the given block of the segment with the
/// given index. `tail`, if given, must have been scanned for the same query.
///
/// # Errors
/// Fails if the index is damaged, or if `fetch` fails.
pub fn search<E, B: AsRef<[u8]>>(
    search: &IndexSearch<'_>,
    segments: &[&Header],
    tail: Option<&Tail>,
    fetch: impl FnMut(usize, u32) -> Result<B, E>,
) -> Result<Vec<DocHit>, SearchError<E>> {
    let IndexSearch { query, scope, limit } = *search;
    let mut reader = PostingsReader::new(query, fetch);
    let wanted: Vec<&Clause> =
        query.clauses.iter().filter(|clause| clause.need != ClauseRule::MustNot).collect();
    let matched: Vec<Box<str>> = wanted.iter().map(|clause| clause.text.clone()).collect();
    let mut needs =
        query.gather(|clause| if clause.need == ClauseRule::MustNot { &[] } else { &clause.needs });
    let mut seen = vec![0u64; query.terms.len()];
    let mut hits = Vec::new();
    let tail = tail.map(|tail| (&tail.docs, Origin::Tail(&tail.postings)));
    let stored = segments.iter().enumerate().map(|(at, header)| (&header.docs, Origin::Segment(at, header)));
    for (docs, origin) in tail.into_iter().chain(stored).filter(|(docs, _)| scope.has_any(docs)) {
        if hits.len() >= limit {
            break;
        }
        // The rarest term is read first, as counted in the segments already read: if a term is missing, the segment's
        // other blocks need not be read.
        needs.sort_by_key(|at| (seen.get(*at).copied(), *at));
        let mut lists = Vec::new();
        for at in &needs {
            let Some(postings) = reader.by_document(docs, origin, *at)? else { break };
            if let Some(seen) = seen.get_mut(*at) {
                *seen += u64::from(postings.docs);
            }
            lists.push(postings);
        }
        if lists.len() < needs.len() {
            continue;
        }
        let mut found = intersect(lists);
        for terms in exclusions(query) {
            let lists = terms.iter().map(|at| reader.by_document(docs, origin, *at));
            let excluded = lists.collect::<Result<Option<Vec<_>>, _>>()?.map(intersect).unwrap_or_default();
            found.retain(|doc| excluded.binary_search(doc).is_err());
        }
        let found = found.iter().rev().filter_map(|doc| docs.all.get(*doc as usize));
        let visible = found.filter(|doc| scope.contains(doc.key())).take(limit - hits.len());
        hits.extend(visible.map(|doc| DocHit { doc: doc.key(), len: doc.len, matched: matched.clone() }));
    }
    Ok(hits)
}

/// Returns the documents that occur in all lists.
fn intersect(mut lists: Vec<Postings>) -> Vec<u32> {
    lists.sort_by_key(|list| list.docs);
    let Some((first, others)) = lists.split_first() else { return Vec::new() };
    let mut docs: Vec<u32> = first.iter().map(|posting| posting.doc).collect();
    for list in others {
        let mut candidates = list.iter().map(|posting| posting.doc).peekable();
        docs.retain(|doc| {
            while candidates.next_if(|candidate| candidate < doc).is_some() {}
            candidates.next_if_eq(doc).is_some()
        });
    }
    docs
}
