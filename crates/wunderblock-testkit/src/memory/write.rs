//! Writes to the ledger in memory.

use super::rows::{EventRow, LedgerTables, MarkKey, StreamRow};
use wunderblock_core::author::Authors;
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::message::Role;
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};
use wunderblock_store::codec::{self, commitment};
use wunderblock_store::{
    Appended, BodyCount, DerivedTable, Facets, Frontiers, KnownEvent, Lease, MAX_HOLDERS, Opening,
    PackedBlob, PackedEvent, PackedSegment, Reach, SegmentId, SegmentInfo, SegmentReach, StoreError,
    StreamInfo, StreamKind, StreamNo, Stretch, TallyRow, Tenant, TenantNo, UsageRow, Write, Written,
};

impl LedgerTables {
    /// Executes one write. After an error, the caller must roll back.
    pub(super) fn write(&mut self, write: Write) -> Result<Written, StoreError> {
        match write {
            Write::Tenant { name, key } => Ok(Written::Tenant(self.tenant(name, key))),
            open @ Write::Open { .. } => self.open(open),
            Write::Project { tenant, folders, folder, project } => {
                for info in self.streams_with(&Reach::tenant(), tenant, "") {
                    if info.scope.folder.is_some_and(|own| folders.contains(&own)) {
                        self.streams.change(&info.no, |row| {
                            row.info.scope.folder = Some(folder.clone());
                            row.info.scope.project = Some(project.clone());
                        });
                    }
                }
                Ok(Written::Done)
            }
            Write::Append { tenant, stream, expect_head, events } => {
                self.append(tenant, &stream, expect_head, events).map(Written::Appended)
            }
            take @ Write::Source { .. } => self.sources.take(take),
            extend @ Write::Extend { .. } => self.sources.extend(extend),
            whole @ Write::Whole { .. } => self.sources.whole(whole),
            Write::Disown { source, revision, token } => Ok(self.sources.disown(source, revision, &token)),
            Write::Link { tenant, stream, source, revision } => {
                if let Some(no) = self.stream_no(tenant, &stream) {
                    self.sources.link(tenant, no, source, revision);
                }
                Ok(Written::Done)
            }
            Write::Records { tenant, stream, records } => {
                let no = self.must_find(tenant, &stream)?;
                records.into_iter().for_each(|(record, seq)| self.place(tenant, record, no, seq));
                Ok(Written::Done)
            }
            // Nothing to do: no revision of this store shares bytes with another.
            Write::Unshare { .. } => Ok(Written::Done),
            Write::Authors { tenant, stream, authors } => Ok(self.set_authors(tenant, stream, authors)),
            Write::Counts { tenant, counts } => Ok(self.count(tenant, counts)),
            Write::Tallies { tenant, stream, tokens } => self.tally_up(tenant, &stream, &tokens),
            Write::Segment { tenant, table, segment, replaces, reaches } => {
                self.remove_segments(tenant, table, &replaces)?;
                self.extend_reaches(tenant, table, &reaches)?;
                Ok(self.put_segment(tenant, table, segment, &replaces))
            }
            Write::Claim { tenant, key, holder, now, until } => {
                Ok(self.claim(tenant, key, now, Lease { holder, until }))
            }
            Write::Release { tenant, key, holder } => {
                let key = (tenant, key);
                if self.leases.get(&key).is_some_and(|lease| lease.holder == holder) {
                    self.leases.remove(&key);
                }
                Ok(Written::Done)
            }
            Write::DropDerived { tenant } => Ok(self.drop_derived(tenant)),
            Write::Erase { tenant, stream, events, spans, erasures } => {
                let erased = self.erase(tenant, &stream, events, &spans)?;
                self.note_erasures(tenant, erasures);
                Ok(erased)
            }
        }
    }

    fn set_authors(&mut self, tenant: TenantNo, stream: StreamNo, authors: Vec<(Seq, Authors)>) -> Written {
        let is_its = self.streams.get(&stream).is_some_and(|row| row.tenant == tenant);
        for (seq, by) in authors.into_iter().filter(|_| is_its) {
            self.events.change(&(stream, seq), |row| {
                if row.facets.role == Some(Role::User) && row.event.payload.is_some() {
                    row.event.authors = Some(by);
                }
            });
        }
        Written::Done
    }

    fn tenant(&mut self, name: String, key: [u8; 32]) -> Tenant {
        if let Some(tenant) = self.tenants.get(&name) {
            return *tenant;
        }
        let tenant = Tenant { no: TenantNo(next_no(self.tenants.len())), key };
        self.tenants.put(name, tenant);
        tenant
    }

