//! How a lane is compacted: by which policy, by whom, and what is asked before and told after it.

use crate::policy::{DEFAULT, Policies};
use crate::summarize::Summarise;
use std::fmt;
use std::sync::{Arc, LazyLock};
use wunderblock_core::policy::Policy;
use wunderblock_core::units::Millis;

/// Parsed once: every set of options that names no policy holds it.
static DEFAULT_POLICY: LazyLock<Arc<Policy>> = LazyLock::new(|| {
    let policy = Policies::embedded().preset(DEFAULT);
    policy.unwrap_or_else(|| Arc::new(Policy::never()))
});

/// How a lane is compacted.
#[derive(Clone)]
pub struct Compactor {
    /// When, and in which steps.
    pub policy: Arc<Policy>,
    /// Who writes summaries; none for the extractive summariser, which needs no model.
    pub summariser: Option<Arc<dyn Summarise>>,
    /// What is asked before a compaction, and told after it.
    pub hooks: Vec<Hook>,
    /// Whether a build leaves it to a worker. A request that does not fit is compacted at once, without a model.
    pub background: bool,
}

impl Compactor {
    /// A compactor that needs no model.
    #[must_use]
    pub fn new(policy: Arc<Policy>) -> Self {
        Self { policy, summariser: None, hooks: Vec::new(), background: false }
    }
}

impl Default for Compactor {
    /// By the default policy, without a model.
    fn default() -> Self {
        Self::new(Arc::clone(&DEFAULT_POLICY))
    }
}

impl fmt::Debug for Compactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let writer =
            self.summariser.as_ref().map_or_else(|| "extractive".to_owned(), |summariser| summariser.name());
        f.debug_struct("Compactor")
            .field("policy", &self.policy.name)
            .field("summariser", &writer)
            .finish_non_exhaustive()
    }
}

/// A program, and when it runs.
///
/// Before a compaction it can say no: by exit status 2 (its stderr says why), or by `{"decision": "block", "reason": "…"}`
/// on stdout. It can add to what the summaries should look at: `{"focus": "…"}`. Any other failure of it is passed over:
/// a broken hook must not keep a lane from being compacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// The program and its arguments. No shell.
    pub argv: Vec<String>,
    /// Whether it runs before; else after.
    pub before: bool,
    /// How long it may take.
    pub time: Millis,
}
