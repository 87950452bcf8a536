//! Erasing a text wherever it occurs: in messages, summaries, requests, branches and imported files.

use super::erase_runs;
use super::erased::Erased;
use super::forget::Forgetting;
use super::loss::{Depth, Raw, contains};
use crate::base::apart::{apart, with_progress};
use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::import::documents::known::shown_key;
use crate::import::records::find::{Needle, RecordHit, RecordQuery, find_records};
use crate::ledger::engine::Engine;
use crate::ledger::reading::lineage::{Streams, native};
use crate::ledger::reading::originals::list_revisions;
use crate::ledger::reading::stored::with_whole_texts;
use crate::limits::ERASE_TEXT_MIN;
use crate::recall::catch_up::Progress;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::units::{Millis, Seq};
use wunderblock_store::StreamInfo;

/// Places where a text occurs in the ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TextFound {
    #[serde(skip)]
    text: Box<str>,
    /// Events that contain the text.
    pub events: Vec<TextPlace>,
    /// Records of imported files that contain the text.
    pub originals: Vec<TextRecord>,
    /// Descriptions of those names of sessions, files and folders that contain the text. Erasing keeps names.
    pub names: Vec<String>,
}

/// An event that contains a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TextPlace {
    /// Session of the event.
    pub session: StreamId,
    /// Position of the event.
    pub seq: Seq,
    /// Time of the event.
    pub at: Millis,
    /// Kind of the event: `message.appended`, `session.compacted`, `context.built` and so on.
    pub kind: Box<str>,
    /// Path of the file, if the event is a section of a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<Box<str>>,
    /// Branches and other sessions that share the event with this session.
    pub shown_in: Vec<StreamId>,
}

/// A record of an imported file that contains a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TextRecord {
    /// Path of the file.
    pub path: String,
    /// Handle under which the imported file is read.
    pub handle: Handle,
    /// Offset of the record's first byte in the file.
    pub from: u64,
    /// Offset one past the record's last byte.
    pub to: u64,
    #[serde(skip)]
    hit: RecordHit,
}

async fn find_text(
    engine: &Engine,
    text: &str,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<TextFound, Error> {
    if text.len() < ERASE_TEXT_MIN {
        return Err(Error::Query(format!(
            "the text has {} bytes, and the minimum is {ERASE_TEXT_MIN}: a shorter text occurs in too many places",
            text.len()
        )));
    }
    let needle = Needle::new(text);
    let mut found = TextFound { text: text.into(), ..TextFound::default() };
    let mut streams = engine.every_stream().await?;
    streams.sort_unstable_by(|a, b| a.id.cmp(&b.id));
    let total = streams.iter().map(|info| own(info).1).sum();
    let mut done = 0;
    for info in &streams {
        find_in_stream(engine, info, &needle, &mut found, &mut |events| {
            done += events;
            progress(Progress { done, total });
        })
        .await?;
    }
    let all = Streams::new(&streams);
    let mut shown: BTreeMap<&StreamId, Vec<(&StreamId, Seq)>> = BTreeMap::new();
    let holders: BTreeSet<StreamId> = found.events.iter().map(|place| place.session.clone()).collect();
    for info in streams.iter().filter(|_| !holders.is_empty()) {
        let shared = all.line(info, Seq::START).into_iter().skip(1);
        for (holder, _, to) in shared.filter(|(holder, ..)| holders.contains(&holder.id)) {
            shown.entry(&holder.id).or_default().push((&info.id, to));
        }
    }
    for place in &mut found.events {
        let others = shown.get(&place.session).into_iter().flatten();
        let others = others.filter(|(_, to)| place.seq <= *to);
        place.shown_in = others.map(|(id, _)| (*id).clone()).collect();
    }
    for source in list_revisions(engine).await? {
        let path = shown_key(&source.key).to_owned();
        if needle.is_in(path.as_bytes()) {
            found.names.push(format!("the path {path}"));
        }
        let handle = source.revision.handle;
        let wanted = RecordQuery { text: Some(needle.clone()), ..RecordQuery::default() };
        for hit in find_records(engine, source, wanted).await? {
            let (path, from, to) = (path.clone(), hit.span.offset, hit.span.offset + hit.span.len);
            found.originals.push(TextRecord { path, handle, from, to, hit });
        }
    }
    found.names.sort_unstable();
    found.names.dedup();
    Ok(found)
}

async fn erase_text(found: &TextFound, engine: &Engine, reason: Option<&str>) -> Result<Erased, Error> {
    let needle = Needle::new(&found.text);
    let mut by_session: BTreeMap<&str, Raw> = BTreeMap::new();
    for TextRecord { hit, .. } in &found.originals {
        by_session.entry(&hit.session).or_default().take(&engine.tenant.key, hit);
    }
    let mut sum = Erased::default();
    for (stream, runs) in found.runs() {
        let raw = by_session.remove(native(stream)).unwrap_or_default();
        let (session, depth) = (engine.session_by_id(stream.clone()), Depth::Names(&needle));
        sum.add(erase_runs(&session, &runs, reason, raw, depth).await?);
    }
    // Titles, queues and the like are not part of any event, so no session can get a receipt for them.
    for (_, raw) in by_session {
        let forgetting = Forgetting {
            engine,
            session: None,
            own: BTreeSet::new(),
            runs: Vec::new(),
            losses: Vec::new(),
            wanted: RecordQuery::default(),
            raw,
            reason,
        };
        sum.add(forgetting.run().await?);
    }
    engine.scrubbed().await?;
    Ok(sum)
}

impl TextFound {
    /// Returns whether there is nothing to erase.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty() && self.originals.is_empty()
    }

    /// Finds every exact occurrence of a text, in all sessions.
    ///
    /// # Errors
    /// Fails if the text is shorter than [`ERASE_TEXT_MIN`], or if the ledger cannot be read.
    pub fn of<'a>(
        engine: &'a Engine,
        text: &'a str,
        progress: &'a mut (dyn FnMut(Progress) + Send),
    ) -> BoxFuture<'a, Self> {
        let (engine, text) = (engine.clone(), text.to_owned());
        with_progress(progress, move |progress| {
            Box::pin(async move { find_text(&engine, &text, progress).await })
        })
    }

    /// Erases the found places as [`crate::Session::erase`] does: whole events, and their records in every file.
    /// Searching for the text again shows what remains.
    ///
    /// # Errors
    /// Fails in the same cases as [`crate::Session::erase`].
    pub fn erase<'a>(&'a self, engine: &'a Engine, reason: Option<&'a str>) -> BoxFuture<'a, Erased> {
        let (found, engine, reason) = (self.clone(), engine.clone(), reason.map(str::to_owned));
        Box::pin(apart(move || async move { erase_text(&found, &engine, reason.as_deref()).await }))
    }

    /// Groups the found positions of each session into runs.
    fn runs(&self) -> BTreeMap<&StreamId, Vec<(Seq, Seq)>> {
        let mut runs: BTreeMap<&StreamId, Vec<(Seq, Seq)>> = BTreeMap::new();
        for place in &self.events {
            let runs = runs.entry(&place.session).or_default();
            match runs.last_mut().filter(|(_, to)| to.next() == place.seq) {
                Some((_, to)) => *to = place.seq,
                None => runs.push((place.seq, place.seq)),
            }
        }
        runs
    }
}

