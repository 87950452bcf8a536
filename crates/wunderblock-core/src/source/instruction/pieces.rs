//! Splits a file's text into plain text and named blocks, and removes its comments.

use super::file::{FileSegment, Mode};
use super::markdown::{MarkdownSpan, SpanKind, spans};

/// Maximum length of a block's name, in bytes.
pub const MAX_BLOCK_NAME: usize = 64;
/// Maximum number of problems reported for one file. The last reported problem says that there may be more.
pub const MAX_PROBLEMS: usize = 32;

/// Problem in a line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineProblem {
    /// Line in the file, counted from 1.
    pub line: u64,
    /// Explanation of the problem, and of what was done about it.
    pub detail: String,
}

/// Splits a file's text into pieces, and returns the problems found in it.
///
/// HTML comments are removed, except in code. A line that contains nothing but a comment is removed with the comment.
/// An unclosed comment is kept and reported as a problem. A block marker must stand alone on its line: `<!-- block
/// NAME -->` (mode *override*) or `<!-- block NAME MODE -->`, with letters, digits, `.`, `_` and `-` in NAME. A
/// malformed block marker is reported as a problem, and the text after it is plain. The line number of a piece is
/// that of its block marker, or of its first text if the piece is plain. Plain pieces have text. A block may be
/// empty, so that a later file can empty an earlier block. The running time is linear in the length of the text.
#[must_use]
pub fn pieces(text: &str) -> (Vec<FileSegment>, Vec<LineProblem>) {
    pieces_in(text, &spans(text))
}

/// Splits a text whose spans are known, in the same way as [`pieces`].
#[must_use]
pub fn pieces_in(text: &str, spans: &[MarkdownSpan]) -> (Vec<FileSegment>, Vec<LineProblem>) {
    let mut cut = Segmenter { line: 1, line_is_blank: true, ..Segmenter::default() };
    for span in spans {
        let part = text.get(span.range.clone()).unwrap_or_default();
        match span.kind {
            SpanKind::Text => cut.text(part),
            SpanKind::Code => cut.verbatim(part),
            SpanKind::Comment => {
                let after = text.get(span.range.end..).unwrap_or_default();
                let alone = cut.line_is_blank && line_is_over(after);
                cut.comment(part, alone);
            }
            SpanKind::Unclosed => {
                cut.problem("the comment that begins here is never closed, so it is not one".to_owned());
                cut.text(part);
            }
        }
    }
    cut.finish()
}

#[derive(Default)]
struct Segmenter {
    pieces: Vec<FileSegment>,
    problems: Vec<LineProblem>,
    block: Option<(Box<str>, Mode)>,
    text: String,
    /// Start of the current line in `text`.
    line_start: usize,
    /// Whether the current line has so far held only spaces, apart from comments.
    line_is_blank: bool,
    /// Whether a comment was removed from the current line.
    has_comment: bool,
    line: u64,
    /// Line at which the current piece begins.
    begins: Option<u64>,
}

