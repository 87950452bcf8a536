//! Reduction of tool output in requests: which output becomes shorter, and by how much.

use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// Reduction of large tool output the first time a request could show it. Output that has already been shown stays
/// unchanged. Shortened output stays short, and has a handle by which the whole output can be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reduce {
    /// Extent of the reduction.
    pub level: ReductionLevel,
    /// Minimum size of a text that is reduced.
    pub least: Bytes,
    /// Kinds of text that are not reduced.
    pub except: Vec<KindName>,
}

/// Default minimum size of a text that is reduced: below this size, a mark costs a large part of what it saves.
pub const LEAST: Bytes = Bytes(2_000);
/// Minimum size of a text that any reducer processes.
pub const FLOOR: Bytes = Bytes(512);

impl Default for Reduce {
    fn default() -> Self {
        Self { level: ReductionLevel::Off, least: LEAST, except: Vec::new() }
    }
}

/// Extent of a reduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReductionLevel {
    /// Nothing is reduced.
    #[default]
    Off,
    /// Only reductions that can be undone exactly from the shorter text.
    Lossless,
    /// Repetition is replaced by marks; every distinct item stays visible.
    Fold,
}

impl ReductionLevel {
    /// Returns the word used in policies.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Lossless => "lossless",
            Self::Fold => "fold",
        }
    }
}

/// Name of a kind that reducers assign to texts, such as `log`. Only the reducers know which kinds exist.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KindName(pub Box<str>);

impl Reduce {
    /// Returns whether nothing is reduced.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.level == ReductionLevel::Off
    }
}
