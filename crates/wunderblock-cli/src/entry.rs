//! Entries of a session, for people.

use crate::columns::{columns, fit, plural};
use crate::console::time;
use crate::paint::Paint;
use crate::terminal::clean;
use wunderblock::EntryDescription;
use wunderblock_core::message::Role;
use wunderblock_core::units::Seq;

/// Who said it, with which tool, and when.
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

/// Positions in a row, the first few of many.
pub(crate) fn joined_positions(seqs: &[Seq]) -> String {
    let shown: Vec<String> = seqs.iter().take(8).map(|seq| format!("#{seq}")).collect();
    let rest = seqs.len().saturating_sub(shown.len()) as u64;
    let more = if rest > 0 { format!(" and {}", plural(rest, "more", "more")) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// A text that was looked for, as it is shown where it was found.
pub(crate) struct Excerpt<'a> {
    pub(crate) sought: &'a str,
    pub(crate) paint: Paint,
}

impl Excerpt<'_> {
    /// What was found in the middle of what stands around it, so that it is seen whatever the width.
    pub(crate) fn of(&self, line: &str, room: usize) -> String {
        let line = clean(line);
        let Some(at) = line.find(self.sought) else { return fit(&line, room) };
        let (before, after) = line.split_at(at);
        let (hit, after) = after.split_at(self.sought.len());
        let beside = room.saturating_sub(columns(hit) + 2);
        let left = columns(before).min((beside / 2).max(beside.saturating_sub(columns(after))));
        let mut used = 0;
        let from = before.char_indices().rev().take_while(|(_, c)| {
            used += columns(c.encode_utf8(&mut [0; 4]));
            used <= left
        });
        let from = from.last().map_or(before.len(), |(at, _)| at);
        let mark = if from > 0 { "…" } else { "" };
        let before = before.get(from..).unwrap_or_default();
        let tail = room.saturating_sub(columns(mark) + columns(before) + columns(hit));
        let after = if columns(after) > tail { fit(after, tail) } else { after.to_owned() };
        if columns(hit) + 2 > room {
            fit(hit, room)
        } else {
            format!("{mark}{before}{}{after}", self.paint.bold(hit))
        }
    }
}
