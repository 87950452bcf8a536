//! All definitions of a machine.

use super::found::DefinitionRemark;
use std::collections::BTreeMap;
use wunderblock_core::delegate::command::CommandDefinition;
use wunderblock_core::delegate::definition::Layer;
use wunderblock_core::delegate::registry::Registry;

/// Definitions of a machine.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    /// Definitions in force by product. Each product also has the built-in ones.
    pub products: BTreeMap<Box<str>, Registry>,
    /// Slash commands and skills in force by product, if the query asks for them. The products' own are not among them.
    pub commands: BTreeMap<Box<str>, Registry<CommandDefinition>>,
    /// Remarks on what does not count.
    pub remarks: Vec<DefinitionRemark>,
}

impl Definitions {
    /// Returns the products to show, with their definitions: those that have other than the built-in ones, or else the
    /// first product, because the built-in ones are the same in each.
    pub fn shown(&self) -> impl Iterator<Item = (&str, &Registry)> {
        let fallback = self.products.iter().take(usize::from(!self.has_own()));
        let own = self.products.iter().filter(|(_, registry)| has_own(registry));
        own.chain(fallback).map(|(product, registry)| (&**product, registry))
    }

    /// Returns whether there are other definitions than the built-in ones.
    #[must_use]
    pub fn has_own(&self) -> bool {
        self.products.values().any(has_own)
    }
}

fn has_own(registry: &Registry) -> bool {
    registry.in_force().any(|one| one.origin.layer != Layer::BuiltIn)
}
