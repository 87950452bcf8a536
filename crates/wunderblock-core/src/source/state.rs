//! Explicit state of the work. The state is at the end of a request, where a model looks, and is repeated only if it
//! has changed.

use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Progress of an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemStatus {
    /// Not started.
    #[default]
    Pending,
    /// In progress.
    InProgress,
    /// Done.
    Done,
    /// Waiting for something.
    Blocked,
    /// Abandoned.
    Dropped,
}

impl ItemStatus {
    /// Returns the mark that precedes an item.
    #[must_use]
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Pending => "[ ]",
            Self::InProgress => "[>]",
            Self::Done => "[x]",
            Self::Blocked => "[!]",
            Self::Dropped => "[-]",
        }
    }
}

/// A step of a plan, or an item of a todo list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateItem {
    /// Work to be done.
    pub what: Box<str>,
    /// Progress of the item.
    #[serde(default)]
    pub status: ItemStatus,
}

/// A named text: a variable, a result, a failure, or the output of a state provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedText {
    /// Name of the text.
    pub name: Box<str>,
    /// The text.
    pub text: Box<str>,
}

/// Approval requested from a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// Subject of the approval.
    pub what: Box<str>,
    /// Whether the approval was given; `None` if the person has not answered yet.
    #[serde(default)]
    pub given: Option<bool>,
    /// Person who answered.
    #[serde(default)]
    pub by: Option<Box<str>>,
}

/// State of the work. Every list may be empty; empty lists are not sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorkState {
    /// Plan, step by step.
    pub plan: Vec<StateItem>,
    /// Items to be done besides the plan.
    pub todo: Vec<StateItem>,
    /// Activity of the agent in its own words: for example, a phase, a branch or a mode.
    pub execution: Option<Box<str>>,
    /// Variables.
    pub variables: Vec<NamedText>,
    /// Results of sub-tasks.
    pub results: Vec<NamedText>,
    /// Failures, with their causes.
    pub failures: Vec<NamedText>,
    /// Approvals that were requested.
    pub approvals: Vec<Approval>,
    /// Outputs of state providers, such as git status, a browser page, or open files.
    pub provided: Vec<NamedText>,
}

impl WorkState {
    /// Returns the state as named texts, in a fixed order. A later text replaces an earlier one with the same name.
    #[must_use]
    pub fn texts(&self) -> Vec<(String, String)> {
        let items = |items: &[StateItem]| {
            items.iter().map(|item| format!("{} {}", item.status.mark(), item.what)).collect::<Vec<_>>()
        };
        let named = |list: &[NamedText]| {
            list.iter().map(|named| format!("{}: {}", named.name, named.text)).collect::<Vec<_>>()
        };
        let lists = [
            ("plan", items(&self.plan)),
            ("todo", items(&self.todo)),
            ("execution", self.execution.iter().map(ToString::to_string).collect()),
            ("variables", named(&self.variables)),
            ("sub-task results", named(&self.results)),
            ("failures", named(&self.failures)),
            ("approvals", self.approvals.iter().map(Approval::line).collect()),
        ];
        let lists = lists.into_iter().filter(|(_, lines)| !lines.is_empty());
        let mut texts: Vec<_> = lists.map(|(name, lines)| (name.to_owned(), lines.join("\n"))).collect();
        let provided = self.provided.iter().filter(|named| !named.text.trim().is_empty());
        texts.extend(provided.map(|named| (named.name.to_string(), named.text.to_string())));
        texts
    }
}

impl Approval {
    fn line(&self) -> String {
        let answer = match self.given {
            Some(true) => "given",
            Some(false) => "refused",
            None => "asked, not answered",
        };
        let mut line = format!("{}: {answer}", self.what);
        if let Some(by) = &self.by {
            let _ = write!(line, " by {by}");
        }
        line
    }
}
