//! A range and what was found in it.

use super::glean::{Found, glean};
use crate::task::Material;

/// A range and what was found in it. The range is read once, both for writing a summary and for checking it.
#[derive(Clone)]
pub struct ReadMaterial<'a> {
    pub(crate) material: &'a Material<'a>,
    pub(crate) found: Found<'a>,
}

impl<'a> ReadMaterial<'a> {
    /// Reads a range. Takes time linear in the range, and keeps no secrets in the findings.
    #[must_use]
    pub fn of(material: &'a Material<'a>) -> Self {
        Self { material, found: glean(material) }
    }

    /// Returns the range.
    #[must_use]
    pub fn material(&self) -> &'a Material<'a> {
        self.material
    }
}
