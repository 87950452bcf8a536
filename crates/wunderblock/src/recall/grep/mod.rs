//! Exact search in the original texts: newest first, streamed. A long search leaves out the texts that cannot match
//! according to the index ([`narrow`]).

mod bytes;
pub(crate) mod narrow;
mod options;
mod pattern;

use crate::base::deadline::Deadline;
use crate::base::error::Error;
use crate::base::parallel;
use crate::base::turns::Turn;
use crate::ledger::engine::{Engine, unexpected};
use crate::ledger::kept_bytes::{BytePlace, KeptTexts};
use crate::ledger::reading::address::Address;
use crate::ledger::reading::lineage::{ask_streams, take_streams};
use crate::ledger::reading::query_batch::{NEWEST, QueryBatch};
use crate::ledger::reading::stored::decode_event;
use crate::limits::{GREP_FIRST_PAGE, GREP_PAGE, GREP_SCAN};
use crate::recall::search::{DocumentPlace, kept_texts};
use bytes::KeptLines;
use narrow::Places;
pub use options::GrepOptions;
pub(crate) use pattern::Pattern;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};
use wunderblock_core::event::Fact;
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::message::{Body, Part, Role};
use wunderblock_core::units::{Bytes, Millis, Seq};
use wunderblock_redact::Redactor;
use wunderblock_store::codec::Unpacker;
use wunderblock_store::{
    Answer, Answering, EventFilter, PackedBlob, Query, ReadOrder, StoreError, StoredEvent, StreamInfo,
};

/// Place at which a search was given up. Everything later in the session, and all sessions with later messages, were
/// searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GrepStop {
    /// Session that was being searched.
    pub session: StreamId,
    /// Latest position that was not searched completely.
    pub seq: Seq,
}

impl GrepStop {
    /// Returns the address of the latest position that was not searched completely.
    #[must_use]
    pub fn address(&self, engine: &Engine) -> Address {
        Address::of_event(engine, &self.session, self.seq)
    }
}

/// A matching line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Match {
    /// Session that contains the line, or the document.
    pub session: StreamId,
    /// Position of the event.
    pub seq: Seq,
    /// Time of the event.
    pub at: Millis,
    /// Role of the message; [`Role::System`] for other events. Not serialised.
    #[serde(skip)]
    pub role: Role,
    /// Handle of the body. `None` if the body is stored inline, or if the text is kept as bytes.
    pub handle: Option<Handle>,
    /// Place of the line, if the text is kept as bytes: the output of a command, for which the event stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<BytePlace>,
    /// Section of a document that contains the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<DocumentPlace>,
    /// Line number, counted from 1: in the text, or in the file of a document if its section states lines.
    pub line: u64,
    /// Text of the line, without its line ending. Of a long line in bytes, the part around the match.
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
        Address::of_event(engine, &self.session, self.seq)
    }

    /// Returns what [`Recall::read`](crate::Recall::read) accepts as the place of the line: the event, its section, or
    /// bytes.
    #[must_use]
    pub fn readable(&self, engine: &Engine) -> String {
        match &self.document {
            Some(document) => document.address.clone(),
            None => self.place.map_or_else(|| self.address(engine).to_string(), |place| place.to_string()),
        }
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
    /// Texts that are searched although no body holds them.
    pub(crate) kept: Option<&'a KeptTexts>,
    pub(crate) deadline: &'a Deadline,
    /// Masks the secrets of lines.
    pub(crate) masks: Option<&'a Redactor>,
}

/// Reason why a scan ended before its first position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScanEnd {
    /// The caller needs no further matches.
    Enough,
    /// The deadline has passed. This position and earlier ones were not searched completely.
    Late(Seq),
}

/// Number of events that one thread searches at a time.
const SHARE: usize = 64;
/// Maximum number of bytes of text per page, which limits the memory that a search uses.
const PAGE_TEXT: Bytes = Bytes(24 << 20);
/// Minimum and maximum number of bytes of text per page of a search that takes turns with others.
const TURN_TEXT: [Bytes; 2] = [Bytes(256 << 10), Bytes(4 << 20)];
/// Time of a turn above which later pages are smaller, so that the others soon go on.
const TURN: Duration = Duration::from_millis(100);

/// Returns at most `count` whole lines before and after the line at `start..end`, in the order of the text.
fn lines_around(text: &[u8], start: usize, end: usize, count: usize) -> [Vec<String>; 2] {
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
    packed: HashMap<Handle, PackedBlob>,
}

