//! What every measurement of the benchmark shares.

use std::error::Error;
use std::io::Write as _;

/// What inputs follow from.
pub(super) const SEED: u64 = 0x5742_6c6b;

/// What goes wrong ends the benchmark.
pub(super) type Outcome<T> = Result<T, Box<dyn Error>>;

pub(super) fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
