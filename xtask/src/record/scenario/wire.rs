//! x
use super::Step;
pub(super) const STEPS: &[Step] = &[];
