//! Definitions of delegates, slash commands and skills on this machine, read from the files of four products.
//!
//! ```text
//! places.toml ─► files ─┐
//! plugins ─► files ─────┼─ read ─► Fields ─ dialect ──► AgentDefinition ───► a Registry per product
//! built_in/*.md ────────┘               └─ commands ─► CommandDefinition ─► a Registry per product
//! rules: which types and models are permitted
//! ```
//! This module reads files and nothing else: no environment, no home directory, no ledger. A file that cannot be used
//! becomes a remark, and reading continues. [`wunderblock_core::delegate`] decides what the definitions mean.

mod cache;
mod commands;
mod defined;
mod dialect;
mod found;
mod inputs;
mod lookup;
mod models;
mod places;
mod plugins;
mod read;
mod rules;
mod value;

pub use cache::DefinitionCache;
pub use defined::Definitions;
pub use found::DefinitionRemark;
pub use lookup::{InForce, LookupError};
pub use models::model_table;
pub use places::DefinitionQuery;
pub use rules::{DelegateRules, EnvironmentPosition};

use dialect::{Dialect, RawDefinition};
use found::FoundDefinitions;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use value::Fields;
use wunderblock_core::delegate::definition::{AgentDefinition, Definition, Layer, Origin};
use wunderblock_core::delegate::registry::Registry;
use wunderblock_core::delegate::tools::{ToolPattern, matches_wildcards};

#[cfg(test)]
mod tests;

/// Texts of the built-in definitions.
const BUILT_IN: [&str; 3] = [
    include_str!("built_in/explore.md"),
    include_str!("built_in/general-purpose.md"),
    include_str!("built_in/plan.md"),
];

/// Product whose settings can deny types of delegates.
const CLAUDE_CODE: &str = "claude-code";

/// Products whose definitions can be read, in the order in which they are shown.
pub const PRODUCTS: [&str; 4] = ["claude-code", "codex", "gemini-cli", "opencode"];

/// Reads all definitions. Files that cannot be used are reported as remarks. If nothing has changed since the last reading
/// with the same cache, its result is returned.
#[must_use]
pub fn definitions(query: &DefinitionQuery, cache: &DefinitionCache) -> Arc<Definitions> {
    if let Some(known) = cache.get(query) {
        return known;
    }
    let mut found = FoundDefinitions::default();
    for file in query.files(&mut found) {
        read::read(&file, None, &mut found);
    }
    plugins::add(query, &mut found);
    let referenced = found.referenced;
    found.definitions.retain(|one| !referenced.iter().any(|path| *path == *Path::new(&*one.origin.place)));
    let mut products: BTreeMap<Box<str>, Vec<AgentDefinition>> = BTreeMap::new();
    for product in PRODUCTS.into_iter().filter(|product| query.wants(product)) {
        products.insert(product.into(), built_in());
    }
    let own = found.definitions.iter_mut().filter(|one| &*one.origin.product == CLAUDE_CODE);
    for definition in products.get_mut(CLAUDE_CODE).into_iter().flatten().chain(own) {
        let denies =
            |rule: &&ToolPattern| rule.argument.as_deref().is_none_or(|name| names(name, definition));
        definition.denied = found.denied.iter().find(denies).map(|rule| rule.to_string().into());
    }
    // Several products read the same skills.
    let mut seen = BTreeSet::new();
    found.remarks.retain(|remark| seen.insert(remark.clone()));
    let products = by_product(products, found.definitions);
    products.values().for_each(|registry| remark_case(registry, &mut found.remarks));
    let commands = by_product(BTreeMap::new(), found.commands);
    let definitions = Arc::new(Definitions { products, commands, remarks: found.remarks });
    cache.keep(query, found.inputs, &definitions);
    definitions
}

/// Remarks on names that differ only in case: each counts, and a call has to spell the one that it means.
fn remark_case(registry: &Registry, remarks: &mut Vec<DefinitionRemark>) {
    let mut names: BTreeMap<String, &str> = BTreeMap::new();
    for one in registry.in_force() {
        if let Some(other) = names.insert(one.name.to_lowercase(), &one.name) {
            let detail = format!("`{}` and `{other}` differ only in case: both count", one.name);
            remarks.push(DefinitionRemark { place: one.origin.place.clone(), line: None, detail });
        }
    }
}

/// Returns whether a rule of the settings of Claude Code names a type. Its built-in types begin with capital letters.
fn names(pattern: &str, definition: &AgentDefinition) -> bool {
    let is_built_in = definition.origin.layer == Layer::BuiltIn;
    matches_wildcards(pattern, &definition.name)
        || is_built_in && pattern.eq_ignore_ascii_case(&definition.name)
}

fn by_product<T: Definition>(
    mut products: BTreeMap<Box<str>, Vec<T>>,
    definitions: Vec<T>,
) -> BTreeMap<Box<str>, Registry<T>> {
    for definition in definitions {
        products.entry(definition.origin().product.clone()).or_default().push(definition);
    }
    products.into_iter().map(|(product, list)| (product, Registry::new(list))).collect()
}

fn built_in() -> Vec<AgentDefinition> {
    let origin = Origin {
        layer: Layer::BuiltIn,
        distance: 0,
        product: "wunderblock".into(),
        place: "built-in".into(),
    };
    let read = |text: &str| {
        let (fields, body) = crate::read_front_matter::<Fields>(text).ok()?;
        let name = fields.text("name")?;
        let raw = RawDefinition { name, fields: &fields, body, origin: origin.clone() };
        Some(Dialect::of("claude-code")?.definition(raw).ok()?.0)
    };
    BUILT_IN.into_iter().filter_map(read).collect()
}
