//! Which of a lane's thinking still stands behind the beginning it was written behind.
//!
//! A provider that binds thinking refuses it behind any other beginning. What a lane can know is this much: a reply that
//! is told live, right after a request of the lane, answers that request. Thinking of other requests (of an import, of
//! another lane) was written behind a beginning nobody here knows. Whether a request still begins as the one that was
//! answered is a matter of bytes, which whoever encodes it compares.

use crate::decision::Trim;
use crate::units::Seq;
use crate::view::{View, ViewEntry};

/// The positions whose thinking the lane's next request does not send, as far as its events say.
#[must_use]
pub fn unbound(view: &View) -> Vec<(Seq, Seq)> {
    let judged = view.progress().built.map(|(_, through)| through);
    let mut trim = Trim { unbound: view.progress().unbound.clone(), ..Trim::default() };
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
        match trim.unbound.last_mut() {
            Some((_, to)) if *to >= bound => *to = entry.seq,
            _ => trim.unbound.push((entry.seq, entry.seq)),
        }
    }
    trim.unbound
}

/// Takes further positions out of what is sent.
pub fn unbind(trim: &mut Trim, positions: impl IntoIterator<Item = Seq>) {
    for seq in positions {
        if !trim.is_unbound(seq) {
            let at = trim.unbound.partition_point(|(from, _)| *from < seq);
            trim.unbound.insert(at, (seq, seq));
        }
    }
}

/// Whether an entry holds reasoning of the model.
#[must_use]
pub fn thinks(entry: &ViewEntry) -> bool {
    entry.message.parts.iter().any(crate::message::Part::is_thinking)
}
