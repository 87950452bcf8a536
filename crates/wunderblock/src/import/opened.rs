//! A file that is being imported.

use crate::error::{Error, file_error};
use std::fs::{File, Metadata};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// An open file, with its name and metadata.
pub(super) struct OpenedFile<'p> {
    pub(super) path: &'p Path,
    pub(super) name: String,
    pub(super) file: File,
    pub(super) meta: Metadata,
    /// Whether this import holds the lock on the file, so that no other import of it is alive.
    pub(super) locked: bool,
}

pub(super) fn read_head(file: &mut File, path: &Path) -> Result<Vec<u8>, Error> {
    file.seek(SeekFrom::Start(0)).map_err(|error| file_error(path, &error))?;
    let mut head = vec![0; 64 << 10];
    let read = read_full(file, &mut head).map_err(|error| file_error(path, &error))?;
    head.truncate(read);
    file.seek(SeekFrom::Start(0)).map_err(|error| file_error(path, &error))?;
    Ok(head)
}

pub(super) fn read_full(file: &mut File, buffer: &mut [u8]) -> std::io::Result<usize> {
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
