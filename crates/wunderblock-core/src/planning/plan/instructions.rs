//! A project's instructions, which an agent inserts into its session: they are orders for all that comes, and nothing
//! else in a request has them.

use crate::lane::pair::Exchange;
use crate::lane::view::{View, ViewEntry};
use crate::record::message::Part;
use crate::units::{Bytes, Seq, Tokens};

/// Divisor of the window: instructions stay while they take at most a tenth of the window.
pub const INSTRUCTIONS_DIVISOR: u64 = 10;

/// Returns the maximum number of tokens in instructions that stay in a window.
#[must_use]
pub fn instructions_max(window: Tokens) -> Tokens {
    Tokens(window.0 / INSTRUCTIONS_DIVISOR)
}

/// Returns whether an exchange holds instructions.
#[must_use]
pub fn instructs(exchange: &Exchange, view: &View) -> bool {
    let mut entries = exchange.members.iter().filter_map(|seq| view.entry(*seq));
    entries.any(|entry| entry.message.holds_instructions())
}

/// Returns the position of the latest instructions among entries, if their texts have at most `most` bytes.
#[must_use]
pub fn latest_instructions(entries: &[ViewEntry], most: Bytes) -> Option<Seq> {
    let latest = entries.iter().rev().find(|entry| entry.message.holds_instructions())?;
    let bodies = latest.message.parts.iter().flat_map(Part::bodies);
    (bodies.map(|body| body.bytes().0).sum::<u64>() <= most.0).then_some(latest.seq)
}
