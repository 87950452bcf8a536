//! Windows: a passage counts the terms of its neighbours too, the less the farther they are.
//!
//! Counts are added before they saturate, and lengths in the same way. Spreading scores to neighbours instead finds five
//! points less (`docs/design/0030-recall.md`). All values are in twentieths, so that the weights are whole numbers.

use crate::ranking::order::Entry;

/// Weight of a passage itself.
pub(crate) const OWN: u32 = 20;
/// Number of passages to each side that a window reaches.
pub(crate) const REACH: u32 = 6;
/// What a term adds to its neighbours, from the sixth before it to the sixth after: a passage counts the terms of the
/// nearest passages before it 0.4, 0.3, 0.25, 0.2, 0.15 and 0.1 times, and those after it 0.3, 0.25, 0.2, 0.15, 0.1 and
/// 0.1 times.
pub(crate) const WIDE: [u16; 13] = [2, 2, 3, 4, 5, 6, 20, 8, 6, 5, 4, 3, 2];
/// Number of passages to each side that count as covered.
pub(crate) const COVER: u32 = 2;

/// Sums of the lengths of passages: their own, and those of their windows in twentieths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lengths {
    pub(crate) own: u64,
    pub(crate) wide: u64,
}

impl Lengths {
    pub(crate) fn replace(&mut self, old: Self, new: Self) {
        self.own = self.own + new.own - old.own;
        self.wide = self.wide + new.wide - old.wide;
    }
}

/// Returns what a passage counts of the values around its place, given the weights by which a term is spread.
pub(crate) fn gather(at: usize, weights: &[u16], value: impl Fn(usize) -> u32) -> u32 {
    let reach = weights.len() / 2;
    // What a term adds to the passage after it, that passage takes from the one before.
    let taken = weights.iter().rev().zip(0..).map(|(weight, place): (&u16, usize)| {
        (at + place).checked_sub(reach).map_or(0, |place| u32::from(*weight) * value(place))
    });
    taken.sum()
}

/// Sets the length of the window of each passage of a session, and returns the sums.
pub(crate) fn lengths(entries: &mut [Entry]) -> Lengths {
    let mut sums = Lengths::default();
    let lens: Vec<u32> = entries.iter().map(|entry| u32::from(entry.len)).collect();
    let len = |place: usize| lens.get(place).copied().unwrap_or(0);
    for (at, entry) in entries.iter_mut().enumerate() {
        entry.wide = gather(at, &WIDE, len);
        sums.own += u64::from(entry.len);
        sums.wide += u64::from(entry.wide);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_counts_more_of_what_precedes_it() {
        let only = |far: usize| move |place: usize| u32::from(place == far);
        assert_eq!([6, 7, 8, 9].map(|at| gather(at, &WIDE, only(7))), [6, 20, 8, 6]);
        assert_eq!((gather(0, &WIDE, only(0)), gather(0, &WIDE, only(6))), (20, 2));
    }
}
