//! Operations on a ledger, drawn at random. Steps are independent: without one of them, the others can still be
//! taken, so a failing sequence can be shortened.

use crate::prove::random::Random;
use std::fmt;

/// Number of files. The last file only grows and has records without ids, which are identified by their position.
pub(super) const FILES: usize = 3;
/// Number of tenants.
pub(super) const TENANTS: usize = 2;
/// Number of live sessions per tenant.
pub(super) const LIVE: usize = 2;

/// A step. The texts and choices of the step follow from `seed`.
#[derive(Clone, Debug)]
pub(super) struct InterleavingStep {
    pub(super) act: Operation,
    pub(super) seed: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Operation {
    /// A tenant imports a file, for the first time or again.
    Import { tenant: usize, file: usize },
    /// Records are added to a file.
    Grow { file: usize },
    /// A file is replaced by a file of another session; both files start with the same bytes.
    Rotate { file: usize },
    /// A file loses its end.
    Truncate { file: usize },
    /// A file loses its end and gets other records instead.
    Rewrite { file: usize },
    /// Events are appended to a live session.
    Append { tenant: usize },
    /// Positions of a session are erased.
    Erase { tenant: usize },
    /// A whole session is erased.
    EraseAll { tenant: usize },
    /// The ledger is backed up.
    Backup,
    /// A backup replaces the ledger.
    Restore,
    /// The ledger is closed and reopened.
    Reopen,
}

impl fmt::Display for InterleavingStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} [{:x}]", self.act, self.seed)
    }
}

/// Returns the steps of an interleaving.
pub(super) fn steps(seed: u64) -> Vec<InterleavingStep> {
    let mut random = Random::new(seed);
    let count = 5 + random.below(16);
    (0..count).map(|_| step(&mut random)).collect()
}

fn step(random: &mut Random) -> InterleavingStep {
    let (tenant, file) = (random.below(TENANTS), random.below(FILES));
    let act = match random.below(40) {
        0..=11 => Operation::Import { tenant, file },
        12..=15 => Operation::Grow { file },
        16..=17 => Operation::Rotate { file },
        18 => Operation::Truncate { file },
        19..=20 => Operation::Rewrite { file },
        21..=25 => Operation::Append { tenant },
        26..=30 => Operation::Erase { tenant },
        31..=32 => Operation::EraseAll { tenant },
        33..=35 => Operation::Backup,
        36..=38 => Operation::Restore,
        _ => Operation::Reopen,
    };
    InterleavingStep { act, seed: random.next_u64() }
}
