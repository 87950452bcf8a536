//! Compaction policies: when, what is protected, in which steps, into which form. Data, read from TOML; it decides nothing
//! by itself. [`crate::compact`] reads it, and the engine disposes: pinned entries, the user's newest request, open
//! calls and the operator's words stay under any policy.

mod check;
mod protect;
mod reduce;
mod step;
mod template;
mod trigger;

pub use check::{Fault, Severity};
pub use protect::{Cut, Protect, Split};
pub use reduce::{FLOOR as REDUCE_FLOOR, LEAST as REDUCE_LEAST, Reach, Reduce, TextKind};
pub use step::{Act, Measure, Order, chunk_tokens};
pub use template::{Fill, Form, Section, Summary, Template};
pub use trigger::{Boundary, Level, Triggers, Whole};

use crate::units::Tokens;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// What it is called.
    pub name: Box<str>,
    /// What it does, in a sentence.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub about: Box<str>,
    /// When it compacts.
    #[serde(default)]
    pub trigger: Triggers,
    /// What no step touches.
    #[serde(default)]
    pub protect: Protect,
    /// Where what is kept may begin.
    #[serde(default)]
    pub split: Split,
    /// Which output of tools enters shorter in the first place.
    #[serde(default)]
    pub reduce: Reduce,
    /// What it does, cheapest first. The deterministic last resort follows by itself.
    #[serde(default, rename = "step", skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Act>,
    /// What its summaries look like, and who writes them.
    #[serde(default)]
    pub summary: Summary,
    /// When it stops trying.
    #[serde(default)]
    pub limits: Limits,
}

/// When a policy stops trying, and what waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
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

impl Default for Limits {
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

/// A part of a whole, in thousandths. TOML and JSON have it as a decimal, `0.92`, or a whole number, `1`; it is rounded
/// to the nearest thousandth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Permille(pub u16);

impl Permille {
    /// All of it.
    pub const ONE: Self = Self(1_000);
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// This part of so many tokens, rounded down.
    #[must_use]
    pub const fn of(self, whole: Tokens) -> Tokens {
        let (high, low) = (whole.0 / 1_000, whole.0 % 1_000);
        Tokens(high.saturating_mul(self.0 as u64) + low * self.0 as u64 / 1_000)
    }

    /// Which part of `whole` it is, rounded down; all of nothing is everything.
    #[must_use]
    pub fn ratio(part: u64, whole: u64) -> Self {
        let scaled = u128::from(part) * 1_000 / u128::from(whole.max(1));
        if whole == 0 { Self::ONE } else { Self(u16::try_from(scaled).unwrap_or(u16::MAX)) }
    }
}

impl fmt::Display for Permille {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:03}", self.0 / 1_000, self.0 % 1_000);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        f.pad(text)
    }
}

impl Serialize for Permille {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(f64::from(self.0) / 1_000.0)
    }
}

impl<'de> Deserialize<'de> for Permille {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        if !(0.0..=65.0).contains(&number) {
            return Err(serde::de::Error::custom(format!("{number} is no part of a whole: 0.92 is 92 %")));
        }
        // In range, so the cast keeps what it rounds.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Ok(Self((number * 1_000.0).round() as u16))
    }
}

impl Policy {
    /// The policy that never compacts: what does not fit is left out by the plan alone.
    #[must_use]
    pub fn never() -> Self {
        Self {
            name: "off".into(),
            about: "never compacts; what does not fit is left out, oldest first".into(),
            trigger: Triggers::default(),
            protect: Protect::default(),
            split: Split::default(),
            reduce: Reduce::default(),
            steps: Vec::new(),
            summary: Summary::default(),
            limits: Limits::default(),
        }
    }

    /// Whether it never compacts by itself nor when asked.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether it divides a conversation by tasks.
    #[must_use]
    pub fn goes_by_tasks(&self) -> bool {
        self.steps.iter().any(|act| matches!(act, Act::Summarise { by: Measure::Task, .. }))
    }

    /// Whether it makes summaries.
    #[must_use]
    pub fn summarises(&self) -> bool {
        self.steps.iter().any(|act| matches!(act, Act::Summarise { .. } | Act::Condense { .. }))
    }
}
