//! Receipt of an erasure.

use serde::Serialize;
use wunderblock_core::id::StreamId;
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_store::Written;

/// Receipt of an erasure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Erased {
    /// Number of events that lost their content.
    pub events: u64,
    /// Number of bodies removed because no other event refers to them.
    pub blobs: u64,
    /// Number of bytes overwritten in imported sources.
    pub source_bytes: Bytes,
    /// Position of the receipt in the session.
    pub receipt: Option<Seq>,
    /// Sessions of sub-agents that were not erased.
    #[serde(rename = "children_left")]
    pub children: Vec<StreamId>,
    /// Sessions that share records with the erased session and were not erased.
    #[serde(rename = "copies_left")]
    pub copies: Vec<StreamId>,
}

impl Erased {
    /// Sums up the results of a store's writes.
    pub(super) fn of(done: &[Written]) -> Self {
        let mut sum = Self::default();
        for written in done {
            if let Written::Erased { events, blobs, source_bytes } = written {
                sum.events += events;
                sum.blobs += blobs;
                sum.source_bytes += *source_bytes;
            }
        }
        sum
    }

    pub(super) fn add(&mut self, more: Self) {
        self.events += more.events;
        self.blobs += more.blobs;
        self.source_bytes += more.source_bytes;
        self.receipt = more.receipt.or(self.receipt);
    }
}

/// Other sessions to erase together with a whole session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Along {
    /// Whether to erase the sessions of the session's sub-agents.
    pub children: bool,
    /// Whether to erase the session's copies, and the sessions that continued it under other ids.
    pub copies: bool,
}
