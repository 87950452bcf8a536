//! Ranked search over what was said, through the redacted index; what is not indexed yet is scanned, so nothing is
//! missed.

use crate::engine::{Engine, unexpected};
use crate::error::Error;
use crate::index::{self, DocKey, Header, Hit, Phrase, Query as Words, Scope, Search, Tail};
use crate::limits::CATCH_UP_EVENTS;
use crate::store::{Answer, Order, Query, StreamInfo, StreamNo};
use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use wunderblock_core::event::Fact;
use wunderblock_core::id::StreamId;
use wunderblock_core::message::Role;
use wunderblock_core::units::{Bytes, Millis, Seq};

pub use crate::index::Order as SearchOrder;

/// How to search.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// Only this session, with what it forked from; every session of the tenant if none.
    pub session: Option<StreamId>,
    /// Best or newest first.
    pub order: SearchOrder,
    /// At most so many hits.
    pub limit: usize,
    /// Take the query as plain text: no operators, every word optional.
    pub free_text: bool,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self { session: None, order: SearchOrder::Ranked, limit: 10, free_text: false }
    }
}

/// One event found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The session that holds it.
    pub session: StreamId,
    /// Its position.
    pub seq: Seq,
    /// When it happened.
    pub at: Millis,
    /// Who spoke.
    pub role: Role,
    /// How good, with 16 fractional bits; zero where the newest come first.
    pub score: i64,
    /// The words of the query it has.
    pub matched: Vec<Box<str>>,
    /// The redacted text around the first match.
    pub snippet: String,
}

/// The outcome of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchResult {
    /// What was found.
    pub hits: Vec<Found>,
    /// Events that were scanned because the index had not reached them.
    pub scanned: u64,
}

/// Beyond this many events that are not indexed, indexing first is cheaper than scanning.
const SCAN_MAX: u64 = 256;
/// Bytes of a snippet on either side of the match.
const SNIPPET: usize = 120;

impl Engine {
    /// Searches what was said.
    ///
    /// # Errors
    /// When the query has nothing to search for, or the ledger cannot be read.
    pub async fn search(&self, query: &str, options: &SearchOptions) -> Result<SearchResult, Error> {
        let words = if options.free_text { Words::from_text(query) } else { Words::parse(query) };
        let words = words.map_err(|error| Error::Query(error.to_string()))?;
        let scope = self.scope(options.session.as_ref()).await?;
        let tail = self.tail(&words, &scope).await?;
        let segments = self.headers().await?;
        let headers: Vec<&Header> = segments.iter().map(|(_, header)| header).collect();
        let blocks = self.blocks(&words, &segments).await?;
        let scanned = tail.1;
        let mut limit = options.limit;
        loop {
            let search = Search { query: &words, scope: &scope.0, order: options.order, limit };
            let fetch = |segment: usize, number: u32| -> Result<&[u8], Infallible> {
                Ok(blocks.get(&(segment, number)).map_or(&[][..], Vec::as_slice))
            };
            let hits = index::search(&search, &headers, Some(&tail.0), fetch, |_, _| Ok(true))
                .map_err(|error| Error::Store(crate::store::StoreError::Damaged(error.to_string())))?;
            let all = hits.len() < limit;
            let found = self.resolve(hits, &words, &scope).await?;
            if found.len() >= options.limit || all {
                let hits = found.into_iter().take(options.limit).collect();
                return Ok(SearchResult { hits, scanned });
            }
            // Phrases were not checked yet when the hits were counted: look at more of them.
            limit = limit.saturating_mul(4);
        }
    }

    /// What a searcher may see, and the names of the streams in it.
    async fn scope(&self, session: Option<&StreamId>) -> Result<(Scope, HashMap<StreamNo, StreamId>), Error> {
        let Some(session) = session else { return Ok((Scope::everything(), HashMap::new())) };
        let query = Query::Lineage { tenant: self.tenant.no, stream: session.clone() };
        let stretches = match self.one(query).await {
            Err(Error::Store(crate::store::StoreError::NoStream(id))) => {
                return Err(Error::NoSession(id.to_string()));
            }
            Ok(Answer::Lineage(stretches)) => stretches,
            Ok(_) => return Err(unexpected()),
            Err(error) => return Err(error),
        };
        let ranges = stretches.iter().map(|stretch| (stretch.no.0, stretch.from.0..=stretch.to.0));
        let names = stretches.iter().map(|stretch| (stretch.no, stretch.stream.clone())).collect();
        Ok((Scope::of(ranges), names))
    }

