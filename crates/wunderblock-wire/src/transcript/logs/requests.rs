//! Logs of requests to a provider: JSONL or a JSON document of requests, each alone or with its reply.
//!
//! Each request repeats the conversation before it, so a request adds only what no earlier line contained. The id of
//! a message is a hash of its content and of all messages before it in its conversation ([`chain`](crate::transcript::parsing::chain)). A request that
//! repeats only a part of an earlier one begins a branch; a request with another first message begins another session.
//! A system text, tools and settings belong to requests: the first system text of a session becomes a message.

mod entry;
mod signs;

pub(in crate::transcript) use signs::{dialect_of_line, dialect_of_list};

use super::generic;
use crate::reply::{ModelReply, ReplyFault};
use crate::transcript::parsing::blocks::{CallPairing, is_silent};
use crate::transcript::parsing::object::{Object, array, position};
use crate::transcript::parsing::seen::SeenIds;
use crate::transcript::parsing::{chain, elements};
use crate::transcript::record::{ByteSpan, RecordItem, RecordPlace, RecordStatus, TranscriptRecord};
use entry::{Element, Exchange, Position, Reply};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeSet;
use wunderblock_core::message::{Dialect, Message, MessageOrigin, Role};

/// Record types, and what is read from each of them.
pub(in crate::transcript) const RECORD_TYPES: &[(&str, &str)] = &[
    (
        "system",
        "system message: the system text of the session's first request; kept in the source if it changes",
    ),
    ("user", "message or tool results, unless an earlier request contained the same conversation up to it"),
    ("assistant", "message, unless a reply or an earlier request contained it"),
    ("reply", "message, usage; a streamed reply is assembled; a provider's error is the end of a turn"),
    ("document", "kept in the source: repeated messages, tools, settings, and data around requests"),
];

/// State of a log that is being read.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::transcript) struct RequestLog {
    dialect: Dialect,
    /// Name of the first conversation's session.
    own: Option<Box<str>>,
    /// Hashes of the first messages of all conversations.
    sessions: BTreeSet<u64>,
    /// End of the conversation that the latest line contained.
    end: Option<Position>,
    /// Calls in records of unknown shape.
    pairing: CallPairing,
    /// This field is not part of a checkpoint, because it grows with the file.
    #[serde(skip)]
    pub(in crate::transcript) seen: SeenIds,
}

