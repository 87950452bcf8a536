//! Relations between streams: the branches, sub-agents and copies of a session.

use crate::store::StreamInfo;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use wunderblock_core::id::StreamId;
use wunderblock_core::units::Seq;

/// All streams of a ledger, by id.
pub(crate) struct Streams<'s>(HashMap<&'s StreamId, &'s StreamInfo>);

/// Positions of a stream that are stored in a stream of its line: the stream, the first and the last position.
pub(crate) type LinePart<'s> = (&'s StreamInfo, Seq, Seq);

impl<'s> Streams<'s> {
    pub(crate) fn new(streams: &'s [StreamInfo]) -> Self {
        Self(streams.iter().map(|info| (&info.id, info)).collect())
    }

    pub(crate) fn get(&self, id: &StreamId) -> Option<&'s StreamInfo> {
        self.0.get(id).copied()
    }

    /// Returns the streams that hold a stream's positions; the stream itself comes first.
    pub(crate) fn line(&self, info: &'s StreamInfo) -> Vec<LinePart<'s>> {
        let mut line = Vec::new();
        let (mut at, mut to) = (info, info.head);
        loop {
            let base = base(at);
            if base < to || line.is_empty() {
                line.push((at, base.next(), to));
            }
            to = to.min(base);
            match at.fork.as_ref().and_then(|(parent, _)| self.get(parent)) {
                Some(parent) if line.len() <= self.0.len() => at = parent,
                _ => return line,
            }
        }
    }
}

/// Returns the last position that a stream shares with its parent.
pub(super) fn base(info: &StreamInfo) -> Seq {
    info.fork.as_ref().map_or(Seq::START, |(_, base)| *base)
}

/// Returns the name that a session and its branches share.
pub(crate) fn root(id: &StreamId) -> &str {
    id.as_str().split('~').next().unwrap_or_default()
}

/// Returns the session's own name, without a branch number or a copy mark.
pub(crate) fn native(id: &StreamId) -> &str {
    let root = Some(root(id)).filter(|root| !root.is_empty()).unwrap_or(id.as_str());
    root.split('@').next().filter(|root| !root.is_empty()).unwrap_or(root)
}

/// Returns a session and its branches: `ID`, `ID~2`, `ID~3` and so on, if they forked from each other.
pub(crate) fn own_streams(id: &StreamId, streams: &[StreamInfo]) -> BTreeSet<StreamId> {
    let mut joined: BTreeMap<&StreamId, Vec<&StreamId>> = BTreeMap::new();
    for info in streams.iter().filter(|info| root(&info.id) == root(id)) {
        if let Some((parent, _)) = info.fork.as_ref().filter(|(parent, _)| root(parent) == root(id)) {
            joined.entry(&info.id).or_default().push(parent);
            joined.entry(parent).or_default().push(&info.id);
        }
    }
    let mut own = BTreeSet::from([id.clone()]);
    let mut next = vec![id];
    while let Some(one) = next.pop() {
        for other in joined.remove(one).unwrap_or_default() {
            if own.insert(other.clone()) {
                next.push(other);
            }
        }
    }
    own
}

/// Returns the sessions of sub-agents that sessions started.
pub(super) fn children(own: &BTreeSet<StreamId>, streams: &[StreamInfo]) -> BTreeSet<StreamId> {
    let is_child = |info: &&StreamInfo| info.parent.as_ref().is_some_and(|parent| own.contains(parent));
    others(own, streams).filter(is_child).map(|info| info.id.clone()).collect()
}

/// Returns the forks of sessions, and the sessions that an earlier version of the program created for copied files.
pub(super) fn copies(own: &BTreeSet<StreamId>, streams: &[StreamInfo]) -> BTreeSet<StreamId> {
    let names: BTreeSet<&str> = own.iter().map(native).collect();
    let is_copy = |info: &&StreamInfo| {
        let forked = info.fork.as_ref().is_some_and(|(parent, _)| own.contains(parent));
        forked || (info.id.as_str().contains('@') && names.contains(native(&info.id)))
    };
    others(own, streams).filter(is_copy).map(|info| info.id.clone()).collect()
}

fn others<'s>(
    own: &'s BTreeSet<StreamId>,
    streams: &'s [StreamInfo],
) -> impl Iterator<Item = &'s StreamInfo> {
    streams.iter().filter(|info| !own.contains(&info.id))
}
