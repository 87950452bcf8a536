//! Windows: a passage counts the terms of its neighbours too, the less the farther they are.
//!
//! Counts are added before they saturate, and lengths in the same way. Spreading scores to neighbours instead finds five
//! points less (`docs/design/0030-recall.md`). All values are in twentieths, so that the weights are whole numbers.

use crate::ranking::order::Entry;

/// Weight of a passage itself.
pub(crate) const OWN: u32 = 20;
/// Weights of the passages before, from the nearest on: 0.4, 0.3, 0.25, 0.2, 0.15 and 0.1.
pub(crate) const BEFORE: [u32; 6] = [8, 6, 5, 4, 3, 2];
/// Weights of the passages after: 0.3, 0.25, 0.2, 0.15, 0.1 and 0.1.
pub(crate) const AFTER: [u32; 6] = [6, 5, 4, 3, 2, 2];
/// Weights of the nearest passage before and after in the narrow window: 0.5 and 0.3.
pub(crate) const NARROW: [u32; 2] = [10, 6];
/// Number of passages to each side that a window reaches.
pub(crate) const REACH: u32 = 6;
/// Number of passages to each side that count as covered.
pub(crate) const COVER: u32 = 2;

/// Sums of the lengths of passages: their own, and those of their windows in twentieths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lengths {
    pub(crate) own: u64,
    pub(crate) wide: u64,
    pub(crate) narrow: u64,
}

impl Lengths {
    pub(crate) fn replace(&mut self, old: Self, new: Self) {
        self.own = self.own + new.own - old.own;
        self.wide = self.wide + new.wide - old.wide;
        self.narrow = self.narrow + new.narrow - old.narrow;
    }
}

/// Sets the length of the window of each passage of a session, and returns the sums.
pub(crate) fn lengths(entries: &mut [Entry]) -> Lengths {
    let mut sums = Lengths::default();
    for at in 0..entries.len() {
        let len = |place: Option<usize>| {
            place.and_then(|place| entries.get(place)).map_or(0, |entry| u32::from(entry.len))
        };
        let before = BEFORE.iter().zip(1..).map(|(weight, back)| weight * len(at.checked_sub(back)));
        let after = AFTER.iter().zip(1..).map(|(weight, on)| weight * len(at.checked_add(on)));
        let own = len(Some(at));
        let wide = OWN * own + before.chain(after).sum::<u32>();
        sums.own += u64::from(own);
        sums.wide += u64::from(wide);
        sums.narrow +=
            u64::from(OWN * own + NARROW[0] * len(at.checked_sub(1)) + NARROW[1] * len(at.checked_add(1)));
        if let Some(entry) = entries.get_mut(at) {
            entry.wide = wide;
        }
    }
    sums
}
