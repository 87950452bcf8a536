//! Prepares transcript text for a summary: the text is put on one line, loses characters that hide or reorder text,
//! and cannot close a quotation or an element.

use std::borrow::Cow;
use wunderblock_redact::Redactor;

/// Maximum number of bytes read from the start of a long text.
const READ_HEAD: usize = 48 << 10;
/// Maximum number of bytes read from the end of a long text.
const READ_TAIL: usize = 16 << 10;

/// Returns a text without secrets and colours. If the text is long, returns only its start and its end.
pub(in crate::extract) fn readable<'a>(text: &'a str, redactor: &Redactor) -> Cow<'a, str> {
    let safe = |text: &'a str| match without_colour(text) {
        Cow::Borrowed(text) => redactor.redact(text).text,
        Cow::Owned(text) => Cow::Owned(redactor.redact(&text).text.into_owned()),
    };
    if text.len() <= READ_HEAD + READ_TAIL {
        return safe(text);
    }
    let head = text.get(..cut(text, READ_HEAD)).unwrap_or_default();
    let tail = text.get(cut_after(text, text.len() - READ_TAIL)..).unwrap_or_default();
    Cow::Owned(format!("{}\n…\n{}", safe(head), safe(tail)))
}

/// Elements that readers of a transcript take for a change of speaker, whatever they contain.
const SPEAKERS: [&str; 14] = [
    "system",
    "user",
    "assistant",
    "human",
    "developer",
    "tool",
    "function",
    "instruction",
    "important",
    "summary",
    "context",
    "session",
    "im_start",
    "im_end",
];

/// Elements to make harmless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::extract) enum Escaping {
    /// Only elements that name a speaker.
    Speakers,
    /// All elements, because the summary itself consists of elements.
    All,
}

/// Returns a text on one line, in a form that can be put in quotation marks.
pub(in crate::extract) fn line(text: &str, marks: Escaping) -> String {
    one_line(text, marks, '\'')
}

fn one_line(text: &str, marks: Escaping, quote: char) -> String {
    let mut out = String::with_capacity(text.len());
    let mut skip = 0;
    for (at, c) in text.char_indices() {
        match c {
            _ if at < skip => {}
            '*' if is_emphasis(text, at) => skip = at + 2,
            '"' => out.push(quote),
            '<' if opens(text, at, marks) => skip = at + disarm(text, at, &mut out),
            '⟨' => out.push('('),
            '⟩' => out.push(')'),
            c if c.is_whitespace() || hides(c) => {
                if !out.ends_with(' ') && !out.is_empty() {
                    out.push(' ');
                }
            }
            c => out.push(c),
        }
    }
    out.truncate(out.trim_end().len());
    balanced(out)
}

