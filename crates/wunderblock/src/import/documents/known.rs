//! What the ledger knows of documents.

use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::reading::lineage::{ask_streams, take_streams};
use crate::ledger::reading::query_batch::QueryBatch;
use serde::Serialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use wunderblock_core::document::DocumentRemoved;
use wunderblock_core::id::{Scope, StreamId};
use wunderblock_store::codec::name_handle;
use wunderblock_store::{Answer, Query, SourceFilter, SourceInfo, StreamFilter, StreamInfo, StreamKind};

/// Beginning of the names of sources that hold documents.
const KEYS: &str = "document:";

/// A document that was indexed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KnownDocument {
    /// Path of the file.
    pub path: PathBuf,
    /// Title of the current version.
    pub title: Option<Box<str>>,
    /// User and project for which it was indexed.
    pub scope: Scope,
    #[serde(skip)]
    pub(super) name: DocumentName,
    #[serde(skip)]
    pub(super) source: SourceInfo,
    #[serde(skip)]
    pub(super) info: Option<StreamInfo>,
}

impl KnownDocument {
    /// Returns whether search finds the document.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.info.as_ref().is_some_and(|info| !info.tags.iter().any(|tag| **tag == *DocumentRemoved::TAG))
    }

    /// Returns the stream of the document.
    pub(crate) fn stream(&self) -> &StreamId {
        &self.name.stream
    }

    /// Returns whether all bytes of the newest revision were erased.
    pub(super) fn is_erased(&self) -> bool {
        let revision = &self.source.revision;
        let mut ranges = revision.erased.clone();
        ranges.sort_unstable();
        // Ranges may overlap.
        let reach = |end: u64, (from, to): (u64, u64)| if from <= end { end.max(to) } else { end };
        revision.len > 0 && ranges.into_iter().fold(0, reach) >= revision.len
    }
}

/// Name of a document: the key of its source, and the id of its stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DocumentName {
    pub(super) key: String,
    pub(super) stream: StreamId,
}

impl DocumentName {
    /// Returns the name of a path in a scope.
    pub(super) fn of(engine: &Engine, path: &str, scope: &Scope) -> Result<Self, Error> {
        Self::from_key(engine, format!("{KEYS}{path}#{}", scope_tag(engine, scope)))
    }

    fn from_key(engine: &Engine, key: String) -> Result<Self, Error> {
        let stream =
            StreamId::new(format!("document-{:016x}", name_handle(&engine.tenant.key, "document", &key).0))?;
        Ok(Self { key, stream })
    }

    /// Returns whether the document belongs to a scope.
    pub(super) fn is_of(&self, engine: &Engine, scope: &Scope) -> bool {
        self.key.ends_with(&format!("#{}", scope_tag(engine, scope)))
    }
}

/// Returns the name of a source as a person knows it: of a document, the path of its file.
pub(crate) fn shown_key(key: &str) -> &str {
    key.strip_prefix(KEYS).and_then(|rest| rest.rsplit_once('#')).map_or(key, |(path, _)| path)
}

fn scope_tag(engine: &Engine, scope: &Scope) -> String {
    let part = |part: Option<&String>| part.map_or("-".to_owned(), |part| format!("+{part}"));
    // The project of a folder can change, as when it gets a remote, and the document stays the same.
    let place = scope.folder.as_ref().or(scope.project.as_ref());
    let whole = format!("{}\0{}", part(scope.user.as_ref()), part(place));
    format!("{:016x}", name_handle(&engine.tenant.key, "scope", &whole).0)
}

/// Returns the documents at a resolved path: of a file itself, and of a folder those below it.
pub(super) async fn documents_at(engine: &Engine, path: &Path) -> Result<Vec<KnownDocument>, Error> {
    let (tenant, mut batch) = (engine.tenant.no, QueryBatch::default());
    let filter =
        SourceFilter { prefix: format!("{KEYS}{}", path.to_string_lossy()), ..SourceFilter::default() };
    let sources = batch.ask(Query::Sources { tenant, filter }, Answer::sources);
    let streams = ask_streams(&mut batch, tenant, &[StreamKind::Document], &StreamFilter::default());
    let mut answers = engine.ask_all(batch).await?;
    let sources = answers.take(sources)?;
    let streams = take_streams(&mut answers, streams)?.into_iter().map(|info| (info.id.clone(), info));
    let mut streams: HashMap<StreamId, StreamInfo> = streams.collect();
    let mut known = Vec::new();
    for source in sources {
        let name = DocumentName::from_key(engine, source.key.clone())?;
        let path = Some(PathBuf::from(shown_key(&name.key))).filter(|own| own.starts_with(path));
        let Some(path) = path else { continue };
        let info = streams.remove(&name.stream);
        let (title, scope) =
            info.as_ref().map(|info| (info.title.clone(), info.scope.clone())).unwrap_or_default();
        known.push(KnownDocument { path, title, scope, name, source, info });
    }
    Ok(known)
}