impl RequestLog {
    pub(in crate::transcript) fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            own: None,
            sessions: BTreeSet::new(),
            end: None,
            pairing: CallPairing::default(),
            seen: SeenIds::default(),
        }
    }

    /// Returns the name of the first conversation's session, once the conversation has a message.
    pub(in crate::transcript) fn session(&self) -> Option<&str> {
        self.own.as_deref()
    }

    /// Returns the ids of messages in a line that this reader has not read.
    pub(in crate::transcript) fn unknown(&self, values: Vec<&RawValue>) -> Vec<Box<str>> {
        let mut ids = Vec::new();
        let mut end = self.end;
        for value in values.into_iter().flat_map(|value| self.entries(value)) {
            let Some(exchange) = Exchange::of(self.dialect, value, end.as_ref()) else { continue };
            ids.extend(exchange.ids().map(chain::name).filter(|id| self.seen.get(id).is_none()));
            end = exchange.end.or(end);
        }
        ids
    }

    /// Reads one JSON value: a request or reply, an entry that contains them, a message, or a list of these.
    pub(in crate::transcript) fn read(&mut self, span: ByteSpan, text: &str) -> Vec<TranscriptRecord> {
        let Ok(value) = serde_json::from_str::<&RawValue>(text) else { return Vec::new() };
        let entries = self.entries(value);
        let parts: Vec<&str> = entries.iter().map(|entry| entry.get()).collect();
        let spans = elements::spans(&parts, text, span);
        let records = entries.into_iter().zip(spans).flat_map(|(entry, span)| self.entry(span, entry));
        with_rest(records.collect(), text, span)
    }

    /// Returns the entries of a value: the elements of a list, unless they are the messages of one conversation.
    fn entries<'a>(&self, value: &'a RawValue) -> Vec<&'a RawValue> {
        let is_message = |first: &&RawValue| {
            Object::of(first).is_some_and(|first| entry::is_message(self.dialect, &first))
        };
        match array(value) {
            Some(list) if !list.first().is_some_and(is_message) => list,
            _ => vec![value],
        }
    }

    fn entry(&mut self, span: ByteSpan, value: &RawValue) -> Vec<TranscriptRecord> {
        let text = value.get();
        let Some(exchange) = Exchange::of(self.dialect, value, self.end.as_ref()) else {
            return vec![self.other(span, value)];
        };
        let mut parts = self.parts(&exchange);
        let spans = spans_in_any_order(&parts, text, span);
        for ((_, record), span) in parts.iter_mut().zip(spans) {
            (record.offset, record.len, record.line) = (span.offset, span.len, span.line);
        }
        let mut records: Vec<TranscriptRecord> = parts.into_iter().map(|(_, record)| record).collect();
        match exchange.end {
            Some(end) => self.settle(&mut records, end),
            // An error without a request belongs to no conversation.
            None => records.clear(),
        }
        with_rest(records, text, span)
    }

    /// Reads a value that is neither a request nor a reply nor a message.
    fn other(&mut self, span: ByteSpan, value: &RawValue) -> TranscriptRecord {
        let Some(object) = Object::of(value) else {
            return TranscriptRecord::opaque(span, "element", "expected a request, found another value");
        };
        let mut record =
            TranscriptRecord::opaque(span, "object", "an entry without a request of this format");
        generic::read_message(&object, &mut self.pairing, &mut record);
        // The reader's own ids identify content, so an id of another kind could belong to another record.
        record.id = None;
        record.session = self.end.and_then(|end| self.session_at(end));
        record
    }

    /// Returns the new records of an exchange with the texts that they come from, in the order of the conversation.
    fn parts<'a>(&self, exchange: &Exchange<'a>) -> Vec<(&'a str, TranscriptRecord)> {
        let blank = || TranscriptRecord { at: exchange.at, ..TranscriptRecord::bookkeeping(NOWHERE, "") };
        let known = exchange.elements.iter().rposition(|element| self.knows(element.id));
        let fresh = exchange.elements.iter().skip(known.map_or(0, |known| known + 1));
        let mut parts: Vec<(&str, TranscriptRecord)> = Vec::new();
        if exchange.end.is_some_and(|end| !self.sessions.contains(&end.session))
            && let Some((raw, said)) = exchange.system()
        {
            let id = exchange.end.map(|end| chain::name(chain::next(end.session, &[], "system")));
            let mut record = TranscriptRecord { id, kind: "system".into(), ..blank() };
            record.say(said);
            parts.push((raw, record));
        }
        parts.extend(fresh.map(|element| (element.raw, element.record(blank()))));
        if let Some(reply) = exchange.reply.as_ref().filter(|reply| !self.knows(reply.id)) {
            parts.push((reply.raw, reply.record(blank())));
        }
        let last = known.and_then(|known| exchange.elements.get(known)).map(|element| element.id);
        let last = last.or(exchange.base);
        if let Some((_, first)) = parts.first_mut() {
            first.place = self.place_after(last, exchange.end);
        }
        parts
    }

    fn knows(&self, id: u64) -> bool {
        self.seen.contains(&chain::name(id))
    }

    /// Returns the place after a message, or at the beginning of a conversation if no message is given.
    fn place_after(&self, last: Option<u64>, end: Option<Position>) -> RecordPlace {
        match last {
            Some(last) if self.end.is_some_and(|end| end.chain == last) => RecordPlace::Next,
            Some(last) => RecordPlace::After(chain::name(last)),
            None if end.is_some_and(|end| self.sessions.contains(&end.session)) => RecordPlace::Root,
            None => RecordPlace::Next,
        }
    }

    /// Remembers the records of an exchange, and assigns them to their session.
    fn settle(&mut self, records: &mut [TranscriptRecord], end: Position) {
        self.own.get_or_insert_with(|| chain::name(end.session));
        let session = self.session_at(end);
        let is_new = self.sessions.insert(end.session);
        if let Some(first) = records.first_mut().filter(|_| is_new) {
            first.open(Dialect::name(self.dialect));
        }
        for record in records {
            record.session.clone_from(&session);
            if let Some(id) = &record.id {
                self.seen.insert(id, 0);
            }
        }
        self.end = Some(end);
    }

    /// Returns the session of a place, or `None` for the file's own session.
    fn session_at(&self, end: Position) -> Option<Box<str>> {
        Some(chain::name(end.session)).filter(|session| self.own.as_ref() != Some(session))
    }
}

