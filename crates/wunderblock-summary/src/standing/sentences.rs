//! Finds the sentences of a text that a person typed, excluding code, quotations, output, and text pasted from
//! elsewhere.

use regex::Regex;
use std::sync::LazyLock;

/// Maximum number of bytes in a typed sentence; longer ones are pasted text or stories.
const SENTENCE_MAX: usize = 400;
/// Minimum percentage of letters, digits and blanks in a typed line, because output and code contain more of the
/// other characters.
const LETTERS: usize = 75;
/// Indentation of code. Lists and quotations with this indentation count as code, too.
const CODE_INDENT: &str = "    ";

/// Words that announce a quotation, in the last sentence before a colon.
static SOURCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = "docs?|plan|proposal|findings|following|prompt|feedback|review|readme|says?|said|wrote|writes|mails?|emails?|issue|page|guide|article|blog|log|output|error|trace|response|\
                 slack|ticket|manual|spec|paste[ds]?|pasting|quote|prints|printed|doku|schreibt|sagt|dice|dicen";
    Regex::new(&format!(r"(?i)\b(?:{words})\b|文档|说明|写|贴|日志|输出|报错|邮件|原文|官方")).ok()
});

/// Signs that a person is typing again after pasted text: the first person, or a question.
static SPEAKS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b(?:i|im|we|us|our|my|me|ich|wir|uns|yo|nos)\b|\?|我|咱|吗|？").ok());

/// Patterns of lines that a program printed, and of prompts of a shell. Columns are three or more blanks apart. A
/// bracket alone begins a link or a redacted secret in a person's words, too.
static OUTPUT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let begins = r#"\d{4}[-/]\d\d|\d\d:\d\d|\w*(?:Error|Exception): |(?:error|warning|note|info|author|date|fatal)[:\[]|at \S+\(|File "|-->|={2,}|-{3,}|running \d|thread |commit [0-9a-f]{7,}|\S+@\S+ .*[%$#](?: |$)|\S*/\S+: |https?://\S+$"#;
    Regex::new(&format!(
        r"(?i)^(?:[$|>+{{@]|<(?:<|.*>$)|\[(?:\d|[A-Z]{{3,}}\]|\{{)|(?:{begins}))| \.\.\. ok$|\S {{3,}}\S"
    ))
    .ok()
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
    /// After a line that a program printed, within its paragraph.
    Output,
    /// After the first heading of a document, which extends to the end of the text.
    Document,
}

/// Returns the sentences that a person typed, each with the byte offset of its start. `own` are the pieces of the text
/// that are the person's, each with its offset.
pub(super) fn typed_sentences<'t>(own: &[(usize, &'t str)]) -> Vec<(usize, &'t str)> {
    let mut found = Vec::new();
    let mut place = Place::Typed;
    for (from, piece) in own.iter().copied() {
        let lines: Vec<&str> = piece.split('\n').collect();
        let after = |index: usize| lines.get(index + 1).copied().unwrap_or_default();
        let titled = lines.iter().enumerate().filter(|(index, line)| is_title(line, after(*index))).count();
        let mut at = from;
        for (index, line) in lines.iter().copied().enumerate() {
            let is_heading = is_heading(line) || titled >= TITLES && is_title(line, after(index));
            if is_heading && place != Place::Fence {
                place = Place::Document;
            }
            let before = index.checked_sub(1).and_then(|before| lines.get(before));
            let begins = before.is_none_or(|before| before.trim().is_empty());
            place = next_place(place, line);
            if place == Place::Typed && !line.trim().is_empty() {
                if begins && is_wrapped(lines.get(index..).unwrap_or_default()) {
                    place = Place::Pasted;
                } else if is_output(line) {
                    place = Place::Output;
                } else if is_typed(line) {
                    sentences_of_line(at, line, &mut found);
                    if announces(line) {
                        place = Place::Announced;
                    }
                }
            }
            at += line.len() + 1;
        }
    }
    found
}

/// Minimum number of titles in a document without Markdown. One may be a greeting.
const TITLES: usize = 2;
/// Maximum number of words in a title.
const TITLE_WORDS: usize = 4;
/// Minimum number of bytes in the line after a title.
const TITLED: usize = 40;
/// Minimum number of bytes in a line that a terminal or an editor wrapped.
const WRAPPED: usize = 60;

/// Returns whether a line is a heading in Markdown.
fn is_heading(line: &str) -> bool {
    let line = line.trim_start();
    let rest = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - rest.len())) && rest.starts_with(' ')
}

/// Returns whether a line is the title of the line after it: a few words, without punctuation.
fn is_title(line: &str, after: &str) -> bool {
    let (line, after) = (line.trim(), after.trim());
    line.starts_with(char::is_uppercase)
        && line.split_whitespace().count() <= TITLE_WORDS
        && line.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | '/' | '-'))
        && after.len() >= TITLED
        && !after.starts_with(['-', '*'])
}

/// Returns whether lines begin with a paragraph that was copied from a terminal, which breaks lines within sentences
/// and indents what follows.
fn is_wrapped(lines: &[&str]) -> bool {
    let goes_on = |line: &str, after: &str| {
        let ends = line.trim_end().ends_with(['.', '!', '?', ':', ';', '。', '！', '？']);
        let is_item = unlisted(after).len() < after.trim_start().len();
        line.trim_end().len() >= WRAPPED && !ends && after.starts_with([' ', '\t']) && !is_item
    };
    let paragraph = lines.split(|line| line.trim().is_empty()).next().unwrap_or_default();
    paragraph.windows(2).any(|pair| matches!(pair, [line, after] if goes_on(line, after)))
}

/// Returns the kind of text that a line belongs to, given the kind of the previous line.
fn next_place(before: Place, line: &str) -> Place {
    let line = line.trim();
    let is_fence = line.starts_with("```") || line.starts_with("~~~");
    match before {
        Place::Document => Place::Document,
        Place::Output if line.is_empty() => Place::Typed,
        Place::Output => Place::Output,
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

/// Returns whether a program printed a line. The rest of its paragraph is output, too.
fn is_output(line: &str) -> bool {
    finds(&OUTPUT, line.trim()) || finds(&OUTPUT, unlisted(line).trim_end())
}

fn is_typed(line: &str) -> bool {
    let text = line.trim();
    if line.starts_with(CODE_INDENT) || text.starts_with("```") {
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
