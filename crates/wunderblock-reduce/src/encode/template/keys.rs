//! What the code of templates is written with.

/// The names of the templates: a row begins with one of these letters.
pub(super) const KEYS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// Maximum number of templates that a reader keeps in mind; a plan had 21, and `r - 7` was a ledger to be destroyed. Only
/// where the shortest text was requested there are more: logs save 22 % with four, and 45 % with all.
pub(super) const MAX_READ: usize = 4;
