//! Settings of a lane's compactions: policy, summariser, and the hooks that run before and after a compaction.

use crate::rules::policy::{DEFAULT, Policies};
use std::fmt;
use std::sync::{Arc, LazyLock};
use wunderblock_core::policy::Policy;
use wunderblock_core::units::Millis;
use wunderblock_summary::Summarise;

/// The default policy is parsed once and shared by all options that name no policy.
static DEFAULT_POLICY: LazyLock<Arc<Policy>> = LazyLock::new(|| {
    let policy = Policies::embedded().preset(DEFAULT);
    policy.unwrap_or_else(|| Arc::new(Policy::never()))
});

/// Settings of a lane's compactions.
#[derive(Clone)]
pub struct Compactor {
    /// Policy that decides when the lane is compacted, and in which steps.
    pub policy: Arc<Policy>,
    /// Summariser used by compactions. `None` selects the extractive summariser, which needs no model.
    pub summariser: Option<Arc<dyn Summarise>>,
    /// Programs that run before or after a compaction.
    pub hooks: Vec<Hook>,
    /// Whether a build leaves the compaction to a background worker. A request that does not fit is compacted
    /// immediately, without a model.
    pub background: bool,
}

impl Compactor {
    /// Creates a compactor that needs no model.
    #[must_use]
    pub fn new(policy: Arc<Policy>) -> Self {
        Self { policy, summariser: None, hooks: Vec::new(), background: false }
    }
}

impl Default for Compactor {
    /// Uses the default policy, without a model.
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

/// Program that runs before or after a compaction.
///
/// A hook that runs before a compaction can veto it: by exit status 2 (stderr gives the reason), or by `{"decision":
/// "block", "reason": "…"}` on stdout. With `{"focus": "…"}`, the hook adds a topic for the summaries to focus on.
/// Any other failure of the hook is ignored: a broken hook must not prevent a lane from being compacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// Program and its arguments, run without a shell.
    pub argv: Vec<String>,
    /// Whether the hook runs before the compaction instead of after it.
    pub before: bool,
    /// Maximum running time, in milliseconds.
    pub time: Millis,
}
