//! Queries to a store, and their answers.

use super::commit::Epoch;
use super::reach::Reach;
use super::row::{
    BodyCount, Chunk, DerivedTable, Erasure, EventFilter, HandleTarget, KnownEvent, Lease, SegmentInfo,
    SourceFilter, SourceInfo, SourceNo, StoredEvent, StreamFilter, StreamInfo, StreamKind, StreamNo, Stretch,
    TallyRow, Tenant, TenantNo, UsageRow,
};
use super::write::PackedBlob;
use wunderblock_core::id::{EventId, Handle, LaneId, StreamId};
use wunderblock_core::units::{Bytes, Millis, Seq};

/// Direction in which events are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOrder {
    /// Oldest first.
    Ascending,
    /// Newest first.
    Descending,
}

/// A query. The positions of a fork up to its base belong to the stream from which the fork was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// Answers a query as if the tenant held only the streams in reach, and what belongs to them:
    /// - a body, if an event of such a stream contains it;
    /// - a source, if every stream that was read from it is in reach, or, of a source in the format [`BYTES`], one;
    /// - no name of a tenant.
    ///
    /// Token counts and places of records are those of such bodies and streams. Segments, which hold words of all
    /// streams, are answered whole: their reader ranks and returns only documents of streams that it has found.
    Within {
        /// Streams that are visible.
        reach: Reach,
        /// The query.
        query: Box<Query>,
    },
    /// Finds a tenant by name. Answers [`Answer::Tenant`].
    Tenant {
        /// Name of the tenant.
        name: String,
    },
    /// Lists the names of all tenants in order of creation. Answers [`Answer::Tenants`].
    Tenants,
    /// Finds a stream by kind and id. Answers [`Answer::Stream`].
    Stream {
        /// Tenant that owns the stream.
        tenant: TenantNo,
        /// Kind of the stream.
        of: StreamKind,
        /// Id of the stream.
        stream: StreamId,
    },
    /// Lists streams, latest first. Answers [`Answer::Streams`].
    Streams {
        /// Tenant that owns the streams.
        tenant: TenantNo,
        /// Filter for the streams.
        filter: StreamFilter,
        /// Maximum number of streams.
        limit: u64,
    },
    /// Lists the streams whose events a stream includes: itself, then its ancestors. Answers [`Answer::Lineage`].
    Lineage {
        /// Tenant that owns the stream.
        tenant: TenantNo,
        /// Id of the stream.
        stream: StreamId,
    },
    /// Reads events in a range. Answers [`Answer::Events`].
    Events {
        /// Tenant that owns the stream.
        tenant: TenantNo,
        /// Id of the stream.
        stream: StreamId,
        /// First position of the range.
        from: Seq,
        /// Last position of the range.
        to: Seq,
        /// Order of the events.
        order: ReadOrder,
        /// Maximum number of events.
        limit: u64,
        /// Maximum total length of texts. Reading stops after the event with which the texts exceed the maximum
        /// length.
        text: Bytes,
        /// Whether to include token counts of the events' bodies.
        counts: bool,
        /// Filter for the events. The other events are skipped, but the lengths of their texts count.
        filter: EventFilter,
    },
    /// Reads events at given positions, with token counts of their bodies. Answers [`Answer::Events`].
    At {
        /// Tenant that owns the stream.
        tenant: TenantNo,
        /// Id of the stream.
        stream: StreamId,
        /// Positions of the events.
        seqs: Vec<Seq>,
        /// Filter for the events.
        filter: EventFilter,
    },
    /// Lists the positions of the events that pass a filter, by stream and position. Of a fork, its own positions are
    /// listed. Answers [`Answer::Holders`].
    Passing {
        /// Tenant that owns the streams.
        tenant: TenantNo,
        /// Numbers of the streams; `None` for all.
        streams: Option<Vec<StreamNo>>,
        /// Filter for the events.
        filter: EventFilter,
    },
    /// Finds events that are not plain messages, latest first. Answers [`Answer::Events`].
    Marked {
        /// Tenant that owns the stream.
        tenant: TenantNo,
        /// Id of the stream.
        stream: StreamId,
        /// Mark, kind or lane by which events are selected.
        what: Marked,
        /// Last position to include.
        to: Seq,
        /// Maximum number of events.
        limit: u64,
    },
    /// Reads the control events of given kinds in all streams, by stream and position. Answers [`Answer::Events`].
    OfKinds {
        /// Tenant that owns the streams.
        tenant: TenantNo,
        /// Kind of the streams.
        of: StreamKind,
        /// Kinds of the events.
        kinds: Vec<&'static str>,
        /// Minimum time of an event.
        since: Option<Millis>,
    },
    /// Lists the positions of the control events of given kinds in all streams, by stream and position. Answers
    /// [`Answer::Holders`].
    PlacesOfKinds {
        /// Tenant that owns the streams.
        tenant: TenantNo,
        /// Kind of the streams.
        of: StreamKind,
        /// Kinds of the events.
        kinds: Vec<&'static str>,
    },
    /// Reads bodies. Answers [`Answer::Blobs`], with `None` for unknown handles.
    Blobs {
        /// Tenant that owns the bodies.
        tenant: TenantNo,
        /// Handles of the bodies.
        handles: Vec<Handle>,
    },
    /// Reads the bodies of events, without naming them: those of the first events first. A body that would make the
    /// total length exceed `bytes` is left out. Answers [`Answer::Blobs`].
    BodiesOf {
        /// Tenant that owns the stream.
        tenant: TenantNo,
        /// Id of the stream.
        stream: StreamId,
        /// Events that contain the bodies.
        events: Selected,
        /// Maximum total length of the bodies.
        bytes: Bytes,
    },
    /// Reads token counts of bodies. Answers [`Answer::Counts`].
    Counts {
        /// Tenant that owns the bodies.
        tenant: TenantNo,
        /// Handles of the bodies.
        handles: Vec<Handle>,
    },
    /// Reads totals of a stream up to given positions. Answers [`Answer::Tallies`].
    Tallies {
        /// Tenant that owns the stream.
        tenant: TenantNo,
        /// Id of the stream.
        stream: StreamId,
        /// Positions up to which totals are computed.
        seqs: Vec<Seq>,
    },
    /// Finds the object that a handle names. Answers [`Answer::Named`].
    Resolve {
        /// Tenant that owns the object.
        tenant: TenantNo,
        /// Kind of the object, if it is a stream.
        of: StreamKind,
        /// Handle to resolve.
        handle: Handle,
    },
    /// Lists handles of bodies, streams and sources in a range, in order. Answers [`Answer::Handles`].
    Handles {
        /// Tenant that owns the objects.
        tenant: TenantNo,
        /// Kind of the streams.
        of: StreamKind,
        /// First handle of the range.
        first: Handle,
        /// Last handle of the range.
        last: Handle,
        /// Maximum number of handles.
        limit: u64,
    },
    /// Finds the events that contain a body, by stream and position. Answers [`Answer::Holders`].
    Holders {
        /// Tenant that owns the body.
        tenant: TenantNo,
        /// Kind of the streams that contain the events.
        of: StreamKind,
        /// Handle of the body.
        handle: Handle,
        /// Maximum number of events.
        limit: u64,
    },
    /// Finds a revision of a source. Answers [`Answer::Source`].
    Source {
        /// Tenant that owns the source.
        tenant: TenantNo,
        /// Path or number of the source.
        by: SourceBy,
        /// Number of the revision; `None` for the newest.
        revision: Option<u32>,
    },
    /// Lists the revisions from which a stream was read, in order of their links. Answers [`Answer::Sources`].
    SourcesOf {
        /// Tenant that owns the stream.
        tenant: TenantNo,
        /// Id of the stream.
        stream: StreamId,
    },
    /// Lists the streams read from a source, or from one of its revisions. Answers [`Answer::Streams`].
    ReadFrom {
        /// Tenant that owns the source.
        tenant: TenantNo,
        /// Number of the source.
        source: SourceNo,
        /// Number of the revision; `None` for all.
        revision: Option<u32>,
    },
    /// Lists sources by number, each with its newest revision or with all of them. Answers [`Answer::Sources`].
    Sources {
        /// Tenant that owns the sources.
        tenant: TenantNo,
        /// Filter for the revisions.
        filter: SourceFilter,
    },
    /// Reads the chunks of a revision that overlap a byte range. Answers [`Answer::Chunks`].
    Chunks {
        /// Source that the revision belongs to.
        source: SourceNo,
        /// Number of the revision.
        revision: u32,
        /// First byte of the range.
        from: u64,
        /// One past the last byte of the range.
        to: u64,
        /// Maximum number of chunks.
        limit: u64,
    },
    /// Finds transcript records by the hashes of their ids: for each hash, the streams that contain the record, and
    /// its last position in each. Answers [`Answer::Places`].
    Records {
        /// Tenant that owns the streams.
        tenant: TenantNo,
        /// Hashes of the records.
        records: Vec<i64>,
    },
    /// Finds events of a stream or of its ancestors by id. Answers [`Answer::Known`].
    Ids {
        /// Tenant that owns the stream.
        tenant: TenantNo,
        /// Id of the stream.
        stream: StreamId,
        /// Ids of the events.
        ids: Vec<EventId>,
    },
    /// Lists erasures of sessions. Answers [`Answer::Erasures`].
    Erasures {
        /// Tenant that owns the sessions.
        tenant: TenantNo,
        /// Session ids as assigned by the agent; an empty list selects all sessions.
        sessions: Vec<String>,
    },
    /// Lists the erasures of events and records with given ids, whatever session they were erased from. Answers
    /// [`Answer::Erasures`].
    Erased {
        /// Tenant that owns the sessions.
        tenant: TenantNo,
        /// Ids of events and records.
        names: Vec<String>,
    },
    /// Finds streams by number, in the given order. Unknown numbers are omitted. Answers [`Answer::Streams`].
    StreamsByNo {
        /// Tenant that owns the streams.
        tenant: TenantNo,
        /// Numbers of the streams.
        streams: Vec<StreamNo>,
    },
    /// Lists the usage that providers reported, by stream and position. Answers [`Answer::Usage`].
    Usage {
        /// Tenant that owns the streams.
        tenant: TenantNo,
        /// Filter for the streams. Its `since` is the minimum time of a report.
        filter: StreamFilter,
    },
    /// Lists messages in the user's role whose authors are not settled, by stream and position. Answers
    /// [`Answer::Holders`].
    Unsettled {
        /// Tenant that owns the messages.
        tenant: TenantNo,
        /// Kind of the streams.
        of: StreamKind,
        /// Maximum number of messages.
        limit: u64,
    },
    /// Lists streams whose events wait for any of some derived tables, in order of opening. Answers
    /// [`Answer::Streams`].
    Behind {
        /// Tenant that owns the streams.
        tenant: TenantNo,
        /// Kind of the streams.
        of: StreamKind,
        /// The derived tables.
        tables: Vec<DerivedTable>,
        /// Maximum number of streams.
        limit: u64,
    },
    /// Finds the holder of a piece of work. The lease may have expired; the caller must compare the time. Answers
    /// [`Answer::Lease`].
    Lease {
        /// Tenant that the work belongs to.
        tenant: TenantNo,
        /// Name of the work.
        key: String,
    },
    /// Reads the number of a tenant's erasures. Answers [`Answer::Epoch`].
    Epoch {
        /// Tenant that owns the content.
        tenant: TenantNo,
    },
    /// Finds out whether any position of a range lost content after an epoch. Answers [`Answer::Lost`].
    Lost {
        /// Epoch whose erasures, and earlier ones, do not count.
        since: Epoch,
        /// Stream to which the positions belong, or whose ancestors hold them.
        stream: StreamId,
        /// First position of the range.
        from: Seq,
        /// Last position of the range.
        to: Seq,
    },
    /// Lists all segments of a derived table, newest first. Answers [`Answer::Segments`].
    Segments {
        /// Tenant that owns the table.
        tenant: TenantNo,
        /// The derived table.
        table: DerivedTable,
    },
    /// Reads blocks of segments. Answers [`Answer::Blocks`], with `None` for unknown blocks.
    Blocks {
        /// Tenant that owns the index.
        tenant: TenantNo,
        /// Segment number and block number of each block.
        wanted: Vec<(u64, u32)>,
    },
    /// Reads all blocks of a segment, in order. Answers [`Answer::Blocks`].
    SegmentBlocks {
        /// Tenant that owns the index.
        tenant: TenantNo,
        /// Number of the segment.
        segment: u64,
    },
}

