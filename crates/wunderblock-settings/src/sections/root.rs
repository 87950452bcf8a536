//! The keys before the first table, and the whole of a settings file.

use super::Section;
use super::compaction::Compaction;
use super::context::Context;
use super::embedder::EmbedderKeys;
use super::scope::ScopeKeys;
use super::sources::SourceFiles;
use serde::Deserialize;
use std::path::PathBuf;
use wunderblock::sources::InstructionRules;
use wunderblock_core::allocate::Shares;

/// Content of the settings file. Every key is optional; `docs/config.toml` lists all keys with their defaults.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Path of the ledger.
    pub db: Option<PathBuf>,
    /// Tenant whose data is used.
    pub tenant: Option<String>,
    /// Path of a model catalog that overrides the embedded one.
    pub models: Option<PathBuf>,
    /// Path of a file with rules for delegates and their models.
    pub agents: Option<PathBuf>,
    /// Path of a file with additional rules for detecting secrets.
    pub secrets: Option<PathBuf>,
    /// Whose data a program records and sees.
    #[serde(default)]
    pub scope: ScopeKeys,
    /// Model that embeds texts of chosen scopes.
    #[serde(default)]
    pub embedder: EmbedderKeys,
    /// Defaults of the options of a request.
    #[serde(default)]
    pub context: Context,
    /// Files that enter every request.
    #[serde(default)]
    pub sources: SourceFiles,
    /// Rules for which instruction files are used.
    #[serde(default)]
    pub instructions: InstructionRules,
    /// Limits on the share of the budget that each section of a request may take.
    #[serde(default)]
    pub budget: Shares,
    /// Settings of compactions.
    #[serde(default)]
    pub compaction: Compaction,
}

/// The keys before the first table; the paths are those of the whole file.
impl Section for File {
    const NAME: &'static str = "";
    const MAX_KEYS: usize = 5;

    fn paths(&mut self) -> Vec<&mut PathBuf> {
        let own = [&mut self.db, &mut self.models, &mut self.agents, &mut self.secrets];
        let mut paths: Vec<&mut PathBuf> = own.into_iter().flatten().collect();
        paths.extend(self.context.paths());
        paths.extend(self.sources.paths());
        paths.extend(self.instructions.paths());
        paths.extend(self.budget.paths());
        paths.extend(self.compaction.paths());
        paths
    }
}
