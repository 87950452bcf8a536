//! A pattern and the lines of a text that it matches.

use super::options::GrepOptions;
use crate::base::deadline::Deadline;
use crate::base::error::Error;
use memchr::memmem;
use std::ops::Range;

/// Maximum size in bytes of a compiled pattern. A larger one takes longer than the deadline for a single text.
const PATTERN_BYTES: usize = 256 << 10;
/// Number of bytes that are searched between two looks at the deadline.
const SLICE: usize = 64 << 10;
/// Number of bytes that are searched again after a slice. A match that lies in two slices is found if it is not longer.
const OVERLAP: usize = 8 << 10;

pub(crate) enum Pattern {
    Literal(Box<memmem::Finder<'static>>),
    Regex(regex::bytes::Regex),
}

impl Pattern {
    pub(crate) fn new(pattern: &str, options: &GrepOptions) -> Result<Self, Error> {
        Self::sized(pattern, options, PATTERN_BYTES)
    }

    /// Compiles a pattern of a maximum size in bytes.
    pub(crate) fn sized(pattern: &str, options: &GrepOptions, size: usize) -> Result<Self, Error> {
        if pattern.is_empty() {
            return Err(Error::Query("the pattern is empty, and would match every line".to_owned()));
        }
        if !options.regex && !options.ignore_case {
            return Ok(Self::Literal(Box::new(memmem::Finder::new(pattern.as_bytes()).into_owned())));
        }
        let source = if options.regex { pattern.to_owned() } else { regex::escape(pattern) };
        regex::bytes::RegexBuilder::new(&source)
            .case_insensitive(options.ignore_case)
            .multi_line(true)
            .size_limit(size)
            .build()
            .map(Self::Regex)
            .map_err(|error| Error::Pattern(error.to_string()))
    }

    /// Returns the matching lines of a text, from the line that contains the byte `from` onwards.
    pub(crate) fn lines<'a>(&'a self, text: &'a [u8], from: usize, deadline: &'a Deadline) -> Lines<'a> {
        Lines { pattern: self, text, deadline, from: Some(from), number: 1, counted: 0 }
    }

    /// Returns the place of the first match at or after `from`. `None` without a match, or if the deadline has passed.
    pub(crate) fn find(&self, text: &[u8], from: usize, deadline: &Deadline) -> Option<usize> {
        let regex = match self {
            Self::Literal(finder) => return finder.find(text.get(from..)?).map(|at| from + at),
            Self::Regex(regex) => regex,
        };
        let (mut from, mut len) = (from, SLICE);
        loop {
            let end = slice_end(text, from.saturating_add(len));
            match regex.find_at(text.get(..end)?, from) {
                // A match that touches the end of its slice may not be one in the whole text.
                Some(found) if found.end() == end && end < text.len() => len = len.saturating_mul(2),
                Some(found) => return Some(found.start()),
                None if end == text.len() => return None,
                None => (from, len) = (from.max(end.saturating_sub(OVERLAP)), SLICE),
            }
            if deadline.is_over() {
                return None;
            }
        }
    }

    /// Returns the byte range of the first match in a line.
    pub(super) fn range(&self, line: &[u8]) -> Option<Range<usize>> {
        match self {
            Self::Literal(finder) => finder.find(line).map(|at| at..at + finder.needle().len()),
            Self::Regex(regex) => regex.find(line).map(|found| found.range()),
        }
    }
}

/// Returns the end of a slice: after the next end of a line, if it is near.
fn slice_end(text: &[u8], at: usize) -> usize {
    let Some(rest) = text.get(at..) else { return text.len() };
    let near = rest.get(..SLICE).unwrap_or(rest);
    memchr::memchr(b'\n', near).map_or(at, |end| at + end + 1)
}

/// The matching lines of a text: the number of each (from 1), its start and end in bytes, without the line ending.
pub(crate) struct Lines<'a> {
    pattern: &'a Pattern,
    text: &'a [u8],
    deadline: &'a Deadline,
    /// Place at which the search continues; `None` after the last line.
    from: Option<usize>,
    number: u64,
    /// Number of bytes whose line endings are counted.
    counted: usize,
}

impl Iterator for Lines<'_> {
    type Item = (u64, usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let text = self.text;
        let at = self.pattern.find(text, self.from.take()?, self.deadline)?;
        let start = text.get(..at).and_then(|head| memchr::memrchr(b'\n', head)).map_or(0, |at| at + 1);
        let end =
            text.get(at..).and_then(|rest| memchr::memchr(b'\n', rest)).map_or(text.len(), |end| at + end);
        // Line endings are counted from the previous match onwards, so that each is counted once.
        let between = text.get(self.counted..start).unwrap_or_default();
        self.number += memchr::memchr_iter(b'\n', between).count() as u64;
        self.counted = start;
        self.from = Some(end + 1).filter(|from| *from <= text.len() && end < text.len());
        Some((self.number, start, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pattern: &Pattern, text: &[u8]) -> Vec<(u64, usize, usize)> {
        pattern.lines(text, 0, &Deadline::default()).collect()
    }

    #[test]
    fn lines_are_numbered_and_whole() {
        let pattern = Pattern::new("b", &GrepOptions::default()).unwrap();
        assert_eq!(lines(&pattern, b"a\nb\nc\nbb\n"), [(2, 2, 3), (4, 6, 8)]);
        assert_eq!(lines(&pattern, b"b"), [(1, 0, 1)]);
        assert!(lines(&pattern, b"xyz").is_empty());
    }

    #[test]
    fn an_invalid_pattern_is_an_error() {
        let regex = GrepOptions { regex: true, ..GrepOptions::default() };
        assert!(Pattern::new("(", &regex).is_err());
        assert!(Pattern::new("(foo|bar){2}", &regex).is_ok());
        assert!(Pattern::new("", &regex).is_err());
        assert!(matches!(Pattern::new("(?:a{1,100}){1,100}b", &regex), Err(Error::Pattern(_))));
    }

    /// The slices of a long text give what the whole text gives.
    #[test]
    fn slices_hide_no_match_and_make_none() {
        let regex = GrepOptions { regex: true, ..GrepOptions::default() };
        let filler = |lines: usize| "filler of a line\n".repeat(lines);
        let long = "x".repeat(3 * SLICE);
        let texts = [
            format!("{}needle\n{}needle", filler(SLICE / 17), filler(2 * SLICE / 17)),
            format!("{long}needle{long}"),
            format!("{}{long}", filler(9)),
            format!("{}a\nb\nc\n{}", filler(SLICE / 17), filler(SLICE / 17)),
        ];
        let patterns = [
            "needle",
            "needle$",
            "^x+$",
            r"\bx",
            r"x\b",
            "line\na\nb\nc",
            "a\n",
            r"(?s)a\nb.*c",
            r"needle\z",
            "e$",
        ];
        for pattern in patterns {
            let sliced = Pattern::new(pattern, &regex).unwrap();
            let Pattern::Regex(whole) = &sliced else { panic!() };
            for (number, text) in texts.iter().enumerate() {
                let found = sliced.find(text.as_bytes(), 0, &Deadline::default());
                let expected = whole.find(text.as_bytes()).map(|found| found.start());
                assert_eq!(found, expected, "{pattern} in text {number}");
            }
        }
    }
}
