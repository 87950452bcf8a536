//! Writes that a store makes durable, and their results.

use super::facets::Facets;
use super::row::{
    BodyCount, DerivedTable, Erasure, Lease, Owner, SourceNo, StreamInfo, StreamKind, StreamNo, Tenant,
    TenantNo,
};
use wunderblock_core::author::Authors;
use wunderblock_core::id::{EventId, Handle, Scope, StreamId};
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};

/// A body ready to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedBlob {
    /// Handle under which the body is read.
    pub handle: Handle,
    /// Tenant-keyed BLAKE3 hash of the text; its first 64 bits are the handle.
    pub hash: [u8; 32],
    /// Length of the text before compression.
    pub bytes: Bytes,
    /// The text, compressed if that is shorter (see [`super::codec::unpack`]).
    pub data: Vec<u8>,
}

/// Category of an event, as far as a store needs to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum EventMark {
    /// A message that is neither a user's turn nor a system message.
    Plain = 0,
    /// A user's own turn.
    UserTurn = 1,
    /// A system message.
    System = 2,
    /// An event that is not a message. The event can be looked up by kind.
    Control = 3,
}

/// An event ready to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedEvent {
    /// Caller's idempotency key.
    pub id: EventId,
    /// Time of the event.
    pub at: Millis,
    /// Kind of the event.
    pub kind: &'static str,
    /// Category by which a store finds the event.
    pub mark: EventMark,
    /// Encoded origin of the event; `None` for live events.
    pub origin: Option<Vec<u8>>,
    /// Encoded fact.
    pub payload: Vec<u8>,
    /// BLAKE3 hash over the kind and content. Bodies are hashed in full, whether or not they were moved into blobs.
    pub content: [u8; 32],
    /// Salt of the commitment that is stored instead of the content hash.
    pub salt: [u8; 16],
    /// Bodies to be stored with the event.
    pub blobs: Vec<PackedBlob>,
    /// Total length of the event's texts.
    pub text: Bytes,
    /// Checksum of the payload and origin, verified at every read.
    pub checksum: i64,
    /// Attributes by which the event can be filtered.
    pub facets: Facets,
    /// Hashes of the transcript records that end with this event. A record with an id is hashed by its id, as are the
    /// empty records that follow it; a record without an id is hashed by its content
    /// ([`super::codec::nameless_key`]).
    pub records: Vec<i64>,
}

/// How a stream begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opening {
    /// The stream begins with its first event.
    New {
        /// Parent session, if the stream is a sub-agent's session.
        parent: Option<StreamId>,
    },
    /// The stream continues another stream after one of its positions.
    Fork {
        /// Stream that is continued.
        parent: StreamId,
        /// Last position shared with the parent.
        at_seq: Seq,
    },
}