pub(crate) async fn grep(
    engine: &Engine,
    pattern_text: &str,
    options: &GrepOptions,
    found: &mut (dyn FnMut(Match) -> ControlFlow<()> + Send),
) -> Result<Option<GrepStop>, Error> {
    let pattern = Pattern::new(pattern_text, options)?;
    let kept = if options.messages_only { KeptTexts::new() } else { kept_texts(engine).await? };
    let scan = |stream| StreamScan {
        stream,
        from: Seq::START.next(),
        to: NEWEST,
        said_only: false,
        context: options.context,
        filter: options.events.clone(),
        places: None,
        kept: Some(&kept),
        deadline: &options.deadline,
        masks: options.masked.then_some(&*engine.config.redactor),
    };
    if let Some(session) = &options.session {
        return Ok(stop(session, grep_stream(engine, &scan(session), &pattern, found).await?));
    }
    let mut batch = QueryBatch::default();
    let asked = ask_streams(&mut batch, engine.tenant.no, options.within.kinds(), &options.sessions);
    let mut streams = take_streams(&mut engine.ask_all(batch).await?, asked)?;
    streams.sort_by_key(|info| Reverse((info.said_at, info.no)));
    let mut fragments = narrow::fragments(pattern_text, options);
    let length = |info: &StreamInfo| info.head.next().0.saturating_sub(info.first().0);
    let (mut left, mut until_narrowed) = (streams.iter().map(length).sum::<u64>(), GREP_SCAN);
    let mut places = None;
    for info in &streams {
        let (first, mut to) = (info.first(), info.head);
        while first <= to {
            if until_narrowed == 0
                && let Some(fragments) = fragments.take()
            {
                places = narrow::places(engine, &fragments, left, &kept).await?;
            }
            let waits = fragments.is_some();
            let from = if waits { first.max(Seq(to.next().0.saturating_sub(until_narrowed))) } else { first };
            let places = places.as_ref().and_then(|places: &Places| places.of(info, from, to));
            let part = StreamScan { from, to, places, ..scan(&info.id) };
            let ended = grep_stream(engine, &part, &pattern, found).await?;
            if ended.is_break() {
                return Ok(stop(&info.id, ended));
            }
            let searched = to.next().0.saturating_sub(from.0);
            left = left.saturating_sub(searched);
            until_narrowed = until_narrowed.saturating_sub(searched);
            to = from.prev();
        }
    }
    Ok(None)
}

fn stop(session: &StreamId, ended: ControlFlow<ScanEnd>) -> Option<GrepStop> {
    match ended {
        ControlFlow::Break(ScanEnd::Late(seq)) => Some(GrepStop { session: session.clone(), seq }),
        _ => None,
    }
}

/// Reader of the pages of a scan, newest first.
struct PageReader<'a> {
    engine: &'a Engine,
    scan: &'a StreamScan<'a>,
    /// Last position of the next page; `None` after the first position of the scan.
    to: Option<Seq>,
    limit: u64,
    /// Maximum number of bytes of text on the next page.
    text: Bytes,
    /// Places that have not been read.
    places: &'a [Seq],
    /// Turn in which the current page is read and searched.
    turn: Turn,
}

impl<'a> PageReader<'a> {
    async fn new(engine: &'a Engine, scan: &'a StreamScan<'a>) -> Self {
        let places = scan.places.as_deref().unwrap_or_default();
        // The first page is small, so that the first match is not delayed by a large read.
        let text = if scan.deadline.has_turns() { TURN_TEXT[0] } else { PAGE_TEXT };
        let turn = scan.deadline.turn().await;
        Self { engine, scan, to: Some(scan.to), limit: GREP_FIRST_PAGE, text, places, turn }
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
            let (limit, text) = (self.limit, self.text);
            Query::Events { tenant, stream, from, to, order, limit, text, counts: false, filter }
        };
        Some(self.engine.storage.query(vec![query]))
    }

    /// Notes which page was read.
    fn advance(&mut self, rows: &[StoredEvent]) {
        self.to = rows.last().map(|row| row.seq).filter(|seq| *seq > self.scan.from).map(Seq::prev);
        self.limit = (self.limit * 4).min(GREP_PAGE);
    }

    /// Searches a page. The time that it takes decides how large the later pages of a search among others are.
    async fn search(
        &mut self,
        page: &Page,
        pattern: &Pattern,
        found: &mut (dyn FnMut(Match) -> ControlFlow<()> + Send),
    ) -> Result<ControlFlow<ScanEnd>, Error> {
        let (begun, scan) = (Instant::now(), self.scan);
        let run = GrepRun { engine: self.engine, scan, page, pattern };
        let bodies = run.bodies()?;
        if scan.deadline.has_turns() {
            let text = if begun.elapsed() > TURN { self.text.0 / 4 } else { self.text.0 * 2 };
            self.text = Bytes(text).clamp(TURN_TEXT[0], TURN_TEXT[1]);
        }
        let (mut bodies, mut unpacker) = (bodies.into_iter().peekable(), Unpacker::default());
        for (event, (row, fact)) in page.events.iter().enumerate() {
            while let Some(body) = bodies.next_if(|body| body.0 == event && !scan.deadline.is_over()) {
                if run.each_line(body, &mut unpacker, found)?.is_break() {
                    return Ok(ControlFlow::Break(ScanEnd::Enough));
                }
            }
            let Some(text) = fact.as_ref().and(scan.kept).and_then(|kept| kept.get(&(row.stream, row.seq)))
            else {
                continue;
            };
            // Each window of the bytes has a turn of its own.
            self.turn = Turn::default();
            let lines = KeptLines { scan, row, role: role_of(fact.as_ref()), text };
            let searched = lines.each(self.engine, pattern, found).await?;
            self.turn = scan.deadline.turn().await;
            if searched.is_break() {
                return Ok(ControlFlow::Break(ScanEnd::Enough));
            }
        }
        match page.events.first().filter(|_| scan.deadline.is_over()) {
            Some((row, _)) => Ok(ControlFlow::Break(ScanEnd::Late(row.seq))),
            None => Ok(ControlFlow::Continue(())),
        }
    }
}

