//! Gaps that are not worth their mark.

use crate::span::{LineSpan, Rank};

/// A gap of fewer units than this between units that stay breaks the text up for little.
const FEW: usize = 3;
/// Unless it saves so many bytes.
const WORTH: usize = 160;

/// Lets stay what would leave a gap of a unit or two.
pub(crate) fn close_short(units: &mut [LineSpan]) {
    let mut start = 0;
    for at in 0..=units.len() {
        if units.get(at).is_some_and(|unit| unit.rank == Rank::Filler) {
            continue;
        }
        let gap = units.get_mut(start..at).unwrap_or_default();
        let bytes: usize = gap.iter().map(|unit| unit.span().len()).sum();
        if gap.len() < FEW && bytes < WORTH {
            gap.iter_mut().for_each(|unit| unit.rank = Rank::Context);
        }
        start = at + 1;
    }
}
