//! What a lookup asks of the program that it runs in.

use super::error::FindError;
use std::path::Path;
use wunderblock::store::StreamInfo;
use wunderblock::{BoxFuture, Engine, Imported};
use wunderblock_core::id::StreamId;

/// Something that a person who named a session should know.
#[derive(Debug)]
pub enum LookupNotice<'a> {
    /// A name is that of a session and of a file; the session is used.
    HidesFile {
        /// The name.
        name: &'a str,
        /// Id of the session.
        id: &'a StreamId,
    },
    /// The transcript has grown, but the ledger cannot be written: the session is read as it was imported.
    Outdated,
    /// A file of a folder is skipped.
    Skipped(FindError),
}

/// The conversations of a file of which none was named.
#[derive(Clone, Copy, Debug)]
pub struct Conversations<'a> {
    /// Path of the file, as it was given.
    pub file: &'a str,
    /// All conversations, in the order of the file.
    pub all: &'a [StreamInfo],
    /// Index of the conversation that is used.
    pub chosen: usize,
}

/// A program that looks up sessions. The methods as they are here import without showing progress, and tell nothing.
pub trait LookupHost: Sync {
    /// Imports a transcript that was named by its path.
    fn import<'a>(&'a self, engine: &'a Engine, path: &'a Path) -> BoxFuture<'a, Imported> {
        Box::pin(async move { engine.import(path, None, &mut |_, _| {}).await })
    }

    /// Tells which conversation of a file is used, and how to name another.
    fn list<'a>(&'a self, engine: &'a Engine, found: Conversations<'a>) -> BoxFuture<'a, ()> {
        let _ = (engine, found);
        Box::pin(async { Ok(()) })
    }

    /// Tells a person something that is not an error.
    fn tell(&self, notice: LookupNotice<'_>) {
        drop(notice);
    }
}
