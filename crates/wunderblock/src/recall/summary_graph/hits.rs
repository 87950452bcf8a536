//! Search within a range: an exact scan of the original messages that shows the best matches on one page.
//!
//! Every word of the query is searched literally, ignoring case, and also inside longer words. Identifiers and
//! languages without spaces are therefore found in the same way. Messages that contain the words in sequence come
//! first, then messages with more of the words on one line, then messages with more of the words overall, and then
//! newer messages.

use super::expand::{Expand, Expanded, PageNo, Shows, finished, shown_bodies};
use super::item::{Leaf, MessageReader, PageItem, PagePiece, shown};
use super::place::{GraphPlace, Positions};
use crate::base::deadline::Deadline;
use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::reading::stored::{decode_event, read_texts, rows_at};
use crate::recall::grep::{GrepOptions, Pattern, ScanEnd, StreamScan, grep_stream};
use crate::rules::tokens::Vocabulary;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::ports::Bodies;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_redact::Redactor;
use wunderblock_store::{EventFilter, StreamInfo};

/// Maximum number of words in a query; further words are ignored. [`Merit::words`] has one bit per word.
const WORDS: usize = 32;
/// Maximum size in bytes of the compiled words. They are taken literally, so they are searched for in linear time.
const WORDS_BYTES: usize = 4 << 20;
/// Number of hits read at a time.
const READ: usize = 16;
/// Maximum length of an excerpt in bytes.
const EXCERPT: usize = 800;
/// Number of lines of context before and after the matching line.
const AROUND: usize = 2;
/// Number of tokens reserved for each line below the matches: the number of further ones, and the end of the search.
const MORE: u64 = 48;

/// A parsed query.
struct QueryWords<'e> {
    /// The whole query in lower case.
    phrase: String,
    words: Vec<String>,
    pattern: Pattern,
    /// Maximum number of tokens on the page.
    most: u64,
    /// Masks the secrets of excerpts.
    masks: Option<&'e Redactor>,
    deadline: Deadline,
}

/// Quality of a match, for a line or a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Merit {
    phrase: bool,
    /// Highest number of the query's words found on one line.
    together: u32,
    /// Bit set of the words that occur.
    words: u32,
}

impl QueryWords<'_> {
    fn parse(query: &str, most: u64) -> Result<Self, Error> {
        let mut words: Vec<String> = Vec::new();
        for word in query.split_whitespace().map(str::to_lowercase) {
            if !words.contains(&word) && words.len() < WORDS {
                words.push(word);
            }
        }
        if words.is_empty() {
            return Err(Error::Query("the query is empty: give words to look for, or no query".to_owned()));
        }
        let either: Vec<String> = words.iter().map(|word| regex::escape(word)).collect();
        let options = GrepOptions { regex: true, ignore_case: true, ..GrepOptions::default() };
        let pattern = Pattern::sized(&either.join("|"), &options, WORDS_BYTES)?;
        let phrase = query.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        Ok(Self { phrase, words, pattern, most, masks: None, deadline: Deadline::default() })
    }

    fn merit(&self, line: &str) -> Merit {
        let line = line.to_lowercase();
        let there = self.words.iter().zip(0..).filter(|(word, _)| line.contains(word.as_str()));
        let words = there.fold(0, |words, (_, place)| words | 1_u32 << place);
        Merit { phrase: line.contains(&self.phrase), together: words.count_ones(), words }
    }

    fn named(&self, words: u32) -> Vec<String> {
        let there = self.words.iter().zip(0..).filter(|(_, place)| words & (1_u32 << place) != 0);
        there.map(|(word, _)| word.clone()).collect()
    }

    /// Returns the best line of a text: its byte range, its number and its merit.
    fn best(&self, text: &str) -> Option<((usize, usize), u64, Merit)> {
        let unlimited = Deadline::default();
        let lines = self.pattern.lines(text.as_bytes(), 0, &unlimited);
        let merit = |line: &(u64, usize, usize)| self.merit(text.get(line.1..line.2).unwrap_or_default());
        let lines = lines.map(|line| (merit(&line), line));
        let best = lines.max_by_key(|(merit, (number, ..))| (merit.phrase, merit.together, Reverse(*number)));
        best.map(|(merit, (number, start, end))| ((start, end), number, merit))
    }

    /// Returns the byte range that is shown around a text's best line.
    fn excerpt(&self, text: &str, start: usize, end: usize, most: usize) -> (usize, usize) {
        let (mut from, mut to) = (start, end);
        for _ in 0..AROUND {
            let before = text.get(..from.saturating_sub(1)).unwrap_or_default();
            from = before.rfind('\n').map_or(0, |at| at + 1);
            let after = text.get(to..).unwrap_or_default();
            to += after.get(1..).and_then(|rest| rest.find('\n')).map_or(after.len(), |at| at + 1);
        }
        if to - from <= most {
            return (from, to);
        }
        let line = text.get(start..end).unwrap_or_default();
        let at = start + self.pattern.find(line.as_bytes(), 0, &Deadline::default()).unwrap_or_default();
        let from = text.ceil_char_boundary(at.saturating_sub(most / 2).max(from));
        (from, text.floor_char_boundary(from.saturating_add(most).min(to)).max(from))
    }
}

