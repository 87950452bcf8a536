//! Looking up a name among the definitions of all products.

use super::defined::Definitions;
use std::collections::BTreeMap;
use wunderblock_core::delegate::command::CommandDefinition;
use wunderblock_core::delegate::definition::{AgentDefinition, Definition, Layer};
use wunderblock_core::delegate::registry::{Found, Registry};
use wunderblock_core::nearest::nearest;

/// A definition in force, with its product and the definitions of this product.
pub type InForce<'a, T> = (&'a str, &'a Registry<T>, &'a T);

/// Reason why a name leads to no definition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// No product has the name. Holds what was looked for, and the names that may be meant.
    #[error("{0} not found{meant}", meant = meant(.1))]
    Unknown(String, Vec<String>),
    /// Several definitions of the same rank have the name: none overrides the others. Holds their places.
    #[error("`{0}` is defined more than once: {places}", places = .1.join(", "))]
    Conflict(String, Vec<String>),
    /// Several products define the name. Holds them.
    #[error("`{0}` is defined for {products}; choose one", products = .1.join(" and "))]
    Products(String, Vec<String>),
}

fn meant(names: &[String]) -> String {
    let names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ");
    if names.is_empty() { names } else { format!("; did you mean {names}?") }
}

impl Definitions {
    /// Returns the definition in force of a type of delegates.
    ///
    /// # Errors
    /// See [`LookupError`].
    pub fn agent(&self, name: &str) -> Result<InForce<'_, AgentDefinition>, LookupError> {
        look_up(&self.products, name, "Agent type", "")
    }

    /// Returns the definition in force of a command or a skill. The name may begin with a slash.
    ///
    /// # Errors
    /// See [`LookupError`].
    pub fn command(&self, name: &str) -> Result<InForce<'_, CommandDefinition>, LookupError> {
        look_up(&self.commands, name.strip_prefix('/').unwrap_or(name), "command", "/")
    }
}

fn look_up<'a, T: Definition>(
    products: &'a BTreeMap<Box<str>, Registry<T>>,
    name: &str,
    title: &str,
    mark: &str,
) -> Result<InForce<'a, T>, LookupError> {
    let mut hits = Vec::new();
    for (product, registry) in products {
        match registry.find(name) {
            Found::One(one) => hits.push((&**product, registry, one)),
            Found::Several(several) => {
                let places = several.iter().map(|one| one.origin().place.to_string()).collect();
                return Err(LookupError::Conflict(format!("{mark}{name}"), places));
            }
            Found::Nothing => {}
        }
    }
    // Several products read the same skills.
    hits.dedup_by(|later, first| later.2.origin().place == first.2.origin().place);
    // The built-in definitions are the same in every product, so a definition of somebody's own is meant.
    let is_built_in = |one: &T| one.origin().layer == Layer::BuiltIn;
    if hits.iter().any(|(.., one)| !is_built_in(one)) {
        hits.retain(|(.., one)| !is_built_in(one));
    } else {
        hits.truncate(1);
    }
    match hits.as_slice() {
        [one] => Ok(*one),
        [] => {
            let names = || products.values().flat_map(Registry::names);
            // People name the definition of a plugin without the plugin.
            let end = format!(":{name}");
            let mut meant: Vec<&str> = names().filter(|known| known.ends_with(&end)).collect();
            if meant.is_empty() {
                meant.extend(nearest(name, names()));
            }
            let meant = meant.iter().map(|name| format!("{mark}{name}")).collect();
            Err(LookupError::Unknown(format!("{title} '{mark}{name}'"), meant))
        }
        several => {
            let products = several.iter().map(|(product, ..)| (*product).to_owned()).collect();
            Err(LookupError::Products(format!("{mark}{name}"), products))
        }
    }
}
