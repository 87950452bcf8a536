//! Chooses what is left out of a document.
//!
//! A list keeps its first and last items, items that match the query, items that are rare or extreme, and items that
//! mention a failure. Lists within kept items are folded in turn. A budget makes the choice wider or narrower.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::cuts::{CutRun, JsonCuts};
use super::tree::{JsonTree, JsonType};
use super::worth::fact_needs;
use super::worth::facts::{self, JsonFact};
use super::worth::item_worth::{self, ItemSigns};
use super::worth::query_hits::QueryHits;
use crate::part::PartOfList;
use crate::result::mark::{Gap, GapUnit};
use crate::spans::query::QueryTerms;

/// Maximum number of examples kept from the start of a list.
const MAX_EXAMPLES: usize = 8;

/// Limits of what is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoldWidth {
    /// Maximum length of a string that is not cut, in bytes.
    string: usize,
    /// Maximum number of examples kept from the start of a list.
    examples: usize,
    /// Maximum number of rare items that are kept. `must` limits the number of items that match the query or mention
    /// a failure.
    rare: usize,
    must: usize,
    /// Maximum number of kept members of an object that is not a list. `outer` applies to the outermost objects.
    keys: usize,
    outer: usize,
    /// Maximum number of items in a list that stays whole.
    small: usize,
    /// Minimum weight (in approximate bytes) of a run that is worth a mark.
    run: usize,
    /// Share of the content that the other limits would leave out but that is kept, in thousandths.
    more: usize,
}

const ALL: usize = usize::MAX;

impl FoldWidth {
    /// Limits to try in turn, from those of a fold to the narrowest.
    #[rustfmt::skip]
    pub(super) const STEPS: [Self; 7] = [
        Self { string: 2_048, examples: MAX_EXAMPLES, rare: 32, must: ALL, keys: ALL, outer: ALL, small: 8, run: 280, more: 0 },
        Self { string: 1_024, examples: 5, rare: 12, must: ALL, keys: 64, outer: ALL, small: 8, run: 280, more: 0 },
        Self { string: 512, examples: 2, rare: 6, must: 64, keys: 24, outer: 64, small: 4, run: 200, more: 0 },
        Self { string: 200, examples: 1, rare: 2, must: 24, keys: 12, outer: 24, small: 2, run: 160, more: 0 },
        Self { string: 150, examples: 1, rare: 1, must: 8, keys: 6, outer: 16, small: 2, run: 140, more: 0 },
        Self { string: 150, examples: 1, rare: 0, must: 2, keys: 3, outer: 16, small: 1, run: 120, more: 0 },
        Self { string: 150, examples: 1, rare: 0, must: 2, keys: 3, outer: 3, small: 1, run: 120, more: 0 },
    ];

    /// Returns the same limits, but keeps `more` thousandths of what they would leave out.
    pub(super) fn with(self, more: usize) -> Self {
        Self { more, ..self }
    }

    /// Returns a limit, raised by the kept share of what exceeds it.
    fn of(self, limit: usize, all: usize) -> usize {
        limit + all.saturating_sub(limit) * self.more / 1_000
    }
}

struct JsonFolder<'t, 's> {
    tree: &'s JsonTree<'t>,
    width: FoldWidth,
    cuts: JsonCuts,
    hits: &'s QueryHits,
    signs: &'s ItemSigns,
    /// Places that must stay, in order.
    need: &'s [u32],
    /// For each object on the path to a gap, the members whose name occurs again later in the object.
    again: HashMap<usize, HashSet<usize>>,
}

/// An open container on the path to a node.
struct PathStep {
    end: usize,
    /// Index of the next member, from 0.
    index: usize,
    node: usize,
}

/// A container with some items left out.
struct FoldedList<'l> {
    at: usize,
    items: &'l [usize],
    /// Containers around the container, starting from the root.
    way: &'l [PathStep],
}

/// Facts about a document, found before anything is left out of it.
pub(super) struct DocumentFacts<'t> {
    facts: Vec<JsonFact<'t>>,
    hits: QueryHits,
    signs: ItemSigns,
}

impl<'t> DocumentFacts<'t> {
    pub(super) fn of(tree: &JsonTree<'t>, query: &QueryTerms) -> Self {
        let facts = facts::find_facts(tree);
        Self { signs: ItemSigns::of(tree, &facts), facts, hits: QueryHits::of(tree, query) }
    }
}

/// Chooses the cuts within the given limits. Facts that would be hidden are stated in marks, or the items with these
/// facts stay.
pub(super) fn choose_cuts<'t>(tree: &JsonTree<'t>, width: FoldWidth, known: &DocumentFacts<'t>) -> JsonCuts {
    let leave_out = |need: &[u32]| {
        let (signs, hits) = (&known.signs, &known.hits);
        let mut folder =
            JsonFolder { tree, width, cuts: JsonCuts::default(), hits, signs, need, again: HashMap::new() };
        folder.walk();
        folder.cuts
    };
    let asked = known.hits.best();
    let mut cuts = leave_out(&asked);
    let mut need = fact_needs::find_needs(&mut cuts, &known.facts);
    // The mark of a gap may have no room for its facts. The items of facts that have no room are needed, so the
    // choice is made again.
    if !need.is_empty() {
        need.extend(asked);
        need.sort_unstable();
        cuts = leave_out(&need);
    }
    fact_needs::state_facts(&mut cuts, &known.facts);
    cuts
}

