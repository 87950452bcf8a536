//! Facts that are out of sight: said in the mark of the gap they are in, or their item is needed.

use super::cuts::{CutRun, JsonCuts};
use super::facts::{JsonFact, JsonFactKind};
use super::tree::JsonTree;
use crate::mark::GapFact;

/// Maximum characters of facts in a mark.
const MAX_FACT_CHARS: usize = 400;
/// Maximum characters of one fact in a mark.
const MAX_NAME_CHARS: usize = 80;
/// What one more gap costs, about, in bytes.
const MARK_COST: usize = 40;
/// An item longer than its facts by this factor is not shown for them: its mark states the facts it has room for.
const MAX_ITEM_RATIO: usize = 16;
/// Maximum nodes of an item that is weighed: a larger one has its facts in the mark.
const MAX_WEIGHED_NODES: usize = 200;

/// The facts that stand in no place that is kept, by the run in which they stand first.
fn find_unseen(cuts: &mut JsonCuts, facts: &[JsonFact<'_>]) -> Vec<(usize, Vec<usize>)> {
    let runs: Vec<(usize, usize)> = cuts.runs().into_iter().map(|run| (run.first, run.next)).collect();
    let run_of = |place: u32| {
        let after = runs.partition_point(|(first, _)| *first <= place as usize);
        let at = after.checked_sub(1)?;
        runs.get(at).filter(|(_, next)| (place as usize) < *next).map(|_| at)
    };
    let mut found: Vec<(usize, Vec<usize>)> = Vec::new();
    for (number, fact) in facts.iter().enumerate() {
        if fact.sort == JsonFactKind::Once || fact.places.iter().any(|place| run_of(*place).is_none()) {
            continue;
        }
        let Some(run) = fact.places.first().and_then(|place| run_of(*place)) else { continue };
        // Facts are in the order of their first places, and so of runs.
        match found.last_mut().filter(|(known, _)| *known == run) {
            Some((_, facts)) => facts.push(number),
            None => found.push((run, vec![number])),
        }
    }
    found
}

/// The changes by which every fact is shown or stated.
#[derive(Debug, Default)]
pub(super) struct FactNeeds {
    /// Places that must stay, in order.
    pub(super) places: Vec<u32>,
    /// Items with which a new gap must begin, in order, because a mark has limited room.
    pub(super) splits: Vec<u32>,
}

/// Finds what must change: items must stay that are shorter than their facts, or have more facts than a mark can state;
/// and more marks are needed where one has no room.
pub(super) fn find_needs(tree: &JsonTree<'_>, cuts: &mut JsonCuts, facts: &[JsonFact<'_>]) -> FactNeeds {
    let unseen = find_unseen(cuts, facts);
    let runs = cuts.runs();
    let mut need = FactNeeds::default();
    for (run, hidden) in unseen {
        let Some(run) = runs.get(run) else { continue };
        let mut said = 0;
        for (item, facts) in group_by_item(tree, run, hidden.iter().filter_map(|at| facts.get(*at))) {
            let of = |facts: &[&JsonFact<'_>], is_name: bool| {
                facts
                    .iter()
                    .filter(|fact| is_name == (fact.sort == JsonFactKind::Name))
                    .map(|fact| fact_length(fact))
                    .sum::<usize>()
            };
            let (values, names) = (of(&facts, false), of(&facts, true));
            let mut length = values + names;
            // The mark of a long item states the names for which it has room.
            if tree.span(item).len() > MAX_ITEM_RATIO * length {
                length = values + names.min(MAX_FACT_CHARS.saturating_sub(values));
            }
            if length >= estimate_bytes(tree, item) + MARK_COST || length > MAX_FACT_CHARS {
                need.places.extend(facts.iter().filter_map(|fact| fact.places.first().copied()));
                said = 0;
                continue;
            }
            said += length;
            if said > MAX_FACT_CHARS {
                need.splits.extend(u32::try_from(item).ok());
                said = length;
            }
        }
    }
    need.places.sort_unstable();
    need
}

