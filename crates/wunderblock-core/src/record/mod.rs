//! Recorded data: what the events of a ledger hold, and the types of their parts.

pub mod author;
pub mod budget;
pub mod calibration;
pub mod compaction;
pub mod decision;
pub mod document;
pub mod event;
pub mod memory;
pub mod message;
pub mod preamble;
pub mod reduction;
pub mod request;
pub mod work;
