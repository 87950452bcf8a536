//! The texts that the ladder asks for.

use crate::decision::PlacedSummary;
use crate::units::{Seq, Tokens};
use crate::view::SummaryNode;

/// A text the ladder needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryJob {
    /// The first position it stands for.
    pub from: Seq,
    /// The last.
    pub to: Seq,
    /// The entries it is to be made from.
    pub entries: Vec<Seq>,
    /// The summaries that go into it, by the positions of their events; new ones have positions to come.
    pub sources: Vec<Seq>,
    /// Its level.
    pub level: u32,
    /// How much it should say.
    pub detail: Detail,
    /// Tokens of what it replaces.
    pub tokens: Tokens,
    /// Tokens it should take, about.
    pub target: Tokens,
    /// It covers the beginning of a turn that goes on behind it.
    pub splits: bool,
    /// No request shows it: it goes into another of the same climb, so no model need write it.
    pub inner: bool,
}

impl SummaryJob {
    /// A summary of summaries that follow one another, each with its level; `tokens` is what they take.
    #[must_use]
    pub fn of_summaries(
        run: &[(PlacedSummary, u32)],
        (tokens, target): (Tokens, Tokens),
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

/// Where summaries of a view stand, and their levels.
pub(super) fn placed(run: &[&SummaryNode]) -> Vec<(PlacedSummary, u32)> {
    let of = |&SummaryNode { at, from, to, level, .. }: &SummaryNode| (PlacedSummary { at, from, to }, level);
    run.iter().map(|node| of(node)).collect()
}

/// How much a summary says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// All parts of its template.
    #[default]
    Full,
    /// What was wanted, decided, changed and how it ended: a few lines.
    KeyPoints,
    /// Numbers: how many messages, calls, failures, files.
    Statistics,
    /// One line per turn or per summary, with its positions: where to look, not what happened.
    Catalogue,
}
