//! When a policy stops trying.

use serde::{Deserialize, Serialize};

/// When a policy stops trying, and what waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompactionLimits {
    /// So many compactions in a row without progress, and the lane compacts no more until it has grown or a person asks.
    pub rounds: u32,
    /// Seconds between two compactions that a soft trigger sets off.
    pub cooldown_s: u64,
    /// Calls of a model for summaries within an hour, at most.
    pub calls_per_hour: u32,
    /// Nodes one sweep makes, at most; 0 for no limit.
    pub sweep_nodes: u32,
    /// What requests do while a compaction is under way.
    pub meanwhile: Meanwhile,
}

impl Default for CompactionLimits {
    fn default() -> Self {
        Self { rounds: 3, cooldown_s: 0, calls_per_hour: 24, sweep_nodes: 0, meanwhile: Meanwhile::GoOn }
    }
}

/// What a request does that is built while the lane is being compacted. Appending never waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Meanwhile {
    /// It is built from what there is.
    #[default]
    GoOn,
    /// It waits for the end of the compaction, so that no tool is called on a context about to change.
    Wait,
}
