//! Queries to the ledger in memory.

use super::rows::{EventRow, MarkKey, Span, State};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use wunderblock::store::{
    Answer, Marked, Named, Order, Query, SourceBy, StoredEvent, StreamInfo, StreamNo, TallyRow, TenantNo,
};
use wunderblock_core::id::{CallId, Handle, StreamId};
use wunderblock_core::units::{Bytes, Seq};

impl State {
    /// Answers one query. Streams and tenants that are not there hold nothing.
    pub(super) fn answer(&self, query: Query) -> Answer {
        match query {
            Query::Tenant { name } => Answer::Tenant(self.tenants.get(&name).copied()),
            Query::Stream { tenant, stream } => {
                let info = self.stream_no(tenant, &stream).and_then(|no| self.info(no));
                Answer::Stream(info.map(Box::new))
            }
            Query::Streams { tenant, prefix, limit } => {
                Answer::Streams(self.newest(tenant, &prefix, |_| true, limit))
            }
            Query::Behind { tenant, limit } => {
                let behind = |info: &StreamInfo| info.counted < info.head || info.indexed < info.head;
                Answer::Streams(self.newest(tenant, "", behind, limit))
            }
            Query::Lineage { tenant, stream } => {
                let no = self.stream_no(tenant, &stream);
                Answer::Lineage(no.map(|no| self.stretches(no)).unwrap_or_default())
            }
            Query::Events { tenant, stream, from, to, order, limit, text } => {
                let spans = self.spans(tenant, &stream, from, to);
                Answer::Events(self.run_of_events(spans, order, size(limit), text))
            }
            Query::At { tenant, stream, seqs } => Answer::Events(self.at(tenant, &stream, &seqs)),
            Query::Marked { tenant, stream, what, to, limit } => {
                Answer::Events(self.marked_events(&self.spans(tenant, &stream, Seq(1), to), what, limit))
            }
            Query::Callers { tenant, stream, calls, before } => {
                let spans = match before {
                    Seq::START => Vec::new(),
                    before => self.spans(tenant, &stream, Seq(1), before.prev()),
                };
                Answer::Events(self.callers(&spans, &calls))
            }
            Query::Blobs { tenant, handles } => {
                let blob = |handle| self.blobs.get(&(tenant, handle)).cloned();
                Answer::Blobs(handles.into_iter().map(blob).collect())
            }
            Query::Counts { tenant, handles } => {
                let count = |handle| self.counts.get(&(tenant, handle)).copied();
                Answer::Counts(handles.into_iter().map(count).collect())
            }
            Query::Tallies { tenant, stream, seqs } => Answer::Tallies(self.tallies(tenant, &stream, &seqs)),
            Query::Resolve { tenant, handle } => Answer::Named(self.resolve(tenant, handle)),
            Query::Source { tenant, by } => {
                let no = match by {
                    SourceBy::Key(key) => self.source_keys.get(&(tenant, key)).copied(),
                    SourceBy::No(no) => Some(no),
                };
                Answer::Source(no.and_then(|no| self.source_info(tenant, no)))
            }
            Query::Chunks { source, from, to, limit } => {
                Answer::Chunks(self.source_chunks(source, (from, to), size(limit)))
            }
            Query::Segments { tenant } => {
                let all = self.segments.range((tenant, 0)..=(tenant, u64::MAX)).rev();
                Answer::Segments(all.map(|(_, info)| info.clone()).collect())
            }
            Query::Blocks { tenant, wanted } => Answer::Blocks(
                wanted.into_iter().map(|(segment, term)| self.block(tenant, segment, term)).collect(),
            ),
            Query::SegmentBlocks { tenant, segment } => {
                let from = (tenant, segment, Vec::new());
                let rows =
                    self.blocks.range(from..).take_while(|(key, _)| (key.0, key.1) == (tenant, segment));
                Answer::Blocks(rows.map(|(key, data)| Some((key.2.clone(), data.clone()))).collect())
            }
        }
    }

    /// A tenant's streams whose id begins with `prefix`; those with the newest event first, of several the one opened
    /// last.
    fn newest(
        &self,
        tenant: TenantNo,
        prefix: &str,
        wanted: impl Fn(&StreamInfo) -> bool,
        limit: u64,
    ) -> Vec<StreamInfo> {
        let from = (tenant, prefix.to_owned());
        let rows =
            self.stream_ids.range(from..).take_while(|(key, _)| key.0 == tenant && key.1.starts_with(prefix));
        let mut streams: Vec<StreamInfo> = rows.filter_map(|(_, no)| self.info(*no)).filter(wanted).collect();
        streams.sort_by_key(|info| Reverse((info.updated_at, info.no)));
        streams.truncate(size(limit));
        streams
    }