async fn find_in_stream(
    engine: &Engine,
    info: &StreamInfo,
    needle: &Needle,
    found: &mut TextFound,
    read: &mut (dyn FnMut(u64) + Send),
) -> Result<(), Error> {
    if needle.is_in(info.id.as_str().as_bytes()) {
        found.names.push(format!("the session {}", info.id));
    }
    let session = engine.session_by_id(info.id.clone());
    let mut pages = session.pages(own(info).0, info.head);
    while let Some(events) = pages.next().await? {
        read(events.len() as u64);
        for event in readable(engine, events).await? {
            if !holds(&event, needle)? {
                continue;
            }
            found.events.push(TextPlace {
                session: info.id.clone(),
                seq: event.seq,
                at: event.at,
                kind: event.fact.as_ref().map_or("", Fact::kind).into(),
                path: match &event.fact {
                    Some(Fact::DocumentSection(section)) => Some(section.path.clone()),
                    _ => None,
                },
                shown_in: Vec::new(),
            });
        }
    }
    Ok(())
}

/// Returns events with their texts, without those that are erased at the same time.
async fn readable(engine: &Engine, events: Vec<Event>) -> Result<Vec<Event>, Error> {
    match with_whole_texts(engine, events.clone()).await {
        Err(Error::Erased(_)) => {
            let mut there = Vec::new();
            for event in events {
                match with_whole_texts(engine, vec![event]).await {
                    Err(Error::Erased(_)) => {}
                    one => there.extend(one?),
                }
            }
            Ok(there)
        }
        whole => whole,
    }
}

/// Returns the first position stored in the stream itself, and the number of positions stored there.
fn own(info: &StreamInfo) -> (Seq, u64) {
    let base = info.base();
    (base.next(), info.head.0.saturating_sub(base.0))
}

/// Returns whether an event's content or its id contains the searched text. The event's texts must already be loaded.
fn holds(event: &Event, needle: &Needle) -> Result<bool, Error> {
    let Some(fact) = &event.fact else { return Ok(false) };
    Ok(needle.is_in(event.id.as_str().as_bytes()) || contains(fact, needle)?)
}
