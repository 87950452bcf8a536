//! The error of lookups: why a text refers to no session.

use std::path::PathBuf;
use wunderblock::Error;
use wunderblock_core::id::StreamId;

/// A text that refers to no session, or to no single place. A program that names its own commands puts the variants
/// into words of its own.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// An error of the engine.
    #[error(transparent)]
    Engine(#[from] Error),
    /// The transcript contains no session.
    #[error("{0} contains no session")]
    Empty(String),
    /// The text looks like a path, but there is no such file, and no session of that name.
    #[error("no such file `{0}`")]
    NoFile(String),
    /// The transcript has not been imported.
    #[error("{0} has not been imported yet")]
    NotImported(String),
    /// The path is neither a file nor a folder. Opening it may block forever.
    #[error("{}: not a file, but a pipe, a socket or a device; import a file", .0.display())]
    Special(PathBuf),
    /// The file has no such conversation.
    #[error("unknown conversation `{wanted}` of {file}; give a number from 1 to {count}")]
    NoConversation {
        /// Selection, as it was given.
        wanted: String,
        /// Path of the file, as it was given.
        file: String,
        /// Number of conversations in the file.
        count: usize,
    },
    /// The text names a place within a text, where a session or a summary is needed.
    #[error("`{text}` is a place in the text {address}")]
    PlaceInText {
        /// Text, as it was given.
        text: String,
        /// Address of the text that holds the place.
        address: String,
    },
    /// The name is only the beginning of an id.
    #[error("`{name}` is only the beginning of {id}; give the whole id if you mean this session")]
    OnlyBeginning {
        /// Name, as it was given.
        name: String,
        /// Id that begins with it.
        id: StreamId,
        /// Short form of the id.
        short: String,
    },
}
