//! Permanent erasure of content and of everything derived from it.
//!
//! ```text
//! runs of positions ─► Loss: what they hold ─┐        ┌► epoch, heads, segments, sources ─► Basis::Seen ─┐
//! records of files ──► Raw: bytes, coordinates ┴─► Forgetting ─► derived content, index ─► writes ───────┴─► commit
//! ```
//! Another import does not bring erased content back: the ledger keeps its coordinates (the session's own id, the
//! records' own ids, and byte ranges), but neither the content nor a hash of it.

mod derived;
mod erased;
mod family;
pub(crate) mod files;
mod forget;
mod loss;
mod showing;
mod text;

use crate::base::apart::apart;
use crate::base::future::BoxFuture;
use crate::import::documents::Documents;
use crate::import::records::find::{RecordQuery, beginning};
use crate::ledger::engine::Engine;
use crate::ledger::kept_bytes::kept_outputs;
use crate::ledger::reading::lineage::{LinePart, Streams, native, own_streams};
use crate::ledger::reading::stored::read_texts;
pub use erased::{Along, Erased};
pub use text::{TextFound, TextPlace, TextRecord};

use crate::base::error::Error;
use crate::import::records::lost::gone_event;
use crate::ledger::session::Session;
use family::Family;
use forget::Forgetting;
pub(crate) use loss::has_content;
use loss::{Depth, Loss, Raw, Run};
use std::collections::BTreeSet;
use std::path::Path;
use wunderblock_core::event::{Event, EventSource, Fact};
use wunderblock_core::id::{EventId, StreamId};
use wunderblock_core::message::Body;
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::Seq;
use wunderblock_store::{SourceSpan, StreamInfo};

/// Origins of the content to be erased.
#[derive(Default)]
struct Range {
    spans: BTreeSet<SourceSpan>,
    /// Ids of events. The ids of a live agent's events are also the ids of the records in its future transcript.
    events: BTreeSet<EventId>,
    /// Beginnings of the events' texts.
    beginnings: Vec<String>,
}

impl Session {
    /// Erases the content of a range of positions and everything derived from it: bodies without other references,
    /// the raw records in every source of the session, recalled copies, foreign summaries, and index entries.
    /// Positions, times and kinds remain, and a receipt is appended. Forks share their history, so the content is
    /// erased in all of them.
    ///
    /// # Errors
    /// Fails if the session does not exist, or if the ledger cannot be written.
    pub fn erase<'a>(&'a self, from: Seq, to: Seq, reason: Option<&'a str>) -> BoxFuture<'a, Erased> {
        let (session, reason) = (self.clone(), reason.map(str::to_owned));
        Box::pin(apart(move || async move { erase_range(&session, from, to, reason.as_deref()).await }))
    }

    /// Erases a whole session with all its branches, and its records in every file from which it was read.
    ///
    /// # Errors
    /// Fails in the same cases as [`Session::erase`].
    pub fn erase_all<'a>(&'a self, reason: Option<&'a str>, along: Along) -> BoxFuture<'a, Erased> {
        let (session, reason) = (self.clone(), reason.map(str::to_owned));
        Box::pin(apart(move || async move { erase_session(&session, reason.as_deref(), along).await }))
    }
}

impl Documents {
    /// Erases the documents at a path, all their versions, and their bytes. The files stay.
    ///
    /// # Errors
    /// Fails if there is no document, or if the ledger cannot be written.
    pub fn erase<'a>(&'a self, path: &'a Path, reason: Option<&'a str>) -> BoxFuture<'a, Erased> {
        let (documents, path, reason) = (self.clone(), path.to_owned(), reason.map(str::to_owned));
        Box::pin(apart(move || async move {
            let own = documents.at(&path).await?.iter().map(|document| document.stream().clone()).collect();
            erase_streams(&documents.engine, None, own, reason.as_deref()).await
        }))
    }
}

async fn erase_range(session: &Session, from: Seq, to: Seq, reason: Option<&str>) -> Result<Erased, Error> {
    let info = session.engine.stream(&session.id).await?;
    let info = info.ok_or_else(|| Error::NoSession(session.id.to_string()))?;
    let (from, to) = (from.max(Seq(1)), to.min(info.head));
    if from > to {
        return Err(Error::Address(format!(
            "invalid positions: the session has positions 1 to {}",
            info.head
        )));
    }
    let erased = erase_runs(session, &[(from, to)], reason, Raw::default(), Depth::Texts).await?;
    session.engine.scrubbed().await?;
    Ok(erased)
}

async fn erase_session(session: &Session, reason: Option<&str>, along: Along) -> Result<Erased, Error> {
    let streams = session.engine.streams("", u64::from(u32::MAX)).await?;
    let Family { own, children, copies } = Family::of(own_streams(&session.id, &streams), &streams, along);
    let mut sum = erase_streams(&session.engine, Some(session.id.clone()), own, reason).await?;
    sum.children = children.into_iter().collect();
    sum.copies = copies.into_iter().collect();
    Ok(sum)
}

