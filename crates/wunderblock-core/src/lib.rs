//! The decision-making half of Wunderblock: it makes all decisions and does no I/O.
//!
//! Events are folded into a [`view`]. A pure function turns a view and a budget into a [`plan`], and the plan is
//! rendered into a [`request`] and a [`report`]. This crate reads no clock, file or network, so every decision can be
//! reproduced from its record.
//!
//! In reading order: [`id`] and [`units`] name things. [`message`], [`decision`] and [`event`] define what the ledger
//! holds. [`view`] and [`pair`] define what a model could see. [`budget`], [`cost`], [`trim`] and [`plan`] decide
//! what the model will see, and [`stub`] and [`render`] in which form. [`report`] lists the result. [`authority`],
//! [`instruction`], [`state`] and [`preamble`] define what enters from outside the ledger, and [`usage`] what
//! providers measured. [`ports`] is everything that core requires of its caller.
//!
//! Folders group the modules, and each uses only those that precede it: `policy`, `source`, `record`, `form`, `lane`,
//! `planning`, `rendering`, `delegate`, `composition`; `compact` uses those up to `planning`, and `memories` those up to `record`. Modules are public at the
//! root, whatever their folder.

pub mod compact;
mod composition;
pub mod delegate;
mod form;
pub mod id;
mod lane;
pub mod memories;
mod planning;
pub mod policy;
pub mod ports;
mod record;
mod rendering;
mod source;
mod text;
pub mod units;

pub use composition::{allocate, compose};
pub use form::{fence, stub};
pub use lane::{arrangement, pair, restate, thinking, trim, view};
pub use planning::{cost, plan, quote, usage};
pub use record::{
    author, budget, calibration, compaction, decision, document, event, memory, message, preamble, reduction,
    request, work,
};
pub use rendering::{describe, line, preamble_text, render, report};
pub use source::{authority, instruction, section, state};
pub use text::{grounding, literal, nearest};
