//! Entries, pins and hides, as data.

use crate::entry::EntryDescription;
use crate::visibility::{Visibility, VisibilityChange};
use serde::Serialize;
use wunderblock_core::message::Role;

/// One entry, as a person would be told of it.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct EntryReport {
    /// Its position.
    pub seq: u64,
    /// When it happened, in milliseconds since 1970.
    pub at: i64,
    /// Who said it.
    pub role: Role,
    /// The tool it calls, or is a result of.
    pub tool: Option<String>,
    /// What it is, in a few words.
    pub what: String,
    /// The address that reads it.
    pub address: String,
}

/// A pin, a hide, or one of them taken back.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct VisibilityReport {
    /// The session.
    pub session: String,
    /// `pinned`, `unpinned`, `hidden`, `shown again`.
    pub now: &'static str,
    /// The entry.
    pub entry: EntryReport,
    /// Positions that stay or go with it.
    pub along: Vec<u64>,
    /// Where it is recorded; none where it was so before.
    pub recorded: Option<u64>,
    /// Copies of it at the tail of requests, which are hidden and shown with it.
    pub copies: Vec<u64>,
    /// Whether the entry is hidden.
    pub hidden: bool,
    /// Lanes that had left the entry out.
    pub left_out_by: Vec<String>,
    /// Whether they show it again from here on.
    pub brought_back: bool,
    /// Summaries that requests show and that tell of the entry.
    pub told_by: Vec<u64>,
}

impl EntryReport {
    /// The report of an entry.
    #[must_use]
    pub fn new(entry: &EntryDescription) -> Self {
        Self {
            seq: entry.seq.0,
            at: entry.at.0,
            role: entry.role,
            tool: entry.tool.clone(),
            what: entry.what.clone(),
            address: entry.address.clone(),
        }
    }
}

impl VisibilityReport {
    /// The report of a change.
    #[must_use]
    pub fn new(session: &str, wanted: Visibility, change: &VisibilityChange) -> Self {
        Self {
            session: session.to_owned(),
            now: wanted.word(),
            entry: EntryReport::new(&change.entry),
            along: change.entry.along.iter().map(|seq| seq.0).collect(),
            recorded: change.recorded.map(|seq| seq.0),
            copies: change.copies.iter().map(|seq| seq.0).collect(),
            hidden: change.hidden,
            left_out_by: change.left_out.iter().map(|(lane, _)| lane.to_string()).collect(),
            brought_back: change.brought_back,
            told_by: change.told_by.iter().map(|seq| seq.0).collect(),
        }
    }
}