/// Erases whole streams of any kind, and their records in every file from which they were read. The receipt of `session`
/// is returned.
async fn erase_streams(
    engine: &Engine,
    session: Option<StreamId>,
    own: BTreeSet<StreamId>,
    reason: Option<&str>,
) -> Result<Erased, Error> {
    let streams = engine.every_stream().await?;
    let sessions: BTreeSet<String> = own.iter().map(|id| native(id).to_owned()).collect();
    let mut forgetting = Forgetting {
        engine,
        session,
        own,
        runs: Vec::new(),
        losses: Vec::new(),
        wanted: RecordQuery { sessions, whole: true, ..RecordQuery::default() },
        raw: Raw::default(),
        reason,
    };
    let erased: Vec<&StreamInfo> = streams.iter().filter(|info| forgetting.own.contains(&info.id)).collect();
    for info in erased {
        let run = Run { stream: info.id.clone(), from: info.base().next(), to: info.head };
        if run.from <= run.to {
            lose_whole(&mut forgetting, info, run).await?;
        }
    }
    let sum = forgetting.run().await?;
    engine.scrubbed().await?;
    Ok(sum)
}

/// Adds a stream's own positions to an erasure.
async fn lose_whole(forgetting: &mut Forgetting<'_>, info: &StreamInfo, run: Run) -> Result<(), Error> {
    let session = forgetting.engine.session_by_id(info.id.clone());
    let part = (info, run.from, run.to);
    let mut loss = Loss::holding(forgetting.runs.len(), &run, &part, Depth::Texts);
    let (key, name) = (forgetting.engine.tenant.key, native(&info.id));
    let mut pages = session.pages(run.from, run.to);
    while let Some(events) = pages.next().await? {
        for event in &events {
            loss.take(event)?;
            // A live agent's events have no file yet, but a later transcript must not bring them back, so their ids
            // are recorded.
            if is_named(event) {
                forgetting.raw.erasures.insert(gone_event(&key, name, &event.id));
            }
        }
    }
    forgetting.losses.push(loss);
    forgetting.runs.push(run);
    Ok(())
}

/// Erases runs of positions in order, each with a receipt, together with the given content of imported files.
async fn erase_runs(
    session: &Session,
    runs: &[(Seq, Seq)],
    reason: Option<&str>,
    mut raw: Raw,
    depth: Depth<'_>,
) -> Result<Erased, Error> {
    let engine = &session.engine;
    let streams = engine.every_stream().await?;
    let own = own_streams(&session.id, &streams);
    let all = Streams::new(&streams);
    let info = all.get(&session.id).ok_or_else(|| Error::NoSession(session.id.to_string()))?;
    let (mut range, mut losses, mut made) = (Range::default(), Vec::new(), Vec::new());
    for (from, to) in runs.iter().copied() {
        let run = Run { stream: session.id.clone(), from, to };
        let holding = |part: &LinePart<'_>| Loss::holding(made.len(), &run, part, depth);
        let holders: Vec<Loss<'_>> = all.line(info, from).iter().map(holding).collect();
        losses.extend(lose_run(session, &run, holders, &mut range).await?);
        made.push(run);
    }
    range.beginnings.sort_unstable();
    range.beginnings.dedup();
    let name = native(&session.id);
    raw.spans.extend(&range.spans);
    raw.erasures.extend(range.events.iter().map(|id| gone_event(&engine.tenant.key, name, id)));
    // The message in place of an output is the only way to the output's bytes.
    for ((stream, seq), text) in kept_outputs(engine).await? {
        if losses.iter().any(|loss| loss.no == stream && loss.events.contains_key(&seq)) {
            raw.spans.insert(text.span());
        }
    }
    let wanted = RecordQuery {
        sessions: BTreeSet::from([name.to_owned()]),
        events: range.events.iter().map(|id| id.as_str().to_owned()).collect(),
        spans: range.spans,
        beginnings: range.beginnings,
        ..RecordQuery::default()
    };
    let session = Some(session.id.clone());
    Forgetting { engine, session, own, runs: made, losses, wanted, raw, reason }.run().await
}

/// Reads a run of positions. Returns what each stream of the line loses that holds a part of the run, and adds the
/// origins of the events and the beginnings of their texts to `range`.
async fn lose_run<'t>(
    session: &Session,
    run: &Run,
    mut losses: Vec<Loss<'t>>,
    range: &mut Range,
) -> Result<Vec<Loss<'t>>, Error> {
    let mut pages = session.pages(run.from, run.to);
    while let Some(events) = pages.next().await? {
        let facts: Vec<&Fact> = events.iter().filter_map(|event| event.fact.as_ref()).collect();
        let bodies = || facts.iter().flat_map(|fact| fact.bodies());
        let texts =
            read_texts(&session.engine, bodies().filter_map(Body::handle).collect::<Vec<_>>()).await?;
        let text = |body| texts.of(body).and_then(beginning);
        range.beginnings.extend(bodies().filter_map(text));
        for event in &events {
            if let EventSource::Import { source, revision, offset, len } = event.source {
                range.spans.insert(SourceSpan { source, revision, offset, len });
            }
            if is_named(event) {
                range.events.insert(event.id.clone());
            }
            // The latest positions come first.
            let holder = losses.partition_point(|loss| loss.is_after(event.seq));
            if let Some(loss) = losses.get_mut(holder).filter(|loss| loss.holds(event.seq)) {
                loss.take(event)?;
            }
        }
    }
    losses.retain(|loss| !loss.events.is_empty());
    Ok(losses)
}

/// Returns whether a later transcript may have a record with an event's id.
fn is_named(event: &Event) -> bool {
    !matches!(event.source, EventSource::Engine) && has_content(event)
}
