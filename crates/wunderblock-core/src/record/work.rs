//! Work log of a lane: the agent's own todo list, the files that the agent touched, the last check of each kind, the
//! skills that the agent invoked, and the delegates at work. The log is at the tail after each compaction. Each log is made from the
//! previous log and the content appended since then.

use crate::id::{CallId, Handle, StreamId};
use crate::policy::Permille;
use crate::source::state::ItemStatus;
use crate::units::{Seq, is_default};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Work log of a lane, as of a position. Every list may be empty; empty lists are not shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkLog {
    /// Newest position from which the log was made.
    pub through: Seq,
    /// Maximum fraction of a request's limit that the text of the log takes.
    pub share: Permille,
    /// The agent's todo list, in the agent's order. Empty once all items are done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub todo: Vec<TodoItem>,
    /// Files, most recently touched first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<TouchedFile>,
    /// The last check of each family, newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<LastCheck>,
    /// Skills, most recently invoked first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<InvokedSkill>,
    /// Delegates whose work has not ended, in the order in which they began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub delegates: Vec<DelegateAtWork>,
    /// Position of the newest commit. Changes made before the newest commit are not lost if the working tree is
    /// reset.
    #[serde(skip_serializing_if = "is_default")]
    pub committed: Seq,
}

/// First and last position of the exchange that an item comes from.
pub type Span = (Seq, Seq);

/// An item of the agent's todo list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoItem {
    /// Work to be done, in the agent's words.
    pub what: Box<str>,
    /// Progress of the item.
    #[serde(default)]
    pub status: ItemStatus,
    /// Id of the item in the agent's tool; `None` if the tool has no ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Box<str>>,
    /// Position of the call that last stated the item.
    pub at: Seq,
    /// Exchange that the item comes from.
    pub span: Span,
}

/// Change to a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    /// The file was only read.
    #[default]
    Read,
    /// The file was written, and had not been seen before.
    Created,
    /// The file was changed.
    Edited,
    /// The file was moved here from elsewhere.
    Moved,
    /// The file was deleted.
    Deleted,
    /// The changes to the file were undone.
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

/// A file, with its last change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchedFile {
    /// Path of the file, as the call names it.
    pub path: Box<str>,
    /// Last change to the file.
    #[serde(default, skip_serializing_if = "is_default")]
    pub change: FileChange,
    /// Path that the file was moved from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Box<str>>,
    /// Positions of the calls that changed the file, newest first; empty if the file was only read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Seq>,
    /// Positions of the results that showed the file, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<Seq>,
    /// Exchange that the entry comes from.
    pub span: Span,
}

/// The last check of a family: for example, a test, a build or a linter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastCheck {
    /// Programs with their subcommands, without flags, for example: `cargo test`.
    pub family: Vec<Box<str>>,
    /// Whether the check failed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub failed: bool,
    /// Whether nothing proves how the check ended.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unknown: bool,
    /// Most informative line of the output; empty if no line is informative.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub told: Box<str>,
    /// Position of the result.
    pub at: Seq,
    /// Exchange that the check comes from.
    pub span: Span,
}

/// A skill the agent invoked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvokedSkill {
    /// Name of the skill.
    pub name: Box<str>,
    /// Beginning of the skill's text.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub text: Box<str>,
    /// Position of the skill's text.
    pub at: Seq,
    /// Exchange that the skill comes from.
    pub span: Span,
}

/// A delegate whose work has not ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DelegateAtWork {
    /// Type of the delegate; empty if it is unknown.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub agent: Box<str>,
    /// Beginning of the delegate's task.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub task: Box<str>,
    /// Call by which the delegate was started, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// Session of the delegate, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<StreamId>,
    /// Position of the call, or of the report of the start.
    pub at: Seq,
    /// Exchange that the delegate comes from.
    pub span: Span,
}

impl WorkLog {
    /// Returns whether the log is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let rest = self.checks.is_empty() && self.skills.is_empty() && self.delegates.is_empty();
        self.todo.is_empty() && self.files.is_empty() && rest
    }

    /// Returns whether an item of the log comes from a run of positions.
    #[must_use]
    pub fn touches(&self, from: Seq, to: Seq) -> bool {
        self.spans().any(|(first, last)| first <= to && from <= last)
    }

    fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        let todo = self.todo.iter().map(|item| item.span);
        let files = self.files.iter().map(|file| file.span);
        let checks = self.checks.iter().map(|check| check.span);
        let skills = self.skills.iter().map(|skill| skill.span);
        let delegates = self.delegates.iter().map(|delegate| delegate.span);
        todo.chain(files).chain(checks).chain(skills).chain(delegates)
    }

    /// Returns the log without the items from an exchange that contains a position.
    #[must_use]
    pub fn without(&self, at: Seq) -> Self {
        let holds = |(first, last): Span| first <= at && at <= last;
        let mut log = self.clone();
        log.todo.retain(|item| !holds(item.span));
        log.files.retain(|file| !holds(file.span));
        log.checks.retain(|check| !holds(check.span));
        log.skills.retain(|skill| !holds(skill.span));
        log.delegates.retain(|delegate| !holds(delegate.span));
        log
    }

    /// Returns the lines of the log, each with the position that it comes from; empty if the log is empty. `stream`
    /// is the session's handle.
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
        let delegates = self.delegates.iter().map(DelegateAtWork::line).collect();
        section("Delegates at work (do not start them again)", delegates);
        section("To do, the agent's own list", self.todo_lines());
        section("Files, the last touched first", self.files.iter().map(TouchedFile::line).collect());
        section("Last checks", self.checks.iter().map(LastCheck::line).collect());
        section("Skills in use", self.skills.iter().map(InvokedSkill::line).collect());
        if !text.is_empty() {
            let _ = write!(text, "#N is a position, read as {stream}#N.");
        }
        text
    }

    /// Returns the lines of the todo list, in order. Items that are done are counted, not listed.
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
    /// Returns the position at which the file was last touched.
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
    /// Returns the check in one line, with its position.
    #[must_use]
    pub fn line(&self) -> String {
        let outcome = match (self.failed, self.unknown) {
            (true, _) => "failed",
            (false, true) => "outcome not known",
            (false, false) => "ok",
        };
        let told = if self.told.is_empty() { String::new() } else { format!(": \"{}\"", self.told) };
        format!("- {} → {outcome}{told} #{}", self.family.join(", "), self.at)
    }
}

impl DelegateAtWork {
    /// Returns the delegate in one line, with its position.
    #[must_use]
    pub fn line(&self) -> String {
        let agent = if self.agent.is_empty() { "delegate" } else { &self.agent };
        let task = if self.task.is_empty() { String::new() } else { format!(": \"{}\"", self.task) };
        format!("- {agent}{task} #{}", self.at)
    }
}

impl InvokedSkill {
    fn line(&self) -> String {
        let text = if self.text.is_empty() { String::new() } else { format!(": \"{}\"", self.text) };
        format!("- {} #{}{text}", self.name, self.at)
    }
}
