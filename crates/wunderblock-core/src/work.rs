//! What a lane's work has come to: the agent's own list of what is to do, the files it touched, the last check of each
//! kind, the skills it invoked. It stands at the tail after each compaction, and each is made from the one before and what
//! has been appended since.

use crate::id::Handle;
use crate::policy::Permille;
use crate::state::ItemStatus;
use crate::units::{Seq, is_default};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// What a lane's work has come to, as of a position. Every list may be empty; what is empty is not said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkLog {
    /// The newest position it was made from.
    pub through: Seq,
    /// The part of a request's limit that its text may take.
    pub share: Permille,
    /// The agent's list, in its order. Empty once all of it is done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub todo: Vec<TodoItem>,
    /// Files, the one touched last first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<TouchedFile>,
    /// The last check of each family, the newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<LastCheck>,
    /// Skills, the one invoked last first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<InvokedSkill>,
    /// Where the newest commit was recorded: what was changed before it is not taken back with the working tree.
    #[serde(skip_serializing_if = "is_default")]
    pub committed: Seq,
}

/// The positions of the exchange something was taken from: first and last.
pub type Span = (Seq, Seq);

/// A thing to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoItem {
    /// What, in the agent's words.
    pub what: Box<str>,
    /// How far it is.
    #[serde(default)]
    pub status: ItemStatus,
    /// What the agent's tool calls it; none where it has no names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Box<str>>,
    /// The call that said so last.
    pub at: Seq,
    /// Its exchange.
    pub span: Span,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    /// It was looked at only.
    #[default]
    Read,
    /// It was written, and nothing had been seen of it before.
    Created,
    /// It was changed.
    Edited,
    /// It was moved here from elsewhere.
    Moved,
    /// It was deleted.
    Deleted,
    /// Its changes were taken back.
    Reverted,
}

impl FileChange {
    const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Created => "created",
            Self::Edited => "edited",
            Self::Moved => "moved",
            Self::Deleted => "deleted",
            Self::Reverted => "reverted",
        }
    }
}

/// A file, and what became of it last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchedFile {
    /// Its path, as the call names it.
    pub path: Box<str>,
    /// What became of it last.
    #[serde(default, skip_serializing_if = "is_default")]
    pub change: FileChange,
    /// Where it was moved from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Box<str>>,
    /// The calls that changed it, the newest first; none if it was looked at only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Seq>,
    /// The results that showed it, the newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<Seq>,
    /// Its exchange.
    pub span: Span,
}

/// The last check of a family: a test, a build, a linter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastCheck {
    /// The programs and what they were told to do, without flags: `cargo test`.
    pub family: Vec<Box<str>>,
    /// Whether it failed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub failed: bool,
    /// The line of its output that says most; empty if none does.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub told: Box<str>,
    /// The result.
    pub at: Seq,
    /// Its exchange.
    pub span: Span,
}

/// A skill the agent invoked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvokedSkill {
    /// Its name.
    pub name: Box<str>,
    /// The beginning of its text.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub text: Box<str>,
    /// Where its text stands.
    pub at: Seq,
    /// Its exchange.
    pub span: Span,
}

impl WorkLog {
    /// Whether it says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.todo.is_empty() && self.files.is_empty() && self.checks.is_empty() && self.skills.is_empty()
    }

    /// Whether something in it was taken from a run of positions.
    #[must_use]
    pub fn touches(&self, from: Seq, to: Seq) -> bool {
        self.spans().any(|(first, last)| first <= to && from <= last)
    }

    fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        let todo = self.todo.iter().map(|item| item.span);
        let files = self.files.iter().map(|file| file.span);
        let checks = self.checks.iter().map(|check| check.span);
        todo.chain(files).chain(checks).chain(self.skills.iter().map(|skill| skill.span))
    }

    /// The same without what was taken from an exchange that holds a position.
    #[must_use]
    pub fn without(&self, at: Seq) -> Self {
        let holds = |(first, last): Span| first <= at && at <= last;
        let mut log = self.clone();
        log.todo.retain(|item| !holds(item.span));
        log.files.retain(|file| !holds(file.span));
        log.checks.retain(|check| !holds(check.span));
        log.skills.retain(|skill| !holds(skill.span));
        log
    }

    /// The log in lines, each with the position it is from; `stream` is the session's handle. Empty if it says nothing.
    #[must_use]
    pub fn text(&self, stream: Handle) -> String {
        let mut text = String::new();
        let mut section = |title: &str, lines: Vec<String>| {
            if !lines.is_empty() {
                let _ = writeln!(text, "{title}:");
                lines.iter().for_each(|line| {
                    let _ = writeln!(text, "{line}");
                });
            }
        };
        section("To do, the agent's own list", self.todo_lines());
        section("Files, the last touched first", self.files.iter().map(TouchedFile::line).collect());
        section("Last checks", self.checks.iter().map(LastCheck::line).collect());
        section("Skills in use", self.skills.iter().map(InvokedSkill::line).collect());
        if !text.is_empty() {
            let _ = write!(text, "#N is a position, read as {stream}#N.");
        }
        text
    }

    /// The items in their order. What is done is counted, not told.
    fn todo_lines(&self) -> Vec<String> {
        let is_done = |item: &&TodoItem| item.status == ItemStatus::Done;
        let done = self.todo.iter().filter(is_done).count();
        let open = self.todo.iter().filter(|item| !is_done(item));
        let mut lines: Vec<String> =
            open.map(|item| format!("{} {} #{}", item.status.mark(), item.what, item.at)).collect();
        if done > 0 {
            lines.insert(0, format!("{} {done} done", ItemStatus::Done.mark()));
        }
        lines
    }
}

impl TouchedFile {
    /// Where it was touched last.
    #[must_use]
    pub fn touched(&self) -> Seq {
        self.changes.first().max(self.shown.first()).copied().unwrap_or_default()
    }

    fn line(&self) -> String {
        let mut line = format!("- {} ", self.change.word());
        if let Some(from) = self.from.as_deref().filter(|_| self.change == FileChange::Moved) {
            let _ = write!(line, "{from} → ");
        }
        line.push_str(&self.path);
        let mut places = |places: &[Seq]| {
            places.iter().for_each(|at| {
                let _ = write!(line, " #{at}");
            });
        };
        places(&self.changes);
        places(&self.shown);
        line
    }
}

impl LastCheck {
    fn line(&self) -> String {
        let outcome = if self.failed { "failed" } else { "ok" };
        let told = if self.told.is_empty() { String::new() } else { format!(": \"{}\"", self.told) };
        format!("- {} → {outcome}{told} #{}", self.family.join(", "), self.at)
    }
}

impl InvokedSkill {
    fn line(&self) -> String {
        let text = if self.text.is_empty() { String::new() } else { format!(": \"{}\"", self.text) };
        format!("- {} #{}{text}", self.name, self.at)
    }
}
