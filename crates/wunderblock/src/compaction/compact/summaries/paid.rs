//! Summaries that models wrote for a session's lanes, so that no range is paid for twice.
//!
//! A lane divides its view as if no other lane existed: the cuts of a small window would spoil the requests of a large
//! one. A summary that a model wrote is used again only for exactly the range that it covers.

use crate::base::error::Error;
use crate::compaction::compact::history::{marked_events, undone_steps};
use crate::compaction::compact::options::CompactOptions;
use crate::ledger::texts::Texts;
use crate::request::desk::Desk;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use wunderblock_core::compact::{Detail, SummaryJob};
use wunderblock_core::compaction::{Focus, Manner, SessionCompacted};
use wunderblock_core::event::Fact;
use wunderblock_core::id::Handle;
use wunderblock_core::ports::{Bodies as _, CostModel};
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_core::view::View;
use wunderblock_store::Marked;
use wunderblock_summary::attempt::{EXTRACTIVE, SummaryDraft};

/// Summaries by models, by the ranges that they cover.
#[derive(Clone, Default)]
pub(crate) struct PaidSummaries(Arc<BTreeMap<(Seq, Seq), PaidSummary>>);

struct PaidSummary {
    made: SessionCompacted,
    text: String,
}

impl PaidSummaries {
    /// Reads the summaries that models wrote and that nobody undid, if `options` have a summariser. Of two summaries of
    /// one range, the later one is used.
    pub(in crate::compaction::compact) async fn read(
        desk: &Desk,
        options: &CompactOptions,
        view: &View,
    ) -> Result<Self, Error> {
        if options.compactor.summariser.is_none() {
            return Ok(Self::default());
        }
        let head = view.head();
        let undone = undone_steps(desk, Marked::Kind("compaction.undone"), head).await?;
        let mut rejected = BTreeSet::new();
        for event in marked_events(desk, Marked::Kind("view.trimmed"), head).await? {
            let Some(Fact::ViewTrimmed(step)) = event.fact else { continue };
            // A compaction records its own summaries after its step. Earlier ones were only kept.
            let made = step.trim.nodes.iter().map(|node| node.at).filter(|at| *at > event.seq);
            rejected.extend(made.filter(|_| undone.contains(&event.seq)));
        }
        let focus: Focus = options.focus.as_deref().map(Into::into);
        let mut found = BTreeMap::new();
        for event in marked_events(desk, Marked::Kind("session.compacted"), head).await? {
            let Some(Fact::SessionCompacted(made)) = event.fact else { continue };
            // A summary made before an entry was hidden still mentions that entry.
            let tells_hidden = view.hidden().range(made.from_seq..=made.to_seq).next().is_some();
            let is_usable = is_paid(&made) && made.focus == focus && !rejected.contains(&event.seq);
            if is_usable && !tells_hidden {
                found.entry((made.from_seq, made.to_seq)).or_insert(*made);
            }
        }
        let handles: Vec<Handle> =
            found.values().filter_map(|made| made.summary.as_ref()?.handle()).collect();
        let mut texts = Texts::default();
        desk.texts(&mut texts, handles).await?;
        let with_text = |(range, made): ((Seq, Seq), SessionCompacted)| {
            let text = texts.of(made.summary.as_ref()?)?.to_owned();
            Some((range, PaidSummary { made, text }))
        };
        Ok(Self(Arc::new(found.into_iter().filter_map(with_text).collect())))
    }

    /// Returns the summary of exactly the range of a job, if it mentions all that the job asks for and is no longer than
    /// `most`, the length at which a new text would be rejected.
    pub(in crate::compaction::compact) fn draft(
        &self,
        job: &SummaryJob,
        most: Tokens,
        costs: &dyn CostModel,
    ) -> Option<SummaryDraft> {
        let is_plain = job.detail == Detail::Full && job.sources.is_empty() && !job.inner;
        let paid = self.0.get(&(job.from, job.to)).filter(|_| is_plain)?;
        // A lane that kept a message of the range word for word did not have it summarised. The same messages weigh
        // the same.
        let is_told = paid.made.tokens_before == Some(job.tokens);
        let fits = costs.text(&paid.text).tokens <= most;
        (is_told && fits).then(|| SummaryDraft {
            text: paid.text.clone(),
            items: None,
            producer: paid.made.producer.clone(),
            prompt: paid.made.prompt.clone(),
            check: paid.made.check.clone(),
            rejected: Vec::new(),
            spent: None,
            manner: paid.made.manner.unwrap_or(Manner::Normal),
        })
    }
}

/// Returns whether a model wrote a summary of events for a lane, and the summary was accepted.
fn is_paid(made: &SessionCompacted) -> bool {
    let is_of_events = made.level == 0 && made.sources.is_empty();
    is_of_events && made.lane.is_some() && made.check.is_some() && &*made.producer != EXTRACTIVE
}
