//! What is said of a ledger and its sessions: an examination, their list, their summaries, what was read or erased of them.

use crate::doctor::diagnosis::Diagnosis;
use crate::erase::{Erased, TextFound};
use crate::graph::GraphNode;
use crate::read::Content;
use crate::store::{SourceInfo, StreamInfo};
use serde::Serialize;
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::units::{Bytes, Millis, Seq};

/// The outcome of an examination.
#[derive(Clone, Debug, Serialize)]
pub struct DiagnosisReport<'r> {
    /// Whether nothing is wrong.
    pub ok: bool,
    /// What was examined, and what was found.
    #[serde(flatten)]
    pub diagnosis: &'r Diagnosis,
}

/// A session.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SessionReport {
    /// Its id.
    pub session: StreamId,
    /// Its latest position.
    pub head: Seq,
    /// Its messages, those it shares with the session it forked from included.
    pub messages: u64,
    /// The length of its texts, likewise.
    pub text_bytes: Bytes,
    /// When it was opened.
    pub opened_at: Millis,
    /// When its latest event happened.
    pub updated_at: Millis,
    /// Where it forked from, if it did.
    pub forked_from: Option<ForkReport>,
    /// The session whose sub-agent it belongs to.
    pub parent: Option<StreamId>,
    /// Whether it was read from a file.
    pub imported: bool,
    /// Whether its import has not reached the end of the file.
    pub unfinished: bool,
    /// Its project.
    pub project: Option<String>,
    /// Its agent.
    pub agent: Option<String>,
    /// The files it was read from.
    pub sources: Vec<SourceReport>,
    /// The last position that the text index has reached.
    pub indexed: Seq,
}

/// Where a session forked from.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ForkReport {
    /// The session.
    pub session: StreamId,
    /// The last position they share.
    pub at_seq: Seq,
}

/// A file that a session was read from.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SourceReport {
    /// The file.
    pub path: String,
    /// The number of its revision, from 1.
    pub revision: u32,
    /// Reads its bytes.
    pub handle: Handle,
    /// How many bytes are kept.
    pub bytes: u64,
    /// Whether they are all.
    pub whole: bool,
}

/// The summaries of a session.
#[derive(Clone, Debug, Serialize)]
pub struct SummariesReport<'r> {
    /// The session.
    pub session: &'r StreamId,
    /// Its summaries.
    pub nodes: &'r [GraphNode],
}

/// What a handle names, or a part of it.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ContentReport<'r> {
    /// The handle, as it was given.
    pub handle: &'r str,
    /// The text. Bytes that are not UTF-8 are replaced.
    pub text: String,
    /// Its length in bytes.
    pub bytes: usize,
    /// The length of the whole in bytes.
    pub total_bytes: u64,
    /// The page, where one was asked for.
    pub page: Option<u64>,
    /// How many pages there are.
    pub pages: Option<u64>,
}

/// What was erased of a session.
#[derive(Clone, Debug, Serialize)]
pub struct EraseReport<'r> {
    /// The session.
    pub session: &'r StreamId,
    /// The first position of the range.
    pub from_seq: Seq,
    /// The last.
    pub to_seq: Seq,
    /// What was erased, and what was left.
    #[serde(flatten)]
    pub erased: &'r Erased,
}

/// What was erased of a text.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct EraseTextReport<'r> {
    /// Where it was.
    pub erased: &'r TextFound,
    /// Events that lost their content.
    pub events: u64,
    /// Bodies that were removed because nothing else held them.
    pub blobs: u64,
    /// Bytes of imported sources that were overwritten.
    pub source_bytes: Bytes,
    /// Where it is still, or again.
    pub left: &'r TextFound,
}

impl SessionReport {
    /// The report of a session, and of the [files it was read from](crate::originals).
    #[must_use]
    pub fn new(info: StreamInfo, sources: Vec<SourceInfo>) -> Self {
        let forked_from = info.fork.map(|(session, at_seq)| ForkReport { session, at_seq });
        Self {
            session: info.id,
            head: info.head,
            messages: info.messages,
            text_bytes: info.text,
            opened_at: info.opened_at,
            updated_at: info.updated_at,
            forked_from,
            parent: info.parent,
            imported: info.source.is_some(),
            unfinished: info.unfinished,
            project: info.scope.project,
            agent: info.scope.agent,
            sources: sources.into_iter().map(SourceReport::new).collect(),
            indexed: info.indexed,
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
    /// The report of what was read.
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
    /// The report of an erasure of what was found, and of what a second look still finds.
    #[must_use]
    pub fn new(found: &'r TextFound, erased: &Erased, left: &'r TextFound) -> Self {
        let Erased { events, blobs, source_bytes, .. } = *erased;
        Self { erased: found, events, blobs, source_bytes, left }
    }
}
