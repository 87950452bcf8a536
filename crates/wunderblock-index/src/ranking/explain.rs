//! What a hit contains: which documents a query allows, and how strong a hit is.

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
        let excluded = exclusions(query).flat_map(with).collect();
        Self { required: (!musts.is_empty()).then(|| with(&musts)), excluded }
    }

    pub(crate) fn has(&self, doc: u32) -> bool {
        !self.excluded.contains(&doc) && self.required.as_ref().is_none_or(|docs| docs.contains(&doc))
    }
}

/// Returns the strength of each hit and the words that it contains, by whole documents.
pub(crate) fn explain(
    query: &ParsedQuery,
    order: &PassageOrder,
    found: &[Occurrences],
    chosen: &[Scored],
) -> Vec<(HitStrength, Vec<Box<str>>)> {
    let sums = order.sums();
    let statistics = Statistics { docs: sums.docs, terms: sums.terms };
    let idf = |at: usize| (at, statistics.idf(found.get(at).map_or(0, |found| found.docs)));
    let idfs: Vec<(usize, u64)> = query.gather(|clause| &clause.scored).into_iter().map(idf).collect();
    let asked = idfs.iter().map(|(_, idf)| idf).sum();
    let slope = statistics.slope();
    let explain = |(scored, counts): (&Scored, Vec<u32>)| {
        let len = order.entry(scored.at).map_or(0, |entry| order.doc_len(entry.doc));
        let (mut sum, mut matched, mut contained) = (0, 0, 0);
        for (at, idf) in &idfs {
            let count = counts.get(*at).copied().unwrap_or(0);
            if count > 0 {
                sum += weigh(*idf, slope, count, len);
                matched += 1;
                contained += idf;
            }
        }
        let has = |at: &usize| counts.get(*at).is_some_and(|count| *count > 0);
        let is_met = |clause: &&Clause| clause.need != ClauseRule::MustNot && clause.needs.iter().all(has);
        let words = query.clauses.iter().filter(is_met).map(|clause| clause.text.clone()).collect();
        (strength(&statistics, cover(sum, matched, idfs.len()), contained, asked), words)
    };
    chosen.iter().zip(counts(order, found, chosen)).map(explain).collect()
}

/// Returns how often the document of each hit contains each term.
fn counts(order: &PassageOrder, found: &[Occurrences], chosen: &[Scored]) -> Vec<Vec<u32>> {
    // Number of the hit of each document, from one on: each occurrence is looked up, and most are not in a hit.
    let mut hits = vec![0usize; order.sums().docs as usize];
    for (number, scored) in (1..).zip(chosen) {
        if let Some(hit) = order.entry(scored.at).and_then(|entry| hits.get_mut(entry.doc as usize)) {
            *hit = number;
        }
    }
    let mut counts = vec![vec![0u32; found.len()]; chosen.len()];
    for (term, found) in found.iter().enumerate() {
        for one in &found.all {
            let hit = hits.get(one.doc as usize).and_then(|hit| hit.checked_sub(1));
            if let Some(count) = hit.and_then(|hit| counts.get_mut(hit)?.get_mut(term)) {
                *count = count.saturating_add(one.count);
            }
        }
    }
    counts
}
