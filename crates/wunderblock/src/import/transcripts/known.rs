//! Data that the ledger has about the current records, looked up for many lines at a time before they are taken in.

use crate::base::error::Error;
use crate::import::records::lost::{Lost, LostContent, kept_as};
use crate::import::records::name::{event_id, is_unique, record_name};
use crate::ledger::engine::Engine;
use crate::ledger::reading::query_batch::QueryBatch;
use std::collections::HashMap;
use wunderblock_core::event::{Fact, MessageAppended};
use wunderblock_core::id::{EventId, StreamId};
use wunderblock_core::message::{Dialect, Message, MessageOrigin, Part, Role};
use wunderblock_core::units::Seq;
use wunderblock_store::codec::{commitment, content_hash, erased_key, nameless_key};
use wunderblock_store::{Answer, KnownEvent, Query, StreamInfo, StreamKind, Tenant};
use wunderblock_wire::transcript::{RecordItem, RecordStatus, TranscriptRecord};

/// Known data about the current records.
#[derive(Default)]
pub(super) struct KnownRecords {
    /// Positions of records, by the hash of their id or content.
    pub(super) places: HashMap<i64, Vec<(StreamId, Seq)>>,
    /// Events that may belong to the records, by event id, each with a stream in which it was found.
    pub(super) events: HashMap<EventId, Vec<(StreamId, KnownEvent)>>,
    /// Ids of the records' first events, whether stored or not.
    pub(super) events_at_hand: Vec<EventId>,
    /// Hashes of the records' ids, by the session's name in the file.
    pub(super) ids: HashMap<Box<str>, Vec<i64>>,
    /// First message of a record that has an id, together with the id, by the session's name in the file.
    pub(super) said: HashMap<Box<str>, (Box<str>, Message)>,
    /// Records without ids, by the session's name in the file.
    pub(super) nameless: HashMap<Box<str>, Vec<NamelessRecord>>,
    /// Erasures of the records from any session, if their ids are unique.
    pub(super) lost: Lost,
}

impl KnownRecords {
    /// Notes the events that were found in a stream by their ids.
    pub(super) fn note(&mut self, stream: &StreamId, ids: &[EventId], found: Vec<Option<KnownEvent>>) {
        for (id, event) in ids.iter().zip(found) {
            if let Some(event) = event {
                self.events.entry(id.clone()).or_default().push((stream.clone(), event));
            }
        }
    }

    /// Returns an event that was found in a stream.
    pub(super) fn event(&self, stream: &StreamId, id: &EventId) -> Option<&KnownEvent> {
        self.events.get(id)?.iter().find(|(holder, _)| holder == stream).map(|(_, event)| event)
    }
}

