//! The storage port: what the engine asks of a database, and nothing more.
//!
//! Two methods. [`Storage::commit`] makes a list of writes durable, all or none; [`Storage::query`] answers a list of
//! queries from one snapshot. Both are asynchronous and batched, so that a database across a network costs one round
//! trip for each. Whatever stands behind the port passes the same conformance suite (in the testkit).
//! Records arrive encoded ([`codec`]): a store compares, orders and counts them, and never looks inside.

pub mod codec;
pub mod sqlite;

use std::future::Future;
use std::pin::Pin;
use wunderblock_core::id::{EventId, Handle, StreamId};
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};

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
    /// It is no database of ours, or a damaged one.
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// It is some other file.
    #[error("{0} is not a Wunderblock database")]
    Foreign(String),
    /// There is no such file and none may be created.
    #[error("there is no database at {0}")]
    Missing(String),
    /// The operating system said no.
    #[error("{0}")]
    Io(String),
}

/// A tenant's number in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TenantNo(pub i64);

/// A stream's number in the store; small, for compact references.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamNo(pub u32);

/// A source's number in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceNo(pub i64);

/// A body ready to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedBlob {
    /// How it is read back.
    pub handle: Handle,
    /// The tenant-keyed BLAKE3 of the text; its first 64 bits are the handle.
    pub hash: [u8; 32],
    /// The text's length.
    pub bytes: Bytes,
    /// The text, compressed if that makes it shorter (see [`codec::unpack`]).
    pub data: Vec<u8>,
}

/// What kind of event a row holds, as far as a store must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Mark {
    /// A message that is neither of the next two.
    Plain = 0,
    /// The user's own turn.
    UserTurn = 1,
    /// A system message.
    System = 2,
    /// Anything but a message. Its kind can be looked up.
    Control = 3,
}

/// An event ready to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedEvent {
    /// The caller's idempotency key.
    pub id: EventId,
    /// When it happened.
    pub at: Millis,
    /// Its kind.
    pub kind: &'static str,
    /// What a store must know of it.
    pub mark: Mark,
    /// Where it came from, encoded; `None` for live events.
    pub origin: Option<Vec<u8>>,
    /// The encoded fact.
    pub payload: Vec<u8>,
    /// BLAKE3 over kind and content, bodies included, independent of what was moved into blobs.
    pub content: [u8; 32],
    /// Salt for the commitment that is stored in the content hash's place.
    pub salt: [u8; 16],
    /// Bodies to be stored with it.
    pub blobs: Vec<PackedBlob>,
    /// The length of all its texts.
    pub text: Bytes,
}

/// How a stream begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opening {
    /// With its first event.
    New {
        /// The parent session, for a sub-agent's.
        parent: Option<StreamId>,
    },
    /// After a position of another stream.
    Fork {
        /// The other stream.
        parent: StreamId,
        /// The last common position.
        at_seq: Seq,
    },
}

