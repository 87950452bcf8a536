//! Definitions as they are found, before they are sorted by layers.

use super::inputs::Inputs;
use std::path::{Path, PathBuf};
use wunderblock_core::delegate::definition::AgentDefinition;

/// Remark on a file or a field that does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    pub(super) remarks: Vec<DefinitionRemark>,
    /// Files that definitions in other files refer to. Such a file may also be in a folder of definitions, where it does
    /// not count again.
    pub(super) referenced: Vec<PathBuf>,
    /// Files and folders that were looked at.
    pub(super) inputs: Inputs,
}

impl FoundDefinitions {
    pub(super) fn remark(&mut self, place: &Path, detail: String) {
        self.remarks.push(DefinitionRemark { place: place.to_string_lossy().into(), line: None, detail });
    }
}
