//! Relations between streams: the branches, sub-agents and copies of a session.

use crate::store::StreamInfo;
use std::collections::BTreeSet;
use wunderblock_core::id::StreamId;
use wunderblock_core::units::Seq;

/// All streams of a ledger, and the streams to be erased.
#[derive(Clone, Copy)]
pub(super) struct Streams<'a> {
    pub(super) all: &'a [StreamInfo],
    pub(super) own: &'a BTreeSet<StreamId>,
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
pub(super) fn own_streams(id: &StreamId, streams: &[StreamInfo]) -> BTreeSet<StreamId> {
    let ours: Vec<&StreamInfo> = streams.iter().filter(|info| root(&info.id) == root(id)).collect();
    let mut own = BTreeSet::from([id.clone()]);
    loop {
        let before = own.len();
        for info in &ours {
            let Some((parent, _)) = &info.fork else { continue };
            if own.contains(&info.id) && root(parent) == root(id) {
                own.insert(parent.clone());
            } else if own.contains(parent) {
                own.insert(info.id.clone());
            }
        }
        if own.len() == before {
            return own;
        }
    }
}

pub(super) fn relatives(
    own: &BTreeSet<StreamId>,
    streams: &[StreamInfo],
    is_one: impl Fn(&StreamInfo, &StreamId) -> bool,
) -> BTreeSet<StreamId> {
    let others = streams.iter().filter(|info| !own.contains(&info.id));
    others.filter(|info| own.iter().any(|id| is_one(info, id))).map(|info| info.id.clone()).collect()
}

pub(super) fn is_child(info: &StreamInfo, of: &StreamId) -> bool {
    info.parent.as_ref() == Some(of)
}

/// Returns whether a session is a fork of another session, or was created for a copied file by an earlier version of
/// the program.
pub(super) fn is_copy(info: &StreamInfo, of: &StreamId) -> bool {
    let forked = info.fork.as_ref().is_some_and(|(parent, _)| parent == of);
    forked || (native(&info.id) == native(of) && info.id.as_str().contains('@'))
}

/// Returns the streams that hold a stream's positions, each with its range of positions; the stream itself comes
/// first.
pub(super) fn lineage<'s>(info: &'s StreamInfo, streams: &'s [StreamInfo]) -> Vec<(&'s StreamId, Seq, Seq)> {
    let mut line = Vec::new();
    let (mut at, mut to) = (info, info.head);
    loop {
        let base = at.fork.as_ref().map_or(Seq::START, |(_, base)| *base);
        if base < to || line.is_empty() {
            line.push((&at.id, base.next(), to));
        }
        to = to.min(base);
        let parent = at.fork.as_ref().and_then(|(parent, _)| streams.iter().find(|info| info.id == *parent));
        match parent {
            Some(parent) if line.len() <= streams.len() => at = parent,
            _ => return line,
        }
    }
}
