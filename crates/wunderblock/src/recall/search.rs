//! Ranked search over messages, using the redacted index. Messages that are not indexed yet are scanned, so nothing
//! is missed. Texts that are kept as bytes are not indexed, and are always scanned.

mod bytes;
mod kept;
mod snippet;

pub(crate) use kept::kept_texts;

use crate::base::deadline::Deadline;
use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::base::parallel;
use crate::ledger::address::Address;
use crate::ledger::engine::{Engine, unexpected};
use crate::ledger::kept_bytes::BytePlace;
use crate::ledger::query_batch::QueryBatch;
use crate::ledger::stored::{decode_event, read_page, read_texts};
use crate::limits::{CATCH_UP_BYTES, CATCH_UP_EVENTS, SCAN_BYTES, SCAN_EVENTS, SEARCH_RETRIES};
use crate::recall::catch_up::{catch_up_briefly, is_searched};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::convert::Infallible;
use std::sync::Arc;
use wunderblock_core::event::Fact;
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::message::{Body, Message, Part, Role};
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::{Bytes, Millis, Seq};
use wunderblock_index::{
    DocHit, DocKey, DocScope, Header, IndexSearch, ParsedQuery as Words, Phrase, SearchError, Tail,
};
use wunderblock_store::codec::{Unpacker, utf8};
use wunderblock_store::{
    Answer, EventFilter, PackedBlob, Query, StoreError, StoredEvent, StreamFilter, StreamInfo, StreamNo,
    TenantNo,
};

use bytes::{KeptScan, scan_kept};
use snippet::{redacted, snippet};
pub use wunderblock_index::{HitStrength, SearchOrder};

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

/// State of the index and the ledger that a search uses, from one snapshot.
struct Ground {
    scope: DocScope,
    /// Streams with events that are not indexed yet.
    behind: Vec<StreamInfo>,
    /// Index segments, newest first.
    segments: Vec<(u64, Arc<Header>)>,
}

/// Maximum number of messages with the words that are checked for the phrases and the filter, unless more hits are
/// wanted. It bounds the memory of a search.
const CANDIDATES: usize = 8_192;
/// Maximum number of messages whose texts are read at a time.
const BATCH: usize = 64;
/// Number of messages that one thread scans at a time.
const SHARE: usize = 64;

impl Engine {
    /// Searches the messages of the ledger.
    ///
    /// # Errors
    /// Returns an error if the query has no searchable word, or if the ledger cannot be read.
    pub fn search<'a>(&'a self, query: &'a str, options: &'a SearchOptions) -> BoxFuture<'a, SearchResult> {
        Box::pin(async move {
            let words = if options.free_text { Words::from_text(query) } else { Words::parse(query) };
            let words = words.map_err(|error| Error::Query(error.to_string()))?;
            let ground = find_ground(self, options).await?;
            if ground.is_far_behind() {
                if options.brief {
                    return Ok(SearchResult { hits: Vec::new(), scanned: 0, cut: None });
                }
                catch_up_briefly(self, true).await?;
            }
            // A segment may be joined with others after its header has been read but before its blocks have been
            // read. The failed read is then retried.
            for _ in 1..SEARCH_RETRIES {
                match search_once(self, &words, options).await {
                    Err(Error::Store(StoreError::Damaged(_)) | Error::Index(_)) => {}
                    other => return other,
                }
            }
            search_once(self, &words, options).await
        })
    }

    pub(crate) fn can_write(&self) -> bool {
        self.file.as_ref().is_none_or(|file| file.is_writable())
    }
}

impl Ground {
    /// Returns whether more is waiting to be indexed than a search scans quickly. The waiting text of a session is
    /// estimated from the average length of its events.
    fn is_far_behind(&self) -> bool {
        let waiting = |info: &StreamInfo| info.head.0.saturating_sub(info.indexed.0);
        let events: u64 = self.behind.iter().map(waiting).sum();
        let text = |info: &StreamInfo| Bytes(info.text.0 / info.head.0.max(1) * waiting(info));
        events > SCAN_EVENTS || self.behind.iter().map(text).sum::<Bytes>() > SCAN_BYTES
    }
}

