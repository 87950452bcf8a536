//! Relevance to the reader's query: Okapi BM25 over the spans of a text, in whole numbers, so that the result is the
//! same on every machine.
//!
//! k1 is 1.2 and b is 0.75, as Robertson and Zaragoza give them ("The Probabilistic Relevance Framework", 2009).

use crate::part::{PartOfList, PartOfText};
use std::collections::HashMap;

use crate::spans::span::{LineSpan, Rank};

mod word_hash;

use word_hash::for_each_word;

/// The number one in fixed-point arithmetic, in units of 1/1024.
const ONE: u64 = 1024;
const K1: u64 = ONE * 12 / 10;
const B: u64 = ONE * 3 / 4;
/// Maximum number of different words in a query, because [`QueryTerms::words_in`] has one bit per word. Later words
/// are ignored.
const MAX_TERMS: usize = 64;

/// The words of a query, ready to be compared with stretches of a text.
#[derive(Debug, Default)]
pub(crate) struct QueryTerms {
    /// Hash of each word of the query, and the index of the word.
    terms: HashMap<u64, usize>,
}

impl QueryTerms {
    pub(crate) fn of(query: Option<&str>) -> Self {
        let mut terms = HashMap::new();
        for_each_word(query.unwrap_or(""), &mut |word| {
            let next = terms.len();
            if next < MAX_TERMS {
                terms.entry(word).or_insert(next);
            }
        });
        Self { terms }
    }

    /// Returns whether there is no query.
    pub(crate) fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns the query words that a text contains, one bit per word.
    pub(crate) fn words_in(&self, text: &str) -> u64 {
        let mut found = 0;
        if !self.is_empty() {
            for_each_word(text, &mut |word| {
                if let Some(at) = self.terms.get(&word) {
                    found |= 1 << at;
                }
            });
        }
        found
    }

    /// Raises the ranks of relevant spans: the best get the rank that must stay, and the others the rank that stays
    /// at `fold`. A word that occurs in more than a quarter of the spans raises none of them, unless there are few
    /// spans.
    pub(crate) fn promote(&self, text: &str, spans: &mut [LineSpan]) {
        if self.is_empty() || spans.is_empty() {
            return;
        }
        let weights = self.weights(text, spans);
        let best = weights.iter().copied().max().unwrap_or(0);
        if best == 0 {
            return;
        }
        let max_raised = (spans.len() / 20).max(8);
        let mut raised = Vec::new();
        for (span, weight) in spans.iter_mut().zip(weights).filter(|(_, weight)| *weight > 0) {
            let share = u16::try_from(weight * 20_000 / best).unwrap_or(u16::MAX);
            span.score = span.score.saturating_add(share);
            if weight * 4 >= best {
                span.rank = span.rank.max(Rank::Context);
            }
            if weight * 2 >= best {
                raised.push((weight, span));
            }
        }
        // The sort is stable, so spans of equal weight keep their order.
        raised.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
        for (_, span) in raised.into_iter().take(max_raised) {
            span.rank = Rank::Must;
            span.score = span.score.max(u16::MAX - 1000);
        }
    }

    /// Returns the weight of each span, in units of 1/1024.
    fn weights(&self, text: &str, spans: &[LineSpan]) -> Vec<u64> {
        let mut holding = vec![0u64; self.terms.len()];
        let mut weights = vec![0u64; spans.len()];
        let (mut all_words, mut found) = (0u64, Vec::new());
        for (span, weight) in spans.iter().zip(&mut weights) {
            let mut length = 0u64;
            let mut counts: Vec<(usize, u64)> = Vec::new();
            let own = || text.part(span.range());
            for_each_word(span.shown().unwrap_or_else(own), &mut |word| {
                length += 1;
                let Some(term) = self.terms.get(&word) else { return };
                match counts.iter_mut().find(|(known, _)| known == term) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((*term, 1)),
                }
            });
            for (term, _) in &counts {
                holding.item_mut(*term).into_iter().for_each(|count| *count += 1);
            }
            all_words += length;
            if !counts.is_empty() {
                found.push((weight, length, counts));
            }
        }
        let all = spans.len() as u64;
        let mean = (all_words / all.max(1)).max(1);
        let worth: Vec<u64> = holding.iter().map(|holding| inverse_frequency(all, *holding)).collect();
        for (weight, length, counts) in found {
            let norm = K1 * (ONE - B + B * length / mean) / ONE;
            let of_terms = counts.iter().map(|(term, count)| {
                let saturated = count * ONE * (ONE + K1) / (count * ONE + norm);
                worth.item(*term).map_or(0, |worth| worth * saturated / ONE)
            });
            *weight = of_terms.sum();
        }
        weights
    }
}

