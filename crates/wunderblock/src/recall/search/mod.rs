//! Ranked search over documents, using the redacted index. Documents that are not indexed yet are scanned, so nothing
//! is missed. Texts that are kept as bytes are not indexed, and are always scanned.
//!
//! ```text
//! options ─► ground: scope, segments, streams behind ─► arms: index, waiting, kept, meaning ─► fusion ─► resolve ─► hits
//! ```

mod aside;
mod fusion;
mod ground;
mod hit;
mod kept;
mod kept_scan;
mod meaning;
mod options;
mod resolve;
mod snippet;
mod task;
mod waiting;

pub(crate) use aside::{Aside, search_aside};
pub use hit::{DocumentPlace, SearchCut, SearchHit, SearchResult};
pub(crate) use kept::kept_texts;
pub use options::{SearchIn, SearchOptions, SearchOrder};
pub use wunderblock_index::HitStrength;

use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::kept_bytes::KeptTexts;
use crate::limits::SEARCH_RETRIES;
use crate::recall::catch_up::catch_up_briefly;
use crate::rules::tokens::Vocabulary;
use fusion::Ranking;
use ground::Ground;
use hit::RankedHit;
use snippet::snippet;
use std::collections::HashSet;
use task::Task;
use wunderblock_core::units::Tokens;
use wunderblock_index::Question;
use wunderblock_store::{DerivedTable, StoreError};

/// Maximum number of messages with the words that are checked for the phrases, unless more hits are
/// wanted. It bounds the memory of a search.
const CANDIDATES: usize = 8_192;
/// Maximum number of messages whose texts are read at a time.
const BATCH: usize = 64;

impl Engine {
    pub(crate) fn can_write(&self) -> bool {
        self.file.as_ref().is_none_or(|file| file.is_writable())
    }
}

/// Searches the documents of the ledger.
pub(crate) async fn search(
    engine: &Engine,
    query: &str,
    options: &SearchOptions,
) -> Result<SearchResult, Error> {
    let question = if options.free_text { Question::from_text(query) } else { Question::parse(query) };
    let question = question.map_err(|error| Error::Query(error.to_string()))?;
    let mut ground = Ground::find(engine, options).await?;
    if ground.is_far_behind(DerivedTable::Words) {
        if options.brief {
            return Ok(SearchResult { hits: Vec::new(), scanned: 0, cut: Some(SearchCut::NotIndexed) });
        }
        catch_up_briefly(engine, true).await?;
        ground = Ground::find(engine, options).await?;
    }
    let task = Task::new(engine, query, &question, options, &ground);
    // A segment may be joined with others after its header has been read but before its blocks have been read. The failed
    // read is then retried.
    for _ in 1..SEARCH_RETRIES {
        match search_once(&task).await {
            Err(Error::Store(StoreError::Damaged(_)) | Error::Index(_)) => {}
            other => return other,
        }
    }
    search_once(&task).await
}

async fn search_once(task: &Task<'_>) -> Result<SearchResult, Error> {
    let Task { engine, options, .. } = *task;
    let words = task.words();
    let ground = Ground::find(engine, options).await?.filtered(engine, &options.events).await?;
    let is_plain = options.messages_only || options.brief;
    let kept = if is_plain { KeptTexts::new() } else { kept_texts(engine).await? };
    let ranking = Ranking::prepare(task, ground, kept).await?;
    let Ranking { kept, scanned, late, by_words, .. } = &ranking;
    let mut limit = options.limit;
    let max = options.limit.max(CANDIDATES);
    let (mut found, mut resolved, mut seen) = (Vec::new(), 0, HashSet::new());
    loop {
        let hits = ranking.best(limit)?;
        let all = hits.len() < limit;
        let mut cut = None;
        let mut hits = hits.into_iter().skip(resolved).peekable();
        while found.len() < options.limit && hits.peek().is_some() {
            if options.deadline.is_over() {
                cut = Some(SearchCut::Candidates(resolved as u64));
                break;
            }
            let _turn = options.deadline.turn().await;
            let mut batch: Vec<RankedHit> = hits.by_ref().take(BATCH).collect();
            resolved += batch.len();
            // The message in place of bytes is indexed, and its text is scanned.
            batch.retain(|hit| seen.insert(hit.doc));
            // Around the answer to a question there may be an answer, too; around a word there is nothing that was
            // asked for.
            batch.retain(|hit| !task.is_word || hit.has_words());
            found.extend(resolve::resolve(task, batch, kept).await?);
        }
        if found.len() < options.limit && !all && limit >= max {
            cut = cut.or(Some(SearchCut::Candidates(resolved as u64)));
        }
        if found.len() >= options.limit || all || cut.is_some() {
            found.truncate(options.limit);
            let mut hits = Vec::with_capacity(found.len());
            for (key, mut hit) in found {
                if let Some((place, text)) = kept.best_line(engine, words, key, &hit.matched).await? {
                    (hit.place, hit.snippet) = (Some(place), snippet(engine, &[&text], &hit.matched));
                }
                hits.push(hit);
            }
            if let Some(room) = options.tokens {
                keep_within(&mut hits, room);
            }
            let cut = cut.or(late.then_some(SearchCut::Scanning));
            let cut = cut.or(by_words.then_some(SearchCut::Meaning)).or_else(|| task.degraded.clone());
            return Ok(SearchResult { hits, scanned: *scanned, cut });
        }
        // The index does not check phrases, so hits may have been removed, and the search is repeated with
        // a higher limit.
        limit = limit.saturating_mul(4).min(max);
    }
}

/// Keeps the best hits whose texts fit into a number of tokens together.
fn keep_within(hits: &mut Vec<SearchHit>, mut room: Tokens) {
    hits.retain(|hit| {
        let size = Tokens(u64::from(Vocabulary::O200k.count(&hit.snippet)));
        let fits = size <= room;
        if fits {
            room = room.saturating_sub(size);
        }
        fits
    });
}