    pub(super) fn must_find(&self, tenant: TenantNo, stream: &StreamId) -> Result<StreamNo, StoreError> {
        self.stream_no(tenant, stream).ok_or_else(|| StoreError::NoStream(stream.clone()))
    }

    fn open(&mut self, write: Write) -> Result<Written, StoreError> {
        let Write::Open { tenant, kind, stream, handle, opening, scope, at } = write else {
            return Ok(Written::Done);
        };
        if let Some(info) = self.stream_no(tenant, &stream).and_then(|no| self.info(no)) {
            let same = info.kind == kind
                && match &opening {
                    Opening::New { .. } => info.fork.is_none(),
                    Opening::Fork { parent, at_seq } => {
                        info.fork.as_ref().is_some_and(|(of, at)| of == parent && at == at_seq)
                    }
                };
            return if same {
                Ok(Written::Stream(Box::new(info), false))
            } else {
                Err(StoreError::StreamExists(stream))
            };
        }
        if !self.tenants.values().any(|known| known.no == tenant) {
            return Err(StoreError::Damaged(format!("there is no tenant {}", tenant.0)));
        }
        let (fork_of, base, shared, first_user) = self.beginning(tenant, kind, &opening)?;
        let no = StreamNo(u32::try_from(next_no(self.streams.len())).unwrap_or(u32::MAX));
        let (parent, fork) = match opening {
            Opening::New { parent } => (parent, None),
            Opening::Fork { parent, at_seq } => (None, Some((parent, at_seq))),
        };
        let info = StreamInfo {
            head: base,
            fork,
            parent,
            messages: shared.messages,
            text: shared.text,
            first_user,
            said: base,
            kind,
            frontiers: Frontiers::at(base),
            ..StreamInfo::opened(no, stream.clone(), handle, scope, at)
        };
        let row = StreamRow { tenant, fork_of, info: info.clone() };
        self.streams.put(no, row);
        self.stream_ids.put((tenant, stream.as_str().to_owned()), no);
        self.stream_handles.put_new((tenant, handle), no);
        Ok(Written::Stream(Box::new(info), true))
    }

    /// Returns the parent of a new stream, its last shared position, the shared sums, and the first user turn.
    fn beginning(
        &self,
        tenant: TenantNo,
        kind: StreamKind,
        opening: &Opening,
    ) -> Result<(Option<StreamNo>, Seq, TallyRow, Option<Seq>), StoreError> {
        let Opening::Fork { parent, at_seq } = opening else {
            return Ok((None, Seq::START, TallyRow::default(), None));
        };
        let no = self.must_find(tenant, parent)?;
        if self.streams.get(&no).is_none_or(|row| row.info.kind != kind) {
            return Err(StoreError::NoStream(parent.clone()));
        }
        let (head, first_user) =
            self.streams.get(&no).map_or((Seq::START, None), |row| (row.info.head, row.info.first_user));
        if *at_seq > head {
            return Err(StoreError::HeadMoved { expected: *at_seq, actual: head });
        }
        let shared = self.tally(&self.lineage(no), *at_seq);
        Ok((Some(no), *at_seq, shared, first_user.filter(|first| first <= at_seq)))
    }

    fn append(
        &mut self,
        tenant: TenantNo,
        stream: &StreamId,
        expect_head: Option<Seq>,
        events: Vec<PackedEvent>,
    ) -> Result<Vec<Appended>, StoreError> {
        let no = self.must_find(tenant, stream)?;
        let lineage = self.lineage(no);
        let Some(mut row) = self.streams.get(&no).cloned() else {
            return Err(StoreError::NoStream(stream.clone()));
        };
        if let Some(expected) = expect_head.filter(|expected| *expected != row.info.head) {
            // The caller may have lost the answer to an earlier attempt: if all events are stored, report them as
            // duplicates.
            let there = events.iter().map(|event| self.find(&lineage, row.info.head, event).ok().flatten());
            let there: Option<Vec<(Seq, bool)>> = there.collect();
            let there = there.filter(|seqs| !seqs.is_empty());
            let moved = StoreError::HeadMoved { expected, actual: row.info.head };
            return there.map(repeated).ok_or(moved);
        }
        let mut appended = Vec::with_capacity(events.len());
        for event in events {
            let there = self.find(&lineage, row.info.head, &event)?;
            appended.push(match there {
                Some((seq, erased)) => Appended::known(seq, erased),
                None => Appended::written(self.add(&mut row, event)?),
            });
        }
        self.streams.put(no, row);
        Ok(appended)
    }