    /// Who holds the positions `from..=to` of a stream, the newest first.
    fn spans(&self, tenant: TenantNo, stream: &StreamId, from: Seq, to: Seq) -> Vec<Span> {
        let lineage = self.stream_no(tenant, stream).map(|no| self.lineage(no)).unwrap_or_default();
        lineage.into_iter().filter_map(|span| span.within(from, to)).collect()
    }

    fn run_of_events(
        &self,
        mut spans: Vec<Span>,
        order: Order,
        limit: usize,
        text: Bytes,
    ) -> Vec<StoredEvent> {
        if order == Order::Ascending {
            spans.reverse();
        }
        let rows = spans.into_iter().flat_map(|span| {
            let rows = self.events.range((span.no, span.from)..=(span.no, span.to));
            let rows: Box<dyn Iterator<Item = _>> = match order {
                Order::Ascending => Box::new(rows),
                Order::Descending => Box::new(rows.rev()),
            };
            rows
        });
        let (mut events, mut length) = (Vec::new(), Bytes::ZERO);
        for ((no, seq), row) in rows.take(limit) {
            events.push(stored(*no, *seq, row));
            length += row.own_text;
            if length > text {
                break;
            }
        }
        events
    }

    fn at(&self, tenant: TenantNo, stream: &StreamId, seqs: &[Seq]) -> Vec<StoredEvent> {
        let spans = self.spans(tenant, stream, Seq(1), Seq(u64::MAX));
        let event = |seq: &Seq| {
            let span = spans.iter().find_map(|span| span.within(*seq, *seq))?;
            self.events.get(&(span.no, *seq)).map(|row| stored(span.no, *seq, row))
        };
        seqs.iter().filter_map(event).collect()
    }

    fn marked_events(&self, spans: &[Span], what: Marked, limit: u64) -> Vec<StoredEvent> {
        let key = MarkKey::from(what);
        let places = spans.iter().flat_map(|span| {
            self.marked.range((span.no, key, span.from)..=(span.no, key, span.to)).rev().map(|(key, ())| *key)
        });
        let event = |(no, _, seq)| self.events.get(&(no, seq)).map(|row| stored(no, seq, row));
        places.take(size(limit)).filter_map(event).collect()
    }

    fn callers(&self, spans: &[Span], calls: &[CallId]) -> Vec<StoredEvent> {
        let mut places = BTreeSet::new();
        for span in spans {
            for call in calls {
                let rows =
                    self.calls.range((span.no, call.clone(), span.from)..=(span.no, call.clone(), span.to));
                places.extend(rows.map(|((no, _, seq), ())| (*seq, *no)));
            }
        }
        let event = |(seq, no)| self.events.get(&(no, seq)).map(|row| stored(no, seq, row));
        places.into_iter().filter_map(event).collect()
    }

    fn tallies(&self, tenant: TenantNo, stream: &StreamId, seqs: &[Seq]) -> Vec<TallyRow> {
        match self.stream_no(tenant, stream) {
            Some(no) => {
                let lineage = self.lineage(no);
                seqs.iter().map(|seq| self.tally(&lineage, *seq)).collect()
            }
            None => vec![TallyRow::default(); seqs.len()],
        }
    }

    fn resolve(&self, tenant: TenantNo, handle: Handle) -> Option<Named> {
        let key = (tenant, handle);
        let blob = self.blobs.get(&key).map(|_| Named::Blob);
        let stream = || self.stream_handles.get(&key).and_then(|no| self.streams.get(no));
        blob.or_else(|| stream().map(|row| Named::Stream(row.id.clone())))
            .or_else(|| self.source_handles.get(&key).map(|no| Named::Source(*no)))
    }

    fn block(&self, tenant: TenantNo, segment: u64, term: Vec<u8>) -> Option<(Vec<u8>, Vec<u8>)> {
        let range = (tenant, segment, Vec::new())..=(tenant, segment, term);
        self.blocks.range(range).next_back().map(|(key, data)| (key.2.clone(), data.clone()))
    }
}

fn stored(stream: StreamNo, seq: Seq, row: &EventRow) -> StoredEvent {
    StoredEvent {
        stream,
        seq,
        id: row.id.clone(),
        at: row.at,
        kind: row.kind.to_owned(),
        version: row.version,
        origin: row.origin.clone(),
        payload: row.payload.clone(),
        proof: row.salt.map(|salt| (salt, row.proof)),
    }
}

fn size(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}
