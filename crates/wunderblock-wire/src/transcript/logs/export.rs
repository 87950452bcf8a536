//! Our own export: the events of a session, one per line, as `export` writes them.
//!
//! Messages, usage, and the openings of sessions and tasks are imported unchanged. Events that steered a lane have no
//! effect: a summary becomes an available node, and the others are bookkeeping. Positions in the file are those of
//! the exported session. A copy has different positions, so targets and ranges refer to records instead.

use crate::transcript::parsing::object::Object;
use crate::transcript::record::{ByteSpan, RecordItem, RecordStatus, TranscriptRecord};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wunderblock_core::event::{Fact, SessionCompacted, SessionOpened};
use wunderblock_core::message::Body;
use wunderblock_core::units::{Millis, Seq};

/// Record types, and what is read from each of them.
pub(in crate::transcript) const RECORD_TYPES: &[(&str, &str)] = &[
    ("session.opened", "opening of the session"),
    ("session.forked", "kept in the source: the events before it are in the file"),
    ("session.closed", "end of the session"),
    ("session.described", "title and tags of the session"),
    ("task.started", "beginning of a task"),
    ("task.finished", "end of a task"),
    ("message.appended", "message"),
    ("content.pinned", "pin of the same record"),
    ("content.hidden", "hide of the same record"),
    ("usage.measured", "usage"),
    ("turn.completed", "end of a turn"),
    ("subagent.spawned", "start of a sub-agent"),
    ("subagent.returned", "end of a sub-agent's work"),
    ("session.compacted", "compaction if it has a summary, else kept in the source"),
    ("route.chosen", "kept in the source"),
    ("context.built", "kept in the source"),
    ("context.injected", "kept in the source"),
    ("content.reduced", "kept in the source"),
    ("content.erased", "kept in the source; the file has no erased content"),
    ("view.trimmed", "kept in the source"),
    ("preamble.changed", "kept in the source"),
    ("budget.warned", "kept in the source"),
    ("compaction.rejected", "kept in the source"),
    ("compaction.undone", "kept in the source"),
    ("document.indexed", "kept in the source"),
    ("document.section", "kept in the source"),
    ("document.removed", "kept in the source"),
    ("memory.opened", "kept in the source"),
    ("memory.proposed", "kept in the source"),
    ("memory.reviewed", "kept in the source"),
    ("memory.changed", "kept in the source"),
    ("memory.forgotten", "kept in the source"),
];

/// Prefix of the ids of records whose kind only the engine writes. The engine names its events by kind and position,
/// and a copy has different positions, so an unprefixed id could belong to another event.
const COPIED: &str = "copy:";

/// State of a file that is being read.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::transcript) struct ExportReader {
    own: Option<Box<str>>,
    sessions: BTreeMap<Box<str>, ExportedSession>,
}

/// One session of the file, as far as it has been read.
#[derive(Debug, Default, Serialize, Deserialize)]
struct ExportedSession {
    last: Seq,
    /// Positions and ids of the records that became events.
    events: Vec<(Seq, Box<str>)>,
}

impl ExportedSession {
    /// Returns the first record at or after a position that became an event.
    fn first_from(&self, seq: Seq) -> Option<&(Seq, Box<str>)> {
        self.events.get(self.events.partition_point(|(at, _)| *at < seq))
    }
}

impl ExportReader {
    pub(in crate::transcript) fn session(&self) -> Option<&str> {
        self.own.as_deref()
    }

