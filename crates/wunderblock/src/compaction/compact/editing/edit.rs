//! Manual changes to summaries instead of a climb: a summary is rewritten, dissolved, or made from a range.
//!
//! ```text
//! SummaryEdit ─► what goes, what it was made from ─ write ─► SummaryChange ─ Ladder::change ─► Climbed ─ publish
//! ```

use crate::base::edit_error::EditError;
use crate::base::error::Error;
use crate::compaction::compact::climb::Climbed;
use crate::compaction::compact::editing::found::{Found, dissolve, range, rewritten};
use crate::compaction::compact::options::{CompactOptions, CompactionStage, SummaryEdit};
use crate::compaction::compact::prepare::Prepared;
use crate::compaction::compact::summaries::call_budget::CallBudget;
use crate::compaction::compact::summaries::writing::{WritingMeans, WritingTask, write_apart};
use crate::request::desk::Desk;
use crate::rules::compactor::Compactor;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wunderblock_core::compact::{
    Detail, Ladder, NodeDraft, SummaryChange, SummaryJob, Urgency, summary_target,
};
use wunderblock_core::cost;
use wunderblock_core::message::Body;
use wunderblock_core::policy::Summary;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_core::view::SummaryNode;
use wunderblock_summary::attempt::SummaryDraft;

/// Makes the requested change without recording anything.
///
/// # Errors
/// Returns an error if the ledger cannot be read, or an [`EditError`] if the change is impossible.
pub(in crate::compaction::compact) async fn run(
    desk: &Desk,
    options: &CompactOptions,
    prepared: &mut Prepared,
    edit: SummaryEdit,
    budget: CallBudget,
) -> Result<Climbed, Error> {
    let (name, from, to, mut found) = match edit {
        SummaryEdit::Dissolve(at) => {
            let change = dissolve(desk, prepared, at).await?;
            return changed(options, prepared, change, Vec::new(), Duration::ZERO);
        }
        SummaryEdit::Range(from, to) => {
            let (from, to, found) = range(desk, prepared, from, to).await?;
            ("range", from, to, found)
        }
        SummaryEdit::Rewrite(at) => {
            let (from, to, found) = rewritten(desk, prepared, at).await?;
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
        let mut task = task(prepared, &options.compactor.policy.summary, from, to, leaf);
        // No request shows the summary of a gap, so no model writes it.
        task.job.inner = true;
        on &= write(desk, &mechanical, prepared, task, &mut written).await?;
        let items = written.drafts.last().and_then(|draft| draft.items.as_deref()).map(Body::from);
        found.sources.extend(written.nodes.last().map(|node| SummaryNode { items, ..node.summary() }));
    }
    found.sources.sort_unstable_by_key(|node| node.from);
    let task = task(prepared, &options.compactor.policy.summary, from, to, found);
    on &= write(desk, options, prepared, task, &mut written).await?;
    let Written { drafts, nodes, .. } = written;
    let change = SummaryChange { name: name.into(), gone, drafts: nodes, ..SummaryChange::default() };
    let climbed = changed(options, prepared, change, drafts, begin.elapsed())?;
    Ok(Climbed { interrupted: !on, ..climbed })
}

/// Summaries already written, and the call budget they draw from.
struct Written<'a> {
    budget: &'a CallBudget,
    drafts: Vec<SummaryDraft>,
    nodes: Vec<NodeDraft>,
}

/// Writes a summary. Returns whether the progress callback lets the change continue.
async fn write(
    desk: &Desk,
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
    let writing = write_apart(
        desk,
        options,
        task,
        WritingMeans {
            costs: &prepared.bench.costs,
            budget: written.budget,
            told,
            paid: prepared.paid.clone(),
        },
    )?;
    let (job, draft) = desk.wait(writing).await??;
    let text = Body::from(draft.text.as_str());
    let tokens = cost::summary(&text, &prepared.bench.costs).tokens;
    // The step's event takes the first position after the head.
    let at = Seq(prepared.bench.view.head().0 + 2 + done as u64);
    written.nodes.push(NodeDraft { at, job, text, tokens, made: done });
    written.drafts.push(draft);
    Ok(on.load(Ordering::Relaxed))
}

/// Creates the task of writing a summary from its sources, with the target that the policy sets for sources of their
/// size.
fn task(prepared: &Prepared, policy: &Summary, from: Seq, to: Seq, found: Found) -> WritingTask {
    let Found { entries, sources, .. } = found;
    let (costs, trim) = (&prepared.bench.costs, prepared.bench.view.trim());
    let said: Tokens = entries.iter().map(|entry| cost::sent(entry, trim, costs).tokens).sum();
    let stood: Tokens = sources.iter().map(|node| cost::node(node, costs).tokens).sum();
    let (tokens, target) = match entries.is_empty() {
        // A summary made only of summaries aims at half their size, as in `condense`.
        true => (stood, policy.condensed.min(Tokens(stood.0 / 2).max(policy.at_least))),
        false => (said + stood, summary_target(policy, said + stood)),
    };
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
    WritingTask { job, entries, texts: prepared.bench.texts.clone(), earlier: sources }
}

/// Applies a change to the lane and returns it as the result of a climb.
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
