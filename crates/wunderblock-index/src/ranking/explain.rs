//! What a hit contains: which documents a query allows, and how strong a hit is.

use crate::ranking::counts::is_set;
use crate::ranking::occurrences::Occurrences;
use crate::ranking::order::PassageOrder;
use crate::ranking::rank::Scored;
use crate::searching::query::{Clause, ClauseRule, ParsedQuery};
use crate::searching::reader::exclusions;
use crate::searching::score::{HitStrength, Statistics, cover, strength, weigh};
use std::collections::HashSet;

/// Documents that a query with operators allows.
pub(crate) struct Allowed {
    /// Documents with all required words, if there are such words.
    required: Option<HashSet<u32>>,
    /// Documents with all terms of an excluded word. Phrases are left to the caller, who has the texts.
    excluded: HashSet<u32>,
}

impl Allowed {
    pub(crate) fn of(query: &ParsedQuery, found: &[Occurrences]) -> Self {
        let with = |terms: &[usize]| {
            let docs = |at: &usize| {
                let all = found.get(*at).map_or(&[][..], |found| &found.all);
                all.iter().map(|one| one.doc).collect::<HashSet<u32>>()
            };
            terms
                .iter()
                .map(docs)
                .reduce(|all, one| all.intersection(&one).copied().collect())
                .unwrap_or_default()
        };
        let musts = query.gather(|clause| if clause.need == ClauseRule::Must { &clause.needs } else { &[] });
        let excluded = exclusions(query).into_iter().flat_map(with).collect();
        Self { required: (!musts.is_empty()).then(|| with(&musts)), excluded }
    }

    pub(crate) fn has(&self, doc: u32) -> bool {
        !self.excluded.contains(&doc) && self.required.as_ref().is_none_or(|docs| docs.contains(&doc))
    }
}

/// Tells what hits contain, by whole documents.
pub(crate) struct Explainer<'a> {
    query: &'a ParsedQuery,
    order: &'a PassageOrder,
    found: &'a [Occurrences],
    /// Number of each document among the hits.
    docs: Vec<u32>,
    /// How often each hit contains each term.
    counts: Vec<Vec<u32>>,
}

impl<'a> Explainer<'a> {
    pub(crate) fn of(
        query: &'a ParsedQuery,
        order: &'a PassageOrder,
        found: &'a [Occurrences],
        chosen: &[Scored],
    ) -> Self {
        let doc = |scored: &Scored| order.entry(scored.at).map_or(u32::MAX, |entry| entry.doc);
        let docs: Vec<u32> = chosen.iter().map(doc).collect();
        let mut places: Vec<(u32, usize)> = docs.iter().copied().zip(0..).collect();
        places.sort_unstable();
        // Each occurrence is looked up, and most are not in a hit.
        let mut bits = vec![0u64; (order.sums().docs as usize).div_ceil(64)];
        for doc in &docs {
            if let Some(bits) = bits.get_mut(*doc as usize / 64) {
                *bits |= 1 << (doc % 64);
            }
        }
        let number = |doc: u32| {
            let place = places.binary_search_by_key(&doc, |(doc, _)| *doc).ok()?;
            places.get(place).map(|(_, number)| *number)
        };
        let mut counts = vec![vec![0u32; found.len()]; docs.len()];
        for (term, found) in found.iter().enumerate() {
            for one in &found.all {
                let hit = Some(one.doc).filter(|doc| is_set(&bits, *doc)).and_then(number);
                if let Some(count) = hit.and_then(|hit| counts.get_mut(hit)?.get_mut(term)) {
                    *count = count.saturating_add(one.count);
                }
            }
        }
        Self { query, order, found, docs, counts }
    }

    /// Returns the strength of each hit and the words that it contains.
    pub(crate) fn explain(&self) -> Vec<(HitStrength, Vec<Box<str>>)> {
        let sums = self.order.sums();
        let statistics = Statistics { docs: sums.docs, terms: sums.terms };
        let scored = self.query.gather(|clause| &clause.scored);
        let idf = |at: &usize| statistics.idf(self.found.get(*at).map_or(0, |found| found.docs));
        let idfs: Vec<(usize, u64)> = scored.iter().map(|at| (*at, idf(at))).collect();
        let asked = idfs.iter().map(|(_, idf)| idf).sum();
        let slope = statistics.slope();
        let of = |(doc, counts): (&u32, &Vec<u32>)| {
            let len = self.order.doc_len(*doc);
            let (mut sum, mut matched, mut contained) = (0, 0, 0);
            for (at, idf) in &idfs {
                let count = counts.get(*at).copied().unwrap_or(0);
                if count > 0 {
                    sum += weigh(*idf, slope, count, len);
                    matched += 1;
                    contained += idf;
                }
            }
            let score = cover(sum, matched, idfs.len());
            (strength(&statistics, score, contained, asked), self.matched(counts))
        };
        self.docs.iter().zip(&self.counts).map(of).collect()
    }

    fn matched(&self, counts: &[u32]) -> Vec<Box<str>> {
        let has = |at: &usize| counts.get(*at).is_some_and(|count| *count > 0);
        let is_met = |clause: &&Clause| clause.need != ClauseRule::MustNot && clause.needs.iter().all(has);
        self.query.clauses.iter().filter(is_met).map(|clause| clause.text.clone()).collect()
    }
}
