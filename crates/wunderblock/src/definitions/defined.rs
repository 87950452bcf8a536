//! All definitions of a machine.

use super::found::DefinitionRemark;
use std::collections::BTreeMap;
use wunderblock_core::delegate::command::CommandDefinition;
use wunderblock_core::delegate::registry::Registry;

/// Definitions of a machine.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    /// Definitions in force by product. Each product also has the built-in ones.
    pub products: BTreeMap<Box<str>, Registry>,
    /// Slash commands and skills in force by product, if the query asks for them. The products' own are not among them.
    pub commands: BTreeMap<Box<str>, Registry<CommandDefinition>>,
    /// Remarks on what does not count.
    pub remarks: Vec<DefinitionRemark>,
}
