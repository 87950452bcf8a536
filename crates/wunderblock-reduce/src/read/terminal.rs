//! Terminal output as it stands on the screen at the end.

/// The text without terminal controls, and how many bytes went with them.
pub(crate) fn plain(text: &str) -> (String, u64) {
    (text.to_owned(), 0)
}
