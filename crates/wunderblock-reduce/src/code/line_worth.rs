//! The worth of each line of a source, before lines of one worth become spans.

use std::borrow::Cow;
use std::ops::Range;

use crate::lines::TextLines;
use crate::part::PartOfList;
use crate::span::{LineSpan, Rank};

/// Maximum lines of a body in one span, so that a budget can keep a part.
const MAX_CHUNK_LINES: usize = 8;

/// The worth of a line.
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

/// The lines of a source and their worth.
#[derive(Debug)]
pub(crate) struct LineWorths {
    /// With the part that a line belongs to, as an index into `descriptions` from 1; 0 for none in particular.
    worth: Vec<(LineWorth, u32)>,
    descriptions: Vec<Cow<'static, str>>,
    /// The number of the first line.
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

    /// The worth of lines and their parts, as far as there are such lines: a tree may have one more.
    fn within(&mut self, lines: Range<usize>) -> impl Iterator<Item = &mut (LineWorth, u32)> {
        self.worth.iter_mut().take(lines.end).skip(lines.start)
    }

    /// Sets the worth of lines, whatever it was.
    pub(crate) fn set(&mut self, lines: Range<usize>, worth: LineWorth) {
        self.within(lines).for_each(|line| line.0 = worth);
    }

    /// Sets the worth of lines that are worth less.
    pub(crate) fn raise(&mut self, lines: Range<usize>, worth: LineWorth) {
        for (line, _) in self.within(lines) {
            if (line.rank, line.score) < (worth.rank, worth.score) {
                *line = worth;
            }
        }
    }

    /// Describes what lines are part of.
    pub(crate) fn describe(&mut self, lines: Range<usize>, what: String) {
        self.descriptions.push(what.into());
        let part = u32::try_from(self.descriptions.len()).unwrap_or(0);
        self.within(lines).for_each(|line| line.1 = part);
    }

    /// Makes all lines outside the frame worth the same, so that they stay together.
    pub(crate) fn level_out(&mut self) {
        for (worth, _) in self.worth.iter_mut().filter(|(worth, _)| worth.rank == Rank::Context) {
            worth.score = 100;
        }
    }

    /// Describes a definition whose lines have no room: its place, and how it begins.
    pub(crate) fn headline(&mut self, header: Range<usize>, line: &str) {
        let line = line.trim().trim_end_matches(['{', ' ', ':']);
        self.describe(header.clone(), format!("L{} {line}", self.first + header.start));
    }

    /// The spans. Lines of the same worth and part stand together, bodies in chunks.
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
