//! The worth of each item of an array, or of each value of a map, beside the others.
//!
//! Two passes over the items: the first counts what there is at each path, the second finds the items that are rare,
//! extreme, changed or new. Both are linear, and together they look at no more nodes than the caller allows.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};

use super::query_hits::QueryHits;
use super::tree::{JsonTree, JsonType};
use crate::numbers::Numbers;

type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<DefaultHasher>>;

/// Maximum depth to which paths are followed.
const MAX_DEPTH: usize = 8;
/// Maximum nodes looked at in one item.
const MAX_NODES: usize = 400;
/// Maximum number of paths told apart in one container.
const MAX_PATHS: usize = 512;
/// Maximum number of different values of a column that has few.
const MAX_FEW: usize = 24;
/// Minimum height of the knee in the curve of new things above the diagonal, in thousandths.
const MIN_KNEE: u64 = 50;

/// The worth of an item, in the order of the choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ItemWorth {
    /// Like others.
    Alike,
    /// Has a field, a value or a size that few have; or what comes after it is different.
    Rare,
    /// Mentions a failure, or matches the query.
    Must,
}

/// The worth of the items of one container.
#[derive(Debug, Default)]
pub(super) struct ItemWorths {
    pub(super) items: Vec<ItemWorth>,
    /// The rarity of each item.
    pub(super) rarity: Vec<u16>,
    /// The number of examples that show most of what there is.
    pub(super) examples: usize,
    /// The value of each item in the column that tells most, if one does.
    pub(super) told: Vec<Option<u32>>,
    /// The values `told` points to.
    pub(super) values: Vec<String>,
}

#[derive(Default)]
struct ValueUses {
    count: u32,
    first: u32,
    last: u32,
}

#[derive(Default)]
struct PathStats<'t> {
    name: &'t str,
    /// Items that have it.
    items: u32,
    first: u32,
    latest: Option<u32>,
    values: FastMap<u64, ValueUses>,
    many: bool,
    /// The number of items whose value is not that of the item before.
    changes: u32,
    before: u64,
    numbers: Numbers,
    texts: u32,
    /// How often it stands in all: more often than in items, it is a list's.
    leaves: u32,
}

struct PathLeaf<'t> {
    path: u64,
    name: &'t str,
    value: &'t str,
    kind: JsonType,
}

