//! Why no request can be built.

use crate::section::Section;
use crate::units::Cost;
use std::fmt;

/// A part of the request no event holds, or no trimming may touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// Where it stands.
    pub section: Section,
    /// What it is, in a few words.
    pub what: String,
    /// What it costs.
    pub cost: Cost,
}

/// Why no request can be built: even the least does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct PlanRefusal {
    /// What the sections may use.
    pub limit: Cost,
    /// What the least request would take: more than `limit`, in tokens or in bytes.
    pub needed: Cost,
    /// What it is made of.
    pub parts: Vec<Fixed>,
}

impl fmt::Display for PlanRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (needed, limit) = (self.needed, self.limit);
        f.write_str("the parts that cannot be left out take ")?;
        if needed.tokens > limit.tokens {
            write!(f, "{} tokens; {} fit", needed.tokens, limit.tokens)
        } else {
            write!(f, "{} bytes; {} fit", needed.bytes, limit.bytes)
        }
    }
}
