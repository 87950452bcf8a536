//! Encodes lines as templates and rows.

use super::columns::{self, LineColumns};
use super::keys::{KEYS, MAX_READ};
use crate::encode::{tags, token_estimate};
use crate::text::lines::NewlineSplit;

/// Encodes whole lines, without the newline after the last one. Returns `None` if the encoding does not save enough.
pub(in crate::encode) fn encode(text: &str, shortest: bool) -> Option<String> {
    let lines = NewlineSplit::of(text);
    let found = LineColumns::of(&lines, if shortest { KEYS.len() } else { MAX_READ })?;
    let run = found.range()?;
    // If all lines have the same template, rows need no letter.
    let keyless = found.templates.len() == 1 && run.clone().all(|line| found.of_line(line).is_some());
    let mut out = text.get(..lines.start(run.start))?.to_owned();
    let before = out.len();
    let count = found.templates.len();
    out.push_str(&if keyless { "⟨=t⟩\n".to_owned() } else { format!("⟨=t {count}⟩\n") });
    for (template, key) in found.templates.iter().zip(KEYS.chars()) {
        if !keyless {
            out.extend([key, ' ']);
        }
        out.push_str(&template.header());
        out.push('\n');
    }
    let mut words = Vec::new();
    for (at, line) in (run.start..).zip(lines.within(run.clone())) {
        // Stops as soon as the encoding is longer than the lines.
        if out.len() > before + lines.span(run.clone()).len() {
            return None;
        }
        let Some(template) = found.of_line(at) else {
            write_raw(line, count, &mut out);
            continue;
        };
        columns::split_words(line, &mut words);
        let key = KEYS.get(template..=template).filter(|_| !keyless);
        let values = found.templates.get(template)?.values(line, &words);
        out.push_str(&key.into_iter().chain(values).collect::<Vec<_>>().join(" "));
        out.push('\n');
    }
    out.push_str(tags::CLOSE);
    let cost = |text: Option<&str>| token_estimate::estimate_tokens(text.unwrap_or(""));
    if !token_estimate::is_worthwhile(cost(text.get(lines.span(run.clone()))), cost(out.get(before..))) {
        return None;
    }
    if run.end < lines.len() {
        out.push('\n');
        out.push_str(text.get(lines.start(run.end)..)?);
    }
    Some(out)
}

/// Writes a line that is not a row.
fn write_raw(line: &str, templates: usize, out: &mut String) {
    let mut bytes = line.bytes();
    let key = |first: u8| KEYS.bytes().take(templates).any(|key| key == first);
    // A leading backslash shows that a line only looks like a row.
    if bytes.next().is_some_and(key) && matches!(bytes.next(), None | Some(b' ')) || line.starts_with('\\') {
        out.push('\\');
    }
    out.push_str(line);
    out.push('\n');
}
