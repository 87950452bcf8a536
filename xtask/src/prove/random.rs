//! Numbers without a pattern, and what attacks make of them.

use std::time::Duration;
pub(super) use wunderblock_testkit::generate::Random;

/// A time after which a program is killed that takes so long: every other time within its first 30 ms, where ledgers are
/// made and opened.
pub(super) fn delay(random: &mut Random, whole: Duration) -> Duration {
    let limit = if random.chance(50) { Duration::from_millis(30).min(whole) } else { whole };
    limit.mul_f64(random.below(1_000_000) as f64 / 1e6)
}

/// Lower-case letters that stand nowhere else.
pub(super) fn marker(random: &mut Random) -> String {
    (0..16).map(|_| char::from(b'a' + u8::try_from(random.below(26)).unwrap_or_default())).collect()
}
