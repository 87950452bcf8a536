//! Ranked search: counts every posting in scope, scores it, and returns the best documents first.

use crate::searching::checker::Checker;
use crate::searching::query::{ClauseRule, ParsedQuery, Phrase};
use crate::searching::reader::{PostingsReader, PostingsSource, all_of, exclude, exclusions, tally};
use crate::searching::request::{DocHit, IndexSearch, SearchError};
use crate::searching::score::{HitStrength, Statistics, cover, strength, weigh};
use crate::storing::docs::DocKey;
use crate::storing::postings::Postings;
use std::cmp::Reverse;

/// A candidate for the ranking: its score, the index of its source, its document number, and the sum of the inverse
/// document frequencies of the terms that it contains.
type RankEntry = (i64, Reverse<usize>, u32, u64);

pub(crate) fn ranked<E, B: AsRef<[u8]>>(
    search: &IndexSearch<'_>,
    statistics: Statistics,
    sources: &[PostingsSource<'_>],
    reader: &mut PostingsReader<impl FnMut(usize, u32) -> Result<B, E>>,
    checker: &mut Checker<'_, impl FnMut(DocKey, &Phrase) -> Result<bool, E>>,
) -> Result<Vec<DocHit>, SearchError<E>> {
    let terms = search.query.terms.len();
    let mut frequencies = vec![0u64; terms];
    let mut found: Vec<Vec<Option<Postings>>> = Vec::with_capacity(sources.len());
    for source in sources {
        let mut lists = Vec::with_capacity(terms);
        for (at, frequency) in frequencies.iter_mut().enumerate() {
            let postings = reader.postings(source, search.query, at)?;
            *frequency += postings.as_ref().map_or(0, |postings| source.frequency(postings));
            lists.push(postings);
        }
        found.push(lists);
    }
    let ranking = Ranking::new(search.query, statistics, &frequencies);
    let mut candidates: Vec<RankEntry> = Vec::new();
    for (at, (source, found)) in sources.iter().zip(&found).enumerate() {
        ranking.score(source, found, |doc, score, contained| {
            candidates.push((score, Reverse(at), doc, contained));
        });
    }
    // Phrases may reject candidates, so the list may be shortened only if the query has no phrases.
    let best_first = |a: &RankEntry, b: &RankEntry| b.cmp(a);
    if checker.phrases.is_empty() && search.limit < candidates.len() {
        candidates.select_nth_unstable_by(search.limit, best_first);
        candidates.truncate(search.limit);
    }
    candidates.sort_unstable_by(best_first);
    let mut chosen: Vec<RankEntry> = Vec::new();
    for candidate in candidates {
        let (_, Reverse(at), doc, _) = candidate;
        if chosen.len() >= search.limit {
            break;
        }
        if let Some(source) = sources.get(at)
            && checker.passes(source.key(doc))?
        {
            chosen.push(candidate);
        }
    }
    let asked = ranking.scored.iter().map(|(_, idf)| idf).sum();
    let of = |score, contained| strength(&statistics, score, contained, asked);
    Ok(hits(search.query, sources, &found, &chosen, &of))
}

/// Data of the query that is needed to score documents.
struct Ranking<'a> {
    /// Terms that add to a score, each with its inverse document frequency.
    scored: Vec<(usize, u64)>,
    musts: Vec<usize>,
    exclusions: Vec<&'a [usize]>,
    slope: u64,
}

impl<'a> Ranking<'a> {
    fn new(query: &'a ParsedQuery, statistics: Statistics, frequencies: &[u64]) -> Self {
        let idf = |at: usize| (at, statistics.idf(frequencies.get(at).copied().unwrap_or(0)));
        Self {
            scored: query.gather(|clause| &clause.scored).into_iter().map(idf).collect(),
            musts: query.gather(|clause| if clause.need == ClauseRule::Must { &clause.needs } else { &[] }),
            exclusions: exclusions(query),
            slope: statistics.slope(),
        }
    }

    /// Scores the visible documents of a source that contain any of the words and all required words.
    fn score(
        &self,
        source: &PostingsSource<'_>,
        found: &[Option<Postings>],
        mut emit: impl FnMut(u32, i64, u64),
    ) {
        let Some(musts) = all_of(found, &self.musts) else { return };
        let all = &source.docs.all;
        let mut sums = vec![(0u64, 0u16, 0u64); all.len()];
        let mut touched = Vec::new();
        for (at, idf) in &self.scored {
            for posting in found.get(*at).into_iter().flatten().flat_map(Postings::iter) {
                let place = posting.doc as usize;
                let (Some((sum, matched, contained)), Some(doc)) = (sums.get_mut(place), all.get(place))
                else {
                    continue;
                };
                if *matched == 0 {
                    touched.push(posting.doc);
                }
                *sum += weigh(*idf, self.slope, posting.count, doc.len);
                *matched += 1;
                *contained += idf;
            }
        }
        touched.retain(|doc| source.visible.has(*doc));
        if !musts.is_empty() {
            let counts = tally(all.len(), &musts);
            touched.retain(|doc| {
                counts.get(*doc as usize).is_some_and(|count| usize::from(*count) == musts.len())
            });
        }
        exclude(source, found, &self.exclusions, &mut touched);
        for doc in touched {
            if let Some((sum, matched, contained)) = sums.get(doc as usize) {
                emit(doc, cover(*sum, usize::from(*matched), self.scored.len()), *contained);
            }
        }
    }
}

/// Returns the hits of the chosen documents, each with the words that it contains.
fn hits(
    query: &ParsedQuery,
    sources: &[PostingsSource<'_>],
    found: &[Vec<Option<Postings>>],
    chosen: &[RankEntry],
    of: &dyn Fn(i64, u64) -> HitStrength,
) -> Vec<DocHit> {
    let mut matched: Vec<Vec<Box<str>>> = vec![Vec::new(); chosen.len()];
    for (at, found) in found.iter().enumerate() {
        // Chosen documents of this source by number, each with its index among the hits.
        let mut mine: Vec<(u32, usize)> = chosen
            .iter()
            .zip(0..)
            .filter(|((_, source, ..), _)| source.0 == at)
            .map(|(c, hit)| (c.2, hit))
            .collect();
        mine.sort_unstable();
        for clause in
            query.clauses.iter().filter(|clause| clause.need != ClauseRule::MustNot && !mine.is_empty())
        {
            let Some(lists) = all_of(found, &clause.needs) else { continue };
            let mut with = mine.clone();
            for list in lists {
                let mut postings = list.iter().map(|posting| posting.doc).peekable();
                with.retain(|(doc, _)| {
                    while postings.next_if(|candidate| candidate < doc).is_some() {}
                    postings.next_if_eq(doc).is_some()
                });
            }
            for words in with.iter().map(|(_, hit)| *hit) {
                if let Some(words) = matched.get_mut(words) {
                    words.push(clause.text.clone());
                }
            }
        }
    }
    let hit = |((score, Reverse(at), doc, contained), matched): (&RankEntry, Vec<Box<str>>)| {
        let doc = sources.get(*at)?.key(*doc);
        Some(DocHit { doc, score: *score, strength: of(*score, *contained), matched })
    };
    chosen.iter().zip(matched).filter_map(hit).collect()
}
