//! Delegates of a session: the model that one gets, recorded, and the tree of those that it had.

use crate::account::{Spend, SpentReply, spend};
use crate::catalog::Catalog;
use crate::definitions::{DelegateRules, EnvironmentPosition};
use crate::engine::Engine;
use crate::error::Error;
use crate::future::BoxFuture;
use crate::limits::MAX_DELEGATION_DEPTH;
use crate::record::append_fact;
use crate::session::Session;
use crate::store::{StreamFilter, StreamInfo};
use std::collections::BTreeSet;
use wunderblock_core::delegate::definition::AgentDefinition;
use wunderblock_core::delegate::route::{Route, RouteQuestion, route};
use wunderblock_core::event::Fact;
use wunderblock_core::id::StreamId;
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

/// A session in a tree of delegations: the parent, or a delegate.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DelegationNode {
    /// Latest branch of the session.
    pub info: StreamInfo,
    /// Number of levels above the session: 0 for the session that was asked for.
    pub depth: usize,
    /// Reported usage of the session, in all branches, without that of its delegates.
    pub spend: Spend,
}

/// Returns the tree of the delegates of a session: each session before its delegates, which are in the order in which
/// they began. The session itself comes first. Levels beyond [`MAX_DELEGATION_DEPTH`] are left out.
///
/// # Errors
/// Returns an error if the session does not exist, or if the ledger cannot be read.
pub fn delegation_tree<'a>(engine: &'a Engine, session: &'a Session) -> BoxFuture<'a, Vec<DelegationNode>> {
    Box::pin(async move {
        let mut nodes: Vec<DelegationNode> = Vec::new();
        let mut seen = BTreeSet::new();
        let own = StreamFilter { prefix: session.id().root().to_owned(), ..StreamFilter::default() };
        let mut level = families(engine, own, 0).await?;
        level.retain(|family| family.root == session.id().root());
        while !level.is_empty() && level.iter().all(|family| family.node.depth <= MAX_DELEGATION_DEPTH) {
            level.retain(|family| seen.insert(family.root.clone()));
            let depth = level.first().map_or(0, |family| family.node.depth) + 1;
            let parents = level.iter().flat_map(|family| family.branches.clone()).collect();
            for family in level {
                // A delegate follows its parent and the delegates of its elder siblings.
                let parent = family.node.info.parent.as_ref().map(|parent| parent.root().to_owned());
                let at = parent.and_then(|root| nodes.iter().position(|node| node.info.id.root() == root));
                let end = at.map_or(nodes.len(), |at| {
                    let above = nodes.get(at).map_or(0, |node| node.depth);
                    let after = nodes.iter().skip(at + 1).take_while(|node| node.depth > above).count();
                    at + 1 + after
                });
                nodes.insert(end, family.node);
            }
            level = families(engine, StreamFilter { parents, ..StreamFilter::default() }, depth).await?;
        }
        Ok(nodes)
    })
}

/// All branches of a session.
struct SessionFamily {
    root: String,
    branches: Vec<StreamId>,
    node: DelegationNode,
}

/// Returns the sessions that pass a filter, in the order in which they began.
async fn families(engine: &Engine, filter: StreamFilter, depth: usize) -> Result<Vec<SessionFamily>, Error> {
    if filter.prefix.is_empty() && filter.parents.is_empty() {
        return Ok(Vec::new());
    }
    let streams = engine.listed(filter.clone(), u64::from(u32::MAX)).await?;
    let by_root = |reply: SpentReply<'_>| Some(reply.session.id.root().to_owned());
    let spent = spend(engine, filter, &by_root).await?;
    // The latest branch comes first.
    let mut families: Vec<SessionFamily> = Vec::new();
    for info in streams {
        let root = info.id.root().to_owned();
        match families.iter_mut().find(|family| family.root == root) {
            Some(family) => family.branches.push(info.id),
            None => {
                let spend = spent.get(&root).cloned().unwrap_or_default();
                let branches = vec![info.id.clone()];
                families.push(SessionFamily { root, branches, node: DelegationNode { info, depth, spend } });
            }
        }
    }
    families.sort_by(|a, b| (a.node.info.opened_at, &a.root).cmp(&(b.node.info.opened_at, &b.root)));
    Ok(families)
}
