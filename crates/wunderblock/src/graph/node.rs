//! The nodes of a session's summary graph.

use crate::engine::Engine;
use crate::error::Error;
use crate::future::BoxFuture;
use crate::query_batch::{EVERY, NEWEST, QueryBatch, marked};
use crate::session::Session;
use crate::store::{Answer, Marked, Query, StoredEvent, StreamInfo, TallyRow};
use crate::stored::{decode_event, read_texts};
use crate::tokens::Vocabulary;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use wunderblock_core::compaction::Manner;
use wunderblock_core::event::{Fact, SessionCompacted, SummaryCheck};
use wunderblock_core::id::{Handle, LaneId, StreamId};
use wunderblock_core::message::Body;
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::{Bytes, Seq, Tokens};

/// A summary, and its place among the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GraphNode {
    /// What it is called: its session's handle and the position of its event.
    pub address: String,
    /// The position of its event.
    pub seq: Seq,
    /// The lane that adopted it; none for a boundary some other program set.
    pub lane: Option<LaneId>,
    /// 0 for a summary of events; of summaries, one more than the highest of theirs.
    pub level: u32,
    /// The first position it stands for.
    pub from: Seq,
    /// The last.
    pub to: Seq,
    /// How many messages stand between them, both included.
    pub messages: u64,
    /// Tokens of what it stands for, as its producer counted.
    pub tokens_before: Option<Tokens>,
    /// Its own tokens, as its producer counted.
    pub tokens_after: Option<Tokens>,
    /// Who wrote it.
    pub producer: Box<str>,
    /// How it came about; none where that was not recorded.
    pub manner: Option<Manner>,
    /// The policy it was made under.
    pub policy: Option<Box<str>>,
    /// What it was asked to look at most.
    pub focus: Option<Box<str>>,
    /// What was found when it was checked.
    pub check: Option<SummaryCheck>,
    /// The summaries it was made from, ascending.
    pub sources: Vec<Seq>,
    /// The summaries made from it, ascending.
    pub parents: Vec<Seq>,
    /// Whether it stands in its lane's present view.
    pub shown: bool,
    /// The handle of its text, where the text is kept by itself.
    pub handle: Option<Handle>,
    /// The first line of its text that says something; empty where the text is not known.
    pub title: String,
}

/// A node with all that is read for it.
#[derive(Clone, Debug)]
pub(super) struct LoadedNode {
    pub(super) node: GraphNode,
    /// None where it was never known, or was erased.
    pub(super) text: Option<String>,
    /// Tokens of the messages it stands for (o200k), where the ledger has counted that far.
    pub(super) covered: Option<Tokens>,
    /// The length of their texts.
    pub(super) length: Bytes,
}

impl LoadedNode {
    /// Tokens of its text (o200k).
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
/// Characters of a title.
const TITLE: usize = 120;

impl Session {
    /// The nodes of the session's summary graph, ascending; those of one lane, or all. A fork has those of what it forked
    /// from, as far as it shares it. Erased ones are not listed.
    ///
    /// # Errors
    /// When there is no such session, or a record is damaged.
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
    let newest = |what| marked(engine, stream, what, (NEWEST, EVERY));
    let mut batch = QueryBatch::default();
    let info = batch.ask(Query::Stream { tenant, stream: stream.clone() }, Answer::stream);
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

/// What is recorded of each node that was not erased.
pub(super) fn made_nodes(
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

/// The nodes in the present view of a lane: those its latest step lists.
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
        let node = node(info, (*seq, made), text.as_deref());
        let covered = after.tokens.zip(before.tokens).map(|(after, before)| after.saturating_sub(before));
        let length = after.text.saturating_sub(before.text);
        let messages = after.messages.saturating_sub(before.messages);
        let node = GraphNode { shown: shown.contains(seq), messages, ..node };
        Some((*seq, LoadedNode { node, text, covered, length }))
    };
    Ok(made.iter().zip(tallies.chunks(2)).filter_map(known).collect())
}

/// The first line of a text that says something: no heading, no element, no part that has nothing.
fn title(text: &str) -> &str {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let heads = |line: &str| line.starts_with(['#', '<', '–']) || line.ends_with(':');
    lines().find(|line| !heads(line)).or_else(|| lines().next()).unwrap_or_default()
}

fn node(info: &StreamInfo, (seq, made): (Seq, &SessionCompacted), text: Option<&str>) -> GraphNode {
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