/// A single write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Creates a tenant if it does not exist. Answers [`Written::Tenant`].
    Tenant {
        /// Name of the tenant.
        name: String,
        /// Secret key for the tenant's handles. The key is ignored if the tenant exists.
        key: [u8; 32],
    },
    /// Creates a stream. Answers [`Written::Stream`]. An existing stream with the same opening is left unchanged.
    Open {
        /// Tenant that owns the stream.
        tenant: TenantNo,
        /// Kind of the stream, which is also that of the stream that a fork continues.
        kind: StreamKind,
        /// Id of the stream.
        stream: StreamId,
        /// Handle of the stream.
        handle: Handle,
        /// How the stream begins.
        opening: Opening,
        /// User, project, agent, session and run to which the stream belongs.
        scope: Scope,
        /// Time at which the stream is opened.
        at: Millis,
    },
    /// Gives the streams that were opened in some folders the project that these folders have now. Streams whose
    /// project was named by a caller have no folder, and keep it.
    Project {
        /// Tenant that owns the streams.
        tenant: TenantNo,
        /// Folders that lie in the project.
        folders: Vec<String>,
        /// Folder from which the project was found, which becomes that of the streams.
        folder: String,
        /// Name of the project.
        project: String,
    },
    /// Appends events to a stream. Answers [`Written::Appended`].
    ///
    /// A caller that did not receive the answer may retry. Events already stored with the same content are answered
    /// as duplicates. If all of the events are duplicates, `expect_head` is not checked.
    Append {
        /// Tenant that owns the stream.
        tenant: TenantNo,
        /// Stream to append to.
        stream: StreamId,
        /// Head that the caller expects. If the head differs, the append fails with [`super::StoreError::HeadMoved`],
        /// unless all of the events are already stored.
        expect_head: Option<Seq>,
        /// Events to append, in order.
        events: Vec<PackedEvent>,
    },
    /// Claims a source's revision for writing: begins a new revision or continues the newest. Answers
    /// [`Written::Source`]. Fails with [`super::StoreError::Held`] while another owner writes the newest revision,
    /// and with [`super::StoreError::SourceMoved`] if the newest revision is not the one that the caller saw.
    Source {
        /// Tenant that owns the source.
        tenant: TenantNo,
        /// Path of the source, which identifies it within the tenant.
        key: String,
        /// Handle of the source.
        handle: Handle,
        /// Name of the transcript format.
        format: String,
        /// Revision to write.
        begin: Begin,
        /// New owner of the revision.
        owner: Owner,
        /// Current time. A store has no clock.
        now: Millis,
        /// Whether the caller knows that the current owner is dead and may take over before its claim expires.
        takes_over: bool,
    },
    /// Appends bytes to a revision. Fails with [`super::StoreError::Disowned`] if another import owns the revision,
    /// and with [`super::StoreError::SourceMoved`] if the revision does not end at `from`.
    Extend {
        /// Source that the revision belongs to.
        source: SourceNo,
        /// Number of the revision.
        revision: u32,
        /// Owner of the revision.
        owner: Owner,
        /// Length of the revision before this write, in bytes.
        from: u64,
        /// Bytes to append, in order and without gaps.
        chunks: Vec<PackedChunk>,
        /// Ranges of erased bytes, which the chunks contain as blanks: first byte, one past the last.
        erased: Vec<(u64, u64)>,
    },
    /// Marks a revision as complete and releases its ownership. Fails with [`super::StoreError::Disowned`] if another
    /// import owns the revision.
    Whole {
        /// Source that the revision belongs to.
        source: SourceNo,
        /// Number of the revision.
        revision: u32,
        /// Token of the revision's owner.
        token: String,
        /// Modification time of the file, in nanoseconds since 1970.
        modified: Option<i64>,
        /// Encoded state of the reader, needed to continue reading when the file grows.
        reader: Option<Vec<u8>>,
        /// Session that corresponds to the file's own session id.
        leaf: Option<StreamId>,
    },
    /// Releases ownership of an incomplete revision. Does nothing if another import owns the revision.
    Disown {
        /// Source that the revision belongs to.
        source: SourceNo,
        /// Number of the revision.
        revision: u32,
        /// Token of the owner that releases the revision.
        token: String,
    },
    /// Records that a stream was read from a revision.
    Link {
        /// Tenant that owns the stream and the source.
        tenant: TenantNo,
        /// Stream that was read.
        stream: StreamId,
        /// Source that the revision belongs to.
        source: SourceNo,
        /// Number of the revision.
        revision: u32,
    },
    /// Stores the places of transcript records that produced no event: the stream, and the position they follow.
    Records {
        /// Tenant that owns the stream.
        tenant: TenantNo,
        /// Stream to which the positions belong.
        stream: StreamId,
        /// Hash of each record's id, and the position that the record follows.
        records: Vec<(i64, Seq)>,
    },
    /// Gives a format-1 revision its own copy of the bytes that it shares with the previous revision, so that erasing
    /// from one revision does not affect the other.
    Unshare {
        /// Source that the revision belongs to.
        source: SourceNo,
        /// Number of the revision.
        revision: u32,
    },
    /// Stores the authors of messages in the user's role. Derived data, except for live events.
    Authors {
        /// Tenant that owns the stream.
        tenant: TenantNo,
        /// Stream that contains the messages.
        stream: StreamNo,
        /// Position and authors of each message.
        authors: Vec<(Seq, Authors)>,
    },
    /// Stores token counts of bodies. Derived data.
    Counts {
        /// Tenant that owns the bodies.
        tenant: TenantNo,
        /// Handle and counts of each body.
        counts: Vec<(Handle, BodyCount)>,
    },
    /// Stores the tokens of consecutive events, beginning after the last counted position. Derived data.
    Tallies {
        /// Tenant that owns the stream.
        tenant: TenantNo,
        /// Stream to which the events belong.
        stream: StreamId,
        /// Position of each event and its tokens (o200k).
        tokens: Vec<(Seq, Tokens)>,
    },
    /// Stores a segment of a derived table and removes the segments that it replaces. Derived data.
    Segment {
        /// Tenant that owns the table.
        tenant: TenantNo,
        /// The derived table.
        table: DerivedTable,
        /// New segment; `None` if nothing remains of the replaced segments.
        segment: Option<PackedSegment>,
        /// Segments to remove. The write fails with [`super::StoreError::HeadMoved`] if another process has replaced
        /// one of them.
        replaces: Vec<SegmentId>,
        /// Stream ranges that the segment adds to the table. The write fails with [`super::StoreError::HeadMoved`] if
        /// another process has added part of a range in the meantime.
        reaches: Vec<SegmentReach>,
    },
    /// Claims a piece of work, or extends an existing claim. Answers [`Written::Claimed`].
    ///
    /// The claim succeeds if nobody holds the work, if the present claim has expired (`until` is not after `now`), or
    /// if the caller already holds it. A lease only avoids duplicate work. A lease is not a lock, so correctness must
    /// not depend on it. Derived data.
    Claim {
        /// Tenant that the work belongs to.
        tenant: TenantNo,
        /// Name of the work, chosen by the caller.
        key: String,
        /// Unique name of the worker that makes the claim.
        holder: String,
        /// Current time. A store has no clock.
        now: Millis,
        /// Time at which the claim expires, which limits how long a dead worker blocks others.
        until: Millis,
    },
    /// Releases a claim. Does nothing if the claim belongs to another worker or does not exist.
    Release {
        /// Tenant that the work belongs to.
        tenant: TenantNo,
        /// Name of the work.
        key: String,
        /// Name of the worker that held the claim.
        holder: String,
    },
    /// Deletes a tenant's leases and its derived data, which is rebuilt afterwards: also the authors of imported
    /// messages.
    DropDerived {
        /// Tenant whose derived data is deleted.
        tenant: TenantNo,
    },
    /// Erases content. Answers [`Written::Erased`].
    Erase {
        /// Tenant that owns the content.
        tenant: TenantNo,
        /// Stream that contains the events.
        stream: StreamId,
        /// Events to erase, in this stream or in the streams that it continues. Their ids become keyed hashes
        /// ([`super::codec::erased_id`]).
        events: Vec<LostEvent>,
        /// Bytes of sources to overwrite, as offsets within their revisions.
        spans: Vec<SourceSpan>,
        /// Coordinates of content that a later import must not bring back.
        erasures: Vec<Erasure>,
    },
}