/// Facts by the items of a run in which they stand first.
fn group_by_item<'f, 't>(
    tree: &JsonTree<'_>,
    run: &CutRun,
    facts: impl Iterator<Item = &'f JsonFact<'t>>,
) -> Vec<(usize, Vec<&'f JsonFact<'t>>)>
where
    't: 'f,
{
    let mut items: Vec<(usize, Vec<&JsonFact<'_>>)> = Vec::new();
    let mut item = run.first;
    for fact in facts {
        let Some(place) = fact.places.first().map(|place| *place as usize) else { continue };
        while tree.node(item).next as usize <= place && (tree.node(item).next as usize) < run.next {
            item = (tree.node(item).next as usize).max(item + 1);
        }
        match items.last_mut().filter(|(known, _)| *known == item) {
            Some((_, facts)) => facts.push(fact),
            None => items.push((item, vec![fact])),
        }
    }
    items
}

/// About the bytes of an item.
fn estimate_bytes(tree: &JsonTree<'_>, at: usize) -> usize {
    let end = tree.node(at).next as usize;
    if end - at > MAX_WEIGHED_NODES {
        return usize::MAX / 2;
    }
    tree.span(at).len().min((at..end).map(|at| tree.span(at).len().min(80) + 1).sum())
}

/// About the characters a fact takes in a mark.
fn fact_length(fact: &JsonFact<'_>) -> usize {
    fact.key.len() + fact.value.len() + 8
}

/// Says in each mark what is out of sight in it, as far as a mark goes.
pub(super) fn state_facts(cuts: &mut JsonCuts, facts: &[JsonFact<'_>]) {
    let unseen = find_unseen(cuts, facts);
    let mut runs = cuts.runs();
    for (run, hidden) in unseen {
        let Some(run) = runs.get_mut(run) else { continue };
        let hidden = || hidden.iter().filter_map(|at| facts.get(*at));
        let mut room = MAX_FACT_CHARS;
        let mut told: Vec<GapFact> = Vec::new();
        for fact in hidden().filter(|fact| fact.sort != JsonFactKind::Name) {
            // What the mark counts already is not said twice.
            let (is, named) = (unquote(fact.value), format!("{}={}", fact.key, unquote(fact.value)));
            if run.gap.told.iter().any(|told| *told.what == *is || *told.what == *named) {
                continue;
            }
            let what = describe_value(fact, run);
            if what.what.chars().count() <= room {
                room -= what.what.chars().count();
                told.push(what);
            }
        }
        told.extend(describe_names(hidden().filter(|fact| fact.sort == JsonFactKind::Name), room));
        run.gap.told.extend(told);
    }
}

/// A value that is out of sight, how often here and how often in all.
fn describe_value(fact: &JsonFact<'_>, run: &CutRun) -> GapFact {
    let value = unquote(fact.value);
    let key = unquote(fact.key);
    let range = run.first..run.next;
    let here = fact.places.iter().filter(|place| range.contains(&(**place as usize))).count();
    let said = match fact.sort {
        JsonFactKind::Min => return GapFact { count: None, what: format!("{key} down to {value}").into() },
        JsonFactKind::Max => return GapFact { count: None, what: format!("{key} up to {value}").into() },
        JsonFactKind::Rare | JsonFactKind::Name | JsonFactKind::Once => format!("{key}={value}"),
    };
    let of = if here < fact.all as usize { format!("of {} ", fact.all) } else { String::new() };
    // A value is at most a set's longest, so that it is never cut.
    let fits = of.len() + said.chars().count() <= MAX_NAME_CHARS && !key.is_empty();
    let what = if fits { format!("{of}{said}") } else { format!("{of}{value}") };
    GapFact { count: Some(here as u64), what: what.into() }
}

/// Names that are out of sight, as many to a fact as a mark shows of one.
fn describe_names<'f>(facts: impl Iterator<Item = &'f JsonFact<'f>>, mut room: usize) -> Vec<GapFact> {
    let mut told: Vec<String> = Vec::new();
    for fact in facts {
        let name = unquote(fact.key);
        let length = name.chars().count() + 2;
        if length > room {
            break;
        }
        room -= length;
        match told.last_mut() {
            Some(names) if names.chars().count() + length <= MAX_NAME_CHARS => {
                names.push_str(", ");
                names.push_str(&name);
            }
            Some(_) => told.push(name),
            None => told.push(format!("also keys {name}")),
        }
    }
    told.into_iter().map(|what| GapFact { count: None, what: what.into() }).collect()
}

/// A string of JSON, with or without its quotes, as it reads.
fn unquote(source: &str) -> String {
    let raw = source.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')).unwrap_or(source);
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        out.push_str(rest.get(..at).unwrap_or(""));
        let escaped = rest.get(at + 1..).unwrap_or("");
        let (known, length) = match escaped.as_bytes().first() {
            Some(b'"') => (Some('"'), 1),
            Some(b'/') => (Some('/'), 1),
            Some(b'\\') => (Some('\\'), 1),
            Some(b'u') => {
                let code = escaped.get(1..5).and_then(|digits| u32::from_str_radix(digits, 16).ok());
                (code.and_then(char::from_u32), 5)
            }
            _ => (Some(' '), 1),
        };
        out.push(known.unwrap_or('\u{fffd}'));
        rest = escaped.get(length..).unwrap_or("");
    }
    out.push_str(rest);
    out
}
