//! `[budget]`: the share of each section of a request. The keys are those of [`Shares`].

use super::{InvalidValue, Section};
use wunderblock_core::allocate::{RoomError, Shares};
use wunderblock_core::section::Section as RequestSection;

impl Section for Shares {
    const NAME: &'static str = "budget";
    const MAX_KEYS: usize = 9;

    fn invalid(&self) -> Option<InvalidValue> {
        let error = self.check().err()?;
        let (RoomError::Share { section, .. } | RoomError::Order { section, .. }) = &error;
        // `memory` is the only key that is not named like its section.
        let key = if *section == RequestSection::PinnedMemory.name() { "memory" } else { section };
        Some(InvalidValue { key, why: error.to_string() })
    }
}
