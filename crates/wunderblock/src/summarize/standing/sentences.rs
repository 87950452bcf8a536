//! The sentences of a text that a person typed: not code, quotations, output, or what they pasted from elsewhere.

use regex::Regex;
use std::sync::LazyLock;
use wunderblock_core::typed::typed;

/// A longer sentence is pasted, or a story, in bytes.
const SENTENCE_MAX: usize = 400;
/// The least part of a typed line that is letters, digits and blanks, in percent: output and code have more signs.
const LETTERS: usize = 75;
/// Lists and quotations that are set in by so many blanks are code.
const CODE_INDENT: &str = "    ";

/// The end of a sentence that says where the text after it is from.
static SOURCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = "docs?|readme|says?|said|wrote|writes|mails?|emails?|issue|page|guide|article|blog|log|output|error|trace|response|\
                 slack|ticket|manual|spec|paste[ds]?|pasting|quote|prints|printed|doku|schreibt|sagt|dice|dicen";
    Regex::new(&format!(r"(?i)\b(?:{words})\b|文档|说明|写|贴|日志|输出|报错|邮件|原文|官方")).ok()
});

/// How a paragraph begins to be typed again after what was pasted: somebody speaks, or asks.
static SPEAKS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b(?:i|im|we|us|our|my|me|ich|wir|uns|yo|nos)\b|\?|我|咱|吗|？").ok());

/// How lines of output begin.
static OUTPUT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let begins = r#"\d{4}[-/]\d\d|\d\d:\d\d|\w*(?:Error|Exception): |(?:error|warning|note|info)[:\[]|at \S+\(|File "|-->|={2,}|-{3,}|running \d|thread "#;
    Regex::new(&format!(r"(?i)^(?:[$|><+<\[{{@]|(?:{begins}))| \.\.\. ok$")).ok()
});

fn finds(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    LazyLock::force(pattern).as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// Where a reader of lines is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Typed,
    Fence,
    /// Behind a line that announces what is pasted: its first paragraph has not begun, is under way, or has ended.
    Announced,
    Pasted,
    Between,
}

/// The sentences a person typed, each with where it begins, in bytes.
pub(super) fn typed_sentences(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut place = Place::Typed;
    for (from, piece) in typed(text) {
        let mut at = from;
        for line in piece.split('\n') {
            place = next_place(place, line);
            if place == Place::Typed && is_typed(line) {
                sentences_of_line(at, line, &mut found);
                if announces(line) {
                    place = Place::Announced;
                }
            }
            at += line.len() + 1;
        }
    }
    found
}

/// Where a line is, given where the one before it was.
fn next_place(before: Place, line: &str) -> Place {
    let line = line.trim();
    let is_fence = line.starts_with("```") || line.starts_with("~~~");
    match before {
        // The line that ends a fence is as little typed as the one that begins it, and neither is a sentence.
        Place::Fence if is_fence => Place::Typed,
        Place::Fence => Place::Fence,
        _ if is_fence => Place::Fence,
        Place::Typed => Place::Typed,
        Place::Announced if line.is_empty() => Place::Announced,
        Place::Pasted | Place::Between if line.is_empty() => Place::Between,
        Place::Between if finds(&SPEAKS, line) => Place::Typed,
        _ => Place::Pasted,
    }
}

fn is_typed(line: &str) -> bool {
    let text = line.trim();
    if line.starts_with(CODE_INDENT) || text.starts_with("```") || finds(&OUTPUT, text) {
        return false;
    }
    // Signs of scripts without blanks are signs of sentences.
    let plain = |c: &char| c.is_alphanumeric() || c.is_whitespace() || c.len_utf8() >= 3;
    text.chars().filter(plain).count() * 100 >= text.chars().count() * LETTERS
}

/// Whether a line ends with the announcement of somebody else's words.
fn announces(line: &str) -> bool {
    let line = line.trim_end();
    let last = line.rsplit(['.', '!', '?', '。', '！', '？']).next().unwrap_or_default();
    line.ends_with([':', '：']) && finds(&SOURCE, last)
}

fn sentences_of_line<'t>(at: usize, line: &'t str, found: &mut Vec<(usize, &'t str)>) {
    let mut from = 0;
    let mut chars = line.char_indices().peekable();
    while let Some((index, c)) = chars.next() {
        let end = index + c.len_utf8();
        let ends = match c {
            '。' | '！' | '？' | '；' => true,
            '.' if is_abbreviation(line.get(from..index).unwrap_or_default()) => false,
            '.' | '!' | '?' => chars.peek().is_some_and(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if ends || chars.peek().is_none() {
            let piece = line.get(from..end).unwrap_or_default();
            let bare = unlisted(piece);
            let sentence = bare.trim_end();
            if !sentence.is_empty() && sentence.len() <= SENTENCE_MAX {
                found.push((at + from + piece.len() - bare.len(), sentence));
            }
            from = end;
        }
    }
}

/// Whether a text ends with a word that a full stop shortens: `e.g`, `z.B`, `etc`.
fn is_abbreviation(text: &str) -> bool {
    let word = text.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    matches!(word, "etc" | "vs" | "cf" | "approx") || word.len() <= 4 && word.contains('.')
}

/// Without what marks an item of a list.
fn unlisted(piece: &str) -> &str {
    let text = piece.trim_start();
    if let Some(rest) = text.strip_prefix(['-', '*', '•', '–']).filter(|rest| rest.starts_with(' ')) {
        return rest.trim_start();
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text.get(digits..).and_then(|rest| rest.strip_prefix(['.', ')', '、']));
    rest.filter(|_| (1..=2).contains(&digits)).map_or(text, str::trim_start)
}
