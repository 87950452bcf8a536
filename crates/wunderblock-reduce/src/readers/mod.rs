//! The readers of texts that consist of lines, one file per kind. A reader votes on how certain it is that a text is
//! of its kind (0 to 100), and ranks the spans of a text of that kind.

pub(crate) mod build;
mod diff;
mod document;
mod infra;
mod line;
mod listing;
pub(crate) mod log;
#[cfg(test)]
mod promises;
#[cfg(test)]
mod property;
mod records;
mod search;
pub(crate) mod selection;
mod short_gaps;
mod tests;
mod trace;

use crate::kind::Kind;
use crate::spans::span::LineSpan;
use crate::text::lines::TextLines;
use crate::text::sample::LineSample;

/// Returns the vote of a kind's reader. If the vote is less than `least`, any number below `least` may be returned.
pub(crate) fn vote(sample: &LineSample<'_>, kind: Kind, least: u32) -> u32 {
    match kind {
        Kind::Log => log::vote(sample),
        Kind::Build => build::vote(sample, least),
        Kind::Tests => tests::vote(sample),
        Kind::Search => search::vote(sample),
        Kind::Diff => diff::vote(sample),
        Kind::Listing => listing::vote(sample).max(records::vote(sample)),
        Kind::Table => document::table::vote(sample),
        Kind::Trace => trace::vote(sample),
        Kind::Infra => infra::vote(sample),
        Kind::Markdown => document::markdown::vote(sample),
        Kind::Blob => document::blob::vote(sample),
        Kind::Json | Kind::Html | Kind::Code | Kind::Prose => 0,
    }
}

/// Returns the spans of a text that will only be folded. Spans that a fold treats alike may be joined.
pub(crate) fn spans_folded(lines: &TextLines<'_>, kind: Kind, report: Option<&str>) -> Vec<LineSpan> {
    if kind == Kind::Log { log::spans_folded(lines) } else { spans(lines, kind, report) }
}

/// Returns the spans of a text of the given kind. They tile the text. `report` is the command that printed the text
/// as its report, if known.
pub(crate) fn spans(lines: &TextLines<'_>, kind: Kind, report: Option<&str>) -> Vec<LineSpan> {
    match kind {
        Kind::Log => log::spans(lines),
        Kind::Build => build::spans(lines),
        Kind::Tests => tests::spans(lines),
        Kind::Search => search::spans(lines),
        Kind::Diff => diff::spans(lines),
        Kind::Listing => records::spans(lines, report).unwrap_or_else(|| listing::spans(lines)),
        Kind::Table => document::table::spans(lines),
        Kind::Trace => trace::spans(lines),
        Kind::Infra => infra::spans(lines, report),
        Kind::Markdown => document::markdown::spans(lines),
        Kind::Blob => document::blob::spans(lines),
        Kind::Prose | Kind::Json | Kind::Html | Kind::Code => document::prose::spans(lines),
    }
}
