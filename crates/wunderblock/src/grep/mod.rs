//! Exact search in the original texts: newest first, streamed. A long search leaves out the texts that cannot match
//! according to the index ([`narrow`]).

mod narrow;

use crate::address::Address;
use crate::engine::{Engine, unexpected};
use crate::error::Error;
use crate::future::BoxFuture;
use crate::limits::{GREP_FIRST_PAGE, GREP_PAGE, GREP_SCAN};
use crate::parallel;
use crate::query_batch::{EVERY, NEWEST};
use crate::redact::Redactor;
use crate::store::codec::Unpacker;
use crate::store::{
    Answer, Answering, EventFilter, Query, ReadOrder, StoreError, StoredEvent, StreamFilter, StreamInfo,
};
use crate::stored::decode_event;
use memchr::memmem;
use narrow::Places;
use serde::Serialize;
use std::collections::HashMap;
use std::ops::{ControlFlow, Range};
use wunderblock_core::event::Fact;
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::message::{Body, Part, Role};
use wunderblock_core::units::{Bytes, Millis, Seq};

/// Options of a search.
#[derive(Clone, Debug, Default)]
pub struct GrepOptions {
    /// Session to search, including the events before its fork. `None` searches all sessions.
    pub session: Option<StreamId>,
    /// Whether the pattern is a regular expression.
    pub regex: bool,
    /// Whether to ignore case.
    pub ignore_case: bool,
    /// Number of lines returned before and after each match.
    pub context: usize,
    /// Sessions to search, if `session` is `None`.
    pub sessions: StreamFilter,
    /// Filter for the events.
    pub events: EventFilter,
    /// Whether secrets in the lines are shown as asterisks.
    pub masked: bool,
}

/// A matching line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Match {
    /// Session that contains the line.
    pub session: StreamId,
    /// Position of the event.
    pub seq: Seq,
    /// Time of the event.
    pub at: Millis,
    /// Role of the message; [`Role::System`] for other events. Not serialised.
    #[serde(skip)]
    pub role: Role,
    /// Handle of the body. `None` if the body is stored inline.
    pub handle: Option<Handle>,
    /// Line number in the body, counted from 1.
    pub line: u64,
    /// Text of the line, without its line ending.
    pub text: String,
    /// Byte range of the first match in `text`. It is not serialised.
    #[serde(skip)]
    pub found: Range<usize>,
    /// The lines before the matching line, at most [`GrepOptions::context`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// The lines after the matching line, at most [`GrepOptions::context`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

impl Match {
    /// Returns the address of the event that contains the line.
    #[must_use]
    pub fn address(&self, engine: &Engine) -> Address {
        Address { handle: engine.stream_handle(&self.session), range: Some((self.seq, self.seq)) }
    }
}

/// Part of one stream to search.
pub(crate) struct StreamScan<'a> {
    pub(crate) stream: &'a StreamId,
    pub(crate) from: Seq,
    pub(crate) to: Seq,
    /// Whether to search only messages, not other events.
    pub(crate) said_only: bool,
    /// Number of lines around a match.
    pub(crate) context: usize,
    /// Filter for the events.
    pub(crate) filter: EventFilter,
    /// The only positions to search, newest first; `None` for all.
    pub(crate) places: Option<Vec<Seq>>,
    /// Masks the secrets of lines.
    pub(crate) masks: Option<&'a Redactor>,
}

/// Number of events that one thread searches at a time.
const SHARE: usize = 64;
/// Maximum number of bytes of text per page, which limits the memory that a search uses.
const PAGE_TEXT: Bytes = Bytes(24 << 20);

pub(crate) enum Pattern {
    Literal(Box<memmem::Finder<'static>>),
    Regex(regex::bytes::Regex),
}

impl Pattern {
    pub(crate) fn new(pattern: &str, options: &GrepOptions) -> Result<Self, Error> {
        if pattern.is_empty() {
            return Err(Error::Query("the pattern is empty, and would match every line".to_owned()));
        }
        if !options.regex && !options.ignore_case {
            return Ok(Self::Literal(Box::new(memmem::Finder::new(pattern.as_bytes()).into_owned())));
        }
        let source = if options.regex { pattern.to_owned() } else { regex::escape(pattern) };
        regex::bytes::RegexBuilder::new(&source)
            .case_insensitive(options.ignore_case)
            .multi_line(true)
            .build()
            .map(Self::Regex)
            .map_err(|error| Error::Pattern(error.to_string()))
    }

