//! `[compaction]`: when and how lanes are compacted.

use super::{InvalidValue, Section};
use serde::Deserialize;
use wunderblock::policy::DEFAULT;

/// Name of the summarizer that needs no model.
pub const EXTRACTIVE: &str = "extractive";

/// Settings of compactions: when and how lanes are compacted.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Compaction {
    /// Name of a preset, or path of a policy file.
    pub policy: Option<String>,
    /// `extractive`, a model's name, or `command:PROG`.
    pub summarizer: Option<String>,
    /// Base URL at which the summarizing model is called.
    pub base_url: Option<String>,
    /// Programs that run before or after a compaction.
    pub hooks: Vec<HookFile>,
}

/// A hook as the settings file describes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookFile {
    /// When the hook runs.
    pub when: When,
    /// Program with its arguments.
    pub command: Vec<String>,
}

/// Time at which a hook runs, relative to the compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// Before the compaction, which the hook can prevent.
    Before,
    /// After the compaction.
    After,
}

/// The policy and the writer of summaries, as a caller gives them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompactionChoice {
    /// Name of a preset, or path of a policy file.
    pub policy: Option<String>,
    /// `extractive`, a model's name, or `command:PROG`.
    pub summarizer: Option<String>,
}

impl Compaction {
    /// Returns the policy that the caller chose, or else that of the section, or else the default.
    pub(crate) fn policy<'a>(&'a self, choice: &'a CompactionChoice) -> &'a str {
        choice.policy.as_deref().or(self.policy.as_deref()).unwrap_or(DEFAULT)
    }

    /// Returns the writer of summaries that the caller chose, or else that of the section, or else the default.
    pub(crate) fn summarizer<'a>(&'a self, choice: &'a CompactionChoice) -> &'a str {
        choice.summarizer.as_deref().or(self.summarizer.as_deref()).unwrap_or(EXTRACTIVE)
    }
}

impl Section for Compaction {
    const NAME: &'static str = "compaction";
    const MAX_KEYS: usize = 4;

    fn invalid(&self) -> Option<InvalidValue> {
        let is_empty = |hook: &HookFile| hook.command.first().is_none_or(|program| program.trim().is_empty());
        let why = "a hook has no command to run".to_owned();
        self.hooks.iter().any(is_empty).then_some(InvalidValue { key: "hooks", why })
    }
}
