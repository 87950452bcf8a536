//! Documents that a person adds: files whose text search finds beside sessions.
//!
//! ```text
//! path ─► files ─► length and time as stored? ─► bytes as stored? ─► text, sections ─► one commit per batch
//!           │            unchanged                  unchanged        not a document: skipped, and removed if it was one
//!           └ what is known and was not found: removed
//! ```
//! A document is a path in a scope. Its stream has the sections of each version, and its source the bytes.

mod indexing;
pub(crate) mod known;
mod version;

pub use indexing::{IndexedDocuments, SkippedDocument};
pub use known::KnownDocument;

use crate::base::apart::{apart, with_progress};
use crate::base::error::{Error, file_error};
use crate::base::future::BoxFuture;
use crate::base::progress::Progress;
use crate::ledger::engine::Engine;
use indexing::Indexing;
use known::documents_at;
use std::path::{Path, PathBuf};
use version::remove;
use wunderblock_core::id::Scope;

/// Documents of a ledger. See [`Engine::documents`].
#[derive(Clone, Debug)]
pub struct Documents {
    pub(crate) engine: Engine,
}

impl Engine {
    /// Returns the handle for documents: adding files, and removing them.
    #[must_use]
    pub fn documents(&self) -> Documents {
        Documents { engine: self.clone() }
    }
}

impl Documents {
    /// Adds files and folders to a scope, and brings what is known of them up to date. Only files that changed are read.
    /// `progress` counts files.
    ///
    /// # Errors
    /// Fails if a path does not exist, or if the ledger cannot be written. Files that are not documents are skipped.
    pub fn index<'a>(
        &self,
        paths: &[PathBuf],
        scope: &Scope,
        progress: &'a mut (dyn FnMut(Progress) + Send),
    ) -> BoxFuture<'a, IndexedDocuments> {
        let (engine, paths, scope) = (self.engine.clone(), paths.to_vec(), scope.clone());
        with_progress(progress, move |progress| {
            Box::pin(async move {
                let resolve =
                    |path: &PathBuf| dunce::canonicalize(path).map_err(|error| file_error(path, &error));
                let roots: Vec<PathBuf> = paths.iter().map(resolve).collect::<Result<_, _>>()?;
                Indexing::new(&engine, scope, progress).run(&roots).await
            })
        })
    }

    /// Removes the documents at a path, in all scopes: a file, or a folder with what is below it. Search no longer finds
    /// them; they stay readable by their handles until they are erased. Returns those that were removed.
    ///
    /// # Errors
    /// Fails if there is no document at the path, or if the ledger cannot be written.
    pub fn unindex<'a>(&self, path: &Path) -> BoxFuture<'a, Vec<KnownDocument>> {
        let (documents, path) = (self.clone(), path.to_owned());
        Box::pin(apart(move || async move {
            let mut known = documents.at(&path).await?;
            known.retain(KnownDocument::is_current);
            remove(&documents.engine, &known).await?;
            Ok(known)
        }))
    }

    /// Returns the documents at a path, in all scopes, also those that were removed. The path need not exist any more.
    ///
    /// # Errors
    /// Fails if there is no document at the path, or if the ledger cannot be read.
    pub fn at<'a>(&self, path: &Path) -> BoxFuture<'a, Vec<KnownDocument>> {
        let (engine, path) = (self.engine.clone(), path.to_owned());
        Box::pin(async move {
            let resolved = dunce::canonicalize(&path).or_else(|_| std::path::absolute(&path));
            let resolved = resolved.map_err(|error| file_error(&path, &error))?;
            let known = documents_at(&engine, &resolved).await?;
            if known.is_empty() {
                return Err(Error::NoDocument(path.display().to_string()));
            }
            Ok(known)
        })
    }
}
