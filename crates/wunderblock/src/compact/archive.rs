//! What of a sweep's summaries becomes a catalogue.

use super::sweep::SweptSummary;
use super::writing::EarlierText;
use std::collections::BTreeSet;
use wunderblock_core::compact::{Detail, SummaryJob};
use wunderblock_core::policy::ArchiveSizes;
use wunderblock_core::units::Tokens;

/// The catalogue of the oldest summaries, where they take more than there is room for, and those it stands for.
pub(super) fn archive(
    standing: &[SweptSummary],
    sizes: ArchiveSizes,
) -> Option<(SummaryJob, Vec<EarlierText>)> {
    let tokens = |all: &[SweptSummary]| all.iter().map(|standing| standing.tokens).sum::<Tokens>();
    if tokens(standing) <= sizes.above {
        return None;
    }
    let newest = (0..standing.len())
        .rev()
        .take_while(|from| tokens(standing.get(*from..).unwrap_or_default()) <= sizes.keep);
    let old = standing.get(..standing.len() - newest.count())?;
    let joins = |a: &SweptSummary, b: &SweptSummary| a.placed.to.next() == b.placed.from;
    let run = old.chunk_by(joins).find(|run| run.len() > 1)?;
    let (first, last) = (run.first()?.placed, run.last()?.placed);
    let sources: BTreeSet<_> = run.iter().map(|standing| standing.placed.at).collect();
    let job = SummaryJob {
        from: first.from,
        to: last.to,
        entries: Vec::new(),
        sources: sources.into_iter().collect(),
        level: run.iter().map(|standing| standing.level).max()? + 1,
        detail: Detail::Catalogue,
        tokens: tokens(run),
        target: sizes.catalogue.min(Tokens(tokens(run).0 / 2)),
        splits: false,
        inner: false,
    };
    Some((job, run.iter().cloned().map(SweptSummary::into_earlier).collect()))
}
