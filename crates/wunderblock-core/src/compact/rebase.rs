//! Whether a proposal still holds after the session has grown, and what it is then.

use super::ladder::Proposal;
use crate::budget::Treatment;
use crate::decision::{PartForm, PartPosition};
use crate::pair::{Exchange, ExchangeKind, arrange};
use crate::trim::treatment;
use crate::units::Seq;
use crate::view::{View, all_prepared};
use std::collections::{HashMap, HashSet};

/// The proposal for a session that has grown from the view it was made from: its own events have later positions. `None`
/// when something it consumed is not as it was: the lane took a step, an entry or a summary was erased, an entry was pinned or hidden,
/// an exchange that waited for nothing got another result.
#[must_use]
pub fn rebase(proposal: &Proposal, old: &View, new: &View) -> Option<Proposal> {
    if proposal.trim.is_none() && proposal.nodes.is_empty() {
        return None;
    }
    // What is made ahead takes no step: the lane's own stands.
    let trim = proposal.trim.as_ref().unwrap_or(old.trim());
    let ahead = proposal.trim.is_none().then(|| proposal.nodes.last().map(|node| node.job.to)).flatten();
    // A summary made from one that has been erased since would say it again.
    let stand = |view: &View| view.nodes().map(|node| node.at).collect::<Vec<Seq>>();
    if old.trim() != new.trim()
        || old.pinned() != new.pinned()
        || old.hidden() != new.hidden()
        || !old.erased().eq(new.erased())
        || stand(old) != stand(new)
        || ahead.is_some() && all_prepared(old).ne(all_prepared(new))
    {
        return None;
    }
    // What stands before the new frontier must be named by its trim, which was made without it.
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
    // A turn that is only held, for what is quoted from it, is not in every view.
    let touched = |exchange: &&Exchange| {
        let is_held = exchange.shape == ExchangeKind::User
            && treatment(exchange, old.trim(), old) == Treatment::LeftOut;
        !is_held && exchange.last < told || exchange.members.iter().any(|seq| formed.contains(seq))
    };
    let begins = |exchange: &Exchange| exchange.speakers.first().copied();
    let now: HashMap<Option<Seq>, &Exchange> =
        after.exchanges.iter().map(|exchange| (begins(exchange), exchange)).collect();
    let still = |exchange: &Exchange| match now.get(&begins(exchange)) {
        // What it waited for comes in at the tail, whenever the proposal is published.
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
    // What it holds on to stays what it was: nothing that came since lies before its frontiers.
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
