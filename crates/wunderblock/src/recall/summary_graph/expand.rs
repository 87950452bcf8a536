//! Shows the original text of a summary, a range or a handle verbatim, page by page.

use super::grid::{Grid, HEAD};
use super::hits::expand_query;
use super::item::{ItemKind, Leaf, MessageReader, PageEntry, PageItem, PagePiece, shown};
use super::node::{Graph, LoadedNode};
use super::page;
use super::place::{GraphPlace, Positions, find_place};
use super::token_line::{TokenLine, counts_of};
use crate::base::deadline::Deadline;
use crate::base::error::Error;
use crate::base::hint::Hint;
use crate::ledger::engine::Engine;
use crate::ledger::reading::address::Address;
use crate::ledger::reading::stored::{decode_event, read_texts};
use crate::limits::{EXPAND_LEAST, EXPAND_MOST, EXPAND_TOKENS};
use crate::rules::tokens::Vocabulary;
use serde::Serialize;
use std::collections::HashMap;
use wunderblock_core::event::Fact;
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::message::Body;
use wunderblock_core::ports::Bodies;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::{Bytes, Seq, Tokens};
use wunderblock_redact::Redactor;
use wunderblock_store::StoredEvent;

/// Options for expanding an address.
#[derive(Clone, Debug)]
pub struct Expand {
    /// Query; if set, the best matches are shown on one page.
    pub query: Option<String>,
    /// Page number, counted from 1; `None` for the first.
    pub page: Option<u64>,
    /// Maximum number of tokens (o200k) on a page.
    pub page_tokens: u64,
    /// Whether to expand a summary of summaries to the summaries it was made from. If false, the underlying events
    /// are shown.
    pub children: bool,
    /// Whether secrets are shown as asterisks.
    pub masked: bool,
    /// Time at which the search for the query is given up. What was found by then is shown.
    pub deadline: Deadline,
}

impl Expand {
    /// Returns the redactor that masks secrets, if they are masked.
    pub(super) fn masks<'e>(&self, engine: &'e Engine) -> Option<&'e Redactor> {
        self.masked.then_some(&*engine.config.redactor)
    }
}

impl Default for Expand {
    fn default() -> Self {
        Self {
            query: None,
            page: None,
            page_tokens: EXPAND_TOKENS,
            children: true,
            masked: false,
            deadline: Deadline::default(),
        }
    }
}

/// A page of expanded text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Expanded {
    /// Address that was expanded.
    pub address: String,
    /// Kind of content on the page.
    pub shows: Shows,
    /// Texts on the page, in order.
    pub items: Vec<PageItem>,
    /// The page as a text for a model: each item verbatim, below a line that describes it.
    #[serde(skip)]
    pub text: String,
    /// Tokens of `text` (o200k).
    pub tokens: Tokens,
    /// Page number, counted from 1.
    pub page: u64,
    /// Total number of pages.
    pub pages: u64,
    /// Number of the next page; `None` after the last.
    pub next: Option<u64>,
    /// Number of messages that contain some of the query's words, if there is a query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<u64>,
    /// Number of matching messages that are not on the page, if there is a query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<u64>,
}

/// Kind of content on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shows {
    /// Summaries from which a summary was made.
    Nodes,
    /// Messages, as recorded.
    Events,
    /// A single text.
    Body,
    /// Matches of a query.
    Hits,
}

/// Number of events read at a time for a page.
const READ: u64 = 128;

pub(crate) async fn expand(engine: &Engine, address: Address, wanted: &Expand) -> Result<Expanded, Error> {
    if !(EXPAND_LEAST..=EXPAND_MOST).contains(&wanted.page_tokens) {
        let (least, most) = (grouped(EXPAND_LEAST), grouped(EXPAND_MOST));
        return Err(Error::Address(format!(
            "invalid page size: a page must have {least} to {most} tokens, not {}",
            wanted.page_tokens
        )));
    }
    let place = find_place(engine, address).await?;
    let named = named(&place);
    if let Some(query) = &wanted.query {
        return expand_query(engine, named, &place, query, wanted).await;
    }
    match &place {
        GraphPlace::Body(handle) => {
            let texts = read_texts(engine, [*handle]).await?;
            let text = texts.text(*handle).ok_or_else(|| Error::NoHandle(handle.to_string()))?;
            let text = shown(text, wanted.masks(engine));
            listed(named, Shows::Body, vec![body(*handle, &text)], wanted)
        }
        GraphPlace::Node(graph, seq) => {
            let node = graph.node(*seq)?;
            if wanted.children && !node.node.sources.is_empty() {
                return listed(named, Shows::Nodes, graph.children(node, wanted.masks(engine)), wanted);
            }
            events_page(engine, named, Positions::of(graph, node.node.from, node.node.to), wanted).await
        }
        GraphPlace::Range(graph, from, to) => {
            events_page(engine, named, Positions::of(graph, *from, *to), wanted).await
        }
    }
}

