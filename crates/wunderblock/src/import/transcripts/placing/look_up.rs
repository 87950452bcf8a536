//! Looks up records in the ledger, for many lines at a time, before they are taken in.

use crate::base::error::Error;
use crate::import::records::name::{event_id, has_no_ids, is_of, record_name};
use crate::import::transcripts::feed::Feed;
use crate::import::transcripts::known::{
    KnownRecords, NamelessRecord, first_message, known_events, lost_of, places_of, unique_names,
};
use crate::import::transcripts::tree::{SessionOrigin, SessionTree};
use crate::ledger::reading::query_batch::QueryBatch;
use std::collections::{BTreeMap, HashSet};
use wunderblock_core::id::{EventId, StreamId};
use wunderblock_store::codec::record_key;
use wunderblock_store::{Answer, Query};
use wunderblock_wire::transcript::{RecordItem, RecordPlace, TranscriptReader, TranscriptRecord};

/// Maximum number of branches of a session in which records without ids are looked up.
const BRANCHES: usize = 8;

/// Returns the ids of earlier records that a record refers to.
fn earlier_records(record: &TranscriptRecord) -> impl Iterator<Item = &str> {
    let place = match &record.place {
        RecordPlace::After(id) => Some(&**id),
        RecordPlace::Next | RecordPlace::Root | RecordPlace::RolledBack { .. } => None,
    };
    let items = record.items.iter().flat_map(|item| match item {
        RecordItem::Compacted { from, before, .. } => [from.as_deref(), before.as_deref()],
        RecordItem::About { record, .. } => [Some(&**record), None],
        _ => [None, None],
    });
    place.into_iter().chain(items.flatten())
}

impl Feed<'_> {
    /// Looks up records, given with their raw bytes, before they are taken in. A file whose sessions are all new
    /// needs no look-up.
    pub(in crate::import::transcripts) async fn look_up(
        &mut self,
        records: &[(&TranscriptRecord, &[u8])],
    ) -> Result<(), Error> {
        // Before the first session is known, earlier records may be held back, so their data is kept.
        if !self.sessions.by_name.is_empty() {
            self.known = KnownRecords::default();
        }
        if self.outbox.epoch.no > 0 {
            let names = records.iter().flat_map(|(record, _)| unique_names(record)).collect();
            let lost = lost_of(self.engine, names).await?;
            self.known.lost.add(lost);
        }
        let is_new = |(record, _): &(&TranscriptRecord, &[u8])| {
            let key: &str = record.session.as_deref().unwrap_or_default();
            !self.sessions.by_name.contains_key(key)
        };
        let was_before = self.sessions.trees.iter().any(SessionTree::was_before);
        if !was_before && !records.iter().any(is_new) {
            return Ok(());
        }
        let mut wanted: HashSet<i64> = HashSet::new();
        for (record, raw) in records {
            if let Some(id) = &record.id {
                let key = record_key(id);
                wanted.insert(key);
                let session = record.session.clone().unwrap_or_default();
                if !record.items.is_empty() {
                    self.known.ids.entry(session.clone()).or_default().push(key);
                }
                if let Some(message) = first_message(record) {
                    self.known.said.entry(session).or_insert_with(|| (id.clone(), message.clone()));
                }
            }
            wanted.extend(earlier_records(record).map(record_key));
            if let (None, Some(told)) = (&record.id, NamelessRecord::of(record, raw)?) {
                if was_before && has_no_ids(self.file.format) {
                    wanted.insert(told.key(&self.engine.tenant));
                }
                let session = record.session.clone().unwrap_or_default();
                self.known.nameless.entry(session).or_default().push(told);
            }
        }
        let places = places_of(self.engine, wanted.into_iter().collect()).await?;
        self.known.places.extend(places);
        for (record, _) in records {
            self.known.events_at_hand.push(event_id(&record_name(record), 0)?);
        }
        self.look_for_kin(records).await?;
        let at_hand = self.known.events_at_hand.clone();
        // A copy is not in the ledger before its first own record.
        let is_stored = |tree: &&SessionTree| tree.standing == SessionOrigin::Open { before: true };
        let trees = self.sessions.trees.iter().filter(is_stored);
        let branches = trees.flat_map(|tree| tree.branches().iter().rev().take(BRANCHES));
        let streams: Vec<StreamId> = branches.map(|branch| branch.stream.clone()).collect();
        if !streams.is_empty() && !self.outbox.openings.is_empty() {
            self.arrive().await?;
        }
        for stream in streams {
            self.look_for_events(&stream, &at_hand).await?;
        }
        Ok(())
    }

    /// Looks up the events of records that other streams have, if the records' sessions are not open: such a session may
    /// be a copy, whose messages are compared.
    async fn look_for_kin(&mut self, records: &[(&TranscriptRecord, &[u8])]) -> Result<(), Error> {
        let mut wanted: BTreeMap<StreamId, Vec<EventId>> = BTreeMap::new();
        for (record, _) in records {
            let belongs = self.sessions.by_name.get(record.session.as_deref().unwrap_or_default());
            let tree = belongs.and_then(|belongs| self.sessions.trees.get(belongs.index()?));
            if belongs.is_some()
                && !tree.is_some_and(|tree| matches!(tree.standing, SessionOrigin::Kin { .. }))
            {
                continue;
            }
            let Some(id) = record.id.as_deref().filter(|_| first_message(record).is_some()) else { continue };
            let event = event_id(id, 0)?;
            for (stream, _) in self.known.places.get(&record_key(id)).into_iter().flatten() {
                wanted.entry(stream.clone()).or_default().push(event.clone());
            }
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let (tenant, mut batch, mut asked) = (self.engine.tenant.no, QueryBatch::default(), Vec::new());
        for (stream, ids) in wanted {
            let query = Query::Ids { tenant, stream: stream.clone(), ids: ids.clone() };
            asked.push((stream, ids, batch.ask(query, Answer::known)));
        }
        let mut answers = self.engine.ask_all(batch).await?;
        for (stream, ids, key) in asked {
            self.known.note(&stream, &ids, answers.take(key)?);
        }
        Ok(())
    }

    /// Looks up events of a stream by their ids.
    pub(in crate::import::transcripts) async fn look_for_events(
        &mut self,
        stream: &StreamId,
        ids: &[EventId],
    ) -> Result<(), Error> {
        if ids.is_empty() {
            return Ok(());
        }
        let found = known_events(self.engine, stream, ids).await?;
        self.known.note(stream, ids, found);
        Ok(())
    }

    /// Informs a resumed reader about earlier records that a line refers to.
    pub(in crate::import::transcripts) async fn remind(
        &mut self,
        reader: &mut TranscriptReader,
        line: &[u8],
    ) -> Result<(), Error> {
        let unknown = reader.unknown(line);
        if unknown.is_empty() {
            return Ok(());
        }
        let places = places_of(self.engine, unknown.iter().map(|id| record_key(id)).collect()).await?;
        for id in unknown {
            let Some(streams) = places.get(&record_key(&id)) else { continue };
            let owner = self.sessions.by_name.iter().find(|(_, belongs)| {
                let tree = belongs.index().and_then(|index| self.sessions.trees.get(index));
                tree.is_some_and(|tree| streams.iter().any(|(stream, _)| is_of(stream, &tree.root)))
            });
            if let Some((key, _)) = owner {
                reader.remind(&id, Some(key.as_ref()).filter(|key| !key.is_empty()));
            }
        }
        Ok(())
    }
}
