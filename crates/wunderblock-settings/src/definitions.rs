//! Finds the definitions of delegates, commands and skills that count in a folder.

use crate::error::SettingsError;
use crate::home::{places, working_folder};
use crate::settings::Settings;
use std::path::{Path, PathBuf};
use wunderblock::AgentType;
use wunderblock::definitions::{DefinitionCache, DefinitionQuery, PRODUCTS, definitions};
use wunderblock_core::delegate::filter::Conditions;

/// Folder of the system's settings.
const SYSTEM: &str = "/etc";
/// Variable with the model of all delegates, as in Claude Code.
const VARIABLE: &str = "CLAUDE_CODE_SUBAGENT_MODEL";

/// Where definitions are looked for, as a caller chooses it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DefinitionChoice {
    /// Product whose definitions count. If unset, those of all products.
    pub product: Option<String>,
    /// Files with definitions, in addition to the usual places.
    pub define: Vec<PathBuf>,
}

/// Returns where the definitions of a folder are looked for, without those of commands and skills.
///
/// # Errors
/// Fails if the product is unknown, if a file is missing, or if there is no home directory.
pub fn definition_query(choice: &DefinitionChoice, folder: &Path) -> Result<DefinitionQuery, SettingsError> {
    let products = match choice.product.as_deref() {
        None => Vec::new(),
        Some(product) if PRODUCTS.contains(&product) => vec![product.into()],
        Some(product) => {
            let text = format!("unknown product `{product}`; known are {}", PRODUCTS.join(", "));
            return Err(SettingsError::value(text));
        }
    };
    if let Some(missing) = choice.define.iter().find(|path| !path.is_file()) {
        return Err(SettingsError::value(format!("{}: no such file", missing.display())));
    }
    let (places, system, given) = (places(Vec::new())?, SYSTEM.into(), choice.define.clone());
    Ok(DefinitionQuery { places, system, folder: folder.to_owned(), products, commands: false, given })
}

/// Returns the agent types of a product that a request lists: those that may be used in a folder, or else here.
pub(crate) fn agent_types(
    settings: &Settings,
    product: &str,
    folder: Option<&Path>,
) -> Result<Vec<AgentType>, SettingsError> {
    let choice = DefinitionChoice { product: Some(product.to_owned()), define: Vec::new() };
    let folder = folder.map_or_else(working_folder, |folder| Ok(folder.to_owned()))?;
    let found = definitions(&definition_query(&choice, &folder)?, &DefinitionCache::default());
    let (rules, all) = (settings.delegate_rules()?, Conditions::default());
    let offered = found.products.values().flat_map(|registry| rules.offered(registry, &all).0);
    Ok(offered.filter(|one| !one.hidden).map(AgentType::from).collect())
}

/// Returns the value of the environment variable with the model of delegates.
#[must_use]
pub fn delegate_model() -> Option<String> {
    std::env::var(VARIABLE).ok()
}
