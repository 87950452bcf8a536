//! Model that a delegate gets, recorded.

use crate::catalog::Catalog;
use crate::definitions::{DelegateRules, EnvironmentPosition};
use crate::future::BoxFuture;
use crate::record::append_fact;
use crate::session::Session;
use wunderblock_core::delegate::definition::AgentDefinition;
use wunderblock_core::delegate::route::{Route, RouteQuestion, route};
use wunderblock_core::event::Fact;
use wunderblock_core::units::Seq;

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
    /// Decides which model a delegate gets.
    #[must_use]
    pub fn route(&self, definition: &AgentDefinition, rules: &DelegateRules, catalog: &Catalog) -> Route {
        let switches = rules.switches();
        let question = RouteQuestion {
            parent: self.parent,
            policy: rules.policy.as_deref(),
            environment: self.environment,
            environment_is_default: rules.environment == EnvironmentPosition::Default,
            call: self.model,
            definition: definition.model.as_deref(),
            default: rules.default.as_deref(),
            utility: rules.utility.as_deref().filter(|_| self.utility),
            plan: self.plan,
            context: self.context,
            switches: &switches,
            permitted: rules.permitted.as_deref(),
        };
        route(&question, &rules.models(), |model| {
            let found = catalog.lookup(model);
            found.known.then_some(found.row.window.0)
        })
    }

    /// Records a route in the parent's session. Returns the position of the record.
    ///
    /// # Errors
    /// Returns an error if the session does not exist, or if the ledger cannot be written.
    pub fn record<'a>(
        &'a self,
        session: &'a Session,
        definition: &'a AgentDefinition,
        route: &'a Route,
    ) -> BoxFuture<'a, Seq> {
        Box::pin(async move {
            let chosen = route.record(&definition.name, self.parent);
            append_fact(session, Fact::RouteChosen(Box::new(chosen))).await
        })
    }
}
