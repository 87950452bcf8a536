//! Where the lines of a text begin and end.

use std::ops::Range;

/// The lines of a text, as byte ranges that tile it: each with its line ending, the last perhaps without.
#[derive(Debug)]
pub(crate) struct Lines<'t> {
    text: &'t str,
    /// Where each line begins.
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        let mut starts = Vec::new();
        if !text.is_empty() {
            starts.push(0);
        }
        starts.extend(
            memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1).filter(|at| *at < text.len()),
        );
        Self { text, starts }
    }

    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    /// The bytes of a line, its ending included. Empty beyond the last.
    pub(crate) fn span(&self, line: usize) -> Range<usize> {
        let start = self.starts.get(line).copied().unwrap_or(self.text.len());
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        start..end
    }

    /// The bytes of the lines `first..end`.
    pub(crate) fn spans(&self, lines: Range<usize>) -> Range<usize> {
        let start = self.starts.get(lines.start).copied().unwrap_or(self.text.len());
        let end = self.starts.get(lines.end).copied().unwrap_or(self.text.len());
        start..end.max(start)
    }

    /// A line without its ending (`\n` or `\r\n`).
    pub(crate) fn get(&self, line: usize) -> &'t str {
        let line = self.text.get(self.span(line)).unwrap_or("");
        line.strip_suffix('\n').map_or(line, |line| line.strip_suffix('\r').unwrap_or(line))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'t str> {
        (0..self.len()).map(|line| self.get(line))
    }

    /// The line (from 0) in which a byte lies.
    pub(crate) fn at(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_tile_the_text() {
        for text in ["", "\n", "a", "a\n", "a\r\nb\n\nc", "\n\n", "一\n二"] {
            let lines = Lines::of(text);
            let joined: String = (0..lines.len()).map(|line| &text[lines.span(line)]).collect();
            assert_eq!(joined, text);
            for line in 0..lines.len() {
                assert_eq!(lines.at(lines.span(line).start), line, "{text:?}");
            }
        }
        assert_eq!(Lines::of("a\r\nb").get(0), "a");
    }
}
