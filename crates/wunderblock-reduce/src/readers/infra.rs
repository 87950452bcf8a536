//! The output of infrastructure tools: plans and their application, plays, tables and descriptions of resources.

mod infra_ranker;

use crate::part::{PartOfList, PartOfText};
use std::ops::Range;

use crate::rules::{self, InfraLine, KnownTool};
use crate::spans::span::{LineSpan, Rank};
use crate::text::lines::TextLines;
use crate::text::sample::LineSample;

use super::line::fingerprint;
use infra_ranker::InfraRanker;

/// Number of bytes of a line with a long result that stay.
const HEAD_BYTES: usize = 160;

pub(crate) fn vote(sample: &LineSample<'_>) -> u32 {
    recognise(&sample.lines).map_or(0, |(_, vote)| vote)
}

/// Returns the tool that wrote a text of this kind, and the vote for the kind.
fn recognise(lines: &[&str]) -> Option<(&'static KnownTool<InfraLine>, u32)> {
    let known = rules::infra();
    let mut cues = vec![0usize; known.tools.len()];
    for cue in lines.iter().filter_map(|line| known.cues.class(line)) {
        cues.item_mut(cue).into_iter().for_each(|count| *count += 1);
    }
    let said = || lines.iter().filter(|line| !line.trim().is_empty());
    let recognised = |tool: &&KnownTool<InfraLine>, cues: usize| {
        let [wanted, share, _] = tool.takes;
        let own = || said().filter(|line| tool.rules.class(line).is_some()).count();
        cues >= wanted.max(1) && said().count() >= 3 && own() * 100 >= said().count() * share
    };
    let found = known.tools.iter().zip(cues).find(|(tool, cues)| recognised(tool, *cues));
    found.map(|(tool, _)| {
        (tool, tool.takes.last().copied().and_then(|vote| u32::try_from(vote).ok()).unwrap_or(0))
    })
}

pub(crate) fn spans(lines: &TextLines<'_>, command: Option<&str>) -> Vec<LineSpan> {
    let named = command.and_then(|command| rules::infra().tools.iter().find(|tool| tool.runs(command)));
    let tool = named.or_else(|| recognise(&LineSample::of(lines.text()).lines).map(|(tool, _)| tool));
    let mut spans: Vec<LineSpan> =
        (0..lines.len()).map(|line| LineSpan::new(lines.span(line), Rank::Context)).collect();
    match tool {
        Some(tool) => InfraRanker::of(lines, &mut spans).rank(tool),
        // If the tool is unknown, lines that mention a failure must stay.
        None => {
            for (span, _) in
                spans.iter_mut().zip(lines.iter()).filter(|(_, line)| fingerprint::mentions_failure(line))
            {
                (span.rank, span.score) = (Rank::Must, 10_000);
            }
        }
    }
    cut_long(lines, spans)
}

/// Cuts lines with a long result, so that only their start keeps its rank. More is kept of failures.
fn cut_long(lines: &TextLines<'_>, spans: Vec<LineSpan>) -> Vec<LineSpan> {
    if spans.iter().all(|span| span.range().len() <= 2 * HEAD_BYTES) {
        return spans;
    }
    let mut cut = Vec::with_capacity(spans.len());
    for span in spans {
        let text = lines.text().part(span.range());
        let line = text.trim_end_matches(['\n', '\r']);
        let wrong = span.rank == Rank::Must && span.score >= 30_000;
        let room = if wrong { 12 * HEAD_BYTES } else { HEAD_BYTES };
        if line.len() <= room + HEAD_BYTES || span.rank == Rank::Filler {
            cut.push(span);
            continue;
        }
        // A result in braces is left out as a whole.
        let result = line.find("=> {").map(|at| at + "=> ".len()).filter(|at| !wrong && *at < room);
        let Range { start, end } = span.range();
        let at = start + result.unwrap_or_else(|| fingerprint::truncate(line, room).len());
        let rest = LineSpan::new(at..end, if wrong { Rank::Context } else { Rank::Filler });
        cut.push(span.with_range(start..at));
        cut.push(rest);
    }
    cut
}

#[cfg(test)]
mod tests;
