//! What a store is asked to make durable, and what it answers.

use super::row::{BodyCount, Erasure, Lease, Owner, SourceNo, StreamInfo, StreamNo, Tenant, TenantNo};
use wunderblock_core::id::{EventId, Handle, LaneId, Scope, StreamId};
use wunderblock_core::message::Role;
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};

/// A body ready to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedBlob {
    /// How it is read back.
    pub handle: Handle,
    /// The tenant-keyed BLAKE3 of the text; its first 64 bits are the handle.
    pub hash: [u8; 32],
    /// The text's length.
    pub bytes: Bytes,
    /// The text, compressed if that makes it shorter (see [`super::codec::unpack`]).
    pub data: Vec<u8>,
}

/// What kind of event a row holds, as far as a store must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum EventMark {
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
    pub mark: EventMark,
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
    /// Checksum of payload and origin, proved at every read.
    pub checksum: i64,
    /// What it can be filtered by.
    pub facets: Facets,
    /// Hashes of transcript records that end with it: of the ids of its own and of those that say nothing and follow
    /// it, or of its content ([`super::codec::nameless_key`]).
    pub records: Vec<i64>,
}

/// What events can be filtered by, besides time and kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facets {
    /// Who spoke, of messages that are part of the conversation.
    pub role: Option<Role>,
    /// The tool of its first call.
    pub tool: Option<Box<str>>,
    /// The file that call is about.
    pub path: Option<Box<str>>,
    /// The lane it belongs to. It is no content: it stays when the event is erased.
    pub lane: Option<LaneId>,
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
        /// Whose it is.
        scope: Scope,
        /// When.
        at: Millis,
    },
    /// Appends events to a stream. Answers [`Written::Appended`].
    ///
    /// Whoever did not hear the answer says it again: events that are there already with the same content are answered
    /// as duplicates, and if all of them are, the head may be anywhere.
    Append {
        /// Whose.
        tenant: TenantNo,
        /// Which.
        stream: StreamId,
        /// Refuse with [`super::StoreError::HeadMoved`] unless the head is here, or all of the events are there already.
        expect_head: Option<Seq>,
        /// What.
        events: Vec<PackedEvent>,
    },
    /// Takes a source's revision to write it: begins a new one, or goes on with the newest. Answers
    /// [`Written::Source`]. Refused with [`super::StoreError::Held`] while another owner writes the newest revision, and
    /// with [`super::StoreError::SourceMoved`] where the newest is not what the caller saw.
    Source {
        /// Whose.
        tenant: TenantNo,
        /// What tells it from other sources: its path.
        key: String,
        /// Its handle.
        handle: Handle,
        /// The format's name.
        format: String,
        /// Which revision.
        begin: Begin,
        /// Who writes it from now on.
        owner: Owner,
        /// What the time is. A store has no clock of its own.
        now: Millis,
        /// Whether the caller knows that the present owner is dead.
        takes_over: bool,
    },
    /// Adds bytes to a revision. Refused with [`super::StoreError::Disowned`] where somebody else owns it, and with
    /// [`super::StoreError::SourceMoved`] where it does not end at `from`.
    Extend {
        /// The source.
        source: SourceNo,
        /// The revision.
        revision: u32,
        /// Who writes.
        owner: Owner,
        /// How long the revision is before.
        from: u64,
        /// The bytes, in order, without gaps.
        chunks: Vec<PackedChunk>,
        /// Ranges of them that stand for erased bytes: first byte, one past the last.
        erased: Vec<(u64, u64)>,
    },
    /// Says that a revision is whole, and gives it back. Refused as [`Write::Extend`].
    Whole {
        /// The source.
        source: SourceNo,
        /// The revision.
        revision: u32,
        /// Who writes.
        token: String,
        /// When the file was last modified.
        modified: Option<i64>,
        /// What is needed to read on, encoded.
        reader: Option<Vec<u8>>,
        /// The session the file's own id means.
        leaf: Option<StreamId>,
    },
    /// Gives a revision back that is not whole. Where somebody else owns it, nothing happens.
    Disown {
        /// The source.
        source: SourceNo,
        /// The revision.
        revision: u32,
        /// Who wrote.
        token: String,
    },
    /// Notes that a stream was read from a revision.
    Link {
        /// Whose.
        tenant: TenantNo,
        /// The stream.
        stream: StreamId,
        /// The source.
        source: SourceNo,
        /// The revision.
        revision: u32,
    },
    /// Notes where records stand that made no event: after which position of which stream.
    Records {
        /// Whose.
        tenant: TenantNo,
        /// The stream.
        stream: StreamId,
        /// Hash of the record's id, and the position.
        records: Vec<(i64, Seq)>,
    },
    /// Gives a revision of format 1 bytes of its own for those it shares with the one before, so that erasing from one
    /// does not touch the other.
    Unshare {
        /// The source.
        source: SourceNo,
        /// The revision.
        revision: u32,
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
    /// Refuses the caller's writes with [`super::StoreError::HeadMoved`] unless the epoch is this one: no content has been
    /// erased and no segment replaced since it was asked for. What was read before must not be written after.
    Still {
        /// See [`super::Query::Epoch`].
        epoch: u64,
    },
    /// Stores a segment of the text index and drops those it replaces. Derived.
    Segment {
        /// Whose.
        tenant: TenantNo,
        /// The new segment; `None` when nothing is left of the old ones.
        segment: Option<PackedSegment>,
        /// The ids of segments that go.
        replaces: Vec<u64>,
        /// What the segment adds to the index. Refused with [`super::StoreError::HeadMoved`] where somebody else has indexed
        /// some of it meanwhile.
        indexed: Vec<SegmentReach>,
    },
    /// Claims a piece of work, or holds on to it longer. Answers [`Written::Claimed`].
    ///
    /// It is taken where nobody holds it, where the one who did has let its time pass (`until` is not after `now`), and
    /// where the holder asks again. A lease keeps others from doing the same work; it is no lock, and nothing that has to
    /// be true may rest on it. Derived.
    Claim {
        /// Whose.
        tenant: TenantNo,
        /// What the work is, in the caller's word.
        key: String,
        /// Who asks: a name no other worker has.
        holder: String,
        /// What the time is. A store has no clock of its own.
        now: Millis,
        /// When the claim ends by itself, so that a worker that has died holds nobody up for longer.
        until: Millis,
    },
    /// Gives a claim back. Where somebody else holds it, or nobody does, nothing happens.
    Release {
        /// Whose.
        tenant: TenantNo,
        /// What the work is.
        key: String,
        /// Who held it.
        holder: String,
    },
    /// Forgets what is derived of a tenant, to be made anew, and who holds which work.
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
        /// Bytes of sources to overwrite, each as its revision has them.
        spans: Vec<SourceSpan>,
        /// What is not to come back by another import.
        erasures: Vec<Erasure>,
    },
}

