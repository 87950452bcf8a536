//! Exports of an account of ChatGPT or claude.ai: a file with an array of conversations, each of which is a session.

use super::conversation;
use super::elements::{Element, Elements, HEAD};
use super::member::{HistoryFile, Member};
use crate::base::error::{Error, file_error, refused};
use crate::histories::stamp::{Stamp, read_up_to};
use crate::limits::MAX_MEMBERS;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use wunderblock_store::codec::checksum;
use wunderblock_wire::transcript::conversation_format;

/// Endings of files that are not examined for whether they are exports: they are read line by line.
const LINES: [&str; 4] = ["jsonl", "ndjson", "traj", "md"];

/// Returns whether a path is that of an export.
pub(crate) fn is_export(path: &Path) -> bool {
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    let mut head = Vec::new();
    // A pipe is not opened, because that may block.
    if LINES.contains(&ending) || !path.is_file() {
        return false;
    }
    if File::open(path).and_then(|mut file| read_up_to(&mut file, HEAD, &mut head)).is_err() {
        return false;
    }
    let text = String::from_utf8_lossy(&head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let first = text.strip_prefix('[').unwrap_or(text).trim_start();
    first.starts_with('{') && conversation_format(first).is_some()
}

/// What is read of a conversation to list it.
#[derive(Deserialize)]
struct Head {
    conversation_id: Option<String>,
    id: Option<String>,
    uuid: Option<String>,
    update_time: Option<f64>,
    mapping: Option<IgnoredAny>,
    chat_messages: Option<IgnoredAny>,
}

/// A conversation of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Id of the conversation, or a name for an element that cannot be read.
    id: String,
    offset: u64,
    len: u64,
    modified: Option<SystemTime>,
    /// Checksum of the bytes, or why they cannot be read.
    read: Result<i64, String>,
}

impl Entry {
    fn of(number: usize, element: Element<(Head, i64)>) -> Self {
        let Element { offset, len, read } = element;
        let mut entry =
            Self { id: format!("element-{number}"), offset, len, modified: None, read: Err(String::new()) };
        match read {
            Ok((head, sum)) => {
                entry.modified = head.modified();
                match head.conversation_id.or(head.id).or(head.uuid) {
                    // An id that is a path would lead to another file.
                    Some(id) if Path::new("/").join(&id).parent() == Some(Path::new("/")) => {
                        (entry.id, entry.read) = (id, Ok(sum));
                    }
                    _ => entry.read = Err("a conversation without a usable id".to_owned()),
                }
            }
            Err(why) => entry.read = Err(why),
        }
        entry
    }

    pub(crate) fn stamp(&self) -> Stamp {
        Stamp { len: None, modified: self.read.as_ref().ok().copied() }
    }
}

impl Head {
    fn read(bytes: &[u8]) -> Result<(Self, i64), String> {
        std::str::from_utf8(bytes).map_err(|error| format!("invalid UTF-8: {error}"))?;
        if !bytes.starts_with(b"{") {
            return Err("it is not a conversation".to_owned());
        }
        let head: Self = serde_json::from_slice(bytes).map_err(|error| format!("invalid JSON: {error}"))?;
        if head.mapping.is_none() && head.chat_messages.is_none() {
            return Err("it is not a conversation".to_owned());
        }
        Ok((head, checksum(&[bytes])))
    }

    fn modified(&self) -> Option<SystemTime> {
        UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(self.update_time?).ok()?)
    }
}

/// The conversations of an export, in their order, without their content.
#[derive(Debug, Default)]
pub(crate) struct ExportIndex {
    entries: Vec<Entry>,
    places: HashMap<String, usize>,
}

impl ExportIndex {
    /// Reads an export, one conversation at a time.
    fn read(path: &Path) -> Result<Self, Error> {
        let failed = |error| file_error(path, &error);
        let file = File::open(path).map_err(failed)?;
        let mut elements = Elements::new(file, MAX_MEMBERS).map_err(failed)?;
        let mut index = Self::default();
        while let Some(element) = elements.next(Head::read).map_err(failed)? {
            let number = index.entries.len() + 1;
            let mut entry = Entry::of(number, element);
            if let Some(earlier) = index.places.get(&entry.id) {
                let why = format!("element {} has the same id, `{}`", earlier + 1, entry.id);
                (entry.id, entry.read) = (format!("element-{number}"), Err(why));
            }
            index.places.insert(entry.id.clone(), number - 1);
            index.entries.push(entry);
        }
        Ok(index)
    }

    pub(crate) fn entry(&self, path: &Path, id: &str) -> Result<&Entry, Error> {
        let why = || format!("the export has no conversation `{id}`");
        let place = self.places.get(id).and_then(|at| self.entries.get(*at));
        place.ok_or_else(|| Error::File { path: path.display().to_string(), why: why() })
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}

/// Returns the sessions of an export, in their order in the file. Elements that cannot be read are among them, so that
/// their import reports them.
pub(crate) fn sessions(path: &Path) -> Result<Vec<HistoryFile>, Error> {
    let index = ExportIndex::read(path)?;
    Ok(index.entries.iter().map(|entry| listed(path, entry)).collect())
}

/// Returns one session of an export.
pub(crate) fn session(path: &Path, id: &str) -> Result<HistoryFile, Error> {
    Ok(listed(path, ExportIndex::read(path)?.entry(path, id)?))
}

fn listed(path: &Path, entry: &Entry) -> HistoryFile {
    let (modified, stamp) = (entry.modified, entry.stamp());
    HistoryFile { path: path.join(&entry.id), bytes: entry.len, modified, stamp }
}

/// Returns the members of a conversation.
pub(crate) fn members(path: &Path, entry: &Entry) -> Result<Vec<Member>, Error> {
    let Entry { id, offset, len, read, .. } = entry;
    let key = path.join(id);
    let sum = read.as_ref().map_err(|why| {
        refused(
            &key,
            &format!("the element at byte {offset} cannot be read: {why}; the others are not affected"),
        )
    })?;
    let failed = |error| file_error(path, &error);
    let mut file = File::open(path).map_err(failed)?;
    file.seek(SeekFrom::Start(*offset)).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(*len).read_to_end(&mut bytes).map_err(failed)?;
    let text = std::str::from_utf8(&bytes).ok().filter(|_| checksum(&[&bytes]) == *sum);
    let text =
        text.ok_or_else(|| refused(&key, "the export has changed while it was read; import it again"))?;
    conversation::members(text).ok_or_else(|| refused(&key, "its messages are not a list or a tree"))
}

/// The index of the export that was read last. An import of each of its conversations would otherwise read all of the
/// file.
#[derive(Debug, Default)]
pub(crate) struct ExportCache {
    latest: Mutex<Option<(PathBuf, Stamp, Arc<ExportIndex>)>>,
}

impl ExportCache {
    /// Returns the index of an export.
    pub(crate) fn index(&self, path: &Path) -> Result<Arc<ExportIndex>, Error> {
        let meta = path.metadata().map_err(|error| file_error(path, &error))?;
        let stamp = Stamp::of(&meta);
        let known = self.latest.lock().ok().and_then(|latest| latest.clone());
        if let Some((_, _, index)) =
            known.filter(|(of, at, _)| of == path && *at == stamp && at.modified.is_some())
        {
            return Ok(index);
        }
        let index = Arc::new(ExportIndex::read(path)?);
        if let Ok(mut latest) = self.latest.lock() {
            *latest = Some((path.to_owned(), stamp, Arc::clone(&index)));
        }
        Ok(index)
    }
}
