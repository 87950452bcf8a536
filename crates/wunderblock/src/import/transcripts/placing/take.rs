//! Takes in records: finds the new and the erased ones, and turns records into events.

use crate::base::error::Error;
use crate::import::records::lost::Lost;
use crate::import::records::name::{event_id, has_no_ids, names_content, raw_of, record_name};
use crate::import::transcripts::feed::Feed;
use crate::import::transcripts::files::saved::Saved;
use crate::import::transcripts::imported::Imported;
use crate::import::transcripts::known::{items_of, known_events, unique_names};
use crate::import::transcripts::placing::place::{Arriving, find_place, pass_by, place_of};
use crate::import::transcripts::placing::session::{open_kin, session_of};
use crate::import::transcripts::tree::{RecordPlacement, SessionTree};
use crate::ledger::recording::authors::stated;
use crate::limits::{IMPORT_BATCH_BYTES, IMPORT_BATCH_CHUNKS, IMPORT_BATCH_EVENTS, SOURCE_CHUNK};
use wunderblock_core::author;
use wunderblock_core::event::{EventSource, Fact, MessageAppended, NewEvent, SessionCompacted};
use wunderblock_core::id::EventId;
use wunderblock_core::message::{Body, Role};
use wunderblock_core::units::{Millis, Seq};
use wunderblock_store::Write;
use wunderblock_store::codec::record_key;
use wunderblock_wire::transcript::{RecordItem, RecordStatus, TranscriptReader, TranscriptRecord};

/// Maximum number of records held back at the beginning of a file until one of them describes the session. In some
/// formats, titles and settings come first.
const HELD: usize = 64;
/// Minimum size in bytes of a record that is not held back.
const HELD_BYTES: usize = 256 << 10;

/// Ends a line. The line's bytes are released for storage, unless the reader or the feed holds some of the line's
/// records back.
pub(in crate::import::transcripts) async fn end_line(
    feed: &mut Feed<'_>,
    reader: &TranscriptReader,
) -> Result<(), Error> {
    if feed.gate.held.is_empty() && feed.outbox.bytes.waiting() >= SOURCE_CHUNK {
        feed.outbox.bytes.release(reader.returned(feed.outbox.bytes.read));
    }
    if feed.outbox.waiting_events >= IMPORT_BATCH_EVENTS
        || feed.outbox.waiting_bytes >= IMPORT_BATCH_BYTES
        || feed.outbox.bytes.chunks.len() >= IMPORT_BATCH_CHUNKS
    {
        feed.flush().await?;
    }
    Ok(())
}

/// Takes in a record. `bytes` were read at the offset `base`.
pub(in crate::import::transcripts) async fn take_record(
    feed: &mut Feed<'_>,
    record: TranscriptRecord,
    reader: &TranscriptReader,
    bytes: &[u8],
    base: u64,
) -> Result<(), Error> {
    let raw = raw_of(&record, bytes, base);
    let nameless = record.session.is_none() && !feed.gate.named;
    let early = feed.sessions.trees.is_empty() && (nameless || is_before_session(feed, &record));
    if early && feed.gate.held.len() < HELD && raw.len() < HELD_BYTES {
        feed.gate.held.push((record, raw.to_vec()));
        return Ok(());
    }
    if feed.gate.newest == Millis(0) {
        feed.gate.newest = record.at.unwrap_or(feed.gate.newest);
    }
    if !feed.gate.held.is_empty() {
        // The record that names the session contains more information about it than the records held back, so that
        // record opens the session.
        session_of(feed, &record, reader).await?;
        let_in(feed, reader).await?;
    }
    take_in(feed, record, reader, raw).await
}

/// Takes in the records that were held back.
pub(in crate::import::transcripts) async fn let_in(
    feed: &mut Feed<'_>,
    reader: &TranscriptReader,
) -> Result<(), Error> {
    for (record, raw) in std::mem::take(&mut feed.gate.held) {
        if is_before_session(feed, &record) {
            feed.account.done.records += 1;
            feed.account.count(&record);
        } else {
            take_in(feed, record, reader, &raw).await?;
        }
    }
    Ok(())
}

/// Returns whether a record without content precedes everything that describes its session. A file that an agent has just
/// begun may have no other record yet. A session that this record opened would have no project, and maybe the name of
/// the file instead of its own.
fn is_before_session(feed: &Feed<'_>, record: &TranscriptRecord) -> bool {
    feed.sessions.trees.is_empty()
        && record.items.is_empty()
        && record.kept == RecordStatus::Bookkeeping
        && !has_no_ids(feed.file.format)
}

