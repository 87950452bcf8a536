//! For a file without session ids or record ids, finds the session that the file is a copy of.
//!
//! Sessions without ids are named after their file, and a copied, renamed or archived file must give the same names.
//! A file therefore gets the name of the first file whose records either form the beginning of its own records or
//! begin with them. Records are looked up by offset and content, and then whole sessions are compared. If a record is
//! at the same place in many files (for example, a system prompt), only a few of them become candidates, so files in
//! a folder are not all compared with each other just because they begin alike.
//!
//! | the file and the session | the file is |
//! |---|---|
//! | contain the same records | the session |
//! | one continues the other, after more than prompts | the session |
//! | one continues the other, after prompts only | another session: many conversations begin with the same prompt |
//! | both continue differently | another session |
//!
//! Erased content cannot be compared. The place and length of the erased content identify the session, and everything
//! that is not erased must be equal. If all common records are erased, a few records at the same places are
//! sufficient.

use super::feed::Feed;
use super::known::{NamelessRecord, known_events, places_of};
use crate::base::error::{Error, file_error};
use crate::import::records::file_name::{called_name, last_nameless};
use crate::import::records::name::{file_of, has_no_ids, new_name};
use crate::import::transcripts::files::change::{KeptBytes, kept_since};
use crate::import::transcripts::files::opened::Content;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs::File;
use wunderblock_core::id::StreamId;
use wunderblock_store::{Answer, Query};

/// Maximum number of sessions that a file is compared with. The limit bounds the work for files with the same
/// beginning.
const CANDIDATES: usize = 4;
/// Minimum number of common records that identify a conversation, whatever their content.
const TELLING: usize = 8;
/// Minimum number of common records that identify a conversation if all of them are erased.
const PLACES: usize = 3;

/// Returns the name of the file in the ledger. The first records of the session `key` must have been looked up.
pub(super) async fn name_file(feed: &mut Feed<'_>, key: &str) -> Result<String, Error> {
    if feed.sessions.file_name.is_none() {
        let known = if has_no_ids(feed.file.format) { known_name(feed, key).await? } else { None };
        feed.sessions.file_name = Some(known.unwrap_or_else(|| new_name(&feed.file.path)));
    }
    Ok(feed.sessions.file_name.clone().unwrap_or_default())
}

async fn known_name(feed: &mut Feed<'_>, key: &str) -> Result<Option<String>, Error> {
    let told = feed.known.nameless.get(key).cloned().unwrap_or_default();
    let tenant = &feed.engine.tenant;
    let keys = told.iter().flat_map(|one| [one.key(tenant), one.erased_key()]);
    let places = places_of(feed.engine, keys.collect()).await?;
    let mut hits: HashMap<StreamId, usize> = HashMap::new();
    for (stream, _) in places.values().flatten() {
        *hits.entry(stream.clone()).or_default() += 1;
    }
    feed.known.places.extend(places);
    let (source, revision) = (feed.outbox.claim.source, feed.outbox.claim.revision);
    if let Some(name) = called_name(feed.engine, source, revision).await? {
        return Ok(Some(name));
    }
    let mut hits: Vec<(StreamId, usize)> = hits.into_iter().collect();
    hits.sort_unstable_by(|a, b| (Reverse(a.1), &a.0).cmp(&(Reverse(b.1), &b.0)));
    for (stream, _) in hits.iter().take(CANDIDATES) {
        if let Some(name) = file_of(stream)
            && is_twin(feed, stream, &told).await?
        {
            return Ok(Some(name.to_owned()));
        }
    }
    // A file that was rewritten from some point onwards keeps its name.
    let before = called_name(feed.engine, source, revision.saturating_sub(1)).await?;
    Ok(before.filter(|name| hits.iter().any(|(stream, _)| file_of(stream) == Some(name))))
}

/// Returns whether the current records equal a session's records up to the end of the shorter list, and whether the
/// bytes of their files are equal in the same sense.
async fn is_twin(feed: &Feed<'_>, stream: &StreamId, told: &[NamelessRecord]) -> Result<bool, Error> {
    let ids: Vec<_> = told.iter().map(|one| one.id.clone()).collect();
    let events = known_events(feed.engine, stream, &ids).await?;
    let shared = events.iter().take_while(|event| event.is_some()).count();
    let same: Vec<Option<bool>> =
        told.iter().zip(events.iter().flatten()).map(|(one, event)| one.is(event)).collect();
    if same.len() > shared || same.contains(&Some(false)) {
        return Ok(false);
    }
    let last = last_nameless(feed.engine, stream).await?;
    // The session has later records, but not the file's next record, so the file and the session continue
    // differently.
    if told.get(shared).is_some_and(|next| last > Some(next.offset)) {
        return Ok(false);
    }
    let is_read = feed.file.is_document
        || feed.file.path.metadata().is_ok_and(|meta| meta.len() <= feed.outbox.bytes.read);
    let is_whole = is_read && shared == told.len() && told.last().map(|one| one.offset) == last;
    let tells = shared >= TELLING || told.iter().take(shared).any(|one| one.is_reply);
    let is_enough = if same.contains(&Some(true)) { tells } else { tells && shared >= PLACES };
    Ok((is_whole || is_enough) && (feed.file.is_document || has_same_bytes(feed, stream).await?))
}

/// Returns whether the file equals the stored bytes of any of the session's files, up to the end of the shorter one.
async fn has_same_bytes(feed: &Feed<'_>, stream: &StreamId) -> Result<bool, Error> {
    let query = Query::SourcesOf { tenant: feed.engine.tenant.no, stream: stream.clone() };
    let mut sources = feed.engine.ask(query, Answer::sources).await?;
    sources.retain(|source| source.revision.format == feed.file.format.name());
    sources.sort_by_key(|source| Reverse(source.revision.len));
    let failed = |error| file_error(&feed.file.path, &error);
    let mut file = Content::File(File::open(&feed.file.path).map_err(failed)?);
    let len = file.len().map_err(failed)?;
    // If the longest stored file is the beginning of this file, each shorter one is also a beginning of this file, or
    // a branch.
    for (number, source) in sources.iter().enumerate() {
        if (number == 0 || source.revision.len >= len)
            && kept_since(feed.engine, source, &mut file, &feed.file.path).await? != KeptBytes::Other
        {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_session_tells_the_file_it_is_named_after() {
        let of = |id: &str| file_of(&StreamId::new(id).unwrap()).map(ToOwned::to_owned);
        let file = new_name(Path::new("/a b/my-chat-log.md"));
        for rest in ["", "~2", "@0a1b2c3d", "-chat-2", "-line-12345678", "-conversation-3~2"] {
            assert_eq!(of(&format!("{file}{rest}")).as_deref(), Some(&*file), "{rest}");
        }
        assert_eq!(of("0c1f-agent"), None);
    }
}
