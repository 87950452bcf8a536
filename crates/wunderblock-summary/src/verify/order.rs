//! Finds orders aimed at the reader of a summary. Text in quotation marks is reported speech and is ignored.

use aho_corasick::AhoCorasick;
use serde::Deserialize;
use std::sync::{LazyLock, OnceLock};

/// Words that identify orders; `orders.toml` explains each list.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct OrderWords {
    phrases: Vec<String>,
    addressed: Vec<String>,
    actors: Vec<String>,
    modals: Vec<String>,
    imperatives: Vec<String>,
    wide: Vec<String>,
}

// Tests check that the embedded words parse.
static WORDS: LazyLock<OrderWords> =
    LazyLock::new(|| toml::from_str(include_str!("orders.toml")).unwrap_or_default());

/// Beginnings of lines that pretend to come from another speaker.
const SPEAKERS: [&str; 6] = ["system:", "assistant:", "human:", "user:", "developer:", "### instruction"];

fn orders() -> Option<&'static AhoCorasick> {
    static FOUND: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    let build = || AhoCorasick::builder().ascii_case_insensitive(true).build(&WORDS.phrases).ok();
    FOUND.get_or_init(build).as_ref()
}

/// Returns the first order with the rest of its line, cut to at most 120 characters.
pub(super) fn first(text: &str) -> Option<String> {
    let own = unquoted(text);
    let at = orders()?.find(&own).map(|hit| hit.start());
    let speaks = |line: &&str| {
        SPEAKERS.iter().any(|speaker| {
            line.trim_start().get(..speaker.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(speaker))
        })
    };
    let line = match at {
        Some(at) => own.get(at..)?.lines().next()?,
        None => own.lines().find(speaks)?,
    };
    Some(line.trim().chars().take(120).collect())
}

/// Returns whether a line outside its quotations gives its reader an order, that is, whether it addresses somebody,
/// says what an assistant should do, or begins with an imperative.
pub(super) fn commands(line: &str) -> bool {
    let own = unquoted(line).to_lowercase();
    let words: Vec<&str> =
        own.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
    let is = |list: &[String], word: &str| list.iter().any(|known| known == word);
    let speaks_to = words.iter().any(|word| is(&WORDS.addressed, word));
    let tells_actor = words.windows(2).any(|pair| match pair {
        [actor, modal] => is(&WORDS.actors, actor) && is(&WORDS.modals, modal),
        _ => false,
    });
    // `read:` is a label, not an imperative.
    let begins = words.first().is_some_and(|word| {
        let after = own.split_once(word).map(|(_, after)| after).unwrap_or_default();
        is(&WORDS.imperatives, word) && !after.starts_with([':', '：'])
    });
    speaks_to || tells_actor || begins || WORDS.wide.iter().any(|word| own.contains(word.as_str()))
}

/// Removes quotations: lines after `>`, fenced blocks, and text in quotation marks or backticks within a line.
pub(super) fn unquoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut fenced = false;
    for line in text.lines() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") {
            fenced = !fenced;
        } else if !fenced && !trimmed.starts_with('>') {
            strip(line, &mut out);
        }
        out.push('\n');
    }
    out
}

/// Replaces the quotations in a line with `…`. A quotation mark that is not closed on the same line does not start a
/// quotation.
fn strip(line: &str, out: &mut String) {
    let mut rest = line;
    while let Some((at, open)) =
        rest.char_indices().find(|(_, c)| matches!(c, '"' | '`' | '“' | '「' | '『' | '«'))
    {
        let close = match open {
            '“' => '”',
            '「' => '」',
            '『' => '』',
            '«' => '»',
            same => same,
        };
        let inner = rest.get(at + open.len_utf8()..).unwrap_or_default();
        let Some(end) = inner.find(close) else {
            out.push_str(rest.get(..at + open.len_utf8()).unwrap_or_default());
            rest = inner;
            continue;
        };
        out.push_str(rest.get(..at).unwrap_or_default());
        out.push('…');
        rest = inner.get(end + close.len_utf8()..).unwrap_or_default();
    }
    out.push_str(rest);
}
