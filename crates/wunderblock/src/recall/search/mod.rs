//! Ranked search over documents, using the redacted index. Documents that are not indexed yet are scanned, so nothing
//! is missed. Texts that are kept as bytes are not indexed, and are always scanned.
//!
//! ```text
//! options ─► ground: scope, segments, streams behind ─► arms: index, waiting, kept ─► fusion ─► resolve ─► hits
//! ```

mod fusion;
mod ground;
mod kept;
mod kept_scan;
mod resolve;
mod snippet;
mod waiting;

pub(crate) use kept::kept_texts;
pub use wunderblock_index::{HitStrength, SearchOrder};

use crate::base::apart::apart;
use crate::base::deadline::Deadline;
use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::ledger::address::Address;
use crate::ledger::engine::Engine;
use crate::ledger::kept_bytes::BytePlace;
use crate::limits::SEARCH_RETRIES;
use crate::recall::catch_up::catch_up_briefly;
use fusion::Ranking;
use ground::Ground;
use serde::Serialize;
use snippet::snippet;
use std::collections::HashSet;
use wunderblock_core::id::StreamId;
use wunderblock_core::message::Role;
use wunderblock_core::units::{Millis, Seq};
use wunderblock_index::{DocHit, ParsedQuery as Words};
use wunderblock_store::{EventFilter, StoreError, StreamFilter};

/// Options of a search.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// Session to search, including the events before its fork. `None` searches all sessions of the tenant.
    pub session: Option<StreamId>,
    /// Session to leave out, if `session` is `None`: with its branches and sub-agents, and the sessions that it continues.
    pub except: Option<StreamId>,
    /// Order of the hits: best first or newest first.
    pub order: SearchOrder,
    /// Maximum number of hits.
    pub limit: usize,
    /// Whether the query is plain text, in which there are no operators and every word is optional.
    pub free_text: bool,
    /// Whether to return no hits if more messages wait for the index than a search scans quickly.
    pub brief: bool,
    /// Sessions to search, if `session` is `None`.
    pub sessions: StreamFilter,
    /// Filter for the messages.
    pub events: EventFilter,
    /// Whether to leave out texts that are kept as bytes: outputs of commands that are too long for a message, and
    /// records that are too long to be parsed. A brief search leaves them out, too.
    pub messages_only: bool,
    /// Time at which the search is given up.
    pub deadline: Deadline,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            session: None,
            except: None,
            order: SearchOrder::Ranked,
            limit: 10,
            free_text: false,
            brief: false,
            sessions: StreamFilter::default(),
            events: EventFilter::default(),
            messages_only: false,
            deadline: Deadline::default(),
        }
    }
}

/// Event that matches a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SearchHit {
    /// Session that contains the event.
    pub session: StreamId,
    /// Position of the event.
    pub seq: Seq,
    /// Time of the event.
    pub at: Millis,
    /// Role of the message. Not serialised.
    #[serde(skip)]
    pub role: Role,
    /// Relevance, with 16 fractional bits. Zero if hits are sorted newest first.
    pub score: i64,
    /// How well the message answers the query. Zero if hits are sorted newest first. Not serialised.
    #[serde(skip)]
    pub strength: HitStrength,
    /// Words of the query that the message contains.
    pub matched: Vec<Box<str>>,
    /// Redacted text around the first match.
    pub snippet: String,
    /// Place of the line with the most words of the query, if the text is kept as bytes: the output of a command, for
    /// which the message stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<BytePlace>,
}

impl SearchHit {
    /// Returns the address of the hit, for [`Engine::read`] and [`Engine::expand`].
    #[must_use]
    pub fn address(&self, engine: &Engine) -> Address {
        Address { handle: engine.stream_handle(&self.session), range: Some((self.seq, self.seq)) }
    }

    /// Returns what [`Engine::read`] accepts as the place of the hit: the message, or bytes.
    #[must_use]
    pub fn readable(&self, engine: &Engine) -> String {
        self.place.map_or_else(|| self.address(engine).to_string(), |place| place.to_string())
    }
}

/// Result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchResult {
    /// Hits in the requested order.
    pub hits: Vec<SearchHit>,
    /// Number of messages that were scanned because they are not indexed yet.
    pub scanned: u64,
    /// Reason why hits may be missing.
    pub cut: Option<SearchCut>,
}

/// Reason why a search ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchCut {
    /// The deadline passed while texts that are not indexed were scanned.
    #[error("the search was given up before all texts that are not in the index were scanned")]
    Scanning,
    /// The deadline passed, or too many messages contain the words but not the phrases, or do not pass the filter.
    #[error(
        "the search was given up after the {0} best messages that contain the words; most of them do not pass the \
         filter, or do not contain the phrase"
    )]
    Candidates(u64),
}

/// A query, and what it is asked for.
struct Task<'a> {
    engine: &'a Engine,
    words: &'a Words,
    options: &'a SearchOptions,
}

/// Maximum number of messages with the words that are checked for the phrases and the filter, unless more hits are
/// wanted. It bounds the memory of a search.
const CANDIDATES: usize = 8_192;
/// Maximum number of messages whose texts are read at a time.
const BATCH: usize = 64;

impl Engine {
    /// Searches the messages of the ledger.
    ///
    /// # Errors
    /// Returns an error if the query has no searchable word, or if the ledger cannot be read.
    pub fn search<'a>(&'a self, query: &'a str, options: &'a SearchOptions) -> BoxFuture<'a, SearchResult> {
        let (engine, query, options) = (self.clone(), query.to_owned(), options.clone());
        Box::pin(apart(move || async move { search(&engine, &query, &options).await }))
    }

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
    let words = if options.free_text { Words::from_text(query) } else { Words::parse(query) };
    let words = words.map_err(|error| Error::Query(error.to_string()))?;
    let ground = Ground::find(engine, options).await?;
    if ground.is_far_behind() {
        if options.brief {
            return Ok(SearchResult { hits: Vec::new(), scanned: 0, cut: None });
        }
        catch_up_briefly(engine, true).await?;
    }
    let task = Task { engine, words: &words, options };
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
    let Task { engine, words, options } = *task;
    let ranking = Ranking::prepare(task, Ground::find(engine, options).await?).await?;
    let Ranking { kept, scanned, late, .. } = &ranking;
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
            let mut batch: Vec<DocHit> = hits.by_ref().take(BATCH).collect();
            resolved += batch.len();
            // The message in place of bytes is indexed, and its text is scanned.
            batch.retain(|hit| seen.insert(hit.doc));
            found.extend(resolve::resolve(task, batch, kept).await?);
        }
        if found.len() < options.limit && !all && limit >= max {
            cut = cut.or(Some(SearchCut::Candidates(resolved as u64)));
        }
        if found.len() >= options.limit || all || cut.is_some() {
            found.truncate(options.limit);
            let mut hits = Vec::with_capacity(found.len());
            for (key, mut hit) in found {
                if let Some((place, text)) = kept.best_line(engine, words, (key, &hit.matched)).await? {
                    (hit.place, hit.snippet) = (Some(place), snippet(engine, &[&text], &hit.matched));
                }
                hits.push(hit);
            }
            let cut = cut.or(late.then_some(SearchCut::Scanning));
            return Ok(SearchResult { hits, scanned: *scanned, cut });
        }
        // The index does not check phrases and filters, so hits may have been removed, and the search is repeated with
        // a higher limit.
        limit = limit.saturating_mul(4).min(max);
    }
}
