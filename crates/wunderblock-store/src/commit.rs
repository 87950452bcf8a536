//! A list of writes with what they were made from.

use super::row::{SourceNo, StreamNo, TenantNo};
use super::write::Write;
use std::collections::BTreeSet;
use wunderblock_core::id::StreamId;
use wunderblock_core::units::{Millis, Seq};

/// Writes that a store makes durable together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// What the writes were made from.
    pub basis: Basis,
    /// The writes, in order.
    pub writes: Vec<Write>,
}

/// What the writes of a commit were made from. A store compares it with its state in the transaction of the writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The caller's own data. Nothing that can be erased was read to make the writes.
    Raw,
    /// Content of the ledger. The commit fails with [`super::StoreError::EpochMoved`] if content of the tenant was
    /// erased after it was read.
    Derived(Epoch),
    /// All content that could have been made from erased content: the basis of an erasure.
    Seen(Box<Seen>),
}

/// Number of erasures of a tenant at the time of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epoch {
    /// Tenant that owns the content.
    pub tenant: TenantNo,
    /// Number of its erasures; see [`super::Query::Epoch`].
    pub no: u64,
}

/// State of a ledger in which an erasure found everything that it removes. The commit fails with
/// [`super::StoreError::EpochMoved`] or [`super::StoreError::HeadMoved`] if something was added since, and with
/// [`super::StoreError::Held`] if an import writes one of the sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Epoch of the tenant.
    pub epoch: Epoch,
    /// Newest stream of the tenant.
    pub newest: Option<StreamNo>,
    /// Streams that have the erased content, or may have content made from it.
    pub streams: Vec<SeenStream>,
    /// Number of the newest segment of the text index; 0 if there are no segments.
    pub segment: u64,
    /// Newest revisions of the sources that may have the erased content, with their lengths.
    pub sources: Vec<(SourceNo, u32, u64)>,
    /// Current time. An import whose ownership has expired does not count.
    pub now: Millis,
}

/// State of a stream in which an erasure has searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenStream {
    /// Id of the stream.
    pub stream: StreamId,
    /// Newest position.
    pub head: Seq,
    /// Number of revisions of sources from which the stream was read.
    pub links: u64,
}

impl Commit {
    /// Returns a commit of the caller's own data.
    #[must_use]
    pub const fn raw(writes: Vec<Write>) -> Self {
        Self { basis: Basis::Raw, writes }
    }

    /// Returns a commit of data that was made from the content of a snapshot.
    #[must_use]
    pub const fn derived(epoch: Epoch, writes: Vec<Write>) -> Self {
        Self { basis: Basis::Derived(epoch), writes }
    }

    /// Returns the tenants whose content the commit erases. For each of them, a new epoch begins.
    #[must_use]
    pub fn erasing(&self) -> BTreeSet<TenantNo> {
        let tenants = self.writes.iter().filter_map(|write| match write {
            Write::Erase { tenant, .. } => Some(*tenant),
            _ => None,
        });
        tenants.collect()
    }
}
