//! Reports about a ledger and its sessions: diagnosis, list of sessions, summaries, reads, erasures.

use crate::base::lossy;
use crate::import::documents::KnownDocument;
use crate::keeping::doctor::diagnosis::Diagnosis;
use crate::keeping::erase::{Erased, TextFound};
use crate::machine::Resume;
use crate::recall::read::Content;
use crate::recall::summary_graph::GraphNode;
use serde::Serialize;
use std::path::PathBuf;
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};
use wunderblock_store::{DerivedTable, SourceInfo, StreamInfo};

/// Result of examining a ledger.
#[derive(Clone, Debug, Serialize)]
pub struct DiagnosisReport<'r> {
    /// Whether the examination found no errors.
    pub ok: bool,
    /// Objects that were examined, and the findings.
    #[serde(flatten)]
    pub diagnosis: &'r Diagnosis,
}

/// A session.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SessionReport {
    /// Id of the session.
    pub session: StreamId,
    /// Latest position of the session.
    pub head: Seq,
    /// Number of messages, including those shared with the session that this one was forked from.
    pub messages: u64,
    /// Size of all texts in bytes, including those shared with the session that this one was forked from.
    pub text_bytes: Bytes,
    /// Time at which the session was opened.
    pub opened_at: Millis,
    /// Time of the latest event.
    pub updated_at: Millis,
    /// Fork point, if the session is a fork.
    pub forked_from: Option<ForkReport>,
    /// Parent session, if the session belongs to a sub-agent.
    pub parent: Option<StreamId>,
    /// Whether the session was imported from a file.
    pub imported: bool,
    /// Whether the import has not reached the end of the file yet.
    pub unfinished: bool,
    /// Time of the latest message.
    pub said_at: Millis,
    /// Title that was given to the session.
    pub title: Option<Box<str>>,
    /// Tags of the session.
    pub tags: Vec<Box<str>>,
    /// User of the session.
    pub user: Option<String>,
    /// Project of the session: the remote or the path of the repository in which the agent worked, or its folder.
    pub project: Option<String>,
    /// Folder from which the project was found.
    pub folder: Option<String>,
    /// Branch of the repository.
    pub branch: Option<Box<str>>,
    /// Model of the latest reply.
    pub model: Option<Box<str>>,
    /// Tokens (o200k) of the session's own messages; `null` until they are counted.
    pub tokens: Option<Tokens>,
    /// How to continue the session in its agent.
    pub resume: Option<Resume>,
    /// Agent of the session.
    pub agent: Option<String>,
    /// Files from which the session was imported.
    pub sources: Vec<SourceReport>,
    /// Last position in the text index.
    pub indexed: Seq,
}

/// Fork point of a session.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ForkReport {
    /// Id of the session that was forked.
    pub session: StreamId,
    /// Last position that both sessions share.
    pub at_seq: Seq,
}

/// A file from which a session was imported.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SourceReport {
    /// Path of the file.
    pub path: String,
    /// Number of the file's revision, counted from 1.
    pub revision: u32,
    /// Handle for reading the file's bytes.
    pub handle: Handle,
    /// Number of bytes that are kept.
    pub bytes: u64,
    /// Whether all bytes of the file are kept.
    pub whole: bool,
}

/// The summaries of a session.
#[derive(Clone, Debug, Serialize)]
pub struct SummariesReport<'r> {
    /// Id of the session.
    pub session: &'r StreamId,
    /// Summaries, as nodes of the graph.
    pub nodes: &'r [GraphNode],
}

/// All or part of the content that a handle names.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ContentReport<'r> {
    /// Handle as the caller gave it.
    pub handle: &'r str,
    /// The text. Bytes that are not UTF-8 are replaced.
    pub text: String,
    /// Length of this content in bytes.
    pub bytes: usize,
    /// Length of the whole content in bytes.
    pub total_bytes: u64,
    /// Number of the page, if a page was requested.
    pub page: Option<u64>,
    /// Number of pages, if a page was requested.
    pub pages: Option<u64>,
}

