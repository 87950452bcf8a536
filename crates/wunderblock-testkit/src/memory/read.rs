//! Queries to the ledger in memory.

use super::rows::{LedgerTables, MarkKey, within};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::ops::RangeInclusive;
use wunderblock_core::id::{EventId, Handle, StreamId};
use wunderblock_core::message::Role;
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_store::{
    Answer, EventFilter, HandleTarget, KnownEvent, Marked, PackedBlob, Query, Reach, ReadOrder, Selected,
    StoreError, StoredEvent, StreamFilter, StreamKind, StreamNo, Stretch, TenantNo, UsageRow, codec,
};

impl LedgerTables {
    /// Answers one query within a reach. An unknown tenant is treated as empty.
    pub(super) fn answer(&self, reach: &Reach, query: Query) -> Result<Answer, StoreError> {
        if !self.is_subject_seen(reach, &query) {
            return query.unseen();
        }
        Ok(match query {
            Query::Within { reach: inner, query } => self.answer(&reach.within(&inner), *query)?,
            Query::Tenant { name } => Answer::Tenant(self.tenants.get(&name).copied()),
            Query::Tenants if reach.is_tenant() => Answer::Tenants(self.tenant_names()),
            Query::Tenants => Answer::Tenants(Vec::new()),
            query @ (Query::Stream { .. }
            | Query::Streams { .. }
            | Query::StreamsByNo { .. }
            | Query::Behind { .. }) => self.of_streams(reach, query),
            Query::Lineage { tenant, stream } => {
                Answer::Lineage(self.lineage(self.must_find(tenant, &stream)?))
            }
            Query::OfKinds { tenant, of, kinds, since } => {
                let places = self.places_of_kinds(reach, tenant, of, &kinds);
                let events = places.iter().filter_map(|place| Some(&self.events.get(place)?.event));
                let events = events.filter(|event| since.is_none_or(|since| event.at >= since));
                Answer::Events(events.cloned().collect())
            }
            Query::PlacesOfKinds { tenant, of, kinds } => {
                Answer::Holders(self.places_of_kinds(reach, tenant, of, &kinds))
            }
            query @ Query::Passing { .. } => Answer::Holders(self.passing(reach, &query)),
            query @ (Query::Events { .. } | Query::At { .. } | Query::Marked { .. }) => {
                Answer::Events(self.events_for(query)?)
            }
            Query::Unsettled { tenant, of, limit } => {
                Answer::Holders(self.unsettled(reach, tenant, of, size(limit)))
            }
            Query::Tallies { tenant, stream, seqs } => {
                let lineage = self.lineage(self.must_find(tenant, &stream)?);
                Answer::Tallies(seqs.into_iter().map(|seq| self.tally(&lineage, seq)).collect())
            }
            query @ (Query::Blobs { .. }
            | Query::BodiesOf { .. }
            | Query::Resolve { .. }
            | Query::Handles { .. }
            | Query::Holders { .. }) => self.of_handles(reach, query)?,
            query @ (Query::Source { .. }
            | Query::SourcesOf { .. }
            | Query::ReadFrom { .. }
            | Query::Sources { .. }
            | Query::Chunks { .. }) => self.of_sources(reach, query),
            Query::Records { tenant, records } => {
                Answer::Places(records.into_iter().map(|record| self.places(reach, tenant, record)).collect())
            }
            Query::Ids { tenant, stream, ids } => {
                let lineage = self.lineage(self.must_find(tenant, &stream)?);
                Answer::Known(ids.into_iter().map(|id| self.known(&lineage, id)).collect())
            }
            Query::Erasures { tenant, sessions } => Answer::Erasures(self.erasures(tenant, sessions)),
            Query::Erased { tenant, names } => Answer::Erasures(self.erased(tenant, &names)),
            Query::Usage { tenant, filter } => Answer::Usage(self.usage(reach, tenant, filter)),
            Query::Lease { tenant, key } => Answer::Lease(self.leases.get(&(tenant, key)).cloned()),
            Query::Epoch { tenant } => Answer::Epoch(self.epoch(tenant)),
            Query::Lost { since, stream, from, to } => Answer::Lost(self.lost(since, &stream, from, to)?),
            query @ (Query::Counts { .. }
            | Query::Segments { .. }
            | Query::Blocks { .. }
            | Query::SegmentBlocks { .. }) => self.derived(reach, query),
        })
    }

