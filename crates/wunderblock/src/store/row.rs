//! What a store holds, row by row.

use wunderblock_core::id::{EventId, Handle, StreamId};
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
