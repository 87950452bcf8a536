//! The state of the work, said explicitly: it stands at the end of a request, where a model looks, and is said again only
//! when it has changed.

use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// How far something is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemStatus {
    /// Not begun.
    #[default]
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Done,
    /// Waits for something.
    Blocked,
    /// Given up.
    Dropped,
}

impl ItemStatus {
    /// The mark that stands before an item.
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

/// A step of a plan, or a thing to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateItem {
    /// What is to be done.
    pub what: Box<str>,
    /// How far it is.
    #[serde(default)]
    pub status: ItemStatus,
}

/// Something that has a name and a text: a variable, a result, a failure, what a provider of state says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedText {
    /// Its name.
    pub name: Box<str>,
    /// What it is.
    pub text: Box<str>,
}

/// Something a person was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// What for.
    pub what: Box<str>,
    /// Whether it was given; not yet answered if none.
    #[serde(default)]
    pub given: Option<bool>,
    /// By whom.
    #[serde(default)]
    pub by: Option<Box<str>>,
}

/// Where the work stands. Every list may be empty; what is empty is not said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorkState {
    /// The plan, step by step.
    pub plan: Vec<StateItem>,
    /// What is still to be done beside it.
    pub todo: Vec<StateItem>,
    /// What the agent is executing, in its own words: a phase, a branch, a mode.
    pub execution: Option<Box<str>>,
    /// Variables.
    pub variables: Vec<NamedText>,
    /// What sub-tasks have come to.
    pub results: Vec<NamedText>,
    /// What failed, and how.
    pub failures: Vec<NamedText>,
    /// What was asked and answered.
    pub approvals: Vec<Approval>,
    /// What providers of state say: git status, a browser's page, open files.
    pub provided: Vec<NamedText>,
}

impl WorkState {
    /// The state as texts, each under the name that a later text of the same name replaces. In a fixed order.
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
