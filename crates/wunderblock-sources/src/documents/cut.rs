//! Cuts a text at its structure into pieces of limited size.

use super::parts::SectionText;
use crate::limits::{MAX_HEADING, MAX_SECTION, MAX_SECTIONS};
use std::ops::Range;
use wunderblock_core::stub::head;
use wunderblock_reduce::defined_name;

/// Consecutive lines of a text, without empty lines around them.
pub(super) struct Piece<'t> {
    headings: Vec<String>,
    /// First and last line, counted from 1.
    lines: (u64, u64),
    /// Bytes of the text.
    pub(super) span: Range<usize>,
    text: &'t str,
}

impl Piece<'_> {
    /// Returns the piece as a section that was made from some bytes of a file.
    pub(super) fn section(self, bytes: Range<u64>) -> SectionText {
        let (headings, lines, text) = (self.headings, Some(self.lines), self.text.to_owned());
        SectionText { headings, lines, page: None, bytes, text }
    }
}

/// Cuts a text: Markdown at its headings, any text where it exceeds the size of a section.
pub(super) fn cut(text: &str, is_markdown: bool) -> Vec<Piece<'_>> {
    let pieces = Cutter::of(text, is_markdown).cut();
    // A text with a heading on every other line would be half as many sections as lines.
    if pieces.len() > MAX_SECTIONS { Cutter::of(text, false).cut() } else { pieces }
}

/// A line of a text, or a part of a long one: its number, counted from 1, and its bytes, with the end of the line.
#[derive(Clone)]
struct Line {
    number: u64,
    span: Range<usize>,
}

/// A text that is being cut.
struct Cutter<'t> {
    text: &'t str,
    is_markdown: bool,
    pieces: Vec<Piece<'t>>,
    /// Lines that belong to no piece yet.
    open: Vec<Line>,
    /// Numbers of open lines before which a piece may end: where something begins at the margin, and after any empty
    /// line.
    strong: usize,
    weak: usize,
    /// Whether the open lines have text besides headings.
    has_text: bool,
    /// Headings above the open lines, each with its level; in other texts than Markdown, the latest definition.
    headings: Vec<(usize, String)>,
    /// Sign and length of the fence around lines of code or front matter.
    fence: Option<(char, usize)>,
}

impl<'t> Cutter<'t> {
    fn of(text: &'t str, is_markdown: bool) -> Self {
        let (pieces, open, headings) = (Vec::new(), Vec::new(), Vec::new());
        Self { text, is_markdown, pieces, open, strong: 0, weak: 0, has_text: false, headings, fence: None }
    }

