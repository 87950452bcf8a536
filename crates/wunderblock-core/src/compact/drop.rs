//! The rung that leaves messages out: the oldest first, or the least important.

use super::guard::{self, Guard};
use super::importance::importance;
use crate::decision::Trim;
use crate::pair::{Arrangement, Exchange};
use crate::plan::PlanInput;
use crate::policy::DropOrder;
use crate::units::{Seq, Tokens};
use std::collections::{BTreeSet, HashMap, HashSet};

/// How much is left out, and in which order.
pub(super) struct DropRules {
    pub(super) by: DropOrder,
    /// Messages that stay; 0 for no such limit.
    pub(super) keep: u64,
    /// Tokens to be saved, where no number of messages is to stay.
    pub(super) excess: Tokens,
}

/// The trim that leaves out what comes first in an order, until `keep` messages are left, or, where that is 0, until
/// `excess` tokens are saved.
pub(super) fn drop(rules: &DropRules, ask: &PlanInput<'_>, guard: &Guard, arrangement: &Arrangement) -> Trim {
    let DropRules { by, keep, excess } = *rules;
    let units = guard::shown(ask, arrangement);
    let scores = scores(by, ask, &units);
    // What was kept out of a summary and stands within its range is told nowhere else: its mark would say that it is.
    let nodes = &ask.view.trim().nodes;
    let is_untold = |unit: &Exchange| nodes.iter().any(|node| (node.from..=node.to).contains(&unit.last));
    let mut order: Vec<(usize, &Exchange, Tokens)> = units
        .iter()
        .enumerate()
        .filter(|(_, (unit, _))| guard.is_free(unit) && !is_untold(unit))
        .map(|(index, (unit, tokens))| (index, *unit, *tokens))
        .collect();
    // Of equals the oldest goes first; but where a number of the best stay, as the notes sort them, the newest.
    let rank = |index: usize| match (by, keep) {
        (DropOrder::Importance, 1..) => usize::MAX - index,
        _ => index,
    };
    order.sort_by_key(|(index, unit, _)| (scores.get(&unit.key).copied().unwrap_or_default(), rank(*index)));
    let count = |unit: &Exchange| unit.members.len() as u64;
    let mut gone: BTreeSet<Seq> = BTreeSet::new();
    if by == DropOrder::Importance && keep > 0 {
        // The best that find a place, beside what is protected.
        let free: u64 = order.iter().map(|(_, unit, _)| count(unit)).sum();
        let all: u64 = units.iter().map(|(unit, _)| count(unit)).sum();
        let mut taken = all - free;
        for (_, unit, _) in order.iter().rev() {
            if taken + count(unit) <= keep {
                taken += count(unit);
            } else {
                gone.insert(unit.key);
            }
        }
        return frontier(&units, &gone, ask, guard);
    }
    let mut messages: u64 = units.iter().map(|(unit, _)| count(unit)).sum();
    let mut saved = Tokens::ZERO;
    for (_, unit, tokens) in order {
        if if keep > 0 { messages <= keep } else { saved >= excess } {
            break;
        }
        messages = messages.saturating_sub(count(unit));
        saved += tokens;
        gone.insert(unit.key);
    }
    frontier(&units, &gone, ask, guard)
}

/// The trim under which exactly those are gone: the frontier behind the last of them, what stays before it kept.
fn frontier(units: &[(&Exchange, Tokens)], gone: &BTreeSet<Seq>, ask: &PlanInput<'_>, guard: &Guard) -> Trim {
    let old = ask.view.trim();
    let last = units.iter().filter(|(unit, _)| gone.contains(&unit.key)).map(|(unit, _)| unit.last).max();
    let Some(last) = last else { return old.clone() };
    let drop_before = last.next().max(old.drop_before);
    let stays = units.iter().filter(|(unit, _)| unit.last < drop_before && !gone.contains(&unit.key));
    let mut keep = guard.kept(old, drop_before);
    keep.extend(stays.flat_map(|(unit, _)| unit.speakers.iter().copied()));
    Trim {
        drop_before,
        stub_before: old.stub_before.max(drop_before),
        keep: keep.into_iter().collect(),
        ..old.clone()
    }
}

/// How important each unit is: as its most important message.
fn scores(by: DropOrder, ask: &PlanInput<'_>, units: &[(&Exchange, Tokens)]) -> HashMap<Seq, u8> {
    if by == DropOrder::Age {
        return HashMap::new();
    }
    let of: HashMap<Seq, Seq> =
        units.iter().flat_map(|(unit, _)| unit.members.iter().map(|seq| (*seq, unit.key))).collect();
    let mut seen = HashSet::new();
    let mut scores: HashMap<Seq, u8> = HashMap::new();
    for entry in ask.view.entries() {
        let Some(key) = of.get(&entry.seq) else { continue };
        let score = importance(&entry.message, ask.bodies, &mut seen);
        let best = scores.entry(*key).or_default();
        *best = score.max(*best);
    }
    scores
}
