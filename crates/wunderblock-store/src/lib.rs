//! Storage port: the interface between the engine and a database.
//!
//! The port has two methods. [`Storage::commit`] makes a list of writes durable, all or none, unless what they were
//! made from has been erased. [`Storage::query`] answers a list of queries from one snapshot. Both methods are
//! asynchronous and batched, so that a database across a network costs one round trip per call. Every implementation
//! must pass the conformance suite in the testkit.
//!
//! Records arrive encoded ([`codec`]): a store compares, orders and counts records, but never parses their content.

pub mod codec;
mod commit;
mod facets;
mod file_problem;
pub mod overlay;
mod query;
mod reach;
mod reached;
mod row;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod write;

pub use commit::{Basis, Commit, Epoch, Seen, SeenStream};
pub use facets::{EventUsage, Facets, SessionFacets};
pub use file_problem::FileProblem;
pub use query::{Answer, BYTES, Marked, Query, ReadOrder, Selected, SourceBy};
pub use reach::{Reach, ScopeLimit};
pub use reached::{QuerySubject, Reached};
pub use row::{
    BodyCount, Chunk, DerivedTable, Erasure, EventFilter, Frontiers, Gone, HandleTarget, KnownEvent, Lease,
    Owner, RevisionInfo, SegmentInfo, SourceFilter, SourceInfo, SourceNo, StoredEvent, StreamFilter,
    StreamInfo, StreamKind, StreamNo, Stretch, TallyRow, Tenant, TenantNo, UsageRow,
};
pub use write::{
    Appended, Begin, EventMark, LostEvent, MAX_HOLDERS, Opening, PackedBlob, PackedChunk, PackedEvent,
    PackedSegment, REPEATED_MIN, Rest, SegmentId, SegmentReach, SourceSpan, Write, Written,
};

use std::future::Future;
use std::pin::Pin;
use wunderblock_core::id::{EventId, Handle, StreamId};
use wunderblock_core::units::{Millis, Seq};

/// Future returned by the methods of [`Storage`].
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A database that keeps ledgers.
pub trait Storage: Send + Sync {
    /// Makes all writes of a commit durable, in order, or none of them.
    ///
    /// # Errors
    /// Returns a [`StoreError`] if the basis of the commit is outdated or any write fails. Nothing is stored then.
    fn commit(&self, commit: Commit) -> Answering<'_, Vec<Written>>;

    /// Answers all `queries` from one snapshot, in order.
    ///
    /// # Errors
    /// Returns a [`StoreError`] if the store cannot be read.
    fn query(&self, queries: Vec<Query>) -> Answering<'_, Vec<Answer>>;
}

/// Reason why a store rejected a write or query, or could not carry it out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// An event with the same id but different content is already stored.
    #[error("event `{id}` is already in the ledger at position {seq}, with other content")]
    Conflict {
        /// Id of both events.
        id: EventId,
        /// Position of the stored event.
        seq: Seq,
    },
    /// The stream has grown since the caller read its head.
    #[error("the head of the session is {actual}, expected {expected}; read the session again and retry")]
    HeadMoved {
        /// Head that the caller expected.
        expected: Seq,
        /// Current head of the stream.
        actual: Seq,
    },
    /// Content of the tenant was erased after the caller read it.
    #[error("content was erased while this work was in progress; try again")]
    EpochMoved {
        /// Epoch that the caller read.
        expected: u64,
        /// Current epoch of the tenant.
        actual: u64,
    },
    /// The stream does not exist.
    #[error("there is no session `{0}`")]
    NoStream(StreamId),
    /// The stream exists and cannot be opened a second time.
    #[error("session `{0}` already exists")]
    StreamExists(StreamId),
    /// Two different bodies have the same 64-bit handle.
    #[error("two different bodies have the handle {0}; the second was not stored")]
    HandleTaken(Handle),
    /// Another import is writing the same file.
    #[error("another import of the same file is running")]
    Held {
        /// Time at which the other import's claim expires if the claim is not renewed.
        until: Millis,
    },
    /// Another import has taken over the file.
    #[error("another import of the same file has taken over")]
    Disowned,
    /// The file's newest revision differs from the one that the caller saw.
    #[error("another import has changed the stored copy of the file; import it again")]
    SourceMoved,
    /// Another process holds a lock on the database.
    #[error("the database is locked by another process")]
    Locked,
    /// The database cannot be written.
    #[error("the database is read-only")]
    ReadOnly,
    /// The disk is full, or a quota or file-size limit stops writes as a full disk would.
    #[error("the disk is full, or a size limit is reached; nothing of this write was stored")]
    Full,
    /// A newer version of the program wrote the database.
    #[error("the database has format {found}; this program supports formats up to {known}")]
    TooNew {
        /// Format of the database.
        found: i64,
        /// Newest format that this program supports.
        known: i64,
    },
    /// The database has an older format and is read-only, so it cannot be upgraded.
    #[error(
        "the database has format {found} and cannot be written, so it cannot be upgraded to format {known}, which this program reads"
    )]
    TooOld {
        /// Format of the database.
        found: i64,
        /// Format that this program reads.
        known: i64,
    },
    /// The database is damaged.
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// The file is not a Wunderblock database.
    #[error("{0} is not a Wunderblock database")]
    Foreign(String),
    /// The path now leads to a different ledger than the one that was opened.
    #[error("the ledger was replaced by a restore or by another file while it was open; open it again")]
    Replaced,
    /// Content was erased, but another process prevents the removal of its last copies.
    #[error(
        "the content is erased, but `{0}` may still hold copies of it: another process is reading the ledger"
    )]
    Unscrubbed(String),
    /// No ledger exists at the path, but a restore has left files beside it.
    #[error(
        "there is no database at {path}, but a restore left {traces} beside it; restore one of these, or move them away"
    )]
    Unrestored {
        /// Path at which no ledger exists.
        path: String,
        /// Names of the files that the restore left.
        traces: String,
    },
    /// A file already exists at the target of a copy.
    #[error("{0} already exists")]
    Exists(String),
    /// The file does not exist, and the caller did not allow creating it.
    #[error("there is no database at {0}")]
    Missing(String),
    /// The path is a link to a file that does not exist. The file may be on a disk that is not mounted, so nothing is
    /// created in its place.
    #[error("{path} is a link to {target}, where no file exists; bring the file back, or remove the link")]
    BrokenLink {
        /// Path by which the ledger was to be opened.
        path: String,
        /// Target of the link.
        target: String,
    },
    /// The file has several hard links. Each name would have a log of its own.
    #[error(
        "{path} is one of {links} names (hard links) of one file, and cannot be written: each name would have a log of \
         its own, and events would be lost"
    )]
    Linked {
        /// Path by which the ledger was to be opened.
        path: String,
        /// Number of hard links.
        links: u64,
    },
    /// The operating system reported an error.
    #[error("{0}")]
    Io(String),
}

impl StoreError {
    /// Returns whether the ledger may be readable although it cannot be written.
    #[must_use]
    pub fn may_be_read(&self) -> bool {
        matches!(self, Self::ReadOnly | Self::Full | Self::Linked { .. } | Self::Io(_))
    }
}
