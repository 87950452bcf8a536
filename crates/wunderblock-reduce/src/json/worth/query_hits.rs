//! The values and keys of a document that contain words of the query.

use crate::json::tree::JsonTree;
use crate::part::PartOfText;
use crate::spans::query::QueryTerms;

/// Maximum number of bytes of a value that are compared with the query.
const MAX_COMPARED_BYTES: usize = 16 << 10;
/// Maximum depth at which values are compared.
const MAX_DEPTH: usize = 48;
/// Maximum number of values that are kept because of the query, wherever they occur.
const MAX_BEST: usize = 16;

/// The nodes that contain words of the query, in order, and the weight of each word.
#[derive(Debug, Default)]
pub(in crate::json) struct QueryHits {
    /// Nodes that contain query words, each with one bit per word.
    places: Vec<(u32, u64)>,
    weights: Vec<u32>,
}

impl QueryHits {
    pub(in crate::json) fn of(tree: &JsonTree<'_>, query: &QueryTerms) -> Self {
        let mut hits = Self::default();
        if query.is_empty() {
            return hits;
        }
        let mut holding = [0u32; 64];
        for at in 0..tree.nodes.len() {
            let end = if tree.is_container(at) { tree.span(at).start } else { tree.span(at).end };
            let start = tree.member(at);
            let mut end = end.min(start + MAX_COMPARED_BYTES);
            while !tree.text.is_char_boundary(end) {
                end -= 1;
            }
            let words = query.words_in(tree.text.part(start..end));
            if words > 0 {
                hits.places.push((u32::try_from(at).unwrap_or(u32::MAX), words));
                for (bit, count) in holding.iter_mut().enumerate() {
                    *count += u32::from(words >> bit & 1 == 1);
                }
            }
        }
        let all = u32::try_from(tree.nodes.len()).unwrap_or(u32::MAX);
        // The rarer a word is, the more it weighs.
        hits.weights = holding.iter().map(|count| 1 + (all / count.max(&1)).max(1).ilog2()).collect();
        hits
    }

    fn weight(&self, words: u64) -> u32 {
        let told = self.weights.iter().enumerate().filter(|(bit, _)| words >> bit & 1 == 1);
        told.map(|(_, weight)| weight).sum()
    }

    /// Returns the total weight of the query words in a range of nodes.
    pub(in crate::json) fn score(&self, from: usize, to: usize) -> u32 {
        if self.places.is_empty() {
            return 0;
        }
        let first = self.places.partition_point(|(node, _)| (*node as usize) < from);
        let within = self.places.iter().skip(first).take_while(|(node, _)| (*node as usize) < to);
        self.weight(within.fold(0, |words, (_, more)| words | more))
    }

    /// Returns these hits, or none at depths beyond the maximum, because each value is examined once for every
    /// container around it.
    pub(in crate::json) fn at_depth(&self, depth: usize) -> &Self {
        const NONE: &QueryHits = &QueryHits { places: Vec::new(), weights: Vec::new() };
        if depth > MAX_DEPTH { NONE } else { self }
    }

    /// Returns the values with the highest weight, if there are few of them.
    pub(in crate::json) fn best(&self) -> Vec<u32> {
        let scores = || self.places.iter().map(|(node, words)| (*node, self.weight(*words)));
        let max = scores().map(|(_, score)| score).max().unwrap_or(0);
        let best: Vec<u32> = scores().filter(|(_, score)| *score == max).map(|(node, _)| node).collect();
        if best.len() > MAX_BEST { Vec::new() } else { best }
    }
}
