//! What is learned from a provider's own counts, as it is recorded. [`crate::usage`] says how.

use crate::units::{Seq, Tokens};
use serde::{Deserialize, Serialize};

/// How a model's own counts compare with ours, learned from recorded usage of that model alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calibration {
    /// Our estimate is multiplied by this, in thousandths: 500 to 2,000.
    pub per_mille: u16,
    /// From how many replies it was learned.
    pub replies: u64,
}

impl Calibration {
    /// An estimate corrected, rounded up.
    #[must_use]
    pub const fn of(self, estimate: Tokens) -> Tokens {
        Tokens(estimate.0.saturating_mul(self.per_mille as u64).div_ceil(1_000))
    }
}

/// What the program that made a session's requests put into them beside what is recorded: its own system prompt, its tools,
/// files it read in. Learned as the intercept of measured input, of which [`Calibration`] is the slope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overhead {
    /// About how much that is.
    pub tokens: Tokens,
    /// From how many replies it was learned.
    pub replies: u64,
}

/// What was learned of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCalibration {
    /// The model.
    pub model: Box<str>,
    /// What was learned.
    #[serde(flatten)]
    pub learned: Calibration,
}

/// The newest count a provider gave, and our estimate of what has come since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// Where the provider's report is recorded.
    pub seq: Seq,
    /// The model.
    pub model: Box<str>,
    /// What it took in and put out. Reasoning that is not sent again is among it, so this is rather too much.
    pub measured: Tokens,
    /// Our estimate of the entries after it.
    pub since: Tokens,
}

impl Anchor {
    /// What the provider would count now.
    #[must_use]
    pub fn total(&self) -> Tokens {
        self.measured + self.since
    }
}