pub(in crate::import::transcripts) async fn take_in(
    feed: &mut Feed<'_>,
    record: TranscriptRecord,
    reader: &TranscriptReader,
    raw: &[u8],
) -> Result<(), Error> {
    feed.account.done.records += 1;
    feed.account.count(&record);
    let Some(session) = session_of(feed, &record, reader).await? else {
        feed.forget(&record);
        return Ok(());
    };
    let name = record_name(&record);
    let items = items_of(&record, raw);
    let gone = erased_events(feed, session, &record, &name, &items)?;
    if let Some(gone) = &gone {
        feed.forget(&record);
        if gone.iter().all(|gone| *gone) {
            if record.id.is_none() {
                pass_by(feed, session, &record, &name, &items).await?;
            }
            return Ok(());
        }
    }
    let at = record.at.unwrap_or(feed.gate.newest);
    feed.gate.newest = feed.gate.newest.max(at);
    let there = match find_place(feed, session, &Arriving { record: &record, name: &name, items: &items, at })
        .await?
    {
        RecordPlacement::New => None,
        RecordPlacement::There(seq) => Some(seq),
        RecordPlacement::Beside(place) => {
            if let Some(id) = &record.id {
                feed.name_record_at(session, record_key(id), place);
            }
            return Ok(());
        }
        RecordPlacement::Elsewhere => return Ok(()),
    };
    let source = EventSource::Import {
        source: feed.file.handle,
        revision: feed.outbox.claim.revision,
        offset: record.offset,
        len: record.len,
    };
    let gone = gone.unwrap_or_default();
    let is_same = there.is_some() && names_content(feed.file.format);
    for (number, item) in items.into_iter().enumerate() {
        if gone.get(number) == Some(&true) {
            continue;
        }
        if is_same && matches!(item, RecordItem::Message(_)) {
            feed.account.done.duplicates += 1;
            continue;
        }
        let id = event_id(&name, number)?;
        if matches!(item, RecordItem::Spawned(_)) && there.is_some() && is_stored(feed, session, &id).await? {
            feed.account.done.duplicates += 1;
            continue;
        }
        if let Some(fact) = fact_of(feed, session, item, raw).await? {
            feed.push(session, NewEvent { id, at, source: source.clone(), fact }, there);
        }
    }
    if let Some(id) = &record.id {
        feed.name_record(session, record_key(id));
    }
    Ok(())
}

/// Returns whether the session has an event with this id. Earlier versions stored less of the start of a sub-agent.
async fn is_stored(feed: &Feed<'_>, session: usize, id: &EventId) -> Result<bool, Error> {
    let branch = feed.sessions.trees.get(session).and_then(SessionTree::branch);
    let Some(stream) = branch.map(|branch| branch.stream.clone()) else { return Ok(false) };
    let known = known_events(feed.engine, &stream, std::slice::from_ref(id)).await?;
    Ok(known.iter().any(Option::is_some))
}

/// For a record that was erased from its files, returns which of its events were also erased.
pub(in crate::import::transcripts) fn erased_events(
    feed: &Feed<'_>,
    session: usize,
    record: &TranscriptRecord,
    name: &str,
    items: &[RecordItem],
) -> Result<Option<Vec<bool>>, Error> {
    let kin = feed.sessions.trees.get(session).into_iter().flat_map(|tree| &tree.kin);
    let own =
        feed.sessions.lost(session).into_iter().chain(kin.filter_map(|name| feed.sessions.lost.get(name)));
    let unique = Some(&feed.known.lost).filter(|_| !unique_names(record).is_empty());
    let lost: Vec<&Lost> = own.chain(unique).filter(|lost| lost.has_record(record, name)).collect();
    if lost.is_empty() {
        return Ok(None);
    }
    let mut gone: Vec<bool> = Vec::with_capacity(items.len());
    for (number, item) in items.iter().enumerate() {
        // Earlier versions did not take in the end of a sub-agent, so nobody could erase it.
        let is_late = matches!(item, RecordItem::Returned(_)) && gone.last() == Some(&true);
        let id = event_id(name, number)?;
        gone.push(is_late || lost.iter().any(|lost| lost.has_event(&id)));
    }
    Ok(Some(gone))
}