    /// Returns the number of each matching line (from 1), and its start and end in bytes, without the line ending.
    pub(crate) fn lines(&self, text: &[u8]) -> Vec<(u64, usize, usize)> {
        let mut lines = Vec::new();
        let (mut from, mut number, mut counted) = (0, 1u64, 0);
        while let Some(at) = text.get(from..).and_then(|rest| self.find(rest)).map(|at| from + at) {
            let start = text.get(..at).and_then(|head| memchr::memrchr(b'\n', head)).map_or(0, |at| at + 1);
            let end = text
                .get(at..)
                .and_then(|rest| memchr::memchr(b'\n', rest))
                .map_or(text.len(), |end| at + end);
            // Newlines are counted from the previous match onwards, so that each is counted once.
            number += memchr::memchr_iter(b'\n', text.get(counted..start).unwrap_or_default()).count() as u64;
            counted = start;
            lines.push((number, start, end));
            if end >= text.len() {
                break;
            }
            from = end + 1;
        }
        lines
    }

    pub(crate) fn find(&self, text: &[u8]) -> Option<usize> {
        match self {
            Self::Literal(finder) => finder.find(text),
            Self::Regex(regex) => regex.find(text).map(|found| found.start()),
        }
    }

    /// Returns the byte range of the first match.
    fn range(&self, text: &[u8]) -> Option<Range<usize>> {
        match self {
            Self::Literal(finder) => finder.find(text).map(|at| at..at + finder.needle().len()),
            Self::Regex(regex) => regex.find(text).map(|found| found.range()),
        }
    }
}

/// Returns at most `count` whole lines before and after the line at `start..end`, in the order of the text.
fn lines_around(text: &[u8], (start, end): (usize, usize), count: usize) -> [Vec<String>; 2] {
    let line = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let head = text.get(..start).unwrap_or_default();
    let head = head.strip_suffix(b"\n").map(|head| head.rsplit(|byte| *byte == b'\n'));
    let mut before: Vec<String> = head.into_iter().flatten().take(count).map(line).collect();
    before.reverse();
    let tail = text.get(end + 1..).filter(|tail| !tail.is_empty());
    let tail = tail.map(|tail| tail.strip_suffix(b"\n").unwrap_or(tail).split(|byte| *byte == b'\n'));
    [before, tail.into_iter().flatten().take(count).map(line).collect()]
}

/// Events of one page, newest first, with their bodies still compressed.
struct Page {
    events: Vec<(StoredEvent, Option<Fact>)>,
    packed: HashMap<Handle, Vec<u8>>,
}

impl Engine {
    /// Searches the original texts for a pattern, newest first. `found` can stop the search.
    ///
    /// # Errors
    /// Fails if the pattern is invalid, or if the ledger cannot be read.
    pub fn grep<'a>(
        &'a self,
        pattern_text: &'a str,
        options: &'a GrepOptions,
        found: &'a mut (dyn FnMut(Match) -> ControlFlow<()> + Send),
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let pattern = Pattern::new(pattern_text, options)?;
            let scan = |stream| StreamScan {
                stream,
                from: Seq::START.next(),
                to: NEWEST,
                said_only: false,
                context: options.context,
                filter: options.events.clone(),
                places: None,
                masks: options.masked.then_some(&*self.config.redactor),
            };
            if let Some(session) = &options.session {
                let _ = grep_stream(self, &scan(session), &pattern, found).await?;
                return Ok(());
            }
            let streams = self.listed(options.sessions.clone(), EVERY).await?;
            let mut fragments = narrow::fragments(pattern_text, options);
            // A forked session is searched from its fork onwards: earlier events are found in the session to which
            // they belong.
            let first = |info: &StreamInfo| info.fork.as_ref().map_or(Seq::START, |(_, base)| *base).next();
            let length = |info: &StreamInfo| info.head.next().0.saturating_sub(first(info).0);
            let (mut left, mut until_narrowed) = (streams.iter().map(length).sum::<u64>(), GREP_SCAN);
            let mut places = None;
            for info in &streams {
                let (first, mut to) = (first(info), info.head);
                while first <= to {
                    if until_narrowed == 0
                        && let Some(fragments) = fragments.take()
                    {
                        places = narrow::places(self, &fragments, left).await?;
                    }
                    let waits = fragments.is_some();
                    let from = if waits {
                        first.max(Seq(to.next().0.saturating_sub(until_narrowed)))
                    } else {
                        first
                    };
                    let places = places.as_ref().and_then(|places: &Places| places.of(info, from, to));
                    let part = StreamScan { from, to, places, ..scan(&info.id) };
                    if grep_stream(self, &part, &pattern, found).await?.is_break() {
                        return Ok(());
                    }
                    let searched = to.next().0.saturating_sub(from.0);
                    left = left.saturating_sub(searched);
                    until_narrowed = until_narrowed.saturating_sub(searched);
                    to = from.prev();
                }
            }
            Ok(())
        })
    }
}

