//! Nodes of a session's summary graph.

use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::ledger::engine::Engine;
use crate::ledger::reading::query_batch::{EVERY, NEWEST, QueryBatch, marked};
use crate::ledger::reading::stored::{decode_event, read_texts};
use crate::ledger::session::Session;
use crate::rules::tokens::Vocabulary;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use wunderblock_core::compaction::Manner;
use wunderblock_core::event::{Fact, SessionCompacted, SummaryCheck};
use wunderblock_core::id::{Handle, LaneId, StreamId};
use wunderblock_core::message::Body;
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::{Bytes, Seq, Tokens};
use wunderblock_store::{Answer, Marked, Query, StoredEvent, StreamInfo, StreamKind, TallyRow};

/// A summary with its relations to other summaries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GraphNode {
    /// Address of the node: the session's handle and the position of the node's event.
    pub address: String,
    /// Position of the node's event.
    pub seq: Seq,
    /// Lane that adopted the summary; `None` for a boundary that another program set.
    pub lane: Option<LaneId>,
    /// Level: 0 for a summary of events; for a summary of summaries, one more than their highest level.
    pub level: u32,
    /// First position that the summary covers.
    pub from: Seq,
    /// Last position that the summary covers.
    pub to: Seq,
    /// Number of messages that the summary covers.
    pub messages: u64,
    /// Number of tokens in the covered messages, as counted by the producer.
    pub tokens_before: Option<Tokens>,
    /// Number of tokens in the summary, as counted by the producer.
    pub tokens_after: Option<Tokens>,
    /// Producer of the summary.
    pub producer: Box<str>,
    /// Manner in which the compaction was made; `None` if not recorded.
    pub manner: Option<Manner>,
    /// Policy under which the summary was made.
    pub policy: Option<Box<str>>,
    /// Topic on which the summary should focus.
    pub focus: Option<Box<str>>,
    /// Result of checking the summary.
    pub check: Option<SummaryCheck>,
    /// Positions of the summaries from which this one was made, in ascending order.
    pub sources: Vec<Seq>,
    /// Positions of the summaries that were made from this one, in ascending order.
    pub parents: Vec<Seq>,
    /// Whether the summary is in the present view of its lane.
    pub shown: bool,
    /// Handle of the summary's text, if the text is stored separately.
    pub handle: Option<Handle>,
    /// First line that has content; empty if the text is not available.
    pub title: String,
}

/// A node with its text and the sums over its range.
#[derive(Clone, Debug)]
pub(super) struct LoadedNode {
    pub(super) node: GraphNode,
    /// Text of the summary; `None` if it was never known or has been erased.
    pub(super) text: Option<String>,
    /// Number of tokens in the covered messages (o200k); `None` if the ledger has not counted that far yet.
    pub(super) covered: Option<Tokens>,
    /// Total length of the covered messages' texts.
    pub(super) length: Bytes,
}

impl LoadedNode {
    /// Returns the number of tokens in the summary's text (o200k).
    pub(super) fn tokens(&self) -> Tokens {
        Tokens(u64::from(self.text.as_deref().map_or(0, |text| Vocabulary::O200k.count(text))))
    }
}

/// All nodes of a session, by position.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    pub(super) stream: StreamInfo,
    pub(super) nodes: BTreeMap<Seq, LoadedNode>,
}
/// Maximum length of a title in characters.
const TITLE: usize = 120;

impl Session {
    /// Returns the nodes of the session's summary graph in ascending order: either those of one lane, or all nodes. A
    /// fork includes the nodes of its ancestors within the shared positions. Erased nodes are omitted.
    ///
    /// # Errors
    /// Fails if the session does not exist, or if a record is damaged.
    pub fn nodes<'a>(&'a self, lane: Option<&'a LaneId>) -> BoxFuture<'a, Vec<GraphNode>> {
        Box::pin(async move {
            let graph = read_graph(&self.engine, &self.id).await?;
            let nodes = graph.nodes.into_values().map(|known| known.node);
            Ok(nodes.filter(|node| lane.is_none_or(|lane| node.lane.as_ref() == Some(lane))).collect())
        })
    }
}

