//! Formats entries of a session for people.

use crate::drawing::columns::{columns, fit, plural};
use crate::drawing::paint::Paint;
use crate::drawing::terminal::clean;
use crate::output::console::time;
use std::ops::Range;
use wunderblock::EntryDescription;
use wunderblock_core::message::Role;
use wunderblock_core::units::Seq;

/// Formats an entry's speaker, tool and time.
pub(crate) fn entry_head(entry: &EntryDescription) -> String {
    let tool = entry.tool.as_deref().map(|tool| format!(" ({})", clean(tool))).unwrap_or_default();
    format!("{}{tool}, {}", role(entry.role), time(entry.at))
}

pub(crate) fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool result",
    }
}

/// Lists positions for people: the first eight, and how many more there are.
pub(crate) fn joined_positions(seqs: &[Seq]) -> String {
    let shown: Vec<String> = seqs.iter().take(8).map(|seq| format!("#{seq}")).collect();
    let rest = seqs.len().saturating_sub(shown.len()) as u64;
    let more = if rest > 0 { format!(" and {}", plural(rest, "more", "more")) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// Style of the excerpts around a searched text.
pub(crate) struct Excerpt<'a> {
    pub(crate) sought: &'a str,
    pub(crate) paint: Paint,
}

impl Excerpt<'_> {
    /// Returns a line cut to `room` columns around the searched text, so that the text is visible at any width.
    pub(crate) fn of(&self, line: &str, room: usize) -> String {
        match line.find(self.sought) {
            Some(at) => excerpt(self.paint, line, at..at + self.sought.len(), room),
            None => fit(&clean(line), room),
        }
    }
}

/// Returns a note on a text that was found only in another spelling.
pub(crate) fn spelled(spelling: Option<&str>) -> String {
    spelling.map(|spelling| format!(" spelt `{}`", clean(spelling))).unwrap_or_default()
}

/// Returns the part of a line around a match that fits, with the match highlighted.
pub(crate) fn excerpt(paint: Paint, line: &str, found: Range<usize>, room: usize) -> String {
    let part = |range: Range<usize>| clean(line.get(range).unwrap_or_default());
    let (before, hit, after) = (part(0..found.start), part(found.clone()), part(found.end..line.len()));
    let beside = room.saturating_sub(columns(&hit) + 2);
    let left = columns(&before).min((beside / 2).max(beside.saturating_sub(columns(&after))));
    let mut used = 0;
    let from = before.char_indices().rev().take_while(|(_, c)| {
        used += columns(c.encode_utf8(&mut [0; 4]));
        used <= left
    });
    let from = from.last().map_or(before.len(), |(at, _)| at);
    let mark = if from > 0 { "…" } else { "" };
    let before = before.get(from..).unwrap_or_default();
    let tail = room.saturating_sub(columns(mark) + columns(before) + columns(&hit));
    let after = if columns(&after) > tail { fit(&after, tail) } else { after };
    if columns(&hit) + 2 > room {
        fit(&hit, room)
    } else {
        format!("{mark}{before}{}{after}", paint.hit(&hit))
    }
}
