//! Search over stored segments, restricted to the documents that the searcher may see.
//!
//! ```text
//! headers ─► scope: what is visible, its sums ─┐
//! terms ──► one block per term and segment ────┼─► ranked: add up scores, keep the best
//!                                              └─► newest: intersect from the newest segment on, stop when enough
//! ```
//! In *ranked* order, a document with any of the words is a hit, so all postings in scope are counted and scored. In
//! *newest* order, nothing moves poor matches down, so all words are required. The *newest* order needs no scores,
//! and reads segments only until there are enough hits. Documents are ordered by segment and by number within the
//! segment, which is the order of indexing.

use crate::searching::checker::Checker;
use crate::searching::query::{Clause, ClauseRule, Phrase};
use crate::searching::rank::ranked;
use crate::searching::reader::{Origin, PostingsReader, PostingsSource, all_of, exclude, exclusions};
use crate::searching::request::{DocHit, IndexSearch, SearchError, SearchOrder};
use crate::searching::scope::{DocScope, Visible};
use crate::searching::score::{HitStrength, Statistics};
use crate::searching::tail::Tail;
use crate::storing::docs::DocKey;
use crate::storing::header::Header;
use crate::storing::postings::Postings;

/// Finds documents.
///
/// `segments` are the headers, newest first. `fetch(segment, block)` reads the given block of the segment with the
/// given index. `check(document, phrase)` returns whether the document's text contains the phrase
/// ([`Phrase::is_in`]). `check` is called for documents that contain all words of the phrase, in the order of the
/// hits, until there are enough hits. `tail`, if given, must have been scanned for the same query.
///
/// # Errors
/// Fails if the index is damaged, or if `fetch` or `check` fails.
pub fn search<E, B: AsRef<[u8]>>(
    search: &IndexSearch<'_>,
    segments: &[&Header],
    tail: Option<&Tail>,
    fetch: impl FnMut(usize, u32) -> Result<B, E>,
    check: impl FnMut(DocKey, &Phrase) -> Result<bool, E>,
) -> Result<Vec<DocHit>, SearchError<E>> {
    let (sources, statistics) = sources(search.scope, segments, tail);
    let mut checker = Checker::of(search.query, check);
    let mut reader = PostingsReader::new(fetch);
    match search.order {
        SearchOrder::Ranked => ranked(search, statistics, &sources, &mut reader, &mut checker),
        SearchOrder::Newest => newest(search, &sources, &mut reader, &mut checker),
    }
}

/// Returns the tail and the segments with what is visible of them, newest first, and the sums of what is visible.
pub(crate) fn sources<'a>(
    scope: &DocScope,
    segments: &[&'a Header],
    tail: Option<&'a Tail>,
) -> (Vec<PostingsSource<'a>>, Statistics) {
    let mut sources = Vec::with_capacity(segments.len() + 1);
    let mut statistics = Statistics::default();
    let tail = tail.map(|tail| (&tail.docs, Origin::Tail(&tail.postings)));
    let stored = segments.iter().enumerate().map(|(at, header)| (&header.docs, Origin::Segment(at, header)));
    for (docs, origin) in tail.into_iter().chain(stored) {
        let (visible, sums) = scope.look(docs);
        statistics.docs += sums.docs;
        statistics.terms += sums.terms;
        if !matches!(visible, Visible::Nothing) {
            sources.push(PostingsSource { docs, visible, origin });
        }
    }
    (sources, statistics)
}

fn newest<E, B: AsRef<[u8]>>(
    search: &IndexSearch<'_>,
    sources: &[PostingsSource<'_>],
    reader: &mut PostingsReader<impl FnMut(usize, u32) -> Result<B, E>>,
    checker: &mut Checker<'_, impl FnMut(DocKey, &Phrase) -> Result<bool, E>>,
) -> Result<Vec<DocHit>, SearchError<E>> {
    let query = search.query;
    let wanted: Vec<&Clause> =
        query.clauses.iter().filter(|clause| clause.need != ClauseRule::MustNot).collect();
    let matched: Vec<Box<str>> = wanted.iter().map(|clause| clause.text.clone()).collect();
    let mut needs =
        query.gather(|clause| if clause.need == ClauseRule::MustNot { &[] } else { &clause.needs });
    let exclusions = exclusions(query);
    let mut seen = vec![0u64; query.terms.len()];
    let mut hits = Vec::new();
    for source in sources {
        if hits.len() >= search.limit {
            break;
        }
        // The rarest term is read first, as counted in the segments already read: if a term is missing, the segment's
        // other blocks need not be read.
        needs.sort_by_key(|at| (seen.get(*at).copied(), *at));
        let mut found: Vec<Option<Postings>> = vec![None; query.terms.len()];
        let mut complete = true;
        for at in &needs {
            let postings = reader.postings(source, query, *at)?;
            complete &= postings.is_some();
            if let (Some(seen), Some(postings)) = (seen.get_mut(*at), &postings) {
                *seen += u64::from(postings.docs);
            }
            if !complete {
                break;
            }
            if let Some(place) = found.get_mut(*at) {
                *place = postings;
            }
        }
        let Some(mut lists) = all_of(&found, &needs).filter(|_| complete) else { continue };
        lists.sort_by_key(|list| list.docs);
        let mut docs = intersect(&lists);
        for at in exclusions.iter().copied().flatten() {
            let postings = reader.postings(source, query, *at)?;
            if let Some(place) = found.get_mut(*at) {
                *place = postings;
            }
        }
        exclude(source, &found, &exclusions, &mut docs);
        for doc in docs.into_iter().rev().filter(|doc| source.visible.has(*doc)) {
            if hits.len() < search.limit && checker.passes(source.key(doc))? {
                hits.push(DocHit {
                    doc: source.key(doc),
                    score: 0,
                    strength: HitStrength::default(),
                    matched: matched.clone(),
                });
            }
            if hits.len() >= search.limit {
                break;
            }
        }
    }
    Ok(hits)
}

/// Returns the documents that occur in all lists. The shortest list must be first.
fn intersect(lists: &[&Postings]) -> Vec<u32> {
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
