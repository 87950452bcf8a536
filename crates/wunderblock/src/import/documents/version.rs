//! Stores versions of documents: the bytes of a file, and its sections as events.

use super::known::{DocumentName, KnownDocument};
use crate::base::error::Error;
use crate::histories::stamp::Stamp;
use crate::ledger::engine::{Engine, random, unexpected};
use crate::ledger::recording::record::pack;
use crate::limits::{DOCUMENT_BATCH, SOURCE_CHUNK};
use std::path::Path;
use wunderblock_core::document::{DocumentIndexed, DocumentRemoved, DocumentSection};
use wunderblock_core::event::{EventSource, Fact, NewEvent};
use wunderblock_core::id::{EventId, Handle, Scope};
use wunderblock_core::message::Body;
use wunderblock_core::units::{Millis, Seq};
use wunderblock_sources::documents::{DocumentText, SectionText};
use wunderblock_store::codec::{self, name_handle, revision_handle};
use wunderblock_store::{
    Begin, Commit, Opening, Owner, PackedChunk, PackedEvent, SourceNo, StoreError, StreamKind, Write, Written,
};

/// A version of a document, ready to be stored.
pub(super) struct Version {
    pub(super) path: String,
    name: DocumentName,
    format: &'static str,
    /// The source, once there is one.
    source: Option<SourceNo>,
    /// Number of the revision that holds the version, and whether it was begun.
    revision: u32,
    is_begun: bool,
    head: Seq,
    modified: Option<i64>,
    chunks: Vec<PackedChunk>,
    events: Vec<PackedEvent>,
}

/// A file that was read, with what is known of it.
pub(super) struct ReadDocument {
    pub(super) path: String,
    pub(super) known: Option<KnownDocument>,
    pub(super) bytes: Vec<u8>,
    pub(super) stamp: Stamp,
    /// Time at which the file was modified.
    pub(super) at: Millis,
}

impl Version {
    /// Prepares a version of a document of a scope.
    pub(super) fn of(
        engine: &Engine,
        scope: &Scope,
        read: ReadDocument,
        text: DocumentText,
    ) -> Result<Self, Error> {
        let ReadDocument { path, known, bytes, stamp, at } = read;
        let (key, name) = (&engine.tenant.key, DocumentName::of(engine, &path, scope)?);
        let number = known.as_ref().map(|known| known.source.no);
        let revision = known.as_ref().map_or(0, |known| known.source.revision.no) + 1;
        let head = known.and_then(|known| known.info).map_or(Seq::START, |info| info.head);
        let source = source_handle(engine, &name);
        let title = text.title.clone().unwrap_or_else(|| file_name(&path));
        let indexed = DocumentIndexed {
            path: path.as_str().into(),
            format: text.format.name().into(),
            title: title.into(),
            source,
            revision,
        };
        let mut facts = vec![(EventSource::Engine, Fact::DocumentIndexed(indexed))];
        facts.extend(text.sections.into_iter().map(|section| {
            let (offset, len) = (section.bytes.start, section.bytes.end.saturating_sub(section.bytes.start));
            (EventSource::Import { source, revision, offset, len }, section_fact(&path, section))
        }));
        let numbers = head.next().0..;
        let events = facts.into_iter().zip(numbers).map(|((source, fact), seq)| {
            let id = EventId::new(format!("{}@{seq}", fact.kind()))?;
            Ok(NewEvent { id, at, source, fact })
        });
        let events = pack(key, events.collect::<Result<_, Error>>()?)?;
        let offsets = (0..).step_by(SOURCE_CHUNK);
        let chunks = bytes.chunks(SOURCE_CHUNK).zip(offsets).map(|(part, at)| codec::pack_chunk(at, part));
        Ok(Self {
            path,
            name,
            format: text.format.name(),
            source: number,
            revision,
            is_begun: false,
            head,
            modified: stamp.modified,
            chunks: chunks.collect(),
            events,
        })
    }

    /// Returns the number of sections.
    pub(super) fn sections(&self) -> u64 {
        (self.events.len() as u64).saturating_sub(1)
    }

    /// Returns whether the document had no version before.
    pub(super) fn is_first(&self) -> bool {
        self.head == Seq::START
    }
}

fn source_handle(engine: &Engine, name: &DocumentName) -> Handle {
    name_handle(&engine.tenant.key, "source", &name.key)
}

fn file_name(path: &str) -> String {
    Path::new(path).file_name().map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}

