//! Settings of a prompt.

use wunderblock_core::units::Tokens;
use wunderblock_redact::Redactor;

/// Settings of a prompt.
#[derive(Clone, Copy)]
pub struct Put<'a> {
    /// Maximum number of tokens in the system text and the prompt together.
    pub limit: Tokens,
    /// Removes secrets from everything that the prompt quotes.
    pub redactor: &'a Redactor,
    /// Faults in the previous text; the list is empty on the first try.
    pub correction: &'a [String],
}
