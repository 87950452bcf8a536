//! What the sections of a settings file have in common.

use std::path::PathBuf;

/// A value in a settings file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidValue {
    /// Key of the value.
    pub key: &'static str,
    /// Reason, and what to do.
    pub why: String,
}

/// A section of the settings file.
pub trait Section {
    /// Name of its table. Empty for the keys before the first table.
    const NAME: &'static str;

    /// Maximum number of its keys. Raise it only with a written reason.
    const MAX_KEYS: usize;

    /// Returns the first value that cannot be used, although it has the type of its key.
    fn invalid(&self) -> Option<InvalidValue> {
        None
    }

    /// Returns all paths in the section.
    fn paths(&mut self) -> Vec<&mut PathBuf> {
        Vec::new()
    }
}
