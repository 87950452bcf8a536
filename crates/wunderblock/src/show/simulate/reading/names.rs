//! Entities, numbered: paths, identifiers, numbers and ids of at least four bytes.

use std::collections::HashMap;
use wunderblock_core::literal::literals;

/// Number of an entity of the session.
pub(in crate::show::simulate) type Name = u32;

/// Adds the keys of the entities in a text.
pub(in crate::show::simulate) fn keys(text: &str, into: &mut Vec<u64>) {
    into.extend(literals(text).filter(|literal| literal.is_entity()).map(|literal| literal.key()));
}

/// Sorts names and removes duplicates.
pub(in crate::show::simulate) fn each_once(mut names: Vec<Name>) -> Vec<Name> {
    names.sort_unstable();
    names.dedup();
    names
}

/// Entities of a session, numbered in order of appearance.
#[derive(Default)]
pub(in crate::show::simulate) struct EntityNames {
    numbers: HashMap<u64, Name>,
}

impl EntityNames {
    /// Returns the numbers of entities, adding unknown ones. Each number appears once in the result.
    pub(in crate::show::simulate) fn intern(&mut self, keys: &[u64]) -> Box<[Name]> {
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

    /// Returns the numbers of the keys that the session contains. Each number appears once in the result.
    pub(in crate::show::simulate) fn known(&self, keys: &[u64]) -> Vec<Name> {
        each_once(keys.iter().filter_map(|key| self.numbers.get(key).copied()).collect())
    }

    /// Returns the number of entities.
    pub(in crate::show::simulate) fn len(&self) -> usize {
        self.numbers.len()
    }
}
