//! Ladder rung that leaves out exchanges: the oldest first, or the least important first.

use crate::compact::guard::{self, RungInput};
use crate::compact::importance::importance;
use crate::lane::pair::Exchange;
use crate::planning::plan::PlanInput;
use crate::policy::DropOrder;
use crate::record::decision::Trim;
use crate::units::{Seq, Tokens};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Returns the trim that leaves out exchanges in the given order until `keep` messages are left or, without `keep`,
/// until `excess` tokens are saved.
pub(in crate::compact) fn drop(
    input: RungInput<'_>,
    by: DropOrder,
    keep: Option<u64>,
    excess: Tokens,
) -> Trim {
    let RungInput { ask, guard, arrangement } = input;
    let exchanges = guard::shown(ask, arrangement);
    let scores = scores(by, ask, &exchanges);
    // An exchange kept verbatim inside a summary's range is described nowhere else. If the exchange were dropped, its
    // mark would claim that the summary covers it.
    let nodes = &ask.view.trim().nodes;
    let is_untold =
        |exchange: &Exchange| nodes.iter().any(|node| (node.from..=node.to).contains(&exchange.last));
    let mut order: Vec<(usize, &Exchange, Tokens)> = exchanges
        .iter()
        .enumerate()
        .filter(|(_, (exchange, _))| guard.is_free(exchange) && !is_untold(exchange))
        .map(|(index, (exchange, tokens))| (index, *exchange, *tokens))
        .collect();
    // Among equally important exchanges, the oldest is dropped first. If the best `keep` messages stay, the newest of
    // equals is dropped first, as in the notes that the `minimal` preset follows.
    let rank = |index: usize| match (by, keep) {
        (DropOrder::Importance, Some(_)) => usize::MAX - index,
        _ => index,
    };
    order.sort_by_key(|(index, exchange, _)| {
        (scores.get(&exchange.key).copied().unwrap_or_default(), rank(*index))
    });
    let count = |exchange: &Exchange| exchange.members.len() as u64;
    let all: u64 = exchanges.iter().map(|(exchange, _)| count(exchange)).sum();
    let mut gone: BTreeSet<Seq> = BTreeSet::new();
    if let (DropOrder::Importance, Some(keep)) = (by, keep) {
        // Keep the best exchanges that fit alongside what is protected.
        let free: u64 = order.iter().map(|(_, exchange, _)| count(exchange)).sum();
        let mut taken = all - free;
        for (_, exchange, _) in order.iter().rev() {
            if taken + count(exchange) <= keep {
                taken += count(exchange);
            } else {
                gone.insert(exchange.key);
            }
        }
        return frontier(&exchanges, &gone, input);
    }
    let (mut messages, mut saved) = (all, Tokens::ZERO);
    for (_, exchange, tokens) in order {
        if keep.map_or(saved >= excess, |keep| messages <= keep) {
            break;
        }
        messages = messages.saturating_sub(count(exchange));
        saved += tokens;
        gone.insert(exchange.key);
    }
    frontier(&exchanges, &gone, input)
}

/// Returns the trim that leaves out exactly the given exchanges: its frontier follows the last of them, and all
/// others before the frontier are kept.
fn frontier(exchanges: &[(&Exchange, Tokens)], gone: &BTreeSet<Seq>, input: RungInput<'_>) -> Trim {
    let old = input.ask.view.trim();
    let is_gone = |(exchange, _): &&(&Exchange, Tokens)| gone.contains(&exchange.key);
    let last = exchanges.iter().filter(is_gone).map(|(exchange, _)| exchange.last).max();
    let Some(last) = last else { return old.clone() };
    let drop_before = last.next().max(old.drop_before);
    let stays =
        exchanges.iter().filter(|(exchange, _)| exchange.last < drop_before && !gone.contains(&exchange.key));
    let mut keep = input.guard.kept(old, drop_before);
    keep.extend(stays.flat_map(|(exchange, _)| exchange.speakers.iter().copied()));
    let keep = keep.into_iter().collect();
    Trim { drop_before, stub_before: old.stub_before.max(drop_before), keep, ..old.clone() }
}

/// Returns the importance of each exchange: that of its most important message. Empty if the order is by age.
fn scores(by: DropOrder, ask: &PlanInput<'_>, exchanges: &[(&Exchange, Tokens)]) -> HashMap<Seq, u8> {
    if by == DropOrder::Age {
        return HashMap::new();
    }
    let of: HashMap<Seq, Seq> = exchanges
        .iter()
        .flat_map(|(exchange, _)| exchange.members.iter().map(|seq| (*seq, exchange.key)))
        .collect();
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