/// One write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Creates the tenant unless it exists. Answers [`Written::Tenant`].
    Tenant {
        /// Its name.
        name: String,
        /// The secret its handles are keyed with, if it is new.
        key: [u8; 32],
    },
    /// Creates a stream. Answers [`Written::Stream`]; an existing one with the same opening is left as it is.
    Open {
        /// Whose.
        tenant: TenantNo,
        /// Its id.
        stream: StreamId,
        /// Its handle.
        handle: Handle,
        /// How it begins.
        opening: Opening,
        /// The scope, encoded.
        scope: Vec<u8>,
        /// The imported source it came from.
        source: Option<SourceNo>,
        /// When.
        at: Millis,
    },
    /// Appends events to a stream. Answers [`Written::Appended`].
    Append {
        /// Whose.
        tenant: TenantNo,
        /// Which.
        stream: StreamId,
        /// Refuse with [`StoreError::HeadMoved`] unless the head is here.
        expect_head: Option<Seq>,
        /// What.
        events: Vec<PackedEvent>,
    },
    /// Begins a source or a new revision of it. Answers [`Written::Source`].
    Source {
        /// Whose.
        tenant: TenantNo,
        /// What tells it from other sources: its path.
        key: String,
        /// Its handle.
        handle: Handle,
        /// The format's name.
        format: String,
        /// How many bytes at its beginning are those of the revision before.
        shared: u64,
        /// When.
        at: Millis,
    },
    /// Adds bytes to a source's newest revision.
    Chunk {
        /// The source.
        source: SourceNo,
        /// The first byte's offset.
        offset: u64,
        /// How many bytes.
        len: u64,
        /// The bytes, packed.
        data: Vec<u8>,
    },
    /// Marks a source's newest revision complete.
    SourceEnd {
        /// The source.
        source: SourceNo,
        /// Its length.
        len: u64,
        /// BLAKE3 of all its bytes.
        hash: [u8; 32],
    },
    /// Says which session a source's own id means.
    SourceLeaf {
        /// The source.
        source: SourceNo,
        /// The session.
        stream: StreamId,
    },
    /// Stores what was counted. Derived.
    Counts {
        /// Whose.
        tenant: TenantNo,
        /// For each body.
        counts: Vec<(Handle, BodyCount)>,
    },
    /// Stores the tokens of events in order, from the position after the last counted one on. Derived.
    Tallies {
        /// Whose.
        tenant: TenantNo,
        /// Which stream.
        stream: StreamId,
        /// Each event's own tokens (o200k).
        tokens: Vec<(Seq, Tokens)>,
    },
    /// Stores a segment of the text index and drops those it replaces. Derived.
    Segment {
        /// Whose.
        tenant: TenantNo,
        /// The new segment; `None` when nothing is left of the old ones.
        segment: Option<PackedSegment>,
        /// The ids of segments that go.
        replaces: Vec<u64>,
        /// How far each stream is indexed now.
        indexed: Vec<(StreamNo, Seq)>,
    },
    /// Forgets what is derived of a tenant, to be made anew.
    DropDerived {
        /// Whose.
        tenant: TenantNo,
    },
    /// Erases content. Answers [`Written::Erased`].
    Erase {
        /// Whose.
        tenant: TenantNo,
        /// Which stream.
        stream: StreamId,
        /// The positions, in this stream or those it continues.
        seqs: Vec<Seq>,
        /// Bytes of sources to overwrite.
        spans: Vec<SourceSpan>,
    },
}

/// Bytes of a source, as one of its revisions has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceSpan {
    /// The source.
    pub source: Handle,
    /// The revision.
    pub revision: u32,
    /// The first byte's offset.
    pub offset: u64,
    /// How many bytes.
    pub len: u64,
}

/// What a write did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// Nothing to tell.
    Done,
    /// The tenant's number and secret.
    Tenant(Tenant),
    /// The stream as it is now, and whether it was created.
    Stream(Box<StreamInfo>, bool),
    /// For each event, where it stands and whether it was there before.
    Appended(Vec<Appended>),
    /// The source's number and revision.
    Source(SourceNo, u32),
    /// What was erased.
    Erased {
        /// Events that lost their content.
        events: u64,
        /// Bodies removed because nothing else held them.
        blobs: u64,
        /// Bytes of sources overwritten.
        source_bytes: Bytes,
    },
}

/// Where an event stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Its position.
    pub seq: Seq,
    /// Whether the same event was there before, and nothing was written.
    pub duplicate: bool,
}

/// A tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tenant {
    /// Its number.
    pub no: TenantNo,
    /// The secret its handles are keyed with.
    pub key: [u8; 32],
}

/// What was counted of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BodyCount {
    /// Tokens, o200k.
    pub o200k: u32,
    /// Tokens, cl100k; counted only where a model needs it.
    pub cl100k: Option<u32>,
    /// The class of the content, as a number (see `tokens::class`).
    pub class: u8,
    /// Its length inside a JSON string.
    pub escaped: u64,
    /// How many double quotes it holds.
    pub quotes: u32,
}

/// A segment of the text index ready to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedSegment {
    /// How many documents.
    pub docs: u64,
    /// The header.
    pub header: Vec<u8>,
    /// The blocks, in order.
    pub blocks: Vec<Vec<u8>>,
}

