//! Part of a text around its first match.

use crate::ledger::engine::Engine;
use crate::ledger::kept_bytes::AROUND;
use std::borrow::Cow;

/// Maximum number of bytes that a snippet contains before the match; it may contain twice as many after the match.
const SNIPPET: usize = 120;

/// Returns the text around the first match, with secrets redacted. Secrets are looked for only around it; the whole
/// texts are redacted if the word occurs only in what stands in place of a secret.
pub(super) fn snippet(engine: &Engine, texts: &[&str], matched: &[Box<str>]) -> String {
    let first = matched.first().map(|word| word.trim_matches(['+', '"']).to_lowercase()).unwrap_or_default();
    let around = |text: &&'_ str| {
        let at = find_folded(text, &first)?;
        let from = text.floor_char_boundary(at.saturating_sub(AROUND));
        let part = redacted(engine, text.get(from..text.ceil_char_boundary(at + AROUND))?);
        Some((find_folded(&part, &first)?, part.into_owned()))
    };
    let whole = |text: &&'_ str| {
        let text = redacted(engine, text);
        Some((find_folded(&text, &first)?, text.into_owned()))
    };
    let place = texts.iter().find_map(around).or_else(|| texts.iter().find_map(whole));
    let beginning = || Some((0, redacted(engine, texts.first()?).into_owned()));
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