impl Segmenter {
    fn text(&mut self, part: &str) {
        for line in part.split_inclusive('\n') {
            let ends = line.ends_with('\n');
            if !line.trim().is_empty() {
                self.line_is_blank = false;
                self.begins.get_or_insert(self.line);
            }
            self.text.push_str(line);
            if ends {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        if self.has_comment && self.line_is_blank {
            self.text.truncate(self.line_start);
        }
        self.line_start = self.text.len();
        self.line_is_blank = true;
        self.has_comment = false;
        self.line += 1;
    }

    fn verbatim(&mut self, part: &str) {
        self.begins.get_or_insert(self.line);
        self.text.push_str(part);
        self.line += line_ends(part);
        self.line_is_blank = part.ends_with('\n');
        self.has_comment &= !part.contains('\n');
        if self.line_is_blank {
            self.line_start = self.text.len();
        }
    }

    fn comment(&mut self, part: &str, alone: bool) {
        let inside = part.strip_prefix("<!--").and_then(|part| part.strip_suffix("-->")).unwrap_or_default();
        let mut words = inside.split_whitespace();
        match (words.next(), alone) {
            (Some("block"), true) => {
                self.end_piece();
                match block(words) {
                    Ok(block) => {
                        self.block = Some(block);
                        self.begins = Some(self.line);
                    }
                    Err(why) => self.problem(why),
                }
            }
            (Some("block"), false) if block(words.clone()).is_ok() => {
                self.problem(
                    "a block's line stands alone on its line; this one is only a comment".to_owned(),
                );
            }
            (Some("end"), true) if self.block.is_some() && words.next().is_none() => self.end_piece(),
            _ => {}
        }
        self.has_comment = true;
        self.line += line_ends(part);
    }

    fn problem(&mut self, detail: String) {
        if self.problems.len() + 1 < MAX_PROBLEMS {
            self.problems.push(LineProblem { line: self.line, detail });
        } else if self.problems.len() + 1 == MAX_PROBLEMS {
            let detail = format!("{detail}; later lines may have more that is not listed");
            self.problems.push(LineProblem { line: self.line, detail });
        }
    }

    /// Ends the piece before the current line.
    fn end_piece(&mut self) {
        if self.line_is_blank {
            self.text.truncate(self.line_start);
        }
        let text = std::mem::take(&mut self.text);
        let block = self.block.take();
        let begins = self.begins.take();
        if block.is_some() || !text.trim().is_empty() {
            self.pieces.push(FileSegment { block, text, line: begins.unwrap_or(self.line) });
        }
        self.line_start = 0;
    }

    fn finish(mut self) -> (Vec<FileSegment>, Vec<LineProblem>) {
        if !(self.has_comment && self.line_is_blank) {
            // A last line without a line end is part of the piece.
            self.line_is_blank = false;
        }
        self.end_piece();
        (self.pieces, self.problems)
    }
}

/// Returns whether only spaces follow on the line.
fn line_is_over(rest: &str) -> bool {
    rest.chars().find(|c| *c == '\n' || !c.is_whitespace()).is_none_or(|c| c == '\n')
}

fn line_ends(text: &str) -> u64 {
    u64::try_from(text.bytes().filter(|byte| *byte == b'\n').count()).unwrap_or(u64::MAX)
}

/// Parses a block's line after the word `block`. The error is the description of a problem.
fn block<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<(Box<str>, Mode), String> {
    let name = words
        .next()
        .ok_or("a block needs a name: <!-- block NAME MODE -->; its text is kept as plain text")?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if name.len() > MAX_BLOCK_NAME || !name.bytes().all(is_plain) {
        let shown: String = name.chars().take(MAX_BLOCK_NAME).collect();
        return Err(format!(
            "\"{shown}\" cannot name a block: at most {MAX_BLOCK_NAME} letters, digits, '.', '_' and '-'; its text is kept as \
             plain text"
        ));
    }
    let mode = match words.next() {
        None | Some("override") => Mode::Override,
        Some("append") => Mode::Append,
        Some("locked") => Mode::Locked,
        Some(word) => {
            let shown: String = word.chars().take(MAX_BLOCK_NAME).collect();
            return Err(format!(
                "\"{shown}\" is no mode of a block: override, append or locked; its text is kept as plain text"
            ));
        }
    };
    match words.next() {
        None => Ok((name.into(), mode)),
        Some(_) => {
            Err("a block's line has a name and a mode, no more; its text is kept as plain text".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str) -> Vec<String> {
        let (pieces, problems) = pieces(text);
        let piece = |piece: FileSegment| match piece.block {
            None => format!("{}: {:?}", piece.line, piece.text),
            Some((name, mode)) => format!("{}: {name} {}: {:?}", piece.line, mode.word(), piece.text),
        };
        let problem = |problem: LineProblem| {
            format!("{}! {}", problem.line, problem.detail.split(';').next().unwrap_or_default())
        };
        pieces.into_iter().map(piece).chain(problems.into_iter().map(problem)).collect()
    }

    #[test]
    fn what_a_text_is_taken_apart_into() {
        let cases: [(&str, &[&str]); 17] = [
            ("a\nb\n", &["1: \"a\\nb\\n\""]),
            ("\n\na", &["3: \"\\n\\na\""]),
            ("a <!-- note --> b\n", &["1: \"a  b\\n\""]),
            ("a\n<!-- note\n over lines -->\nb\n", &["1: \"a\\nb\\n\""]),
            ("a\r\n<!-- note -->\r\nb\r\n", &["1: \"a\\r\\nb\\r\\n\""]),
            ("<!-- only -->", &[]),
            (
                "`<!-- kept -->`\n```\n<!-- kept -->\n```\n",
                &["1: \"`<!-- kept -->`\\n```\\n<!-- kept -->\\n```\\n\""],
            ),
            ("```\n<!-- block x locked -->\n```\n", &["1: \"```\\n<!-- block x locked -->\\n```\\n\""]),
            (
                "a\n<!-- open\nb",
                &[
                    "1: \"a\\n<!-- open\\nb\"",
                    "2! the comment that begins here is never closed, so it is not one",
                ],
            ),
            (
                "a\n<!-- block x -->\nb\n<!-- end -->\nc\n",
                &["1: \"a\\n\"", "2: x override: \"b\\n\"", "5: \"c\\n\""],
            ),
            (
                "<!-- block x append -->\nb\n<!-- block y locked -->\nc",
                &["1: x append: \"b\\n\"", "3: y locked: \"c\""],
            ),
            (
                "<!-- block x --><!-- end -->\na\n",
                &["2: \"a\\n\"", "1! a block's line stands alone on its line"],
            ),
            ("<!-- block x -->\n<!-- end -->\na\n", &["1: x override: \"\"", "3: \"a\\n\""]),
            (
                "see <!-- block x --> here\n",
                &["1: \"see  here\\n\"", "1! a block's line stands alone on its line"],
            ),
            ("<!-- end -->\na\n", &["2: \"a\\n\""]),
            (
                "<!-- block x sealed -->\na\n",
                &["2: \"a\\n\"", "1! \"sealed\" is no mode of a block: override, append or locked"],
            ),
            (
                "a\n<!-- block ü -->\nb\n",
                &[
                    "1: \"a\\n\"",
                    "3: \"b\\n\"",
                    "2! \"ü\" cannot name a block: at most 64 letters, digits, '.', '_' and '-'",
                ],
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn time_is_linear() {
        for part in ["<!--end-->", "<!-- block x -->", " <!---->", "`<!--`"] {
            let text = part.repeat((1 << 20) / part.len());
            assert!(pieces(&text).0.len() < 2, "{part:?}");
        }
    }

    #[test]
    fn problems_are_bounded() {
        let (pieces, problems) = pieces(&"<!-- block -->\na\n".repeat(10_000));
        assert_eq!((pieces.len(), problems.len()), (10_000, MAX_PROBLEMS));
        assert!(problems.last().unwrap().detail.contains("not listed"));
    }

    proptest! {
        /// Only comments are removed from a text, and all line numbers remain correct.
        #[test]
        fn only_comments_are_removed(
            lines in prop::collection::vec("(word|`code`|<!-- note -->|<!-- block b append -->|<!-- end -->|)", 0..30)
        ) {
            let text = lines.join("\n");
            let (pieces, problems) = pieces(&text);
            let words = |text: &str| text.matches("word").count() + text.matches("code").count();
            prop_assert_eq!(pieces.iter().map(|piece| words(&piece.text)).sum::<usize>(), words(&text));
            prop_assert!(problems.is_empty());
            for piece in &pieces {
                prop_assert!(!piece.text.contains("<!--"));
                let at = usize::try_from(piece.line).unwrap() - 1;
                prop_assert_eq!(piece.block.is_some(), lines[at].contains("block"));
            }
        }
    }
}
