//! Summaries of a session's other lanes, adopted by a lane that begins.

use super::history::{marked_events, undone_steps};
use crate::error::Error;
use crate::request::stages::Bench;
use crate::session::Session;
use crate::store::Marked;
use crate::stored::read_more_texts;
use crate::summarize::gives_orders;
use std::collections::{BTreeMap, BTreeSet};
use wunderblock_core::event::{Fact, SessionCompacted};
use wunderblock_core::id::LaneId;
use wunderblock_core::message::Body;
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::{Millis, Seq, Tokens};
use wunderblock_core::view::{SummaryNode, unchecked_by};

/// Returns the summaries a lane may begin with, in the order of their ranges, and puts their texts into the bench.
/// Takes the lane whose summaries have the most tokens. Only summaries of events qualify, because a summary of
/// summaries has less detail than its sources.
pub(super) async fn adoptable(session: &Session, bench: &mut Bench) -> Result<Vec<SummaryNode>, Error> {
    // A lane with summaries continues with its own, even if it has not built a request yet.
    if !bench.begins || bench.view.nodes().next().is_some() {
        return Ok(Vec::new());
    }
    let head = bench.view.head();
    let rejected = undone_summaries(session, head).await?;
    let mut foreign = Vec::new();
    let mut lanes: BTreeMap<LaneId, Vec<(Seq, Millis, SessionCompacted)>> = BTreeMap::new();
    // The latest summaries come first, and `chain` skips overlaps: of two summaries of one range, the later one is
    // used.
    for event in marked_events(session, Marked::Kind("session.compacted"), head).await? {
        let Some(Fact::SessionCompacted(made)) = event.fact else { continue };
        // A summary made before an entry was hidden still mentions that entry.
        let tells_hidden = bench.view.hidden().range(made.from_seq..=made.to_seq).next().is_some();
        if !is_leaf(&made) || rejected.contains(&event.seq) || tells_hidden {
            continue;
        }
        let made = (event.seq, event.at, *made);
        match made.2.lane.clone() {
            Some(lane) => lanes.entry(lane).or_default().push(made),
            None => foreign.push(made),
        }
    }
    let chains = lanes.into_values().map(chain);
    let told = |nodes: &Vec<(SummaryNode, Tokens)>| nodes.iter().map(|(_, tokens)| *tokens).sum::<Tokens>();
    // Summaries from other programs are unchecked, so they are used only if no lane of ours has any summaries.
    let chain = chains.max_by_key(told).unwrap_or_else(|| chain(foreign));
    let nodes: Vec<SummaryNode> = chain.into_iter().map(|(node, _)| node).collect();
    let handles: Vec<_> = nodes.iter().filter_map(|node| node.text.handle()).collect();
    read_more_texts(&session.engine, &mut bench.texts, handles.clone()).await?;
    for handle in handles {
        if let Some(text) = bench.texts.get(handle) {
            bench.costs.learn(handle, bench.costs.measure(text));
        }
    }
    // Skip erased texts and unchecked summaries that give orders. Summaries after a gap are not adopted either.
    let is_fit = |node: &SummaryNode| {
        let text = bench.texts.of(&node.text);
        text.is_some_and(|text| node.unchecked.is_none() || !gives_orders(text))
    };
    Ok(nodes.into_iter().take_while(is_fit).collect())
}

/// Returns the summaries made by compactions that were undone.
async fn undone_summaries(session: &Session, head: Seq) -> Result<BTreeSet<Seq>, Error> {
    let undone = undone_steps(session, Marked::Kind("compaction.undone"), head).await?;
    if undone.is_empty() {
        return Ok(undone);
    }
    let steps = marked_events(session, Marked::Kind("view.trimmed"), head).await?.into_iter();
    let steps = steps.filter(|event| undone.contains(&event.seq));
    let made = steps.filter_map(|event| match event.fact {
        // A compaction records its own summaries after its step. Nodes at positions before the step were only kept.
        Some(Fact::ViewTrimmed(step)) => {
            Some(step.trim.nodes.into_iter().map(|node| node.at).filter(move |at| *at > event.seq))
        }
        _ => None,
    });
    Ok(made.flatten().collect())
}

/// Returns whether a summary covers events directly, has a text, and was checked or belongs to no lane (an import).
fn is_leaf(made: &SessionCompacted) -> bool {
    let is_known = made.check.is_some() || made.lane.is_none();
    made.level == 0 && made.sources.is_empty() && is_known && made.summary.is_some()
}

/// Returns the summaries whose ranges do not overlap, in ascending order. Of two overlapping summaries, the first in
/// `made` is kept.
fn chain(made: Vec<(Seq, Millis, SessionCompacted)>) -> Vec<(SummaryNode, Tokens)> {
    let mut chain: BTreeMap<Seq, (SummaryNode, Tokens)> = BTreeMap::new();
    for (at, when, made) in made {
        let unchecked = unchecked_by(&made);
        let SessionCompacted { from_seq: from, to_seq: to, summary, tokens_after, .. } = made;
        let before = chain.range(..=to).next_back();
        if before.is_some_and(|(_, (node, _))| node.to >= from) {
            continue;
        }
        let text = summary.unwrap_or_else(|| Body::from(""));
        let node = SummaryNode { at, from, to, level: 0, text, made: when, unchecked };
        chain.insert(from, (node, tokens_after.unwrap_or_default()));
    }
    chain.into_values().collect()
}