async fn search_once(engine: &Engine, words: &Words, options: &SearchOptions) -> Result<SearchResult, Error> {
    let ground = find_ground(engine, options).await?;
    let (tail, scanned, late) = search_tail(engine, words, (&ground, &options.deadline)).await?;
    let kept = search_kept(engine, words, (&ground, options)).await?;
    let late = late || kept.late;
    let tail =
        Tail::join(words, vec![tail, kept.tail(words)]).map_err(|error| Error::Query(error.to_string()))?;
    let (scope, segments) = (ground.scope, ground.segments);
    let headers: Vec<&Header> = segments.iter().map(|(_, header)| header.as_ref()).collect();
    let blocks = read_blocks(engine, words, &segments).await?;
    let mut limit = options.limit;
    let max = options.limit.max(CANDIDATES);
    let (mut found, mut resolved, mut seen) = (Vec::new(), 0, HashSet::new());
    loop {
        let search = IndexSearch { query: words, scope: &scope, order: options.order, limit };
        let fetch = |segment: usize, number: u32| -> Result<&[u8], Infallible> {
            Ok(blocks.get(&(segment, number)).map_or(&[][..], Vec::as_slice))
        };
        let hits = wunderblock_index::search(&search, &headers, Some(&tail), fetch, |_, _| Ok(true))
            .map_err(|error| match error {
                SearchError::Segment(error) => Error::Index(error),
                SearchError::Source(never) => match never {},
            })?;
        let all = hits.len() < limit;
        let mut cut = None;
        // A higher limit gives the same hits and further ones.
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
            found.extend(resolve_hits(engine, batch, (words, &options.events, &kept)).await?);
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
            return Ok(SearchResult { hits, scanned, cut: cut.or(late.then_some(SearchCut::Scanning)) });
        }
        // The index does not check phrases and filters, so hits may have been removed, and the search is repeated with
        // a higher limit.
        limit = limit.saturating_mul(4).min(max);
    }
}

/// Collects what to search from one snapshot, so that every message is either indexed or scanned, and none is both.
async fn find_ground(engine: &Engine, options: &SearchOptions) -> Result<Ground, Error> {
    let tenant = engine.tenant.no;
    let mut batch = QueryBatch::default();
    let behind = batch.ask(Query::Behind { tenant, limit: u64::from(u32::MAX) }, Answer::streams);
    let segments = batch.ask(Query::Segments { tenant }, Answer::segments);
    let lineage =
        options.session.as_ref().map(|stream| batch.ask(self::lineage(tenant, stream), Answer::lineage));
    let except = options.except.as_ref().filter(|_| lineage.is_none());
    let excepted = except.map(|stream| batch.ask(self::lineage(tenant, stream), Answer::lineage));
    let is_chosen = !options.sessions.is_open() || except.is_some();
    let filter = Some(&options.sessions).filter(|_| lineage.is_none() && is_chosen);
    let streams =
        |filter: &StreamFilter| Query::Streams { tenant, filter: filter.clone(), limit: u64::from(u32::MAX) };
    let chosen = filter.map(|filter| batch.ask(streams(filter), Answer::streams));
    let mut answers = engine.ask_all(batch).await?;
    let (mut behind, segments) = (answers.take(behind)?, answers.take(segments)?);
    // Streams that are only waiting for counts are searched through the index.
    behind.retain(|info| info.indexed < info.head);
    let mut ground =
        Ground { scope: DocScope::everything(), behind, segments: engine.known.headers(segments)? };
    if let Some(chosen) = chosen {
        let mut chosen = answers.take(chosen)?;
        if let (Some(except), Some(excepted)) = (except, excepted) {
            let continued = answers.take(excepted)?;
            let root = |id: &StreamId| id.root() == except.root();
            let is_own = |info: &StreamInfo| root(&info.id) || info.parent.as_ref().is_some_and(root);
            chosen.retain(|info| !is_own(info) && !continued.iter().any(|stretch| stretch.no == info.no));
        }
        // A fork is searched from its own positions on: the earlier ones belong to the session that it continues.
        let own = |info: &StreamInfo| info.base().next();
        let ranges = chosen.iter().map(|info| (info.no.0, own(info).0..=info.head.0));
        ground.scope = DocScope::of(ranges);
        ground.behind.retain(|info| chosen.iter().any(|chosen| chosen.no == info.no));
    }
    if let Some(lineage) = lineage {
        let stretches = answers.take(lineage)?;
        let ranges = stretches.iter().map(|stretch| (stretch.no.0, stretch.from.0..=stretch.to.0));
        ground.scope = DocScope::of(ranges);
        ground.behind.retain(|info| stretches.iter().any(|stretch| stretch.no == info.no));
    }
    Ok(ground)
}

