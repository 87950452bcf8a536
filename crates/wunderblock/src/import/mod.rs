//! Importing transcripts: raw bytes into a source, records into events, branches into forks.
//!
//! ```text
//! file ─ chunks ─────────────────────────────► source (verbatim, for export and proof)
//!   └─ lines ─ wire::Reader ─► Record ─ Tree ─► events of a stream per branch
//! ```
//! A file that was imported before is compared with what is kept of it: what is the same at its beginning is not stored
//! again, and events that are there already are recognised by their ids. So importing twice changes nothing, and a file
//! that grew adds what is new.

mod feed;
mod tree;

pub use feed::MAX_WARNINGS;

use crate::engine::{Engine, unexpected};
use crate::error::{Error, ImportReason};
use crate::limits::{MAX_DOCUMENT, SOURCE_CHUNK};
use crate::store::codec::{self, name_handle};
use crate::store::{Answer, Query, SourceBy, SourceInfo};
use feed::Feed;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use wunderblock_core::id::StreamId;
use wunderblock_wire::transcript::{Format, Kept, Reader, Shape, Unrecognised, detect};

/// What an import did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The file.
    pub path: PathBuf,
    /// Its format.
    pub format: Format,
    /// The sessions it holds, the file's own newest branch first.
    pub sessions: Vec<StreamId>,
    /// Its length in bytes.
    pub bytes: u64,
    /// Whether nothing of it was new.
    pub unchanged: bool,
    /// Raw records read.
    pub records: u64,
    /// Events appended.
    pub appended: u64,
    /// Events that were there before.
    pub duplicates: u64,
    /// Bytes of records of unknown shape, broken ones included.
    pub opaque_bytes: u64,
    /// Records that could not be read at all.
    pub broken: u64,
    /// What is worth knowing, with file and line; at most [`MAX_WARNINGS`], then a count.
    pub warnings: Vec<String>,
}

/// How far an import has come.
pub type OnBytes<'a> = &'a mut dyn FnMut(u64, u64);

impl Engine {
    /// Imports one transcript file.
    ///
    /// # Errors
    /// When the file cannot be read or is no transcript, or the ledger cannot be written.
    pub async fn import(
        &self,
        path: &Path,
        format: Option<Format>,
        progress: OnBytes<'_>,
    ) -> Result<Imported, Error> {
        let path = path.canonicalize().map_err(|error| file_error(path, &error))?;
        let mut file = File::open(&path).map_err(|error| file_error(&path, &error))?;
        let meta = file.metadata().map_err(|error| file_error(&path, &error))?;
        if !meta.is_file() {
            return Err(refused(&path, "it is not a file; give a transcript, or a folder of them"));
        }
        let head = read_head(&mut file, &path)?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let format = match format {
            Some(format) => format,
            None => detect(&name, &head).map_err(|no| unrecognised(&path, &no))?,
        };
        let old = self.source(&path).await?;
        let len = meta.len();
        let shared = match &old {
            Some(old) => self.shared(old, &mut file, &path, len).await?,
            None => 0,
        };
        if let Some(old) = old.as_ref().filter(|old| old.revision > 0 && shared == len && old.len == len) {
            return self.unchanged(&path, format, old).await;
        }
        let is_document = format.shape(&head) == Shape::Document;
        if is_document && len > MAX_DOCUMENT {
            let why = format!(
                "a single document of {len} bytes; documents are read whole, up to {MAX_DOCUMENT}. Line formats have no limit: convert it to JSON lines"
            );
            return Err(refused(&path, &why));
        }
        let mut feed = Feed::begin(self, (&path, &name, format), shared, old.as_ref()).await?;
        if is_document {
            document(&mut feed, &mut file, &path).await?;
        } else {
            // Comparing it with what is kept has read some of it.
            file.seek(SeekFrom::Start(0)).map_err(|error| file_error(&path, &error))?;
            lines(&mut feed, file, (&path, len), progress).await?;
        }
        let imported = feed.finish().await?;
        progress(len, len);
        Ok(imported)
    }

    /// The source a path was imported as.
    pub(crate) async fn source(&self, path: &Path) -> Result<Option<SourceInfo>, Error> {
        let key = path.to_string_lossy().into_owned();
        match self.one(Query::Source { tenant: self.tenant.no, by: SourceBy::Key(key) }).await? {
            Answer::Source(info) => Ok(info),
            _ => Err(unexpected()),
        }
    }

    /// How many bytes at the beginning of a file are those of its newest imported revision.
    async fn shared(&self, old: &SourceInfo, file: &mut File, path: &Path, len: u64) -> Result<u64, Error> {
        let mut shared = 0;
        while shared < old.len.min(len) {
            let query = Query::Chunks { source: old.no, from: shared, to: old.len, limit: 8 };
            let Answer::Chunks(chunks) = self.one(query).await? else { return Err(unexpected()) };
            if chunks.is_empty() {
                break;
            }
            for chunk in chunks {
                let bytes = codec::unpack(&chunk.data)?;
                let kept = bytes.get(..usize::try_from(chunk.len).unwrap_or(usize::MAX)).unwrap_or(&bytes);
                let kept = kept
                    .get(usize::try_from(shared - chunk.offset).unwrap_or(usize::MAX)..)
                    .unwrap_or_default();
                let mut now = vec![0; kept.len()];
                file.seek(SeekFrom::Start(shared)).map_err(|error| file_error(path, &error))?;
                let read = read_full(file, &mut now).map_err(|error| file_error(path, &error))?;
                let same = kept.iter().zip(now.iter().take(read)).take_while(|(a, b)| a == b).count();
                shared += same as u64;
                if same < kept.len() {
                    return Ok(shared);
                }
            }
        }
        Ok(shared)
    }

