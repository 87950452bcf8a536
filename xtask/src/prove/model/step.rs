//! What may happen to a ledger, drawn from a number. A step stands for itself: without one of them the others still can
//! be done, so that a failing sequence can be made shorter.

use crate::prove::draw::Draw;
use std::fmt;

/// Files there are. The last has records without ids, and only grows: nothing but its place tells such a record.
pub(super) const FILES: usize = 3;
/// Tenants there are.
pub(super) const TENANTS: usize = 2;
/// Live sessions of each tenant.
pub(super) const LIVE: u64 = 2;

/// A step; `draw` is the number from which its texts and choices follow.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) act: Act,
    pub(super) draw: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    /// A tenant imports a file, for the first time or again.
    Import { tenant: usize, file: usize },
    /// A file grows by records.
    Grow { file: usize },
    /// A file is replaced by one of another session, which begins with the same bytes.
    Rotate { file: usize },
    /// A file loses its end.
    Truncate { file: usize },
    /// A file loses its end, and goes on otherwise.
    Rewrite { file: usize },
    /// Events are appended to a live session.
    Append { tenant: usize },
    /// Positions of a session are erased.
    Erase { tenant: usize },
    /// A whole session is erased.
    EraseAll { tenant: usize },
    /// The ledger is copied.
    Backup,
    /// A copy takes the ledger's place.
    Restore,
    /// The ledger is closed and opened.
    Reopen,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} [{:x}]", self.act, self.draw)
    }
}

/// The steps of an interleaving.
pub(super) fn steps(seed: u64) -> Vec<Step> {
    let mut draw = Draw::new(seed);
    let count = 5 + draw.below(16);
    (0..count).map(|_| step(&mut draw)).collect()
}

fn step(draw: &mut Draw) -> Step {
    let (tenant, file) = (draw.place(TENANTS), draw.place(FILES));
    let act = match draw.below(40) {
        0..=11 => Act::Import { tenant, file },
        12..=15 => Act::Grow { file },
        16..=17 => Act::Rotate { file },
        18 => Act::Truncate { file },
        19..=20 => Act::Rewrite { file },
        21..=25 => Act::Append { tenant },
        26..=30 => Act::Erase { tenant },
        31..=32 => Act::EraseAll { tenant },
        33..=35 => Act::Backup,
        36..=38 => Act::Restore,
        _ => Act::Reopen,
    };
    Step { act, draw: draw.next() }
}
