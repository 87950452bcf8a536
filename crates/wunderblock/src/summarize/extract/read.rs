//! A range, read.

use super::glean::{Found, glean};
use crate::summarize::task::Material;

/// A range, and what was found there: read once, for who writes of it and for who checks that.
#[derive(Clone)]
pub struct ReadMaterial<'a> {
    pub(in crate::summarize) material: &'a Material<'a>,
    pub(in crate::summarize) found: Found<'a>,
}

impl<'a> ReadMaterial<'a> {
    /// Reads a range. Takes time linear in it; secrets are not in what it finds.
    #[must_use]
    pub fn of(material: &'a Material<'a>) -> Self {
        Self { material, found: glean(material) }
    }

    /// What was read.
    #[must_use]
    pub fn material(&self) -> &'a Material<'a> {
        self.material
    }
}