fn hash_of(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// The leaves of an item with their paths, indices left out.
fn for_each_leaf<'t>(tree: &JsonTree<'t>, item: usize, left: &mut usize, mut each: impl FnMut(PathLeaf<'t>)) {
    let end = (tree.node(item).next as usize).min(item + MAX_NODES);
    let mut open: Vec<(usize, u64)> = Vec::new();
    let mut at = item;
    while at < end && *left > 0 {
        *left -= 1;
        while open.pop_if(|(end, _)| *end <= at).is_some() {}
        let outer = open.last().map_or(0, |(_, path)| *path);
        let name = if at == item { "" } else { tree.name(at) };
        let path = if name.is_empty() { outer } else { hash_of((outer, name)) };
        let kind = tree.kind(at);
        let next = tree.node(at).next as usize;
        if matches!(kind, JsonType::Object | JsonType::Array) && next > at + 1 {
            if open.len() < MAX_DEPTH {
                open.push((next, path));
                at += 1;
            } else {
                at = next;
            }
            continue;
        }
        each(PathLeaf { path, name, value: tree.source(at), kind });
        at = next.max(at + 1);
    }
}

/// The worth of each item, as far as `left` nodes may be looked at.
pub(super) fn rank_items(
    tree: &JsonTree<'_>,
    items: &[usize],
    hits: &QueryHits,
    left: &mut usize,
) -> ItemWorths {
    let mut paths: FastMap<u64, PathStats<'_>> = FastMap::default();
    let mut worth = vec![ItemWorth::Alike; items.len()];
    let mut wrongs: FastMap<u64, u32> = FastMap::default();
    let mut wrong_items: Vec<(usize, u64)> = Vec::new();
    let mut fresh: Vec<u16> = Vec::with_capacity(items.len());
    for (number, item) in items.iter().enumerate() {
        let at = u32::try_from(number).unwrap_or(u32::MAX);
        let mut new = 0u16;
        let mut wrong = None;
        for_each_leaf(tree, *item, left, |leaf| {
            let scalar = leaf.name.is_empty();
            new = new.saturating_add(u16::from(count_leaf(&mut paths, &leaf, at, scalar)));
            if leaf.kind == JsonType::Text && wrong.is_none() && mentions_failure(leaf.value) {
                wrong = Some(hash_of((leaf.path, string_shape(leaf.value))));
            }
        });
        fresh.push(new);
        if let Some(wrong) = wrong {
            *wrongs.entry(wrong).or_default() += 1;
            wrong_items.push((number, wrong));
        }
    }
    mark_wrong(&mut worth, &wrong_items, &wrongs);
    let all = u32::try_from(items.len()).unwrap_or(u32::MAX);
    let mut rarity = vec![0u16; items.len()];
    for path in paths.values() {
        mark_rare(path, all, &mut rarity);
    }
    for (worth, _) in worth.iter_mut().zip(&rarity).filter(|(_, rarity)| **rarity > 0) {
        *worth = (*worth).max(ItemWorth::Rare);
    }
    let mut worths =
        ItemWorths { items: worth, rarity, examples: find_knee(&fresh), ..ItemWorths::default() };
    mark_asked(tree, items, hits, &mut worths);
    choose_telling_column(tree, items, &paths, left, &mut worths);
    worths
}

/// Maximum number of items that stay for the query.
const MAX_QUERY_ITEMS: usize = 16;

/// Items that match the query best must stay, unless most match as well.
fn mark_asked(tree: &JsonTree<'_>, items: &[usize], hits: &QueryHits, worths: &mut ItemWorths) {
    if hits.is_empty() {
        return;
    }
    let scores: Vec<u32> =
        items.iter().map(|item| hits.score(*item, tree.node(*item).next as usize)).collect();
    let best = scores.iter().copied().max().unwrap_or(0);
    let relevant = || scores.iter().enumerate().filter(|(_, score)| **score == best && best > 0);
    if relevant().count() > MAX_QUERY_ITEMS.max(items.len() / 4) {
        return;
    }
    for (item, _) in relevant().take(MAX_QUERY_ITEMS) {
        if let (Some(worth), Some(rarity)) = (worths.items.get_mut(item), worths.rarity.get_mut(item)) {
            // Items that match the query precede all others.
            (*worth, *rarity) = (ItemWorth::Must, u16::MAX);
        }
    }
}

fn count_leaf<'t>(
    paths: &mut FastMap<u64, PathStats<'t>>,
    leaf: &PathLeaf<'t>,
    at: u32,
    scalar: bool,
) -> bool {
    if paths.len() >= MAX_PATHS && !paths.contains_key(&leaf.path) {
        return false;
    }
    let path = paths.entry(leaf.path).or_default();
    let new_item = path.latest != Some(at);
    if path.items == 0 {
        path.name = leaf.name;
        path.first = at;
    }
    path.items += u32::from(new_item);
    path.leaves += 1;
    path.latest = Some(at);
    // Of a list of bare strings the form is looked at: the strings themselves are all different.
    let value = if scalar && leaf.kind == JsonType::Text {
        hash_of(string_shape(leaf.value))
    } else {
        hash_of(value_key(leaf.value))
    };
    path.texts += u32::from(leaf.kind == JsonType::Text);
    if new_item {
        path.changes += u32::from(path.items > 1 && path.before != value);
        path.before = value;
    }
    if leaf.kind == JsonType::Number
        && let Ok(number) = leaf.value.parse::<f64>()
        && number.is_finite()
    {
        path.numbers.add(number, at);
    }
    let known = path.values.len();
    if path.many {
        return false;
    }
    let values = path.values.entry(value).or_insert(ValueUses { count: 0, first: at, last: at });
    values.count += u32::from(values.count == 0 || values.last != at);
    values.last = at;
    let new = path.values.len() > known;
    if path.values.len() > 2 * MAX_FEW {
        path.many = true;
        path.values = FastMap::default();
    }
    new
}

/// What is left of a long value to tell it by.
fn value_key(value: &str) -> &[u8] {
    value.as_bytes().get(..value.len().min(96)).unwrap_or_default()
}

/// The form of a string: digits and runs of letters, 40 bytes at most.
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

const WRONG: [&str; 14] = [
    "error",
    "exception",
    "fail",
    "fatal",
    "critical",
    "panic",
    "crash",
    "abort",
    "timeout",
    "timed out",
    "denied",
    "rejected",
    "unauthorized",
    "refused",
];

/// Whether a string has a word that says something went wrong.
fn mentions_failure(value: &str) -> bool {
    let bytes = value.as_bytes();
    let bytes = bytes.get(..bytes.len().min(400)).unwrap_or_default();
    let mut word_begins = true;
    bytes.iter().enumerate().any(|(at, byte)| {
        let letter = byte.is_ascii_alphabetic();
        let first = letter && word_begins;
        word_begins = !letter || byte.is_ascii_uppercase();
        (first || byte.is_ascii_uppercase())
            && matches!(byte | 0x20, b'a' | b'c' | b'd' | b'e' | b'f' | b'p' | b'r' | b't' | b'u')
            && WRONG.iter().any(|word| {
                bytes
                    .get(at..at + word.len())
                    .is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes()))
            })
    })
}

