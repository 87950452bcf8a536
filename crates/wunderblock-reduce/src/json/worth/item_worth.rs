//! Finds the items of a list that stay: those that mention a failure, match the query, or are rare in the document.

use crate::part::PartOfText;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::facts::{JsonFact, JsonFactKind};
use super::query_hits::QueryHits;
use crate::json::tree::{JsonTree, JsonType};
use crate::text::severity::{self, LogLevel};

/// Maximum number of items with the same kind of failure that are all kept. If there are more items, only the first
/// and the last stay.
const MAX_SAME_FAILURE: u32 = 6;
/// Maximum number of items that stay because they match the query.
const MAX_QUERY_ITEMS: usize = 16;
/// Maximum number of times that a rare name occurs in a document.
const MAX_RARE_NAME: u32 = 4;
/// Maximum number of bytes examined for failure words, from the start of a string.
const MAX_WORDS_BYTES: usize = 400;

/// The nodes that distinguish the items of a list, in order.
#[derive(Debug)]
pub(in crate::json) struct ItemSigns {
    /// Strings that mention a failure, each with a hash of its kind of failure.
    wrong: Vec<(u32, u64)>,
    rare: Vec<u32>,
}

impl ItemSigns {
    pub(in crate::json) fn of(tree: &JsonTree<'_>, facts: &[JsonFact<'_>]) -> Self {
        let mut signs = Self { wrong: Vec::new(), rare: Vec::new() };
        for at in 0..tree.nodes.len() {
            let Ok(node) = u32::try_from(at) else { break };
            match tree.kind(at) {
                JsonType::Text if mentions_failure(tree.source(at)) => {
                    let mut hasher = DefaultHasher::new();
                    (tree.name(at), string_shape(tree.source(at))).hash(&mut hasher);
                    signs.wrong.push((node, hasher.finish()));
                }
                JsonType::Raw => signs.rare.push(node),
                _ => {}
            }
        }
        let is_rare = |fact: &&JsonFact<'_>| fact.sort != JsonFactKind::Name || fact.all <= MAX_RARE_NAME;
        signs.rare.extend(facts.iter().filter(is_rare).flat_map(|fact| &fact.places));
        signs.rare.sort_unstable();
        signs
    }

    /// Returns the number of rare nodes in a range of nodes.
    pub(in crate::json) fn rarity(&self, from: usize, to: usize) -> usize {
        let before = |at: usize| self.rare.partition_point(|node| (*node as usize) < at);
        before(to) - before(from)
    }

    /// Returns the items that mention a failure. If most items mention a failure, only the first item of each kind of
    /// failure is returned.
    pub(in crate::json) fn wrong_items(&self, tree: &JsonTree<'_>, items: &[usize]) -> Vec<usize> {
        let wrong = |item: &usize| {
            let first = self.wrong.partition_point(|(node, _)| (*node as usize) < *item);
            self.wrong.get(first).filter(|(node, _)| *node < tree.node(*item).next).map(|(_, kind)| *kind)
        };
        let found: Vec<(usize, u64)> =
            items.iter().enumerate().filter_map(|(at, item)| Some((at, wrong(item)?))).collect();
        let common = found.len() * 2 > items.len();
        // For each kind of failure: the number of items that mention it, and the number of these items already read.
        let mut kinds: HashMap<u64, (u32, u32)> = HashMap::new();
        found.iter().for_each(|(_, kind)| kinds.entry(*kind).or_default().0 += 1);
        let shown = found.into_iter().filter(|(_, kind)| {
            let Some((all, seen)) = kinds.get_mut(kind) else { return false };
            *seen += 1;
            if common { *seen == 1 } else { *all <= MAX_SAME_FAILURE || *seen == 1 || *seen == *all }
        });
        shown.map(|(at, _)| at).collect()
    }
}

/// Returns the items that match the query best, or none if too many match equally well.
pub(in crate::json) fn asked_items(tree: &JsonTree<'_>, items: &[usize], hits: &QueryHits) -> Vec<usize> {
    let scores: Vec<u32> =
        items.iter().map(|item| hits.score(*item, tree.node(*item).next as usize)).collect();
    let best = scores.iter().copied().max().filter(|best| *best > 0);
    let mut asked: Vec<usize> =
        (0..).zip(scores).filter(|(_, score)| Some(*score) == best).map(|(at, _)| at).collect();
    if asked.len() > MAX_QUERY_ITEMS.max(items.len() / 4) {
        return Vec::new();
    }
    asked.truncate(MAX_QUERY_ITEMS);
    asked
}

fn mentions_failure(source: &str) -> bool {
    let mut end = source.len().min(MAX_WORDS_BYTES);
    while !source.is_char_boundary(end) {
        end -= 1;
    }
    severity::read_line(source.part(1..end)).weight() == LogLevel::Error
}

/// Returns the form of a string, with each run of digits or letters as one byte, and its length. At most 40 bytes.
fn string_shape(value: &str) -> ([u8; 40], usize) {
    let mut form = [0u8; 40];
    let (mut length, mut before) = (0, 0u8);
    for byte in value.bytes() {
        let class = match byte {
            b'0'..=b'9' => b'0',
            b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => b'a',
            other => other,
        };
        if class == before && matches!(class, b'0' | b'a') {
            continue;
        }
        before = class;
        let Some(slot) = form.get_mut(length) else { break };
        *slot = class;
        length += 1;
    }
    (form, length)
}
