//! The account of a request, line by line: who put what into it, and what is not in it.

use crate::budget::{Reason, Treatment};
use crate::id::Handle;
use crate::reduction::ShownShorter;
use crate::section::Section;
use crate::units::{Cost, Seq};

/// What one source put into the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
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
    /// The parts of it that are shown shorter, where it is known what that came to.
    pub reduced: Vec<ShownShorter>,
}

impl SourceLine {
    /// What no entry put there, word for word.
    #[must_use]
    pub fn outside(section: Section, what: String, cost: Cost) -> Self {
        let treatment = Treatment::Verbatim;
        Self { seq: None, section, treatment, cost, what, handle: None, reduced: Vec::new() }
    }

    /// What stands where something is missing.
    #[must_use]
    pub fn mark(section: Section, what: String, cost: Cost) -> Self {
        Self { treatment: Treatment::Stub, ..Self::outside(section, what, cost) }
    }
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
