//! The tables of the ledger in memory, and the facts about streams and their lineage that follow from these tables.

use super::table::RollbackTable;
use wunderblock_core::id::{EventId, Handle, LaneId, StreamId};
use wunderblock_core::units::{Bytes, Seq, Tokens};
use wunderblock_store::{
    BodyCount, Chunk, DerivedTable, EventMark, Facets, Gone, Lease, PackedBlob, RevisionInfo, SegmentInfo,
    SourceNo, StoredEvent, StreamInfo, StreamNo, Stretch, TallyRow, Tenant, TenantNo, UsageRow,
};

/// A stream.
#[derive(Clone, Debug)]
pub(super) struct StreamRow {
    pub(super) tenant: TenantNo,
    pub(super) fork_of: Option<StreamNo>,
    /// Description of the stream, without the fields that follow from its links to sources.
    pub(super) info: StreamInfo,
}

/// An event.
#[derive(Clone, Debug)]
pub(super) struct EventRow {
    /// The event as queries return it, without the counts of its bodies.
    pub(super) event: StoredEvent,
    /// Length of the event's own texts, in bytes.
    pub(super) own_text: Bytes,
    /// Number of messages up to and including this event, including those of the lineage.
    pub(super) messages: u64,
    /// Length of all texts up to and including this event, including those of the lineage, in bytes.
    pub(super) text: Bytes,
    pub(super) blobs: Vec<Handle>,
    /// Attributes by which the event is filtered.
    pub(super) facets: Facets,
}

