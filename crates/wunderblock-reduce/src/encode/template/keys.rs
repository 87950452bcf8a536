//! Constants of the template encoding.

/// Names of the templates. A row begins with one of these letters.
pub(super) const KEYS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// Maximum number of templates, except at the level `lossless`. Readers cannot remember more: for example, in a plan
/// with 21 templates, the row `r - 7` meant that a ledger would be destroyed. With a limit of three, `lsof` and
/// `ansible`, which print four sorts of lines, save 55 and 56 % instead of 68 and 66 %. The level `lossless` has no
/// such limit, because logs save 22 % with four templates and 45 % with all of them.
pub(super) const MAX_READ: usize = 4;
