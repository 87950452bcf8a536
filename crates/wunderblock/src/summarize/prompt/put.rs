//! How a task is put.

use crate::redact::Redactor;
use wunderblock_core::units::Tokens;

/// How a task is put.
#[derive(Clone, Copy)]
pub struct Put<'a> {
    /// The most tokens that system text and prompt may take together.
    pub limit: Tokens,
    /// Takes out secrets.
    pub redactor: &'a Redactor,
    /// What was wrong with the text before; empty at first.
    pub correction: &'a [String],
}