    async fn unchanged(&self, path: &Path, format: Format, old: &SourceInfo) -> Result<Imported, Error> {
        Ok(Imported {
            path: path.to_owned(),
            format,
            sessions: old.leaf.clone().into_iter().collect(),
            bytes: old.len,
            unchanged: true,
            records: 0,
            appended: 0,
            duplicates: 0,
            opaque_bytes: 0,
            broken: 0,
            warnings: Vec::new(),
        })
    }

    /// The handle of an imported source.
    pub(crate) fn source_handle(&self, path: &Path) -> wunderblock_core::id::Handle {
        name_handle(&self.tenant.key, "source", &path.to_string_lossy())
    }
}

/// What a folder holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcripts {
    /// Files that may be transcripts, in order.
    pub files: Vec<PathBuf>,
    /// Symbolic links to folders and to files of such names. They are not followed: a link may lead anywhere.
    pub links: Vec<PathBuf>,
}

/// Files under a folder that may be transcripts: JSON, JSON lines, aider's Markdown history.
///
/// # Errors
/// When the folder cannot be read.
pub fn transcripts(folder: &Path) -> Result<Transcripts, Error> {
    let mut found = Transcripts::default();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let entries = std::fs::read_dir(&next).map_err(|error| file_error(&next, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| file_error(&next, &error))?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(|error| file_error(&next, &error))?);
            let name = entry.file_name().to_string_lossy().into_owned();
            if kind.is_dir() {
                folders.push(path);
                continue;
            }
            let is_named_so = [".jsonl", ".ndjson", ".json", ".traj"].iter().any(|end| name.ends_with(end))
                || name.contains("chat.history");
            if kind.is_file() && is_named_so {
                found.files.push(path);
            } else if kind.is_symlink() && (is_named_so || path.is_dir()) {
                found.links.push(path);
            }
        }
    }
    found.files.sort();
    found.links.sort();
    Ok(found)
}

fn read_head(file: &mut File, path: &Path) -> Result<Vec<u8>, Error> {
    let mut head = vec![0; 64 << 10];
    let read = read_full(file, &mut head).map_err(|error| file_error(path, &error))?;
    head.truncate(read);
    file.seek(SeekFrom::Start(0)).map_err(|error| file_error(path, &error))?;
    Ok(head)
}

fn read_full(file: &mut File, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

async fn document(feed: &mut Feed<'_>, file: &mut File, path: &Path) -> Result<(), Error> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0)).map_err(|error| file_error(path, &error))?;
    file.read_to_end(&mut bytes).map_err(|error| file_error(path, &error))?;
    feed.raw(&bytes);
    let mut reader = feed.reader();
    let mut records = reader.document(&bytes);
    records.extend(reader.finish());
    for record in records {
        feed.record(record, &reader, &bytes, 0).await?;
    }
    feed.let_in(&reader).await
}

async fn lines(
    feed: &mut Feed<'_>,
    file: File,
    (path, len): (&Path, u64),
    progress: OnBytes<'_>,
) -> Result<(), Error> {
    let mut input = BufReader::with_capacity(SOURCE_CHUNK, file);
    let mut reader = feed.reader();
    let (mut offset, mut number) = (0u64, 0u64);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input.read_until(b'\n', &mut line).map_err(|error| file_error(path, &error))?;
        if read == 0 {
            break;
        }
        number += 1;
        feed.raw(&line);
        let bare = strip_end(&line);
        let records = reader.line(offset, number, bare);
        // Whoever writes the file may be in the middle of its last line.
        let is_whole = line.ends_with(b"\n");
        for record in records {
            if !is_whole && matches!(record.kept, Kept::Broken { .. }) && record.offset >= offset {
                feed.unfinished(number);
                continue;
            }
            feed.record(record, &reader, bare, offset).await?;
        }
        offset += read as u64;
        if number.is_multiple_of(512) {
            progress(offset.min(len), len);
        }
    }
    for record in reader.finish() {
        feed.record(record, &reader, &[], offset).await?;
    }
    feed.let_in(&reader).await
}

fn strip_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn file_error(path: &Path, error: &std::io::Error) -> Error {
    Error::File { path: path.display().to_string(), why: error.to_string() }
}

fn refused(path: &Path, why: &str) -> Error {
    Error::Import { path: path.display().to_string(), reason: ImportReason::Unsuited, why: why.to_owned() }
}

fn unrecognised(path: &Path, why: &Unrecognised) -> Error {
    let reason = ImportReason::NotATranscript;
    Error::Import { path: path.display().to_string(), reason, why: why.to_string() }
}

/// A reader for a format.
fn reader(format: Format, name: &str) -> Reader {
    Reader::new(format, name)
}