async fn events_page(
    engine: &Engine,
    address: String,
    positions: Positions<'_>,
    wanted: &Expand,
) -> Result<Expanded, Error> {
    let Positions { stream, from, to } = positions;
    let grid = Grid::of(wanted.page_tokens);
    let line = TokenLine::of(engine, &stream.id, from, to.min(stream.head)).await?;
    if line.length == 0 {
        let why = format!("positions {from} to {to} hold no messages, only records");
        return Err(Error::OtherAddress { why, hint: Hint::Read { address } });
    }
    let pages = grid.pages(line.length);
    let number = checked_page(wanted.page, pages)?;
    let found = find_on_page(engine, &stream.id, &line, &grid, number).await?;
    let pieces = page_pieces(engine, stream.handle, found, wanted, number).await?;
    Ok(finished(address, Shows::Events, pieces, PageNo { page: number, pages }, wanted.page_tokens))
}

/// Returns the messages that a page shows in full or in part, with their places on the token line.
async fn find_on_page(
    engine: &Engine,
    stream: &StreamId,
    line: &TokenLine<'_>,
    grid: &Grid,
    page: u64,
) -> Result<Vec<PlacedMessage>, Error> {
    let (begin, close) = grid.cell(page);
    let mut from = line.first_past(if page > 1 { grid.reach(begin) } else { 0 }).await?;
    let mut found = Vec::new();
    loop {
        // Few texts have more than sixteen bytes per token, so one read usually covers a cell.
        let rows = line.events(from, READ, Bytes((close - begin).saturating_mul(16))).await?;
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { break };
        let seqs = std::iter::once(first.seq.prev()).chain(rows.iter().map(|row| row.seq)).collect();
        from = last.seq.next();
        let ends = line.ends(seqs).await?;
        let past = ends.last().is_none_or(|end| *end >= grid.reach(close));
        for (row, place) in rows.into_iter().zip(ends.windows(2)) {
            let [start, end] = place else { continue };
            if row.kind == "message.appended" && grid.shown(page, *start, *end).is_some() {
                let fact = decode_event(engine, stream, &row)?.fact;
                found.push(PlacedMessage { row, fact, place: (*start, *end) });
            }
        }
        if past {
            break;
        }
    }
    Ok(found)
}

async fn page_pieces(
    engine: &Engine,
    stream: Handle,
    found: Vec<PlacedMessage>,
    wanted: &Expand,
    page: u64,
) -> Result<Vec<PagePiece>, Error> {
    let grid = Grid::of(wanted.page_tokens);
    let facts = found.iter().filter_map(|placed| placed.fact.as_ref());
    let handles: Vec<Handle> = facts.flat_map(shown_bodies).collect();
    let texts = read_texts(engine, handles).await?;
    let (places, events): (Vec<_>, Vec<_>) =
        found.into_iter().map(|PlacedMessage { row, fact, place }| (place, (row, fact))).unzip();
    let counts = counts_of(engine, &events).await?;
    let (calls, masks) = (HashMap::new(), wanted.masks(engine));
    let mut reader = MessageReader { stream, texts: &texts, counts: &counts, calls, masks };
    let mut pieces = Vec::new();
    for ((row, fact), place) in events.iter().zip(places) {
        reader.note(fact.as_ref());
        let entry = reader.entry(row.seq, &row.kind, fact.as_ref(), place);
        pieces.extend(entry.into_iter().flat_map(|entry| entry.pieces(&grid, page)));
    }
    Ok(pieces)
}

/// A message with its place on the token line.
struct PlacedMessage {
    row: StoredEvent,
    fact: Option<Fact>,
    place: (u64, u64),
}

/// Returns the handles of an event's texts, without media data.
pub(super) fn shown_bodies(fact: &Fact) -> Vec<Handle> {
    let Fact::MessageAppended(said) = fact else { return Vec::new() };
    let leaves = super::token_line::leaves(&said.message).into_iter();
    leaves.filter(|(part, _)| !part.is_data()).filter_map(|(_, body)| Body::handle(body)).collect()
}

