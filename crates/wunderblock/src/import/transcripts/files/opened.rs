//! A source that is being imported: a file, or the text made from the members of a session.

use crate::base::error::{Error, file_error};
use crate::histories::rows_read::RowsRead;
use crate::histories::stamp::Stamp;
use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

/// An open source, with its name.
pub(in crate::import::transcripts) struct OpenedFile<'p> {
    pub(in crate::import::transcripts) path: &'p Path,
    pub(in crate::import::transcripts) name: String,
    pub(in crate::import::transcripts) file: Content,
    /// Length in bytes.
    pub(in crate::import::transcripts) len: u64,
    /// What reveals a later change of the source.
    pub(in crate::import::transcripts) stamp: Stamp,
    /// Whether this import holds the lock on the file, so that no other import of it is alive.
    pub(in crate::import::transcripts) locked: bool,
    /// For a session in a database: what is remembered of its rows.
    pub(in crate::import::transcripts) rows: Option<RowsRead>,
}

impl OpenedFile<'_> {
    /// Returns whether the text is known to begin with the stored bytes, which are not all in memory.
    pub(in crate::import::transcripts) fn continues(&self) -> bool {
        matches!(&self.file, Content::Members { from, .. } if *from > 0)
    }
}

/// Bytes of a source.
pub(crate) enum Content {
    /// A file.
    File(File),
    /// The text of a session of several members, from an offset on.
    Members { from: u64, text: Cursor<Arc<[u8]>> },
}

impl Content {
    pub(in crate::import::transcripts) fn members(text: Vec<u8>, from: u64) -> Self {
        Self::Members { from, text: Cursor::new(text.into()) }
    }

    /// Returns the length in bytes.
    pub(in crate::import::transcripts) fn len(&self) -> std::io::Result<u64> {
        match self {
            Self::File(file) => Ok(file.metadata()?.len()),
            Self::Members { from, text } => Ok(from + text.get_ref().len() as u64),
        }
    }

    /// Returns a second reader of the same bytes.
    pub(in crate::import::transcripts) fn try_clone(&self) -> std::io::Result<Self> {
        Ok(match self {
            Self::File(file) => Self::File(file.try_clone()?),
            Self::Members { from, text } => Self::Members { from: *from, text: text.clone() },
        })
    }
}

impl Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Members { text, .. } => text.read(buffer),
        }
    }
}

impl Seek for Content {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Members { from, text } => {
                let to = match to {
                    SeekFrom::Start(at) => {
                        let missing = || std::io::Error::other("these bytes are not in memory");
                        SeekFrom::Start(at.checked_sub(*from).ok_or_else(missing)?)
                    }
                    relative => relative,
                };
                Ok(text.seek(to)? + *from)
            }
        }
    }
}

pub(in crate::import::transcripts) fn read_head(file: &mut Content, path: &Path) -> Result<Vec<u8>, Error> {
    file.seek(SeekFrom::Start(0)).map_err(|error| file_error(path, &error))?;
    let mut head = vec![0; 64 << 10];
    let read = read_full(file, &mut head).map_err(|error| file_error(path, &error))?;
    head.truncate(read);
    file.seek(SeekFrom::Start(0)).map_err(|error| file_error(path, &error))?;
    Ok(head)
}

pub(in crate::import::transcripts) fn read_full(
    file: &mut Content,
    buffer: &mut [u8],
) -> std::io::Result<usize> {
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
