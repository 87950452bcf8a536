//! Rules for delegates and their models, from a file: which types and models are permitted, and which model a delegate
//! gets if nothing else names one.

use super::models::model_table;
use serde::Deserialize;
use std::collections::BTreeMap;
use wunderblock_core::delegate::definition::AgentDefinition;
use wunderblock_core::delegate::filter::{Conditions, Withheld, check};
use wunderblock_core::delegate::model::ModelTable;
use wunderblock_core::delegate::registry::Registry;
use wunderblock_core::delegate::route::ModelSwitch;

/// Rules for delegates. Names of models are aliases, tiers, ids or `inherit`; `*` in patterns matches any characters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct DelegateRules {
    /// Model that every delegate gets; nothing overrides it.
    pub policy: Option<Box<str>>,
    /// Model of delegates for which neither the call nor the definition names one.
    pub default: Option<Box<str>>,
    /// Model of utility work.
    pub utility: Option<Box<str>>,
    /// Position of the environment variable among the rules.
    pub environment: EnvironmentPosition,
    /// Patterns or aliases of permitted models; `None` permits all models.
    pub permitted: Option<Vec<Box<str>>>,
    /// Patterns of types that may not be used.
    pub denied: Vec<Box<str>>,
    /// Patterns of types that may be used; `None` allows all types.
    pub allowed: Option<Vec<Box<str>>>,
    /// Names for models, each with an id, an alias or a tier.
    pub aliases: BTreeMap<Box<str>, Box<str>>,
    switches: Vec<SwitchRule>,
}

/// Position of the environment variable among the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EnvironmentPosition {
    /// After the definition, so that the variable is only a default.
    #[default]
    Default,
    /// Before the call, so that the variable overrides calls and definitions.
    Override,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct SwitchRule {
    #[serde(default)]
    plan: bool,
    above: Option<u64>,
    from: Option<Box<str>>,
    to: Box<str>,
}

impl DelegateRules {
    /// Parses a file of rules. `docs/delegates.md` describes the keys.
    ///
    /// # Errors
    /// Returns a message with the place of the first mistake.
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// Returns other models in place of the parent's, by mode and size.
    #[must_use]
    pub fn switches(&self) -> Vec<ModelSwitch> {
        let switch = |SwitchRule { plan, above, from, to }| ModelSwitch { plan, above, from, to };
        self.switches.iter().cloned().map(switch).collect()
    }

    /// Returns the definitions that may be used, in the order of their names, and the others, each with the reason. The
    /// denied and the allowed types are those of these rules.
    #[must_use]
    pub fn offered<'a>(
        &self,
        registry: &'a Registry,
        conditions: &Conditions<'_>,
    ) -> (Vec<&'a AgentDefinition>, Vec<(&'a AgentDefinition, Withheld)>) {
        let (mut free, mut withheld) = (Vec::new(), Vec::new());
        for definition in registry.in_force() {
            match self.permits(definition, conditions) {
                Ok(()) => free.push(definition),
                Err(why) => withheld.push((definition, why)),
            }
        }
        (free, withheld)
    }

    /// Checks whether a delegate may be used. The denied and the allowed types are those of these rules.
    ///
    /// # Errors
    /// Returns the first reason why it may not be used.
    pub fn permits(&self, definition: &AgentDefinition, conditions: &Conditions<'_>) -> Result<(), Withheld> {
        let own = Conditions { denied: &self.denied, allowed: self.allowed.as_deref(), ..*conditions };
        check(definition, &own)
    }

    /// Returns the known families of models with the aliases of these rules.
    #[must_use]
    pub fn models(&self) -> ModelTable {
        let aliases =
            self.aliases.iter().map(|(name, id)| (name.to_lowercase().into(), id.clone())).collect();
        ModelTable { families: model_table().families.clone(), aliases }
    }
}