/// What is known of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamInfo {
    /// Its number.
    pub no: StreamNo,
    /// Its id.
    pub id: StreamId,
    /// Its handle.
    pub handle: Handle,
    /// Its newest position.
    pub head: Seq,
    /// Where it forked from, if it did.
    pub fork: Option<(StreamId, Seq)>,
    /// The session it is a sub-agent's of.
    pub parent: Option<StreamId>,
    /// The scope, encoded.
    pub scope: Vec<u8>,
    /// The imported source.
    pub source: Option<SourceNo>,
    /// When it was opened.
    pub opened_at: Millis,
    /// When its newest event happened.
    pub updated_at: Millis,
    /// Its messages, those it shares with what it forked from included.
    pub messages: u64,
    /// The length of all its texts, likewise.
    pub text: Bytes,
    /// The user's first turn.
    pub first_user: Option<Seq>,
    /// How far tokens are counted.
    pub counted: Seq,
    /// How far the text is indexed.
    pub indexed: Seq,
}

/// Which way to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Oldest first.
    Ascending,
    /// Newest first.
    Descending,
}

/// One query. Positions of a fork before its beginning are those of the stream it forked from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// A tenant by name. Answers [`Answer::Tenant`].
    Tenant {
        /// Its name.
        name: String,
    },
    /// One stream. Answers [`Answer::Stream`].
    Stream {
        /// Whose.
        tenant: TenantNo,
        /// Its id.
        stream: StreamId,
    },
    /// Streams, the newest first. Answers [`Answer::Streams`].
    Streams {
        /// Whose.
        tenant: TenantNo,
        /// Only those whose id begins so.
        prefix: String,
        /// At most so many.
        limit: u64,
    },
    /// The streams that share history with one, itself first, then what it forked from. Answers [`Answer::Lineage`].
    Lineage {
        /// Whose.
        tenant: TenantNo,
        /// Which.
        stream: StreamId,
    },
    /// Events in a range. Answers [`Answer::Events`].
    Events {
        /// Whose.
        tenant: TenantNo,
        /// Which stream.
        stream: StreamId,
        /// First position.
        from: Seq,
        /// Last position.
        to: Seq,
        /// In which order.
        order: Order,
        /// At most so many events.
        limit: u64,
        /// Stop after the event with which their texts exceed this length.
        text: Bytes,
        /// Whether to answer what was counted of their bodies, too.
        counts: bool,
    },
    /// Events at positions, with what was counted of their bodies. Answers [`Answer::Events`].
    At {
        /// Whose.
        tenant: TenantNo,
        /// Which stream.
        stream: StreamId,
        /// Where.
        seqs: Vec<Seq>,
    },
    /// Events that are not plain messages. Answers [`Answer::Events`], newest first.
    Marked {
        /// Whose.
        tenant: TenantNo,
        /// Which stream.
        stream: StreamId,
        /// System messages, or a kind of control event.
        what: Marked,
        /// Only up to here.
        to: Seq,
        /// At most so many.
        limit: u64,
    },
    /// Bodies. Answers [`Answer::Blobs`], `None` where there is none.
    Blobs {
        /// Whose.
        tenant: TenantNo,
        /// Which.
        handles: Vec<Handle>,
    },
    /// What was counted of bodies. Answers [`Answer::Counts`].
    Counts {
        /// Whose.
        tenant: TenantNo,
        /// Which.
        handles: Vec<Handle>,
    },
    /// What the ledger holds up to positions. Answers [`Answer::Tallies`].
    Tallies {
        /// Whose.
        tenant: TenantNo,
        /// Which stream.
        stream: StreamId,
        /// Where.
        seqs: Vec<Seq>,
    },
    /// What a handle names. Answers [`Answer::Named`].
    Resolve {
        /// Whose.
        tenant: TenantNo,
        /// The handle.
        handle: Handle,
    },
    /// A source. Answers [`Answer::Source`].
    Source {
        /// Whose.
        tenant: TenantNo,
        /// By path or number.
        by: SourceBy,
    },
    /// Chunks of a source's newest revision that overlap a range of bytes. Answers [`Answer::Chunks`].
    Chunks {
        /// The source.
        source: SourceNo,
        /// First byte.
        from: u64,
        /// One past the last byte.
        to: u64,
        /// At most so many.
        limit: u64,
    },
    /// All streams with work left for the background. Answers [`Answer::Streams`].
    Behind {
        /// Whose.
        tenant: TenantNo,
        /// At most so many.
        limit: u64,
    },
    /// The text index: all segments, newest first. Answers [`Answer::Segments`].
    Segments {
        /// Whose.
        tenant: TenantNo,
    },
    /// Blocks of segments. Answers [`Answer::Blocks`], `None` where there is none.
    Blocks {
        /// Whose.
        tenant: TenantNo,
        /// Segment and number of the block.
        wanted: Vec<(u64, u32)>,
    },
    /// All blocks of a segment, in order. Answers [`Answer::Blocks`].
    SegmentBlocks {
        /// Whose.
        tenant: TenantNo,
        /// Which.
        segment: u64,
    },
}

