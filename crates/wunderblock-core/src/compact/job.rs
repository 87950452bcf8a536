//! Jobs for the summaries that the ladder asks for.

use crate::lane::view::SummaryNode;
use crate::record::decision::PlacedSummary;
use crate::units::{Seq, Tokens};

/// A summary that the ladder needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryJob {
    /// First position the summary covers.
    pub from: Seq,
    /// Last position the summary covers.
    pub to: Seq,
    /// Positions of the entries to summarise.
    pub entries: Vec<Seq>,
    /// Summaries that are merged into this one, by the positions of their events. Summaries of the same climb have
    /// the positions that their events will get.
    pub sources: Vec<Seq>,
    /// Level of the summary.
    pub level: u32,
    /// Amount of detail.
    pub detail: Detail,
    /// Tokens of the content that the summary replaces.
    pub tokens: Tokens,
    /// Target length, in tokens.
    pub target: Tokens,
    /// Whether the summary covers the beginning of a turn that continues after it.
    pub splits: bool,
    /// Whether no request shows the summary, because it goes into another summary of the same climb. A model does not
    /// have to write a summary that no request shows.
    pub inner: bool,
}

impl SummaryJob {
    /// Returns the job for a summary of adjacent summaries, each given with its level. `tokens` is the number of
    /// tokens that the summaries take together.
    #[must_use]
    pub fn of_summaries(
        run: &[(PlacedSummary, u32)],
        tokens: Tokens,
        target: Tokens,
        detail: Detail,
    ) -> Option<Self> {
        let ((first, _), (last, _)) = (run.first()?, run.last()?);
        let mut sources: Vec<Seq> = run.iter().map(|(placed, _)| placed.at).collect();
        sources.sort_unstable();
        Some(Self {
            from: first.from,
            to: last.to,
            entries: Vec::new(),
            sources,
            level: run.iter().map(|(_, level)| *level).max().unwrap_or_default() + 1,
            detail,
            tokens,
            target,
            splits: false,
            inner: false,
        })
    }
}

/// Returns the places of a view's summaries, with their levels.
pub(super) fn placed(run: &[&SummaryNode]) -> Vec<(PlacedSummary, u32)> {
    let of = |&SummaryNode { at, from, to, level, .. }: &SummaryNode| (PlacedSummary { at, from, to }, level);
    run.iter().map(|node| of(node)).collect()
}

/// Amount of detail in a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// All parts of its template.
    #[default]
    Full,
    /// Goals, decisions, changes and outcome, in a few lines.
    KeyPoints,
    /// Numbers only: messages, calls, failures, files.
    Statistics,
    /// One line per turn or per summary, with its positions: where to look, not what happened.
    Catalogue,
}
