//! Finds the place of a record in its session, and begins a branch if the record forks.

use crate::base::error::Error;
use crate::import::records::name::{event_id, is_of};
use crate::import::transcripts::feed::Feed;
use crate::import::transcripts::imported::ImportNotice;
use crate::import::transcripts::known::first_message;
use crate::import::transcripts::placing::session::{fork_stream, link_stream, open_child, says_message};
use crate::import::transcripts::tree::{Branch, Point, RecordPlacement, SessionOrigin, SessionTree};
use crate::ledger::engine::unexpected;
use crate::ledger::reading::lineage::root;
use std::cmp::Reverse;
use wunderblock_core::event::{Fact, MessageAppended, SessionForked};
use wunderblock_core::id::{Scope, StreamId};
use wunderblock_core::units::{Millis, Seq};
use wunderblock_store::codec::{commitment, content_hash, record_key};
use wunderblock_wire::transcript::{RecordItem, RecordPlace, TranscriptRecord};

/// Result of looking up a record without an id.
enum Nameless {
    /// The record is stored in this branch at this position.
    There(usize, Seq),
    /// A different record is stored at this record's place, and more records follow it.
    Differs,
    /// The record can be the next one.
    Next,
}

/// A record that is about to be placed.
pub(in crate::import::transcripts) struct Arriving<'a> {
    pub(in crate::import::transcripts) record: &'a TranscriptRecord,
    /// Name from which the ids of the record's events are formed.
    pub(in crate::import::transcripts) name: &'a str,
    pub(in crate::import::transcripts) items: &'a [RecordItem],
    pub(in crate::import::transcripts) at: Millis,
}

/// Finds the place of a record, and makes its branch the current one.
pub(in crate::import::transcripts) async fn find_place(
    feed: &mut Feed<'_>,
    session: usize,
    arriving: &Arriving<'_>,
) -> Result<RecordPlacement, Error> {
    let Arriving { record, name, items, at } = *arriving;
    if let Some(placed) = place_of_kin(feed, session, arriving).await? {
        return Ok(placed);
    }
    if let Some(id) = &record.id
        && let Some((branch, seq)) = known_place(feed, session, id).await?
    {
        return Ok(place_there(feed, session, branch, seq));
    }
    let Some(tree) = feed.sessions.trees.get(session) else { return Ok(RecordPlacement::New) };
    let mut place = tree.last();
    if record.id.is_none() && tree.was_before() {
        meet_record(feed, session, record).await?;
        match count_nameless(feed, session, name, items)? {
            Nameless::There(branch, seq) => return Ok(place_there(feed, session, branch, seq)),
            Nameless::Differs => {
                fork_branch(feed, session, place, at).await?;
                return Ok(RecordPlacement::New);
            }
            Nameless::Next => {}
        }
    }
    match &record.place {
        RecordPlace::Next => {}
        RecordPlace::After(id) => match place_of(feed, session, id) {
            Some(found) => place = found,
            None => {
                let text = format!(
                    "{}:{}: follows record {id}, which is missing from the file; treated as following the previous record",
                    feed.file.path.display(),
                    record.line
                );
                feed.account.warn(ImportNotice::MissingParent, text);
            }
        },
        RecordPlace::Root => {
            let opened = feed.sessions.trees.get(session).and_then(|tree| tree.branches().first());
            place = (0, Point::Seq(opened.map_or(Seq::START, |branch| branch.opened)));
        }
        RecordPlace::RolledBack { turns } => {
            place =
                feed.sessions.trees.get(session).and_then(|tree| tree.before_turns(*turns)).unwrap_or(place);
        }
    }
    let Some(tree) = feed.sessions.trees.get_mut(session) else { return Ok(RecordPlacement::New) };
    if tree.is_tip(place) {
        tree.current = place.0;
    } else if items.is_empty() {
        // A record without items does not fork, since it adds nothing to a branch.
        return Ok(RecordPlacement::Beside(place));
    } else if !items.iter().all(is_beside) {
        // A title belongs to the session, wherever the file contains it: it is added at the end. So is the report about
        // a sub-agent that an earlier version did not take in.
        fork_branch(feed, session, place, at).await?;
    }
    Ok(RecordPlacement::New)
}

fn is_beside(item: &RecordItem) -> bool {
    match item {
        RecordItem::Fact(fact) => matches!(**fact, Fact::SessionDescribed(_)),
        item => matches!(item, RecordItem::Returned(_)),
    }
}

fn place_there(feed: &mut Feed<'_>, session: usize, branch: usize, seq: Seq) -> RecordPlacement {
    if let Some(tree) = feed.sessions.trees.get_mut(session) {
        tree.current = branch;
        if let Some(branch) = tree.branch_mut() {
            branch.last = Point::Seq(seq);
        }
    }
    RecordPlacement::There(seq)
}

