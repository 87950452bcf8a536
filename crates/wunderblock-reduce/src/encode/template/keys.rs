//! What the code of templates is written with.

/// The names of the templates: a row begins with one of these letters.
pub(super) const KEYS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// A value that equals the one above.
pub(super) const SAME: &str = "\"";
