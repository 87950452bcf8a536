//! Writes a dated log with one line for each event, in the order of the events.
//!
//! ```text
//! Date: 2026-03-01
//! - 14:03 ! user: "the totals are off by one cent" #12
//! - 14:09 ✓ `cargo test -p money` → ok #31
//! ```
//! The log has the form of Mastra's observations, with plain marks: `!` marks what matters, `?` marks what is open,
//! and `✓` marks what the record shows to be done.

use super::item::{ItemText, SummaryItem};
use crate::extract::language::plain::Escaping;
use crate::task::Material;
use wunderblock_core::policy::Fill;
use wunderblock_core::units::{Millis, Seq};

/// Beginning of the line that opens a day.
pub(crate) const DATE: &str = "Date: ";

/// Time of each entry, in ascending order of positions.
#[derive(Clone, Debug, Default)]
pub(super) struct Times(Vec<(Seq, Millis)>);

impl Times {
    pub(super) fn of(material: &Material<'_>) -> Self {
        Self(material.entries.iter().map(|entry| (entry.seq, entry.at)).collect())
    }

    /// Returns the day and time of the entry at a position, or of the last entry before the position.
    fn at(&self, seq: Seq) -> Option<(String, String)> {
        let before = self.0.partition_point(|(at, _)| *at <= seq).checked_sub(1);
        let (_, at) = self.0.get(before.unwrap_or(0)).filter(|(_, at)| *at > Millis::ZERO)?;
        stamp(*at).split_once(' ').map(|(day, time)| (day.to_owned(), time.to_owned()))
    }
}

/// Writes the lines of all items except names, in order.
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

/// Returns the mark that shows what a line is worth.
fn mark(item: &SummaryItem) -> Option<char> {
    let ends = |word: &str| matches!(&item.text, ItemText::Line { lead, tail, .. } if lead.contains(word) || tail.contains(word));
    match item.fill {
        Fill::Intent | Fill::Constraints | Fill::UserMessages | Fill::Decisions => Some('!'),
        Fill::Errors | Fill::Commands if ends("→ fixed") || ends("→ ok") => Some('✓'),
        Fill::Errors | Fill::Commands if ends("→ open") || ends("→ failed") => Some('!'),
        Fill::Done => Some('✓'),
        Fill::Todos | Fill::Next => Some('?'),
        _ => None,
    }
}

/// Formats a time for summaries: in UTC, to the minute.
pub fn stamp(at: Millis) -> String {
    let minutes = at.0.div_euclid(60_000);
    let (days, minute) = (minutes.div_euclid(1_440), minutes.rem_euclid(1_440));
    // Converts days since 1970-01-01 to a Gregorian date, using eras of 400 years that begin on 1 March.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}", minute / 60, minute % 60)
}

/// Returns the words of a line without its time and mark, and whether the line matters.
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
