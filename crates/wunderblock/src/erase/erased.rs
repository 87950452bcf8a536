//! The receipt of an erasure.

use crate::store::Written;
use serde::Serialize;
use wunderblock_core::id::StreamId;
use wunderblock_core::units::{Bytes, Seq};

/// The receipt of an erasure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Erased {
    /// Events that lost their content.
    pub events: u64,
    /// Bodies removed because nothing else held them.
    pub blobs: u64,
    /// Bytes of imported sources overwritten.
    pub source_bytes: Bytes,
    /// Where the receipt stands in the session.
    pub receipt: Option<Seq>,
    /// Sessions of sub-agents that were left.
    #[serde(rename = "children_left")]
    pub children: Vec<StreamId>,
    /// Sessions that share records with it and were left.
    #[serde(rename = "copies_left")]
    pub copies: Vec<StreamId>,
}

impl Erased {
    /// What a store has erased.
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

/// What goes with a session that is erased whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Along {
    /// The sessions of its sub-agents.
    pub children: bool,
    /// Sessions that went on from it under other ids, and copies of it.
    pub copies: bool,
}