/// Reader of the pages of a scan, newest first.
struct PageReader<'a> {
    engine: &'a Engine,
    scan: &'a StreamScan<'a>,
    /// Last position of the next page; `None` after the first position of the scan.
    to: Option<Seq>,
    limit: u64,
    /// Places that have not been read.
    places: &'a [Seq],
}

impl<'a> PageReader<'a> {
    fn new(engine: &'a Engine, scan: &'a StreamScan<'a>) -> Self {
        let places = scan.places.as_deref().unwrap_or_default();
        // The first page is small, so that the first match is not delayed by a large read.
        Self { engine, scan, to: Some(scan.to), limit: GREP_FIRST_PAGE, places }
    }

    /// Begins to read the next page. Returns `None` if all pages have been read.
    fn next(&mut self) -> Option<Answering<'a, Vec<Answer>>> {
        let (tenant, scan) = (self.engine.tenant.no, self.scan);
        let (stream, filter) = (scan.stream.clone(), scan.filter.clone());
        let query = if scan.places.is_some() {
            let (page, rest) = self.places.split_at(SHARE.min(self.places.len()));
            self.places = rest;
            (!page.is_empty()).then(|| Query::At { tenant, stream, seqs: page.to_vec(), filter })?
        } else {
            let (from, to, order) = (scan.from, self.to?, ReadOrder::Descending);
            let (limit, text) = (self.limit, PAGE_TEXT);
            Query::Events { tenant, stream, from, to, order, limit, text, counts: false, filter }
        };
        Some(self.engine.storage.query(vec![query]))
    }

    /// Notes which page was read.
    fn advance(&mut self, rows: &[StoredEvent]) {
        self.to = rows.last().map(|row| row.seq).filter(|seq| *seq > self.scan.from).map(Seq::prev);
        self.limit = (self.limit * 4).min(GREP_PAGE);
    }
}

/// Searches a stream. The store reads the next page while the current one is searched.
pub(crate) async fn grep_stream(
    engine: &Engine,
    scan: &StreamScan<'_>,
    pattern: &Pattern,
    found: &mut (dyn FnMut(Match) -> ControlFlow<()> + Send),
) -> Result<ControlFlow<()>, Error> {
    let mut pages = PageReader::new(engine, scan);
    let mut coming = pages.next();
    let mut page: Option<Page> = None;
    while let Some(answer) = coming.take() {
        let rows = match answer.await {
            Err(StoreError::NoStream(id)) => return Err(Error::NoSession(id.to_string())),
            answers => answers?.pop().and_then(Answer::events).ok_or_else(unexpected)?,
        };
        pages.advance(&rows);
        let mut events = decode_facts(engine, scan.stream, rows)?;
        if scan.said_only {
            events.retain(|(_, fact)| matches!(fact, Some(Fact::MessageAppended(_))));
        }
        let bodies = events.iter().filter_map(|(_, fact)| fact.as_ref()).flat_map(Fact::bodies);
        let handles = bodies.filter_map(Body::handle).collect();
        let blobs = engine.storage.query(vec![Query::Blobs { tenant: engine.tenant.no, handles }]);
        coming = pages.next();
        if let Some(page) = page.take()
            && grep_page((scan, &page), pattern, found)?.is_break()
        {
            return Ok(ControlFlow::Break(()));
        }
        let blobs = blobs.await?.pop().and_then(Answer::blobs).ok_or_else(unexpected)?;
        let packed = blobs.into_iter().flatten().map(|blob| (blob.handle, blob.data)).collect();
        page = Some(Page { events, packed });
    }
    page.map_or(Ok(ControlFlow::Continue(())), |page| grep_page((scan, &page), pattern, found))
}

fn decode_facts(
    engine: &Engine,
    stream: &StreamId,
    rows: Vec<StoredEvent>,
) -> Result<Vec<(StoredEvent, Option<Fact>)>, Error> {
    let shares: Vec<&[StoredEvent]> = rows.chunks(SHARE).collect();
    let facts = parallel::map(shares, |share| {
        share.iter().map(|row| Ok(decode_event(engine, stream, row)?.fact)).collect::<Result<Vec<_>, Error>>()
    })?;
    Ok(rows.into_iter().zip(facts.into_iter().flatten()).collect())
}

