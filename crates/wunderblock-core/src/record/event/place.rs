//! Facts that cannot be true at their position.
//!
//! Events name positions: ranges that were summarised or erased, frontiers, targets. The engine only writes ranges of
//! earlier positions. A record that contradicts its position was not written by the engine, and no lane follows it.

use super::Fact;
use crate::record::compaction::SessionCompacted;
use crate::record::decision::Trim;
use crate::units::Seq;

impl Fact {
    /// Returns the target of a pin or a hide. The target changes if a session is recorded again and the entry has a
    /// different position in the new recording.
    pub fn target_mut(&mut self) -> Option<&mut Seq> {
        match self {
            Self::ContentPinned(pin) => Some(&mut pin.target),
            Self::ContentHidden(hide) => Some(&mut hide.target),
            _ => None,
        }
    }

    /// Returns the reason why the fact cannot be true at a position; `None` if it can be true.
    #[must_use]
    pub fn contradiction(&self, at: Seq) -> Option<&'static str> {
        match self {
            Self::SessionCompacted(made) => compacted(made, at),
            Self::ContentErased(erased) => before(erased.from_seq, erased.to_seq, at),
            Self::ViewTrimmed(step) => trimmed(&step.trim, at),
            Self::ContentReduced(reduced) => later(reduced.target, at),
            Self::ContextBuilt(built) => {
                later(built.plan.through, at).or_else(|| trimmed(&built.plan.trim, at))
            }
            Self::SessionForked(forked) => later(forked.at_seq, at),
            _ => None,
        }
    }
}

fn compacted(made: &SessionCompacted, at: Seq) -> Option<&'static str> {
    let sources = || made.sources.iter().find_map(|source| later(*source, at));
    before(made.from_seq, made.to_seq, at).or_else(sources)
}

/// Returns the contradiction in a step's trim. The frontier may be directly after the last position that existed,
/// which is at most the position of the step itself.
fn trimmed(trim: &Trim, at: Seq) -> Option<&'static str> {
    if trim.drop_before > at {
        return Some(LATER);
    }
    trim.nodes.iter().find_map(|placed| before(placed.from, placed.to, at))
}

fn before(from: Seq, to: Seq, at: Seq) -> Option<&'static str> {
    if from > to {
        return Some("its range ends before it begins");
    }
    later(to, at)
}

fn later(seq: Seq, at: Seq) -> Option<&'static str> {
    (seq >= at).then_some(LATER)
}

const LATER: &str = "it names positions that come after it";
