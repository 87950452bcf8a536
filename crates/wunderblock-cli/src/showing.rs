//! Results as text: entries, reports, outcomes and tables.

pub(crate) mod entry;
pub(crate) mod outcome;
pub(crate) mod outside;
pub(crate) mod report;
pub(crate) mod table;
