//! Entries of a session, for people.

use crate::columns::plural;
use crate::console::time;
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
