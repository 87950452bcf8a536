//! Rows of a store.

use super::facets::EventUsage;
use super::write::{EventMark, PackedEvent, SegmentId};
use wunderblock_core::author::{Author, Authors};
use wunderblock_core::id::{EventId, Handle, LaneId, Scope, StreamId};
use wunderblock_core::message::Role;
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};

/// Number of a tenant in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TenantNo(pub i64);

/// Number of a stream in the store. The number is small, so that references to streams are compact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamNo(pub u32);

/// Number of a source in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceNo(pub i64);

/// A tenant's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tenant {
    /// Number of the tenant.
    pub no: TenantNo,
    /// Secret key for the tenant's handles.
    pub key: [u8; 32],
}

/// Token counts and other measurements of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BodyCount {
    /// Tokens in the o200k vocabulary.
    pub o200k: u32,
    /// Tokens in the cl100k vocabulary; `None` until a model needs them.
    pub cl100k: Option<u32>,
    /// Class of the content, as a number (see `tokens::class`).
    pub class: u8,
    /// Length of the body as part of a JSON string, in bytes.
    pub escaped: u64,
    /// Number of double quotes.
    pub quotes: u32,
}

/// Kind of a stream. A query for streams of one kind never returns a stream of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StreamKind {
    /// What was said and done in a session.
    #[default]
    Session,
    /// What a scope remembers beyond its sessions.
    Memory,
    /// Versions of a file that a person added.
    Document,
}

impl StreamKind {
    /// All kinds. The index of a kind is the number under which stores keep it, so the order never changes.
    pub const ALL: [Self; 3] = [Self::Session, Self::Memory, Self::Document];
}

/// A table that is derived from the events of streams, event by event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DerivedTable {
    /// Token counts of bodies, and their sums.
    Counts,
    /// Words of the texts: segments of the text index.
    Words,
    /// Meaning of the passages that were said: segments of vectors.
    Vectors,
}

impl DerivedTable {
    /// All tables. The index of a table is the number under which stores keep it, so the order never changes.
    pub const ALL: [Self; 3] = [Self::Counts, Self::Words, Self::Vectors];
}

/// Position of a stream up to which each derived table covers its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frontiers([Seq; DerivedTable::ALL.len()]);

impl Frontiers {
    /// Returns frontiers that are all at one position.
    #[must_use]
    pub const fn at(position: Seq) -> Self {
        Self([position; DerivedTable::ALL.len()])
    }

    /// Returns the frontier of a table.
    #[must_use]
    pub fn of(&self, table: DerivedTable) -> Seq {
        self.0.get(table as usize).copied().unwrap_or(Seq::START)
    }

    /// Moves the frontier of a table.
    pub fn set(&mut self, table: DerivedTable, position: Seq) {
        self.0.iter_mut().skip(table as usize).take(1).for_each(|own| *own = position);
    }
}

/// State of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamInfo {
    /// Number of the stream.
    pub no: StreamNo,
    /// Kind of the stream.
    pub kind: StreamKind,
    /// Id of the stream.
    pub id: StreamId,
    /// Handle of the stream.
    pub handle: Handle,
    /// Newest position of the stream.
    pub head: Seq,
    /// Parent stream and last shared position, if the stream is a fork.
    pub fork: Option<(StreamId, Seq)>,
    /// Parent session, if the stream is a sub-agent's session.
    pub parent: Option<StreamId>,
    /// User, project, agent, session and run to which the stream belongs.
    pub scope: Scope,
    /// Imported source and revision from which the stream was last read.
    pub source: Option<(SourceNo, u32)>,
    /// Whether an import of the stream is incomplete, because it has not reached the end of the file.
    pub unfinished: bool,
    /// Time at which the stream was opened.
    pub opened_at: Millis,
    /// Time of the latest event, by the events' own clocks.
    pub updated_at: Millis,
    /// Number of messages, including those shared with the parent.
    pub messages: u64,
    /// Total length of all texts, including those shared with the parent.
    pub text: Bytes,
    /// Position of the user's first turn.
    pub first_user: Option<Seq>,
    /// Position of the latest message in the conversation, or the stream's base if there is no such message. Of a
    /// document, the position at which its current version begins.
    pub said: Seq,
    /// Latest time of such an event, by the events' own clocks; the time of opening without such an event.
    pub said_at: Millis,
    /// Title that was given to the session.
    pub title: Option<Box<str>>,
    /// Tags of the session.
    pub tags: Vec<Box<str>>,
    /// Branch of the repository in which the agent began.
    pub branch: Option<Box<str>>,
    /// Model of the latest reply.
    pub model: Option<Box<str>>,
    /// Positions up to which the derived tables cover the stream.
    pub frontiers: Frontiers,
    /// Tokens (o200k) of the stream's own events up to the frontier of [`DerivedTable::Counts`].
    pub tokens: Tokens,
}

