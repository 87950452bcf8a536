//! Sentences, and texts of no other kind.

use crate::lines::Lines;
use crate::unit::{Rank, Unit};

pub(crate) fn units(lines: &Lines<'_>) -> Vec<Unit> {
    (0..lines.len()).map(|line| Unit::new(lines.span(line), Rank::Context)).collect()
}
