//! The readers of texts that consist of lines, one file per kind. A reader votes on how certain it is that a text is
//! of its kind (0 to 100), and ranks the spans of a text of that kind.

mod alike;
mod blob;
pub(crate) mod build;
mod build_line;
mod diagnostic;
mod diff;
mod fingerprint;
mod infra;
mod listing;
pub(crate) mod log;
mod markdown;
mod message_shape;
#[cfg(test)]
mod promises;
#[cfg(test)]
mod property;
mod prose;
mod records;
mod search;
pub(crate) mod selection;
mod short_gaps;
mod stack_frame;
mod table;
mod tests;
mod timestamp;
mod trace;

use crate::kind::Kind;
use crate::lines::TextLines;
use crate::sample::LineSample;
use crate::span::LineSpan;

/// Returns the vote of a kind's reader. If the vote is less than `least`, any number below `least` may be returned.
pub(crate) fn vote(sample: &LineSample<'_>, kind: Kind, least: u32) -> u32 {
    match kind {
        Kind::Log => log::vote(sample),
        Kind::Build => build::vote(sample, least),
        Kind::Tests => tests::vote(sample),
        Kind::Search => search::vote(sample),
        Kind::Diff => diff::vote(sample),
        Kind::Listing => listing::vote(sample).max(records::vote(sample)),
        Kind::Table => table::vote(sample),
        Kind::Trace => trace::vote(sample),
        Kind::Infra => infra::vote(sample),
        Kind::Markdown => markdown::vote(sample),
        Kind::Blob => blob::vote(sample),
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
        Kind::Table => table::spans(lines),
        Kind::Trace => trace::spans(lines),
        Kind::Infra => infra::spans(lines, report),
        Kind::Markdown => markdown::spans(lines),
        Kind::Blob => blob::spans(lines),
        Kind::Prose | Kind::Json | Kind::Html | Kind::Code => prose::spans(lines),
    }
}
