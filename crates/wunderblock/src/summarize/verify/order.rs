//! Orders aimed at the reader of a summary. What stands in quotation marks is reported, and gives none.

use aho_corasick::AhoCorasick;
use std::sync::OnceLock;

/// What text says that wants to be obeyed by whoever reads it, whatever it was read for.
const ORDERS: &str = include_str!("orders.json");
/// How a line begins that wants to be another speaker's.
const SPEAKERS: [&str; 6] = ["system:", "assistant:", "human:", "user:", "developer:", "### instruction"];

fn orders() -> Option<&'static AhoCorasick> {
    static FOUND: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    let build = || {
        let orders: Vec<&str> = serde_json::from_str(ORDERS).ok()?;
        AhoCorasick::builder().ascii_case_insensitive(true).build(orders).ok()
    };
    FOUND.get_or_init(build).as_ref()
}

/// The first order, to the end of its line.
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

/// Without what is quoted: lines behind `>`, fenced blocks, and what stands in marks on one line.
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

/// A mark that is not closed on its line quotes nothing.
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
