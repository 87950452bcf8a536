//! The sessions that an erasure takes along: branches, sessions of sub-agents, and copies of a session.

use super::erased::Along;
use crate::ledger::reading::lineage::native;
use std::collections::{BTreeSet, HashMap};
use wunderblock_core::id::StreamId;
use wunderblock_store::StreamInfo;

/// Sessions to be erased together, and those related to them that stay.
pub(super) struct Family {
    pub(super) own: BTreeSet<StreamId>,
    /// Sessions of sub-agents that the sessions started.
    pub(super) children: BTreeSet<StreamId>,
    /// Forks of the sessions, and the sessions that an earlier version of the program created for copied files.
    pub(super) copies: BTreeSet<StreamId>,
}

impl Family {
    /// Finds the relations of sessions, of those that are to be erased along with them, and so on.
    pub(super) fn of(own: BTreeSet<StreamId>, streams: &[StreamInfo], along: Along) -> Self {
        let mut children: HashMap<&str, Vec<&StreamId>> = HashMap::new();
        let (mut forks, mut copies) = (children.clone(), children.clone());
        for StreamInfo { id, parent, fork, .. } in streams {
            if let Some(parent) = parent {
                children.entry(parent.as_str()).or_default().push(id);
            }
            if let Some((parent, _)) = fork {
                forks.entry(parent.as_str()).or_default().push(id);
            }
            if id.as_str().contains('@') {
                copies.entry(native(id)).or_default().push(id);
            }
        }
        let mut next: Vec<StreamId> = own.iter().cloned().collect();
        let mut family = Self { own, children: BTreeSet::new(), copies: BTreeSet::new() };
        while let Some(one) = next.pop() {
            for child in children.remove(one.as_str()).into_iter().flatten() {
                if !along.children {
                    family.children.insert(child.clone());
                } else if family.own.insert(child.clone()) {
                    next.push(child.clone());
                }
            }
            let forked = forks.remove(one.as_str()).into_iter();
            for copy in forked.chain(copies.remove(native(&one))).flatten() {
                if !along.copies {
                    family.copies.insert(copy.clone());
                } else if family.own.insert(copy.clone()) {
                    next.push(copy.clone());
                }
            }
        }
        let Self { own, children, copies } = &mut family;
        children.retain(|id| !own.contains(id));
        copies.retain(|id| !own.contains(id));
        family
    }
}
