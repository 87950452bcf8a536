//! Limits at which a policy stops trying.

use super::optional::Optional;
use serde::{Deserialize, Serialize};

/// Limits at which a policy stops trying, and the behaviour of requests in the meantime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompactionLimits {
    /// Maximum number of consecutive compactions without progress. Once this number is reached, the lane is compacted
    /// only after it has grown, or if a person asks.
    pub rounds: u32,
    /// Minimum number of seconds between two compactions started by a soft trigger.
    pub cooldown_s: u64,
    /// Maximum number of model calls for summaries within an hour.
    pub calls_per_hour: u32,
    /// Maximum number of nodes that one sweep creates; no limit if unset.
    pub sweep_nodes: Optional<u32>,
    /// Behaviour of requests while a compaction is in progress.
    pub meanwhile: Meanwhile,
}

impl Default for CompactionLimits {
    fn default() -> Self {
        Self {
            rounds: 3,
            cooldown_s: 0,
            calls_per_hour: 24,
            sweep_nodes: Optional::UNSET,
            meanwhile: Meanwhile::GoOn,
        }
    }
}

/// Behaviour of a request that is built while the lane is being compacted. Appending never waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Meanwhile {
    /// The request is built from what the lane has.
    #[default]
    GoOn,
    /// The request waits for the end of the compaction, so that no tool is called on a context that is about to
    /// change.
    Wait,
}