/// What [`Query::Marked`] looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marked {
    /// System messages.
    System,
    /// Control events of a kind.
    Kind(&'static str),
}

/// What names a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceBy {
    /// Its path.
    Key(String),
    /// Its number.
    No(SourceNo),
}

/// A stored event. `payload` is `None` once erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// The stream that holds it.
    pub stream: StreamNo,
    /// Its position.
    pub seq: Seq,
    /// The caller's key.
    pub id: EventId,
    /// When it happened.
    pub at: Millis,
    /// Its kind.
    pub kind: String,
    /// The version its payload was written in.
    pub version: u32,
    /// Where it came from, encoded.
    pub origin: Option<Vec<u8>>,
    /// The encoded fact.
    pub payload: Option<Vec<u8>>,
    /// Salt and commitment, for `doctor`.
    pub proof: Option<([u8; 16], [u8; 32])>,
    /// What was counted of its bodies, where that was asked for and has been done.
    pub counts: Vec<(Handle, BodyCount)>,
}

/// What the ledger holds up to a position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TallyRow {
    /// Messages.
    pub messages: u64,
    /// The length of their texts.
    pub text: Bytes,
    /// Their tokens (o200k), where counted that far.
    pub tokens: Option<Tokens>,
}

/// A stretch of positions and the stream that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The stream.
    pub no: StreamNo,
    /// Its id.
    pub stream: StreamId,
    /// First position.
    pub from: Seq,
    /// Last position.
    pub to: Seq,
}

/// What a handle names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// A body.
    Blob,
    /// A stream.
    Stream(StreamId),
    /// An imported source.
    Source(SourceNo),
}

/// What is known of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceInfo {
    /// Its number.
    pub no: SourceNo,
    /// Its handle.
    pub handle: Handle,
    /// Its path.
    pub key: String,
    /// The format's name.
    pub format: String,
    /// The newest complete revision, from 1; 0 when none is.
    pub revision: u32,
    /// The length of that revision.
    pub len: u64,
    /// BLAKE3 of that revision.
    pub hash: [u8; 32],
    /// Whether bytes of it were erased, so that the hash no longer holds.
    pub erased: bool,
    /// The session its own id means.
    pub leaf: Option<StreamId>,
}

/// A part of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its first byte's offset in the source.
    pub offset: u64,
    /// How many bytes of it belong to the newest revision.
    pub len: u64,
    /// The bytes, packed; may hold more than `len`.
    pub data: Vec<u8>,
}

/// A segment of the text index as listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentInfo {
    /// Its number; a larger one is newer.
    pub id: u64,
    /// Its documents.
    pub docs: u64,
    /// Its size.
    pub bytes: Bytes,
    /// Its header.
    pub header: Vec<u8>,
}

/// An answer to a [`Query`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// See [`Query::Tenant`].
    Tenant(Option<Tenant>),
    /// See [`Query::Stream`].
    Stream(Option<Box<StreamInfo>>),
    /// See [`Query::Streams`].
    Streams(Vec<StreamInfo>),
    /// See [`Query::Lineage`].
    Lineage(Vec<Stretch>),
    /// See [`Query::Events`].
    Events(Vec<StoredEvent>),
    /// See [`Query::Blobs`].
    Blobs(Vec<Option<PackedBlob>>),
    /// See [`Query::Counts`].
    Counts(Vec<Option<BodyCount>>),
    /// See [`Query::Tallies`].
    Tallies(Vec<TallyRow>),
    /// See [`Query::Resolve`].
    Named(Option<Named>),
    /// See [`Query::Source`].
    Source(Option<SourceInfo>),
    /// See [`Query::Chunks`].
    Chunks(Vec<Chunk>),
    /// See [`Query::Segments`].
    Segments(Vec<SegmentInfo>),
    /// See [`Query::Blocks`].
    Blocks(Vec<Option<Vec<u8>>>),
}