/// Returns the ids of a record and of its events, if they are unique.
pub(super) fn unique_names(record: &TranscriptRecord) -> Vec<String> {
    match &record.id {
        Some(id) if is_unique(id) => {
            let events = (0..=record.items.len()).filter_map(|number| event_id(id, number).ok());
            std::iter::once(id.to_string()).chain(events.map(|id| id.as_str().to_owned())).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the erasures of records and events with given ids from any session.
pub(super) async fn lost_of(engine: &Engine, names: Vec<String>) -> Result<Lost, Error> {
    if names.is_empty() {
        return Ok(Lost::default());
    }
    let Tenant { no: tenant, key } = engine.tenant;
    let names = names.into_iter().flat_map(|name| kept_as(&key, name)).collect();
    let erasures = engine.ask(Query::Erased { tenant, names }, Answer::erasures).await?;
    Ok(Lost::of(&key, &erasures))
}

/// A record without an id whose first item is a message.
#[derive(Clone)]
pub(super) struct NamelessRecord {
    /// Id of the record's first event.
    pub(super) id: EventId,
    pub(super) offset: u64,
    pub(super) len: u64,
    /// Hash of the record's content.
    content: [u8; 32],
    /// Whether the record is more than a prompt. The same prompt begins many conversations.
    pub(super) is_reply: bool,
}

impl NamelessRecord {
    pub(super) fn of(record: &TranscriptRecord, raw: &[u8]) -> Result<Option<Self>, Error> {
        let items = items_of(record, raw);
        let Some(RecordItem::Message(message)) = items.into_iter().next() else { return Ok(None) };
        let is_prompt =
            matches!(message.role, Role::System | Role::User) && message.standing == MessageOrigin::Said;
        Ok(Some(Self {
            id: event_id(&record_name(record), 0)?,
            offset: record.offset,
            len: record.len,
            is_reply: !is_prompt,
            content: content_hash(&Fact::MessageAppended(MessageAppended { message }))?,
        }))
    }

    /// Returns the hash under which the record is found in sessions that contain it.
    pub(super) fn key(&self, tenant: &Tenant) -> i64 {
        nameless_key(&tenant.key, self.offset, &self.content)
    }

    /// Returns the hash under which the record is found in sessions from which it was erased.
    pub(super) fn erased_key(&self) -> i64 {
        erased_key(self.offset, self.len)
    }

    /// Returns whether an event at the record's place has the record's content; `None` if the event was erased.
    pub(super) fn is(&self, event: &KnownEvent) -> Option<bool> {
        event.proof.map(|(salt, proof)| commitment(&salt, &self.content) == proof)
    }
}

/// Returns the items of a record. An opening is excluded: it does not become an event, and another record may open
/// the session when the file is rewritten.
pub(super) fn items_of(record: &TranscriptRecord, raw: &[u8]) -> Vec<RecordItem> {
    let mut items = record.items.clone();
    if items.is_empty() {
        items.extend(kept_item(&record.kept, raw));
    }
    items.retain(|item| !matches!(item, RecordItem::Opened(_)));
    items
}

/// Returns the item that stores a record that was not understood. The item is kept beside the conversation, where it
/// can be read and searched.
fn kept_item(kept: &RecordStatus, raw: &[u8]) -> Option<RecordItem> {
    let (why, part) = match kept {
        RecordStatus::Understood | RecordStatus::Bookkeeping => return None,
        RecordStatus::Opaque { .. } => {
            let raw = String::from_utf8_lossy(raw).into_owned();
            ("opaque record", Part::Opaque { dialect: Dialect::Neutral, raw: raw.into() })
        }
        RecordStatus::Broken { .. } => {
            ("broken record", Part::text(String::from_utf8_lossy(raw).into_owned()))
        }
    };
    Some(RecordItem::Message(Message::new(Role::User, vec![part]).standing(MessageOrigin::Aside(why.into()))))
}

/// Returns the message of a record's first event, if that event is a message.
pub(super) fn first_message(record: &TranscriptRecord) -> Option<&Message> {
    let mut items = record.items.iter().filter(|item| !matches!(item, RecordItem::Opened(_)));
    match items.next() {
        Some(RecordItem::Message(message)) => Some(message),
        _ => None,
    }
}

/// Finds the positions of records by the hashes of their ids.
pub(crate) async fn places_of(
    engine: &Engine,
    records: Vec<i64>,
) -> Result<HashMap<i64, Vec<(StreamId, Seq)>>, Error> {
    if records.is_empty() {
        return Ok(HashMap::new());
    }
    let query = Query::Records { tenant: engine.tenant.no, records: records.clone() };
    let places = engine.ask(query, Answer::places).await?;
    Ok(records.into_iter().zip(places).filter(|(_, places)| !places.is_empty()).collect())
}

pub(crate) async fn known_events(
    engine: &Engine,
    stream: &StreamId,
    ids: &[EventId],
) -> Result<Vec<Option<KnownEvent>>, Error> {
    let query = Query::Ids { tenant: engine.tenant.no, stream: stream.clone(), ids: ids.to_vec() };
    engine.ask(query, Answer::known).await
}

/// Returns what sessions have lost by erasure.
pub(crate) async fn lost_from(engine: &Engine, sessions: Vec<String>) -> Result<LostContent, Error> {
    let Tenant { no: tenant, key } = engine.tenant;
    let sessions: Vec<String> = sessions.into_iter().flat_map(|name| kept_as(&key, name)).collect();
    if sessions.is_empty() {
        // The store would return the erasures of all sessions.
        return Ok(LostContent::of(&key, &[]));
    }
    let erasures = engine.ask(Query::Erasures { tenant, sessions }, Answer::erasures).await?;
    Ok(LostContent::of(&key, &erasures))
}

/// Returns the given streams that exist, by their ids.
pub(super) async fn known_streams(
    engine: &Engine,
    ids: impl Iterator<Item = &StreamId>,
) -> Result<HashMap<StreamId, StreamInfo>, Error> {
    let (tenant, mut batch) = (engine.tenant.no, QueryBatch::default());
    let ask = |id: &StreamId| {
        batch.ask(Query::Stream { tenant, of: StreamKind::Session, stream: id.clone() }, Answer::stream)
    };
    let asked: Vec<_> = ids.map(ask).collect();
    let mut answers = engine.ask_all(batch).await?;
    let mut found = HashMap::with_capacity(asked.len());
    for key in asked {
        found.extend(answers.take(key)?.map(|info| (info.id.clone(), *info)));
    }
    Ok(found)
}
