//! Definitions as they are found, before they are sorted by layers.

use super::inputs::Inputs;
use std::path::{Path, PathBuf};
use wunderblock_core::delegate::command::CommandDefinition;
use wunderblock_core::delegate::definition::AgentDefinition;
use wunderblock_core::delegate::tools::ToolPattern;

/// Remark on a file or a field that does not count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DefinitionRemark {
    /// Path of the file.
    pub place: Box<str>,
    /// Line of the file, if it is known.
    pub line: Option<u64>,
    /// Reason.
    pub detail: String,
}

/// Definitions of all layers, with remarks.
#[derive(Debug, Default)]
pub(super) struct FoundDefinitions {
    pub(super) definitions: Vec<AgentDefinition>,
    pub(super) commands: Vec<CommandDefinition>,
    /// Rules of the settings of Claude Code that deny types of delegates.
    pub(super) denied: Vec<ToolPattern>,
    pub(super) remarks: Vec<DefinitionRemark>,
    /// Files that definitions in other files refer to. Such a file may also be in a folder of definitions, where it does
    /// not count again.
    pub(super) referenced: Vec<PathBuf>,
    /// Files and folders that were looked at.
    pub(super) inputs: Inputs,
}

impl FoundDefinitions {
    pub(super) fn remark(&mut self, place: &Path, detail: String) {
        self.remark_line(&place.to_string_lossy(), None, detail);
    }

    pub(super) fn remark_line(&mut self, place: &str, line: Option<u64>, detail: String) {
        self.remarks.push(DefinitionRemark { place: place.into(), line, detail });
    }

    /// Returns whether a product already has a command or a skill of a name.
    pub(super) fn has_command(&self, product: &str, name: &str) -> bool {
        self.commands.iter().any(|one| &*one.origin.product == product && &*one.name == name)
    }
}
