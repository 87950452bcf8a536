//! Resolves the policy, the writer of summaries and the hooks of compactions.

use crate::error::SettingsError;
use crate::input::read;
use crate::sections::compaction::{CompactionChoice, EXTRACTIVE, When};
use crate::settings::Settings;
use std::path::Path;
use std::sync::Arc;
use wunderblock::model::{ApiKey, Client, Endpoint, ModelLimits};
use wunderblock::policy::Policies;
use wunderblock::summarize::{CommandSummariser, ModelSummariser, Summarise};
use wunderblock::{Compactor, Hook};
use wunderblock_core::message::Dialect;
use wunderblock_core::policy::Policy;
use wunderblock_core::units::Millis;

/// Maximum run time of a hook.
const HOOK_TIME: Millis = Millis(30_000);

/// Returns the policy, the summarizer and the hooks of compactions.
pub(crate) fn compactor(settings: &Settings, choice: &CompactionChoice) -> Result<Compactor, SettingsError> {
    let file = &settings.file.compaction;
    let hooks = file.hooks.iter().map(|hook| Hook {
        argv: hook.command.clone(),
        before: hook.when == When::Before,
        time: HOOK_TIME,
    });
    Ok(Compactor {
        policy: policy(file.policy(choice))?,
        summariser: summariser(settings, file.summarizer(choice))?,
        hooks: hooks.collect(),
        background: false,
    })
}

/// Returns the preset with the given name, or the policy in the given file.
///
/// # Errors
/// Fails if there is neither, or if the file has no valid policy.
pub fn policy(name: &str) -> Result<Arc<Policy>, SettingsError> {
    let policies = Policies::embedded();
    if let Some(preset) = policies.preset(name) {
        return Ok(preset);
    }
    let path = Path::new(name);
    if path.is_file() || name.contains(['/', '\\']) || name.ends_with(".toml") {
        let parsed =
            policies.parse(&read(path)?, name).map_err(|error| SettingsError::value(error.to_string()))?;
        return Ok(Arc::new(parsed.policy));
    }
    policies.named(name).map_err(|error| SettingsError::value(error.to_string()))
}

fn summariser(settings: &Settings, who: &str) -> Result<Option<Arc<dyn Summarise>>, SettingsError> {
    if who == EXTRACTIVE {
        return Ok(None);
    }
    if let Some(command) = CommandSummariser::parse(who) {
        return Ok(Some(Arc::new(command.map_err(SettingsError::Value)?)));
    }
    let unusable = |why| SettingsError::Summarizer { who: who.to_owned(), why };
    let config = settings.config();
    let found = config.catalog.lookup(who);
    let base = settings.file.compaction.base_url.clone().unwrap_or_default();
    if !found.known && base.is_empty() {
        return Err(unusable(format!(
            "unknown model; expected `{EXTRACTIVE}`, a model of the catalog, or command:PROG; for another model, set \
             base_url in [compaction] of the settings file"
        )));
    }
    let dialect = found.row.dialect;
    let variable = match dialect {
        Dialect::Anthropic => "ANTHROPIC_API_KEY",
        Dialect::Gemini => "GEMINI_API_KEY",
        _ => "OPENAI_API_KEY",
    };
    let key = std::env::var(variable).ok().filter(|key| !key.trim().is_empty());
    if key.is_none() && base.is_empty() {
        return Err(unusable(format!("missing API key; set {variable}")));
    }
    let mut endpoint = Endpoint::new(dialect, key.as_deref().map(ApiKey::new));
    endpoint.base_url = base;
    let client = Client::new(&endpoint, ModelLimits::default(), Arc::clone(&config.redactor));
    let client = client.map_err(|error| unusable(error.to_string()))?;
    Ok(Some(Arc::new(ModelSummariser::new(client, &config.catalog, who, (config.clock)()))))
}
