//! Parts of texts and lists that are there.
//!
//! Ranges are in bounds by construction. One that is not stops a debug build (tests, fuzzing) at its place; a release
//! gives nothing for it, so that a reduction is total, and the comparison of bytes refuses what came of it.

use std::slice::SliceIndex;

/// A part of a text.
pub(crate) trait PartOfText {
    /// The part in a range that is in bounds and ends on characters.
    fn part(&self, range: impl SliceIndex<str, Output = str>) -> &str;
}

/// A part of a list.
pub(crate) trait PartOfList<T> {
    /// The items in a range that is in bounds.
    fn part(&self, range: impl SliceIndex<[T], Output = [T]>) -> &[T];
}

impl PartOfText for str {
    #[track_caller]
    fn part(&self, range: impl SliceIndex<str, Output = str>) -> &str {
        let part = self.get(range);
        debug_assert!(part.is_some(), "a range outside a text of {} bytes", self.len());
        part.unwrap_or_default()
    }
}

impl<T> PartOfList<T> for [T] {
    #[track_caller]
    fn part(&self, range: impl SliceIndex<[T], Output = [T]>) -> &[T] {
        let part = self.get(range);
        debug_assert!(part.is_some(), "a range outside a list of {} items", self.len());
        part.unwrap_or_default()
    }
}