    async fn headers(&self) -> Result<Vec<(u64, Header)>, Error> {
        let Answer::Segments(segments) = self.one(Query::Segments { tenant: self.tenant.no }).await? else {
            return Err(unexpected());
        };
        segments
            .into_iter()
            .map(|segment| match Header::decode(&segment.header) {
                Ok(header) => Ok((segment.id, header)),
                Err(error) => Err(Error::Store(crate::store::StoreError::Damaged(format!(
                    "the text index: {error}; `doctor --rebuild` makes it anew"
                )))),
            })
            .collect()
    }

    async fn blocks(
        &self,
        words: &Words,
        segments: &[(u64, Header)],
    ) -> Result<HashMap<(usize, u32), Vec<u8>>, Error> {
        let mut places = Vec::new();
        let mut wanted = Vec::new();
        for (place, (id, header)) in segments.iter().enumerate() {
            for number in words.blocks(header) {
                places.push((place, number));
                wanted.push((*id, number));
            }
        }
        if wanted.is_empty() {
            return Ok(HashMap::new());
        }
        let Answer::Blocks(blocks) = self.one(Query::Blocks { tenant: self.tenant.no, wanted }).await? else {
            return Err(unexpected());
        };
        Ok(places
            .into_iter()
            .zip(blocks)
            .filter_map(|(place, block)| block.map(|block| (place, block)))
            .collect())
    }

    /// What the index has not reached, scanned for the query.
    async fn tail(
        &self,
        words: &Words,
        scope: &(Scope, HashMap<StreamNo, StreamId>),
    ) -> Result<(Tail, u64), Error> {
        let mut behind = self.behind().await?;
        let open: u64 = behind.iter().map(|info| info.head.0 - info.indexed.0).sum();
        if open > SCAN_MAX && self.can_write() {
            self.catch_up(&mut |_| {}).await?;
            behind = self.behind().await?;
        }
        let mut documents: Vec<(DocKey, Vec<String>)> = Vec::new();
        for info in behind {
            if !scope.1.is_empty() && !scope.1.contains_key(&info.no) {
                continue;
            }
            let mut from = info.indexed.next();
            while from <= info.head {
                let page = self.spoken(&info, from, CATCH_UP_EVENTS).await?;
                let Some(last) = page.last else { break };
                documents.extend(page.documents);
                from = last.next();
            }
        }
        let scanned = documents.len() as u64;
        let texts = documents.iter().map(|(key, texts)| (*key, texts.iter().map(String::as_str)));
        Ok((Tail::scan(words, texts), scanned))
    }

    pub(crate) async fn behind(&self) -> Result<Vec<StreamInfo>, Error> {
        let query = Query::Behind { tenant: self.tenant.no, limit: u64::from(u32::MAX) };
        let Answer::Streams(behind) = self.one(query).await? else { return Err(unexpected()) };
        Ok(behind.into_iter().filter(|info| info.indexed < info.head).collect())
    }

    pub(crate) fn can_write(&self) -> bool {
        self.file.as_ref().is_none_or(|file| file.is_writable())
    }

