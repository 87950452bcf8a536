//! Access to parts of texts and lists that are known to exist.
//!
//! Ranges and indexes are in bounds by construction. In a debug build (tests, fuzzing), a range or index that is out
//! of bounds stops the program at that point. A release build returns nothing for a range that is out of bounds, so
//! that a reduction always ends and the comparison of bytes rejects a wrong result. Use `get` for ranges and indexes
//! that may be out of bounds, such as the index of the item after the last.

use std::slice::SliceIndex;

/// Access to a part of a text.
pub(crate) trait PartOfText {
    /// Returns the part in a range that is in bounds and starts and ends between characters.
    fn part(&self, range: impl SliceIndex<str, Output = str>) -> &str;
}

/// Access to a part of a list.
pub(crate) trait PartOfList<T> {
    /// Returns the items in a range that is in bounds.
    fn part(&self, range: impl SliceIndex<[T], Output = [T]>) -> &[T];
    fn part_mut(&mut self, range: impl SliceIndex<[T], Output = [T]>) -> &mut [T];
    /// Returns the item at an index that is in bounds.
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
    debug_assert!(part.is_some(), "range or index out of bounds: there are {len} bytes or items");
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
