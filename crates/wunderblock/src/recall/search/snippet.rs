//! Part of a text around its first match.

use crate::ledger::engine::Engine;
use crate::ledger::kept_bytes::AROUND;
use std::borrow::Cow;

/// Maximum number of bytes that a snippet contains before the match; it may contain twice as many after the match.
const SNIPPET: usize = 120;

/// Maximum number of bytes of a text that are redacted to find a word in what replaces a secret.
const REPLACED: usize = 64 << 10;
/// Number of characters at the beginning of a word that other forms of it have.
const STEM: usize = 4;

/// Returns the text around the first match, with secrets redacted. A word that does not occur as it was asked for may
/// occur in another form, or only in what replaces a secret. Of a long text, only the shown part is redacted.
pub(super) fn snippet(engine: &Engine, texts: &[&str], matched: &[Box<str>]) -> String {
    let words: Vec<String> =
        matched.iter().map(|word| word.trim_matches(['+', '"']).to_lowercase()).collect();
    let around = |word: &str| {
        texts.iter().find_map(|text| {
            let at = find_folded(text, word)?;
            let from = text.floor_char_boundary(at.saturating_sub(AROUND));
            let part = redacted(engine, text.get(from..text.ceil_char_boundary(at + AROUND))?);
            Some((find_folded(&part, word)?, part.into_owned()))
        })
    };
    let replaced = |word: &String| {
        texts.iter().find_map(|text| {
            let part = text.get(..text.floor_char_boundary(REPLACED))?;
            let shown = redacted(engine, part);
            let at = find_folded(&shown, word)?;
            // A secret at the end of a part may be cut, and is not recognised then.
            let is_safe = part.len() == text.len() || at + AROUND < shown.len();
            is_safe.then(|| (at, shown.into_owned()))
        })
    };
    let form = |word: &String| around(word.get(..word.char_indices().nth(STEM)?.0)?);
    let beginning = || {
        let text = texts.first()?;
        Some((0, redacted(engine, text.get(..text.floor_char_boundary(AROUND))?).into_owned()))
    };
    let place = words.iter().find_map(|word| around(word));
    let place = place.or_else(|| words.first().and_then(replaced)).or_else(|| words.iter().find_map(form));
    place.or_else(beginning).map(|(at, text)| excerpt(&text, at)).unwrap_or_default()
}

/// Returns a place of a text with what is around it, on one line.
fn excerpt(text: &str, at: usize) -> String {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let lead = wunderblock_core::stub::tail(before, SNIPPET);
    let follow = wunderblock_core::stub::head(after, 2 * SNIPPET);
    let mut out = String::new();
    if lead.len() < before.len() {
        out.push('…');
    }
    out.extend(lead.chars().chain(follow.chars()).map(|c| if c.is_control() { ' ' } else { c }));
    if follow.len() < after.len() {
        out.push('…');
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the place of a lower-case word in a text, ignoring ASCII case. Other letters must match exactly, which is
/// sufficient for a snippet.
pub(super) fn find_folded(text: &str, word: &str) -> Option<usize> {
    if word.is_empty() {
        return None;
    }
    let (text_bytes, word) = (text.as_bytes(), word.as_bytes());
    let mut from = 0;
    let first = *word.first()?;
    loop {
        let rest = text_bytes.get(from..)?;
        let at = from + memchr::memchr2(first, first.to_ascii_uppercase(), rest)?;
        let here = text_bytes.get(at..at + word.len())?;
        if here.eq_ignore_ascii_case(word) && text.is_char_boundary(at) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// Returns a text with secrets redacted.
pub(super) fn redacted<'t>(engine: &Engine, text: &'t str) -> Cow<'t, str> {
    engine.config.redactor.redact_keyed(&engine.tenant.key, text).text
}
