//! The storage port: what the engine asks of a database, and nothing more.
//!
//! Two methods. [`Storage::commit`] makes a list of writes durable, all or none; [`Storage::query`] answers a list of
//! queries from one snapshot. Both are asynchronous and batched, so that a database across a network costs one round
//! trip for each. Whatever stands behind the port passes the same conformance suite (in the testkit).
//! Records arrive encoded ([`codec`]): a store compares, orders and counts them, and never looks inside.

pub mod codec;
pub(crate) mod overlay;
mod query;
mod row;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(not(feature = "sqlite"))]
#[path = "no_file.rs"]
pub(crate) mod sqlite;
mod write;

pub use query::{Answer, Marked, Query, ReadOrder, SourceBy};
pub use row::{
    BodyCount, Chunk, Erasure, Gone, HandleTarget, KnownEvent, Lease, Owner, RevisionInfo, SegmentInfo,
    SourceInfo, SourceNo, StoredEvent, StreamFilter, StreamInfo, StreamNo, Stretch, TallyRow, Tenant,
    TenantNo,
};
pub use write::{
    Appended, Begin, EventMark, Facets, MAX_HOLDERS, Opening, PackedBlob, PackedChunk, PackedEvent,
    PackedSegment, REPEATED_MIN, SegmentReach, SourceSpan, Write, Written,
};

use std::future::Future;
use std::pin::Pin;
use wunderblock_core::id::{EventId, Handle, StreamId};
use wunderblock_core::units::{Millis, Seq};

/// What a port method returns.
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A database that keeps ledgers.
pub trait Storage: Send + Sync {
    /// Makes all of `writes` durable, in order, or none of them.
    ///
    /// # Errors
    /// See [`StoreError`]; after an error nothing of `writes` is there.
    fn commit(&self, writes: Vec<Write>) -> Answering<'_, Vec<Written>>;

    /// Answers all of `queries` from one snapshot, in order.
    ///
    /// # Errors
    /// See [`StoreError`].
    fn query(&self, queries: Vec<Query>) -> Answering<'_, Vec<Answer>>;
}

/// Why a store refused, or could not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// An event with the same id and another content is there already.
    #[error("event `{id}` is already in the ledger at position {seq}, with other content")]
    Conflict {
        /// The id both claim.
        id: EventId,
        /// Where the first one stands.
        seq: Seq,
    },
    /// The stream has grown since the caller looked.
    #[error("the session has moved on: its head is {actual}, not {expected}")]
    HeadMoved {
        /// Where the caller saw it.
        expected: Seq,
        /// Where it is.
        actual: Seq,
    },
    /// There is no such stream.
    #[error("there is no session `{0}`")]
    NoStream(StreamId),
    /// The stream exists and cannot be opened a second time.
    #[error("session `{0}` exists already")]
    StreamExists(StreamId),
    /// Two different bodies have the same 64-bit handle.
    #[error("two different bodies have the handle {0}; the second was not stored")]
    HandleTaken(Handle),
    /// Another import is writing the same file.
    #[error("another import of the same file is under way")]
    Held {
        /// Until when it holds the file, unless it goes on.
        until: Millis,
    },
    /// Another import has taken the file over.
    #[error("another import of the same file has taken over")]
    Disowned,
    /// The file's newest revision is not what the caller saw.
    #[error("another import has changed what is kept of the file")]
    SourceMoved,
    /// Somebody else holds the database.
    #[error("the database is locked by another process")]
    Locked,
    /// It cannot be written.
    #[error("the database is read-only")]
    ReadOnly,
    /// The disk is full, or a quota or limit on file sizes ends writes where a full disk would.
    #[error("the disk is full or takes no more; nothing of this write was stored")]
    Full,
    /// It was written by a newer program.
    #[error("the database has format {found}; this program knows formats up to {known}")]
    TooNew {
        /// The format found.
        found: i64,
        /// The newest format known.
        known: i64,
    },
    /// It was written by an older program, and cannot be written, so it cannot be upgraded.
    #[error(
        "the database has format {found} and cannot be written; this program reads format {known}, to which the first command that may write it upgrades it"
    )]
    TooOld {
        /// The format found.
        found: i64,
        /// The format that is read.
        known: i64,
    },
    /// It is no database of ours, or a damaged one.
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// It is some other file.
    #[error("{0} is not a Wunderblock database")]
    Foreign(String),
    /// Another ledger is in the file than the one that was opened.
    #[error("the ledger was replaced by a restore while it was open; open it again")]
    Replaced,
    /// Content was erased, and somebody keeps its last copies from being removed.
    #[error(
        "the content is erased, but `{0}` may still hold copies of it: another process is reading the ledger"
    )]
    Unscrubbed(String),
    /// There is no ledger at a path, and a restore has left one beside it.
    #[error(
        "there is no database at {path}, but a restore left {traces} beside it; restore one of these, or move them away"
    )]
    Unrestored {
        /// Where none is.
        path: String,
        /// What lies beside it.
        traces: String,
    },
    /// Something is where a copy should go.
    #[error("{0} exists already")]
    Exists(String),
    /// There is no such file and none may be created.
    #[error("there is no database at {0}")]
    Missing(String),
    /// The operating system said no.
    #[error("{0}")]
    Io(String),
}
