//! The worth of each line of a source, before lines of one worth become spans.

use std::borrow::Cow;
use std::ops::Range;

use crate::lines::TextLines;
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
    worth: Vec<LineWorth>,
    /// The part that a line belongs to, as an index into `descriptions` from 1; 0 for none in particular.
    part: Vec<u32>,
    descriptions: Vec<Cow<'static, str>>,
    /// The number of the first line.
    first: usize,
}

impl LineWorths {
    pub(crate) fn of(lines: &TextLines<'_>) -> Self {
        let (worth, part) = (vec![LineWorth::context(200); lines.len()], vec![0; lines.len()]);
        Self { worth, part, descriptions: Vec::new(), first: lines.number(0) }
    }

    pub(crate) fn worth(&self, line: usize) -> LineWorth {
        self.worth.get(line).copied().unwrap_or(LineWorth::FILLER)
    }

    /// Sets the worth of lines, whatever it was.
    pub(crate) fn set(&mut self, lines: Range<usize>, worth: LineWorth) {
        let end = lines.end.min(self.worth.len());
        if let Some(lines) = self.worth.get_mut(lines.start..end) {
            lines.fill(worth);
        }
    }

    /// Sets the worth of lines that are worth less.
    pub(crate) fn raise(&mut self, lines: Range<usize>, worth: LineWorth) {
        let end = lines.end.min(self.worth.len());
        for line in self.worth.get_mut(lines.start..end).unwrap_or_default() {
            if (line.rank, line.score) < (worth.rank, worth.score) {
                *line = worth;
            }
        }
    }

    /// Describes what lines are part of.
    pub(crate) fn describe(&mut self, lines: Range<usize>, what: String) {
        self.descriptions.push(what.into());
        let part = u32::try_from(self.descriptions.len()).unwrap_or(0);
        let end = lines.end.min(self.part.len());
        if let Some(lines) = self.part.get_mut(lines.start..end) {
            lines.fill(part);
        }
    }

    /// Makes all lines outside the frame worth the same, so that they stay together.
    pub(crate) fn level_out(&mut self) {
        for worth in self.worth.iter_mut().filter(|worth| worth.rank == Rank::Context) {
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
        while at < lines.len() {
            let (worth, part) = (self.worth(at), self.part.get(at).copied().unwrap_or(0));
            let max_lines = if worth.rank == Rank::Context { MAX_CHUNK_LINES } else { usize::MAX };
            let mut end = at + 1;
            while end < lines.len()
                && end - at < max_lines
                && worth.rank != Rank::Frame
                && self.worth(end) == worth
                && self.part.get(end).copied().unwrap_or(0) == part
            {
                end += 1;
            }
            let mut span = LineSpan::new(lines.spans(at..end), worth.rank);
            span.score = worth.score;
            span.set_description(self.descriptions.get((part as usize).wrapping_sub(1)).cloned());
            spans.push(span);
            at = end;
        }
        spans
    }
}
