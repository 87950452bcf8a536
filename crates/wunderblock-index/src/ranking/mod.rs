//! Ranking of passages for a question.
//!
//! ```text
//! question ─► terms, cues ─┐
//! headers ─► order ────────┼─► occurrences ─► counts: own, window, session ─┐
//! postings of the terms ───┘                 traits, days, similarity ──────┴─► arms ─ Σ weight × arm ─► hits
//! ```
//! Modules in reading order: [`question`] and its cues, [`order`] gives every passage a position, the window sums counts
//! of neighbours, [`weights`] are the arms as data, [`arms`] reads what is known of a passage with respect to a question,
//! and [`rank`] puts them together.

pub mod arms;
pub(crate) mod counts;
pub(crate) mod cues;
pub(crate) mod dates;
pub(crate) mod explain;
pub(crate) mod occurrences;
pub mod order;
pub mod question;
pub mod rank;
pub mod weights;
pub(crate) mod window;

#[cfg(test)]
mod tests;
