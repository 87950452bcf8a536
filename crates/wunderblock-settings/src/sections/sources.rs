//! `[sources]`: files that enter every request, and providers of state.

use super::{InvalidValue, Section};
use serde::Deserialize;
use std::path::PathBuf;

/// Files that enter every request. If a key is unset, the session keeps its recorded value.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SourceFiles {
    /// Safety policy.
    pub safety: Vec<PathBuf>,
    /// System text, placed after the transcript's own.
    pub system: Vec<PathBuf>,
    /// Memory that every request contains.
    pub memory: Vec<PathBuf>,
    /// Directories of skills.
    pub skills: Vec<PathBuf>,
    /// Tools to declare.
    pub tools: Option<PathBuf>,
    /// List of resources.
    pub resources: Option<PathBuf>,
    /// State of the work.
    pub state: Option<PathBuf>,
    /// Commands whose output is state.
    pub providers: Vec<Provider>,
}

/// A provider of state, as the settings file describes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// Name of the state.
    pub name: String,
    /// Program with its arguments.
    pub command: Vec<String>,
}

impl Provider {
    /// Returns whether the provider has a name and a command.
    pub(crate) fn is_complete(&self) -> bool {
        !self.name.trim().is_empty() && self.command.first().is_some_and(|program| !program.is_empty())
    }
}

impl Section for SourceFiles {
    const NAME: &'static str = "sources";
    const MAX_KEYS: usize = 8;

    fn invalid(&self) -> Option<InvalidValue> {
        let provider = self.providers.iter().find(|provider| !provider.is_complete())?;
        let why = format!("the provider `{}` needs a name and a command", provider.name);
        Some(InvalidValue { key: "providers", why })
    }

    fn paths(&mut self) -> Vec<&mut PathBuf> {
        let one = [&mut self.tools, &mut self.resources, &mut self.state].into_iter().flatten();
        let many = [&mut self.safety, &mut self.system, &mut self.memory, &mut self.skills];
        one.chain(many.into_iter().flatten()).collect()
    }
}
