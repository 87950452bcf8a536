//! The rows of the ledger in memory, and what can be told from them about streams and their lineage.

use super::table::RollbackTable;
use std::collections::BTreeMap;
use wunderblock::store::{
    BodyCount, Gone, Lease, Mark, Marked, Owner, PackedBlob, SegmentInfo, SourceNo, StreamInfo, StreamNo,
    Stretch, TallyRow, Tenant, TenantNo,
};
use wunderblock_core::id::{EventId, Handle, Scope, StreamId};
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};

/// A stream.
#[derive(Clone, Debug)]
pub(super) struct StreamRow {
    pub(super) tenant: TenantNo,
    pub(super) id: StreamId,
    pub(super) handle: Handle,
    /// Positions up to here are those of `fork_of`.
    pub(super) base: Seq,
    pub(super) head: Seq,
    pub(super) fork_of: Option<StreamNo>,
    pub(super) parent: Option<StreamId>,
    pub(super) scope: Scope,
    pub(super) opened_at: Millis,
    pub(super) updated_at: Millis,
    pub(super) messages: u64,
    pub(super) text: Bytes,
    pub(super) first_user: Option<Seq>,
    pub(super) said: Seq,
    pub(super) counted: Seq,
    pub(super) indexed: Seq,
}

/// An event.
#[derive(Clone, Debug)]
pub(super) struct EventRow {
    pub(super) id: EventId,
    pub(super) at: Millis,
    pub(super) kind: &'static str,
    pub(super) version: u32,
    pub(super) origin: Option<Vec<u8>>,
    pub(super) payload: Option<Vec<u8>>,
    /// Dies with the payload.
    pub(super) salt: Option<[u8; 16]>,
    pub(super) proof: [u8; 32],
    /// Dies with the payload.
    pub(super) checksum: Option<i64>,
    /// The length of its own texts.
    pub(super) own_text: Bytes,
    /// Messages up to here, those of the lineage included.
    pub(super) messages: u64,
    /// The length of all texts up to here, likewise.
    pub(super) text: Bytes,
    pub(super) blobs: Vec<Handle>,
}

/// What an event can be looked up by, besides its position and id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MarkKey {
    System,
    Kind(&'static str),
}

impl MarkKey {
    pub(super) fn of(mark: Mark, kind: &'static str) -> Option<Self> {
        match mark {
            Mark::Plain | Mark::UserTurn => None,
            Mark::System => Some(Self::System),
            Mark::Control => Some(Self::Kind(kind)),
        }
    }
}

impl From<Marked> for MarkKey {
    fn from(what: Marked) -> Self {
        match what {
            Marked::System => Self::System,
            Marked::Kind(kind) => Self::Kind(kind),
        }
    }
}

/// A source.
#[derive(Clone, Debug)]
pub(super) struct SourceRow {
    pub(super) tenant: TenantNo,
    pub(super) handle: Handle,
    pub(super) key: String,
    /// The newest revision, from 1.
    pub(super) newest: u32,
}

/// A revision of a source. No revision shares bytes with another: only format 1 did that.
#[derive(Clone, Debug)]
pub(super) struct RevisionRow {
    pub(super) handle: Handle,
    pub(super) format: String,
    pub(super) len: u64,
    pub(super) whole: bool,
    pub(super) owner: Option<Owner>,
    /// Ranges that stand for erased bytes: first byte and length.
    pub(super) erased: BTreeMap<u64, u64>,
    pub(super) leaf: Option<StreamId>,
    pub(super) modified: Option<i64>,
    pub(super) reader: Option<Vec<u8>>,
}

/// A chunk of a revision; its key holds its offset.
#[derive(Clone, Debug)]
pub(super) struct ChunkRow {
    pub(super) len: u64,
    pub(super) checksum: i64,
    pub(super) data: Vec<u8>,
}

/// A stretch of positions and the stream that holds it.
#[derive(Clone, Copy, Debug)]
pub(super) struct StreamRange {
    pub(super) no: StreamNo,
    pub(super) from: Seq,
    pub(super) to: Seq,
}