/// An event that loses its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostEvent {
    /// Position of the event.
    pub seq: Seq,
    /// What remains of the fact; if nothing does, the event no longer belongs to its lane, either.
    pub rest: Option<Rest>,
}

impl LostEvent {
    /// Creates the loss of a whole fact.
    #[must_use]
    pub const fn new(seq: Seq) -> Self {
        Self { seq, rest: None }
    }
}

/// Record that remains of an erased fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    /// Encoded fact.
    pub payload: Vec<u8>,
    /// Hash over the kind and the rest.
    pub content: [u8; 32],
    /// Salt of the commitment.
    pub salt: [u8; 16],
}

/// Revision of a source that a caller wants to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// A new revision that follows the newest one.
    New {
        /// Number of the newest existing revision; 0 if the source is new.
        after: u32,
        /// Handle of the new revision.
        handle: Handle,
    },
    /// The newest revision, if it has this number and length.
    Grow {
        /// Number of the revision.
        revision: u32,
        /// Length of the revision in bytes.
        len: u64,
    },
}

/// Consecutive bytes of a source, ready to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedChunk {
    /// Offset of the first byte.
    pub offset: u64,
    /// Number of bytes before packing.
    pub len: u64,
    /// Packed bytes.
    pub data: Vec<u8>,
    /// Checksum of the bytes before packing.
    pub checksum: i64,
}

/// Minimum length, in bytes, of an erased record that is also searched for in other places. Shorter records occur in
/// too many places.
pub const REPEATED_MIN: u64 = 24;

/// Maximum number of streams in which a record without an id is found by its content. A record at the same offset in
/// a larger number of files, such as a system prompt, does not identify any of them.
pub const MAX_HOLDERS: u64 = 4;

/// Range of a stream that a segment adds to a derived table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentReach {
    /// Number of the stream.
    pub stream: StreamNo,
    /// Frontier of the table before the segment.
    pub after: Seq,
    /// Frontier of the table with the segment.
    pub through: Seq,
}

/// Range of bytes in one revision of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceSpan {
    /// Handle of the source.
    pub source: Handle,
    /// Number of the revision.
    pub revision: u32,
    /// Offset of the first byte.
    pub offset: u64,
    /// Number of bytes.
    pub len: u64,
}

/// Result of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// The write succeeded and returns no data.
    Done,
    /// Number and secret key of the tenant.
    Tenant(Tenant),
    /// Current state of the stream, and whether this write created it.
    Stream(Box<StreamInfo>, bool),
    /// For each event, its position and whether it was already stored.
    Appended(Vec<Appended>),
    /// The other worker's lease, or `None` if the caller now holds the work.
    Claimed(Option<Lease>),
    /// Number of the source, and number of the revision.
    Source(SourceNo, u32),
    /// Amount of erased content.
    Erased {
        /// Number of events that lost their content.
        events: u64,
        /// Number of bodies removed because no other event refers to them.
        blobs: u64,
        /// Number of source bytes overwritten.
        source_bytes: Bytes,
    },
}

/// Position of an appended event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Position of the event.
    pub seq: Seq,
    /// Whether the same event was already stored, so that nothing was written.
    pub duplicate: bool,
    /// Whether the stored event with this id has been erased, so that its content could not be compared.
    pub erased: bool,
}

impl Appended {
    /// Returns the result of an event that was written.
    #[must_use]
    pub const fn written(seq: Seq) -> Self {
        Self { seq, duplicate: false, erased: false }
    }

    /// Returns the result of an event that was stored before.
    #[must_use]
    pub const fn known(seq: Seq, erased: bool) -> Self {
        Self { seq, duplicate: true, erased }
    }
}

/// A segment as a caller saw it. Between two erasures, a segment changes only when it absorbs others, which adds
/// documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SegmentId {
    /// Number of the segment.
    pub no: u64,
    /// Number of documents.
    pub docs: u64,
}

/// A segment of a derived table ready to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedSegment {
    /// Number of documents.
    pub docs: u64,
    /// Encoded header.
    pub header: Vec<u8>,
    /// Blocks in order.
    pub blocks: Vec<Vec<u8>>,
}