/// Returns the address of a place.
fn named(place: &GraphPlace) -> String {
    match place {
        GraphPlace::Body(handle) => handle.to_string(),
        GraphPlace::Node(graph, seq) => graph.stream.handle.range(*seq, *seq),
        GraphPlace::Range(graph, from, to) => graph.stream.handle.range(*from, *to),
    }
}

impl Graph {
    pub(super) fn node(&self, seq: Seq) -> Result<&LoadedNode, Error> {
        self.nodes.get(&seq).ok_or_else(|| Error::Address(format!("there is no summary at position {seq}")))
    }

    /// Returns the summaries from which a node was made, in the order of the ranges they cover. A missing summary is
    /// given by its position.
    pub(super) fn children_of(&self, known: &LoadedNode) -> Vec<Result<&LoadedNode, Seq>> {
        let mut children: Vec<Result<&LoadedNode, Seq>> =
            known.node.sources.iter().map(|seq| self.nodes.get(seq).ok_or(*seq)).collect();
        children.sort_by_key(|child| match child {
            Ok(child) => (child.node.from, child.node.seq),
            Err(seq) => (*seq, *seq),
        });
        children
    }

    fn children(&self, known: &LoadedNode, masks: Option<&Redactor>) -> Vec<PageEntry> {
        self.children_of(known).into_iter().map(|child| self.child(child, masks)).collect()
    }

    fn child(&self, child: Result<&LoadedNode, Seq>, masks: Option<&Redactor>) -> PageEntry {
        let (seq, heading, text, tokens) = match child {
            Ok(known) => {
                let LoadedNode { node, text, .. } = known;
                let heading = format!(
                    "#{} summary of #{}–{} · {} messages · {}",
                    node.seq,
                    node.from,
                    node.to,
                    grouped(node.messages),
                    node.address
                );
                (node.seq, heading, text.as_ref().map(|text| shown(text, masks)), known.tokens().0)
            }
            Err(seq) => (seq, format!("#{seq} summary"), None, 0),
        };
        let instead = text.is_none().then_some("⟨its text is not in the ledger, or was erased⟩");
        let address = self.stream.handle.range(seq, seq);
        let item = PageItem::new(Some(seq), ItemKind::Summary, address, text.unwrap_or_default());
        let leaf = Leaf::bare(item, tokens, instead);
        PageEntry { heading, place: (0, tokens.saturating_add(HEAD)), leaves: vec![leaf] }
    }
}

fn body(handle: Handle, text: &str) -> PageEntry {
    let tokens = u64::from(Vocabulary::O200k.count(text));
    let heading = format!("{handle} · {} bytes", grouped(text.len() as u64));
    let leaf = Leaf::bare(PageItem::body(handle, text), tokens, None);
    PageEntry { heading, place: (0, tokens.saturating_add(HEAD)), leaves: vec![leaf] }
}

/// Returns a page of entries that are all in memory.
fn listed(
    address: String,
    shows: Shows,
    mut entries: Vec<PageEntry>,
    wanted: &Expand,
) -> Result<Expanded, Error> {
    let grid = Grid::of(wanted.page_tokens);
    let mut length = 0_u64;
    for entry in &mut entries {
        let end = length.saturating_add(entry.place.1);
        entry.place = (length, end);
        length = end;
    }
    let pages = grid.pages(length);
    let number = checked_page(wanted.page, pages)?;
    let pieces = entries.into_iter().flat_map(|entry| entry.pieces(&grid, number)).collect();
    Ok(finished(address, shows, pieces, PageNo { page: number, pages }, wanted.page_tokens))
}

fn checked_page(page: Option<u64>, pages: u64) -> Result<u64, Error> {
    let number = page.unwrap_or(1);
    if (1..=pages).contains(&number) {
        return Ok(number);
    }
    Err(Error::Address(format!("there is no page {number}: the last page is {pages}")))
}

/// Page number and total number of pages.
pub(super) struct PageNo {
    pub(super) page: u64,
    pub(super) pages: u64,
}

pub(super) fn finished(
    address: String,
    shows: Shows,
    pieces: Vec<PagePiece>,
    number: PageNo,
    most: u64,
) -> Expanded {
    let PageNo { page, pages } = number;
    let (text, tokens) = page::write(&pieces, page, most);
    let items = pieces.into_iter().map(|piece| piece.leaf.item).collect();
    let next = (page < pages).then(|| page.saturating_add(1));
    Expanded { address, shows, items, text, tokens, page, pages, next, matches: None, more: None }
}