    /// Positions of the events that pass a filter.
    fn passing(&self, reach: &Reach, query: &Query) -> Vec<(StreamNo, Seq)> {
        let Query::Passing { tenant, streams, filter } = query else { return Vec::new() };
        let own = |no: &StreamNo| {
            let row = self.streams.get(no).filter(|row| row.tenant == *tenant);
            let is_asked = streams.as_ref().is_none_or(|streams| streams.contains(no));
            is_asked && row.is_some_and(|row| reach.admits(&row.info.scope))
        };
        let places = self.events.range(..).map(|(place, _)| *place).filter(|(no, _)| own(no));
        places.filter(|place| self.accepts(filter, place.0, place.1)).collect()
    }

    /// Answers a query about bodies and handles.
    fn of_handles(&self, reach: &Reach, query: Query) -> Result<Answer, StoreError> {
        Ok(match query {
            Query::Blobs { tenant, handles } => {
                let blob = |handle| {
                    self.blobs
                        .get(&(tenant, handle))
                        .filter(|_| self.is_body_seen(reach, tenant, handle))
                        .cloned()
                };
                Answer::Blobs(handles.into_iter().map(blob).collect())
            }
            Query::BodiesOf { tenant, stream, events, bytes } => {
                Answer::Blobs(self.bodies_of(tenant, &stream, events, bytes)?)
            }
            Query::Resolve { tenant, of, handle } => Answer::Named(self.resolve(reach, tenant, of, handle)),
            Query::Handles { tenant, of, first, last, limit } => Answer::Handles(
                self.handles(reach, tenant, of, first..=last).into_iter().take(size(limit)).collect(),
            ),
            Query::Holders { tenant, of, handle, limit } => {
                let first = (tenant, handle, StreamNo(0), Seq(0));
                let last = (tenant, handle, StreamNo(u32::MAX), Seq(u64::MAX));
                let refs = self.refs.range(first..=last).map(|((_, _, no, seq), ())| (*no, *seq));
                let refs = refs.filter(|(no, _)| self.is_seen(reach, of, *no));
                Answer::Holders(refs.take(size(limit)).collect())
            }
            other => self.answer(reach, other)?,
        })
    }

    /// Answers a query about derived data.
    fn derived(&self, reach: &Reach, query: Query) -> Answer {
        match query {
            Query::Counts { tenant, handles } => {
                let count = |handle| {
                    self.counts
                        .get(&(tenant, handle))
                        .filter(|_| self.is_body_seen(reach, tenant, handle))
                        .copied()
                };
                Answer::Counts(handles.into_iter().map(count).collect())
            }
            Query::Segments { tenant, table } => {
                let all = self.segments.range((tenant, 0)..=(tenant, u64::MAX)).rev();
                let own = all.filter(|(_, (of, _))| *of == table);
                Answer::Segments(own.map(|(_, (_, info))| info.clone()).collect())
            }
            Query::Blocks { tenant, wanted } => {
                let block = |(segment, number)| self.blocks.get(&(tenant, segment, number)).cloned();
                Answer::Blocks(wanted.into_iter().map(block).collect())
            }
            Query::SegmentBlocks { tenant, segment } => {
                let rows = self.blocks.range((tenant, segment, 0)..=(tenant, segment, u32::MAX));
                Answer::Blocks(rows.map(|(_, data)| Some(data.clone())).collect())
            }
            // Not reached: `answer` passes only the queries above.
            _ => Answer::Stream(None),
        }
    }

