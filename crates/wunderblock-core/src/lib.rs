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

pub mod allocate;
pub mod arrangement;
pub mod author;
pub mod authority;
pub mod budget;
pub mod calibration;
pub mod compact;
pub mod compaction;
pub mod compose;
pub mod cost;
pub mod decision;
pub mod delegate;
pub mod describe;
pub mod event;
pub mod fence;
pub mod grounding;
pub mod id;
pub mod instruction;
pub mod line;
pub mod literal;
pub mod message;
pub mod nearest;
pub mod pair;
pub mod plan;
pub mod policy;
pub mod ports;
pub mod preamble;
pub mod preamble_text;
mod presentation;
pub mod quote;
pub mod reduction;
pub mod render;
pub mod report;
pub mod request;
pub mod restate;
pub mod section;
pub mod state;
pub mod stub;
pub mod thinking;
pub mod trim;
mod truncate;
pub mod units;
pub mod usage;
pub mod view;
pub mod work;