impl StreamInfo {
    /// Returns the state of an empty session that was opened at a time.
    #[must_use]
    pub fn opened(no: StreamNo, id: StreamId, handle: Handle, scope: Scope, at: Millis) -> Self {
        Self {
            no,
            kind: StreamKind::Session,
            id,
            handle,
            head: Seq::START,
            fork: None,
            parent: None,
            scope,
            source: None,
            unfinished: false,
            opened_at: at,
            updated_at: at,
            messages: 0,
            text: Bytes::ZERO,
            first_user: None,
            said: Seq::START,
            said_at: at,
            title: None,
            tags: Vec::new(),
            branch: None,
            model: None,
            frontiers: Frontiers::at(Seq::START),
            tokens: Tokens::ZERO,
        }
    }

    /// Returns the position up to which a derived table covers the stream.
    #[must_use]
    pub fn reach(&self, table: DerivedTable) -> Seq {
        self.frontiers.of(table)
    }

    /// Returns whether events of the stream wait for a derived table.
    #[must_use]
    pub fn is_behind(&self, table: DerivedTable) -> bool {
        self.reach(table) < self.head
    }

    /// Returns the last position that the stream shares with its parent; the stream's own events follow it.
    #[must_use]
    pub fn base(&self) -> Seq {
        self.fork.as_ref().map_or(Seq::START, |(_, base)| *base)
    }

    /// Returns the first position of what the stream itself has: after what it shares with its parent, or at a document's
    /// current version.
    #[must_use]
    pub fn first(&self) -> Seq {
        if self.kind == StreamKind::Document { self.said } else { self.base().next() }
    }

    /// Appends an event to the description of its stream, and returns the event's position.
    pub fn grow(&mut self, event: &PackedEvent) -> Seq {
        let seq = self.head.next();
        self.head = seq;
        self.messages += u64::from(event.mark != EventMark::Control);
        self.text += event.text;
        // Imported events may be older than the latest one.
        self.updated_at = self.updated_at.max(event.at);
        if event.mark == EventMark::UserTurn {
            self.first_user.get_or_insert(seq);
        }
        if event.facets.role.is_some() || event.facets.begins {
            self.said = seq;
            self.said_at = self.said_at.max(event.at);
        }
        if let Some(facets) = event.facets.session.as_deref().cloned() {
            self.title = facets.title.or(self.title.take()).filter(|title| !title.is_empty());
            self.tags = facets.tags.unwrap_or(std::mem::take(&mut self.tags));
            self.branch = facets.branch.or(self.branch.take());
            self.model = facets.model.or(self.model.take());
        }
        seq
    }
}

/// Usage of one reply, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageRow {
    /// Number of the stream that contains the reply.
    pub stream: StreamNo,
    /// Position of the report.
    pub seq: Seq,
    /// Time of the report.
    pub at: Millis,
    /// Usage of the reply.
    pub usage: EventUsage,
}

/// A stored event. `payload` is `None` if the event is erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// Stream that contains the event.
    pub stream: StreamNo,
    /// Position of the event.
    pub seq: Seq,
    /// Caller's idempotency key.
    pub id: EventId,
    /// Time of the event.
    pub at: Millis,
    /// Kind of the event.
    pub kind: String,
    /// Authors of a message in the user's role, once they are settled.
    pub authors: Option<Authors>,
    /// Lane to which the event belongs, if any.
    pub lane: Option<LaneId>,
    /// Version of the payload's encoding.
    pub version: u32,
    /// Encoded origin of the event; `None` for live events.
    pub origin: Option<Vec<u8>>,
    /// Encoded fact.
    pub payload: Option<Vec<u8>>,
    /// Salt and commitment, checked by `doctor`.
    pub proof: Option<([u8; 16], [u8; 32])>,
    /// Checksum of the payload and origin; `None` in records of format 1 and in erased records.
    pub checksum: Option<i64>,
    /// Counts of the event's bodies, if the query requests them and they are available.
    pub counts: Vec<(Handle, BodyCount)>,
}

