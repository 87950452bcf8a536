//! Sources of a summary that a person named, and the content of a range.

use crate::base::edit_error::EditError;
use crate::base::error::Error;
use crate::compaction::compact::prepare::Prepared;
use crate::ledger::session::PAGE;
use crate::request::desk::Desk;
use crate::request::input::snapshot::{item_handles, view_handles};
use std::collections::BTreeSet;
use std::sync::Arc;
use wunderblock_core::compact::{SummaryChange, is_within};
use wunderblock_core::compaction::SessionCompacted;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::id::Handle;
use wunderblock_core::pair::{Arrangement, Exchange, arrange};
use wunderblock_core::units::Seq;
use wunderblock_core::view::{SummaryNode, View, ViewEntry};

/// Sources of a new summary, and the summaries it replaces.
#[derive(Default)]
pub(in crate::compaction::compact) struct Found {
    pub(in crate::compaction::compact) gone: Vec<Seq>,
    pub(in crate::compaction::compact) entries: Vec<ViewEntry>,
    pub(in crate::compaction::compact) sources: Vec<SummaryNode>,
    /// Ranges between and next to the summaries in a range, with their entries. Each of these ranges gets its own
    /// summary first, because a summary of summaries has only summaries as sources.
    pub(in crate::compaction::compact) gaps: Vec<(Seq, Seq, Vec<ViewEntry>)>,
}

/// Returns the summary at a position and its record, if requests of the lane show the summary.
async fn standing(
    desk: &Desk,
    prepared: &Prepared,
    at: Seq,
) -> Result<(SummaryNode, SessionCompacted), Error> {
    let view = &prepared.bench.view;
    let missing = || EditError::NoSummary { at, lane: view.lane().id.clone() };
    let node = view.node(at).ok_or_else(missing)?.clone();
    let made = summary_records(desk, &[at]).await?.into_iter().next();
    Ok((node, made.ok_or_else(missing)?.1))
}

/// Returns the records of the summaries at the positions in `at`, in ascending order, except erased ones.
async fn summary_records(desk: &Desk, at: &[Seq]) -> Result<Vec<(Event, SessionCompacted)>, Error> {
    let mut found = Vec::new();
    for event in desk.at(at.to_vec()).await? {
        if let Some(Fact::SessionCompacted(made)) = &event.fact {
            let made = (**made).clone();
            found.push((event, made));
        }
    }
    Ok(found)
}

/// Returns the summaries that another summary was made from, with their texts.
async fn recorded(
    desk: &Desk,
    prepared: &mut Prepared,
    of: Seq,
    sources: &[Seq],
) -> Result<Vec<SummaryNode>, Error> {
    let found = summary_records(desk, sources).await?;
    let nodes = found.iter().filter_map(|(event, made)| SummaryNode::of(event, made));
    let mut nodes: Vec<SummaryNode> = nodes.collect();
    nodes.sort_unstable_by_key(|node| node.from);
    if nodes.len() < sources.len() {
        return Err(EditError::Erased(of).into());
    }
    learn(desk, prepared, nodes.iter().filter_map(|node| node.text.handle()).collect()).await?;
    desk.texts(&mut prepared.bench.texts, item_handles(&nodes).collect::<Vec<_>>()).await?;
    Ok(nodes)
}

/// Returns a view of the messages between two positions, and the events of these messages. The texts and costs of the
/// messages are added to the bench.
async fn read_range(
    desk: &Desk,
    prepared: &mut Prepared,
    from: Seq,
    to: Seq,
) -> Result<(View, Vec<Event>), Error> {
    let mut view = View::new(prepared.bench.view.lane().id.clone());
    let mut said = Vec::new();
    let mut next = from;
    while next <= to {
        let events = desk.events(next, to, PAGE.events, PAGE.text).await?;
        let Some(last) = events.last() else { break };
        next = last.seq.next();
        said.extend(events.into_iter().filter(|event| matches!(event.fact, Some(Fact::MessageAppended(_)))));
    }
    said.iter().for_each(|event| view.apply(event));
    learn(desk, prepared, view_handles(&view).collect()).await?;
    Ok((view, said))
}

/// Reads texts, and measures those whose cost is not known yet.
async fn learn(desk: &Desk, prepared: &mut Prepared, handles: Vec<Handle>) -> Result<(), Error> {
    let bench = &mut prepared.bench;
    desk.texts(&mut bench.texts, handles.clone()).await?;
    for handle in handles {
        if let Some(text) = bench.texts.get(handle).filter(|_| !bench.costs.knows(handle)) {
            bench.costs.learn(handle, bench.costs.measure(text));
        }
    }
    Ok(())
}

