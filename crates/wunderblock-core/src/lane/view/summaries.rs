//! Summaries in a view: those that its trim names, and those that were made ahead.

use super::{SummaryNode, View, ViewEntry};
use crate::lane::arrangement::Arranged;
use crate::record::author::Author;
use crate::record::compaction::SessionCompacted;
use crate::record::event::Event;
use crate::record::preamble::{Preamble, Restated};
use crate::units::Seq;
use std::sync::Arc;

/// Returns the summaries made ahead that no trim names yet, from a position on, as long as they are adjacent and
/// cover nothing that has been hidden since.
#[must_use]
pub fn prepared(view: &View, begins: Seq) -> Vec<SummaryNode> {
    let mut next = begins;
    let mut chain = Vec::new();
    while let Some(node) = view.prepared.get(&next) {
        if view.hidden.range(node.from..=node.to).next().is_some() {
            break;
        }
        next = node.to.next();
        chain.push(node.clone());
    }
    chain
}

/// Returns the last position that summaries cover, including those made ahead.
#[must_use]
pub fn prepared_to(view: &View) -> Seq {
    let told = view.trim.nodes.last().map_or(Seq::START, |node| node.to.next());
    let begins = told.max(view.trim.drop_before).max(Seq(2));
    prepared(view, begins).last().map_or(begins.prev(), |node| node.to)
}

/// Returns the positions of all summaries made ahead.
pub(crate) fn all_prepared(view: &View) -> impl Iterator<Item = Seq> {
    view.prepared.values().map(|node| node.at)
}

/// Returns the producer of a summary that was imported and never checked.
#[must_use]
pub fn unchecked_by(made: &SessionCompacted) -> Option<Box<str>> {
    (made.lane.is_none() && made.check.is_none()).then(|| made.producer.clone())
}

/// Adds a summary that the trim names, or that was made ahead for the lane.
pub(super) fn place(view: &mut View, event: &Event, made: &SessionCompacted) {
    let is_named = view.named.contains(&event.seq);
    let is_ahead = made.is_ahead() && made.lane.as_ref() == Some(&view.lane);
    let is_ahead = is_ahead && event.seq >= view.trim.drop_before && made.from_seq >= view.trim.drop_before;
    if !is_named && !is_ahead {
        return;
    }
    let Some(text) = made.summary.clone() else { return };
    let (at, level) = (event.seq, made.level);
    let unchecked = unchecked_by(made);
    let node =
        SummaryNode { at, from: made.from_seq, to: made.to_seq, level, text, made: event.at, unchecked };
    if is_named {
        view.nodes.insert(at, node);
    } else {
        view.prepared.insert(node.from, node);
    }
}

/// Leaves thinking out of all requests from here on, as the trim of a step does.
pub fn unbind(view: &mut View, thinking: Vec<(Seq, Seq)>) {
    view.progress.unbound.clone_from(&thinking);
    view.trim.unbound = thinking;
}

/// Sets aside the texts of the operator as a composed preamble would, before that preamble is recorded.
pub fn restating(view: &mut View, restated: &[Restated]) {
    let (at, old) = view.preamble.take().unwrap_or_default();
    view.arranged = Arranged::default();
    view.preamble = Some((at, Arc::new(Preamble { restated: restated.to_vec(), ..old.as_ref().clone() })));
}

/// Returns whether an entry asks for work: a turn of the person, or of another agent if the person said nothing, as in
/// the session of a delegate.
#[must_use]
pub fn is_request(view: &View, entry: &ViewEntry) -> bool {
    let said = &entry.message;
    let is_peers = || said.is_user_turn() && said.author() == Author::Peer;
    said.is_persons() || is_peers() && !view.entries.values().any(|entry| entry.message.is_persons())
}
