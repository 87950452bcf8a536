//! The definitions in force: of all layers, the strongest that defines a name.

use super::definition::{AgentDefinition, Definition, Layer, Origin};
use std::collections::BTreeMap;

/// Definitions in force, by name. Weaker definitions of the same name are kept, to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registry<T = AgentDefinition> {
    names: BTreeMap<Box<str>, Vec<T>>,
}

impl<T> Default for Registry<T> {
    fn default() -> Self {
        Self { names: BTreeMap::new() }
    }
}

/// Result of looking a name up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found<'a, T = AgentDefinition> {
    /// The definition in force.
    One(&'a T),
    /// Several definitions of the same rank, none of which overrides the others.
    Several(&'a [T]),
    /// No definition has this name.
    Nothing,
}

impl<T: Definition> Registry<T> {
    /// Creates a registry. The order of the definitions does not matter, except between definitions of the same name
    /// and rank, which are in conflict.
    #[must_use]
    pub fn new(definitions: impl IntoIterator<Item = T>) -> Self {
        let mut names: BTreeMap<Box<str>, Vec<T>> = BTreeMap::new();
        for definition in definitions {
            names.entry(definition.name().into()).or_default().push(definition);
        }
        for list in names.values_mut() {
            list.sort_by_key(|definition| std::cmp::Reverse(definition.rank()));
        }
        Self { names }
    }

    /// Looks up a name. The comparison is exact.
    #[must_use]
    pub fn find(&self, name: &str) -> Found<'_, T> {
        self.names.get(name).map_or(Found::Nothing, |list| strongest(list))
    }

    /// Returns the definitions in force, in the order of their names.
    pub fn in_force(&self) -> impl Iterator<Item = &T> {
        self.names.values().filter_map(|list| match strongest(list) {
            Found::One(definition) => Some(definition),
            _ => None,
        })
    }

    /// Returns all names, also those with conflicts, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(|name| &**name)
    }

    /// Returns the origins of the definitions that the one in force overrides, strongest first.
    pub fn overridden(&self, name: &str) -> impl Iterator<Item = &Origin> {
        let list = self.names.get(name).map_or(&[][..], Vec::as_slice);
        let first = list.first().map(Definition::rank);
        list.iter().filter(move |definition| Some(definition.rank()) != first).map(Definition::origin)
    }

    /// Returns the conflicts: each list of definitions with the same name and rank, whether or not a stronger layer
    /// overrides them.
    pub fn conflicts(&self) -> impl Iterator<Item = &[T]> {
        self.names
            .values()
            .flat_map(|list| list.chunk_by(|a, b| a.rank() == b.rank()))
            .filter(|chunk| chunk.len() > 1)
    }

    /// Returns the number of definitions in force by layer, weakest first.
    #[must_use]
    pub fn count_by_layer(&self) -> [(Layer, usize); 6] {
        Layer::ALL.map(|layer| {
            (layer, self.in_force().filter(|definition| definition.origin().layer == layer).count())
        })
    }
}

fn strongest<T: Definition>(list: &[T]) -> Found<'_, T> {
    match list.chunk_by(|a, b| a.rank() == b.rank()).next() {
        Some([one]) => Found::One(one),
        Some(several) => Found::Several(several),
        None => Found::Nothing,
    }
}
