//! Links delegations with the sessions of delegates and with recorded routes.

use super::fold::DelegationFold;
use super::{Delegation, DelegationOutcome};
use std::collections::HashSet;
use wunderblock_core::id::StreamId;

/// A session that names another as its parent.
pub struct ChildSession {
    /// Id of the session.
    pub id: StreamId,
    /// The first thing that the session was told.
    pub task: Option<String>,
}

/// Returns the delegations, in order, with their sessions and routes.
pub fn linked(fold: DelegationFold, children: &[ChildSession]) -> Vec<Delegation> {
    let DelegationFold { mut found, prompts, routes, .. } = fold;
    by_prompt(&mut found, &prompts, children);
    by_type(&mut found, 0);
    // A report that was merged into another has no position.
    found.retain(|one| one.at.0 > 0);
    found.sort_by_key(|one| one.at);
    let mut used = vec![false; routes.len()];
    for one in &mut found {
        let mine = |(index, (at, agent, _)): &(usize, &(_, Box<str>, Box<str>))| {
            let unused = used.get(*index) == Some(&false);
            unused && *at < one.at && one.agent.as_ref().is_some_and(|own| own.eq_ignore_ascii_case(agent))
        };
        // Of several routes for one type, the latest before the call is the one that was followed.
        let Some((last, (_, agent, chosen))) = routes.iter().enumerate().rfind(mine) else {
            continue;
        };
        one.chosen = Some(chosen.clone());
        let earlier = routes.iter().zip(&mut used).take(last + 1);
        earlier.filter(|((_, of, _), _)| of.eq_ignore_ascii_case(agent)).for_each(|(_, used)| *used = true);
    }
    found
}

/// Returns the delegations in flight: the number of each in the fold, and its whole task.
pub fn in_flight(fold: DelegationFold) -> Vec<(usize, Delegation, Option<String>)> {
    let DelegationFold { mut found, prompts, known, .. } = fold;
    by_type(&mut found, known);
    let all = found.into_iter().zip(prompts).enumerate().map(|(index, (one, prompt))| (index, one, prompt));
    all.filter(|(_, one, _)| one.at.0 > 0 && one.outcome == DelegationOutcome::InFlight).collect()
}

/// Links a delegation without a known session with the first session that was told its task.
fn by_prompt(found: &mut [Delegation], prompts: &[Option<String>], children: &[ChildSession]) {
    let mut taken: HashSet<StreamId> = found.iter().filter_map(|one| one.session.clone()).collect();
    for (one, prompt) in found.iter_mut().zip(prompts).filter(|(one, _)| one.session.is_none()) {
        let Some(prompt) = prompt.as_deref().map(str::trim).filter(|prompt| !prompt.is_empty()) else {
            continue;
        };
        let told = |child: &&ChildSession| {
            let is_free = !taken.iter().any(|taken| taken.root() == child.id.root());
            is_free && child.task.as_deref().is_some_and(|task| task.trim() == prompt)
        };
        if let Some(child) = children.iter().find(told) {
            taken.insert(child.id.clone());
            one.session = Some(child.id.clone());
        }
    }
}

/// Merges reports without a call into calls without a session, by type and order: hooks know no calls. A report of work
/// in flight belongs to no call that has a result. Reports before the number `from` stay as they are.
fn by_type(found: &mut [Delegation], from: usize) {
    for index in from..found.len() {
        let report = found.get(index).filter(|one| one.call.is_none() && one.at.0 > 0);
        let Some((agent, outcome)) = report.map(|report| (report.agent.clone(), report.outcome)) else {
            continue;
        };
        let is_same = |one: &Delegation| {
            let types = one.agent.as_ref().zip(agent.as_ref());
            types.is_none_or(|(a, b)| a.eq_ignore_ascii_case(b))
        };
        let is_open = |outcome| outcome == DelegationOutcome::InFlight;
        let waits = |one: &Delegation| {
            let may = is_open(one.outcome) || !is_open(outcome);
            one.call.is_some() && one.session.is_none() && may && is_same(one)
        };
        let Some(call) = found.iter().position(waits) else { continue };
        let report = found.get_mut(index).map(std::mem::take).unwrap_or_default();
        if let Some(call) = found.get_mut(call) {
            call.absorb(report);
        }
    }
}