/// For a session that is not open yet, places a record in the session that contains the same records.
async fn place_of_kin(
    feed: &mut Feed<'_>,
    session: usize,
    arriving: &Arriving<'_>,
) -> Result<Option<RecordPlacement>, Error> {
    let Arriving { record, items, at, .. } = *arriving;
    let Some(tree) = feed.sessions.trees.get(session) else { return Ok(None) };
    let SessionOrigin::Kin { parent, .. } = &tree.standing else { return Ok(None) };
    let places = record.id.as_ref().and_then(|id| feed.known.places.get(&record_key(id)));
    let found = places.into_iter().flatten().find(|(stream, _)| root(stream) == root(parent)).cloned();
    if let (Some((stream, seq)), Some(id)) = (found, &record.id) {
        let same = match first_message(record) {
            Some(message) => says_message(feed, &stream, id, message).await?,
            None => true,
        };
        if let Some(tree) = feed.sessions.trees.get_mut(session).filter(|_| same) {
            tree.standing = SessionOrigin::Kin { parent: stream, at_seq: seq };
            return Ok(Some(RecordPlacement::Elsewhere));
        }
    }
    if record.id.is_none() || items.is_empty() {
        return Ok(Some(RecordPlacement::Elsewhere));
    }
    open_child(feed, session, at).await?;
    Ok(None)
}

/// Returns the place at which an earlier import or a live agent stored a record.
async fn known_place(feed: &mut Feed<'_>, session: usize, id: &str) -> Result<Option<(usize, Seq)>, Error> {
    let record = record_key(id);
    let Some(tree) = feed.sessions.trees.get(session) else { return Ok(None) };
    if !tree.was_before() || tree.place(record).is_some() {
        return Ok(None);
    }
    let places = feed.known.places.get(&record).cloned().unwrap_or_default();
    for (stream, seq) in places {
        if let Some(branch) = branch_of(feed, session, &stream, seq).await? {
            return Ok(Some((branch, seq)));
        }
    }
    // A live agent may already have appended the event under the record's id.
    let Some(tree) = feed.sessions.trees.get(session) else { return Ok(None) };
    let found = feed.known.events.get(&event_id(id, 0)?).into_iter().flatten();
    Ok(found.filter_map(|(stream, event)| Some((tree.index_of(stream)?, event.seq))).min())
}

/// Returns the place of a record by its id, whether this import or an earlier one stored it.
pub(in crate::import::transcripts) fn place_of(
    feed: &Feed<'_>,
    session: usize,
    id: &str,
) -> Option<(usize, Point)> {
    let key = record_key(id);
    let tree = feed.sessions.trees.get(session)?;
    tree.place(key).or_else(|| {
        let places = feed.known.places.get(&key)?;
        places.iter().find_map(|(stream, seq)| {
            let branch = tree.index_of(stream);
            // Positions that a fork shares are stored in its parent.
            let shared = || (!is_of(stream, &tree.root) && *seq <= first_of(tree)).then_some(0);
            Some((branch.or_else(shared)?, Point::Seq(*seq)))
        })
    })
}

/// Returns the branch that a position of a stream belongs to, adding the branch to the tree if it is new.
async fn branch_of(
    feed: &mut Feed<'_>,
    session: usize,
    stream: &StreamId,
    seq: Seq,
) -> Result<Option<usize>, Error> {
    let Some(tree) = feed.sessions.trees.get(session) else { return Ok(None) };
    if let Some(branch) = tree.index_of(stream) {
        return Ok(Some(branch));
    }
    if !is_of(stream, &tree.root) {
        return Ok((seq <= first_of(tree)).then_some(0));
    }
    let Some(info) = feed.engine.info(stream).await? else { return Ok(None) };
    link_stream(feed, stream);
    let Some(tree) = feed.sessions.trees.get_mut(session) else { return Ok(None) };
    let (parent, base) = info.fork.clone().unwrap_or((tree.root.clone(), Seq(1)));
    let mut branch = Branch::new(info.id.clone(), base, info.said.max(base));
    branch.fork = Some((tree.index_of(&parent).unwrap_or(0), Point::Seq(base)));
    Ok(Some(tree.add(branch)))
}

/// Moves to the place of an erased record without an id, so that the following records continue from there.
pub(in crate::import::transcripts) async fn pass_by(
    feed: &mut Feed<'_>,
    session: usize,
    record: &TranscriptRecord,
    name: &str,
    items: &[RecordItem],
) -> Result<(), Error> {
    meet_record(feed, session, record).await?;
    if let Nameless::There(branch, seq) = count_nameless(feed, session, name, items)? {
        place_there(feed, session, branch, seq);
    }
    Ok(())
}

