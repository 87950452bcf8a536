//! Makes facts in gaps visible: the mark of a gap states them, or their item is kept.

use super::facts::{JsonFact, JsonFactKind};
use crate::json::cuts::{CutRun, JsonCuts};
use crate::part::{PartOfList, PartOfText};
use crate::result::mark::GapFact;

/// Maximum number of characters of facts in a mark.
const MAX_FACT_CHARS: usize = 400;
/// Maximum number of characters of one fact in a mark.
const MAX_NAME_CHARS: usize = 80;
/// Returns the facts that no kept place shows, grouped by the run in which they first occur.
fn find_unseen<'f, 't>(
    cuts: &mut JsonCuts,
    facts: &'f [JsonFact<'t>],
) -> Vec<(usize, Vec<&'f JsonFact<'t>>)> {
    let runs: Vec<(usize, usize)> = cuts.runs().into_iter().map(|run| (run.first, run.next)).collect();
    let run_of = |place: u32| {
        let after = runs.partition_point(|(first, _)| *first <= place as usize);
        let at = after.checked_sub(1)?;
        runs.item(at).filter(|(_, next)| (place as usize) < *next).map(|_| at)
    };
    let mut found: Vec<(usize, Vec<&JsonFact<'_>>)> = Vec::new();
    for fact in facts {
        if fact.sort == JsonFactKind::Once || fact.places.iter().any(|place| run_of(*place).is_none()) {
            continue;
        }
        let Some(run) = fact.places.first().and_then(|place| run_of(*place)) else { continue };
        // Facts are in the order of their first places, and therefore in the order of the runs.
        match found.last_mut().filter(|(known, _)| *known == run) {
            Some((_, facts)) => facts.push(fact),
            None => found.push((run, vec![fact])),
        }
    }
    found
}

/// Returns the places that must stay, because the mark of their gap has no room for all its facts.
pub(in crate::json) fn find_needs(cuts: &mut JsonCuts, facts: &[JsonFact<'_>]) -> Vec<u32> {
    let mut need = Vec::new();
    for (_, hidden) in find_unseen(cuts, facts) {
        let mut said = 0;
        for fact in hidden {
            let length = fact_length(fact);
            if said + length > MAX_FACT_CHARS {
                need.extend(fact.places.first());
            } else {
                said += length;
            }
        }
    }
    need
}

/// Returns the approximate number of characters that a fact takes in a mark.
fn fact_length(fact: &JsonFact<'_>) -> usize {
    fact.key.len() + fact.value.len() + 8
}

/// Adds to each mark the facts that its gap hides, as far as the mark has room.
pub(in crate::json) fn state_facts(cuts: &mut JsonCuts, facts: &[JsonFact<'_>]) {
    let unseen = find_unseen(cuts, facts);
    let mut runs = cuts.runs();
    for (run, hidden) in unseen {
        let Some(run) = runs.item_mut(run) else { continue };
        let mut room = MAX_FACT_CHARS;
        let mut told: Vec<GapFact> = Vec::new();
        for fact in hidden.iter().filter(|fact| fact.sort != JsonFactKind::Name) {
            // A fact that the mark already counts is not repeated.
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
        told.extend(describe_names(hidden.into_iter().filter(|fact| fact.sort == JsonFactKind::Name), room));
        run.gap.told.extend(told);
    }
}

/// Returns the fact that a mark states about a hidden value, with its count in the gap and in the whole document.
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
    // Without its key, a value always fits and is never cut.
    let fits = of.len() + said.chars().count() <= MAX_NAME_CHARS && !key.is_empty();
    let what = if fits { format!("{of}{said}") } else { format!("{of}{value}") };
    GapFact { count: Some(here as u64), what: what.into() }
}

/// Returns facts that list hidden names, as many names per fact as a mark shows.
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

/// Returns a JSON string without its quotes and escapes.
fn unquote(source: &str) -> String {
    let raw = source.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')).unwrap_or(source);
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        out.push_str(rest.part(..at));
        let escaped = rest.part(at + 1..);
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
        rest = escaped.part(length..);
    }
    out.push_str(rest);
    out
}
