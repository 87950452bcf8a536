//! A hash table of numbers. The table takes four bytes per number, because there may be as many numbers as lines.

use crate::part::PartOfList;

/// A hash table in which each number is stored in the first free slot at or after the slot of its hash. At most three
/// in four slots are taken.
pub(in crate::encode) struct SlotTable {
    /// For each slot, the number in it plus one, or 0 if the slot is free.
    slots: Vec<u32>,
    taken: usize,
}

impl SlotTable {
    /// Creates a table with room for `numbers` entries. While a table grows, it is in memory twice.
    pub(in crate::encode) fn with_room(numbers: usize) -> Self {
        Self { slots: vec![0; (numbers * 4 / 3 + 1).next_power_of_two()], taken: 0 }
    }

    /// Returns the number with this hash for which `is` returns true.
    pub(in crate::encode) fn find(&self, hash: u64, is: impl Fn(usize) -> bool) -> Option<usize> {
        self.from(hash).map_while(|(_, number)| number).find(|number| is(*number))
    }

    /// Adds a number that is not in the table. `hash` must return the hash of any number in the table.
    pub(in crate::encode) fn put(&mut self, number: usize, hash: impl Fn(usize) -> u64) {
        if (self.taken + 1) * 4 > self.slots.len() * 3 {
            let doubled = vec![0; self.slots.len() * 2];
            for number in std::mem::replace(&mut self.slots, doubled).into_iter().filter(|number| *number > 0)
            {
                self.place(number, hash(number as usize - 1));
            }
        }
        if let Ok(put) = u32::try_from(number + 1) {
            self.place(put, hash(number));
            self.taken += 1;
        }
    }

    fn place(&mut self, number: u32, hash: u64) {
        let free = self.from(hash).find(|(_, number)| number.is_none());
        if let Some(slot) = free.and_then(|(at, _)| self.slots.item_mut(at)) {
            *slot = number;
        }
    }

    /// Iterates over the slots, starting at the slot of a hash, with the number in each slot.
    fn from(&self, hash: u64) -> impl Iterator<Item = (usize, Option<usize>)> {
        let last = self.slots.len() - 1;
        let first = (hash.wrapping_mul(MIX) >> 20) as usize;
        (first..)
            .map(move |at| at & last)
            .map(|at| (at, self.slots.item(at).and_then(|number| (*number as usize).checked_sub(1))))
    }
}

/// An odd number whose bits are spread evenly (from the golden ratio).
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_however_their_hashes_collide() {
        for spread in [0, 1, 1 << 20, 1 << 63] {
            let mut slots = SlotTable::with_room(0);
            for number in 0..500 {
                assert_eq!(slots.find((number as u64).wrapping_mul(spread), |other| other == number), None);
                slots.put(number, |number| (number as u64).wrapping_mul(spread));
            }
            for number in 0..500 {
                assert_eq!(
                    slots.find((number as u64).wrapping_mul(spread), |other| other == number),
                    Some(number)
                );
            }
        }
    }
}
