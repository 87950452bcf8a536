//! Maps a session of a file to a session of the ledger. The agent's own id and the ids of records determine the
//! session; the path never does.
//!
//! | the session's id | its records | the result is |
//! |---|---|---|
//! | none | without ids, those of a session or its beginning, or more | the same session ([`crate::import::transcripts::twin`]) |
//! | none | without ids, others | a new session, named after the file |
//! | unknown | unknown | a new session |
//! | unknown | known in another session | a child of that session, forked at the last record they share |
//! | known | some are known, or follow known ones | the same session, with a branch where both continue |
//! | known | all unknown | another session, `ID@…`, with a warning |

use crate::base::error::{Error, ImportReason};
use crate::import::records::name::{event_id, is_of, path_mark, session_name};
use crate::import::transcripts::feed::Feed;
use crate::import::transcripts::files::saved::{Saved, SavedTree};
use crate::import::transcripts::imported::ImportNotice;
use crate::import::transcripts::known::{known_events, known_streams, lost_from};
use crate::import::transcripts::tree::{Belongs, Branch, SessionOrigin, SessionTree};
use crate::import::transcripts::twin::name_file;
use crate::ledger::project::{corrected, opening_scope};
use crate::ledger::reading::lineage::{lineage_of, native, root};
use crate::ledger::recording::authors::is_delegates;
use crate::ledger::recording::record::{StreamStart, forking_writes, opening_writes};
use crate::rules::agent::Agent;
use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use wunderblock_core::event::{Fact, MessageAppended, SessionForked, SessionOpened};
use wunderblock_core::id::{Scope, StreamId};
use wunderblock_core::message::Message;
use wunderblock_core::units::{Millis, Seq};
use wunderblock_sources::project::repository_of;
use wunderblock_store::codec::{commitment, content_hash, record_key};
use wunderblock_store::{StreamInfo, Write};
use wunderblock_wire::transcript::{RecordItem, RecordPlace, TranscriptReader, TranscriptRecord};

/// Returns the index of the session that a record belongs to, and opens the session with its first record. Returns
/// `None` if the session was erased.
pub(in crate::import::transcripts) async fn session_of(
    feed: &mut Feed<'_>,
    record: &TranscriptRecord,
    reader: &TranscriptReader,
) -> Result<Option<usize>, Error> {
    let key: Box<str> = record.session.clone().unwrap_or_default();
    if let Some(belongs) = feed.sessions.by_name.get(&key) {
        return Ok(belongs.index());
    }
    let file = name_file(feed, &key).await?;
    let name = session_name(feed.file.format, &file, record, reader.session());
    let lost = lost_from(feed.engine, vec![name.clone()]).await?.get(&name).cloned().unwrap_or_default();
    if lost.whole {
        let text =
            format!("{}: session {name} was erased; nothing of it is stored again", feed.file.path.display());
        feed.account.warn(ImportNotice::ErasedSession, text);
        feed.sessions.by_name.insert(key, Belongs::Erased);
        return Ok(None);
    }
    feed.sessions.lost.insert(name.clone(), lost);
    let first = StreamId::new(name.clone())
        .or_else(|_| StreamId::new(format!("session-{}", blake3::hash(name.as_bytes()).to_hex())))?;
    let mut tree = session_tree(feed, first, name, record).await?;
    let held = match &tree.standing {
        SessionOrigin::Kin { parent, .. } => Some(parent.clone()),
        _ => Some(tree.root.clone()).filter(|_| tree.was_before()),
    };
    if let Some(stream) = held {
        tree.kin = erasures_of_kin(feed, &stream).await?;
    }
    feed.sessions.trees.push(tree);
    let index = feed.sessions.trees.len() - 1;
    if record.session.is_none() {
        feed.sessions.own = Some(index);
    }
    feed.sessions.by_name.insert(key, Belongs::To(index));
    Ok(Some(index))
}

/// Looks up the erasures of a session and its ancestors. A copy of the session has records with the same ids. Returns
/// the names of the sessions.
async fn erasures_of_kin(feed: &mut Feed<'_>, stream: &StreamId) -> Result<Vec<String>, Error> {
    let line = lineage_of(feed.engine, stream).await?;
    let names: BTreeSet<String> = line.iter().map(|part| native(&part.stream).to_owned()).collect();
    let names: Vec<String> = names.into_iter().collect();
    let lost = lost_from(feed.engine, names.clone()).await?;
    for name in &names {
        let lost = lost.get(name).cloned().unwrap_or_default();
        feed.sessions.lost.entry(name.clone()).or_insert(lost);
    }
    Ok(names)
}

