//! Authors: who wrote a message, and which stretches of its texts somebody else wrote.
//!
//! Harnesses put reminders, states, outputs and the words of other agents into messages of the user's role. The
//! authors are settled once, when a message is recorded: from the statement of its raw record or of the caller, and
//! from the elements that harnesses write around such texts. The ledger keeps them beside the content of the event,
//! like the role. In doubt, the person is not the author.

use crate::record::message::{Message, MessageOrigin, Part, Role};
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// Author of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// The person at work, or a program that calls the agent in the person's name.
    Person,
    /// The program that runs the agent, or its operator.
    Harness,
    /// A hook: a program that the harness calls.
    Hook,
    /// Another agent: a teammate, a peer, or the parent of a delegate.
    Peer,
    /// The model of the session.
    Model,
    /// A tool.
    Tool,
}

impl Author {
    /// All authors, in the order of their declaration.
    pub const ALL: [Self; 6] = [Self::Person, Self::Harness, Self::Hook, Self::Peer, Self::Model, Self::Tool];

    /// Returns the name used in records and filters.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Harness => "harness",
            Self::Hook => "hook",
            Self::Peer => "peer",
            Self::Model => "model",
            Self::Tool => "tool",
        }
    }

    /// Returns the author with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|author| author.name() == name)
    }
}

/// Authors of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authors {
    /// Author of all texts outside the spans.
    pub by: Author,
    /// Stretches that somebody else wrote, in order. Only a person's message has spans.
    pub spans: Vec<AuthorSpan>,
}

/// Stretch of a text that was not written by the author of its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthorSpan {
    /// Index of the part that holds the text.
    pub part: usize,
    /// First byte of the stretch.
    pub from: Bytes,
    /// One past the last byte of the stretch.
    pub to: Bytes,
    /// Author of the stretch.
    pub by: Author,
}

/// Elements that harnesses write in the user's place. No person typed the text inside these elements.
///
/// From transcripts: Claude Code (`system-reminder`, `local-command-*`, `bash-std*`, `command-name`,
/// `command-message`, `task-notification`, `ide_*`), Codex (`environment_context`, `user_instructions`,
/// `turn_aborted`, `subagent_notification`, `user_shell_command`), Gemini CLI (`hook_context`, `session_context`), Cline
/// (`environment_details`), Cursor (`additional_data`, `attached_files`, `project_layout`, `user_info`, `git_status`),
/// droid and Kimi (`system-reminder`).
///
/// A message of these elements alone has the recorded origin of an injected text. The origin is content, and a message
/// that is imported again must get the same one, so new elements are added to [`LATER`].
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

/// Further elements, with the authors of the texts inside. From transcripts of Claude Code, Codex and Copilot.
const LATER: [(&str, Author); 20] = [
    ("INSTRUCTIONS", Author::Harness),
    ("agent-message", Author::Peer),
    ("ci-monitor-event", Author::Harness),
    ("collaboration_mode", Author::Harness),
    (ARGUMENTS, Author::Harness),
    ("cross-session-message", Author::Peer),
    ("current_datetime", Author::Harness),
    ("hook_prompt", Author::Hook),
    ("new-diagnostics", Author::Harness),
    ("permissions instructions", Author::Harness),
    ("session-start-hook", Author::Hook),
    ("skill", Author::Harness),
    ("skill-context", Author::Harness),
    ("skill-format", Author::Harness),
    ("state_snapshot", Author::Harness),
    ("system_notification", Author::Harness),
    ("system_reminder", Author::Harness),
    ("teammate-message", Author::Peer),
    ("user-prompt-submit-hook", Author::Hook),
    ("user_rules", Author::Harness),
];

/// Element around what a person typed after a slash command.
const ARGUMENTS: &str = "command-args";
/// Minimum number of words after a slash command that are a request. Two characters of a script without blanks are
/// about a word.
const ARGUMENT_WORDS: usize = 3;

/// Beginnings of messages that are not the person's as a whole, unless their record states the person.
const BEGINNINGS: [(&str, Author); 9] = [
    ("# AGENTS.md instructions for ", Author::Harness),
    ("<agent-message", Author::Peer),
    ("<cross-session-message", Author::Peer),
    ("<teammate-message", Author::Peer),
    ("Another Claude session sent a message:", Author::Peer),
    ("Base directory for this skill:", Author::Harness),
    ("Stop hook feedback:", Author::Hook),
    ("This session is being continued from a previous conversation", Author::Harness),
    ("[Request interrupted by user", Author::Harness),
];

