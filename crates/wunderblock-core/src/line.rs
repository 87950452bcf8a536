//! The account of a request, line by line: who put what into it, and what is not in it.

use crate::budget::{Reason, Treatment};
use crate::id::Handle;
use crate::section::Section;
use crate::units::{Cost, Seq};

/// What one source put into the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The entry; none for marks and tools.
    pub seq: Option<Seq>,
    /// Where it stands.
    pub section: Section,
    /// In which form.
    pub treatment: Treatment,
    /// What it costs.
    pub cost: Cost,
    /// What it is, in a few words.
    pub what: String,
    /// Its largest body.
    pub handle: Option<Handle>,
}

/// A run of positions that is not in the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// First position.
    pub from: Seq,
    /// Last position.
    pub to: Seq,
    /// Entries and cost, where the view holds them; a run before the frontier is looked up in the ledger's tallies.
    pub known: Option<(u64, Cost)>,
    /// Why.
    pub reason: Reason,
}