/// Key for finding events by something other than position and id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MarkKey {
    System,
    UserTurn,
    Kind(&'static str),
    OfLane(&'static str, LaneId),
}

impl MarkKey {
    pub(super) fn of(mark: EventMark, kind: &'static str) -> Option<Self> {
        match mark {
            EventMark::Plain => None,
            EventMark::UserTurn => Some(Self::UserTurn),
            EventMark::System => Some(Self::System),
            EventMark::Control => Some(Self::Kind(kind)),
        }
    }
}

/// A source.
#[derive(Clone, Debug)]
pub(super) struct SourceRow {
    pub(super) tenant: TenantNo,
    pub(super) handle: Handle,
    pub(super) key: String,
    /// Number of the latest revision. Revisions are numbered from 1; 0 means that the source has none yet.
    pub(super) newest: u32,
}

/// The part of a stretch inside `from..=to`, if any.
pub(super) fn within(stretch: &Stretch, from: Seq, to: Seq) -> Option<Stretch> {
    let part = Stretch { from: stretch.from.max(from), to: stretch.to.min(to), ..stretch.clone() };
    (part.from <= part.to).then_some(part)
}

macro_rules! tables {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $table:ident: $type:ty,)* } $($(#[$note:meta])* $field:ident: $other:ty,)*) => {
        $(#[$about])*
        #[derive(Debug, Default)]
        pub(super) struct $name {
            $($(#[$doc])* pub(super) $table: $type,)*
            $($(#[$note])* pub(super) $field: $other,)*
        }

        impl $name {
            pub(super) fn settle(&mut self) {
                $(self.$table.settle();)*
            }

            pub(super) fn roll_back(&mut self) {
                $(self.$table.roll_back();)*
            }
        }
    };
}

tables! {
    /// All tables of the ledger.
    LedgerTables {
        tenants: RollbackTable<String, Tenant>,
        streams: RollbackTable<StreamNo, StreamRow>,
        stream_ids: RollbackTable<(TenantNo, String), StreamNo>,
        stream_handles: RollbackTable<(TenantNo, Handle), StreamNo>,
        events: RollbackTable<(StreamNo, Seq), EventRow>,
        event_ids: RollbackTable<(StreamNo, EventId), Seq>,
        marked: RollbackTable<(StreamNo, MarkKey, Seq), ()>,
        blobs: RollbackTable<(TenantNo, Handle), PackedBlob>,
        /// Events that contain a body.
        refs: RollbackTable<(TenantNo, Handle, StreamNo, Seq), ()>,
        counts: RollbackTable<(TenantNo, Handle), BodyCount>,
        /// Usage of each reply, by its identity in its stream.
        usage: RollbackTable<(StreamNo, Box<str>), UsageRow>,
        /// Sum of the tokens of a stream's own events up to a position.
        tokens: RollbackTable<(StreamNo, Seq), u64>,
        sources: SourceTables,
        /// Last position of each transcript record in each stream.
        records: RollbackTable<(TenantNo, i64, StreamNo), Seq>,
        /// Erased sessions, events and records, by session.
        erasures: RollbackTable<(TenantNo, String, Gone), ()>,
        /// Number of erasures of each tenant that has any.
        epochs: RollbackTable<TenantNo, u64>,
        /// Positions that lost their content, with the epoch that began with the erasure.
        losses: RollbackTable<(TenantNo, u64, StreamNo, Seq), ()>,
        segments: RollbackTable<(TenantNo, u64), (DerivedTable, SegmentInfo)>,
        blocks: RollbackTable<(TenantNo, u64, u32), Vec<u8>>,
        leases: RollbackTable<(TenantNo, String), Lease>,
    }
    /// Id of the latest segment. Ids are never reused.
    last_segment: u64,
}

tables! {
    /// Tables of imported sources.
    SourceTables {
        sources: RollbackTable<SourceNo, SourceRow>,
        keys: RollbackTable<(TenantNo, String), SourceNo>,
        handles: RollbackTable<(TenantNo, Handle), SourceNo>,
        /// Revisions. No revision shares bytes with another; only format 1 allowed that.
        revisions: RollbackTable<(SourceNo, u32), RevisionInfo>,
        revision_handles: RollbackTable<(TenantNo, Handle), (SourceNo, u32)>,
        chunks: RollbackTable<(SourceNo, u32, u64), Chunk>,
        /// Revisions a stream was read from, in the order of the links.
        links: RollbackTable<(StreamNo, u64), (SourceNo, u32)>,
    }
}

impl LedgerTables {
    pub(super) fn stream_no(&self, tenant: TenantNo, stream: &StreamId) -> Option<StreamNo> {
        self.stream_ids.get(&(tenant, stream.as_str().to_owned())).copied()
    }

    pub(super) fn info(&self, no: StreamNo) -> Option<StreamInfo> {
        let links = self.sources.links_of(no);
        let cut = |link| self.sources.revisions.get(link).is_some_and(|revision| !revision.whole);
        Some(StreamInfo {
            source: links.last().copied(),
            unfinished: links.last().is_some_and(cut),
            ..self.streams.get(&no)?.info.clone()
        })
    }

    /// Stretches of a stream: its own positions first, then those of each ancestor as far as the stream shows them.
    pub(super) fn lineage(&self, stream: StreamNo) -> Vec<Stretch> {
        let mut spans = Vec::new();
        let mut next = self.streams.get(&stream).map(|row| (row, row.info.head));
        while let Some((row, to)) = next {
            let (no, from) = (row.info.no, row.info.base().next());
            if spans.is_empty() || from <= to {
                spans.push(Stretch { no, stream: row.info.id.clone(), from, to });
            }
            let parent = row.fork_of.and_then(|parent| self.streams.get(&parent));
            // A fork may be cut before its parent's own fork, so a limit set further down the lineage applies to all
            // ancestors.
            next = parent.map(|parent| (parent, to.min(row.info.base())));
        }
        spans
    }

    /// Sums over a stream up to a position. Positions after the head count as the head.
    pub(super) fn tally(&self, lineage: &[Stretch], seq: Seq) -> TallyRow {
        let parts = || lineage.iter().filter_map(|span| within(span, Seq::START, seq));
        let last = parts().next().and_then(|part| self.events.get(&(part.no, part.to)));
        // The sum is `None` unless every stretch has been counted up to its end.
        let tokens = parts().map(|part| self.tokens.get(&(part.no, part.to)).copied()).sum();
        TallyRow {
            messages: last.map_or(0, |row| row.messages),
            text: last.map_or(Bytes::ZERO, |row| row.text),
            tokens: Option::<u64>::map(tokens, Tokens),
        }
    }
}
