//! The deciding half of Wunderblock.
//!
//! Events fold into a [`view`]; a pure function turns view and budget into a [`plan`]; the plan is rendered into a
//! [`request`] and a [`report`]. Nothing here reads a clock, a file or the network, so every decision can be made again
//! from its record.
//!
//! In reading order: [`id`] and [`units`] name things, [`message`], [`decision`] and [`event`] say what the ledger holds,
//! [`view`] and [`pair`] what a model could see, [`budget`], [`cost`], [`trim`] and [`plan`] what it will see, [`stub`] and
//! [`render`] in which form, [`report`] what that amounts to. [`authority`], [`instruction`], [`state`] and [`preamble`] say
//! what enters from outside the ledger, [`usage`] what providers measured. [`ports`] is all that core asks of the world.

pub mod allocate;
pub mod arrangement;
pub mod authority;
pub mod budget;
pub mod calibration;
pub mod compact;
pub mod compaction;
pub mod compose;
pub mod cost;
pub mod decision;
pub mod describe;
pub mod event;
pub mod fence;
pub mod grounding;
pub mod id;
pub mod instruction;
pub mod line;
pub mod literal;
pub mod message;
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
pub mod section;
pub mod state;
pub mod stub;
pub mod thinking;
pub mod trim;
mod truncate;
pub mod typed;
pub mod units;
pub mod usage;
pub mod view;
pub mod work;
