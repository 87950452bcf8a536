//! Reports about entries, pins and hides.

use crate::lanes::explain::entry::EntryDescription;
use crate::lanes::visibility::{Visibility, VisibilityChange};
use serde::Serialize;
use wunderblock_core::message::Role;

/// An entry, described for people.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct EntryReport {
    /// Position of the entry.
    pub seq: u64,
    /// Time of the entry in milliseconds since 1970.
    pub at: i64,
    /// Role of the speaker.
    pub role: Role,
    /// Name of the tool that the entry calls, or whose result the entry holds.
    pub tool: Option<String>,
    /// Short description of the entry.
    pub what: String,
    /// Address for reading the entry.
    pub address: String,
}

/// A pin or a hide that was set or removed.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct VisibilityReport {
    /// Id of the session.
    pub session: String,
    /// New state: `pinned`, `unpinned`, `hidden` or `shown again`.
    pub now: &'static str,
    /// Entry that was changed.
    pub entry: EntryReport,
    /// Positions that are kept or hidden together with the entry.
    pub along: Vec<u64>,
    /// Position at which the change is recorded, or null if the entry was already in this state.
    pub recorded: Option<u64>,
    /// Copies of the entry at the tail of requests; they are hidden and shown together with the entry.
    pub copies: Vec<u64>,
    /// Whether the entry is hidden.
    pub hidden: bool,
    /// Lanes that had left the entry out.
    pub left_out_by: Vec<String>,
    /// Whether the lanes that had left the entry out show it again from now on.
    pub brought_back: bool,
    /// Summaries that were made from the entry and that requests show.
    pub told_by: Vec<u64>,
}

impl EntryReport {
    /// Creates the report of an entry.
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
    /// Creates the report of a change.
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