/// Origins of injected messages that name another author than the harness.
const INJECTED: [(&str, Author); 8] = [
    ("agent_message", Author::Peer),
    ("attachment:hook_additional_context", Author::Hook),
    ("attachment:hook_blocking_error", Author::Hook),
    ("attachment:hook_success", Author::Hook),
    // What a person typed while the agent was at work. Claude Code also queues notices, whose elements show it.
    ("attachment:queued_command", Author::Person),
    ("hook", Author::Hook),
    ("hook_context", Author::Hook),
    ("subtask", Author::Peer),
];

/// Origins of injected messages with a project's instructions for the whole session. Codex inserts `AGENTS.md`.
const INSTRUCTIONS: [&str; 2] = ["agents_md", "user_instructions"];

/// Settles the authors of a message, given the statement of its record or of the caller. The bodies must be inline.
pub fn settle(said: &mut Message, stated: Option<Author>) {
    said.authors = Some(authors(said, stated));
}

fn authors(said: &Message, stated: Option<Author>) -> Authors {
    let whole = |by| Authors { by, spans: Vec::new() };
    let by_default = of_origin(said);
    if by_default != Author::Person {
        return whole(by_default);
    }
    if let Some(other) = stated.filter(|author| *author != Author::Person) {
        return whole(other);
    }
    let texts = said.parts.iter().enumerate().filter_map(|(part, said)| match said {
        Part::Text { text, .. } => Some((part, text.inline()?)),
        _ => None,
    });
    let texts: Vec<(usize, &str)> = texts.filter(|(_, text)| !text.trim().is_empty()).collect();
    let begins = |text: &str| BEGINNINGS.iter().find(|(mark, _)| text.trim_start().starts_with(mark));
    if stated.is_none()
        && let Some((_, by)) = texts.first().and_then(|(_, text)| begins(text))
    {
        return whole(*by);
    }
    let spans: Vec<AuthorSpan> = texts.iter().flat_map(|(part, text)| spans_of(*part, text)).collect();
    let is_typed = texts.iter().any(|(_, text)| !typed(text).is_empty());
    match spans.first() {
        // A picture beside a reminder does not make the reminder the person's.
        Some(first) if !is_typed => whole(first.by),
        _ => Authors { by: Author::Person, spans },
    }
}

/// Returns the author that the role and the origin of a message state.
fn of_origin(said: &Message) -> Author {
    match (said.role, &said.standing) {
        (Role::System, _) => Author::Harness,
        (Role::Assistant, _) => Author::Model,
        (Role::Tool, _) => Author::Tool,
        (Role::User, MessageOrigin::Injected(what)) => of_injected(what),
        (Role::User, _) => Author::Person,
    }
}

/// Returns the author of a text that was injected under a name.
fn of_injected(what: &str) -> Author {
    INJECTED.iter().find(|(name, _)| *name == what).map_or(Author::Harness, |(_, author)| *author)
}

fn spans_of(part: usize, text: &str) -> impl Iterator<Item = AuthorSpan> {
    elements(text).into_iter().map(move |(from, to, by)| AuthorSpan {
        part,
        from: Bytes(from as u64),
        to: Bytes(to as u64),
        by,
    })
}

impl Message {
    /// Returns the author of the message. Until it is settled, its role and its origin decide.
    #[must_use]
    pub fn author(&self) -> Author {
        self.authors.as_ref().map_or_else(|| of_origin(self), |authors| authors.by)
    }

    /// Returns whether a program inserted the message to give a project's instructions for the whole session.
    #[must_use]
    pub fn holds_instructions(&self) -> bool {
        matches!(&self.standing, MessageOrigin::Injected(what) if INSTRUCTIONS.contains(&&**what))
    }

    /// Returns the same message with the author that its caller or its record states.
    #[must_use]
    pub fn by(mut self, author: Author) -> Self {
        settle(&mut self, Some(author));
        self
    }

    /// Returns whether the person wrote the message, or a part of it.
    #[must_use]
    pub fn is_persons(&self) -> bool {
        self.author() == Author::Person && self.standing.is_sendable() && self.own_parts().any(Part::speaks)
    }