pub(super) async fn expand_query(
    engine: &Engine,
    address: String,
    place: &GraphPlace,
    query: &str,
    options: &Expand,
) -> Result<Expanded, Error> {
    let masks = options.masks(engine);
    let deadline = options.deadline.clone();
    let wanted = QueryWords { masks, deadline, ..QueryWords::parse(query, options.page_tokens)? };
    match place {
        GraphPlace::Body(handle) => body_hits(engine, address, *handle, &wanted).await,
        GraphPlace::Node(graph, seq) => {
            let node = &graph.node(*seq)?.node;
            range_hits(engine, address, Positions::of(graph, node.from, node.to), &wanted).await
        }
        GraphPlace::Range(graph, from, to) => {
            range_hits(engine, address, Positions::of(graph, *from, *to), &wanted).await
        }
    }
}

async fn range_hits(
    engine: &Engine,
    address: String,
    range: Positions<'_>,
    wanted: &QueryWords<'_>,
) -> Result<Expanded, Error> {
    let Positions { stream: StreamInfo { id: stream, handle, .. }, from, to } = range;
    let mut found: BTreeMap<Seq, Merit> = BTreeMap::new();
    let (context, filter) = (0, EventFilter::default());
    let (deadline, masks) = (&wanted.deadline, None);
    let scan = StreamScan {
        stream,
        from,
        to,
        said_only: true,
        context,
        filter,
        places: None,
        kept: None,
        deadline,
        masks,
    };
    let ended = grep_stream(engine, &scan, &wanted.pattern, &mut |hit| {
        let merit = wanted.merit(&hit.text);
        let all = found.entry(hit.seq).or_default();
        all.phrase |= merit.phrase;
        all.together = all.together.max(merit.together);
        all.words |= merit.words;
        ControlFlow::Continue(())
    })
    .await?;
    let mut ranked: Vec<(Seq, Merit)> = found.into_iter().collect();
    ranked
        .sort_by_key(|(seq, merit)| Reverse((merit.phrase, merit.together, merit.words.count_ones(), *seq)));
    let mut sheet = HitPage::new(ranked.len() as u64, wanted.most);
    if let ControlFlow::Break(ScanEnd::Late(seq)) = ended {
        sheet.stop_at(seq);
    }
    'page: for some in ranked.chunks(READ) {
        for piece in excerpts(engine, stream, *handle, some, wanted).await? {
            if !sheet.add(piece) {
                break 'page;
            }
        }
    }
    Ok(sheet.finish(address, wanted.most))
}

async fn excerpts(
    engine: &Engine,
    stream: &StreamId,
    handle: Handle,
    ranked: &[(Seq, Merit)],
    wanted: &QueryWords<'_>,
) -> Result<Vec<PagePiece>, Error> {
    let seqs = ranked.iter().map(|(seq, _)| *seq).collect();
    let rows = rows_at(engine, stream, seqs).await?;
    let mut facts = Vec::with_capacity(rows.len());
    for row in &rows {
        facts.push((row, decode_event(engine, stream, row)?.fact));
    }
    let handles = facts.iter().filter_map(|(_, fact)| fact.as_ref()).flat_map(shown_bodies);
    let texts = read_texts(engine, handles.collect::<Vec<_>>()).await?;
    let counts = HashMap::new();
    let (calls, masks) = (HashMap::new(), wanted.masks);
    let mut reader = MessageReader { stream: handle, texts: &texts, counts: &counts, calls, masks };
    let mut pieces = Vec::new();
    for ((row, fact), (_, merit)) in facts.iter().zip(ranked) {
        reader.note(fact.as_ref());
        let Some(entry) = reader.entry(row.seq, &row.kind, fact.as_ref(), (0, 0)) else { continue };
        let best = entry.leaves.into_iter().filter_map(|leaf| {
            let best = wanted.best(&leaf.item.text)?;
            Some((best, leaf))
        });
        let Some((best, leaf)) = best.max_by_key(|(best, _)| (best.2.phrase, best.2.together)) else {
            continue;
        };
        let mut item = wanted.cut(leaf.item, best.0.0, best.0.1);
        item.matched = wanted.named(merit.words);
        let heading =
            said_where(&format!("{} · {}", entry.heading, handle.range(row.seq, row.seq)), &item, best.1);
        pieces.push(PagePiece { heading, leaf: Leaf { item, instead: None, ..leaf } });
    }
    Ok(pieces)
}

