//! Entities: paths, identifiers, numbers and ids of at least four bytes, as numbers.

use std::collections::HashMap;
use wunderblock_core::literal::literals;

/// An entity of the session.
pub(super) type Name = u32;

/// The entities of a text, each once.
pub(super) fn keys(text: &str, into: &mut Vec<u64>) {
    into.extend(literals(text).filter(|literal| literal.is_entity()).map(|literal| literal.key()));
}

/// Each name once, in order.
pub(super) fn each_once(mut names: Vec<Name>) -> Vec<Name> {
    names.sort_unstable();
    names.dedup();
    names
}

/// The entities of a session, numbered in the order in which they come.
#[derive(Default)]
pub(super) struct EntityNames {
    numbers: HashMap<u64, Name>,
}

impl EntityNames {
    /// Numbers entities; each comes once in the answer.
    pub(super) fn intern(&mut self, keys: &[u64]) -> Box<[Name]> {
        let next = |numbers: &HashMap<u64, Name>| Name::try_from(numbers.len()).unwrap_or(Name::MAX);
        let names = keys
            .iter()
            .map(|key| {
                let fresh = next(&self.numbers);
                *self.numbers.entry(*key).or_insert(fresh)
            })
            .collect();
        each_once(names).into()
    }

    /// The numbers of those that the session has; each comes once in the answer.
    pub(super) fn known(&self, keys: &[u64]) -> Vec<Name> {
        each_once(keys.iter().filter_map(|key| self.numbers.get(key).copied()).collect())
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }
}
