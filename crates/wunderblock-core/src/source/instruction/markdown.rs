//! Spans of a Markdown text: prose, code and comments.
//!
//! Only the necessary part of Markdown is parsed: fences, code spans and HTML comments. Indented code counts as text,
//! because paragraphs of lists look the same.

use std::collections::BTreeMap;
use std::ops::Range;

/// Kind of a Markdown span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// Prose.
    Text,
    /// A fenced block with its fences, or a code span with its backticks.
    Code,
    /// `<!-- … -->`, both ends included.
    Comment,
    /// `<!--` without an end. The opening mark counts as text, although its author meant to hide what follows.
    Unclosed,
}

/// A span of a Markdown text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkdownSpan {
    /// Kind of the span.
    pub kind: SpanKind,
    /// Byte range of the span in the text.
    pub range: Range<usize>,
}

/// Splits a text into spans that cover it in order and without gaps. The running time is linear in the length of the
/// text.
#[must_use]
pub fn spans(text: &str) -> Vec<MarkdownSpan> {
    let mut walk =
        MarkdownScanner { text, at: 0, plain: 0, spans: Vec::new(), ticks: Ticks::default(), closes: true };
    walk.run();
    walk.spans
}

struct MarkdownScanner<'a> {
    text: &'a str,
    at: usize,
    /// Start of the text that is not yet in a span.
    plain: usize,
    spans: Vec<MarkdownSpan>,
    ticks: Ticks,
    /// Whether a `-->` can still follow. If no `-->` follows, the rest is not searched again for each `<!--`.
    closes: bool,
}

impl MarkdownScanner<'_> {
    fn run(&mut self) {
        let mut line_start = true;
        while self.at < self.text.len() {
            if line_start
                && may_fence(self.text.get(self.at..).unwrap_or_default())
                && let Some(mark) = fence(line_at(self.text, self.at))
            {
                let end = self.fence_end(mark.0, mark.1);
                self.take(SpanKind::Code, end);
                continue;
            }
            line_start = self.inline();
        }
        self.flush();
    }

    /// Advances past the next mark. Returns whether a line begins at the new position.
    fn inline(&mut self) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let Some(skip) = rest.bytes().position(|byte| matches!(byte, b'\n' | b'`' | b'<')) else {
            self.at = self.text.len();
            return false;
        };
        self.at += skip;
        let rest = rest.get(skip..).unwrap_or_default();
        if rest.starts_with('\n') {
            self.at += 1;
            return true;
        }
        if rest.starts_with("<!--") {
            self.comment(rest);
        } else if rest.starts_with('`') {
            self.code_span(rest);
        } else {
            self.at += 1;
        }
        false
    }

    fn comment(&mut self, rest: &str) {
        let close = if self.closes { rest.get(4..).and_then(|inside| inside.find("-->")) } else { None };
        let (kind, length) = match close {
            Some(close) => (SpanKind::Comment, close + 7),
            None => (SpanKind::Unclosed, 4),
        };
        self.closes = close.is_some();
        self.take(kind, self.at + length);
    }

    fn code_span(&mut self, rest: &str) {
        let length = run_length(rest);
        let close = self.ticks.close(self.text, self.at, length);
        match close {
            Some(end) => self.take(SpanKind::Code, end),
            None => self.at += length,
        }
    }

    fn fence_end(&self, mark: u8, length: usize) -> usize {
        let mut at = self.at + line_at(self.text, self.at).len();
        while at < self.text.len() {
            let line = line_at(self.text, at);
            at += line.len();
            if closes(line, mark, length) {
                break;
            }
        }
        at
    }

    fn take(&mut self, kind: SpanKind, end: usize) {
        self.flush();
        self.spans.push(MarkdownSpan { kind, range: self.at..end });
        self.at = end;
        self.plain = end;
    }

    fn flush(&mut self) {
        if self.plain < self.at {
            self.spans.push(MarkdownSpan { kind: SpanKind::Text, range: self.plain..self.at });
        }
        self.plain = self.at;
    }
}

/// Runs of backticks in one paragraph: for each length, the position of the last run. Without this index, searching
/// for the ends of many runs would take time quadratic in the number of runs.
#[derive(Default)]
struct Ticks {
    end: usize,
    last: BTreeMap<usize, usize>,
}

impl Ticks {
    /// Returns the end of the run that closes the one at `open`, if the paragraph has such a run.
    fn close(&mut self, text: &str, open: usize, length: usize) -> Option<usize> {
        if open >= self.end {
            self.read(text, open);
        }
        self.last.get(&length).filter(|last| **last > open)?;
        let mut at = open + length;
        loop {
            at += text.get(at..)?.find('`')?;
            let run = run_length(text.get(at..)?);
            at += run;
            if run == length {
                return Some(at);
            }
        }
    }