async fn body_hits(
    engine: &Engine,
    address: String,
    handle: Handle,
    wanted: &QueryWords<'_>,
) -> Result<Expanded, Error> {
    let texts = read_texts(engine, [handle]).await?;
    let text = texts.text(handle).ok_or_else(|| Error::NoHandle(handle.to_string()))?;
    let (text, unlimited) = (&*shown(text, wanted.masks), Deadline::default());
    let lines = wanted.pattern.lines(text.as_bytes(), 0, &unlimited);
    let merit = |(number, start, end): (u64, usize, usize)| {
        (wanted.merit(text.get(start..end).unwrap_or_default()), number, (start, end))
    };
    let mut ranked: Vec<_> = lines.map(merit).collect();
    // Within a single text, no line is newer than another, so earlier lines come first.
    ranked.sort_by_key(|(merit, number, _)| (Reverse((merit.phrase, merit.together)), *number));
    let mut sheet = HitPage::new(ranked.len() as u64, wanted.most);
    let mut covered: Vec<(u64, u64)> = Vec::new();
    for (merit, number, line) in ranked {
        if covered.iter().any(|(from, to)| *from <= line.0 as u64 && line.1 as u64 <= *to) {
            sheet.covers();
            continue;
        }
        let whole = PageItem::body(handle, text);
        let mut item = wanted.cut(whole, line.0, line.1);
        item.matched = wanted.named(merit.words);
        covered.push((item.from_byte, item.to_byte));
        let heading = said_where(&handle.to_string(), &item, number);
        if !sheet.add(PagePiece { heading, leaf: Leaf::bare(item, 0, None) }) {
            break;
        }
    }
    Ok(sheet.finish(address, wanted.most))
}

impl QueryWords<'_> {
    fn cut(&self, item: PageItem, start: usize, end: usize) -> PageItem {
        // Even dense text has at most one token per byte, so an excerpt of half the page limit in bytes fits on the
        // page.
        let bytes = usize::try_from(self.most / 2).unwrap_or(usize::MAX).min(EXCERPT);
        let (from, to) = self.excerpt(&item.text, start, end, bytes);
        let text = item.text.get(from..to).unwrap_or_default().to_owned();
        PageItem { from_byte: from as u64, to_byte: to as u64, text, ..item }
    }
}

/// Returns a heading with the range of an excerpt within its text.
fn said_where(heading: &str, item: &PageItem, line: u64) -> String {
    if item.from_byte == 0 && item.to_byte == item.bytes {
        return heading.to_owned();
    }
    format!(
        "{heading} · line {} · bytes {}–{} of {}",
        grouped(line),
        item.from_byte,
        item.to_byte,
        item.bytes
    )
}

/// A page that is filled with the best matches until one does not fit.
struct HitPage {
    pieces: Vec<PagePiece>,
    matches: u64,
    covered: u64,
    left: u64,
    /// Latest position that was not searched completely, if the search was given up.
    stopped: Option<Seq>,
}

impl HitPage {
    fn new(matches: u64, most: u64) -> Self {
        Self { pieces: Vec::new(), matches, covered: 0, left: most.saturating_sub(MORE), stopped: None }
    }

    /// Adds a piece. Returns false if the piece does not fit.
    fn add(&mut self, piece: PagePiece) -> bool {
        let words = [&piece.heading, &piece.leaf.mark, &piece.leaf.item.text]
            .map(|text| Vocabulary::O200k.count(text));
        // Line ends take at most one token each.
        let tokens = words.into_iter().map(u64::from).sum::<u64>() + 5;
        if tokens > self.left {
            return false;
        }
        self.left -= tokens;
        self.pieces.push(piece);
        self.covers();
        true
    }

    /// Notes the latest position that was not searched completely.
    fn stop_at(&mut self, seq: Seq) {
        self.stopped = Some(seq);
        self.left = self.left.saturating_sub(MORE);
    }

    /// Counts another match as shown on the page.
    fn covers(&mut self) {
        self.covered += 1;
    }

    fn finish(self, address: String, most: u64) -> Expanded {
        let more = self.matches.saturating_sub(self.covered);
        let mut done = finished(address, Shows::Hits, self.pieces, PageNo { page: 1, pages: 1 }, most);
        if more > 0 {
            done.text.push_str(&format!(
                "\n⟨{} more match; use words that fewer of them have, or a smaller range⟩\n",
                grouped(more)
            ));
        }
        if let Some(seq) = self.stopped {
            done.text.push_str(&format!(
                "\n⟨the search was given up at #{seq}: earlier messages were not searched; use a smaller range⟩\n"
            ));
        }
        if more > 0 || self.stopped.is_some() {
            done.tokens = Tokens(u64::from(Vocabulary::O200k.count(&done.text)));
        }
        Expanded { matches: Some(self.matches), more: Some(more), ..done }
    }
}
