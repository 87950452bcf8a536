//! What a store holds, row by row.

use wunderblock_core::id::{EventId, Handle, LaneId, Scope, StreamId};
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};

/// A tenant's number in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TenantNo(pub i64);

/// A stream's number in the store; small, for compact references.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamNo(pub u32);

/// A source's number in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceNo(pub i64);

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
    /// Whose it is.
    pub scope: Scope,
    /// The imported source and the revision of it that the stream was last read from.
    pub source: Option<(SourceNo, u32)>,
    /// Whether an import of it has not reached its end.
    pub unfinished: bool,
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
    /// The newest message that is part of the conversation; where there is none, where the stream begins.
    pub said: Seq,
    /// How far tokens are counted.
    pub counted: Seq,
    /// How far the text is indexed.
    pub indexed: Seq,
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
    /// The lane it belongs to, if it belongs to one.
    pub lane: Option<LaneId>,
    /// The version its payload was written in.
    pub version: u32,
    /// Where it came from, encoded.
    pub origin: Option<Vec<u8>>,
    /// The encoded fact.
    pub payload: Option<Vec<u8>>,
    /// Salt and commitment, for `doctor`.
    pub proof: Option<([u8; 16], [u8; 32])>,
    /// Checksum of payload and origin; `None` in records of format 1 and in erased ones.
    pub checksum: Option<i64>,
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
pub enum HandleTarget {
    /// A body.
    Blob,
    /// A stream.
    Stream(StreamId),
    /// An imported source: its newest revision, or the one that is named.
    Source(SourceNo, Option<u32>),
}

/// A source, and one revision of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceInfo {
    /// Its number.
    pub no: SourceNo,
    /// Its handle: that of its newest revision.
    pub handle: Handle,
    /// Its path.
    pub key: String,
    /// The revision.
    pub revision: RevisionInfo,
}

/// What is known of a revision: the bytes a path had from one rewriting to the next. A file that only grew is still the
/// same revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionInfo {
    /// Its number, from 1.
    pub no: u32,
    /// Its own handle.
    pub handle: Handle,
    /// The format's name.
    pub format: String,
    /// How many of its first bytes are those of the revision before; only in revisions of format 1.
    pub shared: u64,
    /// How many bytes are kept.
    pub len: u64,
    /// Whether the import has reached the file's end. Otherwise it is under way, or was cut short.
    pub whole: bool,
    /// Who is writing it.
    pub owner: Option<Owner>,
    /// BLAKE3 of all its bytes; only in revisions of format 1, whose chunks have no checksums.
    pub hash: Option<[u8; 32]>,
    /// Ranges of it that stand for erased bytes: first byte, one past the last.
    pub erased: Vec<(u64, u64)>,
    /// The session the file's own id means.
    pub leaf: Option<StreamId>,
    /// When the file was last modified, in nanoseconds since 1970, as far as that can be relied on.
    pub modified: Option<i64>,
    /// What is needed to read on where the import stopped, encoded.
    pub reader: Option<Vec<u8>>,
}

/// Who is writing a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// A name no other writer has.
    pub token: String,
    /// Until when, unless it is renewed. Every write renews it.
    pub until: Millis,
}

/// A part of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its first byte's offset in the source.
    pub offset: u64,
    /// How many bytes of it belong to the revision.
    pub len: u64,
    /// The bytes, packed; may hold more than `len`.
    pub data: Vec<u8>,
    /// Checksum of the unpacked bytes; `None` in chunks of format 1.
    pub checksum: Option<i64>,
}

/// An event with an id, as far as one is told by [`super::Query::Ids`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownEvent {
    /// Its position.
    pub seq: Seq,
    /// Salt and commitment; `None` once erased.
    pub proof: Option<([u8; 16], [u8; 32])>,
}

/// The coordinates of something that was erased: never content, nor a hash of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Erasure {
    /// The session, by the agent's own id.
    pub session: String,
    /// What of it.
    pub what: Gone,
}

/// What of a session was erased.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gone {
    /// All of it: format 1 did not say which records it had.
    Session,
    /// An event, by its id.
    Event(String),
    /// What imported files hold of a record, by the record's own id, or `r` and its offset. Its events may be there: a
    /// text that was erased may have stood in what makes no event.
    Record(String),
}

/// Which sessions are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamFilter {
    /// Only those whose id begins so.
    pub prefix: String,
    /// Only those of this project.
    pub project: Option<String>,
    /// Only those of this agent.
    pub agent: Option<String>,
    /// Only those with an event at or after this time.
    pub since: Option<Millis>,
}

/// Who holds a piece of work. See [`super::Write::Claim`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Who.
    pub holder: String,
    /// Until when, unless it is claimed again.
    pub until: Millis,
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
