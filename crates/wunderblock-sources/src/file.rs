//! Reads a file that others wrote, without blocking, with a size limit, and without following broken links.

use crate::limits::MAX_SOURCE_FILE;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use wunderblock_core::instruction::Finding;

/// A text file, read completely.
pub(super) struct TextFile {
    /// BLAKE3 hash of the file's bytes, in hexadecimal.
    pub(super) digest: String,
    /// Text without a byte order mark.
    pub(super) text: String,
}

/// Returns the resolved path, without links, `.` and `..`; `None` if nothing exists at the path.
///
/// # Errors
/// Returns a message about a broken or circular link, or about a directory that cannot be entered.
pub(super) fn resolve(path: &Path) -> Result<Option<PathBuf>, String> {
    resolve_knowing(path, &mut HashMap::new())
}

/// Resolves many paths that lie in few directories. `known` keeps the resolved directories between calls.
pub(super) fn resolve_knowing(
    path: &Path,
    known: &mut HashMap<PathBuf, PathBuf>,
) -> Result<Option<PathBuf>, String> {
    let metadata = match fs::symlink_metadata(path) {
        Err(error) if is_absence(&error) => return Ok(None),
        Err(error) => return Err(describe_error(&error)),
        Ok(metadata) => metadata,
    };
    if metadata.is_file()
        && let (Some(parent), Some(name)) = (path.parent(), path.file_name())
        && let Some(directory) = directory(parent, known)
    {
        return Ok(Some(directory.join(name)));
    }
    match dunce::canonicalize(path) {
        Ok(canonical) => Ok(Some(canonical)),
        Err(error) if is_absence(&error) => Err("is a link to something that does not exist".to_owned()),
        Err(error) => Err(format!("is a link that cannot be followed ({})", describe_error(&error))),
    }
}

/// Resolves a directory. Only links and relative paths need `canonicalize`; other directories are joined to their
/// resolved parent.
fn directory(path: &Path, known: &mut HashMap<PathBuf, PathBuf>) -> Option<PathBuf> {
    if let Some(canonical) = known.get(path) {
        return Some(canonical.clone());
    }
    let plain = path.is_absolute() && fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
    let canonical = match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if plain => directory(parent, known)?.join(name),
        _ => dunce::canonicalize(path).ok()?,
    };
    known.insert(path.to_owned(), canonical.clone());
    Some(canonical)
}

/// Reads a text file of at most `most` bytes.
///
/// # Errors
/// Returns a message if the file is not a regular file, is too large, binary or not UTF-8, or cannot be read.
pub(super) fn read(canonical: &Path, most: u64) -> Result<TextFile, String> {
    text_of(bytes_of(canonical, most)?)
}

/// Reads the text of a file of at most `most` bytes.
///
/// # Errors
/// Returns a message if the file cannot be read, is too large, or is not text.
pub fn read_text(path: &Path, most: u64) -> Result<String, String> {
    read(path, most).map(|file| file.text)
}

/// Returns the resolved path of a file that a project names; `None` if nothing exists at the path. `root` is the resolved
/// root of the project.
///
/// # Errors
/// Returns a message if a link leads outside of the project, or cannot be followed.
pub fn resolve_inside(path: &Path, root: &Path) -> Result<Option<PathBuf>, String> {
    match resolve(path)? {
        Some(canonical) if !canonical.starts_with(root) => Err("leads outside of the project".to_owned()),
        found => Ok(found),
    }
}

/// Reads the file that a finding names, also one that was rejected. `None` if the file is outside of the project, larger
/// than a source may be, or not UTF-8, or if it cannot be read.
pub fn text_named_by(finding: &Finding, root: &Path) -> Option<String> {
    let canonical = resolve_inside(&root.join(&*finding.source), root).ok()??;
    String::from_utf8(bytes_of(&canonical, MAX_SOURCE_FILE).ok()?).ok()
}

pub(super) fn bytes_of(canonical: &Path, most: u64) -> Result<Vec<u8>, String> {
    // The file type is checked before opening, because opening a pipe would wait for a writer.
    regular(&fs::metadata(canonical).map_err(|error| describe_error(&error))?, most)?;
    let file = File::open(canonical).map_err(|error| describe_error(&error))?;
    // The path may have been replaced since the first check, and the file may still grow while it is read.
    let metadata = file.metadata().map_err(|error| describe_error(&error))?;
    regular(&metadata, most)?;
    let length = metadata.len();
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default().saturating_add(1));
    file.take(most + 1).read_to_end(&mut bytes).map_err(|error| describe_error(&error))?;
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if length > most { Err(too_large(length, most)) } else { Ok(bytes) }
}

/// Converts bytes into a text file.
///
/// # Errors
/// Returns a message if the bytes are not text.
pub(super) fn text_of(bytes: Vec<u8>) -> Result<TextFile, String> {
    let digest = blake3::hash(&bytes).to_hex().to_string();
    if let Some(at) = memchr::memchr(0, &bytes) {
        return Err(format!("is binary (a zero byte at {at}), not text"));
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        format!("is not UTF-8 (from byte {}); save it as UTF-8", error.utf8_error().valid_up_to())
    })?;
    if text.starts_with('\u{FEFF}') {
        text.drain(..'\u{FEFF}'.len_utf8());
    }
    Ok(TextFile { digest, text })
}

fn regular(metadata: &fs::Metadata, most: u64) -> Result<(), String> {
    if metadata.is_dir() {
        return Err("is a directory, not a file".to_owned());
    }
    if !metadata.is_file() {
        return Err("is a pipe, a socket or a device, not a file".to_owned());
    }
    if metadata.len() > most { Err(too_large(metadata.len(), most)) } else { Ok(()) }
}

fn too_large(length: u64, most: u64) -> String {
    format!("has {length} bytes, more than the {most} that are read; split it")
}

/// Returns whether an error means that nothing exists at a path.
pub(super) fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::InvalidFilename
    )
}

/// Returns a plain description of an error.
pub(super) fn describe_error(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "may not be read (permission denied)".to_owned(),
        _ => error.to_string(),
    }
}