    fn read(&mut self, text: &str, from: usize) {
        self.last.clear();
        let mut at = from;
        let mut first = true;
        while at < text.len() {
            let line = line_at(text, at);
            if !first && (line.trim().is_empty() || fence(line).is_some()) {
                break;
            }
            first = false;
            let mut inside = 0;
            while let Some(skip) = line.get(inside..).and_then(|rest| rest.find('`')) {
                inside += skip;
                let run = run_length(line.get(inside..).unwrap_or_default());
                self.last.insert(run, at + inside);
                inside += run;
            }
            at += line.len();
        }
        self.end = at;
    }
}

/// Returns the line that begins at `at`, with its line end.
fn line_at(text: &str, at: usize) -> &str {
    let rest = text.get(at..).unwrap_or_default();
    rest.split_inclusive('\n').next().unwrap_or_default()
}

fn run_length(text: &str) -> usize {
    text.bytes().take_while(|byte| *byte == b'`').count()
}

/// Returns whether a line may open a fence, judged by its first character that is not a space or tab.
fn may_fence(rest: &str) -> bool {
    let first = rest.bytes().find(|byte| !matches!(byte, b' ' | b'\t'));
    matches!(first, Some(b'`' | b'~'))
}

/// Returns the mark of a line that opens a fence: its character, and the number of times it is repeated.
fn fence(line: &str) -> Option<(u8, usize)> {
    let line = line.trim_start_matches([' ', '\t']);
    let mark = *line.as_bytes().first().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let length = line.bytes().take_while(|byte| *byte == mark).count();
    let inline = mark == b'`' && line.get(length..).is_some_and(|info| info.contains('`'));
    (length >= 3 && !inline).then_some((mark, length))
}

fn closes(line: &str, mark: u8, length: usize) -> bool {
    let line = line.trim();
    line.len() >= length && line.bytes().all(|byte| byte == mark)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shape(text: &str) -> String {
        let mark = |kind| match kind {
            SpanKind::Text => 't',
            SpanKind::Code => 'c',
            SpanKind::Comment => '#',
            SpanKind::Unclosed => '!',
        };
        spans(text).into_iter().map(|span| format!("{}{:?} ", mark(span.kind), &text[span.range])).collect()
    }

    #[test]
    fn text_code_and_comments() {
        let cases = [
            ("plain", "t\"plain\" "),
            ("a `b` c", "t\"a \" c\"`b`\" t\" c\" "),
            ("``a ` b`` c", "c\"``a ` b``\" t\" c\" "),
            ("one ` tick", "t\"one ` tick\" "),
            ("a `b\n\nc` d", "t\"a `b\\n\\nc` d\" "),
            ("a <!-- x --> b", "t\"a \" #\"<!-- x -->\" t\" b\" "),
            ("`<!-- x -->`", "c\"`<!-- x -->`\" "),
            ("<!-- ` --> `", "#\"<!-- ` -->\" t\" `\" "),
            ("```\n<!-- x -->\n```\nb", "c\"```\\n<!-- x -->\\n```\\n\" t\"b\" "),
            ("~~~~\n~~~\n~~~~\nb", "c\"~~~~\\n~~~\\n~~~~\\n\" t\"b\" "),
            ("```\nnever closed", "c\"```\\nnever closed\" "),
            ("a\n<!--\n```\n-->\nb", "t\"a\\n\" #\"<!--\\n```\\n-->\" t\"\\nb\" "),
            ("a <!-- b", "t\"a \" !\"<!--\" t\" b\" "),
            ("a ``` b ``` c", "t\"a \" c\"``` b ```\" t\" c\" "),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(shape(text), expected, "{text:?}");
        }
    }

    #[test]
    fn time_is_linear() {
        for part in ["`", "<!-- ", "<", "` `` ", "```\n", "a\n"] {
            let text = part.repeat((1 << 20) / part.len());
            assert_eq!(spans(&text).last().map(|span| span.range.end), Some(text.len()), "{part:?}");
        }
        let rising: String = (1..1500).map(|many| "`".repeat(many) + " ").collect();
        assert_eq!(spans(&rising).len(), 1);
    }

    proptest! {
        #[test]
        fn nothing_is_missing(text in "([a`~<!\\-> \n]|<!--|-->|```|é){0,60}") {
            let mut end = 0;
            for span in spans(&text) {
                prop_assert_eq!(span.range.start, end);
                prop_assert!(span.range.end > end);
                end = span.range.end;
            }
            prop_assert_eq!(end, text.len());
        }
    }
}