/// Totals of a stream up to a position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TallyRow {
    /// Number of messages.
    pub messages: u64,
    /// Total length of the texts.
    pub text: Bytes,
    /// Total tokens (o200k), if counted up to the position.
    pub tokens: Option<Tokens>,
}

/// A range of positions and the stream that contains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Number of the stream.
    pub no: StreamNo,
    /// Id of the stream.
    pub stream: StreamId,
    /// First position of the range.
    pub from: Seq,
    /// Last position of the range.
    pub to: Seq,
}

/// Object that a handle names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandleTarget {
    /// A body.
    Blob,
    /// A stream.
    Stream(StreamId),
    /// An imported source: the given revision, or the newest if `None`.
    Source(SourceNo, Option<u32>),
}

/// A source with one of its revisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceInfo {
    /// Number of the source.
    pub no: SourceNo,
    /// Handle of the source, which leads to its newest revision.
    pub handle: Handle,
    /// Path of the source.
    pub key: String,
    /// The revision.
    pub revision: RevisionInfo,
}

/// State of a revision: the bytes that a path held between two rewrites. A file that only grows keeps its revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionInfo {
    /// Number of the revision, starting at 1.
    pub no: u32,
    /// Handle of the revision itself.
    pub handle: Handle,
    /// Name of the transcript format.
    pub format: String,
    /// Number of leading bytes shared with the previous revision; nonzero only in revisions of format 1.
    pub shared: u64,
    /// Number of stored bytes.
    pub len: u64,
    /// Whether an import has reached the end of the file. If false, an import is running or was interrupted.
    pub whole: bool,
    /// Importer that is writing the revision, if any.
    pub owner: Option<Owner>,
    /// BLAKE3 hash of all bytes. Set only in revisions of format 1, whose chunks have no checksums.
    pub hash: Option<[u8; 32]>,
    /// Ranges of erased bytes, stored as blanks: first byte, one past the last.
    pub erased: Vec<(u64, u64)>,
    /// Session that corresponds to the file's own session id.
    pub leaf: Option<StreamId>,
    /// Modification time of the file in nanoseconds since 1970; `None` if it is not reliable.
    pub modified: Option<i64>,
    /// Encoded state of the reader, needed to continue where the import stopped. `None` in lists of sources.
    pub reader: Option<Vec<u8>>,
}

/// Importer that is writing a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Unique name of the writer.
    pub token: String,
    /// Time at which the ownership expires. Every write renews it.
    pub until: Millis,
}

/// A stored part of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Offset of the first byte within the source.
    pub offset: u64,
    /// Number of bytes that belong to the revision.
    pub len: u64,
    /// Packed bytes. The packed bytes may unpack to more than `len` bytes.
    pub data: Vec<u8>,
    /// Checksum of the unpacked bytes; `None` in chunks of format 1.
    pub checksum: Option<i64>,
}

/// An event found by its id with [`super::Query::Ids`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownEvent {
    /// Position of the event.
    pub seq: Seq,
    /// Salt and commitment; `None` if the event is erased.
    pub proof: Option<([u8; 16], [u8; 32])>,
}

/// Coordinates of erased content. The coordinates contain neither the content nor a hash of it. Ids are keyed hashes
/// ([`super::codec::erased_name`]); earlier versions kept the ids themselves.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Erasure {
    /// Hash of the session id assigned by the agent.
    pub session: String,
    /// Erased part of the session.
    pub what: Gone,
}

/// Part of a session that was erased.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gone {
    /// The whole session. Format 1 did not record which records were erased.
    Session,
    /// An event, by the hash of its id.
    Event(String),
    /// A record's bytes in imported files, by the hash of the record's own id, or of `r` and the record's offset. The
    /// record's events may still be stored: the erased text may have been in a part of the record that produces no
    /// event.
    Record(String),
}

