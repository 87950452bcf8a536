//! Serialisation of paths and formats.

use serde::Serializer;
use std::path::{Path, PathBuf};
use wunderblock_wire::transcript::Format;

/// Serialises a path as text. Bytes that are not UTF-8 are replaced, because the paths in a report are for reading,
/// not for opening files.
pub(crate) fn path<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&path.to_string_lossy())
}

/// Serialises a path as text, or as null if it is missing.
pub(crate) fn optional_path<S: Serializer>(found: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
    match found {
        Some(found) => path(found, to),
        None => to.serialize_none(),
    }
}

/// Serialises paths as texts.
pub(crate) fn paths<S: Serializer>(found: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(found.iter().map(|path| path.to_string_lossy()))
}

/// Serialises a format as its name.
pub(crate) fn format<S: Serializer>(format: &Format, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(format.name())
}
