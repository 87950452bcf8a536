//! Random numbers, and the values that attacks derive from them.

use std::time::Duration;
pub(super) use wunderblock_testkit::generate::Random;

/// Returns a random time before a kill, for a program that takes `whole`. Half of the returned times are in the first
/// 30 ms, when ledgers are created and opened.
pub(super) fn delay(random: &mut Random, whole: Duration) -> Duration {
    let limit = if random.chance(50) { Duration::from_millis(30).min(whole) } else { whole };
    limit.mul_f64(random.below(1_000_000) as f64 / 1e6)
}

/// Returns 16 lower-case letters that occur nowhere else.
pub(super) fn marker(random: &mut Random) -> String {
    (0..16).map(|_| char::from(b'a' + u8::try_from(random.below(26)).unwrap_or_default())).collect()
}
