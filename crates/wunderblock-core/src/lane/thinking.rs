//! A lane's thinking that is not sent, because the request no longer has the beginning after which the thinking was
//! written.
//!
//! A provider that binds thinking to the beginning of a request rejects it after any other beginning. A lane knows
//! only that a reply recorded live, right after a request of the lane, answers that request. Thinking from other
//! requests (of an import or another lane) was written after an unknown beginning. Whether a request still begins
//! like the answered request is determined by comparing bytes, at the place where the request is encoded.

use crate::lane::view::{View, ViewEntry};
use crate::ports::CostModel;
use crate::record::decision::Trim;
use crate::units::Seq;

/// Returns the runs of positions whose thinking the lane's next request does not send, as far as its events show.
#[must_use]
pub fn unbound(view: &View) -> Vec<(Seq, Seq)> {
    let judged = view.lane().built.map(|(_, through)| through);
    let mut trim = Trim { unbound: view.lane().unbound.clone(), ..Trim::default() };
    let mut bound = Seq::START;
    for entry in view.entries().filter(|entry| thinks(entry)) {
        let is_new = judged.is_none_or(|through| entry.seq > through);
        if trim.is_unbound(entry.seq) {
            continue;
        }
        if !is_new || entry.answers {
            bound = entry.seq;
            continue;
        }
        // Extend the last run, unless thinking that is still bound lies in between.
        match trim.unbound.last_mut() {
            Some((_, to)) if *to >= bound => *to = entry.seq,
            _ => trim.unbound.push((entry.seq, entry.seq)),
        }
    }
    trim.unbound
}

/// Returns the runs that make all thinking up to a position unbound: a step changes the beginning of a request, and
/// all thinking in it was written after the old beginning.
#[must_use]
pub fn unbound_by_step(through: Seq, costs: &dyn CostModel) -> Vec<(Seq, Seq)> {
    if costs.binds_thinking() { vec![(Seq::START, through)] } else { Vec::new() }
}

/// Adds positions whose thinking is no longer sent.
pub fn unbind(trim: &mut Trim, positions: impl IntoIterator<Item = Seq>) {
    for seq in positions {
        if !trim.is_unbound(seq) {
            let at = trim.unbound.partition_point(|(from, _)| *from < seq);
            trim.unbound.insert(at, (seq, seq));
        }
    }
}

/// Returns whether an entry holds thinking.
#[must_use]
pub fn thinks(entry: &ViewEntry) -> bool {
    entry.message.parts.iter().any(crate::record::message::Part::is_thinking)
}
