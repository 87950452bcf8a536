//! Files whose sessions and records have no ids: which one of them a file is a copy of.
//!
//! Their sessions are named after the file, and a copied, renamed or archived file shall name the same ones. So a file is
//! called what the first one was called whose records are its beginning, or begin with it. Its records are looked up by
//! their offset and content, and then whole sessions compared. What stands at the same place of many files (a system
//! prompt) leads to a few of them only, so a folder of files that begin alike does not compare each with each.
//!
//! | the file and the session | it is |
//! |---|---|
//! | hold the same records | the session |
//! | one of them goes on, after more than prompts | the session |
//! | one of them goes on, after nothing but prompts | another: many conversations begin with one prompt |
//! | both go on | another |
//!
//! Content that was erased has nothing left to compare with. Its place and length find the session, and all that was not
//! erased must be the same. Where all was, a few records at the same places must do.

use super::change::{KeptBytes, kept_since};
use super::feed::Feed;
use super::file_name::{called_name, last_nameless};
use super::known::{NamelessRecord, known_events, places_of};
use super::name::{file_of, has_no_ids, new_name};
use crate::error::{Error, file_error};
use crate::store::{Answer, Query};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs::File;
use wunderblock_core::id::StreamId;

/// Sessions that a file is compared with.
const CANDIDATES: usize = 4;
/// Records that tell a conversation from others, whatever they say.
const TELLING: usize = 8;
/// Records that tell by their places alone that they were erased.
const PLACES: usize = 3;

/// What the ledger calls the file, asked when the first record of the session `key` is at hand.
pub(super) async fn name_file(feed: &mut Feed<'_>, key: &str) -> Result<String, Error> {
    if feed.file.is_none() {
        let known = if has_no_ids(feed.format) { known_name(feed, key).await? } else { None };
        feed.file = Some(known.unwrap_or_else(|| new_name(&feed.path)));
    }
    Ok(feed.file.clone().unwrap_or_default())
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
    let (source, revision) = (feed.claim.source, feed.claim.revision);
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
    // A file that was rewritten from some place on is still what it was.
    let before = called_name(feed.engine, source, revision.saturating_sub(1)).await?;
    Ok(before.filter(|name| hits.iter().any(|(stream, _)| file_of(stream) == Some(name))))
}

/// Whether the records at hand and a session's are the same as far as both go, and the rest of the file is.
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
    if told.get(shared).is_some_and(|next| last > Some(next.offset)) {
        return Ok(false);
    }
    let is_read = feed.is_document || feed.path.metadata().is_ok_and(|meta| meta.len() <= feed.bytes.read);
    let is_whole = is_read && shared == told.len() && told.last().map(|one| one.offset) == last;
    let tells = shared >= TELLING || told.iter().take(shared).any(|one| one.is_reply);
    let is_enough = if same.contains(&Some(true)) { tells } else { tells && shared >= PLACES };
    Ok((is_whole || is_enough) && (feed.is_document || has_same_bytes(feed, stream).await?))
}

/// Whether the file is the same as what is kept of the session's files, as far as both go.
async fn has_same_bytes(feed: &Feed<'_>, stream: &StreamId) -> Result<bool, Error> {
    let query = Query::SourcesOf { tenant: feed.engine.tenant.no, stream: stream.clone() };
    let mut sources = feed.engine.ask(query, Answer::sources).await?;
    sources.retain(|source| source.revision.format == feed.format.name());
    sources.sort_by_key(|source| Reverse(source.revision.len));
    let failed = |error| file_error(&feed.path, &error);
    let mut file = File::open(&feed.path).map_err(failed)?;
    let len = file.metadata().map_err(failed)?.len();
    // Where the longest is the file's beginning the others are, too, or are branches.
    for (number, source) in sources.iter().enumerate() {
        if (number == 0 || source.revision.len >= len)
            && kept_since(feed.engine, source, &mut file, &feed.path).await? != KeptBytes::Other
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