/// Filter for listing streams, by default sessions. Every condition that is set must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamFilter {
    /// Kind of the streams.
    pub kind: StreamKind,
    /// Required prefix of the session id.
    pub prefix: String,
    /// Accepted projects, as people name them: the project or its folder, a path above the project, or the last part of
    /// either. All, if empty.
    pub projects: Vec<String>,
    /// Accepted projects and folders, by their whole names. All, if empty.
    pub places: Vec<String>,
    /// Required user.
    pub user: Option<String>,
    /// Required agent.
    pub agent: Option<String>,
    /// Required session: the session itself, and the streams that belong to it.
    pub session: Option<StreamId>,
    /// Required run.
    pub run: Option<String>,
    /// Required tags.
    pub tags: Vec<String>,
    /// Minimum time of the latest message.
    pub since: Option<Millis>,
    /// Accepted parents: sessions that started the session as a sub-agent. All sessions, if empty.
    pub parents: Vec<StreamId>,
}

impl StreamFilter {
    /// Returns whether the filter accepts every session.
    #[must_use]
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether the filter accepts a session.
    #[must_use]
    pub fn accepts(&self, info: &StreamInfo) -> bool {
        let Scope { user, project, folder, agent, session, run } = &info.scope;
        let own = || [project, folder].into_iter().flatten();
        let is_in = |wanted: &String| {
            let is_named = |own: &String| {
                let before = own.strip_suffix(wanted.as_str()).filter(|_| !wanted.contains('/'));
                own == wanted || before.is_some_and(|before| before.ends_with('/'))
            };
            let below = project.as_deref().and_then(|project| project.strip_prefix(wanted.as_str()));
            own().any(is_named) || below.is_some_and(|rest| rest.starts_with('/'))
        };
        let is_of = |wanted: &StreamId| {
            *wanted == info.id || session.as_deref().is_some_and(|session| session == wanted.as_str())
        };
        info.kind == self.kind
            && info.id.as_str().starts_with(&self.prefix)
            && (self.projects.is_empty() || self.projects.iter().any(is_in))
            && (self.places.is_empty() || own().any(|own| self.places.contains(own)))
            && (self.user.is_none() || self.user == *user)
            && (self.agent.is_none() || self.agent == *agent)
            && self.session.as_ref().is_none_or(is_of)
            && (self.run.is_none() || self.run == *run)
            && self.tags.iter().all(|tag| info.tags.iter().any(|own| **own == **tag))
            && self.since.is_none_or(|since| info.said_at >= since)
            && (self.parents.is_empty()
                || info.parent.as_ref().is_some_and(|parent| self.parents.contains(parent)))
    }
}

/// Filter for listing revisions of sources. Every condition that is set must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceFilter {
    /// Required prefix of the path.
    pub prefix: String,
    /// Minimum number of stored bytes.
    pub min_len: u64,
    /// Whether to list all revisions of a source, oldest first, and not only the newest.
    pub older: bool,
}

/// Filter for events. Every condition that is set must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Required role of a message.
    pub role: Option<Role>,
    /// Required author of a message in the user's role, outside its spans.
    pub author: Option<Author>,
    /// Required tool: calls of the tool, and their results. A result belongs to the latest assistant message before it
    /// in its stream. Of a message with several calls, the first one counts.
    pub tool: Option<Box<str>>,
    /// File that a call refers to, also for its results: the whole path, a folder above the file, or the end of the
    /// path.
    pub path: Option<Box<str>>,
    /// Minimum time of the event.
    pub since: Option<Millis>,
}

impl EventFilter {
    /// Returns whether the filter accepts every event.
    #[must_use]
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }
}

impl SegmentInfo {
    /// Returns the segment's identity within an epoch.
    #[must_use]
    pub const fn segment(&self) -> SegmentId {
        SegmentId { no: self.id, docs: self.docs }
    }
}

/// Holder of a piece of work. See [`super::Write::Claim`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Name of the holder.
    pub holder: String,
    /// Time at which the lease expires if it is not claimed again.
    pub until: Millis,
}

/// A segment of the text index, without its blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentInfo {
    /// Number of the segment. Newer segments have larger numbers.
    pub id: u64,
    /// Number of documents.
    pub docs: u64,
    /// Total size of the header and blocks.
    pub bytes: Bytes,
    /// Encoded header.
    pub header: Vec<u8>,
}
