//! Search for how much fits: the longest text that fits, or the earliest exchange.

use crate::lane::pair::Exchange;
use crate::planning::cost::EntryCost;
use crate::units::{Bytes, Cost};

/// Returns the largest length that fits. The search begins with the shortest length, which must fit, and doubles it,
/// so that the amount of text measured is proportional to what fits, not to the whole.
pub(super) fn longest_that(fits: impl Fn(Bytes) -> bool, shortest: Bytes, longest: Bytes) -> Bytes {
    let mut low = shortest.0;
    let mut high = low.saturating_mul(2).min(longest.0);
    while low < high && fits(Bytes(high)) {
        low = high;
        high = high.saturating_mul(2).min(longest.0);
    }
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if fits(Bytes(middle)) { low = middle } else { high = middle }
    }
    Bytes(low)
}

/// Returns how far back from `end` the exchanges fit into `room`: the index of the first exchange that fits, and the
/// total cost.
pub(super) fn reach(
    exchanges: &[&(&Exchange, EntryCost)],
    end: usize,
    room: Cost,
    form: impl Fn(&EntryCost) -> Cost,
) -> (usize, Cost) {
    let mut used = Cost::ZERO;
    let mut start = end;
    for (index, (_, cost)) in exchanges.iter().enumerate().take(end).rev() {
        let more = used + form(cost);
        if !more.fits(room) {
            break;
        }
        used = more;
        start = index;
    }
    (start, used)
}