pub(super) async fn read_graph(engine: &Engine, stream: &StreamId) -> Result<Graph, Error> {
    let tenant = engine.tenant.no;
    let newest = |what| marked(engine, stream, what, NEWEST, EVERY);
    let mut batch = QueryBatch::default();
    let info =
        batch.ask(Query::Stream { tenant, of: StreamKind::Session, stream: stream.clone() }, Answer::stream);
    let rows = batch.ask(newest(Marked::Kind("session.compacted")), Answer::events);
    let steps = batch.ask(newest(Marked::EachLane("view.trimmed")), Answer::events);
    let mut answers = engine.ask_all(batch).await?;
    let info = *answers.take(info)?.ok_or_else(|| Error::NoSession(stream.to_string()))?;
    let (rows, steps) = (answers.take(rows)?, answers.take(steps)?);
    let made = made_nodes(engine, stream, &rows)?;
    let shown = shown_nodes(engine, stream, &steps)?;
    let mut nodes = known_nodes(engine, &info, &made, &shown).await?;
    for (seq, made) in &made {
        for source in made.sources.iter().filter(|source| *source != seq) {
            if let Some(known) = nodes.get_mut(source) {
                known.node.parents.push(*seq);
            }
        }
    }
    Ok(Graph { stream: info, nodes })
}

/// Returns the recorded facts of all nodes that are not erased, by position.
pub(crate) fn made_nodes(
    engine: &Engine,
    stream: &StreamId,
    rows: &[StoredEvent],
) -> Result<BTreeMap<Seq, SessionCompacted>, Error> {
    let mut made = BTreeMap::new();
    for row in rows {
        if let Some(Fact::SessionCompacted(compacted)) = decode_event(engine, stream, row)?.fact {
            made.insert(row.seq, *compacted);
        }
    }
    Ok(made)
}

/// Returns the positions of nodes in the present view of any lane, as listed by the lane's latest step.
fn shown_nodes(engine: &Engine, stream: &StreamId, steps: &[StoredEvent]) -> Result<BTreeSet<Seq>, Error> {
    let mut shown = BTreeSet::new();
    for row in steps {
        if let Some(Fact::ViewTrimmed(step)) = decode_event(engine, stream, row)?.fact {
            shown.extend(step.trim.nodes.iter().map(|placed| placed.at));
        }
    }
    Ok(shown)
}

async fn known_nodes(
    engine: &Engine,
    info: &StreamInfo,
    made: &BTreeMap<Seq, SessionCompacted>,
    shown: &BTreeSet<Seq>,
) -> Result<BTreeMap<Seq, LoadedNode>, Error> {
    let handles = made.values().filter_map(|made| made.summary.as_ref()?.handle());
    let texts = read_texts(engine, handles.collect::<Vec<_>>()).await?;
    let seqs = made.values().flat_map(|made| [made.from_seq.prev(), made.to_seq]).collect();
    let query = Query::Tallies { tenant: engine.tenant.no, stream: info.id.clone(), seqs };
    let tallies = engine.ask(query, Answer::tallies).await?;
    let known = |((seq, made), tallies): ((&Seq, &SessionCompacted), &[TallyRow])| {
        let text = made.summary.as_ref().and_then(|body| texts.of(body)).map(ToOwned::to_owned);
        let [before, after] = tallies else { return None };
        let node = node(info, *seq, made, text.as_deref());
        let covered = after.tokens.zip(before.tokens).map(|(after, before)| after.saturating_sub(before));
        let length = after.text.saturating_sub(before.text);
        let messages = after.messages.saturating_sub(before.messages);
        let node = GraphNode { shown: shown.contains(seq), messages, ..node };
        Some((*seq, LoadedNode { node, text, covered, length }))
    };
    Ok(made.iter().zip(tallies.chunks(2)).filter_map(known).collect())
}

/// Returns the first line of a text, skipping headings, elements and empty parts. Falls back to the first line that
/// is not blank.
fn title(text: &str) -> &str {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let heads = |line: &str| line.starts_with(['#', '<', '–']) || line.ends_with(':');
    lines().find(|line| !heads(line)).or_else(|| lines().next()).unwrap_or_default()
}

fn node(info: &StreamInfo, seq: Seq, made: &SessionCompacted, text: Option<&str>) -> GraphNode {
    let first = text.map(title).unwrap_or_default();
    GraphNode {
        address: info.handle.range(seq, seq),
        seq,
        lane: made.lane.clone(),
        level: made.level,
        from: made.from_seq,
        to: made.to_seq,
        messages: 0,
        tokens_before: made.tokens_before,
        tokens_after: made.tokens_after,
        producer: made.producer.clone(),
        manner: made.manner,
        policy: made.policy.clone(),
        focus: made.focus.clone(),
        check: made.check.clone(),
        sources: made.sources.clone(),
        parents: Vec::new(),
        shown: false,
        handle: made.summary.as_ref().and_then(Body::handle),
        title: first.trim().chars().take(TITLE).collect(),
    }
}