async fn session_tree(
    feed: &mut Feed<'_>,
    first: StreamId,
    name: String,
    record: &TranscriptRecord,
) -> Result<SessionTree, Error> {
    let Some(info) = feed.engine.info(&first).await? else {
        return unknown_session(feed, first, name, record).await;
    };
    if is_same(feed, &info, record).await? {
        return found_session(feed, info, name).await;
    }
    // A previous import may have found that this session is a copy of another one.
    let key: &str = record.session.as_deref().unwrap_or_default();
    let ids = feed.known.ids.get(key).into_iter().flatten();
    let places = ids.filter_map(|id| feed.known.places.get(id)).flatten();
    let copy = places.map(|(stream, _)| stream).find(|stream| native(stream) == first.as_str()).cloned();
    if let Some(copy) = copy.and_then(|copy| StreamId::new(root(&copy)).ok())
        && let Some(info) = feed.engine.info(&copy).await?
    {
        return found_session(feed, info, name).await;
    }
    // If two sessions have the same id but no records in common, they are different sessions.
    let mark = path_mark(&feed.file.path);
    // The second suffix is needed if an earlier revision of the file already uses the first one.
    for suffix in [mark.clone(), format!("{mark}.{}", feed.outbox.claim.revision)] {
        let other = StreamId::new(format!("{first}@{suffix}"))?;
        match feed.engine.info(&other).await? {
            Some(info) if is_same(feed, &info, record).await? => {
                return found_session(feed, info, name).await;
            }
            Some(_) => {}
            None => {
                let text = format!(
                    "{}: the ledger has session {first} with other records; this session is stored as {other}",
                    feed.file.path.display()
                );
                feed.account.warn(ImportNotice::ReusedSession, text);
                return open_session(feed, other, name, record).await;
            }
        }
    }
    Err(Error::Import {
        path: feed.file.path.display().to_string(),
        reason: ImportReason::Unsuited,
        why: format!("other sessions with the id {first} already use all of its alternative names"),
    })
}

/// Creates the tree of a session with an unknown id: a new session, or a child of the session that contains its
/// records.
async fn unknown_session(
    feed: &mut Feed<'_>,
    first: StreamId,
    name: String,
    record: &TranscriptRecord,
) -> Result<SessionTree, Error> {
    let key: &str = record.session.as_deref().unwrap_or_default();
    if let Some((id, message)) = feed.known.said.get(key).cloned() {
        let places = feed.known.places.get(&record_key(&id)).cloned().unwrap_or_default();
        for (parent, at_seq) in places {
            if says_message(feed, &parent, &id, &message).await? {
                let branch = Branch::new(first.clone(), at_seq, at_seq);
                let standing = SessionOrigin::Kin { parent, at_seq };
                return Ok(SessionTree::new(first, name, standing, branch));
            }
        }
    }
    open_session(feed, first, name, record).await
}

/// Returns whether a session contains a record with this id and this message. The message is compared because short
/// ids of different sessions may be equal.
pub(in crate::import::transcripts) async fn says_message(
    feed: &Feed<'_>,
    stream: &StreamId,
    id: &str,
    message: &Message,
) -> Result<bool, Error> {
    let id = event_id(id, 0)?;
    let event = match feed.known.event(stream, &id) {
        Some(event) => Some(*event),
        None => known_events(feed.engine, stream, &[id]).await?.pop().flatten(),
    };
    let Some(event) = event else { return Ok(false) };
    let content = content_hash(&Fact::MessageAppended(MessageAppended { message: message.clone() }))?;
    // An erased event has no content to compare, so the id decides.
    Ok(event.proof.is_none_or(|(salt, proof)| commitment(&salt, &content) == proof))
}

