//! Whether a proposal still holds after the session has grown, and what it is then.

use super::ladder::Proposal;
use crate::pair::{Unit, arrange};
use crate::step::{Form, Trim};
use crate::trim;
use crate::units::Seq;
use crate::view::View;

/// The proposal for a session that has grown from the view it was made from: its own events have later positions. `None`
/// when something it consumed is not as it was: the lane took a step, an entry was erased or pinned, an exchange got a
/// result.
#[must_use]
pub fn rebase(proposal: &Proposal, old: &View, new: &View) -> Option<Proposal> {
    let trim = proposal.trim.as_ref()?;
    if old.trim() != new.trim() || old.pinned() != new.pinned() || !old.erased().eq(new.erased()) {
        return None;
    }
    let (before, after) = (arrange(old), arrange(new));
    let touched =
        |unit: &&Unit| unit.last < trim.drop_before || unit.members.iter().any(|seq| has_form(trim, *seq));
    let touched = |unit: &&Unit| touched(unit) && !unit.is_waiting();
    let mut ours = before.units.iter().filter(touched);
    let still = |unit: &Unit| {
        after.units.iter().any(|other| other.members == unit.members && other.shape == unit.shape)
    };
    if !ours.all(still) {
        return None;
    }
    let by = new.head().0.saturating_sub(proposal.head.0);
    let moved = |at: Seq| if at > proposal.head { Seq(at.0 + by) } else { at };
    let mut trim = trim.clone();
    trim.nodes.iter_mut().for_each(|placed| placed.at = moved(placed.at));
    for (_, form) in &mut trim.forms {
        if let Form::Reduced(at) = form {
            *at = moved(*at);
        }
    }
    trim::settle(&mut trim, &after, new);
    let mut rebased = Proposal { head: new.head(), trim: Some(trim), ..proposal.clone() };
    for node in &mut rebased.nodes {
        node.at = moved(node.at);
        node.job.sources.iter_mut().for_each(|at| *at = moved(*at));
    }
    rebased.reduced.iter_mut().for_each(|(at, _)| *at = moved(*at));
    Some(rebased)
}

fn has_form(trim: &Trim, seq: Seq) -> bool {
    trim.forms.iter().any(|((at, _), _)| *at == seq)
}