fn section_fact(path: &str, section: SectionText) -> Fact {
    let headings = section.headings.join(" › ");
    Fact::DocumentSection(DocumentSection {
        path: path.into(),
        heading: (!headings.is_empty()).then_some(Body::Inline(headings)),
        lines: section.lines,
        page: section.page,
        text: Body::Inline(section.text),
    })
}

/// Stores versions, all or none. Of files that are new, the sources are made first, because the rest names their numbers.
pub(super) async fn store(engine: &Engine, scope: &Scope, versions: &mut [Version]) -> Result<(), Error> {
    let token: String = random::<16>()?.iter().map(|byte| format!("{byte:02x}")).collect();
    // Nobody waits for a revision that was begun: its writer is the first to append to the stream, or does not.
    let owner = Owner { token, until: engine.now() };
    let begins: Vec<Write> = new(versions).map(|version| begin(engine, version, &owner)).collect();
    if !begins.is_empty() {
        let begun = engine.storage.commit(Commit::raw(begins)).await?;
        for (version, written) in new(versions).zip(begun) {
            let Written::Source(source, _) = written else { return Err(unexpected()) };
            (version.source, version.is_begun) = (Some(source), true);
        }
    }
    let mut writes = Vec::new();
    for version in versions {
        let source = version.source.ok_or_else(unexpected)?;
        writes.extend((!version.is_begun).then(|| begin(engine, version, &owner)));
        writes.extend(version_writes(engine, scope, version, source, owner.clone()));
    }
    engine.storage.commit(Commit::raw(writes)).await?;
    Ok(())
}

/// Returns the versions whose sources do not exist yet.
fn new(versions: &mut [Version]) -> impl Iterator<Item = &mut Version> {
    versions.iter_mut().filter(|version| version.source.is_none())
}

fn begin(engine: &Engine, version: &Version, owner: &Owner) -> Write {
    let handle = source_handle(engine, &version.name);
    let own = revision_handle(&engine.tenant.key, handle, version.revision);
    Write::Source {
        tenant: engine.tenant.no,
        key: version.name.key.clone(),
        handle,
        format: version.format.to_owned(),
        begin: Begin::New { after: version.revision - 1, handle: own },
        owner: owner.clone(),
        now: engine.now(),
        takes_over: true,
    }
}

fn version_writes(
    engine: &Engine,
    scope: &Scope,
    version: &Version,
    source: SourceNo,
    owner: Owner,
) -> [Write; 5] {
    let (tenant, stream, revision) = (engine.tenant.no, version.name.stream.clone(), version.revision);
    let (token, chunks, events) = (owner.token.clone(), version.chunks.clone(), version.events.clone());
    [
        Write::Extend { source, revision, owner, from: 0, chunks, erased: Vec::new() },
        Write::Whole {
            source,
            revision,
            token,
            modified: version.modified,
            reader: None,
            leaf: Some(stream.clone()),
        },
        Write::Open {
            tenant,
            kind: StreamKind::Document,
            stream: stream.clone(),
            handle: engine.stream_handle(&stream),
            opening: Opening::New { parent: None },
            scope: scope.clone(),
            at: engine.now(),
        },
        Write::Append { tenant, stream: stream.clone(), expect_head: Some(version.head), events },
        Write::Link { tenant, stream, source, revision },
    ]
}

/// Returns whether another process has stored something else meanwhile.
pub(super) fn is_conflict(error: &Error) -> bool {
    matches!(
        error,
        Error::Store(
            StoreError::HeadMoved { .. }
                | StoreError::SourceMoved
                | StoreError::Disowned
                | StoreError::StreamExists(_)
                | StoreError::Conflict { .. }
        )
    )
}

/// Records that documents ended.
pub(super) async fn remove(engine: &Engine, known: &[KnownDocument]) -> Result<(), Error> {
    for share in known.chunks(DOCUMENT_BATCH) {
        let mut writes = Vec::new();
        for document in share {
            let Some(info) = &document.info else { continue };
            let fact =
                Fact::DocumentRemoved(DocumentRemoved { path: document.path.to_string_lossy().into() });
            let id = EventId::new(format!("{}@{}", fact.kind(), info.head.next()))?;
            let event = NewEvent { id, at: engine.now(), source: EventSource::Engine, fact };
            let events = pack(&engine.tenant.key, vec![event])?;
            let (tenant, stream) = (engine.tenant.no, info.id.clone());
            writes.push(Write::Append { tenant, stream, expect_head: Some(info.head), events });
        }
        engine.storage.commit(Commit::raw(writes)).await?;
    }
    Ok(())
}
