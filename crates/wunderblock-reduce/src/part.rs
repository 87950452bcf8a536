//! Parts of texts and lists that are there.
//!
//! Ranges and indexes are in bounds by construction. One that is not stops a debug build (tests, fuzzing) at its place;
//! a release gives nothing for it, so that a reduction is total, and the comparison of bytes refuses what came of it.
//! What may be outside, as the item after one, is asked for with `get`.

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
    fn part_mut(&mut self, range: impl SliceIndex<[T], Output = [T]>) -> &mut [T];
    /// The item at an index that is in bounds.
    fn item(&self, at: usize) -> Option<&T>;
    fn item_mut(&mut self, at: usize) -> Option<&mut T>;
}

impl PartOfText for str {
    #[track_caller]
    fn part(&self, range: impl SliceIndex<str, Output = str>) -> &str {
        in_bounds(self.get(range), self.len()).unwrap_or_default()
    }
}

impl<T> PartOfList<T> for [T] {
    #[track_caller]
    fn part(&self, range: impl SliceIndex<[T], Output = [T]>) -> &[T] {
        in_bounds(self.get(range), self.len()).unwrap_or_default()
    }

    #[track_caller]
    fn part_mut(&mut self, range: impl SliceIndex<[T], Output = [T]>) -> &mut [T] {
        let len = self.len();
        in_bounds(self.get_mut(range), len).unwrap_or_default()
    }

    #[track_caller]
    fn item(&self, at: usize) -> Option<&T> {
        in_bounds(self.get(at), self.len())
    }

    #[track_caller]
    fn item_mut(&mut self, at: usize) -> Option<&mut T> {
        let len = self.len();
        in_bounds(self.get_mut(at), len)
    }
}

#[track_caller]
fn in_bounds<P>(part: Option<P>, len: usize) -> Option<P> {
    debug_assert!(part.is_some(), "outside the {len} bytes or items that there are");
    part
}

#[cfg(test)]
mod tests {
    use super::{PartOfList, PartOfText};

    #[test]
    #[cfg(debug_assertions)]
    fn what_is_outside_stops_a_debug_build() {
        let stops = |read: fn() -> bool| std::panic::catch_unwind(read).is_err();
        assert!(!stops(|| [1, 2].item(1) == Some(&2)));
        assert!(stops(|| [1, 2].item(2).is_none()));
        assert!(stops(|| [1, 2].item_mut(2).is_none()));
        assert!(stops(|| [1, 2].part(1..3).is_empty()));
        assert!(stops(|| [1, 2].part_mut(1..3).is_empty()));
        assert!(stops(|| "é".part(1..).is_empty()));
    }
}