async fn open_session(
    feed: &mut Feed<'_>,
    stream: StreamId,
    name: String,
    record: &TranscriptRecord,
) -> Result<SessionTree, Error> {
    let format = Some(feed.file.format.name().into());
    let mut opened = SessionOpened { format: format.clone(), ..SessionOpened::default() };
    for item in &record.items {
        if let RecordItem::Opened(said) = item {
            opened = SessionOpened { format: format.clone(), ..said.clone() };
        }
    }
    settle_scope(&mut opened.scope, feed.file.format.name());
    opened.parent = record.parent_session.as_ref().and_then(|name| StreamId::new(name.to_string()).ok());
    let at = record.at.unwrap_or(feed.gate.newest);
    let from = Some((feed.outbox.claim.source, feed.outbox.claim.revision));
    let is_delegates = opened.parent.is_some();
    let (scope, corrects) = opening_scope(feed.engine, &opened, None).await?;
    feed.outbox.openings.extend(corrects);
    // The stream is opened with its first batch: a commit of its own would cost a sync per session.
    feed.outbox.openings.extend(opening_writes(
        feed.engine,
        StreamStart { stream: &stream, at, from },
        opened,
        scope.clone(),
    )?);
    feed.account.done.appended += 1;
    let branch = Branch::new(stream.clone(), Seq(1), Seq(1));
    let mut tree = SessionTree::new(stream, name, SessionOrigin::Open { before: false }, branch);
    (tree.is_delegates, tree.scope) = (is_delegates, scope);
    Ok(tree)
}

/// Names the repository of the folder in which the agent worked as the project, and the agent that writes the format.
fn settle_scope(scope: &mut Scope, format: &str) {
    let repository = scope.project.as_ref().and_then(|folder| repository_of(Path::new(folder)));
    if let Some(repository) = repository.as_deref().and_then(Path::to_str) {
        scope.project = Some(repository.to_owned());
    }
    if scope.agent.is_none() {
        scope.agent = Agent::of_format(format).map(|agent| agent.name.to_string());
    }
}

/// Creates the tree of a session that is already in the ledger, and links it to this file.
async fn found_session(feed: &mut Feed<'_>, info: StreamInfo, name: String) -> Result<SessionTree, Error> {
    link_stream(feed, &info.id);
    feed.outbox.openings.extend(corrected(feed.engine, &info.scope));
    let base = info.fork.as_ref().map_or(Seq(1), |(_, base)| *base);
    let branch = Branch::new(info.id.clone(), base, info.said.max(base));
    let ids = feed.known.events_at_hand.clone();
    feed.look_for_events(&info.id, &ids).await?;
    let is_delegates = is_delegates(feed.engine, &info).await?;
    let mut tree = SessionTree::new(info.id, name, SessionOrigin::Open { before: true }, branch);
    (tree.is_delegates, tree.scope) = (is_delegates, info.scope);
    Ok(tree)
}

/// Begins a stream as a fork of another stream, with the next batch.
pub(in crate::import::transcripts) fn fork_stream(
    feed: &mut Feed<'_>,
    stream: &StreamId,
    scope: Scope,
    at: Millis,
    forked: SessionForked,
) -> Result<(), Error> {
    let from = Some((feed.outbox.claim.source, feed.outbox.claim.revision));
    feed.outbox.openings.extend(forking_writes(
        feed.engine,
        StreamStart { stream, at, from },
        forked,
        scope,
    )?);
    feed.account.done.appended += 1;
    Ok(())
}

/// Links a stream to the file, with the next batch.
pub(in crate::import::transcripts) fn link_stream(feed: &mut Feed<'_>, stream: &StreamId) {
    feed.outbox.openings.push(Write::Link {
        tenant: feed.engine.tenant.no,
        stream: stream.clone(),
        source: feed.outbox.claim.source,
        revision: feed.outbox.claim.revision,
    });
}

/// Returns whether a session of the ledger is the session that a record belongs to.
async fn is_same(feed: &mut Feed<'_>, info: &StreamInfo, record: &TranscriptRecord) -> Result<bool, Error> {
    let base = info.fork.as_ref().map_or(Seq(1), |(_, base)| *base);
    if info.said <= base {
        // The session has no messages: an interrupted import opened it, or it was opened for later use.
        return Ok(true);
    }
    let lineage = lineage_of(feed.engine, &info.id).await?;
    let lineage: HashSet<StreamId> = lineage.into_iter().map(|part| part.stream).collect();
    let here = |stream: &StreamId| is_of(stream, &info.id) || lineage.contains(stream);
    let key: &str = record.session.as_deref().unwrap_or_default();
    let ids = feed.known.ids.get(key).cloned().unwrap_or_default();
    if ids.iter().filter_map(|id| feed.known.places.get(id)).flatten().any(|(stream, _)| here(stream)) {
        return Ok(true);
    }
    if let RecordPlace::After(id) = &record.place {
        let key = record_key(id);
        if feed.known.places.get(&key).into_iter().flatten().any(|(stream, _)| here(stream)) {
            return Ok(true);
        }
    }
    let said: Vec<_> = feed.known.said.get(key).map(|(id, _)| event_id(id, 0)).into_iter().collect();
    let said: Vec<_> = said.into_iter().collect::<Result<_, _>>()?;
    if known_events(feed.engine, &info.id, &said).await?.iter().any(Option::is_some) {
        return Ok(true);
    }
    shares_nameless(feed, info, key).await
}

