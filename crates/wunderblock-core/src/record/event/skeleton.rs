//! What remains of a fact in an erasure: coordinates, numbers and choices from closed lists, but no text.

use super::{ContentErased, Fact, SessionOpened, ViewTrimmed};
use crate::record::preamble::{Preamble, PreambleChanged};

impl Fact {
    /// Returns the fact without its texts; `None` if nothing else depends on the rest. Kinds that open a stream, steer a
    /// view or record an erasure keep their coordinates, because without them later events would mean something else.
    ///
    /// The names of sessions and lanes are coordinates.
    #[must_use]
    pub fn skeleton(&self) -> Option<Self> {
        match self {
            Self::SessionOpened(opened) => Some(Self::SessionOpened(SessionOpened {
                parent: opened.parent.clone(),
                ..SessionOpened::default()
            })),
            Self::ContentErased(erased) => {
                Some(Self::ContentErased(ContentErased { reason: None, ..erased.clone() }))
            }
            Self::ViewTrimmed(step) => {
                Some(Self::ViewTrimmed(ViewTrimmed { target: None, compaction: None, ..step.clone() }))
            }
            // A lane whose preamble is erased has none, whichever it had before.
            Self::PreambleChanged(changed) => Some(Self::PreambleChanged(Box::new(PreambleChanged {
                lane: changed.lane.clone(),
                preamble: Preamble::default(),
                changes: Vec::new(),
                takes_in: changed.takes_in.clone(),
            }))),
            Self::SessionForked(_) | Self::ContentHidden(_) => Some(self.clone()),
            _ => None,
        }
    }
}