    /// Returns the names of the tenants, the oldest first.
    fn tenant_names(&self) -> Vec<String> {
        let mut all: Vec<_> = self.tenants.range(String::new()..).collect();
        all.sort_by_key(|(_, tenant)| tenant.no);
        all.into_iter().map(|(name, _)| name.clone()).collect()
    }

    /// Returns the first user messages that have no settled authors.
    fn unsettled(
        &self,
        reach: &Reach,
        tenant: TenantNo,
        of: StreamKind,
        limit: usize,
    ) -> Vec<(StreamNo, Seq)> {
        let streams = self.streams_with(reach, tenant, "").into_iter().filter(|info| info.kind == of);
        let streams: Vec<StreamNo> = streams.map(|info| info.no).collect();
        let open = self.events.range(..).filter(|((stream, _), row)| {
            let (event, role) = (&row.event, row.facets.role);
            let is_open = event.authors.is_none() && event.payload.is_some();
            role == Some(Role::User) && is_open && streams.contains(stream)
        });
        open.map(|(place, _)| *place).take(limit).collect()
    }

    fn of_streams(&self, reach: &Reach, query: Query) -> Answer {
        match query {
            Query::Stream { tenant, of, stream } => {
                let info = self.stream_no(tenant, &stream).and_then(|no| self.info(no));
                let info = info.filter(|info| info.kind == of && reach.admits(&info.scope));
                Answer::Stream(info.map(Box::new))
            }
            Query::Streams { tenant, filter, limit } => {
                let mut streams = self.streams_with(reach, tenant, &filter.prefix);
                streams.retain(|info| filter.accepts(info));
                streams.sort_by_key(|info| Reverse((info.said_at, info.no)));
                streams.truncate(size(limit));
                Answer::Streams(streams)
            }
            Query::StreamsByNo { tenant, streams } => {
                let all = self.streams_with(reach, tenant, "");
                let one = |no| all.iter().find(|info| info.no == no).cloned();
                Answer::Streams(streams.into_iter().filter_map(one).collect())
            }
            Query::Behind { tenant, of, tables, limit } => {
                let mut streams = self.streams_with(reach, tenant, "");
                streams.retain(|info| info.kind == of && tables.iter().any(|table| info.is_behind(*table)));
                streams.sort_by_key(|info| info.no);
                streams.truncate(size(limit));
                Answer::Streams(streams)
            }
            // Not reached: `answer` passes only the queries above.
            _ => Answer::Stream(None),
        }
    }

    fn usage(&self, reach: &Reach, tenant: TenantNo, mut filter: StreamFilter) -> Vec<UsageRow> {
        // The time of a filter applies to the reports, not to the streams.
        let since = filter.since.take();
        let mut rows: Vec<UsageRow> = Vec::new();
        for info in
            self.streams_with(reach, tenant, &filter.prefix).iter().filter(|info| filter.accepts(info))
        {
            let all = self.usage.range((info.no, Box::from(""))..).take_while(|(key, _)| key.0 == info.no);
            rows.extend(
                all.map(|(_, row)| row.clone()).filter(|row| since.is_none_or(|since| row.at >= since)),
            );
        }
        rows.sort_by_key(|row| (row.stream, row.seq));
        rows
    }

