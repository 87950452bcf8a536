//! Sessions of OpenCode in a tree of files: `storage/session/PROJECT/SESSION.json`,
//! `storage/message/SESSION/MESSAGE.json`, `storage/part/MESSAGE/PART.json`
//! (`packages/opencode/src/storage/json-migration.ts` of OpenCode).

use super::json::object_or_string;
use super::member::{HistoryFile, Member, too_large};
use crate::base::error::{Error, file_error};
use crate::histories::stamp::{RACY, Stamp, read_up_to};
use crate::limits::MAX_MEMBERS;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use wunderblock_store::codec::checksum;

/// Returns whether a folder is the storage of OpenCode.
pub(crate) fn is_storage(folder: &Path) -> bool {
    folder.join("session").is_dir() && folder.join("message").is_dir()
}

/// Returns the storage to which a session's file belongs.
fn storage_of(session: &Path) -> Option<&Path> {
    let folder = session.parent()?.parent()?;
    let storage = folder.parent().filter(|_| folder.file_name() == Some(OsStr::new("session")))?;
    let is_json = session.extension() == Some(OsStr::new("json"));
    (is_json && is_storage(storage)).then_some(storage)
}

/// Returns whether a file is that of a session.
pub(crate) fn is_session(path: &Path) -> bool {
    storage_of(path).is_some() && path.is_file()
}

/// The files of a session, in the order of their lines.
struct SessionFiles {
    session: PathBuf,
    /// Messages, each with the id and the parts.
    messages: Vec<(String, PathBuf, Vec<PathBuf>)>,
}

impl SessionFiles {
    fn of(session: &Path) -> Result<Self, Error> {
        let id = session.file_stem().unwrap_or_default();
        let storage = storage_of(session).unwrap_or(Path::new(""));
        let mut messages = Vec::new();
        for message in json_files(&storage.join("message").join(id))? {
            let id = message.file_stem().unwrap_or_default().to_owned();
            let parts = json_files(&storage.join("part").join(&id))?;
            messages.push((id.to_string_lossy().into_owned(), message, parts));
        }
        Ok(Self { session: session.to_owned(), messages })
    }

    fn all(&self) -> impl Iterator<Item = &Path> {
        let messages = self.messages.iter();
        let inner = messages.flat_map(|(_, message, parts)| std::iter::once(message).chain(parts));
        std::iter::once(&self.session).chain(inner).map(PathBuf::as_path)
    }
}

/// Returns the JSON files in a folder, sorted by name. Links are not followed, because they may lead anywhere.
fn json_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |error| file_error(folder, &error);
    if folder.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
        return Ok(Vec::new());
    }
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        let is_json = path.extension() == Some(OsStr::new("json"));
        if is_json && entry.file_type().map_err(failed)?.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Returns a session with its length and a checksum of its members' names, lengths and times.
pub(crate) fn listed(session: &Path) -> Result<HistoryFile, Error> {
    let (mut bytes, mut modified, mut told) = (0, None, Vec::new());
    for file in SessionFiles::of(session)?.all() {
        let meta = match file.metadata() {
            Ok(meta) => meta,
            // A member may be removed at any time.
            Err(error) if error.kind() == ErrorKind::NotFound && file != session => continue,
            Err(error) => return Err(file_error(file, &error)),
        };
        bytes += meta.len();
        modified = modified.max(meta.modified().ok());
        told.extend_from_slice(file.as_os_str().as_encoded_bytes());
        told.extend(times(&meta).into_iter().flat_map(u128::to_le_bytes));
    }
    let is_settled =
        modified.is_none_or(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > RACY));
    let stamp = Stamp { len: None, modified: is_settled.then(|| checksum(&[&told])) };
    Ok(HistoryFile { path: session.to_owned(), bytes, modified, stamp })
}

fn times(meta: &Metadata) -> [u128; 2] {
    let since = meta.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    [u128::from(meta.len()), since.unwrap_or_default().as_nanos()]
}

/// Returns the members of a session.
pub(crate) fn members(session: &Path) -> Result<Vec<Member>, Error> {
    let mut left = MAX_MEMBERS;
    let mut read = |file: &Path| -> Result<Option<Vec<u8>>, Error> {
        let mut bytes = Vec::new();
        match File::open(file).and_then(|mut file| read_up_to(&mut file, left + 1, &mut bytes)) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound && file != session => return Ok(None),
            Err(error) => return Err(file_error(file, &error)),
        }
        left = left.checked_sub(bytes.len()).ok_or_else(|| too_large(session))?;
        Ok(Some(bytes))
    };
    let files = SessionFiles::of(session)?;
    let own = read(&files.session)?.unwrap_or_default();
    let line = format!("{{\"info\":{}}}", object_or_string(&own));
    let mut members = vec![Member { id: None, line: line.into_bytes() }];
    for (id, message, parts) in &files.messages {
        let mut inner = Vec::new();
        for part in parts {
            inner.extend(read(part)?.map(|part| object_or_string(&part)));
        }
        let Some(message) = read(message)? else { continue };
        let info = object_or_string(&message);
        let line = format!("{{\"parts\":[{}],\"info\":{info}}}", inner.join(","));
        members.push(Member { id: Some(id.clone()), line: line.into_bytes() });
    }
    Ok(members)
}