    pub(in crate::transcript) fn read(
        &mut self,
        span: ByteSpan,
        text: &str,
        object: &Object<'_>,
    ) -> TranscriptRecord {
        let (Some(stream), Some(seq), Some(id)) =
            (object.word("stream"), object.number("seq").map(Seq), object.word("id"))
        else {
            return TranscriptRecord::opaque(
                span,
                "unknown",
                "invalid event of an export: missing `stream`, `seq` or `id`",
            );
        };
        let kind = object.word("kind").unwrap_or_else(|| "erased".into());
        let own = self.own.get_or_insert_with(|| stream.clone());
        let mut record = TranscriptRecord::bookkeeping(span, &kind);
        record.session = (*own != stream).then(|| stream.clone());
        record.at = object.get("at").and_then(|at| at.get().parse().ok()).map(Millis);
        let session = self.sessions.entry(stream).or_default();
        if seq <= session.last {
            record.kept = broken(format!("invalid order: position {seq} after position {}", session.last));
            return record;
        }
        session.last = seq;
        let is_engines = Fact::ENGINE_KINDS.contains(&&*kind);
        record.id = Some(if is_engines { format!("{COPIED}{id}").into() } else { id });
        // Exports of earlier versions omit the kind of an erased event.
        if object.flag("erased") || !object.has("kind") {
            return record;
        }
        if !is_engines && !Fact::OPEN_KINDS.contains(&&*kind) {
            record.set_opaque(format!("unknown kind of event: `{kind}`"));
            return record;
        }
        match serde_json::from_str::<Fact>(text)
            .map_err(|error| format!("invalid event: {error}"))
            .and_then(|fact| checked(fact, seq))
        {
            Ok(fact) => session.take(&mut record, fact),
            Err(why) => record.kept = broken(why),
        }
        if let Some(id) = record.id.clone().filter(|_| becomes_an_event(&record)) {
            session.events.push((seq, id));
        }
        record
    }
}

/// Returns the fact, if it is consistent with its position and contains its bodies. Otherwise returns the reason.
fn checked(fact: Fact, seq: Seq) -> Result<Fact, String> {
    if let Some(why) = fact.contradiction(seq) {
        return Err(why.to_owned());
    }
    if let Some(handle) = fact.bodies().into_iter().find_map(Body::handle) {
        return Err(format!("missing text: the event has only the handle `{handle}` of a body"));
    }
    Ok(fact)
}

fn becomes_an_event(record: &TranscriptRecord) -> bool {
    let is_opening = |item: &RecordItem| matches!(item, RecordItem::Opened(_));
    record.items.iter().any(|item| !is_opening(item)) || matches!(record.kept, RecordStatus::Broken { .. })
}

fn broken(why: String) -> RecordStatus {
    RecordStatus::Broken { why }
}

impl ExportedSession {
    /// Adds to the record the item that a fact becomes in the copied session.
    fn take(&self, record: &mut TranscriptRecord, fact: Fact) {
        let item = match fact {
            Fact::SessionOpened(opened) => {
                record.parent_session = opened.parent.as_ref().map(|parent| parent.as_str().into());
                Some(RecordItem::Opened(SessionOpened { format: Some("wunderblock".into()), ..opened }))
            }
            Fact::MessageAppended(said) => Some(RecordItem::Message(said.message)),
            Fact::UsageMeasured(usage) => Some(RecordItem::Usage(usage)),
            Fact::TurnCompleted(turn) => Some(RecordItem::Turn(turn)),
            Fact::SubagentSpawned(spawned) => Some(RecordItem::Spawned(Box::new(spawned))),
            Fact::SubagentReturned(returned) => Some(RecordItem::Returned(Box::new(returned))),
            Fact::SessionCompacted(made) => self.summary(*made),
            fact @ (Fact::ContentPinned(_) | Fact::ContentHidden(_)) => self.about(fact),
            fact @ (Fact::SessionClosed(_)
            | Fact::SessionDescribed(_)
            | Fact::TaskStarted(_)
            | Fact::TaskFinished(_)) => Some(RecordItem::Fact(Box::new(fact))),
            _ => None,
        };
        if let Some(item) = item {
            record.push(item);
        }
    }

    /// Returns a summary as an available node. Returns `None` if no record of the summary's range is in the file.
    fn summary(&self, made: SessionCompacted) -> Option<RecordItem> {
        let Some(Body::Inline(summary)) = made.summary else { return None };
        let from = self.first_from(made.from_seq).filter(|(at, _)| *at <= made.to_seq)?;
        let kept = self.first_from(made.to_seq.next());
        Some(RecordItem::Compacted {
            from: Some(from.1.clone()),
            before: kept.map(|(_, id)| id.clone()),
            summary: Some(summary),
            trigger: made.trigger,
            tokens_before: made.tokens_before,
        })
    }

    fn about(&self, mut fact: Fact) -> Option<RecordItem> {
        let target = *fact.target_mut()?;
        let (_, record) = self.first_from(target).filter(|(at, _)| *at == target)?;
        Some(RecordItem::About { record: record.clone(), fact: Box::new(fact) })
    }
}
