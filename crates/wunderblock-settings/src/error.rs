//! The error of settings: what cannot be used, and why.

use std::path::{Path, PathBuf};
use wunderblock::Error;
use wunderblock_core::fence::plain_line;

/// Settings that cannot be used. A program that names its own options puts the variants into words of its own.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// An error of the engine.
    #[error(transparent)]
    Engine(#[from] Error),
    /// A file or a folder that cannot be used.
    #[error("{}: {why}", plain_line(&path.to_string_lossy()))]
    File {
        /// Its path, as it was given.
        path: PathBuf,
        /// Reason, and what to do.
        why: String,
    },
    /// A value that cannot be used.
    #[error("{0}")]
    Value(String),
    /// The working directory of a request cannot be used.
    #[error("{}", plain_line(.0))]
    Directory(String),
    /// Instruction files are wanted, but no working directory is given.
    #[error("instruction files and a scan require a working directory")]
    NoDirectory,
    /// The name of the model is empty.
    #[error("the name of the model is empty; leave it out to use the transcript's model")]
    EmptyModel,
    /// The writer of summaries cannot be used.
    #[error("the writer of summaries `{who}` cannot be used: {why}")]
    Summarizer {
        /// Its name, as it was given.
        who: String,
        /// Reason, and what to do.
        why: String,
    },
    /// The user has no home directory, which is needed to find the ledger.
    #[error("no home directory ({0}); give the path of the ledger")]
    NoHome(String),
    /// Nothing may be kept, because the settings are unusable and may name another ledger or tenant.
    #[error("{0}")]
    Unusable(String),
}

impl SettingsError {
    /// Creates an error for a named file that cannot be used.
    pub(crate) fn file(path: &Path, why: impl Into<String>) -> Self {
        Self::File { path: path.to_owned(), why: why.into() }
    }

    /// Creates an error for a value that cannot be used.
    pub(crate) fn value(text: impl Into<String>) -> Self {
        Self::Value(text.into())
    }
}