    /// Position of an event that is already stored, in the stream itself or in its shared history, and whether it is
    /// erased.
    fn find(
        &self,
        lineage: &[Stretch],
        head: Seq,
        event: &PackedEvent,
    ) -> Result<Option<(Seq, bool)>, StoreError> {
        for (nearness, span) in lineage.iter().enumerate() {
            // The lineage ends at the old head, but earlier events of the same write count too.
            let to = if nearness == 0 { head } else { span.to };
            let Some(KnownEvent { seq, proof }) = self.known_in(span.no, to, &event.id) else { continue };
            // An erased event has nothing to compare with. The id of an erased event stays taken, so its content
            // cannot be stored again.
            let same = proof.is_none_or(|(salt, proof)| commitment(&salt, &event.content) == proof);
            return if same {
                Ok(Some((seq, proof.is_none())))
            } else {
                Err(StoreError::Conflict { id: event.id.clone(), seq })
            };
        }
        Ok(None)
    }

    fn add(&mut self, stream: &mut StreamRow, mut event: PackedEvent) -> Result<Seq, StoreError> {
        let (tenant, stream) = (stream.tenant, &mut stream.info);
        let (no, seq) = (stream.no, stream.grow(&event));
        if let Some(usage) = event.facets.session.as_ref().and_then(|session| session.usage.clone()) {
            self.usage.put((no, usage.key.clone()), UsageRow { stream: no, seq, at: event.at, usage });
        }
        event.records.iter().for_each(|record| self.place(tenant, *record, no, seq));
        let mut blobs = Vec::with_capacity(event.blobs.len());
        for blob in std::mem::take(&mut event.blobs) {
            blobs.push(blob.handle);
            self.refs.put((tenant, blob.handle, no, seq), ());
            self.keep(tenant, blob)?;
        }
        let lane = event.facets.lane.as_ref().map(|lane| MarkKey::OfLane(event.kind, lane.clone()));
        for key in MarkKey::of(event.mark, event.kind).into_iter().chain(lane) {
            self.marked.put((no, key, seq), ());
        }
        self.event_ids.put((no, event.id.clone()), seq);
        let (messages, text, own_text) = (stream.messages, stream.text, event.text);
        let facets = Facets { session: None, lane: None, ..event.facets.clone() };
        let row = EventRow { event: codec::stored(event, no, seq), own_text, messages, text, blobs, facets };
        self.events.put((no, seq), row);
        Ok(seq)
    }

    /// Stores the last position of a transcript record in a stream. Records without ids, which are found by their
    /// content, are stored for a limited number of streams.
    fn place(&mut self, tenant: TenantNo, record: i64, stream: StreamNo, seq: Seq) {
        let key = (tenant, record, stream);
        let holders =
            self.records.range((tenant, record, StreamNo(0))..=(tenant, record, StreamNo(u32::MAX)));
        let others = holders.filter(|((.., holder), _)| *holder != stream).count() as u64;
        if codec::is_nameless(record) && others >= MAX_HOLDERS {
            return;
        }
        let last = self.records.get(&key).map_or(seq, |there| seq.max(*there));
        self.records.put(key, last);
    }

    fn keep(&mut self, tenant: TenantNo, blob: PackedBlob) -> Result<(), StoreError> {
        let key = (tenant, blob.handle);
        match self.blobs.get(&key) {
            Some(there) if there.hash != blob.hash => return Err(StoreError::HandleTaken(blob.handle)),
            Some(_) => {}
            None => self.blobs.put(key, blob),
        }
        Ok(())
    }

    fn count(&mut self, tenant: TenantNo, counts: Vec<(Handle, BodyCount)>) -> Written {
        for (handle, mut count) in counts {
            let key = (tenant, handle);
            if self.blobs.get(&key).is_none() {
                continue;
            }
            let known = self.counts.get(&key).and_then(|known| known.cl100k);
            count.cl100k = count.cl100k.or(known);
            self.counts.put(key, count);
        }
        Written::Done
    }

    fn tally_up(
        &mut self,
        tenant: TenantNo,
        stream: &StreamId,
        tokens: &[(Seq, Tokens)],
    ) -> Result<Written, StoreError> {
        let no = self.must_find(tenant, stream)?;
        let (head, mut counted) = self
            .streams
            .get(&no)
            .map_or((Seq::START, Seq::START), |row| (row.info.head, row.info.reach(DerivedTable::Counts)));
        let mut sum = self.tokens.get(&(no, counted)).copied().unwrap_or(0);
        for (seq, own) in tokens {
            // The position has already been counted by another worker, or is not the next one.
            if *seq != counted.next() || *seq > head {
                continue;
            }
            counted = *seq;
            sum = sum.saturating_add(own.0);
            self.tokens.put((no, counted), sum);
        }
        self.streams.change(&no, |row| {
            row.info.frontiers.set(DerivedTable::Counts, counted);
            row.info.tokens = Tokens(sum);
        });
        Ok(Written::Done)
    }