/// Result of erasing positions of a session.
#[derive(Clone, Debug, Serialize)]
pub struct EraseReport<'r> {
    /// Id of the session.
    pub session: &'r StreamId,
    /// First position of the range.
    pub from_seq: Seq,
    /// Last position of the range.
    pub to_seq: Seq,
    /// Content that was erased, and content that was left.
    #[serde(flatten)]
    pub erased: &'r Erased,
    /// Copies of the ledger that still have some of the content.
    #[serde(serialize_with = "lossy::paths")]
    pub files_left: &'r [PathBuf],
}

/// Result of erasing documents.
#[derive(Clone, Debug, Serialize)]
pub struct EraseDocumentsReport<'r> {
    /// The documents, as they were.
    pub documents: &'r [KnownDocument],
    /// Content that was erased.
    #[serde(flatten)]
    pub erased: &'r Erased,
    /// Copies of the ledger that still have some of the content.
    #[serde(serialize_with = "lossy::paths")]
    pub files_left: &'r [PathBuf],
}

/// Result of erasing a text.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct EraseTextReport<'r> {
    /// Places where the text was found.
    pub erased: &'r TextFound,
    /// Number of events that lost their content.
    pub events: u64,
    /// Number of bodies that were removed because nothing else refers to them.
    pub blobs: u64,
    /// Number of bytes overwritten in imported sources.
    pub source_bytes: Bytes,
    /// Places where the text is still found after the erasure.
    pub left: &'r TextFound,
    /// Copies of the ledger that still have the text.
    #[serde(serialize_with = "lossy::paths")]
    pub files_left: &'r [PathBuf],
}

impl SessionReport {
    /// Creates the report of a session and of the files it was imported from.
    #[must_use]
    pub fn new(info: StreamInfo, sources: Vec<SourceInfo>, resume: Option<Resume>) -> Self {
        let is_counted = !info.is_behind(DerivedTable::Counts);
        let indexed = info.reach(DerivedTable::Words);
        let forked_from = info.fork.map(|(session, at_seq)| ForkReport { session, at_seq });
        Self {
            session: info.id,
            head: info.head,
            messages: info.messages,
            text_bytes: info.text,
            opened_at: info.opened_at,
            updated_at: info.updated_at,
            said_at: info.said_at,
            title: info.title,
            tags: info.tags,
            branch: info.branch,
            model: info.model,
            tokens: is_counted.then_some(info.tokens),
            resume,
            forked_from,
            parent: info.parent,
            imported: info.source.is_some(),
            unfinished: info.unfinished,
            user: info.scope.user,
            project: info.scope.project,
            folder: info.scope.folder,
            agent: info.scope.agent,
            sources: sources.into_iter().map(SourceReport::new).collect(),
            indexed,
        }
    }
}

impl SourceReport {
    fn new(source: SourceInfo) -> Self {
        let revision = source.revision;
        Self {
            path: source.key,
            revision: revision.no,
            handle: revision.handle,
            bytes: revision.len,
            whole: revision.whole,
        }
    }
}

impl<'r> ContentReport<'r> {
    /// Creates the report of content that was read.
    #[must_use]
    pub fn new(handle: &'r str, content: &Content) -> Self {
        Self {
            handle,
            text: String::from_utf8_lossy(&content.bytes).into_owned(),
            bytes: content.bytes.len(),
            total_bytes: content.total,
            page: content.page.map(|(page, _)| page),
            pages: content.page.map(|(_, pages)| pages),
        }
    }
}

impl<'r> EraseTextReport<'r> {
    /// Creates the report of an erased text, with the result of a second search for it.
    #[must_use]
    pub fn new(
        found: &'r TextFound,
        erased: &Erased,
        left: &'r TextFound,
        files_left: &'r [PathBuf],
    ) -> Self {
        let Erased { events, blobs, source_bytes, .. } = *erased;
        Self { erased: found, events, blobs, source_bytes, left, files_left }
    }
}
