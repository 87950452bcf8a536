//! Model that a delegate gets.

use crate::rules::catalog::Catalog;
use wunderblock_core::delegate::definition::AgentDefinition;
use wunderblock_core::delegate::model::INHERIT;
use wunderblock_core::delegate::route::{Route, RouteQuestion, route};
use wunderblock_sources::definitions::{DelegateRules, EnvironmentPosition};

/// A call that hands work to a delegate.
#[derive(Clone, Copy, Debug, Default)]
pub struct DelegateCall<'a> {
    /// Id of the parent's model.
    pub parent: &'a str,
    /// Model that the call names: an alias, a tier, an id or `inherit`.
    pub model: Option<&'a str>,
    /// Value of the environment variable with the model of delegates.
    pub environment: Option<&'a str>,
    /// Whether the parent plans without changing anything.
    pub plan: bool,
    /// Whether the delegate does utility work.
    pub utility: bool,
    /// Size of the delegate's context, in tokens.
    pub context: Option<u64>,
}

impl DelegateCall<'_> {
    /// Decides which model a delegate gets. `None` is a copy of the parent: it keeps the parent's model, unless the
    /// policy or the call names another.
    #[must_use]
    pub fn route(
        &self,
        definition: Option<&AgentDefinition>,
        rules: &DelegateRules,
        catalog: &Catalog,
    ) -> Route {
        let switches = rules.switches();
        let base = RouteQuestion {
            parent: self.parent,
            policy: rules.policy.as_deref(),
            context: self.context,
            permitted: rules.permitted.as_deref(),
            ..RouteQuestion::default()
        };
        let copy = RouteQuestion { call: self.model.or(Some(INHERIT)), ..base };
        let question = definition.map_or(copy, |definition| RouteQuestion {
            environment: self.environment,
            environment_is_default: rules.environment == EnvironmentPosition::Default,
            call: self.model,
            definition: definition.model.as_deref(),
            default: rules.default.as_deref(),
            utility: rules.utility.as_deref().filter(|_| self.utility),
            plan: self.plan,
            switches: &switches,
            ..base
        });
        route(&question, &rules.models(), |model| {
            let found = catalog.lookup(model);
            found.known.then_some(found.row.window.0)
        })
    }
}
