//! What of the records at hand is in the ledger: looked up for many lines at once, before they are taken in.

use super::feed::{Feed, event_id};
use super::tree::SessionTree;
use crate::engine::{Engine, unexpected};
use crate::error::Error;
use crate::store::codec::record_key;
use crate::store::{Answer, Erasure, KnownEvent, Query};
use std::collections::{HashMap, HashSet};
use wunderblock_core::id::{EventId, StreamId};
use wunderblock_core::message::Message;
use wunderblock_core::units::Seq;
use wunderblock_wire::transcript::{Item, Place, Reader, Record};

/// Branches of a session in which records without ids are looked for.
const BRANCHES: usize = 8;

/// What is known of the records at hand.
#[derive(Default)]
pub(super) struct Known {
    /// Where records with ids stand.
    pub(super) places: HashMap<i64, Vec<(StreamId, Seq)>>,
    /// Events that the records may be.
    pub(super) events: HashMap<(StreamId, EventId), KnownEvent>,
    /// The ids that first events of the records have.
    pub(super) events_at_hand: Vec<EventId>,
    /// Ids of the records at hand, by the name their session has in the file.
    pub(super) ids: HashMap<Box<str>, Vec<i64>>,
    /// The first message of a record with an id, likewise, with that id.
    pub(super) said: HashMap<Box<str>, (Box<str>, Message)>,
    /// First messages of records without ids, likewise, with the ids their events have.
    pub(super) nameless: HashMap<Box<str>, Vec<(EventId, Message)>>,
}

/// The id under which a record's first event is kept.
pub(super) fn record_name(record: &Record) -> Box<str> {
    record.id.clone().unwrap_or_else(|| format!("r{}", record.offset).into())
}

impl Feed<'_> {
    /// Looks up records before they are taken in. A file whose sessions are all new needs no look.
    pub(super) async fn look_up<'r>(
        &mut self,
        records: impl IntoIterator<Item = &'r Record>,
    ) -> Result<(), Error> {
        let records: Vec<&Record> = records.into_iter().collect();
        self.known = Known::default();
        let is_new = |record: &Record| {
            let key: &str = record.session.as_deref().unwrap_or_default();
            !self.by_name.contains_key(key)
        };
        let was_before = self.sessions.iter().any(SessionTree::was_before);
        if !was_before && !records.iter().copied().any(is_new) {
            return Ok(());
        }
        let mut wanted: HashSet<i64> = HashSet::new();
        for record in &records {
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
            if let Place::After(id) = &record.place {
                wanted.insert(record_key(id));
            }
            if let (None, Some(message)) = (&record.id, first_message(record)) {
                let id = event_id(&record_name(record), 0)?;
                let said = self.known.nameless.entry(record.session.clone().unwrap_or_default()).or_default();
                said.push((id, message.clone()));
            }
        }
        self.known.places = self.engine.places(wanted.into_iter().collect()).await?;
        for record in &records {
            self.known.events_at_hand.push(event_id(&record_name(record), 0)?);
        }
        let at_hand = self.known.events_at_hand.clone();
        let trees = self.sessions.iter().filter(|tree| tree.was_before());
        let branches = trees.flat_map(|tree| tree.branches.iter().rev().take(BRANCHES));
        let streams: Vec<StreamId> = branches.map(|branch| branch.stream.clone()).collect();
        for stream in streams {
            self.look_for_events(&stream, &at_hand).await?;
        }
        Ok(())
    }

    /// Looks for events of a stream by their ids.
    pub(super) async fn look_for_events(&mut self, stream: &StreamId, ids: &[EventId]) -> Result<(), Error> {
        if ids.is_empty() {
            return Ok(());
        }
        let found = self.engine.known_events(stream, ids).await?;
        for (id, event) in ids.iter().zip(found) {
            if let Some(event) = event {
                self.known.events.insert((stream.clone(), id.clone()), event);
            }
        }
        Ok(())
    }

    /// Tells a reader that goes on where another stopped of the earlier records that a line refers to.
    pub(super) async fn remind(&mut self, reader: &mut Reader, line: &[u8]) -> Result<(), Error> {
        let unknown = reader.unknown(line);
        if unknown.is_empty() {
            return Ok(());
        }
        let places = self.engine.places(unknown.iter().map(|id| record_key(id)).collect()).await?;
        for id in unknown {
            let Some(streams) = places.get(&record_key(&id)) else { continue };
            let owner = self.by_name.iter().find(|(_, belongs)| {
                let tree = belongs.index().and_then(|index| self.sessions.get(index));
                tree.is_some_and(|tree| streams.iter().any(|(stream, _)| is_of(stream, &tree.root)))
            });
            if let Some((key, _)) = owner {
                reader.remind(&id, Some(key.as_ref()).filter(|key| !key.is_empty()));
            }
        }
        Ok(())
    }
}

/// The message that a record's first event is, if it is one.
pub(super) fn first_message(record: &Record) -> Option<&Message> {
    let mut items = record.items.iter().filter(|item| !matches!(item, Item::Opened(_)));
    match items.next() {
        Some(Item::Message(message)) => Some(message),
        _ => None,
    }
}

/// Whether a stream is a session's own or one of its branches.
pub(super) fn is_of(stream: &StreamId, root: &StreamId) -> bool {
    stream.as_str().strip_prefix(root.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('~'))
}

impl Engine {
    /// Where records stand, by the hashes of their ids.
    pub(crate) async fn places(
        &self,
        records: Vec<i64>,
    ) -> Result<HashMap<i64, Vec<(StreamId, Seq)>>, Error> {
        if records.is_empty() {
            return Ok(HashMap::new());
        }
        let query = Query::Records { tenant: self.tenant.no, records: records.clone() };
        let Answer::Places(places) = self.one(query).await? else { return Err(unexpected()) };
        Ok(records.into_iter().zip(places).filter(|(_, places)| !places.is_empty()).collect())
    }

    pub(crate) async fn known_events(
        &self,
        stream: &StreamId,
        ids: &[EventId],
    ) -> Result<Vec<Option<KnownEvent>>, Error> {
        let query = Query::Ids { tenant: self.tenant.no, stream: stream.clone(), ids: ids.to_vec() };
        match self.one(query).await? {
            Answer::Known(known) => Ok(known),
            _ => Err(unexpected()),
        }
    }

    /// What was erased of a session.
    pub(crate) async fn erasures(&self, session: &str) -> Result<Vec<Erasure>, Error> {
        let query = Query::Erasures { tenant: self.tenant.no, sessions: vec![session.to_owned()] };
        match self.one(query).await? {
            Answer::Erasures(erasures) => Ok(erasures),
            _ => Err(unexpected()),
        }
    }
}
