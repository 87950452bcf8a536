//! Distinct terms of a segment under construction, each with a number.
//!
//! Looking up terms takes most of the time needed to build an index, so the table is optimized for look-ups. The
//! bytes of all terms are stored in one buffer. A slot takes eight bytes: a number and half of a hash. The hash is
//! seeded per table, because the author of a text could otherwise choose words that collide. The result does not
//! depend on the seed, since terms are returned in sorted order.

use crate::storing::hash::hash;
use crate::storing::postings::Posting;
use std::hash::{BuildHasher, RandomState};

/// Number of slots in an empty table. The number of slots is always a power of two.
const SLOTS: usize = 1 << 12;

/// A term: the fields that a look-up compares first, and its latest count, stored side by side.
struct TermEntry {
    /// First eight bytes as a number. If the numbers of two terms differ, their order is the order of the terms.
    front: u64,
    start: u32,
    len: u32,
    /// Document in which the term was last seen, and its current count there.
    latest: Posting,
}

/// Table of numbered terms.
pub(crate) struct Terms {
    /// Slots: the low half holds the term's number plus one, or zero if the slot is free; the high half holds the
    /// high half of the hash.
    slots: Vec<u64>,
    bytes: Vec<u8>,
    /// Terms by number.
    entries: Vec<TermEntry>,
    seed: u64,
}

impl Default for Terms {
    fn default() -> Self {
        let seed = RandomState::new().hash_one(0_u64);
        Self { slots: vec![0; SLOTS], bytes: Vec::new(), entries: Vec::new(), seed }
    }
}

impl Terms {
    /// Returns the number of terms.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the number of a term; a new term gets the next number.
    pub(crate) fn number(&mut self, term: &[u8]) -> u32 {
        let (hash, front) = (hash(self.seed, term), front(term));
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while let Some(slot) = self.slots.get(at).copied().filter(|slot| *slot != 0) {
            let number = (slot as u32) - 1;
            if slot >> 32 == hash >> 32 && self.is(number, term, front) {
                return number;
            }
            at = (at + 1) & mask;
        }
        let number = self.entries.len() as u32;
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = (hash >> 32) << 32 | u64::from(number + 1);
        }
        // The texts of a batch are far smaller than 4 GB. Beyond 4 GB, terms would be empty and sort first.
        let start = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        self.bytes.extend_from_slice(term);
        let latest = Posting { doc: 0, count: 0 };
        self.entries.push(TermEntry { front, start, len: term.len() as u32, latest });
        // At most half of the slots are used, which keeps the searches for a free slot short.
        if self.entries.len() * 2 > self.slots.len() {
            self.grow();
        }
        number
    }

    fn is(&self, number: u32, term: &[u8], front: u64) -> bool {
        let Some(entry) = self.entries.get(number as usize) else { return false };
        entry.front == front
            && entry.len as usize == term.len()
            && (term.len() <= 8 || self.term(number) == term)
    }

    /// Returns the term with the given number.
    pub(crate) fn term(&self, number: u32) -> &[u8] {
        let range = self.entries.get(number as usize).map(|entry| {
            let start = entry.start as usize;
            start..start + entry.len as usize
        });
        range.and_then(|range| self.bytes.get(range)).unwrap_or_default()
    }

    /// Returns the latest count of a term.
    pub(crate) fn latest(&mut self, number: u32) -> Option<&mut Posting> {
        self.entries.get_mut(number as usize).map(|entry| &mut entry.latest)
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        let mut slots = vec![0_u64; mask + 1];
        for number in 0..self.entries.len() as u32 {
            let hash = hash(self.seed, self.term(number));
            let mut at = hash as usize & mask;
            while slots.get(at).is_some_and(|slot| *slot != 0) {
                at = (at + 1) & mask;
            }
            if let Some(slot) = slots.get_mut(at) {
                *slot = (hash >> 32) << 32 | u64::from(number + 1);
            }
        }
        self.slots = slots;
    }

    /// Returns all numbers in the order of their terms.
    pub(crate) fn sorted(&self) -> Vec<u32> {
        // Most terms differ within eight bytes, and comparing numbers is faster than comparing texts scattered in
        // memory.
        let fronts = self.entries.iter().map(|entry| entry.front).zip(0..);
        let mut sorted: Vec<(u64, u32)> = fronts.collect();
        sorted.sort_unstable_by(|(a, one), (b, other)| {
            a.cmp(b).then_with(|| self.term(*one).cmp(self.term(*other)))
        });
        sorted.into_iter().map(|(_, number)| number).collect()
    }
}

fn front(term: &[u8]) -> u64 {
    let mut first = [0; 8];
    for (to, from) in first.iter_mut().zip(term) {
        *to = *from;
    }
    u64::from_be_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(16))]
        #[test]
        fn every_term_keeps_its_number_and_they_leave_in_order(
            numbers in proptest::collection::vec((proptest::prelude::any::<u16>(), 1..12_usize), 0..6000),
        ) {
            let words: Vec<String> = numbers.iter().map(|(n, times)| format!("{n:x}\0").repeat(*times)).collect();
            let (mut terms, mut known) = (Terms::default(), BTreeMap::new());
            for word in &words {
                let next = known.len() as u32;
                let number = *known.entry(word.as_bytes()).or_insert(next);
                assert_eq!(terms.number(word.as_bytes()), number);
            }
            assert_eq!(terms.len(), known.len());
            let sorted: Vec<&[u8]> = terms.sorted().into_iter().map(|number| terms.term(number)).collect();
            assert_eq!(sorted, known.into_keys().collect::<Vec<_>>());
        }
    }
}
