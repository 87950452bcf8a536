//! Reads files and pipes named by the user, with a size limit and with errors that say what is wrong.

use crate::exit::{Failure, wrong};
use crate::terminal::clean;
use serde::de::DeserializeOwned;
use std::io::{ErrorKind, Read};
use std::path::Path;
use wunderblock::sources::MAX_SOURCE_BYTES;

/// Creates an error for a named file that cannot be used.
pub(crate) fn refused(path: &Path, why: &str) -> Failure {
    wrong(format!("{}: {why}", clean(&path.to_string_lossy())))
}

/// Reads a file that nobody named in this call. A pipe or a device in its place would block, or never end.
///
/// # Errors
/// Fails if there is no regular file at the path, or if it is larger than [`MAX_SOURCE_BYTES`].
pub(crate) fn read_usual(path: &Path) -> std::io::Result<Vec<u8>> {
    let meta = path.metadata()?;
    if !meta.is_file() {
        return Err(std::io::Error::other("it is not a regular file; move it away"));
    }
    if meta.len() > MAX_SOURCE_BYTES {
        return Err(std::io::Error::other("it is too large; move it away"));
    }
    std::fs::read(path)
}

/// Reads the text of a file or a pipe, up to [`MAX_SOURCE_BYTES`].
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path);
    let read = file.and_then(|file| file.take(MAX_SOURCE_BYTES + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        return Err(match error.kind() {
            ErrorKind::NotFound => refused(path, "does not exist; check the path"),
            ErrorKind::IsADirectory => refused(path, "is a directory; give a file"),
            ErrorKind::PermissionDenied => {
                refused(path, "cannot be read: permission denied; check the file's permissions")
            }
            _ => refused(path, &format!("cannot be read: {error}")),
        });
    }
    if bytes.len() as u64 > MAX_SOURCE_BYTES {
        let why = format!("is too large: the maximum is {MAX_SOURCE_BYTES} bytes; split it");
        return Err(refused(path, &why));
    }
    String::from_utf8(bytes).map_err(|error| {
        let from = error.utf8_error().valid_up_to();
        refused(path, &format!("is not UTF-8 text (from byte {from}); save it as UTF-8"))
    })
}

/// Parses a JSON file, or a TOML file if its name ends in `.toml`. An empty file gives the default value.
pub(crate) fn structured<T: DeserializeOwned + Default>(path: &Path) -> Result<T, Failure> {
    let text = read(path)?;
    if text.trim().is_empty() {
        return Ok(T::default());
    }
    if path.extension().is_some_and(|end| end == "toml") {
        return toml::from_str(&text).map_err(|error| refused(path, &error.to_string()));
    }
    serde_json::from_str(&text).map_err(|error| {
        let hint = if error.is_data() { "" } else { "; expected JSON, or TOML if its name ends in .toml" };
        refused(path, &format!("{error}{hint}"))
    })
}
