//! Source code.

use crate::detect::Sample;
use crate::lines::Lines;
use crate::unit::{Rank, Unit};

pub(crate) fn vote(_sample: &Sample<'_>) -> u32 {
    0
}

pub(crate) fn units(lines: &Lines<'_>) -> Vec<Unit> {
    (0..lines.len()).map(|line| Unit::new(lines.span(line), Rank::Context)).collect()
}