fn lineage(tenant: TenantNo, stream: &StreamId) -> Query {
    Query::Lineage { tenant, stream: stream.clone() }
}

async fn read_blocks(
    engine: &Engine,
    words: &Words,
    segments: &[(u64, Arc<Header>)],
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
    let blocks = engine.ask(Query::Blocks { tenant: engine.tenant.no, wanted }, Answer::blocks).await?;
    Ok(places.into_iter().zip(blocks).filter_map(|(place, block)| Some((place, block?))).collect())
}

/// A message with its key in the index.
type KeyedMessage = (DocKey, Message);

/// Scans the messages that are not indexed yet. Returns the matches, the number of messages, and whether the deadline has
/// passed before all of them were scanned.
async fn search_tail(
    engine: &Engine,
    words: &Words,
    (ground, deadline): (&Ground, &Deadline),
) -> Result<(Tail, u64, bool), Error> {
    let (mut tails, mut scanned, mut late) = (Vec::new(), 0, false);
    for info in &ground.behind {
        let mut from = info.indexed.next();
        while from <= info.head {
            late = late || deadline.is_over();
            if late {
                break;
            }
            let _turn = deadline.turn().await;
            let rows = read_page(engine, info, from, (CATCH_UP_EVENTS, CATCH_UP_BYTES)).await?;
            let Some(last) = rows.last().map(|row| row.seq) else { break };
            from = last.next();
            let messages = messages_of(engine, info, &rows)?;
            scanned += messages.len() as u64;
            let bodies = messages.iter().flat_map(|(_, message)| searched(message));
            let handles = bodies.filter_map(Body::handle).collect();
            let blobs = engine.ask(Query::Blobs { tenant: engine.tenant.no, handles }, Answer::blobs).await?;
            let packed = blobs.into_iter().flatten().map(|blob| (blob.handle, blob)).collect();
            tails.extend(parallel::map(messages.chunks(SHARE).collect(), |share| {
                scan_share(engine, words, share, &packed)
            })?);
        }
    }
    let tail = Tail::join(words, tails).map_err(|error| Error::Query(error.to_string()))?;
    Ok((tail, scanned, late))
}

/// Scans the texts in scope that are kept as bytes.
async fn search_kept(
    engine: &Engine,
    words: &Words,
    (ground, options): (&Ground, &SearchOptions),
) -> Result<KeptScan, Error> {
    if options.messages_only || options.brief {
        return Ok(KeptScan::default());
    }
    let mut texts = kept_texts(engine).await?;
    texts.retain(|(stream, seq), _| ground.scope.contains(DocKey { stream: stream.0, seq: seq.0 }));
    if texts.is_empty() {
        return Ok(KeptScan::default());
    }
    let rows = read_rows(engine, texts.keys().copied(), &options.events).await?.1;
    texts.retain(|(stream, seq), _| rows.get(&(stream.0, seq.0)).is_some_and(|row| row.payload.is_some()));
    scan_kept(engine, words, (texts, &options.deadline)).await
}

/// Decodes the messages among some events, on all cores.
fn messages_of(engine: &Engine, info: &StreamInfo, rows: &[StoredEvent]) -> Result<Vec<KeyedMessage>, Error> {
    let messages = parallel::map(rows.chunks(SHARE).collect(), |share: &[StoredEvent]| {
        let mut messages = Vec::with_capacity(share.len());
        for row in share.iter().filter(|row| row.kind == "message.appended") {
            if let Some(Fact::MessageAppended(said)) = decode_event(engine, &info.id, row)?.fact {
                messages.push((DocKey { stream: info.no.0, seq: row.seq.0 }, said.message));
            }
        }
        Ok(messages)
    })?;
    Ok(messages.into_iter().flatten().collect())
}

/// Scans the redacted texts of messages whose long bodies are packed.
fn scan_share(
    engine: &Engine,
    words: &Words,
    share: &[KeyedMessage],
    packed: &HashMap<Handle, PackedBlob>,
) -> Result<Tail, Error> {
    let mut unpacker = Unpacker::default();
    let mut documents = Vec::with_capacity(share.len());
    for (key, message) in share {
        let mut texts = Vec::new();
        for body in searched(message) {
            texts.push(match body {
                Body::Inline(text) => redacted(engine, text),
                Body::Blob { blob, .. } => match packed.get(blob) {
                    // The next body is unpacked to the same memory.
                    Some(blob) => {
                        let text = utf8(unpacker.body(&engine.tenant.key, blob)?)?;
                        Cow::Owned(redacted(engine, text).into_owned())
                    }
                    None => continue,
                },
            });
        }
        documents.push((*key, texts));
    }
    let documents = documents.iter().map(|(key, texts)| (*key, texts.iter().map(AsRef::as_ref)));
    Ok(Tail::scan(words, documents))
}

