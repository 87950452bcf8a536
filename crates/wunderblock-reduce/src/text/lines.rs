//! The lines of a text.

use crate::part::PartOfText;
use std::ops::Range;

/// Maximum size, in bytes, of a text that is read. Positions in the text fit in 32 bits, even if escapes double the
/// size of the text.
pub(crate) const MAX_TEXT_BYTES: usize = i32::MAX as usize;

/// The lines of a text, as byte ranges that tile it. Each line includes its ending, which the last line may lack.
#[derive(Debug)]
pub(crate) struct TextLines<'t> {
    text: &'t str,
    /// Start of each line, as a byte offset.
    starts: Vec<u32>,
    /// Number of source lines before the text.
    before: usize,
}

/// A part of a text. A part takes half the memory of a slice, because there may be one part for each line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TextPart {
    start: u32,
    len: u32,
}

/// Returns the number of lines of a text of any size.
pub(crate) fn count_lines(text: &str) -> usize {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    ends + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

impl<'t> TextLines<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        Self::after(0, text)
    }

    /// Returns the lines of a text that follows `before` other lines in its source.
    pub(crate) fn after(before: usize, text: &'t str) -> Self {
        let mut starts = Vec::with_capacity(count_lines(text));
        if !text.is_empty() {
            starts.push(0);
        }
        let ends = memchr::memchr_iter(b'\n', text.as_bytes());
        let after = ends.map(|at| at + 1).filter(|at| *at < text.len());
        starts.extend(after.filter_map(|at| u32::try_from(at).ok()));
        Self { text, starts, before }
    }

    /// Returns the number of a line in the source, from 1.
    pub(crate) fn number(&self, line: usize) -> usize {
        self.before + line + 1
    }

    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns the place of a part within the text.
    pub(crate) fn place(&self, part: &str) -> TextPart {
        let start = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        // An empty part may point outside the text.
        let start = if part.is_empty() { 0 } else { start };
        TextPart {
            start: u32::try_from(start).unwrap_or(u32::MAX),
            len: u32::try_from(part.len()).unwrap_or(0),
        }
    }

    pub(crate) fn part(&self, part: TextPart) -> &'t str {
        let start = part.start as usize;
        self.text.part(start..start + part.len as usize)
    }

    fn start(&self, line: usize) -> usize {
        self.starts.get(line).map_or(self.text.len(), |start| *start as usize)
    }

    /// Returns the byte range of a line, including its ending. The range is empty after the last line.
    pub(crate) fn span(&self, line: usize) -> Range<usize> {
        self.start(line)..self.start(line + 1)
    }

    /// Returns the byte range of the lines `first..end`.
    pub(crate) fn spans(&self, lines: Range<usize>) -> Range<usize> {
        let start = self.start(lines.start);
        start..self.start(lines.end).max(start)
    }

    /// Returns a line without its ending (`\n` or `\r\n`).
    pub(crate) fn get(&self, line: usize) -> &'t str {
        let line = self.text.part(self.span(line));
        line.strip_suffix('\n').map_or(line, |line| line.strip_suffix('\r').unwrap_or(line))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'t str> {
        (0..self.len()).map(|line| self.get(line))
    }

    /// Returns the line (from 0) that contains a given byte.
    pub(crate) fn at(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start as usize <= byte).saturating_sub(1)
    }
}

/// The text between newlines: `a\n` is `a`, followed by an empty line.
#[derive(Debug)]
pub(crate) struct NewlineSplit<'t> {
    text: &'t str,
    starts: Vec<u32>,
}

impl<'t> NewlineSplit<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        let mut starts = Vec::with_capacity(count_lines(text) + 1);
        starts.push(0);
        let ends = memchr::memchr_iter(b'\n', text.as_bytes());
        starts.extend(ends.filter_map(|at| u32::try_from(at + 1).ok()));
        Self { text, starts }
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns the start of a line. The start of the line after the last is one byte after the end of the text.
    pub(crate) fn start(&self, line: usize) -> usize {
        self.starts.get(line).map_or(self.text.len() + 1, |start| *start as usize)
    }

    /// Returns the byte range of lines, without the newline after the last one.
    pub(crate) fn span(&self, lines: Range<usize>) -> Range<usize> {
        self.start(lines.start)..self.start(lines.end) - 1
    }

    pub(crate) fn get(&self, line: usize) -> Option<&'t str> {
        let start = *self.starts.get(line)? as usize;
        self.text.get(start..self.start(line + 1) - 1)
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &'t str> + ExactSizeIterator {
        self.within(0..self.len())
    }

    pub(crate) fn within(
        &self,
        lines: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = &'t str> + ExactSizeIterator {
        (lines.start..lines.end.min(self.len())).map(|line| self.text.part(self.span(line..line + 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_tile_the_text() {
        for text in ["", "\n", "a", "a\n", "a\r\nb\n\nc", "\n\n", "一\n二"] {
            let lines = TextLines::of(text);
            let joined: String = (0..lines.len()).map(|line| &text[lines.span(line)]).collect();
            assert_eq!(joined, text);
            assert_eq!(lines.len(), count_lines(text));
            let split = NewlineSplit::of(text);
            assert!(split.iter().eq(text.split('\n')), "{text:?}");
            assert_eq!(split.start(split.len()), text.len() + 1);
            for line in 0..lines.len() {
                assert_eq!(lines.at(lines.span(line).start), line, "{text:?}");
                assert_eq!(lines.part(lines.place(lines.get(line))), lines.get(line));
            }
        }
        assert_eq!(TextLines::of("a\r\nb").get(0), "a");
    }
}
