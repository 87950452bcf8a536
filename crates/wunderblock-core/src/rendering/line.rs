//! Line-by-line account of a request: the source of each text, and the runs that are missing.

use crate::id::Handle;
use crate::record::budget::{Reason, Treatment};
use crate::record::reduction::ShownShorter;
use crate::source::section::Section;
use crate::units::{Cost, Seq};

/// Text that one source put into the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// Position of the entry; `None` for text that no entry holds.
    pub seq: Option<Seq>,
    /// Section under which the text is counted.
    pub section: Section,
    /// Form of the text.
    pub treatment: Treatment,
    /// Cost of the text.
    pub cost: Cost,
    /// Short description of the text.
    pub what: String,
    /// Handle of the largest body.
    pub handle: Option<Handle>,
    /// Parts shown in a shorter form, if the result of the reduction is known.
    pub reduced: Vec<ShownShorter>,
}

impl SourceLine {
    /// Creates a line for verbatim text that no entry holds.
    #[must_use]
    pub fn outside(section: Section, what: String, cost: Cost) -> Self {
        let treatment = Treatment::Verbatim;
        Self { seq: None, section, treatment, cost, what, handle: None, reduced: Vec::new() }
    }

    /// Creates a line for a mark that replaces something missing.
    #[must_use]
    pub fn mark(section: Section, what: String, cost: Cost) -> Self {
        Self { treatment: Treatment::Stub, ..Self::outside(section, what, cost) }
    }
}

/// A run of positions that is not in the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// First position of the run.
    pub from: Seq,
    /// Last position of the run.
    pub to: Seq,
    /// Number and cost of the entries, if the view holds them. A run before the frontier is looked up in the ledger's
    /// tallies.
    pub known: Option<(u64, Cost)>,
    /// Reason why the run is missing.
    pub reason: Reason,
    /// Position that shows a [repeated](Reason::Repeated) text.
    pub shown_at: Option<Seq>,
}
