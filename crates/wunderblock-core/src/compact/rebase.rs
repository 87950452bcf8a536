//! Rebase: whether a proposal still applies after the session has grown, and its form for the grown session.

use super::ladder::Proposal;
use crate::lane::pair::{Exchange, ExchangeKind, arrange};
use crate::lane::trim::treatment;
use crate::lane::view::View;
use crate::record::budget::Treatment;
use crate::record::decision::{PartForm, PartPosition, Trim};
use crate::units::Seq;
use std::collections::{HashMap, HashSet};

/// Returns the proposal adjusted to a view that has grown since the proposal was made: the proposal's events get
/// later positions. `None` if the proposal changes nothing, or if anything it consumed has changed: the lane took a
/// step, an entry or a summary was erased, an entry was pinned or hidden, or an exchange that waited for nothing got
/// another result.
#[must_use]
pub fn rebase(proposal: &Proposal, old: &View, new: &View) -> Option<Proposal> {
    if proposal.trim.is_none() && proposal.nodes.is_empty() {
        return None;
    }
    // A proposal of summaries made ahead takes no step, so the trim of the lane stays.
    let trim = proposal.trim.as_ref().unwrap_or(old.trim());
    let ahead = proposal.trim.is_none().then(|| proposal.nodes.last().map(|node| node.job.to)).flatten();
    // A summary made from a summary that has since been erased would repeat the erased content.
    let stand = |view: &View| view.nodes().map(|node| node.at).collect::<Vec<Seq>>();
    // A compaction leaves thinking out of its view, without a step of the lane.
    let step = |view: &View| Trim { unbound: Vec::new(), ..view.trim().clone() };
    if step(old) != step(new)
        || old.pinned() != new.pinned()
        || old.hidden() != new.hidden()
        || !old.erased().eq(new.erased())
        || stand(old) != stand(new)
        || ahead.is_some()
            && old.lane().made_ahead().map(|node| node.at).ne(new.lane().made_ahead().map(|node| node.at))
    {
        return None;
    }
    // The trim must name each standing reduction before its frontier, but was made before some of them were recorded.
    let unnamed = |(at, event): (PartPosition, Seq)| {
        at.0 < trim.drop_before && trim.needs(at.0) && old.standing(at) != Some(event)
    };
    if new.standings().any(unnamed) {
        return None;
    }
    let (before, after) = (arrange(old), arrange(new));
    let told = trim.nodes.last().map_or(Seq::START, |node| node.to.next()).max(trim.drop_before);
    let told = ahead.map_or(told, |to| told.max(to.next()));
    let formed: HashSet<Seq> = trim.forms.iter().map(|((at, _), _)| *at).collect();
    // A turn that is held only because a rule quotes it is not in every view.
    let touched = |exchange: &&Exchange| {
        let is_held = exchange.shape == ExchangeKind::User
            && treatment(exchange, old.trim(), old) == Treatment::LeftOut;
        !is_held && exchange.last < told || exchange.members.iter().any(|seq| formed.contains(seq))
    };
    let begins = |exchange: &Exchange| exchange.speakers.first().copied();
    let now: HashMap<Option<Seq>, &Exchange> =
        after.exchanges.iter().map(|exchange| (begins(exchange), exchange)).collect();
    let still = |exchange: &Exchange| match now.get(&begins(exchange)) {
        // A result that the exchange waited for enters at the tail, whenever the proposal is published.
        Some(other) if exchange.is_waiting() => {
            exchange.members.iter().all(|seq| other.members.binary_search(seq).is_ok())
        }
        Some(other) => other.members == exchange.members && other.shape == exchange.shape,
        None => false,
    };
    if !before.exchanges.iter().filter(touched).all(still) {
        return None;
    }
    let by = new.head().0.saturating_sub(proposal.head.0);
    let moved = |at: Seq| if at > proposal.head { Seq(at.0 + by) } else { at };
    // The positions that the trim holds stay as they are: nothing appended since lies before its frontiers.
    let mut trim = trim.clone();
    trim.nodes.iter_mut().for_each(|placed| placed.at = moved(placed.at));
    for (_, form) in &mut trim.forms {
        if let PartForm::Reduced(at) = form {
            *at = moved(*at);
        }
    }
    let trim = proposal.trim.is_some().then_some(trim);
    let mut rebased = Proposal { head: new.head(), trim, ..proposal.clone() };
    for node in &mut rebased.nodes {
        node.at = moved(node.at);
        node.job.sources.iter_mut().for_each(|at| *at = moved(*at));
    }
    rebased.reduced.iter_mut().for_each(|(at, _)| *at = moved(*at));
    Some(rebased)
}
