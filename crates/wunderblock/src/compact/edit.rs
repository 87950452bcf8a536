//! What a person asks for in the place of a climb: one summary written again or dissolved, or one of a range.
//!
//! ```text
//! SummaryEdit ─► what goes, what it was made from ─ write ─► SummaryChange ─ Ladder::change ─► Climbed ─ publish
//! ```

use super::call_budget::CallBudget;
use super::climb::Climbed;
use super::found::{Found, dissolve, range, rewritten};
use super::options::{CompactOptions, CompactionStage, SummaryEdit};
use super::prepare::Prepared;
use super::writing::{EarlierText, WritingMeans, WritingTask, write_apart};
use crate::compactor::Compactor;
use crate::edit_error::EditError;
use crate::error::Error;
use crate::session::Session;
use crate::summarize::attempt::SummaryDraft;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wunderblock_core::compact::{
    Detail, Ladder, NodeDraft, SummaryChange, SummaryJob, Urgency, summary_target,
};
use wunderblock_core::cost;
use wunderblock_core::message::Body;
use wunderblock_core::policy::Summary;
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::units::{Millis, Seq, Tokens};
use wunderblock_core::view::SummaryNode;

/// Makes the change that was asked for; nothing is recorded.
///
/// # Errors
/// When the ledger cannot be read, or the change cannot be made: [`EditError`].
pub(super) async fn run(
    session: &Session,
    options: &CompactOptions,
    prepared: &mut Prepared,
    (edit, budget): (SummaryEdit, CallBudget),
) -> Result<Climbed, Error> {
    let (name, from, to, mut found) = match edit {
        SummaryEdit::Dissolve(at) => {
            let change = dissolve(session, prepared, at).await?;
            return changed(options, prepared, change, Vec::new(), Duration::ZERO);
        }
        SummaryEdit::Range(from, to) => {
            let (from, to, found) = range(session, prepared, (from, to)).await?;
            ("range", from, to, found)
        }
        SummaryEdit::Rewrite(at) => {
            let (from, to, found) = rewritten(session, prepared, at).await?;
            ("rewrite", from, to, found)
        }
    };
    let mut written = Written { budget: &budget, drafts: Vec::new(), nodes: Vec::new() };
    let (begin, gone) = (Instant::now(), std::mem::take(&mut found.gone));
    let mechanical = CompactOptions {
        compactor: Compactor { summariser: None, ..options.compactor.clone() },
        ..options.clone()
    };
    let mut on = true;
    for (from, to, entries) in std::mem::take(&mut found.gaps) {
        let leaf = Found { entries, ..Found::default() };
        let mut task = task(prepared, &options.compactor.policy.summary, (from, to), leaf);
        task.job.inner = true;
        on &= write(session, &mechanical, prepared, task, &mut written).await?;
        found.sources.extend(written.nodes.last().map(summary_node));
    }
    found.sources.sort_unstable_by_key(|node| node.from);
    let task = task(prepared, &options.compactor.policy.summary, (from, to), found);
    on &= write(session, options, prepared, task, &mut written).await?;
    let Written { drafts, nodes, .. } = written;
    let change = SummaryChange { name: name.into(), gone, drafts: nodes, ..SummaryChange::default() };
    let climbed = changed(options, prepared, change, drafts, begin.elapsed())?;
    Ok(Climbed { interrupted: !on, ..climbed })
}

/// What has been written, and what it was written for.
struct Written<'a> {
    budget: &'a CallBudget,
    drafts: Vec<SummaryDraft>,
    nodes: Vec<NodeDraft>,
}

/// Writes a summary. The answer is whether its watcher lets it go on.
async fn write(
    session: &Session,
    options: &CompactOptions,
    prepared: &Prepared,
    task: WritingTask,
    written: &mut Written<'_>,
) -> Result<bool, Error> {
    let on = Arc::new(AtomicBool::new(true));
    let (progress, goes_on, done) = (options.progress.clone(), Arc::clone(&on), written.drafts.len());
    let told = Box::new(move |bytes| {
        let stage = CompactionStage::Summarising { done, of: done + 1, bytes };
        goes_on.fetch_and(progress.as_ref().is_none_or(|progress| progress(&stage)), Ordering::Relaxed);
        goes_on.load(Ordering::Relaxed)
    });
    let (job, draft) = write_apart(
        session,
        options,
        task,
        WritingMeans { costs: &prepared.bench.costs, budget: written.budget, told },
    )?
    .await?;
    let text = Body::from(draft.text.as_str());
    let tokens = cost::summary(&text, &prepared.bench.costs).tokens;
    // The trim's event comes first.
    let at = Seq(prepared.bench.view.head().0 + 2 + done as u64);
    written.nodes.push(NodeDraft { at, job, text, tokens, made: done });
    written.drafts.push(draft);
    Ok(on.load(Ordering::Relaxed))
}

/// A summary that was just written, as one that others are made from.
fn summary_node(draft: &NodeDraft) -> SummaryNode {
    let (from, to, level, text) = (draft.job.from, draft.job.to, draft.job.level, draft.text.clone());
    SummaryNode { at: draft.at, from, to, level, text, made: Millis::ZERO, unchecked: None }
}

/// What is to be written: of what was found, as much as the policy gives a range of its size.
fn task(prepared: &Prepared, policy: &Summary, (from, to): (Seq, Seq), found: Found) -> WritingTask {
    let Found { entries, sources, .. } = found;
    let costs = &prepared.bench.costs;
    let said: Tokens = entries.iter().map(|entry| cost::message(&entry.message, costs).tokens).sum();
    let stood: Tokens = sources.iter().map(|node| cost::node(node, costs).tokens).sum();
    let (tokens, target) = match entries.is_empty() {
        // A summary of summaries alone is half of them, as where they are condensed.
        true => (stood, policy.condensed.min(Tokens(stood.0 / 2).max(policy.at_least))),
        false => (said + stood, summary_target(policy, said + stood)),
    };
    let earlier = sources.iter().filter_map(|node| {
        let text = prepared.bench.texts.of(&node.text)?.to_owned();
        let SummaryNode { at, from, to, level, ref unchecked, .. } = *node;
        Some(EarlierText { at, from, to, level, text, unchecked: unchecked.is_some() })
    });
    let earlier: Vec<EarlierText> = earlier.collect();
    let job = SummaryJob {
        from,
        to,
        entries: entries.iter().map(|entry| entry.seq).collect(),
        sources: sources.iter().map(|node| node.at).collect(),
        level: sources.iter().map(|node| node.level + 1).max().unwrap_or_default(),
        detail: Detail::Full,
        tokens,
        target,
        splits: false,
        inner: false,
    };
    WritingTask { job, entries, texts: prepared.bench.texts.clone(), earlier }
}

/// What a change makes of the lane.
fn changed(
    options: &CompactOptions,
    prepared: &Prepared,
    change: SummaryChange,
    drafts: Vec<SummaryDraft>,
    writing: Duration,
) -> Result<Climbed, Error> {
    let policy = &options.compactor.policy;
    let ladder = Ladder::new(policy, prepared.bench.ask(), Urgency::Manual, &prepared.tasks);
    let ladder = ladder.adding(prepared.tokens, prepared.spare).with_rules(&prepared.rules);
    let proposal =
        ladder.change(change).map_err(|no| EditError::NoRoom { needed: no.needed, limit: no.limit })?;
    Ok(Climbed { proposal, drafts, interrupted: false, writing })
}