/// Converts an item of a record into a fact.
pub(in crate::import::transcripts) async fn fact_of(
    feed: &mut Feed<'_>,
    session: usize,
    item: RecordItem,
    raw: &[u8],
) -> Result<Option<Fact>, Error> {
    Ok(Some(match item {
        RecordItem::Opened(_) => return Ok(None),
        RecordItem::Message(mut message) => {
            if message.role == Role::User {
                let is_delegates = feed.sessions.trees.get(session).is_some_and(|tree| tree.is_delegates);
                author::settle(&mut message, stated(feed.file.format, raw, is_delegates));
            }
            Fact::MessageAppended(MessageAppended { message })
        }
        RecordItem::Usage(usage) => Fact::UsageMeasured(usage),
        RecordItem::Turn(turn) => Fact::TurnCompleted(turn),
        RecordItem::Spawned(spawned) => Fact::SubagentSpawned(*spawned),
        RecordItem::Returned(returned) => Fact::SubagentReturned(*returned),
        RecordItem::Fact(fact) => *fact,
        RecordItem::About { record, mut fact } => {
            feed.arrive().await?;
            let place = place_of(feed, session, &record);
            let known = feed.sessions.trees.get(session).and_then(|tree| tree.seq(place?));
            let (Some(known), Some(target)) = (known, fact.target_mut()) else { return Ok(None) };
            *target = known;
            *fact
        }
        RecordItem::Compacted { from, before, summary, trigger, tokens_before } => {
            // A compaction's range consists of positions, so all earlier events must be committed first.
            feed.arrive().await?;
            let kept = before.as_deref().and_then(|id| place_of(feed, session, id));
            let from = from.as_deref().and_then(|id| place_of(feed, session, id));
            let Some(tree) = feed.sessions.trees.get_mut(session) else { return Ok(None) };
            let kept = kept.filter(|place| place.0 == tree.current).and_then(|place| tree.seq(place));
            let last = tree.seq(tree.last());
            // If everything is kept, the summary covers only the opening, which no view shows.
            let to_seq = kept.map(Seq::prev).or(last).unwrap_or(Seq(1)).max(Seq(1));
            let from_seq = from.and_then(|place| tree.seq(place));
            let Some(branch) = tree.branch_mut() else { return Ok(None) };
            let from_seq = from_seq.unwrap_or(branch.compacted.next()).min(to_seq);
            branch.compacted = branch.compacted.max(to_seq);
            Fact::SessionCompacted(Box::new(SessionCompacted {
                summary: summary.map(Body::from),
                trigger,
                tokens_before,
                ..SessionCompacted::new(from_seq, to_seq, feed.file.format.name())
            }))
        }
    }))
}

/// Commits the remaining data and marks the revision as complete. `saved` does not contain the sessions yet.
pub(in crate::import::transcripts) async fn finish_import(
    feed: &mut Feed<'_>,
    saved: Option<Saved>,
    modified: Option<i64>,
) -> Result<Imported, Error> {
    open_kin(feed).await?;
    feed.outbox.bytes.release(u64::MAX);
    feed.outbox.bytes.end();
    feed.arrive().await?;
    // In a file of several conversations, the file's own session may contain only data about them, without messages.
    let spoken = feed.sessions.trees.iter().position(SessionTree::has_messages);
    let own = feed.sessions.own.filter(|own| {
        spoken.is_none() || feed.sessions.trees.get(*own).is_some_and(SessionTree::has_messages)
    });
    let own = own.or(spoken).or_else(|| (!feed.sessions.trees.is_empty()).then_some(0));
    let leaf = own.and_then(|own| feed.sessions.trees.get(own)).and_then(SessionTree::branch);
    let leaf = leaf.map(|leaf| leaf.stream.clone());
    // The samples are checksums of the file's own bytes. No hash of erased content may be kept, so a file with erased
    // records keeps no state and is compared completely.
    let saved = saved.filter(|_| feed.account.done.erased == 0);
    let reader = saved.and_then(|saved| Saved { sessions: feed.sessions.trees()?, ..saved }.encode());
    let write = Write::Whole {
        source: feed.outbox.claim.source,
        revision: feed.outbox.claim.revision,
        token: feed.outbox.claim.token.clone(),
        modified,
        reader,
        leaf: leaf.clone(),
    };
    feed.commit(vec![write]).await?;
    feed.account.done.sessions.extend(leaf);
    let others = feed.sessions.trees.iter().enumerate().filter(|(index, _)| Some(*index) != own);
    let others = others.filter_map(|(_, tree)| Some(tree.branch()?.stream.clone()));
    feed.account.done.sessions.extend(others);
    feed.account.done.bytes = feed.outbox.bytes.read;
    Ok(feed.account.total())
}
