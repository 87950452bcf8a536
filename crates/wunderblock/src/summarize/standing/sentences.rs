//! Finds the sentences of a text that a person typed, excluding code, quotations, output, and text pasted from
//! elsewhere.

use regex::Regex;
use std::sync::LazyLock;
use wunderblock_core::typed::typed;

/// Maximum number of bytes in a typed sentence; longer ones are pasted text or stories.
const SENTENCE_MAX: usize = 400;
/// Minimum percentage of letters, digits and blanks in a typed line, because output and code contain more of the
/// other characters.
const LETTERS: usize = 75;
/// Indentation of code. Lists and quotations with this indentation count as code, too.
const CODE_INDENT: &str = "    ";

/// Words that announce a quotation, in the last sentence before a colon.
static SOURCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = "docs?|readme|says?|said|wrote|writes|mails?|emails?|issue|page|guide|article|blog|log|output|error|trace|response|\
                 slack|ticket|manual|spec|paste[ds]?|pasting|quote|prints|printed|doku|schreibt|sagt|dice|dicen";
    Regex::new(&format!(r"(?i)\b(?:{words})\b|文档|说明|写|贴|日志|输出|报错|邮件|原文|官方")).ok()
});

/// Signs that a person is typing again after pasted text: the first person, or a question.
static SPEAKS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b(?:i|im|we|us|our|my|me|ich|wir|uns|yo|nos)\b|\?|我|咱|吗|？").ok());

/// Patterns of lines that a program printed.
static OUTPUT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let begins = r#"\d{4}[-/]\d\d|\d\d:\d\d|\w*(?:Error|Exception): |(?:error|warning|note|info)[:\[]|at \S+\(|File "|-->|={2,}|-{3,}|running \d|thread "#;
    Regex::new(&format!(r"(?i)^(?:[$|><+<\[{{@]|(?:{begins}))| \.\.\. ok$")).ok()
});

fn finds(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    LazyLock::force(pattern).as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// Kind of text that a line belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Typed,
    Fence,
    /// After a line that announces pasted text, before the first pasted paragraph.
    Announced,
    /// Within a pasted paragraph.
    Pasted,
    /// After a pasted paragraph. The next paragraph may be either typed or pasted.
    Between,
}

/// Returns the sentences that a person typed, each with the byte offset of its start.
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

/// Returns the kind of text that a line belongs to, given the kind of the previous line.
fn next_place(before: Place, line: &str) -> Place {
    let line = line.trim();
    let is_fence = line.starts_with("```") || line.starts_with("~~~");
    match before {
        // The line that closes a fence counts as typed, but `is_typed` rejects it, so it never becomes a sentence.
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
    // Characters of three bytes or more, such as Chinese punctuation, count as letters, because their scripts do not
    // use blanks.
    let plain = |c: &char| c.is_alphanumeric() || c.is_whitespace() || c.len_utf8() >= 3;
    text.chars().filter(plain).count() * 100 >= text.chars().count() * LETTERS
}

/// Returns whether a line ends by announcing somebody else's words.
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

/// Returns whether a text ends with an abbreviation before its full stop, for example: `e.g`, `z.B`, `etc`.
fn is_abbreviation(text: &str) -> bool {
    let word = text.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    matches!(word, "etc" | "vs" | "cf" | "approx") || word.len() <= 4 && word.contains('.')
}

/// Strips the marker of a list item.
fn unlisted(piece: &str) -> &str {
    let text = piece.trim_start();
    if let Some(rest) = text.strip_prefix(['-', '*', '•', '–']).filter(|rest| rest.starts_with(' ')) {
        return rest.trim_start();
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text.get(digits..).and_then(|rest| rest.strip_prefix(['.', ')', '、']));
    rest.filter(|_| (1..=2).contains(&digits)).map_or(text, str::trim_start)
}
