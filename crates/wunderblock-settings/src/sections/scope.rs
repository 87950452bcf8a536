//! `[scope]`: whose data a program records and sees.

use super::Section;
use serde::Deserialize;

/// Keys of `[scope]`.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScopeKeys {
    /// User of the sessions that are recorded, and whose sessions agents see.
    pub user: Option<String>,
}

impl Section for ScopeKeys {
    const NAME: &'static str = "scope";
    const MAX_KEYS: usize = 2;
}
