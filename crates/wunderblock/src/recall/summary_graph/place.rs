//! Resolves an address: to a node, a range of a session, or a text.

use super::node::{Graph, read_graph};
use crate::base::error::Error;
use crate::base::hint::Hint;
use crate::ledger::engine::Engine;
use crate::ledger::reading::address::Address;
use crate::ledger::reading::reductions::holders_of;
use crate::ledger::reading::stored::{decode_event, rows_at};
use wunderblock_core::event::Fact;
use wunderblock_core::id::Handle;
use wunderblock_core::message::Body;
use wunderblock_core::units::Seq;
use wunderblock_store::{Answer, HandleTarget, Query, StreamInfo, StreamKind};

/// A range of positions in a stream.
#[derive(Clone, Copy)]
pub(super) struct Positions<'g> {
    pub(super) stream: &'g StreamInfo,
    pub(super) from: Seq,
    pub(super) to: Seq,
}

impl<'g> Positions<'g> {
    pub(super) fn of(graph: &'g Graph, from: Seq, to: Seq) -> Self {
        Self { stream: &graph.stream, from, to }
    }
}

/// Object to describe or expand.
pub(super) enum GraphPlace {
    /// A node, identified by the position of its event.
    Node(Graph, Seq),
    /// A range of positions that does not exactly match any node's range, with the graph of the session's nodes.
    Range(Graph, Seq, Seq),
    /// A body that is not the text of a node.
    Body(Handle),
}

pub(super) async fn find_place(engine: &Engine, address: Address) -> Result<GraphPlace, Error> {
    let query = Query::Resolve { tenant: engine.tenant.no, of: StreamKind::Session, handle: address.handle };
    match engine.ask(query, Answer::named).await? {
        None => Err(Error::NoHandle(address.handle.to_string())),
        Some(HandleTarget::Source(..)) => Err(Error::OtherAddress {
            why: format!("{} is an imported file, which has no summaries", address.handle),
            hint: Hint::Read { address: address.handle.to_string() },
        }),
        Some(HandleTarget::Blob) if address.range.is_some() => Err(Error::Address(format!(
            "{0} is a text, which has no positions; remove `#` and what follows it",
            address.handle
        ))),
        Some(HandleTarget::Blob) => place_of_summary(engine, address.handle).await,
        Some(HandleTarget::Stream(stream)) => {
            let graph = read_graph(engine, &stream).await?;
            place_of_range(engine, graph, address.range).await
        }
    }
}

/// Returns the first node whose text has this handle, or the body itself if there is no such node.
async fn place_of_summary(engine: &Engine, handle: Handle) -> Result<GraphPlace, Error> {
    for holder in holders_of(engine, handle).await? {
        if let Some(Fact::SessionCompacted(made)) = holder.fact
            && made.summary.as_ref().and_then(Body::handle) == Some(handle)
        {
            return Ok(GraphPlace::Node(read_graph(engine, &holder.stream.id).await?, holder.seq));
        }
    }
    Ok(GraphPlace::Body(handle))
}

async fn place_of_range(
    engine: &Engine,
    graph: Graph,
    range: Option<(Seq, Seq)>,
) -> Result<GraphPlace, Error> {
    let head = graph.stream.head;
    let Some((from, to)) = range else { return Ok(GraphPlace::Range(graph, Seq(1), head)) };
    if from > head || to < Seq(1) {
        return Err(Error::Address(format!("invalid positions: the session has positions 1 to {head}")));
    }
    if from == to && graph.nodes.contains_key(&from) {
        return Ok(GraphPlace::Node(graph, from));
    }
    if from == to
        && let Some((kind, None)) = fact_at(engine, &graph.stream, from).await?
        && kind == "session.compacted"
    {
        return Err(Error::Erased(format!("the summary at position {from}")));
    }
    let exact = graph.nodes.values().filter(|known| (known.node.from, known.node.to) == (from, to));
    // Several nodes may have the same range. A node in the present view is preferred to an older one.
    let best = exact.max_by_key(|known| (known.node.shown, known.node.seq)).map(|known| known.node.seq);
    Ok(match best {
        Some(seq) => GraphPlace::Node(graph, seq),
        None => GraphPlace::Range(graph, from.max(Seq(1)), to.min(head)),
    })
}

/// Returns the kind of the event at a position, and its fact unless the event is erased.
async fn fact_at(
    engine: &Engine,
    info: &StreamInfo,
    seq: Seq,
) -> Result<Option<(String, Option<Fact>)>, Error> {
    let rows = rows_at(engine, &info.id, vec![seq]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    Ok(Some((row.kind.clone(), decode_event(engine, &info.id, row)?.fact)))
}
