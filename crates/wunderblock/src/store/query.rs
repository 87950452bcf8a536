//! What a store is asked, and what it answers.

use super::row::{
    BodyCount, Chunk, Erasure, HandleTarget, KnownEvent, Lease, SegmentInfo, SourceInfo, SourceNo,
    StoredEvent, StreamFilter, StreamInfo, StreamNo, Stretch, TallyRow, Tenant, TenantNo,
};
use super::write::PackedBlob;
use wunderblock_core::id::{EventId, Handle, LaneId, StreamId};
use wunderblock_core::units::{Bytes, Seq};

/// Which way to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOrder {
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
    /// The names of all tenants, in the order in which they came. Answers [`Answer::Tenants`].
    Tenants,
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
        /// Which of them.
        filter: StreamFilter,
        /// Maximum number of streams.
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
        order: ReadOrder,
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
    /// The handles in a range, of bodies, streams and sources, in order. Answers [`Answer::Handles`].
    Handles {
        /// Whose.
        tenant: TenantNo,
        /// The first handle of the range.
        first: Handle,
        /// The last one.
        last: Handle,
        /// Maximum number of handles.
        limit: u64,
    },
    /// Which events hold a body, by stream and position. Answers [`Answer::Holders`].
    Holders {
        /// Whose.
        tenant: TenantNo,
        /// The body.
        handle: Handle,
        /// At most so many.
        limit: u64,
    },
    /// A revision of a source. Answers [`Answer::Source`].
    Source {
        /// Whose.
        tenant: TenantNo,
        /// By path or number.
        by: SourceBy,
        /// Which revision; `None`: the newest.
        revision: Option<u32>,
    },
    /// The revisions a stream was read from, the newest link last. Answers [`Answer::Sources`].
    SourcesOf {
        /// Whose.
        tenant: TenantNo,
        /// The stream.
        stream: StreamId,
    },
    /// The streams that were read from a source, or from one revision of it. Answers [`Answer::Streams`].
    ReadFrom {
        /// Whose.
        tenant: TenantNo,
        /// The source.
        source: SourceNo,
        /// Which revision; `None`: any.
        revision: Option<u32>,
    },
    /// All sources, the newest revision of each, by number. Answers [`Answer::Sources`].
    Sources {
        /// Whose.
        tenant: TenantNo,
    },
    /// Chunks of a revision that overlap a range of bytes. Answers [`Answer::Chunks`].
    Chunks {
        /// The source.
        source: SourceNo,
        /// The revision.
        revision: u32,
        /// First byte.
        from: u64,
        /// One past the last byte.
        to: u64,
        /// Maximum number of chunks.
        limit: u64,
    },
    /// Where records of transcripts stand, by hashes of their own ids: for each hash the streams that hold it and the
    /// last position of the record in each. Answers [`Answer::Places`].
    Records {
        /// Whose.
        tenant: TenantNo,
        /// The hashes.
        records: Vec<i64>,
    },
    /// Events of a stream, or of what it continues, by their ids. Answers [`Answer::Known`].
    Ids {
        /// Whose.
        tenant: TenantNo,
        /// Which stream.
        stream: StreamId,
        /// The ids.
        ids: Vec<EventId>,
    },
    /// What was erased of sessions. Answers [`Answer::Erasures`].
    Erasures {
        /// Whose.
        tenant: TenantNo,
        /// The sessions, by the agent's own id; all if there are none.
        sessions: Vec<String>,
    },
    /// Streams by their numbers, in the order of these; those that are not there are left out. Answers
    /// [`Answer::Streams`].
    StreamsByNo {
        /// Whose.
        tenant: TenantNo,
        /// Which.
        streams: Vec<StreamNo>,
    },
    /// All streams with work left for the background. Answers [`Answer::Streams`].
    Behind {
        /// Whose.
        tenant: TenantNo,
        /// At most so many.
        limit: u64,
    },
    /// Who holds a piece of work, or held it last and has not given it back: whether its time has passed is for the caller
    /// to say. Answers [`Answer::Lease`].
    Lease {
        /// Whose.
        tenant: TenantNo,
        /// What the work is.
        key: String,
    },
    /// A number that goes up with each erasure and each replacement of segments. Answers [`Answer::Epoch`].
    Epoch,
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Marked {
    /// System messages.
    System,
    /// The user's own turns.
    UserTurn,
    /// Control events of a kind.
    Kind(&'static str),
    /// Control events of a kind that belong to a lane.
    OfLane(&'static str, LaneId),
    /// Of each lane the latest control event of a kind.
    EachLane(&'static str),
}

/// What names a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceBy {
    /// Its path.
    Key(String),
    /// Its number.
    No(SourceNo),
}

/// An answer to a [`Query`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// See [`Query::Tenant`].
    Tenant(Option<Tenant>),
    /// See [`Query::Tenants`].
    Tenants(Vec<String>),
    /// See [`Query::Epoch`].
    Epoch(u64),
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
    Named(Option<HandleTarget>),
    /// See [`Query::Handles`].
    Handles(Vec<Handle>),
    /// See [`Query::Holders`].
    Holders(Vec<(StreamNo, Seq)>),
    /// See [`Query::Source`].
    Source(Option<Box<SourceInfo>>),
    /// See [`Query::SourcesOf`].
    Sources(Vec<SourceInfo>),
    /// See [`Query::Records`].
    Places(Vec<Vec<(StreamId, Seq)>>),
    /// See [`Query::Ids`].
    Known(Vec<Option<KnownEvent>>),
    /// See [`Query::Erasures`].
    Erasures(Vec<Erasure>),
    /// See [`Query::Chunks`].
    Chunks(Vec<Chunk>),
    /// See [`Query::Lease`].
    Lease(Option<Lease>),
    /// See [`Query::Segments`].
    Segments(Vec<SegmentInfo>),
    /// See [`Query::Blocks`].
    Blocks(Vec<Option<Vec<u8>>>),
}

/// Reads an answer of one kind; `None` of another.
macro_rules! reads {
    ($($name:ident: $kind:ident($type:ty)),* $(,)?) => {
        impl Answer {
            $(pub(crate) fn $name(self) -> Option<$type> {
                match self {
                    Self::$kind(answer) => Some(answer),
                    _ => None,
                }
            })*
        }
    };
}

reads! {
    tenants: Tenants(Vec<String>),
    epoch: Epoch(u64),
    stream: Stream(Option<Box<StreamInfo>>),
    streams: Streams(Vec<StreamInfo>),
    lineage: Lineage(Vec<Stretch>),
    events: Events(Vec<StoredEvent>),
    blobs: Blobs(Vec<Option<PackedBlob>>),
    counts: Counts(Vec<Option<BodyCount>>),
    tallies: Tallies(Vec<TallyRow>),
    named: Named(Option<HandleTarget>),
    handles: Handles(Vec<Handle>),
    holders: Holders(Vec<(StreamNo, Seq)>),
    source: Source(Option<Box<SourceInfo>>),
    sources: Sources(Vec<SourceInfo>),
    places: Places(Vec<Vec<(StreamId, Seq)>>),
    known: Known(Vec<Option<KnownEvent>>),
    erasures: Erasures(Vec<Erasure>),
    chunks: Chunks(Vec<Chunk>),
    lease: Lease(Option<Lease>),
    segments: Segments(Vec<SegmentInfo>),
    blocks: Blocks(Vec<Option<Vec<u8>>>),
}
