//! Tree of the delegates of a session.

use super::read::delegations_of;
use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::ledger::engine::Engine;
use crate::ledger::session::Session;
use crate::limits::MAX_DELEGATION_DEPTH;
use crate::show::account::{Spend, SpentReply, spend};
use std::collections::BTreeSet;
use wunderblock_core::id::StreamId;
use wunderblock_core::units::{Millis, Seq};
use wunderblock_store::{StreamFilter, StreamInfo};
use wunderblock_wire::delegation::Delegation;

/// A session in a tree of delegations, or a delegate without a session in the ledger.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DelegationNode {
    /// Latest branch of the session; `None` if the ledger has no session of the delegate.
    pub info: Option<StreamInfo>,
    /// Number of levels above the session: 0 for the session that was asked for.
    pub depth: usize,
    /// Reported usage of the session, in all branches, without that of its delegates.
    pub spend: Spend,
    /// Work that the parent handed to the delegate; `None` if the parent's session reports nothing about it.
    pub delegation: Option<Delegation>,
}

impl DelegationNode {
    /// Returns the time at which the delegate was started, and the position in the parent's session.
    fn began(&self) -> (Millis, Seq) {
        let called = self.delegation.as_ref().map(|delegation| (delegation.began, delegation.at));
        called.or(self.info.as_ref().map(|info| (info.opened_at, Seq::START))).unwrap_or_default()
    }

    /// Returns the model that answered: that of the session's latest reply, or the one that the parent reports.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        let own = self.info.as_ref().and_then(|info| info.model.as_deref());
        own.or_else(|| self.delegation.as_ref()?.model.as_deref())
    }

    /// Returns the duration in milliseconds: as reported, or from the session's first to its latest message.
    #[must_use]
    pub fn millis(&self) -> Option<u64> {
        let reported = self.delegation.as_ref().and_then(|delegation| delegation.millis);
        let own = self.info.as_ref().map(|info| info.said_at.0.saturating_sub(info.opened_at.0));
        reported.or_else(|| own.map(|own| u64::try_from(own).unwrap_or_default()))
    }
}

/// Returns the tree of the delegates of a session: each before its own delegates, which are in the order in which they
/// began. The session itself comes first. Levels beyond [`MAX_DELEGATION_DEPTH`] are left out.
///
/// # Errors
/// Returns an error if the session does not exist, or if the ledger cannot be read.
pub(super) fn delegation_tree<'a>(
    engine: &'a Engine,
    session: &'a Session,
) -> BoxFuture<'a, Vec<DelegationNode>> {
    Box::pin(async move {
        let root = session.id().root();
        let mut seen = BTreeSet::from([root.to_owned()]);
        let mut nodes = Vec::new();
        // The next node is last.
        let mut waiting = named(engine, root, 0).await?;
        while let Some(SessionFamily { branches, node, .. }) = waiting.pop() {
            if let Some(info) = node.info.as_ref().filter(|_| node.depth < MAX_DELEGATION_DEPTH) {
                let mut below = below(engine, info, branches, node.depth + 1).await?;
                below.retain(|family| family.root.is_empty() || seen.insert(family.root.clone()));
                below.sort_by(|a, b| (b.node.began(), &b.root).cmp(&(a.node.began(), &a.root)));
                waiting.extend(below);
            }
            nodes.push(node);
        }
        Ok(nodes)
    })
}

/// All branches of a session. The root is empty if the ledger has no session.
struct SessionFamily {
    root: String,
    branches: Vec<StreamId>,
    node: DelegationNode,
}

/// Returns the delegates of a session.
async fn below(
    engine: &Engine,
    info: &StreamInfo,
    branches: Vec<StreamId>,
    depth: usize,
) -> Result<Vec<SessionFamily>, Error> {
    let mut below =
        families(engine, StreamFilter { parents: branches, ..StreamFilter::default() }, depth).await?;
    let children: Vec<StreamInfo> = below.iter().filter_map(|family| family.node.info.clone()).collect();
    for delegation in delegations_of(engine, info, &children).await? {
        let root = delegation.session.as_ref().map(|session| session.root().to_owned()).unwrap_or_default();
        let of = |family: &SessionFamily| !root.is_empty() && family.root == root;
        if !root.is_empty() && !below.iter().any(of) {
            // Not every agent records the parent in the session of a delegate.
            below.extend(named(engine, &root, depth).await?);
        }
        match below.iter_mut().find(|family| of(family)) {
            Some(family) => family.node.delegation = Some(delegation),
            None => {
                let delegation = Some(delegation);
                let node = DelegationNode { info: None, depth, spend: Spend::default(), delegation };
                below.push(SessionFamily { root: String::new(), branches: Vec::new(), node });
            }
        }
    }
    Ok(below)
}

/// Returns the session with an id, if the ledger has it.
async fn named(engine: &Engine, root: &str, depth: usize) -> Result<Vec<SessionFamily>, Error> {
    let filter = StreamFilter { prefix: root.to_owned(), ..StreamFilter::default() };
    let mut found = families(engine, filter, depth).await?;
    found.retain(|family| family.root == root);
    Ok(found)
}

/// Returns the sessions that pass a filter.
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
                let node = DelegationNode { info: Some(info), depth, spend, delegation: None };
                families.push(SessionFamily { root, branches, node });
            }
        }
    }
    Ok(families)
}