    fn part(&self, span: Range<usize>) -> &'t str {
        self.text.get(span).unwrap_or_default()
    }

    fn cut(mut self) -> Vec<Piece<'t>> {
        let mut at = if self.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let (mut number, mut before) = (0, "");
        while at < self.text.len() {
            number += 1;
            let rest = self.part(at..self.text.len());
            let len = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |end| end + 1);
            let (line, after) = rest.split_at_checked(len).unwrap_or((rest, ""));
            match self.heading(line, before, after, number) {
                Some((level, words)) => self.begin_section(level, words),
                None => {
                    self.note_boundary(line, before);
                    self.has_text |= !line.trim().is_empty() && underline(line).is_none();
                }
            }
            self.add(Line { number, span: at..at + len });
            (at, before) = (at + len, line);
        }
        self.close(self.open.len());
        self.pieces
    }

    /// Returns the level and the words of a heading of Markdown. In code and front matter, nothing is a heading.
    fn heading(&mut self, line: &str, before: &str, after: &str, number: u64) -> Option<(usize, String)> {
        let bare = line.trim();
        let sign = bare.chars().next().filter(|_| self.is_markdown)?;
        let run = bare.chars().take_while(|c| *c == sign).count();
        if let Some((open, len)) = self.fence {
            let ends = open == sign && run >= len && bare.chars().count() == run;
            self.fence = self.fence.filter(|_| !ends);
            return None;
        }
        if run >= 3 && (matches!(sign, '`' | '~') || number == 1 && bare == "---") {
            self.fence = Some((sign, run));
            return None;
        }
        let marked = bare.get(run..).filter(|rest| sign == '#' && run <= 6 && rest.starts_with(' '));
        let marked = marked.map(|words| (run, words.trim().trim_end_matches('#').trim_end()));
        let underlined =
            || Some((underline(after.lines().next()?)?, bare)).filter(|_| before.trim().is_empty());
        let (level, words) = marked.or_else(underlined)?;
        (!words.is_empty()).then(|| (level, head(words, MAX_HEADING).to_owned()))
    }

    fn begin_section(&mut self, level: usize, words: String) {
        if self.has_text {
            self.close(self.open.len());
            self.has_text = false;
        }
        self.headings.retain(|(above, _)| *above < level);
        self.headings.push((level, words));
    }

    fn note_boundary(&mut self, line: &str, before: &str) {
        let (is_inner, is_after_empty) = (is_indented(line), before.trim().is_empty());
        if is_after_empty {
            self.weak = self.open.len();
        }
        let is_after_block = is_indented(before) || before.starts_with('}');
        if !is_inner && (is_after_empty || is_after_block && self.definition(line).is_some()) {
            self.strong = self.open.len();
        }
    }

    /// Returns the words of a line that defines something.
    fn definition(&self, line: &str) -> Option<String> {
        let is_one = !self.is_markdown && !is_indented(line) && defined_name(line).is_some();
        is_one.then(|| head(line.trim(), MAX_HEADING).to_owned())
    }

    fn add(&mut self, line: Line) {
        let size = |open: &[Line]| {
            let first = open.first().map_or(line.span.start, |first| first.span.start);
            open.last().map_or(line.span.start, |last| last.span.end) - first
        };
        while !self.open.is_empty() && size(&self.open) + line.span.len() > MAX_SECTION {
            let is_long =
                |count: &usize| size(self.open.get(..*count).unwrap_or_default()) >= MAX_SECTION / 4;
            let place = [self.strong, self.weak].into_iter().find(is_long);
            self.close(place.unwrap_or(self.open.len()));
        }
        let mut rest = line.span.clone();
        while rest.len() > MAX_SECTION {
            let part = head(self.part(rest.clone()), MAX_SECTION);
            let word = part.rfind(char::is_whitespace).filter(|at| *at > 0);
            let end = rest.start + word.unwrap_or(part.len()).max(1);
            self.open.push(Line { number: line.number, span: rest.start..end });
            self.close(self.open.len());
            rest.start = end;
        }
        self.open.push(Line { span: rest, ..line });
    }

    /// Makes a piece of the first open lines.
    fn close(&mut self, count: usize) {
        let mut lines: Vec<Line> = self.open.drain(..count).collect();
        self.strong = self.strong.saturating_sub(count);
        self.weak = self.weak.saturating_sub(count);
        let text = self.text;
        let is_empty = |line: &Line| text.get(line.span.clone()).is_none_or(|text| text.trim().is_empty());
        lines.truncate(lines.iter().rposition(|line| !is_empty(line)).map_or(0, |last| last + 1));
        lines.drain(..lines.iter().position(|line| !is_empty(line)).unwrap_or(0));
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return };
        let mut defined = lines.iter().filter_map(|line| self.definition(self.part(line.span.clone())));
        let (begins, latest) = (defined.next(), defined.next_back());
        if let Some(begins) = &begins {
            self.headings = vec![(1, begins.clone())];
        }
        let span = first.span.start..last.span.end;
        self.pieces.push(Piece {
            headings: self.headings.iter().map(|(_, words)| words.clone()).collect(),
            lines: (first.number, last.number),
            text: self.part(span.clone()).trim_end_matches(['\r', '\n']),
            span,
        });
        if let Some(latest) = latest {
            self.headings = vec![(1, latest)];
        }
    }
}

fn is_indented(line: &str) -> bool {
    line.starts_with([' ', '\t'])
}

/// Returns the level of the heading that a line underlines.
fn underline(line: &str) -> Option<usize> {
    let bare = line.trim();
    let is_all = |sign: char| !bare.is_empty() && bare.chars().all(|c| c == sign);
    if is_all('=') { Some(1) } else { (is_all('-') && bare.len() > 2).then_some(2) }
}