/// Span of a record whose place is not known yet.
const NOWHERE: ByteSpan = ByteSpan { offset: 0, len: 0, line: 1 };

/// Inserts records for the content between and around the given records, whose order stays. Clients often write the
/// system text after the messages, and the order of the conversation counts.
fn with_rest(records: Vec<TranscriptRecord>, text: &str, span: ByteSpan) -> Vec<TranscriptRecord> {
    let given: BTreeSet<u64> = records.iter().map(|record| record.offset).collect();
    let mut in_order = records.clone().into_iter();
    let all = elements::with_rest(records, text, span).into_iter();
    all.filter_map(|record| if given.contains(&record.offset) { in_order.next() } else { Some(record) })
        .collect()
}

/// Returns the spans of parts that may be in any order in the text.
fn spans_in_any_order(parts: &[(&str, TranscriptRecord)], text: &str, base: ByteSpan) -> Vec<ByteSpan> {
    let mut order: Vec<(usize, usize)> =
        parts.iter().enumerate().map(|(at, (part, _))| (position(part, text), at)).collect();
    order.sort_unstable();
    let sorted: Vec<&str> =
        order.iter().filter_map(|(_, at)| parts.get(*at)).map(|(part, _)| *part).collect();
    let mut spans: Vec<(usize, ByteSpan)> =
        order.into_iter().map(|(_, at)| at).zip(elements::spans(&sorted, text, base)).collect();
    spans.sort_unstable_by_key(|(at, _)| *at);
    spans.into_iter().map(|(_, span)| span).collect()
}

impl Element<'_> {
    /// Returns the record of this message.
    fn record(&self, blank: TranscriptRecord) -> TranscriptRecord {
        let mut record =
            TranscriptRecord { id: Some(chain::name(self.id)), kind: self.kind.clone(), ..blank };
        for message in &self.messages {
            record.say(heard(message.clone()));
        }
        if let Some(why) = &self.unread {
            record.set_opaque(why.clone());
        }
        record
    }
}

impl Reply<'_> {
    /// Returns the record of this reply.
    fn record(&self, blank: TranscriptRecord) -> TranscriptRecord {
        let mut record = TranscriptRecord { kind: "reply".into(), at: self.at.or(blank.at), ..blank };
        let ModelReply { message, usage, fault, .. } = &self.reply;
        let failed = fault.as_ref().map(ToString::to_string);
        record.id = Some(chain::name(self.id));
        if !message.parts.is_empty() {
            let standing = failed.clone().map(|why| MessageOrigin::Failed(why.into()));
            record.say(match standing {
                Some(standing) => message.clone().standing(standing),
                None => heard(message.clone()),
            });
        }
        record.items.extend(usage.clone().map(RecordItem::Usage));
        match fault {
            Some(ReplyFault::Provider(error)) => {
                let word = |text: &str| Some(text.into()).filter(|_| !text.is_empty());
                record.push(RecordItem::turn("error", word(&error.kind), word(&error.message)));
            }
            Some(ReplyFault::Cut) => record.push(RecordItem::turn("error", None, failed.map(Into::into))),
            Some(fault) => record.set_opaque(fault.to_string()),
            None => record.kept = RecordStatus::Understood,
        }
        record
    }
}

/// Returns a message with its origin: a message without content does not count as said.
fn heard(message: Message) -> Message {
    if message.role != Role::Tool && is_silent(&message.parts) {
        return message.standing(MessageOrigin::Aside("nothing was said".into()));
    }
    message
}
