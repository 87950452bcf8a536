//! The worth of each line of a source, before neighbouring lines of equal worth are joined into spans.

use std::borrow::Cow;
use std::ops::Range;

use crate::part::PartOfList;
use crate::spans::span::{LineSpan, Rank};
use crate::text::lines::TextLines;

/// Maximum number of lines of a body in one span. Several small spans let a budget keep a part of a body.
const MAX_CHUNK_LINES: usize = 8;

/// The worth of a line: its rank, and its score within the rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineWorth {
    pub(crate) rank: Rank,
    pub(crate) score: u16,
}

impl LineWorth {
    pub(crate) const fn frame(score: u16) -> Self {
        Self { rank: Rank::Frame, score }
    }

    pub(crate) const fn context(score: u16) -> Self {
        Self { rank: Rank::Context, score }
    }

    pub(crate) const FILLER: Self = Self { rank: Rank::Filler, score: 0 };
}

/// The worth of each line of a source.
#[derive(Debug)]
pub(crate) struct LineWorths {
    /// For each line, its worth and the part it belongs to: an index into `descriptions` from 1, or 0 for no part.
    worth: Vec<(LineWorth, u32)>,
    descriptions: Vec<Cow<'static, str>>,
    /// Number of the first line in the source, from 1.
    first: usize,
}

impl LineWorths {
    pub(crate) fn of(lines: &TextLines<'_>) -> Self {
        let worth = vec![(LineWorth::context(200), 0); lines.len()];
        Self { worth, descriptions: Vec::new(), first: lines.number(0) }
    }

    pub(crate) fn worth(&self, line: usize) -> LineWorth {
        self.worth.item(line).map_or(LineWorth::FILLER, |(worth, _)| *worth)
    }

    /// Returns the worth and part of each line in a range. Lines after the end of the text are ignored.
    fn within(&mut self, lines: Range<usize>) -> impl Iterator<Item = &mut (LineWorth, u32)> {
        self.worth.iter_mut().take(lines.end).skip(lines.start)
    }

    /// Sets the worth of lines, whatever their previous worth.
    pub(crate) fn set(&mut self, lines: Range<usize>, worth: LineWorth) {
        self.within(lines).for_each(|line| line.0 = worth);
    }

    /// Raises the worth of lines that are worth less.
    pub(crate) fn raise(&mut self, lines: Range<usize>, worth: LineWorth) {
        for (line, _) in self.within(lines) {
            if (line.rank, line.score) < (worth.rank, worth.score) {
                *line = worth;
            }
        }
    }

    /// Records the part that lines belong to.
    pub(crate) fn describe(&mut self, lines: Range<usize>, what: String) {
        self.descriptions.push(what.into());
        let part = u32::try_from(self.descriptions.len()).unwrap_or(0);
        self.within(lines).for_each(|line| line.1 = part);
    }

    /// Gives all context lines the same score, so that neighbouring ones form one span.
    pub(crate) fn level_out(&mut self) {
        for (worth, _) in self.worth.iter_mut().filter(|(worth, _)| worth.rank == Rank::Context) {
            worth.score = 100;
        }
    }

    /// Describes a definition whose lines do not fit a budget: its line number, and how it begins.
    pub(crate) fn headline(&mut self, header: Range<usize>, line: &str) {
        let line = line.trim().trim_end_matches(['{', ' ', ':']);
        self.describe(header.clone(), format!("L{} {line}", self.first + header.start));
    }

    /// Joins neighbouring lines of the same worth and part into spans. Frame lines stay single, and context lines are
    /// cut into chunks.
    pub(crate) fn spans(&self, lines: &TextLines<'_>) -> Vec<LineSpan> {
        let mut spans = Vec::new();
        let mut at = 0;
        while let Some(line @ (worth, part)) = self.worth.get(at) {
            let max_lines = match worth.rank {
                Rank::Frame => 1,
                Rank::Context => MAX_CHUNK_LINES,
                _ => usize::MAX,
            };
            let end =
                at + self.worth.iter().skip(at).take(max_lines).take_while(|next| *next == line).count();
            let mut span = LineSpan::new(lines.spans(at..end), worth.rank);
            span.score = worth.score;
            span.set_description(
                part.checked_sub(1).and_then(|at| self.descriptions.item(at as usize)).cloned(),
            );
            spans.push(span);
            at = end;
        }
        spans
    }
}