/// Searches a stream. The store reads the next page while the current one is searched, unless another search waits for
/// its turn: nothing is held in memory meanwhile.
pub(crate) async fn grep_stream(
    engine: &Engine,
    scan: &StreamScan<'_>,
    pattern: &Pattern,
    found: &mut (dyn FnMut(Match) -> ControlFlow<()> + Send),
) -> Result<ControlFlow<ScanEnd>, Error> {
    let mut pages = PageReader::new(engine, scan).await;
    let (mut coming, mut page) = (pages.next(), None::<Page>);
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
        let bodies = events.iter().filter_map(|(_, fact)| fact.as_ref()).flat_map(Fact::readable_bodies);
        let handles = bodies.filter_map(Body::handle).collect();
        let blobs = engine.storage.query(vec![Query::Blobs { tenant: engine.tenant.no, handles }]);
        coming = pages.next();
        if let Some(page) = page.take() {
            let searched = pages.search(&page, pattern, found).await?;
            if searched.is_break() {
                return Ok(searched);
            }
        }
        let blobs = blobs.await?.pop().and_then(Answer::blobs).ok_or_else(unexpected)?;
        let packed = blobs.into_iter().flatten().map(|blob| (blob.handle, blob)).collect();
        page = Some(Page { events, packed });
        if pages.turn.is_wanted()
            && let Some(page) = page.take()
        {
            let searched = pages.search(&page, pattern, found).await?;
            if searched.is_break() {
                return Ok(searched);
            }
            drop(page);
            pages.turn = Turn::default();
            pages.turn = scan.deadline.turn().await;
        }
    }
    match page {
        Some(page) => pages.search(&page, pattern, found).await,
        None => Ok(ControlFlow::Continue(())),
    }
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

/// A body of a page that contains a match: the number of its event in the page, its number in the event, and the place
/// of its first match.
type FoundBody = (usize, usize, usize);

/// Search for a pattern in a page of one session.
struct GrepRun<'a> {
    engine: &'a Engine,
    scan: &'a StreamScan<'a>,
    page: &'a Page,
    pattern: &'a Pattern,
}