impl StreamRange {
    /// The part of it inside `from..=to`, if there is one.
    pub(super) fn within(self, from: Seq, to: Seq) -> Option<Self> {
        let part = Self { no: self.no, from: self.from.max(from), to: self.to.min(to) };
        (part.from <= part.to).then_some(part)
    }
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
    /// All tables.
    LedgerTables {
        tenants: RollbackTable<String, Tenant>,
        streams: RollbackTable<StreamNo, StreamRow>,
        stream_ids: RollbackTable<(TenantNo, String), StreamNo>,
        stream_handles: RollbackTable<(TenantNo, Handle), StreamNo>,
        events: RollbackTable<(StreamNo, Seq), EventRow>,
        event_ids: RollbackTable<(StreamNo, EventId), Seq>,
        marked: RollbackTable<(StreamNo, MarkKey, Seq), ()>,
        blobs: RollbackTable<(TenantNo, Handle), PackedBlob>,
        /// Which events hold a body.
        refs: RollbackTable<(TenantNo, Handle, StreamNo, Seq), ()>,
        counts: RollbackTable<(TenantNo, Handle), BodyCount>,
        /// Tokens of a stream's own events up to a position.
        tokens: RollbackTable<(StreamNo, Seq), u64>,
        sources: SourceTables,
        /// Where records of transcripts stand.
        records: RollbackTable<(TenantNo, i64, StreamNo), Seq>,
        /// Sessions and records of them; no record stands for the whole session.
        erasures: RollbackTable<(TenantNo, String, Gone), ()>,
        segments: RollbackTable<(TenantNo, u64), SegmentInfo>,
        blocks: RollbackTable<(TenantNo, u64, u32), Vec<u8>>,
        leases: RollbackTable<(TenantNo, String), Lease>,
    }
    /// See [`wunderblock::store::Query::Epoch`].
    epoch: u64,
    /// The id of the newest segment; ids are not used twice.
    last_segment: u64,
}

tables! {
    /// The tables of imported sources.
    SourceTables {
        sources: RollbackTable<SourceNo, SourceRow>,
        keys: RollbackTable<(TenantNo, String), SourceNo>,
        handles: RollbackTable<(TenantNo, Handle), SourceNo>,
        revisions: RollbackTable<(SourceNo, u32), RevisionRow>,
        revision_handles: RollbackTable<(TenantNo, Handle), (SourceNo, u32)>,
        chunks: RollbackTable<(SourceNo, u32, u64), ChunkRow>,
        /// Which revisions a stream was read from, in the order of the links.
        links: RollbackTable<(StreamNo, u64), (SourceNo, u32)>,
    }
}

impl LedgerTables {
    pub(super) fn stream_no(&self, tenant: TenantNo, stream: &StreamId) -> Option<StreamNo> {
        self.stream_ids.get(&(tenant, stream.as_str().to_owned())).copied()
    }

    pub(super) fn info(&self, no: StreamNo) -> Option<StreamInfo> {
        let row = self.streams.get(&no)?;
        let forked = row.fork_of.and_then(|parent| self.streams.get(&parent));
        let links = self.sources.links_of(no);
        let cut = |link| self.sources.revisions.get(link).is_some_and(|revision| !revision.whole);
        Some(StreamInfo {
            no,
            id: row.id.clone(),
            handle: row.handle,
            head: row.head,
            fork: forked.map(|parent| (parent.id.clone(), row.base)),
            parent: row.parent.clone(),
            scope: row.scope.clone(),
            source: links.last().copied(),
            unfinished: links.last().is_some_and(cut),
            opened_at: row.opened_at,
            updated_at: row.updated_at,
            messages: row.messages,
            text: row.text,
            first_user: row.first_user,
            said: row.said,
            counted: row.counted,
            indexed: row.indexed,
        })
    }

    /// Who holds which positions of a stream: itself first, then what it continues, as far as it is seen through it.
    pub(super) fn lineage(&self, stream: StreamNo) -> Vec<StreamRange> {
        let mut spans = Vec::new();
        let mut next = self.streams.get(&stream).map(|row| (stream, row, row.head));
        while let Some((no, row, to)) = next {
            let from = row.base.next();
            if spans.is_empty() || from <= to {
                spans.push(StreamRange { no, from, to });
            }
            let parent = row.fork_of.and_then(|parent| Some((parent, self.streams.get(&parent)?)));
            // A fork may begin before the one it forked from did.
            next = parent.map(|(no, parent)| (no, parent, to.min(row.base)));
        }
        spans
    }

    pub(super) fn stretches(&self, stream: StreamNo) -> Vec<Stretch> {
        let named = |span: StreamRange| {
            let row = self.streams.get(&span.no)?;
            Some(Stretch { no: span.no, stream: row.id.clone(), from: span.from, to: span.to })
        };
        self.lineage(stream).into_iter().filter_map(named).collect()
    }

    /// What the ledger holds of a stream up to a position; positions after the head are the head.
    pub(super) fn tally(&self, lineage: &[StreamRange], seq: Seq) -> TallyRow {
        let parts = || lineage.iter().filter_map(|span| span.within(Seq::START, seq));
        let last = parts().next().and_then(|part| self.events.get(&(part.no, part.to)));
        let tokens = parts().map(|part| self.tokens.get(&(part.no, part.to)).copied()).sum();
        TallyRow {
            messages: last.map_or(0, |row| row.messages),
            text: last.map_or(Bytes::ZERO, |row| row.text),
            tokens: Option::<u64>::map(tokens, Tokens),
        }
    }
}
