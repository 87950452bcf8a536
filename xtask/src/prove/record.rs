//! Transcript records, each with a unique marker word.

use super::random::{Random, marker};
use serde_json::json;

/// A line of a transcript in Claude Code's format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MarkedRecord {
    /// The record's id, if the record becomes an event.
    pub(super) id: Option<String>,
    /// The unique marker word.
    pub(super) marker: String,
    /// The record's text.
    pub(super) text: String,
    /// The line, without its end.
    pub(super) line: String,
}

/// A transcript as an agent keeps it.
#[derive(Default)]
pub(super) struct TranscriptFile {
    pub(super) session: String,
    pub(super) records: Vec<MarkedRecord>,
}

impl TranscriptFile {
    /// Creates an empty transcript of a new session.
    pub(super) fn new(random: &mut Random) -> Self {
        Self { session: format!("s-{}", marker(random)), records: Vec::new() }
    }

    /// Adds the records of `count` further steps of the session.
    pub(super) fn grow(&mut self, random: &mut Random, count: usize) {
        let parent = self.records.iter().rev().find_map(|record| record.id.as_deref());
        let more = records(random, &self.session, parent, count);
        self.records.extend(more);
    }
}

/// Returns a text that contains a marker. Some texts are long enough (512 bytes) to become separate bodies.
pub(super) fn text(random: &mut Random, marker: &str) -> String {
    let filler = "and some words that everybody says ".repeat(random.below(4) * random.below(12));
    format!("the word {marker} {filler}is said")
}

/// Returns records that continue after `parent`: messages, and titles and queued prompts, which create no events.
pub(super) fn records(
    random: &mut Random,
    session: &str,
    parent: Option<&str>,
    count: usize,
) -> Vec<MarkedRecord> {
    let mut records: Vec<MarkedRecord> = Vec::new();
    let mut parent = parent.map(ToOwned::to_owned);
    for _ in 0..count {
        let marker = marker(random);
        let said = text(random, &marker);
        // The first record of a session must be a message.
        let is_first = parent.is_none() && records.is_empty();
        match if is_first { 7 } else { random.below(8) } {
            0 => {
                let line = json!({ "type": "ai-title", "aiTitle": said, "sessionId": session }).to_string();
                records.push(MarkedRecord { id: None, marker, text: said, line });
                continue;
            }
            1 => {
                let line = json!({
                    "type": "queue-operation", "operation": "enqueue", "timestamp": "2026-11-20T08:06:54.015Z",
                    "content": said, "sessionId": session,
                });
                let (marker, text) = (marker.clone(), said.clone());
                records.push(MarkedRecord { id: None, marker, text, line: line.to_string() });
            }
            _ => {}
        }
        let id = format!("{:016x}", random.next_u64());
        let role = if random.below(2) == 0 { "user" } else { "assistant" };
        let line = message(session, &id, parent.as_deref(), role, &said);
        records.push(MarkedRecord { id: Some(id.clone()), marker, text: said, line });
        parent = Some(id);
    }
    records
}

/// Returns messages without an id, for a file that has `offset` bytes. The byte offset of each message identifies it.
pub(super) fn plain(random: &mut Random, mut offset: usize, count: usize) -> Vec<MarkedRecord> {
    let mut records = Vec::new();
    for _ in 0..count {
        let marker = marker(random);
        let text = text(random, &marker);
        let line = json!({ "role": "user", "content": text }).to_string();
        let id = Some(format!("r{offset}"));
        offset += line.len() + 1;
        records.push(MarkedRecord { id, marker, text, line });
    }
    records
}

/// Returns a message record. The first bytes of the record are the same in every session.
pub(super) fn message(session: &str, id: &str, parent: Option<&str>, role: &str, text: &str) -> String {
    json!({
        "isSidechain": false, "userType": "external", "cwd": "/home/dev/wunderblock", "version": "2.0.37",
        "gitBranch": "main", "sessionId": session, "parentUuid": parent, "type": role, "uuid": id,
        "timestamp": "2026-11-20T08:06:54.015Z", "message": { "role": role, "content": text },
    })
    .to_string()
}

/// Returns the bytes of a file with these records.
pub(super) fn file<'r>(records: impl IntoIterator<Item = &'r MarkedRecord>) -> Vec<u8> {
    records.into_iter().flat_map(|record| [record.line.as_bytes(), b"\n"].concat()).collect()
}