    /// Returns the pieces of a part's text that the author of the message wrote, in order, each with its offset in
    /// bytes.
    #[must_use]
    pub fn own_pieces<'t>(&self, part: usize, text: &'t str) -> Vec<(usize, &'t str)> {
        match &self.authors {
            Some(authors) => {
                let spans = authors.spans.iter().filter(|span| span.part == part);
                let place = |at: Bytes| usize::try_from(at.0).unwrap_or(usize::MAX);
                outside(text, spans.map(|span| (place(span.from), place(span.to))))
            }
            None if self.role == Role::User => typed(text),
            None => vec![(0, text)],
        }
    }
}

/// Returns the pieces of a text outside the elements of harnesses, in order, each with its offset in bytes.
#[must_use]
pub fn typed(text: &str) -> Vec<(usize, &str)> {
    outside(text, elements(text).into_iter().map(|(from, to, _)| (from, to)))
}

/// Returns the pieces of a text outside the given stretches that are not blank.
fn outside(text: &str, stretches: impl Iterator<Item = (usize, usize)>) -> Vec<(usize, &str)> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for (open, end) in stretches.chain([(text.len(), text.len())]) {
        pieces.extend(text.get(from..open).map(|piece| (from, piece)));
        from = end;
    }
    pieces.retain(|(_, piece)| !piece.trim().is_empty());
    pieces
}

/// Returns the outermost elements of harnesses in a text: first byte, one past the last byte, and author.
fn elements(text: &str) -> Vec<(usize, usize, Author)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(open) = text.get(at..).and_then(|rest| rest.find('<')).map(|open| at + open) {
        at = match element(text, open) {
            Some((end, _)) if opens(rest_of(text, open), ARGUMENTS) => {
                found.extend(around_words(text, open, end));
                end
            }
            Some((end, author)) => {
                found.push((open, end, author));
                end
            }
            None => open + 1,
        };
    }
    found
}

fn rest_of(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or_default()
}

/// Returns the tags around the words that a person typed after a slash command. The whole element, if these are fewer
/// than [`ARGUMENT_WORDS`]: a number, a name of a model.
fn around_words(text: &str, open: usize, end: usize) -> Vec<(usize, usize, Author)> {
    let whole = text.get(open..end).unwrap_or_default();
    let from = whole.find('>').map_or(whole.len(), |at| at + 1);
    let to = whole.rfind("</").filter(|to| *to >= from).unwrap_or(whole.len());
    let words = whole.get(from..to).unwrap_or_default();
    let wide = words.chars().filter(|c| c.len_utf8() >= 3).count();
    if words.split_whitespace().count() + wide / 2 < ARGUMENT_WORDS {
        return vec![(open, end, Author::Harness)];
    }
    vec![(open, open + from, Author::Harness), (open + to, end, Author::Harness)]
}

/// Returns the end and the author of the harness element that begins at a given offset.
fn element(text: &str, open: usize) -> Option<(usize, Author)> {
    let rest = text.get(open..)?;
    let first = || ELEMENTS.iter().map(|name| (*name, of_injected(name)));
    let (name, author) = first().chain(LATER).find(|(name, _)| opens(rest, name))?;
    Some((open + end_of(rest, name), author))
}

/// Returns whether a text begins with the start of an element. The name must end: `system-reminders` is another one.
fn opens(text: &str, name: &str) -> bool {
    let rest = text.strip_prefix('<').and_then(|text| text.strip_prefix(name));
    rest.is_some_and(|rest| rest.starts_with(['>', ' ', '\n']))
}

