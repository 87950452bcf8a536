//! Content that a lane's next requests leave aside before an event says so, and who asks for work.

use super::{View, ViewEntry};
use crate::arrangement::Arranged;
use crate::author::Author;
use crate::preamble::{Preamble, Restated};
use crate::units::Seq;
use std::sync::Arc;

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