/// Makes the elements of a line harmless that its own form left alone.
pub(in crate::extract) fn disarmed(text: String, marks: Escaping) -> String {
    if !text.contains('<') {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut skip = 0;
    for (at, c) in text.char_indices() {
        match c {
            _ if at < skip => {}
            '<' if opens(&text, at, marks) => skip = at + disarm(&text, at, &mut out),
            c => out.push(c),
        }
    }
    out
}

/// Writes the beginning of an element in harmless form, and returns the number of bytes of the text that this form
/// replaces.
fn disarm(text: &str, at: usize, out: &mut String) -> usize {
    out.push('‹');
    // With its slash, the element would look like a path.
    let closes = text.get(at + 1..).is_some_and(|rest| rest.starts_with('/'));
    if closes {
        out.push('∕');
    }
    1 + usize::from(closes)
}

/// Restores the elements of a text. Without its slash, a name that follows a slash would be a different name.
pub(crate) fn restored(text: &str) -> Cow<'_, str> {
    if text.contains('‹') {
        Cow::Owned(text.replace("‹∕", "</").replace('‹', "<"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns whether `**` marks emphasis, in which case it is next to a blank. In other places, `**` separates pieces
/// of text that would otherwise form one name.
fn is_emphasis(text: &str, at: usize) -> bool {
    let blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
    let before = text.get(..at).and_then(|text| text.chars().next_back());
    let after = text.get(at + 2..).and_then(|text| text.chars().next());
    text.get(at..at + 2) == Some("**")
        && (blank(before) || blank(after) || matches!(after, Some(',' | ';' | ')')))
}

/// Quotes a text line by line, with a `>` before each line.
pub(in crate::extract) fn block(text: &str, marks: Escaping) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    for piece in text.trim().lines() {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str("  > ");
        let mut skip = 0;
        for (at, c) in piece.trim_end().char_indices() {
            match c {
                _ if at < skip => {}
                '<' if opens(piece, at, marks) => skip = at + disarm(piece, at, &mut out),
                '⟨' => out.push('('),
                '⟩' => out.push(')'),
                '\t' => out.push('\t'),
                c if hides(c) => out.push(' '),
                c => out.push(c),
            }
        }
    }
    out
}

/// Returns a text on one line, in a form that can be put in backticks. Paired quotation marks stay, whereas an
/// unpaired one would pair with a mark after the backticks.
pub(in crate::extract) fn code(text: &str, marks: Escaping) -> String {
    let code = one_line(text, marks, '"').replace('`', "'");
    if code.matches('"').count() % 2 == 1 { code.replace('"', "'") } else { code }
}

/// Returns whether a character is a control character, a line end from another script, or a mark that reorders or
/// hides text.
fn hides(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn opens(text: &str, at: usize, marks: Escaping) -> bool {
    let rest = text.get(at + 1..).unwrap_or_default();
    let name = rest.trim_start_matches(['/', '|', '!', ' ']);
    let marked = rest.starts_with(['|', '/', '!']);
    match marks {
        Escaping::All => marked || name.starts_with(char::is_alphabetic),
        Escaping::Speakers => {
            rest.starts_with('|')
                || SPEAKERS.iter().any(|speaker| {
                    name.get(..speaker.len()).is_some_and(|name| name.eq_ignore_ascii_case(speaker))
                })
        }
    }
}

/// Replaces unpaired marks, which would pair with a mark in another text on the same line.
fn balanced(mut text: String) -> String {
    if text.matches('`').count() % 2 == 1 {
        text = text.replace('`', "'");
    }
    for (open, close) in [('“', '”'), ('「', '」'), ('『', '』'), ('«', '»')] {
        if text.matches(open).count() != text.matches(close).count() {
            text = text.replace([open, close], "'");
        }
    }
    text
}

/// Cuts a line to at most `most` bytes. A name is kept whole or left out, and `…` marks the cut.
pub(in crate::extract) fn head(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let end = cut(text, most.saturating_sub('…'.len_utf8()));
    let kept = text.get(..end).unwrap_or_default().trim_end();
    Cow::Owned(balanced(format!("{kept}…")))
}

/// Returns the last offset up to `most` at which a text can be cut without cutting a name.
pub(in crate::extract) fn cut(text: &str, most: usize) -> usize {
    let end = text.floor_char_boundary(most);
    if end == text.len() {
        return end;
    }
    let wide = |c: Option<char>| c.is_some_and(|c| c.len_utf8() >= 3);
    let (mut at, low) = (end, end.saturating_sub(600));
    while at > low {
        let after = text.get(at..).and_then(|rest| rest.chars().next());
        let before = text.get(..at).and_then(|kept| kept.chars().next_back());
        if after.is_some_and(char::is_whitespace)
            || before.is_some_and(char::is_whitespace)
            || wide(after) && wide(before)
        {
            return at;
        }
        at -= before.map_or(1, char::len_utf8);
    }
    0
}

/// Returns the first offset from `least` at which a text can be cut without cutting a name.
pub(in crate::extract) fn cut_after(text: &str, least: usize) -> usize {
    let at = text.ceil_char_boundary(least);
    let rest = text.get(at..).unwrap_or_default();
    rest.find(|c: char| c.is_whitespace() || c.len_utf8() >= 3).map_or(text.len(), |more| at + more)
}

/// Removes the escape sequences that colour a terminal.
pub(crate) fn without_colour(text: &str) -> Cow<'_, str> {
    if memchr::memchr(0x1b, text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut pieces = text.split('\u{1b}');
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let rest = match piece.strip_prefix('[') {
            Some(rest) => {
                let end = rest.find(|c: char| ('\u{40}'..='\u{7e}').contains(&c));
                end.and_then(|end| rest.get(end + 1..)).unwrap_or_default()
            }
            None => piece.get(1..).unwrap_or(piece),
        };
        out.push_str(rest);
    }
    Cow::Owned(out)
}
