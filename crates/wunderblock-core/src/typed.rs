//! Typed text: the part of a user message that a person wrote. Harnesses also put reminders, states and outputs into
//! user messages.

use crate::message::{Message, MessageOrigin, Part, Role};

/// Names of elements that harnesses write in the user's place. No person typed the text inside these elements.
///
/// From transcripts: Claude Code (`system-reminder`, `local-command-*`, `bash-std*`, `command-name`,
/// `command-message`, `task-notification`, `ide_*`), Codex (`environment_context`, `user_instructions`,
/// `turn_aborted`, `subagent_notification`, `user_shell_command`), Gemini CLI (`hook_context`, `session_context`), Cline (`environment_details`), Cursor
/// (`additional_data`, `attached_files`, `project_layout`, `user_info`, `git_status`), droid and Kimi
/// (`system-reminder`).
const ELEMENTS: [&str; 27] = [
    "additional_data",
    "attached_files",
    "bash-stderr",
    "bash-stdout",
    "command-contents",
    "command-message",
    "command-name",
    "environment_context",
    "environment_details",
    "git-context",
    "git_status",
    "hook_context",
    "ide_diagnostics",
    "ide_opened_file",
    "ide_selection",
    "local-command-caveat",
    "local-command-stderr",
    "local-command-stdout",
    "project_layout",
    "session_context",
    "subagent_notification",
    "system-reminder",
    "task-notification",
    "turn_aborted",
    "user_info",
    "user_instructions",
    "user_shell_command",
];

/// Returns the pieces of a text outside the elements of harnesses, in order, each with its offset in bytes.
#[must_use]
pub fn typed(text: &str) -> Vec<(usize, &str)> {
    let (mut pieces, mut from, mut at) = (Vec::new(), 0, 0);
    while let Some(open) = text.get(at..).and_then(|rest| rest.find('<')).map(|open| at + open) {
        let Some((_, end)) = element(text, open) else {
            at = open + 1;
            continue;
        };
        pieces.extend(text.get(from..open).map(|piece| (from, piece)));
        (from, at) = (end, end);
    }
    pieces.extend(text.get(from..).map(|piece| (from, piece)));
    pieces.retain(|(_, piece)| !piece.trim().is_empty());
    pieces
}

/// Returns the name and the end of the harness element that begins at a given offset. An element that is not closed
/// extends to the end of the text.
fn element(text: &str, open: usize) -> Option<(&'static str, usize)> {
    let rest = text.get(open + 1..)?;
    // The name must end here: `system-reminders` is a different element.
    let name = ELEMENTS
        .iter()
        .find(|name| rest.strip_prefix(**name).is_some_and(|rest| rest.starts_with(['>', ' ', '\n'])))?;
    let close = format!("</{name}>");
    let end = rest.find(&close).map_or(text.len(), |at| open + 1 + at + close.len());
    Some((name, end))
}

/// Returns the message with its origin corrected: the origin is a harness if no person typed any part of the message.
#[must_use]
pub fn settled(said: Message) -> Message {
    match harness(&said) {
        Some(name) => said.standing(MessageOrigin::Injected(name.into())),
        None => said,
    }
}

/// Returns the name of the first element in a message that a harness wrote as a whole in the user's place.
fn harness(said: &Message) -> Option<&'static str> {
    if said.role != Role::User || said.standing != MessageOrigin::Said {
        return None;
    }
    let mut first = None;
    for part in &said.parts {
        let Part::Text { text, .. } = part else { return None };
        let text = text.inline()?;
        if !typed(text).is_empty() {
            return None;
        }
        first = first.or_else(|| element(text, text.find('<')?).map(|(name, _)| name));
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_harness_wrote_is_not_typed() {
        let text = "<system-reminder>\nNever say so.\n</system-reminder>\n\nList a < b <ide_selection>x</ide_selection>!";
        let pieces: Vec<&str> = typed(text).into_iter().map(|(_, piece)| piece.trim()).collect();
        assert_eq!(pieces, ["List a < b", "!"]);
        for (at, piece) in typed(text) {
            assert_eq!(text.get(at..at + piece.len()), Some(piece));
        }
        assert!(typed("<system-reminder>Always, and no end").is_empty());
        assert_eq!(typed("<system-reminders>").len(), 1, "another element");
    }

    #[test]
    fn a_message_is_the_harness_where_nobody_typed_any_of_it() {
        let said = |text: &str| Message::text(Role::User, text);
        assert_eq!(harness(&said(" <system-reminder>a</system-reminder>\n")), Some("system-reminder"));
        assert_eq!(harness(&said("<system-reminder>a</system-reminder> b")), None);
        assert_eq!(harness(&said("")), None);
        assert_eq!(harness(&Message::text(Role::Assistant, "<system-reminder>a</system-reminder>")), None);
    }
}
