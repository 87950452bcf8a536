//! Handle for delegates: what is defined, which model each gets, what each is handed, and what became of it.

use super::call::DelegateCall;
use super::read::delegations;
use super::report::record;
use super::tree::{DelegationNode, delegation_tree};
use crate::base::future::BoxFuture;
use crate::delegates::handoff::{DelegateContext, Handoff, delegate_context};
use crate::lanes::recap::delegates_at_work;
use crate::ledger::engine::Engine;
use crate::ledger::recording::record::{MadeFrom, append_fact};
use crate::ledger::session::Session;
use std::sync::Arc;
use wunderblock_core::delegate::definition::AgentDefinition;
use wunderblock_core::delegate::route::Route;
use wunderblock_core::event::{Fact, SubagentReturned, SubagentSpawned};
use wunderblock_core::units::{Millis, Seq};
use wunderblock_core::work::DelegateAtWork;
use wunderblock_sources::definitions::{
    DefinitionCache, DefinitionQuery, Definitions, DelegateRules, definitions,
};
use wunderblock_wire::delegation::Delegation;

/// Delegates of a ledger's sessions. See [`Engine::agents`].
#[derive(Clone, Debug)]
pub struct Agents {
    engine: Engine,
    known: Arc<DefinitionCache>,
}

impl Engine {
    /// Returns the handle for delegates: the agents to which an agent hands work. The handle keeps the definitions that
    /// it read.
    #[must_use]
    pub fn agents(&self) -> Agents {
        Agents { engine: self.clone(), known: Arc::default() }
    }
}

impl Agents {
    /// Returns the definitions on this machine. This handle reads files again only if one of them has changed.
    #[must_use]
    pub fn definitions(&self, query: &DefinitionQuery) -> Arc<Definitions> {
        definitions(query, &self.known)
    }

    /// Decides which model a delegate gets, with the models of the engine's catalog. `None` is a copy of the parent.
    #[must_use]
    pub fn route(
        &self,
        call: &DelegateCall<'_>,
        definition: Option<&AgentDefinition>,
        rules: &DelegateRules,
    ) -> Route {
        call.route(definition, rules, &self.engine.config.catalog)
    }

    /// Records a route in the parent's session. Returns the position of the record.
    ///
    /// # Errors
    /// Returns an error if the session does not exist, or if the ledger cannot be written.
    pub fn record_route<'a>(
        &'a self,
        session: &'a Session,
        call: &'a DelegateCall<'a>,
        definition: &'a AgentDefinition,
        route: &'a Route,
    ) -> BoxFuture<'a, Seq> {
        Box::pin(async move {
            let chosen = route.record(&definition.name, call.parent);
            append_fact(session, Fact::RouteChosen(Box::new(chosen)), MadeFrom::Nothing).await
        })
    }

    /// Builds the first request of a delegate, with its report. Nothing is recorded.
    ///
    /// # Errors
    /// Returns an error if the brief has no goal, if the definition leaves no tool of those that there are, if the
    /// request does not fit into the window, or if the ledger cannot be read.
    pub fn context<'a>(
        &'a self,
        session: &'a Session,
        handoff: &'a Handoff<'a>,
    ) -> BoxFuture<'a, DelegateContext> {
        delegate_context(session, handoff)
    }

    /// Records the start of a delegate in the session of its parent. Returns whether it was new: an import may already
    /// have read it in the transcript.
    ///
    /// # Errors
    /// Returns an error if the session does not exist, or if the ledger cannot be written.
    pub fn record_spawned<'a>(
        &'a self,
        session: &'a Session,
        spawned: SubagentSpawned,
        at: Millis,
    ) -> BoxFuture<'a, bool> {
        Box::pin(record(session, Fact::SubagentSpawned(spawned), at))
    }

    /// Records the end of a delegate's work in the session of its parent. Returns whether it was new.
    ///
    /// # Errors
    /// Returns an error if the session does not exist, or if the ledger cannot be written.
    pub fn record_returned<'a>(
        &'a self,
        session: &'a Session,
        returned: SubagentReturned,
        at: Millis,
    ) -> BoxFuture<'a, bool> {
        Box::pin(record(session, Fact::SubagentReturned(returned), at))
    }

    /// Returns the work that a session handed to delegates, in order. The sessions of the delegates need not be in the
    /// ledger.
    ///
    /// # Errors
    /// Returns an error if the session does not exist, or if the ledger cannot be read.
    pub fn delegations<'a>(&'a self, session: &'a Session) -> BoxFuture<'a, Vec<Delegation>> {
        delegations(session)
    }

    /// Returns the delegates at work, as the end of the session states them: those that must not be started again. At
    /// most the last 4,096 events are read.
    ///
    /// # Errors
    /// Returns an error if the session does not exist, or if the ledger cannot be read.
    pub fn at_work<'a>(&'a self, session: &'a Session) -> BoxFuture<'a, Vec<DelegateAtWork>> {
        Box::pin(delegates_at_work(session))
    }

    /// Returns the tree of the delegates of a session: each before its own delegates, which are in the order in which
    /// they began. The session itself comes first. Levels beyond the maximum depth are left out.
    ///
    /// # Errors
    /// Returns an error if the session does not exist, or if the ledger cannot be read.
    pub fn tree<'a>(&'a self, session: &'a Session) -> BoxFuture<'a, Vec<DelegationNode>> {
        delegation_tree(&self.engine, session)
    }
}