    fn places_of_kinds(
        &self,
        reach: &Reach,
        tenant: TenantNo,
        of: StreamKind,
        kinds: &[&'static str],
    ) -> Vec<(StreamNo, Seq)> {
        let mut places: Vec<(StreamNo, Seq)> = Vec::new();
        for info in self.streams_with(reach, tenant, "").into_iter().filter(|info| info.kind == of) {
            for kind in kinds {
                let (no, key) = (info.no, MarkKey::Kind(kind));
                let marked = self.marked.range((no, key.clone(), Seq(0))..=(no, key, info.head));
                places.extend(marked.map(|((no, _, seq), ())| (*no, *seq)));
            }
        }
        places.sort_unstable();
        places
    }

    /// Streams that contain a record, with its last position in each.
    fn places(&self, reach: &Reach, tenant: TenantNo, record: i64) -> Vec<(StreamId, Seq)> {
        let rows = self.records.range((tenant, record, StreamNo(0))..=(tenant, record, StreamNo(u32::MAX)));
        let seen = |no| self.streams.get(no).filter(|row| reach.admits(&row.info.scope));
        rows.filter_map(|((.., no), seq)| Some((seen(no)?.info.id.clone(), *seq))).collect()
    }

    fn known(&self, lineage: &[Stretch], id: EventId) -> Option<KnownEvent> {
        lineage.iter().find_map(|span| self.known_in(span.no, span.to, &id))
    }

    /// Event with an id among the first positions of a stream. An erased event has a hashed id and proves nothing.
    pub(super) fn known_in(&self, stream: StreamNo, to: Seq, id: &EventId) -> Option<KnownEvent> {
        let hashed = || Some(codec::erased_id(&self.key_of(self.streams.get(&stream)?.tenant), id));
        let find = |id: EventId| self.event_ids.get(&(stream, id)).filter(|seq| **seq <= to).copied();
        let seq = find(id.clone()).or_else(|| find(hashed()?))?;
        let event = &self.events.get(&(stream, seq))?.event;
        Some(KnownEvent { seq, proof: event.proof.filter(|_| !codec::is_erased_name(event.id.as_str())) })
    }

    pub(super) fn key_of(&self, tenant: TenantNo) -> [u8; 32] {
        self.tenants.values().find(|known| known.no == tenant).map(|known| known.key).unwrap_or_default()
    }

    fn events_for(&self, query: Query) -> Result<Vec<StoredEvent>, StoreError> {
        Ok(match query {
            Query::Events { tenant, stream, from, to, order, limit, text, counts, filter } => {
                let mut spans = self.spans(tenant, &stream, from, to)?;
                if order == ReadOrder::Ascending {
                    spans.reverse();
                }
                let mut events = self.run_of_events(&spans, order, size(limit), (text, &filter));
                if counts {
                    self.add_counts(tenant, &mut events);
                }
                events
            }
            Query::At { tenant, stream, seqs, filter } => {
                let spans = self.spans(tenant, &stream, Seq(1), Seq(u64::MAX))?;
                let holder = |seq: Seq| {
                    spans.iter().find_map(|span| within(span, seq, seq)).map(|span| (span.no, seq))
                };
                let places = seqs.into_iter().filter_map(holder);
                let mut events = self.stored(places.filter(|place| self.accepts(&filter, place.0, place.1)));
                self.add_counts(tenant, &mut events);
                events
            }
            Query::Marked { tenant, stream, what, to, limit } => {
                let spans = self.spans(tenant, &stream, Seq(1), to)?;
                let mut lanes = HashSet::new();
                let places = spans.iter().flat_map(|span| self.marked_in(span, &what));
                let mut events = self.stored(places);
                events
                    .retain(|event| !matches!(what, Marked::EachLane(_)) || lanes.insert(event.lane.clone()));
                events.truncate(size(limit));
                events
            }
            // Not reached: `answer` passes only the queries above.
            _ => Vec::new(),
        })
    }

    /// Bodies of events, without those that would make the total length exceed `bytes`.
    fn bodies_of(
        &self,
        tenant: TenantNo,
        stream: &StreamId,
        events: Selected,
        bytes: Bytes,
    ) -> Result<Vec<Option<PackedBlob>>, StoreError> {
        let spans = self.spans(tenant, stream, Seq(1), Seq(u64::MAX))?;
        let seqs = match events {
            Selected::At(seqs) => seqs,
            Selected::UserTurns { to, limit } => {
                let turns = spans.iter().flat_map(|span| self.marked_in(span, &Marked::UserTurn));
                turns.map(|(_, seq)| seq).filter(|seq| *seq <= to).take(size(limit)).collect()
            }
        };
        let (mut left, mut found, mut seen) = (bytes.0, Vec::new(), HashSet::new());
        for seq in seqs {
            let span = spans.iter().find_map(|span| within(span, seq, seq));
            let row = span.and_then(|span| self.events.get(&(span.no, seq)));
            let own: BTreeSet<Handle> = row.into_iter().flat_map(|row| &row.blobs).copied().collect();
            for blob in own.into_iter().filter_map(|handle| self.blobs.get(&(tenant, handle))) {
                if blob.bytes.0 <= left && seen.insert(blob.handle) {
                    left -= blob.bytes.0;
                    found.push(Some(blob.clone()));
                }
            }
        }
        Ok(found)
    }

    /// Places of the marked events of a stretch, newest first.
    fn marked_in(&self, span: &Stretch, what: &Marked) -> Vec<(StreamNo, Seq)> {
        let key = match what {
            Marked::System => MarkKey::System,
            Marked::UserTurn => MarkKey::UserTurn,
            Marked::Kind(kind) => MarkKey::Kind(kind),
            Marked::OfLane(kind, lane) => MarkKey::OfLane(kind, lane.clone()),
            // The table of marks has no key for all lanes, so every event of the stretch is read.
            Marked::EachLane(wanted) => {
                let rows = self.events.range((span.no, span.from)..=(span.no, span.to)).rev();
                let rows = rows.filter(|(_, row)| row.event.kind == **wanted && row.event.lane.is_some());
                return rows.map(|(place, _)| *place).collect();
            }
        };
        let rows = self.marked.range((span.no, key.clone(), span.from)..=(span.no, key, span.to));
        rows.rev().map(|((no, _, seq), ())| (*no, *seq)).collect()
    }

    /// Stretches that hold the positions `from..=to` of a stream, newest first.
    fn spans(
        &self,
        tenant: TenantNo,
        stream: &StreamId,
        from: Seq,
        to: Seq,
    ) -> Result<Vec<Stretch>, StoreError> {
        let lineage = self.lineage(self.must_find(tenant, stream)?);
        Ok(lineage.iter().filter_map(|span| within(span, from, to)).collect())
    }

    /// Events of `spans` in the given order, up to `limit` events or up to the event whose text makes the total
    /// exceed `text`.
    fn run_of_events(
        &self,
        spans: &[Stretch],
        order: ReadOrder,
        limit: usize,
        (text, filter): (Bytes, &EventFilter),
    ) -> Vec<StoredEvent> {
        let rows = spans.iter().flat_map(|span| {
            let rows = self.events.range((span.no, span.from)..=(span.no, span.to));
            let rows: Box<dyn Iterator<Item = _>> = match order {
                ReadOrder::Ascending => Box::new(rows),
                ReadOrder::Descending => Box::new(rows.rev()),
            };
            rows
        });
        let (mut events, mut rows) = (Vec::new(), rows.peekable());
        // The length counts over events that the filter skips, too: in ascending order from the first event of the
        // range, in descending order from the first one that passes.
        let start = rows.peek().map(|(_, row)| row.text.saturating_sub(row.own_text));
        let mut before = start.filter(|_| order == ReadOrder::Ascending);
        for (_, row) in rows.filter(|(place, _)| self.accepts(filter, place.0, place.1)).take(limit) {
            let first = *before.get_or_insert(row.text);
            events.push(row.event.clone());
            let length = match order {
                ReadOrder::Ascending => row.text.saturating_sub(first),
                ReadOrder::Descending => first.saturating_sub(row.text.saturating_sub(row.own_text)),
            };
            if length > text {
                break;
            }
        }
        events
    }

    /// Returns whether an event passes a filter.
    fn accepts(&self, filter: &EventFilter, stream: StreamNo, seq: Seq) -> bool {
        let Some(row) = self.events.get(&(stream, seq)) else { return false };
        let own = &row.facets;
        // A result belongs to the latest message of the assistant before it.
        let before = || {
            let mut rows =
                self.events.range((stream, Seq(0))..(stream, seq)).rev().map(|(_, row)| &row.facets);
            let call = rows.find(|facets| facets.role == Some(Role::Assistant));
            call.filter(|_| own.role == Some(Role::Tool))
        };
        let tool = own.tool.as_deref().or_else(|| before()?.tool.as_deref());
        let path = own.path.as_deref().or_else(|| before()?.path.as_deref());
        let by = row.event.authors.as_ref().map(|authors| authors.by);
        (filter.role.is_none() || filter.role == own.role)
            && (filter.author.is_none() || filter.author == by)
            && (filter.tool.is_none() || filter.tool.as_deref() == tool)
            && filter.path.as_deref().is_none_or(|wanted| path.is_some_and(|path| is_of_path(path, wanted)))
            && filter.since.is_none_or(|since| row.event.at >= since)
    }

    fn stored(&self, places: impl Iterator<Item = (StreamNo, Seq)>) -> Vec<StoredEvent> {
        places.filter_map(|place| Some(self.events.get(&place)?.event.clone())).collect()
    }

    /// Adds the known counts of the events' bodies, sorted by handle.
    fn add_counts(&self, tenant: TenantNo, events: &mut [StoredEvent]) {
        for event in events {
            let row = self.events.get(&(event.stream, event.seq));
            let handles: BTreeSet<Handle> =
                row.map(|row| row.blobs.iter().copied().collect()).unwrap_or_default();
            let count = |handle| self.counts.get(&(tenant, handle)).map(|count| (handle, *count));
            event.counts = handles.into_iter().filter_map(count).collect();
        }
    }

    fn handles(
        &self,
        reach: &Reach,
        tenant: TenantNo,
        of: StreamKind,
        range: RangeInclusive<Handle>,
    ) -> BTreeSet<Handle> {
        let keys = || (tenant, *range.start())..=(tenant, *range.end());
        let bodies = self.blobs.range(keys()).map(|((_, handle), _)| *handle);
        let bodies = bodies.filter(|handle| self.is_body_seen(reach, tenant, *handle));
        let streams = self.stream_handles.range(keys()).filter(|(_, no)| self.is_seen(reach, of, **no));
        let sources = self.sources.handles.range(keys());
        let sources = sources.filter(|(_, no)| self.is_source_seen(reach, **no));
        let revisions = self.sources.revision_handles.range(keys());
        let revisions = revisions.filter(|(_, (no, _))| self.is_source_seen(reach, *no));
        let streams = streams.map(|((_, handle), _)| *handle).chain(sources.map(|((_, handle), _)| *handle));
        bodies.chain(streams).chain(revisions.map(|((_, handle), _)| *handle)).collect()
    }

    fn resolve(
        &self,
        reach: &Reach,
        tenant: TenantNo,
        of: StreamKind,
        handle: Handle,
    ) -> Option<HandleTarget> {
        let key = (tenant, handle);
        if self.blobs.get(&key).is_some() && self.is_body_seen(reach, tenant, handle) {
            return Some(HandleTarget::Blob);
        }
        let stream = self.stream_handles.get(&key).and_then(|no| self.streams.get(no));
        if let Some(row) = stream.filter(|row| reach.admits(&row.info.scope)) {
            return (row.info.kind == of).then(|| HandleTarget::Stream(row.info.id.clone()));
        }
        let source = self.sources.handles.get(&key).filter(|no| self.is_source_seen(reach, **no));
        let revision = || self.sources.revision_handles.get(&key);
        let revision = || revision().filter(|(no, _)| self.is_source_seen(reach, *no));
        source
            .map(|no| HandleTarget::Source(*no, None))
            .or_else(|| revision().map(|(no, revision)| HandleTarget::Source(*no, Some(*revision))))
    }
}

/// Returns whether a path is the wanted one, is below it, or ends with it.
fn is_of_path(path: &str, wanted: &str) -> bool {
    let below = path.strip_prefix(wanted);
    let named = path.strip_suffix(wanted);
    below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        || named.is_some_and(|before| before.ends_with('/'))
}

pub(super) fn size(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}
