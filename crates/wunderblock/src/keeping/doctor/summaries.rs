//! Checks the consistency of a session's summary graph.

use super::diagnosis::Diagnosis;
use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::reading::query_batch::{EVERY, QueryBatch, marked};
use crate::ledger::reading::stored::decode_event;
use crate::recall::summary_graph::made_nodes;
use std::collections::{BTreeMap, BTreeSet};
use wunderblock_core::event::{Fact, SessionCompacted};
use wunderblock_core::units::Seq;
use wunderblock_store::{Answer, Marked, StreamInfo};

/// Recorded nodes, and the positions of erased ones.
struct RecordedNodes {
    made: BTreeMap<Seq, SessionCompacted>,
    erased: BTreeSet<Seq>,
}

/// Checks the nodes stored in a stream, and checks that the stream's views show only existing nodes.
pub(crate) async fn examine_nodes(
    engine: &Engine,
    info: &StreamInfo,
    base: Seq,
    diagnosis: &mut Diagnosis,
) -> Result<(), Error> {
    let of_kind = |kind| marked(engine, &info.id, Marked::Kind(kind), info.head, EVERY);
    let mut batch = QueryBatch::default();
    let nodes = batch.ask(of_kind("session.compacted"), Answer::events);
    let steps = batch.ask(of_kind("view.trimmed"), Answer::events);
    let mut answers = engine.ask_all(batch).await?;
    let (nodes, steps) = (answers.take(nodes)?, answers.take(steps)?);
    // Unreadable records are reported by another check.
    let readable = nodes.into_iter().filter(|row| decode_event(engine, &info.id, row).is_ok());
    let (kept, erased): (Vec<_>, Vec<_>) = readable.partition(|row| row.payload.is_some());
    let made = made_nodes(engine, &info.id, &kept)?;
    let recorded = RecordedNodes { made, erased: erased.iter().map(|row| row.seq).collect() };
    for (seq, node) in recorded.made.range(base.next()..) {
        for (rule, detail) in recorded.flaws(*seq, node) {
            diagnosis.found(rule, format!("{} position {seq}: {detail}", info.id));
        }
    }
    for row in steps.iter().filter(|row| row.seq > base) {
        let Ok(event) = decode_event(engine, &info.id, row) else { continue };
        let Some(Fact::ViewTrimmed(step)) = event.fact else { continue };
        for placed in step.trim.nodes {
            let there = recorded.made.get(&placed.at);
            let same = there.is_some_and(|node| (node.from_seq, node.to_seq) == (placed.from, placed.to));
            if !same && !recorded.erased.contains(&placed.at) {
                let detail = format!(
                    "{} position {}: the summary of {}–{} that it shows is not at position {}",
                    info.id, row.seq, placed.from, placed.to, placed.at
                );
                diagnosis.found("views show summaries that are there", detail);
            }
        }
    }
    Ok(())
}

impl RecordedNodes {
    /// Returns the rules that a node violates, each with a detail.
    fn flaws(&self, seq: Seq, node: &SessionCompacted) -> Vec<(&'static str, String)> {
        let mut flaws = Vec::new();
        let (from, to) = (node.from_seq, node.to_seq);
        if from < Seq(1) || from > to || to >= seq {
            flaws.push(("summaries stand for what came before them", format!("it covers {from}–{to}")));
        }
        if node.lane.is_some() && (node.tokens_before.is_none() || node.tokens_after.is_none()) {
            flaws.push(("summaries say what they save", "its tokens are not recorded".to_owned()));
        }
        if node.sources.is_empty() {
            if node.level > 0 {
                let detail = format!("it has level {}, and was made from no summaries", node.level);
                flaws.push(("levels count up from the events", detail));
            }
            return flaws;
        }
        self.sources(seq, node, &mut flaws);
        flaws
    }

    fn sources(&self, seq: Seq, node: &SessionCompacted, flaws: &mut Vec<(&'static str, String)>) {
        let mut sources = Vec::new();
        for source in &node.sources {
            match self.made.get(source) {
                Some(made) if *source < seq => sources.push((*source, made)),
                _ if self.erased.contains(source) => {}
                _ => flaws.push((
                    "what a summary was made from is there",
                    format!("there is no earlier summary at position {source}"),
                )),
            }
        }
        // The range and level of an erased source are unknown, so the sum cannot be checked.
        if sources.len() < node.sources.len() {
            return;
        }
        let level = sources.iter().map(|(_, made)| made.level).max().map_or(0, |most| most.saturating_add(1));
        if node.level != level {
            let detail = format!("it has level {}, but its sources give level {level}", node.level);
            flaws.push(("levels count up from the events", detail));
        }
        sources.sort_by_key(|(_, made)| (made.from_seq, made.to_seq));
        let mut next = node.from_seq;
        for (source, made) in &sources {
            if made.from_seq != next {
                let what = if made.from_seq < next { "overlaps" } else { "leaves a gap" };
                let detail =
                    format!("the summary at {source} begins at {}, not {next}: it {what}", made.from_seq);
                flaws.push(("what a summary was made from adds up to it", detail));
            }
            next = made.to_seq.next();
        }
        if next.prev() != node.to_seq {
            let detail =
                format!("it covers positions up to {}, its sources up to {}", node.to_seq, next.prev());
            flaws.push(("what a summary was made from adds up to it", detail));
        }
    }
}