impl GrepRun<'_> {
    /// Returns the bodies that contain a match, in the order of the events. All cores look for the first match of each
    /// body; the lines are made one by one, so that they take no memory before somebody wants them.
    fn bodies(&self) -> Result<Vec<FoundBody>, Error> {
        let numbers: Vec<usize> = (0..self.page.events.len()).collect();
        let bodies = parallel::map(numbers.chunks(SHARE).collect(), |share: &[usize]| {
            let (mut bodies, mut unpacker) = (Vec::new(), Unpacker::default());
            for number in share {
                self.first_matches(*number, &mut unpacker, &mut bodies)?;
            }
            Ok(bodies)
        })?;
        Ok(bodies.into_iter().flatten().collect())
    }

    /// Returns the text of a body; `None` if it is erased.
    fn text<'t>(&'t self, body: &'t Body, unpacker: &'t mut Unpacker) -> Result<Option<&'t [u8]>, Error> {
        match body {
            Body::Inline(text) => Ok(Some(text.as_bytes())),
            Body::Blob { blob, .. } => match self.page.packed.get(blob) {
                Some(blob) => Ok(Some(unpacker.body(&self.engine.tenant.key, blob)?)),
                None => Ok(None),
            },
        }
    }

    /// Adds the bodies of an event that contain a match.
    fn first_matches(
        &self,
        event: usize,
        unpacker: &mut Unpacker,
        found: &mut Vec<FoundBody>,
    ) -> Result<(), Error> {
        let Some((_, Some(fact))) = self.page.events.get(event) else { return Ok(()) };
        let left_out: Vec<&Body> = match fact {
            Fact::MessageAppended(said) => said.message.parts.iter().flat_map(media_bodies).collect(),
            // The headings above a section stand in its text, or in that of an earlier one.
            Fact::DocumentSection(section) => section.heading.iter().collect(),
            _ => Vec::new(),
        };
        for (number, body) in fact.readable_bodies().into_iter().enumerate() {
            // Bodies are compared by address, so an identical text in another part is still searched.
            if left_out.iter().any(|other| std::ptr::eq(*other, body)) {
                continue;
            }
            if self.scan.deadline.is_over() {
                return Ok(());
            }
            if let Some(text) = self.text(body, unpacker)? {
                let first = self.pattern.find(text, 0, self.scan.deadline);
                found.extend(first.map(|at| (event, number, at)));
            }
        }
        Ok(())
    }

    /// Passes the matching lines of a body to `found`.
    fn each_line(
        &self,
        (event, number, first): FoundBody,
        unpacker: &mut Unpacker,
        found: &mut (dyn FnMut(Match) -> ControlFlow<()> + Send),
    ) -> Result<ControlFlow<()>, Error> {
        let Some((row, Some(fact))) = self.page.events.get(event) else {
            return Ok(ControlFlow::Continue(()));
        };
        let role = role_of(Some(fact));
        let bodies = fact.readable_bodies();
        let Some(body) = bodies.get(number) else { return Ok(ControlFlow::Continue(())) };
        let Some(text) = self.text(body, unpacker)? else { return Ok(ControlFlow::Continue(())) };
        // A secret may reach across lines, so it is looked for in the whole text.
        let masked = self.scan.masks.zip(std::str::from_utf8(text).ok());
        let masked = masked.map(|(masks, text)| masks.mask(text));
        let visible = masked.as_ref().map_or(text, |masked| masked.as_bytes());
        let document = self.document(row, fact)?;
        let above = document.as_ref().and_then(|document| document.lines).map_or(0, |(from, _)| from - 1);
        for (line, start, end) in self.pattern.lines(text, first, self.scan.deadline) {
            if self.scan.deadline.is_over() {
                break;
            }
            let whole = text.get(start..end).unwrap_or_default();
            let shown = String::from_utf8_lossy(visible.get(start..end).unwrap_or_default()).into_owned();
            let [before, after] = lines_around(visible, start, end, self.scan.context);
            let one = Match {
                session: self.scan.stream.clone(),
                seq: row.seq,
                at: row.at,
                role,
                handle: body.handle(),
                place: None,
                document: document.clone(),
                line: above + line,
                // A match that continues on the next line is shown only to the end of its first line.
                found: self.pattern.range(whole).unwrap_or_default(),
                text: shown,
                before,
                after,
            };
            if found(one).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Returns the place of a section in its document.
    fn document(&self, row: &StoredEvent, fact: &Fact) -> Result<Option<DocumentPlace>, Error> {
        let Fact::DocumentSection(_) = fact else { return Ok(None) };
        let event = decode_event(self.engine, self.scan.stream, row)?;
        let heading =
            |body: &Body| body.inline().map(|text| self.engine.config.redactor.mask(text).into_owned());
        Ok(DocumentPlace::of(self.engine, &event, heading))
    }
}

/// Returns the role of a message; the system's for other events.
fn role_of(fact: Option<&Fact>) -> Role {
    match fact {
        Some(Fact::MessageAppended(said)) => said.message.role,
        _ => Role::System,
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
    fn the_lines_around_a_match_are_those_of_its_text() {
        let text = b"a\nb\n\nc\nd\n";
        assert_eq!(lines_around(text, 5, 6, 2), [vec!["b".to_owned(), String::new()], vec!["d".to_owned()]]);
        assert_eq!(lines_around(text, 0, 1, 1), [vec![], vec!["b".to_owned()]]);
        assert_eq!(lines_around(b"a", 0, 1, 1), [Vec::<String>::new(), vec![]]);
    }
}