/// Returns the weight of a word that occurs in `holding` of `all` spans: the logarithm (to base 2, in 1/1024) of 1 +
/// (all − holding + ½) / (holding + ½). Returns zero for a common word.
fn inverse_frequency(all: u64, holding: u64) -> u64 {
    if holding == 0 || (all > 8 && holding * 4 > all) {
        return 0;
    }
    let ratio = ONE + (2 * (all - holding) + 1) * ONE / (2 * holding + 1);
    log2(ratio)
}

/// Returns the logarithm to base 2 of a number that is at least 1. Both are in 1/1024. The integer part is exact, and
/// the rest is interpolated linearly.
fn log2(number: u64) -> u64 {
    let whole = u64::from(number.max(ONE).ilog2());
    let rest = (number.max(ONE) << 10 >> whole) - ONE;
    (whole - 10) * ONE + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::lines::TextLines;
    use proptest::prelude::*;

    fn ranked(text: &str, query: &str, rank: Rank) -> Vec<LineSpan> {
        let lines = TextLines::of(text);
        let mut spans: Vec<LineSpan> =
            (0..lines.len()).map(|line| LineSpan::new(lines.span(line), rank)).collect();
        QueryTerms::of(Some(query)).promote(text, &mut spans);
        spans
    }

    #[test]
    fn what_is_asked_for_must_stay() {
        let mut text: String = (0..100).map(|n| format!("request {n} served by worker\n")).collect();
        text.push_str("the cache of getUserById timed out\n");
        text.push_str("数据库连接失败了\n");
        for query in ["user cache", "getUserById", "get_user_by_id timeouts", "timed", "连接失败"] {
            let spans = ranked(&text, query, Rank::Filler);
            let must: Vec<_> = spans.iter().filter(|span| span.rank == Rank::Must).collect();
            assert_eq!(must.len(), 1, "{query}");
        }
        assert!(
            ranked(&text, "worker", Rank::Filler).iter().all(|span| span.rank == Rank::Filler),
            "common words tell nothing"
        );
        assert!(ranked(&text, "", Rank::Filler).iter().all(|span| span.score == 0));
    }

    #[test]
    fn a_rarer_word_weighs_more() {
        assert!(inverse_frequency(100, 1) > inverse_frequency(100, 10));
        assert_eq!(inverse_frequency(100, 80), 0);
        assert_eq!(log2(ONE), 0);
        assert_eq!(log2(8 * ONE), 3 * ONE);
    }

    #[test]
    fn the_words_of_a_text_are_told_apart() {
        let query = QueryTerms::of(Some("red shoes"));
        assert_eq!(query.words_in("{\"color\":\"red\",\"kind\":\"shoe\"}"), 0b11);
        assert_eq!(query.words_in("{\"color\":\"red\"}"), 0b01);
        assert_eq!(QueryTerms::of(None).words_in("red"), 0);
    }

    proptest! {
        #[test]
        fn ranks_never_fall_and_spans_stay(text in "((red|blue|old_fox|\\PC{0,9})( |\n)){0,40}", query in "(red|blue|foxes| |\\PC{0,5}){0,4}") {
            let before = ranked(&text, "", Rank::Context);
            for (old, new) in before.iter().zip(ranked(&text, &query, Rank::Context)) {
                prop_assert!(new.rank >= old.rank && new.score >= old.score && new.range() == old.range());
            }
        }
    }
}