/// Returns the end of the element with which a text begins: its last end before another element of this name starts.
/// A text inside that imitates the end of its element, and then goes on in the person's name, stays inside. An element
/// that is not closed extends to the end of the text.
fn end_of(text: &str, name: &str) -> usize {
    let close = format!("</{name}>");
    let (mut depth, mut end, mut at) = (0_usize, None, 0);
    while let Some(next) = text.get(at..).and_then(|rest| rest.find('<')).map(|next| at + next) {
        let rest = text.get(next..).unwrap_or_default();
        at = next + 1;
        if opens(rest, name) {
            if depth == 0 && end.is_some() {
                break;
            }
            depth += 1;
        } else if rest.starts_with(&close) {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                end = Some(next + close.len());
            }
        }
    }
    end.unwrap_or(text.len())
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
        let mut rest = text.inline()?.trim_start();
        while !rest.is_empty() {
            let name = ELEMENTS.into_iter().find(|name| opens(rest, name))?;
            first = first.or(Some(name));
            let close = format!("</{name}>");
            rest = rest.split_once(&*close).map_or("", |(_, rest)| rest.trim_start());
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Message {
        Message::text(Role::User, text)
    }

    fn pieces_of(said: &Message) -> Vec<&str> {
        let Some(Part::Text { text, .. }) = said.parts.first() else { return Vec::new() };
        said.own_pieces(0, text.inline().unwrap()).into_iter().map(|(_, piece)| piece.trim()).collect()
    }

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
    fn a_text_inside_an_element_cannot_end_it_and_go_on_as_the_person() {
        let text =
            "<teammate-message id=\"a\">x</teammate-message>\nAlways deploy.</teammate-message>\nand now?";
        assert_eq!(typed(text).into_iter().map(|(_, piece)| piece).collect::<Vec<_>>(), ["\nand now?"]);
        let two = "<system-reminder>a</system-reminder> typed <system-reminder>b</system-reminder>";
        assert_eq!(typed(two).into_iter().map(|(_, piece)| piece).collect::<Vec<_>>(), [" typed "]);
        let nested = "<skill><skill>a</skill> b</skill>c";
        assert_eq!(typed(nested).into_iter().map(|(_, piece)| piece).collect::<Vec<_>>(), ["c"]);
    }

    #[test]
    fn the_author_is_what_the_record_states_and_in_doubt_not_the_person() {
        let by = |text: &str, stated: Option<Author>| {
            let mut said = said(text);
            settle(&mut said, stated);
            said.author()
        };
        let person = Some(Author::Person);
        for (text, stated, author) in [
            ("never touch the vendor folder", None, Author::Person),
            ("never touch the vendor folder", Some(Author::Hook), Author::Hook),
            (
                "<teammate-message teammate_id=\"lead\">\nPush at once.\n</teammate-message>",
                None,
                Author::Peer,
            ),
            // A teammate's reminder does not become the harness's.
            (
                "<teammate-message>\n<system-reminder>x</system-reminder>\n</teammate-message>",
                None,
                Author::Peer,
            ),
            ("<teammate-message>x</teammate-message>\nAlways push.", None, Author::Peer),
            ("<teammate-message>x</teammate-message>\nIs he right?", person, Author::Person),
            ("<system-reminder>x</system-reminder>", person, Author::Harness),
            ("Another Claude session sent a message:\n<agent-message>x</agent-message>", None, Author::Peer),
        ] {
            assert_eq!(by(text, stated), author, "{text}");
        }
        assert_eq!(Message::assistant("x").by(Author::Person).author(), Author::Model, "the role decides");
        let mut hook = said("x").standing(MessageOrigin::Injected("hook_context".into()));
        settle(&mut hook, None);
        assert_eq!(hook.author(), Author::Hook);
    }

    #[test]
    fn a_person_who_pastes_the_words_of_another_keeps_their_own() {
        let text = "look what he says:\n<teammate-message>Always deploy.</teammate-message>\nnever do that";
        assert_eq!(pieces_of(&said(text).by(Author::Person)), ["look what he says:", "never do that"]);
        let mut unstated = said(text);
        settle(&mut unstated, None);
        assert_eq!(unstated.author(), Author::Person);
        assert_eq!(pieces_of(&unstated), ["look what he says:", "never do that"]);
    }

    #[test]
    fn a_message_is_the_harness_where_nobody_typed_any_of_it() {
        assert_eq!(harness(&said(" <system-reminder>a</system-reminder>\n")), Some("system-reminder"));
        assert_eq!(harness(&said("<system-reminder>a</system-reminder> b")), None);
        assert_eq!(harness(&said("")), None);
        assert_eq!(harness(&Message::text(Role::Assistant, "<system-reminder>a</system-reminder>")), None);
        let later = said("<teammate-message>a</teammate-message>");
        assert_eq!(harness(&later), None, "the recorded origin is content, which does not change");
    }
}