/// Format of a source that holds one text. Each stream that was read from it holds the whole text.
pub const BYTES: &str = "bytes";

/// Events that [`Query::Marked`] selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Marked {
    /// System messages.
    System,
    /// The user's own turns.
    UserTurn,
    /// Control events of a given kind.
    Kind(&'static str),
    /// Control events of a given kind that belong to a given lane.
    OfLane(&'static str, LaneId),
    /// The latest control event of a given kind in each lane.
    EachLane(&'static str),
}

/// Events of a stream that [`Query::BodiesOf`] selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selected {
    /// The events at given positions.
    At(Vec<Seq>),
    /// The user's latest turns, latest first.
    UserTurns {
        /// Last position to include.
        to: Seq,
        /// Maximum number of turns.
        limit: u64,
    },
}

/// Key by which a source is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceBy {
    /// Path of the source.
    Key(String),
    /// Number of the source.
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
    Epoch(Epoch),
    /// See [`Query::Lost`].
    Lost(bool),
    /// See [`Query::Stream`].
    Stream(Option<Box<StreamInfo>>),
    /// See [`Query::Streams`].
    Streams(Vec<StreamInfo>),
    /// See [`Query::Lineage`].
    Lineage(Vec<Stretch>),
    /// See [`Query::Events`].
    Events(Vec<StoredEvent>),
    /// See [`Query::Blobs`] and [`Query::BodiesOf`].
    Blobs(Vec<Option<PackedBlob>>),
    /// See [`Query::Counts`].
    Counts(Vec<Option<BodyCount>>),
    /// See [`Query::Tallies`].
    Tallies(Vec<TallyRow>),
    /// See [`Query::Resolve`].
    Named(Option<HandleTarget>),
    /// See [`Query::Handles`].
    Handles(Vec<Handle>),
    /// See [`Query::Holders`], [`Query::Passing`], [`Query::PlacesOfKinds`] and [`Query::Unsettled`].
    Holders(Vec<(StreamNo, Seq)>),
    /// See [`Query::Source`].
    Source(Option<Box<SourceInfo>>),
    /// See [`Query::SourcesOf`].
    Sources(Vec<SourceInfo>),
    /// See [`Query::Records`].
    Places(Vec<Vec<(StreamId, Seq)>>),
    /// See [`Query::Ids`].
    Known(Vec<Option<KnownEvent>>),
    /// See [`Query::Erasures`] and [`Query::Erased`].
    Erasures(Vec<Erasure>),
    /// See [`Query::Chunks`].
    Chunks(Vec<Chunk>),
    /// See [`Query::Usage`].
    Usage(Vec<UsageRow>),
    /// See [`Query::Lease`].
    Lease(Option<Lease>),
    /// See [`Query::Segments`].
    Segments(Vec<SegmentInfo>),
    /// See [`Query::Blocks`].
    Blocks(Vec<Option<Vec<u8>>>),
}

/// Defines, for each variant of [`Answer`], a method that returns its content, or `None` for any other variant.
macro_rules! reads {
    ($($name:ident: $kind:ident($type:ty)),* $(,)?) => {
        impl Answer {
            $(/// Returns the content of the answer; `None` if it answers a query of another kind.
            #[must_use]
            pub fn $name(self) -> Option<$type> {
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
    epoch: Epoch(Epoch),
    lost: Lost(bool),
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
    usage: Usage(Vec<UsageRow>),
    lease: Lease(Option<Lease>),
    segments: Segments(Vec<SegmentInfo>),
    blocks: Blocks(Vec<Option<Vec<u8>>>),
}
