//! The form of a dated log: a line for each thing, in the order in which things happened.
//!
//! ```text
//! Date: 2026-03-01
//! - 14:03 ! user: "the totals are off by one cent" #12
//! - 14:09 ✓ `cargo test -p money` → ok #31
//! ```
//! The form is that of Mastra's observations, with plain marks: `!` matters, `?` is open, `✓` is done and was seen to be.

use super::glean::stamp;
use super::item::{ItemText, SummaryItem};
use super::plain::Escaping;
use crate::summarize::task::Material;
use wunderblock_core::policy::Fill;
use wunderblock_core::units::{Millis, Seq};

/// What begins a day.
pub(in crate::summarize) const DATE: &str = "Date: ";

/// When each entry was said, ascending by position.
#[derive(Clone, Debug, Default)]
pub(super) struct Times(Vec<(Seq, Millis)>);

impl Times {
    pub(super) fn of(material: &Material<'_>) -> Self {
        Self(material.entries.iter().map(|entry| (entry.seq, entry.at)).collect())
    }

    /// Day and time of a position: of the entry there, or the last before it.
    fn at(&self, seq: Seq) -> Option<(String, String)> {
        let before = self.0.partition_point(|(at, _)| *at <= seq).checked_sub(1);
        let (_, at) = self.0.get(before.unwrap_or(0)).filter(|(_, at)| *at > Millis::ZERO)?;
        stamp(*at).split_once(' ').map(|(day, time)| (day.to_owned(), time.to_owned()))
    }
}

/// The lines of all items that are no names, in order.
pub(super) fn write(out: &mut String, items: &[&SummaryItem], times: &Times, marks: Escaping) {
    let is_line = |item: &&&SummaryItem| !matches!(item.text, ItemText::Packed { .. });
    let mut lines: Vec<&SummaryItem> = items.iter().filter(is_line).copied().collect();
    lines.sort_by_key(|item| (item.refs.first().copied(), item.order));
    let mut today = String::new();
    for item in lines {
        let text = item.write(marks);
        let text = text.strip_prefix("- ").unwrap_or(&text);
        let mark = mark(item).map(|mark| format!("{mark} ")).unwrap_or_default();
        match item.refs.first().and_then(|at| times.at(*at)) {
            Some((day, time)) => {
                if day != today {
                    out.push_str(&format!("{DATE}{day}\n"));
                    today = day;
                }
                out.push_str(&format!("- {time} {mark}{text}\n"));
            }
            None => out.push_str(&format!("- {mark}{text}\n")),
        }
    }
}

/// What a line is worth, at a glance.
fn mark(item: &SummaryItem) -> Option<char> {
    let ItemText::Line { lead, tail, .. } = &item.text else { return Some('!') };
    let ends = |word: &str| lead.contains(word) || tail.contains(word);
    match item.fill {
        Fill::Intent | Fill::Constraints | Fill::UserMessages | Fill::Decisions => Some('!'),
        Fill::Errors | Fill::Commands if ends("→ fixed") || ends("→ ok") => Some('✓'),
        Fill::Errors | Fill::Commands if ends("→ open") || ends("→ failed") => Some('!'),
        Fill::Done => Some('✓'),
        Fill::Todos | Fill::Next => Some('?'),
        _ => None,
    }
}

/// The words of a line of a log, without its time and its mark, and whether it matters.
pub(super) fn bare(line: &str) -> (&str, bool) {
    let is_time = |word: &str| {
        word.split_once(':').is_some_and(|(hour, minute)| {
            let is_number = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
            is_number(hour) && is_number(minute)
        })
    };
    let rest = match line.split_once(' ') {
        Some((time, rest)) if is_time(time) => rest,
        _ => line,
    };
    match rest.split_once(' ') {
        Some(("!", rest)) => (rest, true),
        Some(("?" | "✓", rest)) => (rest, false),
        _ => (rest, false),
    }
}