/// Builds the change that shows a summary's sources again: the summaries it was made from, or the messages of its
/// range.
pub(in crate::compaction::compact) async fn dissolve(
    desk: &Desk,
    prepared: &mut Prepared,
    at: Seq,
) -> Result<SummaryChange, Error> {
    let (node, made) = standing(desk, prepared, at).await?;
    let mut change = SummaryChange { name: "dissolve".into(), gone: vec![at], ..SummaryChange::default() };
    if !made.sources.is_empty() {
        change.back = recorded(desk, prepared, at, &made.sources).await?;
        return Ok(change);
    }
    let (_, said) = read_range(desk, prepared, node.from, node.to).await?;
    if said.is_empty() {
        return Err(EditError::Erased(at).into());
    }
    let view = Arc::make_mut(&mut prepared.bench.view);
    said.iter().for_each(|event| view.hold(event));
    change.shown = Some((node.from, node.to));
    Ok(change)
}

/// Finds the sources of one summary of a range: the summaries in it, and the whole exchanges next to them.
pub(in crate::compaction::compact) async fn range(
    desk: &Desk,
    prepared: &mut Prepared,
    from: Seq,
    to: Seq,
) -> Result<(Seq, Seq, Found), Error> {
    let view = Arc::clone(&prepared.bench.view);
    let overlaps = |node: &&SummaryNode| node.from <= to && node.to >= from;
    let sources: Vec<SummaryNode> = view.nodes().filter(overlaps).cloned().collect();
    if let Some(cut) = sources.iter().find(|node| node.from < from || node.to > to) {
        return Err(EditError::CutsSummary { from: cut.from, to: cut.to }.into());
    }
    let arrangement = arrange(&view);
    let newest = arrangement.exchanges.iter().map(|exchange| exchange.key).max();
    if let Some(newest) = newest.into_iter().chain(view.newest_user()).find(|at| (from..=to).contains(at)) {
        return Err(EditError::ReachesNewest(newest).into());
    }
    let (said, _) = read_range(desk, prepared, from, to).await?;
    let arrangement = arrange(&said);
    let whole = arrangement.exchanges.iter().filter(|exchange| is_within(exchange, from, to));
    let whole: BTreeSet<Seq> = whole.flat_map(|exchange| exchange.members.iter().copied()).collect();
    let is_told = |seq: Seq| sources.iter().any(|node| (node.from..=node.to).contains(&seq));
    let entries = told(&said, &arrangement, view.hidden());
    let entries: Vec<ViewEntry> =
        entries.filter(|entry| whole.contains(&entry.seq) && !is_told(entry.seq)).cloned().collect();
    if entries.is_empty() && sources.len() < 2 {
        return Err(EditError::NoExchange { from, to }.into());
    }
    let gone = sources.iter().map(|node| node.at).collect();
    let Some((first, last)) = sources.first().zip(sources.last()) else {
        return Ok((from, to, Found { gone, entries, ..Found::default() }));
    };
    let between = |from: Seq, to: Seq| -> Vec<ViewEntry> {
        entries.iter().filter(|entry| (from..=to).contains(&entry.seq)).cloned().collect()
    };
    // A margin of the range without an entry is not part of the summary.
    let from = if between(from, first.from).is_empty() { first.from } else { from };
    let to = if between(last.to, to).is_empty() { last.to } else { to };
    let ends = sources.iter().map(|node| node.from).chain([to.next()]);
    let begins = std::iter::once(from).chain(sources.iter().map(|node| node.to.next()));
    let gaps = begins.zip(ends).filter(|(begin, end)| begin < end);
    let gaps = gaps.map(|(begin, end)| (begin, end.prev(), between(begin, end.prev()))).collect();
    Ok((from, to, Found { gone, sources, gaps, ..Found::default() }))
}

/// Finds the sources of a summary that is to be written again.
pub(in crate::compaction::compact) async fn rewritten(
    desk: &Desk,
    prepared: &mut Prepared,
    at: Seq,
) -> Result<(Seq, Seq, Found), Error> {
    let (node, made) = standing(desk, prepared, at).await?;
    let mut found = Found { gone: vec![at], ..Found::default() };
    if made.sources.is_empty() {
        let (view, _) = read_range(desk, prepared, node.from, node.to).await?;
        found.entries = told(&view, &arrange(&view), prepared.bench.view.hidden()).cloned().collect();
        if found.entries.is_empty() {
            return Err(EditError::Erased(at).into());
        }
    } else {
        found.sources = recorded(desk, prepared, at, &made.sources).await?;
    }
    Ok((node.from, node.to, found))
}

/// Returns the entries that summaries may mention: all except exchanges with a hidden entry.
pub(in crate::compaction::compact) fn told<'v>(
    view: &'v View,
    arrangement: &Arrangement,
    hidden: &BTreeSet<Seq>,
) -> impl Iterator<Item = &'v ViewEntry> + use<'v> {
    let is_hidden = |unit: &&Exchange| unit.members.iter().any(|seq| hidden.contains(seq));
    let exchanges = arrangement.exchanges.iter().filter(is_hidden);
    let hidden: BTreeSet<Seq> = exchanges.flat_map(|unit| unit.members.iter().copied()).collect();
    view.entries().filter(move |entry| !hidden.contains(&entry.seq))
}