/// Adds to the tree those of a session's branches that contain a record without an id and are not in the tree yet.
async fn meet_record(feed: &mut Feed<'_>, session: usize, record: &TranscriptRecord) -> Result<(), Error> {
    let key: &str = record.session.as_deref().unwrap_or_default();
    let told = feed.known.nameless.get(key).into_iter().flatten();
    let told = told.filter(|one| one.offset == record.offset).map(|one| one.key(&feed.engine.tenant));
    let places = told.filter_map(|key| feed.known.places.get(&key)).flatten();
    for (stream, seq) in places.cloned().collect::<Vec<_>>() {
        let Some(tree) = feed.sessions.trees.get(session) else { return Ok(()) };
        if is_of(&stream, &tree.root) && tree.index_of(&stream).is_none() {
            branch_of(feed, session, &stream, seq).await?;
            let at_hand = feed.known.events_at_hand.clone();
            feed.look_for_events(&stream, &at_hand).await?;
        }
    }
    Ok(())
}

/// Looks up a record without an id. Records without ids are identified by their offset in the file.
fn count_nameless(
    feed: &Feed<'_>,
    session: usize,
    name: &str,
    items: &[RecordItem],
) -> Result<Nameless, Error> {
    let Some(tree) = feed.sessions.trees.get(session) else { return Ok(Nameless::Next) };
    let id = event_id(name, 0)?;
    let content = match items.first() {
        Some(RecordItem::Message(message)) => {
            let fact = Fact::MessageAppended(MessageAppended { message: message.clone() });
            Some(content_hash(&fact)?)
        }
        Some(_) => None,
        None => return Ok(Nameless::Next),
    };
    let found = feed.known.events.get(&id).into_iter().flatten();
    let mut found: Vec<_> =
        found.filter_map(|(stream, event)| Some((tree.index_of(stream)?, event))).collect();
    // The current branch comes first, then the latest ones.
    found.sort_by_key(|(index, _)| (*index != tree.current, Reverse(*index)));
    let mut differs = false;
    for (index, event) in found {
        let Some(branch) = tree.branches().get(index) else { continue };
        let same = content
            .zip(event.proof)
            .is_none_or(|(content, (salt, proof))| commitment(&salt, &content) == proof);
        if same {
            return Ok(Nameless::There(index, event.seq));
        }
        // A different last record does not count as a fork: it may have been read while it was being written.
        differs |= index == tree.current && Point::Seq(event.seq) < branch.tip;
    }
    Ok(if differs { Nameless::Differs } else { Nameless::Next })
}

async fn fork_branch(
    feed: &mut Feed<'_>,
    session: usize,
    place: (usize, Point),
    at: Millis,
) -> Result<(), Error> {
    // The position of an event is known once its batch is stored.
    if feed.sessions.trees.get(session).is_some_and(|tree| tree.seq(place).is_none()) {
        feed.arrive().await?;
    }
    let Some(tree) = feed.sessions.trees.get(session) else { return Ok(()) };
    let (Some(at_seq), Some(parent)) = (tree.seq(place), tree.branches().get(place.0)) else {
        return Ok(());
    };
    let forked = SessionForked { parent: parent.stream.clone(), at_seq };
    let session_of = tree.scope.session.clone().or_else(|| Some(tree.root.to_string()));
    let (compacted, scope) =
        (parent.compacted.min(at_seq), Scope { session: session_of, ..tree.scope.clone() });
    let (name, known) = branch_name(feed, session, &forked).await?;
    let mut said = at_seq;
    if let Some(known) = known {
        said = known.max(at_seq);
        link_stream(feed, &name);
    } else {
        fork_stream(feed, &name, scope, at, forked)?;
    }
    let Some(tree) = feed.sessions.trees.get_mut(session) else { return Ok(()) };
    let mut branch = Branch::new(name, at_seq, said);
    branch.compacted = compacted;
    branch.fork = Some(place);
    tree.current = tree.add(branch);
    Ok(())
}

/// Returns the name for a branch, and the branch's latest message if it exists. A name may already be used by a
/// branch that begins elsewhere, or by a branch that begins at the same place but has other records.
async fn branch_name(
    feed: &mut Feed<'_>,
    session: usize,
    forked: &SessionForked,
) -> Result<(StreamId, Option<Seq>), Error> {
    loop {
        let Some(tree) = feed.sessions.trees.get_mut(session) else { return Err(unexpected()) };
        let name = StreamId::new(tree.next_name())?;
        let Some(info) = feed.engine.info(&name).await? else { return Ok((name, None)) };
        let begins = info.fork.as_ref().is_some_and(|(of, at)| (of, *at) == (&forked.parent, forked.at_seq));
        if begins && info.said <= forked.at_seq {
            return Ok((name, Some(info.said)));
        }
        // Another branch has this name.
        tree.taken += 1;
    }
}

/// Returns the position before a session's own first event.
fn first_of(tree: &SessionTree) -> Seq {
    tree.branches().first().map_or(Seq::START, |branch| branch.opened)
}
