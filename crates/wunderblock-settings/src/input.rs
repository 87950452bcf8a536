//! Reads named files and pipes, with a size limit and with errors that say what is wrong.

use crate::error::SettingsError;
use serde::de::DeserializeOwned;
use std::io::{ErrorKind, Read};
use std::path::Path;
use wunderblock::sources::MAX_SOURCE_BYTES;

/// Reads a file that nobody named in this call. A pipe or a device in its place would block, or never end.
///
/// # Errors
/// Fails if there is no regular file at the path, or if it is larger than [`MAX_SOURCE_BYTES`].
pub fn read_usual(path: &Path) -> std::io::Result<Vec<u8>> {
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
///
/// # Errors
/// Fails if the path cannot be read, or if its content is too large or not UTF-8.
pub fn read(path: &Path) -> Result<String, SettingsError> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path);
    let read = file.and_then(|file| file.take(MAX_SOURCE_BYTES + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        return Err(match error.kind() {
            ErrorKind::NotFound => SettingsError::file(path, "does not exist; check the path"),
            ErrorKind::IsADirectory => SettingsError::file(path, "is a directory; give a file"),
            ErrorKind::PermissionDenied => {
                SettingsError::file(path, "cannot be read: permission denied; check the file's permissions")
            }
            _ => SettingsError::file(path, format!("cannot be read: {error}")),
        });
    }
    if bytes.len() as u64 > MAX_SOURCE_BYTES {
        let why = format!("is too large: the maximum is {MAX_SOURCE_BYTES} bytes; split it");
        return Err(SettingsError::file(path, why));
    }
    String::from_utf8(bytes).map_err(|error| {
        let from = error.utf8_error().valid_up_to();
        SettingsError::file(path, format!("is not UTF-8 text (from byte {from}); save it as UTF-8"))
    })
}

/// Parses a JSON file, or a TOML file if its name ends in `.toml`. An empty file gives the default value.
pub(crate) fn structured<T: DeserializeOwned + Default>(path: &Path) -> Result<T, SettingsError> {
    let text = read(path)?;
    if text.trim().is_empty() {
        return Ok(T::default());
    }
    if path.extension().is_some_and(|end| end == "toml") {
        return toml::from_str(&text).map_err(|error| SettingsError::file(path, error.to_string()));
    }
    serde_json::from_str(&text).map_err(|error| {
        let hint = if error.is_data() { "" } else { "; expected JSON, or TOML if its name ends in .toml" };
        SettingsError::file(path, format!("{error}{hint}"))
    })
}