fn grep_page(
    (scan, page): (&StreamScan<'_>, &Page),
    pattern: &Pattern,
    found: &mut (dyn FnMut(Match) -> ControlFlow<()> + Send),
) -> Result<ControlFlow<()>, Error> {
    let shares: Vec<_> = page.events.chunks(SHARE).collect();
    let matches = parallel::map(shares, |share| {
        let (mut matches, mut unpacker) = (Vec::new(), Unpacker::default());
        let (stream, context) = (scan.stream, scan.context);
        let looking = GrepRun { stream, pattern, packed: &page.packed, context, masks: scan.masks };
        for (row, fact) in share {
            if let Some(fact) = fact {
                looking.search_event(row, fact, &mut unpacker, &mut matches)?;
            }
        }
        Ok(matches)
    })?;
    for one in matches.into_iter().flatten() {
        if found(one).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Search for a pattern in one session, with the compressed bodies of a page.
struct GrepRun<'a> {
    stream: &'a StreamId,
    pattern: &'a Pattern,
    packed: &'a HashMap<Handle, Vec<u8>>,
    context: usize,
    masks: Option<&'a Redactor>,
}

impl GrepRun<'_> {
    /// Adds the matching lines of an event.
    fn search_event(
        &self,
        row: &StoredEvent,
        fact: &Fact,
        unpacker: &mut Unpacker,
        matches: &mut Vec<Match>,
    ) -> Result<(), Error> {
        let role = match fact {
            Fact::MessageAppended(said) => said.message.role,
            _ => Role::System,
        };
        let media: Vec<&Body> = match fact {
            Fact::MessageAppended(said) => said.message.parts.iter().flat_map(media_bodies).collect(),
            _ => Vec::new(),
        };
        for body in fact.bodies() {
            // Bodies are compared by address, so an identical text in another part is still searched.
            if media.iter().any(|other| std::ptr::eq(*other, body)) {
                continue;
            }
            let text = match body {
                Body::Inline(text) => text.as_bytes(),
                Body::Blob { blob, .. } => match self.packed.get(blob) {
                    Some(data) => unpacker.bytes(data)?,
                    None => continue,
                },
            };
            let lines = self.pattern.lines(text);
            let masked = self.masks.filter(|_| !lines.is_empty()).zip(std::str::from_utf8(text).ok());
            let masked = masked.map(|(masks, text)| masks.mask(text));
            let shown_text = masked.as_ref().map_or(text, |masked| masked.as_bytes());
            for (line, start, end) in lines {
                let found =
                    text.get(start..end).and_then(|line| self.pattern.range(line)).unwrap_or_default();
                let line_bytes = shown_text.get(start..end).unwrap_or_default();
                let [before, after] = lines_around(shown_text, (start, end), self.context);
                matches.push(Match {
                    session: self.stream.clone(),
                    seq: row.seq,
                    at: row.at,
                    role,
                    handle: body.handle(),
                    line,
                    // A match that continues on the next line is shown only to the end of its first line.
                    found,
                    text: String::from_utf8_lossy(line_bytes).into_owned(),
                    before,
                    after,
                });
            }
        }
        Ok(())
    }
}

/// Returns the bodies of media, which are not searched: they hold base64, not text.
fn media_bodies(part: &Part) -> Vec<&Body> {
    match part {
        Part::Media { body, .. } => vec![body],
        Part::ToolResult { content, .. } => content.iter().flat_map(media_bodies).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_and_whole() {
        let pattern = Pattern::new("b", &GrepOptions::default()).unwrap();
        assert_eq!(pattern.lines(b"a\nb\nc\nbb\n"), [(2, 2, 3), (4, 6, 8)]);
        assert_eq!(pattern.lines(b"b"), [(1, 0, 1)]);
        assert!(pattern.lines(b"xyz").is_empty());
    }

    #[test]
    fn the_lines_around_a_match_are_those_of_its_text() {
        let text = b"a\nb\n\nc\nd\n";
        assert_eq!(
            lines_around(text, (5, 6), 2),
            [vec!["b".to_owned(), String::new()], vec!["d".to_owned()]]
        );
        assert_eq!(lines_around(text, (0, 1), 1), [vec![], vec!["b".to_owned()]]);
        assert_eq!(lines_around(b"a", (0, 1), 1), [Vec::<String>::new(), vec![]]);
    }

    #[test]
    fn an_invalid_pattern_is_an_error() {
        let regex = GrepOptions { regex: true, ..GrepOptions::default() };
        assert!(Pattern::new("(", &regex).is_err());
        assert!(Pattern::new("(foo|bar){2}", &regex).is_ok());
        assert!(Pattern::new("", &regex).is_err());
    }
}
