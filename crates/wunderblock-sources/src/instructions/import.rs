//! Finds `@path` mentions in the text of an instruction file.

use crate::limits::MAX_IMPORTS;
use std::collections::HashSet;
use wunderblock_core::instruction::{MarkdownSpan, SpanKind};

/// A word that may name a file to import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mention {
    /// Text after the `@`, up to the next space; `\ ` represents a space in a name.
    pub(crate) path: String,
    /// Line of the mention, counted from 1.
    pub(crate) line: u64,
}

impl Mention {
    /// Returns possible paths, the most likely first. Trailing punctuation usually belongs to the sentence.
    pub(super) fn readings(&self) -> impl Iterator<Item = &str> {
        let bare = self
            .path
            .trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '>', '"', '\'', '*', '_']);
        let whole = Some(self.path.as_str()).filter(|whole| *whole != bare);
        Some(bare).filter(|bare| !bare.is_empty()).into_iter().chain(whole)
    }

    /// Returns whether the mention certainly refers to a text file, by its extension.
    pub(super) fn means_a_text(&self) -> bool {
        let bare = self.readings().next().unwrap_or_default();
        let ending = bare.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        matches!(ending.as_deref(), Some("md" | "txt"))
    }
}

/// Returns the words of a text that may name a file to import, each once. Words in code or comments are skipped, and
/// so are addresses, which have a character before the `@`. The time is linear in the length of the text.
pub(super) fn mentions(text: &str, spans: &[MarkdownSpan]) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let (mut line, mut counted) = (1, 0);
    for span in spans {
        if span.kind != SpanKind::Text {
            continue;
        }
        let part = text.get(span.range.clone()).unwrap_or_default();
        for at in memchr::memchr_iter(b'@', part.as_bytes()) {
            let start = span.range.start + at;
            let before = text.get(..start).and_then(|before| before.chars().next_back());
            if before.is_some_and(|before| !before.is_whitespace() && before != '(') {
                continue;
            }
            let path = word(part.get(at + 1..).unwrap_or_default());
            let between = text.get(counted..start).unwrap_or_default();
            // Only the text since the last mention is counted, which keeps the time linear.
            line += u64::try_from(memchr::memchr_iter(b'\n', between.as_bytes()).count()).unwrap_or_default();
            counted = start;
            if path.is_empty() || path.starts_with('@') || !seen.insert(path.clone()) {
                continue;
            }
            found.push(Mention { path, line });
            if found.len() == MAX_IMPORTS {
                return found;
            }
        }
    }
    found
}

fn word(text: &str) -> String {
    let mut path = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&' ') => {
                chars.next();
                path.push(' ');
            }
            c if c.is_whitespace() => break,
            c => path.push(c),
        }
        if path.len() > 4096 {
            break;
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use wunderblock_core::instruction::spans;

    #[test]
    fn which_words_are_mentions() {
        let cases: [(&str, &[(&str, u64)]); 10] = [
            ("@a.md", &[("a.md", 1)]),
            ("see @docs/a.md, and\n@b.md.", &[("docs/a.md", 1), ("b.md", 2)]),
            ("(@a.md)", &[("a.md", 1)]),
            ("me@example.org a@b", &[]),
            ("`@a.md` and\n```\n@b.md\n```\n@c.md", &[("c.md", 5)]),
            ("<!-- @a.md -->", &[]),
            ("`x`@a.md", &[]),
            ("@my\\ file.md x", &[("my file.md", 1)]),
            ("@a.md @a.md\n@a.md", &[("a.md", 1)]),
            ("@ @@x @", &[]),
        ];
        for (text, expected) in cases {
            let found: Vec<_> = mentions(text, &spans(text));
            let found: Vec<_> =
                found.iter().map(|one| (one.readings().next().unwrap_or_default(), one.line)).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn time_is_linear() {
        for part in ["@", " @", " @a", "\n@a/b "] {
            let text = part.repeat((1 << 20) / part.len());
            assert!(mentions(&text, &spans(&text)).len() < 3, "{part:?}");
        }
        let many: String = (0..100_000).map(|at| format!("@{at} ")).collect();
        assert_eq!(mentions(&many, &spans(&many)).len(), MAX_IMPORTS);
    }
}