    /// Hits with what people want to see of them; those whose text has not the phrases asked for are gone.
    async fn resolve(
        &self,
        hits: Vec<Hit>,
        words: &Words,
        scope: &(Scope, HashMap<StreamNo, StreamId>),
    ) -> Result<Vec<Found>, Error> {
        let names = if scope.1.is_empty() { self.stream_names().await? } else { scope.1.clone() };
        let mut by_stream: BTreeMap<u32, Vec<Seq>> = BTreeMap::new();
        for hit in &hits {
            by_stream.entry(hit.doc.stream).or_default().push(Seq(hit.doc.seq));
        }
        let mut rows = HashMap::new();
        for (no, seqs) in by_stream {
            let Some(stream) = names.get(&StreamNo(no)) else { continue };
            let query = Query::At { tenant: self.tenant.no, stream: stream.clone(), seqs };
            let Answer::Events(found) = self.one(query).await? else { return Err(unexpected()) };
            rows.extend(found.into_iter().map(|row| ((no, row.seq.0), row)));
        }
        let handles = rows.values().filter_map(|row| self.event(names.get(&row.stream)?, row).ok()?.fact);
        let handles: Vec<_> = handles
            .flat_map(|fact| fact.bodies().into_iter().filter_map(|body| body.handle()).collect::<Vec<_>>())
            .collect();
        let texts = self.texts(handles).await?;
        let phrases: Vec<(&Phrase, bool)> = words.phrases().collect();
        let mut found = Vec::with_capacity(hits.len());
        for hit in hits {
            let (Some(row), Some(session)) =
                (rows.get(&(hit.doc.stream, hit.doc.seq)), names.get(&StreamNo(hit.doc.stream)))
            else {
                continue;
            };
            let event = self.event(session, row)?;
            let Some(Fact::MessageAppended(said)) = &event.fact else { continue };
            let spoken = self.redacted(&said.message, &texts);
            if !phrases.iter().all(|(phrase, wanted)| spoken.iter().any(|text| phrase.is_in(text)) == *wanted)
            {
                continue;
            }
            found.push(Found {
                session: session.clone(),
                seq: event.seq,
                at: event.at,
                role: said.message.role,
                score: hit.score,
                snippet: snippet(&spoken, &hit.matched),
                matched: hit.matched,
            });
        }
        Ok(found)
    }

    async fn stream_names(&self) -> Result<HashMap<StreamNo, StreamId>, Error> {
        let streams = self.streams("", u64::from(u32::MAX)).await?;
        Ok(streams.into_iter().map(|info| (info.no, info.id)).collect())
    }

    pub(crate) async fn page(
        &self,
        info: &StreamInfo,
        from: Seq,
        (limit, text): (u64, Bytes),
    ) -> Result<Vec<crate::store::StoredEvent>, Error> {
        let query = Query::Events {
            tenant: self.tenant.no,
            stream: info.id.clone(),
            from,
            to: info.head,
            order: Order::Ascending,
            limit,
            text,
            counts: false,
        };
        match self.one(query).await? {
            Answer::Events(rows) => Ok(rows),
            _ => Err(unexpected()),
        }
    }
}

/// The text around the first match.
fn snippet(texts: &[String], matched: &[Box<str>]) -> String {
    let first = matched.first().map(|word| word.trim_matches(['+', '"']).to_lowercase()).unwrap_or_default();
    let place = texts.iter().find_map(|text| find_folded(text, &first).map(|at| (text, at)));
    let Some((text, at)) = place.or_else(|| texts.first().map(|text| (text, 0))) else {
        return String::new();
    };
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let lead = wunderblock_core::stub::tail(before, SNIPPET);
    let follow = wunderblock_core::stub::head(after, 2 * SNIPPET);
    let mut out = String::new();
    if lead.len() < before.len() {
        out.push('…');
    }
    out.extend(lead.chars().chain(follow.chars()).map(|c| if c.is_control() { ' ' } else { c }));
    if follow.len() < after.len() {
        out.push('…');
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Where a lowercase word stands in a text, whatever its case. ASCII case only: a snippet needs no more.
fn find_folded(text: &str, word: &str) -> Option<usize> {
    if word.is_empty() {
        return None;
    }
    let (text_bytes, word) = (text.as_bytes(), word.as_bytes());
    let mut from = 0;
    let first = *word.first()?;
    loop {
        let rest = text_bytes.get(from..)?;
        let at = from + memchr::memchr2(first, first.to_ascii_uppercase(), rest)?;
        let here = text_bytes.get(at..at + word.len())?;
        if here.eq_ignore_ascii_case(word) && text.is_char_boundary(at) {
            return Some(at);
        }
        from = at + 1;
    }
}
