//! Summaries of other programs that came with a session, adopted by a lane that begins.

use crate::base::error::Error;
use crate::compaction::compact::history::marked_events;
use crate::request::desk::Desk;
use crate::request::stages::Bench;
use std::collections::BTreeMap;
use wunderblock_core::event::Fact;
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::Seq;
use wunderblock_core::view::SummaryNode;
use wunderblock_store::Marked;
use wunderblock_summary::gives_orders;

/// Returns the summaries a lane may begin with, in the order of their ranges, and puts their texts into the bench.
pub(in crate::compaction::compact) async fn adoptable(
    desk: &Desk,
    bench: &mut Bench,
) -> Result<Vec<SummaryNode>, Error> {
    // A lane with summaries continues with its own, even if it has not built a request yet.
    if !bench.begins || bench.view.nodes().next().is_some() {
        return Ok(Vec::new());
    }
    // The latest summaries come first: of two that overlap, the later one is used.
    let mut chain: BTreeMap<Seq, SummaryNode> = BTreeMap::new();
    for event in marked_events(desk, Marked::Kind("session.compacted"), bench.view.head()).await? {
        let Some(Fact::SessionCompacted(made)) = &event.fact else { continue };
        let Some(node) = SummaryNode::of(&event, made) else { continue };
        let (from, to) = (node.from, node.to);
        // A summary made before an entry was hidden still mentions that entry.
        let tells_hidden = bench.view.hidden().range(from..=to).next().is_some();
        let overlaps = chain.range(..=to).next_back().is_some_and(|(_, before)| before.to >= from);
        if made.lane.is_none() && node.level == 0 && !tells_hidden && !overlaps {
            chain.insert(from, node);
        }
    }
    let nodes: Vec<SummaryNode> = chain.into_values().collect();
    let handles: Vec<_> = nodes.iter().filter_map(|node| node.text.handle()).collect();
    desk.texts(&mut bench.texts, handles.clone()).await?;
    for handle in handles {
        if let Some(text) = bench.texts.get(handle) {
            bench.costs.learn(handle, bench.costs.measure(text));
        }
    }
    // An erased text and a summary that gives orders end the chain, because a range after a gap is not adopted.
    let is_fit = |node: &SummaryNode| bench.texts.of(&node.text).is_some_and(|text| !gives_orders(text));
    Ok(nodes.into_iter().take_while(is_fit).collect())
}
