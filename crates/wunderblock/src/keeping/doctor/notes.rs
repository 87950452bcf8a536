//! Notes about sessions that are worth knowing but are not problems.

use super::diagnosis::PAGE_TEXT;
use crate::base::error::Error;
use crate::import::transcripts::known::known_events;
use crate::ledger::engine::Engine;
use crate::ledger::reading::lineage::native;
use crate::ledger::reading::originals::source_info;
use crate::ledger::reading::stored::with_whole_texts;
use crate::recall::catch_up::is_made_by;
use crate::rules::embedder::Embedder;
use std::collections::{BTreeMap, HashSet};
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::stub::grouped;
use wunderblock_core::units::Seq;
use wunderblock_index::VectorHeader;
use wunderblock_store::{StreamInfo, codec};

/// Returns notes about a session. These notes state whether the session's import was interrupted, and whether an
/// earlier version created the session from a copied file.
pub(super) async fn notes_on(
    engine: &Engine,
    info: &StreamInfo,
    streams: &[StreamInfo],
) -> Result<Vec<String>, Error> {
    let mut notes = Vec::new();
    if info.unfinished {
        let path = match info.source {
            Some((source, revision)) => source_info(engine, source, Some(revision)).await?.key,
            None => String::new(),
        };
        notes.push(format!("session {}: import unfinished; another import of {path} continues it", info.id));
    }
    let of = streams.iter().find(|other| {
        other.id.as_str() == native(&info.id) && info.fork.is_none() && info.id.as_str().contains('@')
    });
    if let Some(of) = of
        && says_the_same(engine, info, of).await?
    {
        notes.push(format!(
            "session {} holds records of {of}: an earlier version created it from a copied file. Both are one session: \
             continue with {of}, which imports add to; erasing {of} with its copies erases both",
            info.id,
            of = of.id
        ));
    }
    Ok(notes)
}

/// Which model embedded how many passages.
pub(super) struct VectorCoverage<'e> {
    embedder: Option<&'e Embedder>,
    /// Streams whose texts the embedder may get.
    chosen: HashSet<u32>,
    /// Number of passages by the name of their model.
    passages: BTreeMap<String, u64>,
    /// Whether a model other than the table made some.
    has_others: bool,
    /// Number of passages that wait for the embedder.
    waiting: usize,
}

impl<'e> VectorCoverage<'e> {
    pub(super) fn of(engine: &'e Engine, streams: &[StreamInfo]) -> Self {
        let embedder = engine.config.embedder.as_deref();
        let is_chosen = |info: &&StreamInfo| embedder.is_some_and(|embedder| embedder.is_for(&info.scope));
        let chosen = streams.iter().filter(is_chosen).map(|info| info.no.0).collect();
        Self { embedder, chosen, passages: BTreeMap::new(), has_others: false, waiting: 0 }
    }

    /// Adds the passages of a segment.
    pub(super) fn add(&mut self, header: &VectorHeader) {
        *self.passages.entry(header.model().to_owned()).or_default() += header.keys().len() as u64;
        self.has_others |= !is_made_by(header, None);
        if self.embedder.is_some_and(|embedder| !is_made_by(header, Some(embedder))) {
            let own = header.keys().iter().filter(|key| self.chosen.contains(&key.doc.stream));
            self.waiting += own.count();
        }
    }

    /// Returns what is worth knowing if a model other than the table is used. Asks the embedder whether it answers.
    pub(super) fn notes(self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.embedder.is_some() || self.has_others {
            let each = self.passages.iter().map(|(model, count)| format!("{} by `{model}`", grouped(*count)));
            notes.push(format!("vectors of passages: {}", each.collect::<Vec<_>>().join(", ")));
        }
        let Some(embedder) = self.embedder else { return notes };
        let (model, waiting) = (embedder.model(), grouped(self.waiting as u64));
        // Without a chosen scope, nothing is sent.
        if self.chosen.is_empty() {
            notes
                .push(format!("the embedder `{model}` is not used: no session or document is in its scopes"));
        } else if let Err(failure) = embedder.probe() {
            notes.push(format!(
                "the embedder `{model}` fails: {failure}; {waiting} passages wait for it with the vectors that they have"
            ));
        } else if self.waiting > 0 {
            notes.push(format!("{waiting} passages wait for the embedder `{model}`"));
        }
        notes
    }
}

/// Returns notes about copies of the ledger that have erased content.
#[cfg(feature = "sqlite")]
pub(super) async fn notes_on_copies(engine: &Engine) -> Result<Vec<String>, Error> {
    let outdated = engine.ledger().outdated_copies().await?;
    let note = |path: &std::path::PathBuf| {
        format!(
            "{} has content that was erased since, or cannot be read: repeat the erasure with its copies, or delete the \
             file",
            path.display()
        )
    };
    Ok(outdated.iter().map(note).collect())
}

/// Returns whether one of the first messages of a session also exists in another session, with the same id and
/// content.
async fn says_the_same(engine: &Engine, info: &StreamInfo, of: &StreamInfo) -> Result<bool, Error> {
    let first = engine.session_by_id(info.id.clone()).events(Seq(1), info.head, 64, PAGE_TEXT).await?;
    let is_message = |event: &Event| matches!(event.fact, Some(Fact::MessageAppended(_)));
    let said = with_whole_texts(engine, first.into_iter().filter(is_message).collect()).await?;
    let ids: Vec<_> = said.iter().map(|event| event.id.clone()).collect();
    for (event, known) in said.iter().zip(known_events(engine, &of.id, &ids).await?) {
        let (Some(fact), Some(known)) = (&event.fact, known) else { continue };
        let content = codec::content_hash(fact)?;
        if known.proof.is_some_and(|(salt, proof)| codec::commitment(&salt, &content) == proof) {
            return Ok(true);
        }
    }
    Ok(false)
}
