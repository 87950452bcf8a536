//! Turning the oldest summaries of a sweep into a catalogue.

use crate::compaction::compact::sweeping::sweep::{SweptSummary, one_of};
use wunderblock_core::compact::{Detail, SummaryJob};
use wunderblock_core::policy::ArchiveSizes;
use wunderblock_core::units::Tokens;
use wunderblock_core::view::SummaryNode;

/// If all summaries together exceed their size limit, returns the job for a catalogue of the oldest ones, and the
/// sources of that job.
pub(in crate::compaction::compact) fn archive(
    standing: &[SweptSummary],
    sizes: ArchiveSizes,
) -> Option<(SummaryJob, Vec<SummaryNode>)> {
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
    let target = sizes.catalogue.min(Tokens(tokens(run).0 / 2));
    one_of(run, (tokens(run), target), Detail::Catalogue)
}
