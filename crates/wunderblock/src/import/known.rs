//! What of the records at hand is in the ledger: looked up for many lines at once, before they are taken in.

use super::feed::Feed;
use super::tree::SessionTree;
use super::twin::has_no_ids;
use crate::door::engines_own;
use crate::engine::Engine;
use crate::error::Error;
use crate::store::codec::{commitment, content_hash, erased_key, nameless_key, record_key};
use crate::store::{Answer, Erasure, KnownEvent, Query, Tenant};
use std::collections::{HashMap, HashSet};
use wunderblock_core::event::{Fact, MessageAppended};
use wunderblock_core::id::{EventId, StreamId};
use wunderblock_core::message::{Dialect, Message, Part, Role, Standing};
use wunderblock_core::units::Seq;
use wunderblock_wire::transcript::{Item, Kept, Place, Reader, Record};

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
    /// Records without ids, likewise.
    pub(super) nameless: HashMap<Box<str>, Vec<Told>>,
}

/// A record without an id whose first item is a message.
#[derive(Clone)]
pub(super) struct Told {
    /// The id of its first event.
    pub(super) id: EventId,
    pub(super) offset: u64,
    pub(super) len: u64,
    /// The hash of what it says.
    content: [u8; 32],
    /// Whether it is more than a prompt. The same prompt begins many conversations.
    pub(super) is_reply: bool,
}

impl Told {
    fn of(record: &Record, raw: &[u8]) -> Result<Option<Self>, Error> {
        let items = items_of(record, raw);
        let Some(Item::Message(message)) = items.into_iter().next() else { return Ok(None) };
        let is_prompt =
            matches!(message.role, Role::System | Role::User) && message.standing == Standing::Said;
        Ok(Some(Self {
            id: event_id(&record_name(record), 0)?,
            offset: record.offset,
            len: record.len,
            is_reply: !is_prompt,
            content: content_hash(&Fact::MessageAppended(MessageAppended { message }))?,
        }))
    }

    /// By what it is found in the sessions that hold it.
    pub(super) fn key(&self, tenant: &Tenant) -> i64 {
        nameless_key(&tenant.key, self.offset, &self.content)
    }

    /// By what it is found in those that it was erased from.
    pub(super) fn erased_key(&self) -> i64 {
        erased_key(self.offset, self.len)
    }

    /// Whether an event in its place is it; `None` where the event's content was erased.
    pub(super) fn is(&self, event: &KnownEvent) -> Option<bool> {
        event.proof.map(|(salt, proof)| commitment(&salt, &self.content) == proof)
    }
}

/// The id under which a record's first event is kept.
pub(crate) fn record_name(record: &Record) -> Box<str> {
    record.id.clone().unwrap_or_else(|| nameless(record.offset).into())
}

/// What a record without an id is called: by its place in the file.
pub(crate) fn nameless(offset: u64) -> String {
    format!("r{offset}")
}

/// What a record says. Opening is no event of a record, and which record opens a session changes when the file is
/// rewritten.
pub(super) fn items_of(record: &Record, raw: &[u8]) -> Vec<Item> {
    let mut items = record.items.clone();
    if items.is_empty() {
        items.extend(kept_item(&record.kept, raw));
    }
    items.retain(|item| !matches!(item, Item::Opened(_)));
    items
}

/// What a record that was not understood is kept as: beside the conversation, to be read and searched.
fn kept_item(kept: &Kept, raw: &[u8]) -> Option<Item> {
    let (why, part) = match kept {
        Kept::Understood | Kept::Bookkeeping => return None,
        Kept::Opaque { .. } => {
            let raw = String::from_utf8_lossy(raw).into_owned();
            ("opaque record", Part::Opaque { dialect: Dialect::Neutral, raw: raw.into() })
        }
        Kept::Broken { .. } => ("broken record", Part::text(String::from_utf8_lossy(raw).into_owned())),
    };
    Some(Item::Message(Message::new(Role::User, vec![part]).standing(Standing::Aside(why.into()))))
}

/// The raw bytes of a record, if they are among those at hand.
pub(crate) fn raw_of<'b>(record: &Record, bytes: &'b [u8], base: u64) -> &'b [u8] {
    let from = usize::try_from(record.offset.wrapping_sub(base)).unwrap_or(usize::MAX);
    let len = usize::try_from(record.len).unwrap_or(usize::MAX);
    bytes.get(from..).and_then(|rest| rest.get(..len.min(rest.len()))).unwrap_or_default()
}

impl Feed<'_> {
    /// Looks up records, with their raw bytes, before they are taken in. A file whose sessions are all new needs no look.
    pub(super) async fn look_up(&mut self, records: &[(&Record, &[u8])]) -> Result<(), Error> {
        // Until a session is met, the records before may be held back.
        if !self.by_name.is_empty() {
            self.known = Known::default();
        }
        let is_new = |(record, _): &(&Record, &[u8])| {
            let key: &str = record.session.as_deref().unwrap_or_default();
            !self.by_name.contains_key(key)
        };
        let was_before = self.sessions.iter().any(SessionTree::was_before);
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
            if let Place::After(id) = &record.place {
                wanted.insert(record_key(id));
            }
            if let (None, Some(told)) = (&record.id, Told::of(record, raw)?) {
                if was_before && has_no_ids(self.format) {
                    wanted.insert(told.key(&self.engine.tenant));
                }
                let session = record.session.clone().unwrap_or_default();
                self.known.nameless.entry(session).or_default().push(told);
            }
        }
        let places = self.engine.places(wanted.into_iter().collect()).await?;
        self.known.places.extend(places);
        for (record, _) in records {
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

/// The id of a record's n-th event: the record's own, except where it is too long for one or looks like the engine's.
pub(crate) fn event_id(record: &str, number: usize) -> Result<EventId, Error> {
    let id = if number == 0 { record.to_owned() } else { format!("{record}#{number}") };
    match EventId::new(id.clone()) {
        Ok(id) if engines_own(&id).is_none() => Ok(id),
        _ => Ok(EventId::new(blake3::hash(id.as_bytes()).to_hex().to_string())?),
    }
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
        let places = self.ask(query, Answer::places).await?;
        Ok(records.into_iter().zip(places).filter(|(_, places)| !places.is_empty()).collect())
    }

    pub(crate) async fn known_events(
        &self,
        stream: &StreamId,
        ids: &[EventId],
    ) -> Result<Vec<Option<KnownEvent>>, Error> {
        let query = Query::Ids { tenant: self.tenant.no, stream: stream.clone(), ids: ids.to_vec() };
        self.ask(query, Answer::known).await
    }

    /// What was erased of a session.
    pub(crate) async fn erasures(&self, session: &str) -> Result<Vec<Erasure>, Error> {
        let query = Query::Erasures { tenant: self.tenant.no, sessions: vec![session.to_owned()] };
        self.ask(query, Answer::erasures).await
    }
}
