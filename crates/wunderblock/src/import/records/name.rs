//! Names of records, events, sessions and files, and the raw bytes of a record.

use crate::base::error::Error;
use crate::ledger::reading::lineage::native;
use crate::ledger::recording::door::engines_own;
use std::path::Path;
use wunderblock_core::id::{EventId, StreamId};
use wunderblock_wire::transcript::{Format, TranscriptRecord};

/// Returns the name from which the ids of a record's events are formed.
pub(crate) fn record_name(record: &TranscriptRecord) -> Box<str> {
    record.id.clone().unwrap_or_else(|| nameless(record.offset).into())
}

/// Returns the name of a record without an id, formed from its offset in the file.
pub(crate) fn nameless(offset: u64) -> String {
    format!("r{offset}")
}

/// Returns those raw bytes of a record that are in `bytes`, a buffer that begins at the offset `base`.
pub(crate) fn raw_of<'b>(record: &TranscriptRecord, bytes: &'b [u8], base: u64) -> &'b [u8] {
    let from = usize::try_from(record.offset.wrapping_sub(base)).unwrap_or(usize::MAX);
    let len = usize::try_from(record.len).unwrap_or(usize::MAX);
    bytes.get(from..).and_then(|rest| rest.get(..len.min(rest.len()))).unwrap_or_default()
}

/// Returns whether a stream is a session's root stream or one of its branches.
pub(crate) fn is_of(stream: &StreamId, root: &StreamId) -> bool {
    stream.as_str().strip_prefix(root.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('~'))
}

/// Returns the id of a record's n-th event. The id is the record's own id, unless that id is too long or looks like
/// one of the engine's ids.
pub(crate) fn event_id(record: &str, number: usize) -> Result<EventId, Error> {
    let id = if number == 0 { record.to_owned() } else { format!("{record}#{number}") };
    match EventId::new(id.clone()) {
        Ok(id) if engines_own(&id).is_none() => Ok(id),
        _ => Ok(EventId::new(blake3::hash(id.as_bytes()).to_hex().to_string())?),
    }
}

/// Returns whether files of a format have no ids for sessions and records.
pub(crate) fn has_no_ids(format: Format) -> bool {
    matches!(
        format,
        Format::Grok
            | Format::Kimi
            | Format::Antigravity
            | Format::TauBench
            | Format::OpenaiChat
            | Format::Aider
            | Format::JsonLines
            | Format::JsonDocument
    )
}

/// Returns whether equal ids of records mean equal messages. A log repeats a message in other words: without
/// reasoning, or without the id of its reply. The message that was stored first counts.
pub(crate) fn names_content(format: Format) -> bool {
    matches!(format, Format::Anthropic | Format::OpenaiResponses | Format::Gemini)
}

/// Returns the name of a record's session: the agent's id, or the file's name if the agent gives none.
pub(crate) fn session_name(
    format: Format,
    file: &str,
    record: &TranscriptRecord,
    own: Option<&str>,
) -> String {
    match &record.session {
        // Formats without ids number the sessions within a file.
        Some(name) if has_no_ids(format) => format!("{file}-{name}"),
        Some(name) => name.to_string(),
        None => own.unwrap_or(file).to_owned(),
    }
}

/// Returns a new name for a file that the ledger does not know.
pub(crate) fn new_name(path: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let clean: String = stem
        .unwrap_or_default()
        .chars()
        .map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' })
        .take(48)
        .collect();
    // The mark of the whole path distinguishes files with the same name.
    format!("{clean}-{}", path_mark(path))
}

pub(crate) fn path_mark(path: &Path) -> String {
    blake3::hash(path.to_string_lossy().as_bytes()).to_hex().chars().take(MARK).collect()
}

/// Number of hexadecimal digits in a path's mark.
const MARK: usize = 8;

/// Returns the name of the file after which a session is named.
pub(crate) fn file_of(session: &StreamId) -> Option<&str> {
    let name = native(session);
    let counted =
        ["-chat-", "-line-", "-conversation-", "-task-"].into_iter().filter_map(|word| name.rfind(word));
    let is_file = |name: &&str| {
        let mark = name.rsplit_once('-').map_or("", |(_, mark)| mark);
        mark.len() == MARK && mark.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    counted.filter_map(|at| name.get(..at)).chain([name]).find(is_file)
}

/// Returns the offset of a record without an id, given the id of one of its events.
pub(crate) fn offset_of(id: &str) -> Option<u64> {
    id.strip_prefix('r')?.split('#').next()?.parse().ok()
}

/// Minimum length of a random name in an id, in characters: 64 random bits in hexadecimal.
const UNIQUE_ID: usize = 16;

/// Length of a UUID, in characters.
const UUID: usize = 36;

/// Returns whether no two records of different sessions have an id by chance: the id contains a UUID, or a long word of
/// letters and digits. Forks and resumed sessions repeat the ids of their records under another name of the session.
pub(crate) fn is_unique(id: &str) -> bool {
    let is_uuid = |text: &[u8]| {
        text.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    };
    let is_random = |word: &str| {
        word.len() >= UNIQUE_ID
            && word.bytes().any(|byte| byte.is_ascii_digit())
            && word.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    id.as_bytes().windows(UUID).any(is_uuid)
        || id.split(|sign: char| !sign.is_ascii_alphanumeric()).any(is_random)
}
