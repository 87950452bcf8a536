//! diff

use crate::detect::Sample;
use crate::lines::Lines;
use crate::unit::Unit;

pub(crate) fn vote(_sample: &Sample<'_>) -> u32 {
    0
}

pub(crate) fn units(lines: &Lines<'_>) -> Vec<Unit> {
    super::prose::units(lines)
}
