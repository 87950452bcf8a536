//! Records of calibration: what a provider's own counts showed about ours. [`crate::planning::usage`] computes them.

use crate::units::{Seq, Tokens};
use serde::{Deserialize, Serialize};

/// Ratio of a model's own token counts to ours, learned from recorded usage of that model alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calibration {
    /// Factor applied to our estimate, in thousandths: 500 to 2,000.
    pub per_mille: u16,
    /// Number of replies the factor was learned from.
    pub replies: u64,
}

impl Calibration {
    /// Returns the corrected estimate, rounded up.
    #[must_use]
    pub const fn of(self, estimate: Tokens) -> Tokens {
        Tokens(estimate.0.saturating_mul(self.per_mille as u64).div_ceil(1_000))
    }
}

/// Tokens that the program behind a session added to its requests beyond the recorded content: its own system prompt,
/// its tools, files it read in. Learned as the intercept of measured input, of which [`Calibration`] is the slope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overhead {
    /// Estimated tokens added to each request.
    pub tokens: Tokens,
    /// Number of replies the estimate was learned from.
    pub replies: u64,
}

/// Calibration of one model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCalibration {
    /// Name of the model.
    pub model: Box<str>,
    /// The learned calibration.
    #[serde(flatten)]
    pub learned: Calibration,
}

/// Latest count from a provider, with our estimate of the entries added since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// Position of the provider's report.
    pub seq: Seq,
    /// Name of the model.
    pub model: Box<str>,
    /// Measured input and output tokens. Reasoning that is not sent again is included, so the value is somewhat too
    /// high.
    pub measured: Tokens,
    /// Our estimate of the entries after the report, in tokens.
    pub since: Tokens,
}

impl Anchor {
    /// Returns our estimate of the tokens that the provider would count now.
    #[must_use]
    pub fn total(&self) -> Tokens {
        self.measured + self.since
    }
}
