//! The deciding half of Wunderblock.
//!
//! Events fold into a view; a pure function turns view and budget into a plan; the plan is rendered into a request and
//! a report. Nothing here reads a clock, a file or the network, so every decision can be made again from its record.
//!
//! In reading order: [`id`] and [`units`] name things, [`message`] and [`event`] say what the ledger holds.

pub mod budget;
pub mod event;
pub mod id;
pub mod message;
pub mod plan;
pub mod request;
pub mod section;
pub mod units;