impl JsonFolder<'_, '_> {
    fn walk(&mut self) {
        let tree = self.tree;
        let mut way: Vec<PathStep> = Vec::new();
        let mut at = 0;
        while at < tree.nodes.len() {
            while way.pop_if(|step| step.end <= at).is_some() {}
            if let Some(run) = self.cuts.items(at) {
                let (next, count) = (run.next, run.count);
                if let Some(step) = way.last_mut() {
                    step.index += count;
                }
                at = next.max(at + 1);
                continue;
            }
            if let Some(step) = way.last_mut() {
                step.index += 1;
            }
            if tree.is_container(at) {
                if tree.children(at).nth(self.width.small).is_some() {
                    self.list(at, &way);
                }
                way.push(PathStep { end: tree.node(at).next as usize, index: 0, node: at });
            } else if tree.kind(at) == JsonType::Text && tree.span(at).len() > self.width.string {
                self.string(at, &way);
            }
            at += 1;
        }
    }

    fn list(&mut self, at: usize, way: &[PathStep]) {
        let tree = self.tree;
        let items: Vec<usize> = tree.children(at).collect();
        if tree.kind(at) == JsonType::Object && !facts::is_map(tree, at) {
            let max_items = if way.len() <= 1 { self.width.outer } else { self.width.keys };
            if items.len() > max_items {
                self.record(at, &items, max_items, way);
            }
            return;
        }
        let kept = self.choose(&items, self.hits.at_depth(way.len()));
        self.leave_out_all(&FoldedList { at, items: &items, way }, &kept);
    }

    /// Folds an object that is not a list: its first members stay, after those that match the query.
    fn record(&mut self, at: usize, items: &[usize], max_items: usize, way: &[PathStep]) {
        let mut kept = vec![false; items.len()];
        let mut order: Vec<(&usize, &mut bool)> = items.iter().zip(&mut kept).collect();
        // Members that match the query come first.
        let hits = self.hits.at_depth(way.len());
        let score = |at: usize| hits.score(at, self.tree.node(at).next as usize);
        order.sort_by_cached_key(|(at, _)| std::cmp::Reverse(score(**at)));
        order.into_iter().take(max_items).for_each(|(_, kept)| *kept = true);
        self.widen(items, &mut kept);
        self.keep_needed(items, &mut kept);
        self.leave_out_all(&FoldedList { at, items, way }, &kept);
    }

    fn leave_out_all(&mut self, list: &FoldedList<'_>, kept: &[bool]) {
        let mut from = 0;
        for run in kept.chunk_by(|one, next| one == next) {
            if run.first() == Some(&false) {
                self.leave_out(list, from..from + run.len());
            }
            from += run.len();
        }
    }

    /// Chooses the items of a list that stay.
    fn choose(&self, items: &[usize], hits: &QueryHits) -> Vec<bool> {
        let last = if self.width.examples > 1 { 2 } else { 1 };
        let from_end = items.len().saturating_sub(last);
        let mut kept: Vec<bool> =
            (0..items.len()).map(|at| at < self.width.examples || at >= from_end).collect();
        let rarity = |at: usize| {
            items.item(at).map_or(0, |item| self.signs.rarity(*item, self.tree.node(*item).next as usize))
        };
        // Items that match the query precede all others.
        let mut must = item_worth::asked_items(self.tree, items, hits);
        let mut wrong = self.signs.wrong_items(self.tree, items);
        wrong.sort_by_key(|at| std::cmp::Reverse(rarity(*at)));
        must.append(&mut wrong);
        let mut rare: Vec<(usize, usize)> =
            (0..items.len()).map(|at| (rarity(at), at)).filter(|(rarity, _)| *rarity > 0).collect();
        rare.sort_by_key(|(rarity, _)| std::cmp::Reverse(*rarity));
        let rare: Vec<usize> = rare.into_iter().map(|(_, at)| at).collect();
        for (such, limit) in [(must, self.width.must), (rare, self.width.rare)] {
            let limit = self.width.of(limit, such.len());
            for at in such.into_iter().take(limit) {
                kept.item_mut(at).into_iter().for_each(|kept| *kept = true);
            }
        }
        self.widen(items, &mut kept);
        self.keep_needed(items, &mut kept);
        kept
    }

    fn keep_needed(&self, items: &[usize], kept: &mut [bool]) {
        let needed = self.need;
        if needed.is_empty() {
            return;
        }
        for (item, kept) in items.iter().zip(kept) {
            let next = self.tree.node(*item).next;
            let first = needed.partition_point(|node| (*node as usize) < *item);
            *kept |= needed.get(first).is_some_and(|node| *node < next);
        }
    }

