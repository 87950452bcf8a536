//! The terms of a segment under construction, each once, with a number.
//!
//! Looking a term up is most of what building an index does, so the table is made for it: the bytes of all terms stand
//! one after the other, and a slot is a number and half of a hash, eight bytes. The hash is seeded for each table,
//! because whoever writes the texts could otherwise choose words that collide. What is built does not depend on it: terms
//! leave in their own order.

use crate::hash::hash;
use std::hash::{BuildHasher, RandomState};

/// Slots of an empty table. A power of two, as every later size.
const SLOTS: usize = 1 << 12;

/// Numbered terms.
pub(super) struct Terms {
    /// Number and one, or zero, in the low half; the high half of the hash above it.
    slots: Vec<u64>,
    bytes: Vec<u8>,
    /// By number: where its bytes end.
    ends: Vec<usize>,
    seed: u64,
}

impl Default for Terms {
    fn default() -> Self {
        let seed = RandomState::new().hash_one(0_u64);
        Self { slots: vec![0; SLOTS], bytes: Vec::new(), ends: Vec::new(), seed }
    }
}

impl Terms {
    /// The number of a term; the next one if it is new.
    pub(super) fn number(&mut self, term: &[u8]) -> u32 {
        let hash = hash(self.seed, term);
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while let Some(slot) = self.slots.get(at).copied().filter(|slot| *slot != 0) {
            let number = (slot as u32) - 1;
            if slot >> 32 == hash >> 32 && self.term(number) == term {
                return number;
            }
            at = (at + 1) & mask;
        }
        let number = self.ends.len() as u32;
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = (hash >> 32) << 32 | u64::from(number + 1);
        }
        self.bytes.extend_from_slice(term);
        self.ends.push(self.bytes.len());
        if self.ends.len() * 2 > self.slots.len() {
            self.grow();
        }
        number
    }

    /// The term of a number.
    pub(super) fn term(&self, number: u32) -> &[u8] {
        let at = number as usize;
        let from = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default();
        self.ends.get(at).and_then(|to| self.bytes.get(from..*to)).unwrap_or_default()
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        let mut slots = vec![0_u64; mask + 1];
        for number in 0..self.ends.len() as u32 {
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

    /// All numbers, in the order of their terms.
    pub(super) fn sorted(&self) -> Vec<u32> {
        // Most terms differ within eight bytes, and numbers are compared faster than texts far apart in memory.
        let mut sorted: Vec<(u64, u32)> =
            (0..self.ends.len() as u32).map(|number| (front(self.term(number)), number)).collect();
        sorted.sort_unstable_by(|(a, one), (b, other)| {
            a.cmp(b).then_with(|| self.term(*one).cmp(self.term(*other)))
        });
        sorted.into_iter().map(|(_, number)| number).collect()
    }
}

/// The first eight bytes, such that their order as numbers is their order as texts wherever it decides.
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
            words in proptest::collection::vec("[ab\\x00]{1,12}|[a-z]{1,64}", 0..6000),
        ) {
            let (mut terms, mut known) = (Terms::default(), BTreeMap::new());
            for word in &words {
                let next = known.len() as u32;
                let number = *known.entry(word.as_bytes()).or_insert(next);
                assert_eq!(terms.number(word.as_bytes()), number);
            }
            assert_eq!(terms.ends.len(), known.len());
            let sorted: Vec<&[u8]> = terms.sorted().into_iter().map(|number| terms.term(number)).collect();
            assert_eq!(sorted, known.into_keys().collect::<Vec<_>>());
        }
    }
}
