//! How paths and formats are serialised.

use serde::Serializer;
use std::path::{Path, PathBuf};
use wunderblock_wire::transcript::Format;

/// A path as text. What is not UTF-8 in it is replaced: a report is read, not opened.
pub(crate) fn path<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&path.to_string_lossy())
}

/// The same; null for none.
pub(crate) fn optional_path<S: Serializer>(found: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
    match found {
        Some(found) => path(found, to),
        None => to.serialize_none(),
    }
}

/// The name of a format.
pub(crate) fn format<S: Serializer>(format: &Format, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(format.name())
}