/// Reads the events at places that pass a filter. Returns the names of their streams, and the events by place.
async fn read_rows(
    engine: &Engine,
    places: impl Iterator<Item = (StreamNo, Seq)>,
    filter: &EventFilter,
) -> Result<(HashMap<StreamNo, StreamId>, HashMap<(u32, u64), StoredEvent>), Error> {
    let mut by_stream: BTreeMap<StreamNo, Vec<Seq>> = BTreeMap::new();
    for (stream, seq) in places {
        by_stream.entry(stream).or_default().push(seq);
    }
    let tenant = engine.tenant.no;
    let query = Query::StreamsByNo { tenant, streams: by_stream.keys().copied().collect() };
    let streams = engine.ask(query, Answer::streams).await?;
    let names: HashMap<StreamNo, StreamId> = streams.into_iter().map(|info| (info.no, info.id)).collect();
    let at = |(no, seqs)| {
        Some(Query::At { tenant, stream: names.get(&no)?.clone(), seqs, filter: filter.clone() })
    };
    let mut rows = HashMap::new();
    for answer in engine.storage.query(by_stream.into_iter().filter_map(at).collect()).await? {
        let found = answer.events().ok_or_else(unexpected)?;
        rows.extend(found.into_iter().map(|row| ((row.stream.0, row.seq.0), row)));
    }
    Ok((names, rows))
}

/// Resolves index hits to messages, and drops those whose text does not contain the phrases of the query.
async fn resolve_hits(
    engine: &Engine,
    hits: Vec<DocHit>,
    (words, filter, kept): (&Words, &EventFilter, &KeptScan),
) -> Result<Vec<(DocKey, SearchHit)>, Error> {
    let places = hits.iter().map(|hit| (StreamNo(hit.doc.stream), Seq(hit.doc.seq)));
    let (names, rows) = read_rows(engine, places, filter).await?;
    let handles =
        rows.values().filter_map(|row| decode_event(engine, names.get(&row.stream)?, row).ok()?.fact);
    let handles: Vec<_> = handles
        .flat_map(|fact| fact.bodies().into_iter().filter_map(|body| body.handle()).collect::<Vec<_>>())
        .collect();
    let texts = read_texts(engine, handles).await?;
    let phrases: Vec<(&Phrase, bool)> = words.phrases().collect();
    let is_in = |(number, phrase): (usize, &Phrase), key, spoken: &[Cow<'_, str>]| {
        spoken.iter().any(|text| phrase.is_in(text)) || kept.has_phrase(key, number)
    };
    let mut found = Vec::with_capacity(hits.len());
    for hit in hits {
        let (Some(row), Some(session)) =
            (rows.get(&(hit.doc.stream, hit.doc.seq)), names.get(&StreamNo(hit.doc.stream)))
        else {
            continue;
        };
        let event = decode_event(engine, session, row)?;
        let Some(Fact::MessageAppended(said)) = &event.fact else { continue };
        let spoken: Vec<&str> = searched(&said.message).filter_map(|body| texts.of(body)).collect();
        if !phrases.is_empty() {
            let spoken: Vec<_> = spoken.iter().map(|text| redacted(engine, text)).collect();
            let mut each = phrases.iter().enumerate();
            if !each.all(|(number, (phrase, wanted))| is_in((number, phrase), hit.doc, &spoken) == *wanted) {
                continue;
            }
        }
        let found_hit = SearchHit {
            session: session.clone(),
            seq: event.seq,
            at: event.at,
            role: said.message.role,
            score: hit.score,
            strength: hit.strength,
            snippet: snippet(engine, &spoken, &hit.matched),
            place: None,
            matched: hit.matched,
        };
        found.push((hit.doc, found_hit));
    }
    Ok(found)
}

/// Returns the bodies of a message that are searched.
fn searched(message: &Message) -> impl Iterator<Item = &Body> {
    message.parts.iter().flat_map(Part::leaves).filter(|(part, _)| is_searched(part)).map(|(_, body)| body)
}
