//! Summaries in a view: those that its trim names, and those that were made ahead.

use super::{SummaryNode, View};
use crate::compaction::SessionCompacted;
use crate::event::Event;
use crate::units::Seq;

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