    /// Removes the segments that a new one replaces.
    fn remove_segments(
        &mut self,
        tenant: TenantNo,
        table: DerivedTable,
        replaces: &[SegmentId],
    ) -> Result<(), StoreError> {
        for old in replaces {
            let key = (tenant, old.no);
            if self.segments.get(&key).is_none_or(|(of, segment)| *of != table || segment.docs != old.docs) {
                // Another worker has merged the segment. Its work is kept.
                return Err(StoreError::HeadMoved { expected: Seq(old.no), actual: Seq::START });
            }
            self.segments.remove(&key);
            self.blocks.clear((tenant, old.no, 0)..=(tenant, old.no, u32::MAX));
        }
        Ok(())
    }

    /// Moves the frontiers of a table forward in each stream.
    fn extend_reaches(
        &mut self,
        tenant: TenantNo,
        table: DerivedTable,
        reaches: &[SegmentReach],
    ) -> Result<(), StoreError> {
        for SegmentReach { stream, after, through } in reaches {
            let there = self.streams.get(stream).filter(|row| row.tenant == tenant);
            let actual = there.map_or(Seq::START, |row| row.info.reach(table));
            if there.is_none() || actual != *after || through <= after {
                return Err(StoreError::HeadMoved { expected: *after, actual });
            }
            self.streams.change(stream, |row| row.info.frontiers.set(table, *through));
        }
        Ok(())
    }

    /// Stores a segment in place of others, if there is one.
    fn put_segment(
        &mut self,
        tenant: TenantNo,
        table: DerivedTable,
        segment: Option<PackedSegment>,
        replaces: &[SegmentId],
    ) -> Written {
        let Some(PackedSegment { docs, header, blocks }) = segment else { return Written::Done };
        // A merged segment takes the age of the latest segment it replaces.
        let id = replaces.iter().map(|old| old.no).max().unwrap_or_else(|| {
            self.last_segment += 1;
            self.last_segment
        });
        let bytes = Bytes((header.len() + blocks.iter().map(Vec::len).sum::<usize>()) as u64);
        self.segments.put((tenant, id), (table, SegmentInfo { id, docs, bytes, header }));
        for (number, data) in (0..).zip(blocks) {
            self.blocks.put((tenant, id, number), data);
        }
        Written::Done
    }

    fn claim(&mut self, tenant: TenantNo, key: String, now: Millis, lease: Lease) -> Written {
        let key = (tenant, key);
        let other = self.leases.get(&key).filter(|held| held.holder != lease.holder && held.until > now);
        if let Some(other) = other {
            return Written::Claimed(Some(other.clone()));
        }
        self.leases.put(key, lease);
        Written::Claimed(None)
    }

    fn drop_derived(&mut self, tenant: TenantNo) -> Written {
        let after = TenantNo(tenant.0.saturating_add(1));
        self.counts.clear((tenant, Handle(0))..(after, Handle(0)));
        self.segments.clear((tenant, 0)..(after, 0));
        self.blocks.clear((tenant, 0, 0)..(after, 0, 0));
        self.leases.clear((tenant, String::new())..(after, String::new()));
        let streams: Vec<StreamNo> = self
            .stream_ids
            .range((tenant, String::new())..(after, String::new()))
            .map(|(_, no)| *no)
            .collect();
        for no in streams {
            self.tokens.clear((no, Seq(0))..=(no, Seq(u64::MAX)));
            let own = self.events.range((no, Seq(0))..=(no, Seq(u64::MAX)));
            let is_derived =
                |row: &EventRow| row.event.origin.is_some() && row.facets.role == Some(Role::User);
            let imported = own.filter(|(_, row)| is_derived(row)).map(|(place, _)| *place);
            for place in imported.collect::<Vec<_>>() {
                self.events.change(&place, |row| row.event.authors = None);
            }
            self.streams.change(&no, |row| {
                let base = row.info.base();
                row.info.frontiers = Frontiers::at(base);
                row.info.tokens = Tokens::ZERO;
            });
        }
        Written::Done
    }
}

fn repeated(seqs: Vec<(Seq, bool)>) -> Vec<Appended> {
    seqs.into_iter().map(|(seq, erased)| Appended::known(seq, erased)).collect()
}

/// Next number in a table: numbers start at 1, and rows of numbered tables are never removed.
pub(super) fn next_no(len: usize) -> i64 {
    i64::try_from(len).map_or(i64::MAX, |len| len.saturating_add(1))
}
