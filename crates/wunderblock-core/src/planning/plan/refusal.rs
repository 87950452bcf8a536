//! Refusal of a request that cannot be built.

use crate::source::section::Section;
use crate::units::Cost;
use std::fmt;

/// A part of the request that no event holds, or that no trim may touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// Section under which the part is counted.
    pub section: Section,
    /// Short description of the part.
    pub what: String,
    /// Cost of the part.
    pub cost: Cost,
}

/// Reason why no request can be built: even the smallest one does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct PlanRefusal {
    /// Maximum that the sections may use.
    pub limit: Cost,
    /// Cost of the smallest request: more than `limit`, in tokens or in bytes.
    pub needed: Cost,
    /// Parts of the smallest request.
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
