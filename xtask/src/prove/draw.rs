//! Numbers without a pattern (Sebastiano Vigna's splitmix64).

use std::time::Duration;

/// A stream of numbers that follows from one number.
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    /// A place in a list of this length.
    pub(super) fn place(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap_or_default()
    }

    /// A time after which a program is killed that takes so long: every other time within its first 30 ms, where
    /// ledgers are made and opened.
    pub(super) fn delay(&mut self, whole: Duration) -> Duration {
        let limit = if self.below(2) == 0 { Duration::from_millis(30).min(whole) } else { whole };
        Duration::from_micros(self.below(u64::try_from(limit.as_micros()).unwrap_or(u64::MAX)))
    }

    /// Lower-case letters that stand nowhere else.
    pub(super) fn marker(&mut self) -> String {
        (0..16).map(|_| char::from(b'a' + u8::try_from(self.below(26)).unwrap_or_default())).collect()
    }
}