    /// Restores a share of each run that would be left out, and the whole of a run that is not worth a mark.
    fn widen(&self, items: &[usize], kept: &mut [bool]) {
        let mut from = 0;
        for run in kept.chunk_by_mut(|one, next| one == next) {
            if run.first() == Some(&false) {
                let more = run.len() * self.width.more / 1_000;
                let left = items.part(from + more..from + run.len()).iter().take(self.width.run);
                let weight: usize = left.map(|at| self.weight(*at)).sum();
                let stays = if weight < self.width.run { run.len() } else { more };
                run.iter_mut().take(stays).for_each(|kept| *kept = true);
            }
            from += run.len();
        }
    }

    /// Returns the approximate number of bytes in an item without white space and keys, or the weight of a mark for
    /// large items.
    fn weight(&self, at: usize) -> usize {
        let nodes = (self.tree.node(at).next as usize).saturating_sub(at);
        if nodes > self.width.run {
            return self.width.run;
        }
        (at..at + nodes)
            .map(|at| if self.tree.is_container(at) { 2 } else { self.tree.span(at).len() + 1 })
            .sum()
    }

    fn leave_out(&mut self, list: &FoldedList<'_>, gone: std::ops::Range<usize>) {
        let tree = self.tree;
        let run = list.items.part(gone.clone());
        let (Some(&first), Some(&last)) = (run.first(), run.last()) else { return };
        let measure = if tree.kind(list.at) == JsonType::Object { GapUnit::Keys } else { GapUnit::Items };
        let span = tree.member(first)..tree.span(last).end;
        let within = self.path(list.at, list.way);
        let gap = gap(span, measure, gone.clone(), within);
        self.cuts.leave_out(CutRun { gap, count: gone.len(), first, next: tree.node(last).next as usize });
    }

    /// Leaves out the middle of a string. No cut is within a character or an escape.
    fn string(&mut self, at: usize, way: &[PathStep]) {
        let span = self.tree.span(at);
        let source = self.tree.source(at).as_bytes();
        let (head, tail) = (1 + self.width.string / 4, source.len() - 1 - self.width.string / 8);
        let head = head + tail.saturating_sub(head) * self.width.more / 1_000;
        let (mut from, mut to, mut here) = (0, 0, 1);
        while here < source.len() - 1 {
            if from == 0 && here >= head {
                from = here;
            }
            if here >= tail {
                to = here;
                break;
            }
            here += match (source.get(here), source.get(here + 1)) {
                (Some(b'\\'), Some(b'u')) => 6,
                (Some(b'\\'), _) => 2,
                (Some(0xf0..), _) => 4,
                (Some(0xe0..), _) => 3,
                (Some(0xc0..), _) => 2,
                _ => 1,
            };
        }
        if from == 0 || to < from + 100 {
            return;
        }
        let within = self.path(at, way);
        let gap = gap(span.start + from..span.start + to, GapUnit::Bytes, from - 1..to - 1, within);
        self.cuts.cut(at, gap);
    }

    /// Returns the path of a node. Returns `None` if a member on the path occurs again in its object, because a path
    /// names the last occurrence.
    fn path(&mut self, at: usize, way: &[PathStep]) -> Option<String> {
        let mut path = String::from("$");
        let nodes = way.iter().map(|step| step.node).skip(1).chain((!way.is_empty()).then_some(at));
        for (node, step) in nodes.zip(way) {
            let name = self.tree.name(node);
            let is_array = self.tree.kind(step.node) == JsonType::Array;
            if !is_array && self.comes_again(step.node, node) {
                return None;
            }
            if is_array {
                path.push_str(&format!("[{}]", step.index.saturating_sub(1)));
            } else if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                && !name.is_empty()
            {
                path.push('.');
                path.push_str(name);
            } else {
                path.push_str(&format!("[\"{name}\"]"));
            }
        }
        Some(path)
    }

    /// Returns whether a member of an object occurs again later in the object.
    fn comes_again(&mut self, object: usize, member: usize) -> bool {
        let tree = self.tree;
        let again = self.again.entry(object).or_insert_with(|| {
            let mut last: HashMap<&str, usize> = HashMap::new();
            tree.children(object).filter_map(|child| last.insert(tree.name(child), child)).collect()
        });
        again.contains(&member)
    }
}

/// Returns a gap counted in units of a node at the path `within`, or in bytes of the source without a path.
fn gap(span: Range<usize>, measure: GapUnit, units: Range<usize>, within: Option<String>) -> Gap {
    let (measure, units) = if within.is_some() { (measure, units) } else { (GapUnit::Bytes, span.clone()) };
    let (first, last) = (units.start as u64 + 1, units.end as u64);
    Gap { span, measure, first, last, within: within.map(Into::into), told: Vec::new() }
}