/// Maximum number of items of one kind of failure that are all kept: of more, the first and the last.
const MAX_SAME_FAILURE: u32 = 6;

/// Items that mention a failure must stay where that tells items apart: not where most do.
fn mark_wrong(worth: &mut [ItemWorth], wrong: &[(usize, u64)], kinds: &FastMap<u64, u32>) {
    let common = wrong.len() * 2 > worth.len();
    let mut seen: FastMap<u64, u32> = FastMap::default();
    for (item, kind) in wrong {
        let all = kinds.get(kind).copied().unwrap_or(0);
        let seen = seen.entry(*kind).or_default();
        *seen += 1;
        let shown = if common { *seen == 1 } else { all <= MAX_SAME_FAILURE || *seen == 1 || *seen == all };
        if shown && let Some(worth) = worth.get_mut(*item) {
            *worth = ItemWorth::Must;
        }
    }
}

fn mark_rare(path: &PathStats<'_>, all: u32, rarity: &mut [u16]) {
    let mut rare = |at: u32| {
        if let Some(rarity) = rarity.get_mut(at as usize) {
            *rarity = rarity.saturating_add(1);
        }
    };
    if path.items * 5 < all {
        rare(path.first);
    }
    let few = !path.many && path.values.len() > 1 && path.values.len() <= MAX_FEW;
    if few && path.values.len() * 3 <= path.items as usize {
        let mut counts: Vec<&ValueUses> = path.values.values().collect();
        counts.sort_unstable_by_key(|values| (std::cmp::Reverse(values.count), values.first));
        let mut covered = 0;
        for values in counts {
            if covered * 5 >= path.items * 4 {
                rare(values.first);
            }
            covered += values.count;
        }
    }
    let counts_up = path.numbers.rises + 1 >= path.numbers.count;
    if path.numbers.count * 2 > all && !counts_up {
        let (min, max) = path.numbers.extremes();
        min.into_iter().chain(max).for_each(&mut rare);
    }
    // In a column that stays the same for long, the items where it changes.
    if few && path.changes > 0 && path.changes <= 4 {
        for values in path.values.values() {
            rare(values.first);
        }
    }
}

/// The number of items, from the first, that show most of what is new.
fn find_knee(fresh: &[u16]) -> usize {
    let total: u64 = fresh.iter().map(|new| u64::from(*new)).sum();
    let all = fresh.len() as u64;
    let (mut sum, mut best) = (0u64, (0u64, 0usize));
    for (at, new) in fresh.iter().enumerate() {
        sum += u64::from(*new);
        let above = (sum * 1000 / total.max(1)).saturating_sub((at as u64 + 1) * 1000 / all.max(1));
        if above > best.0 {
            best = (above, at + 1);
        }
    }
    if best.0 < MIN_KNEE { 8 } else { best.1.clamp(3, 12) }
}

const TELLING: [&str; 12] = [
    "status",
    "state",
    "level",
    "severity",
    "result",
    "outcome",
    "type",
    "kind",
    "mode",
    "conclusion",
    "action",
    "category",
];

/// The column by which a gap says what was in it: one that is known for that, or else the one with the fewest values.
fn choose_telling_column(
    tree: &JsonTree<'_>,
    items: &[usize],
    paths: &FastMap<u64, PathStats<'_>>,
    left: &mut usize,
    into: &mut ItemWorths,
) {
    let all = u32::try_from(items.len()).unwrap_or(u32::MAX);
    let telling = |name: &str| TELLING.iter().position(|known| name.eq_ignore_ascii_case(known));
    let rank =
        |path: &PathStats<'_>| (telling(path.name).unwrap_or(TELLING.len()), path.values.len(), path.first);
    let best = paths
        .iter()
        .filter(|(_, path)| !path.name.is_empty() && !path.many && path.items * 2 > all)
        .filter(|(_, path)| path.leaves == path.items && path.texts * 10 >= path.items * 9)
        .filter(|(_, path)| path.values.len() > 1 && path.values.len() <= MAX_FEW)
        .min_by_key(|(hash, path)| (rank(path), **hash));
    let Some((best, path)) = best else { return };
    let named = if telling(path.name).is_some() { String::new() } else { format!("{}=", path.name) };
    let mut index: FastMap<&str, u32> = FastMap::default();
    for item in items {
        let mut found = None;
        for_each_leaf(tree, *item, left, |leaf| {
            if leaf.path == *best && leaf.kind == JsonType::Text {
                let next = u32::try_from(index.len()).unwrap_or(u32::MAX);
                found = Some(*index.entry(leaf.value).or_insert_with(|| {
                    into.values.push(format!("{named}{}", leaf.value.trim_matches('"')));
                    next
                }));
            }
        });
        into.told.push(found);
    }
}