impl Write {
    /// Whether what was read before it may not be written after it.
    #[must_use]
    pub fn ends_epoch(&self) -> bool {
        match self {
            Self::Erase { .. } => true,
            Self::Segment { replaces, .. } => !replaces.is_empty(),
            _ => false,
        }
    }
}

/// Which revision of a source is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// A new one after the newest, which is this one; 0 where the source is new.
    New {
        /// The newest revision there is.
        after: u32,
        /// The new revision's handle.
        handle: Handle,
    },
    /// The newest, which is this one and this long.
    Grow {
        /// Its number.
        revision: u32,
        /// How many bytes it has.
        len: u64,
    },
}

/// Bytes of a source, ready to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedChunk {
    /// The first byte's offset.
    pub offset: u64,
    /// How many bytes.
    pub len: u64,
    /// The bytes, packed.
    pub data: Vec<u8>,
    /// Checksum of the bytes before they were packed.
    pub checksum: i64,
}

/// Minimum length of a record that is looked for in other places when it is erased, in bytes. Shorter ones say nothing,
/// and stand everywhere.
pub const REPEATED_MIN: u64 = 24;

/// Maximum number of streams in which a record without an id is found by its content. What stands at the same place of
/// more files than these (a system prompt) tells none of them.
pub const MAX_HOLDERS: u64 = 4;

/// How much of a stream a segment of the index adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentReach {
    /// The stream.
    pub stream: StreamNo,
    /// How far it was indexed before.
    pub after: Seq,
    /// How far it is indexed now.
    pub through: Seq,
}

/// Bytes of a source, as one of its revisions has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    /// Who holds the work instead, and until when; none if the caller does now.
    Claimed(Option<Lease>),
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