/// Returns whether a session contains any of the current records without ids, with the same content.
async fn shares_nameless(feed: &mut Feed<'_>, info: &StreamInfo, key: &str) -> Result<bool, Error> {
    let said = feed.known.nameless.get(key).map(Vec::as_slice).unwrap_or_default();
    if said.is_empty() {
        // Without a message, nothing can be compared: titles and settings go to the session that they name.
        return Ok(feed.known.ids.get(key).is_none_or(Vec::is_empty));
    }
    let ids: Vec<_> = said.iter().map(|one| one.id.clone()).collect();
    let found = known_events(feed.engine, &info.id, &ids).await?;
    // An erased event has no content to compare, but its position and id match the record.
    Ok(said.iter().zip(found).any(|(one, event)| event.is_some_and(|event| one.is(&event) != Some(false))))
}

/// Opens a session as a child of another session that contains all records read so far.
pub(in crate::import::transcripts) async fn open_child(
    feed: &mut Feed<'_>,
    session: usize,
    at: Millis,
) -> Result<(), Error> {
    let Some(tree) = feed.sessions.trees.get(session) else { return Ok(()) };
    let SessionOrigin::Kin { parent, at_seq } = tree.standing.clone() else { return Ok(()) };
    let stream = tree.root.clone();
    let scope = feed.engine.info(&parent).await?.map(|info| info.scope).unwrap_or_default();
    fork_stream(feed, &stream, scope.clone(), at, SessionForked { parent, at_seq })?;
    if let Some(tree) = feed.sessions.trees.get_mut(session) {
        (tree.standing, tree.scope) = (SessionOrigin::Open { before: true }, scope);
        tree.begin(Branch::new(stream, at_seq, at_seq));
    }
    Ok(())
}

/// Opens the remaining children, for which the file contained no record that the parent lacks.
pub(in crate::import::transcripts) async fn open_kin(feed: &mut Feed<'_>) -> Result<(), Error> {
    for session in 0..feed.sessions.trees.len() {
        open_child(feed, session, feed.gate.newest).await?;
    }
    Ok(())
}

/// Continues where an earlier import of the file stopped. If continuing is not possible, returns a reader for the
/// beginning of the file.
pub(in crate::import::transcripts) async fn resume_import(
    feed: &mut Feed<'_>,
    mut saved: Saved,
) -> Result<(TranscriptReader, u64, u64), Error> {
    let Some(reader) = TranscriptReader::restore(feed.file.format, &feed.file.name, &saved.reader) else {
        return Ok((feed.reader(), 0, 0));
    };
    let mut trees = Vec::new();
    let saved_trees = std::mem::take(&mut saved.sessions);
    let known = known_streams(feed.engine, saved_trees.iter().flat_map(SavedTree::streams)).await?;
    for tree in saved_trees {
        let key = tree.key.clone();
        let of_delegate = tree.streams().any(|id| known.get(id).is_some_and(|info| info.parent.is_some()));
        let Some(mut tree) = tree.tree(|stream| known.get(stream).map(|info| info.said)) else {
            return Ok((feed.reader(), 0, 0));
        };
        tree.is_delegates = of_delegate;
        tree.scope = known.get(&tree.root).map(|info| info.scope.clone()).unwrap_or_default();
        feed.outbox.openings.extend(corrected(feed.engine, &tree.scope));
        trees.push((key, tree));
    }
    let names: Vec<String> = trees.iter().map(|(_, tree)| tree.name.clone()).collect();
    if !lost_from(feed.engine, names).await?.is_empty() {
        return Ok((feed.reader(), 0, 0));
    }
    for (key, tree) in trees {
        feed.sessions.by_name.insert(key, Belongs::To(feed.sessions.trees.len()));
        feed.sessions.trees.push(tree);
    }
    feed.sessions.own = saved.own;
    feed.gate.newest = saved.newest;
    Ok((reader, saved.at, saved.line))
}
