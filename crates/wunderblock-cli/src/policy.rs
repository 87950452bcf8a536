//! Resolves `--policy` and `--summarizer`. A flag overrides the settings file, which overrides the default.

use crate::args::PolicyArgs;
use crate::config::When;
use crate::exit::{Failure, wrong};
use crate::input::read;
use crate::settings::Settings;
use std::path::Path;
use std::sync::Arc;
use wunderblock::model::{ApiKey, Client, Endpoint, ModelLimits};
use wunderblock::policy::{DEFAULT, Policies};
use wunderblock::summarize::{CommandSummariser, ModelSummariser, Summarise};
use wunderblock::{Compactor, Hook};
use wunderblock_core::message::Dialect;
use wunderblock_core::policy::Policy;
use wunderblock_core::units::Millis;

/// Name of the summarizer that needs no model.
pub(crate) const EXTRACTIVE: &str = "extractive";
/// Maximum run time of a hook.
const HOOK_TIME: Millis = Millis(30_000);

/// Returns the policy, the summarizer and the hooks of compactions.
pub(crate) fn compactor(settings: &Settings, typed: &PolicyArgs) -> Result<Compactor, Failure> {
    let file = &settings.file.compaction;
    let name = typed.policy.as_deref().or(file.policy.as_deref()).unwrap_or(DEFAULT);
    let who = typed.summarizer.as_deref().or(file.summarizer.as_deref()).unwrap_or(EXTRACTIVE);
    let hooks = file.hooks.iter().map(|hook| Hook {
        argv: hook.command.clone(),
        before: hook.when == When::Before,
        time: HOOK_TIME,
    });
    Ok(Compactor {
        policy: policy(name)?,
        summariser: summariser(settings, who)?,
        hooks: hooks.collect(),
        background: false,
    })
}

/// Returns the preset with the given name, or the policy in the given file.
pub(crate) fn policy(name: &str) -> Result<Arc<Policy>, Failure> {
    let policies = Policies::embedded();
    if let Some(preset) = policies.preset(name) {
        return Ok(preset);
    }
    let path = Path::new(name);
    if path.is_file() || name.contains(['/', '\\']) || name.ends_with(".toml") {
        let parsed = policies.parse(&read(path)?, name).map_err(|error| wrong(error.to_string()))?;
        return Ok(Arc::new(parsed.policy));
    }
    policies.named(name).map_err(|error| wrong(error.to_string()))
}

fn summariser(settings: &Settings, who: &str) -> Result<Option<Arc<dyn Summarise>>, Failure> {
    if who == EXTRACTIVE {
        return Ok(None);
    }
    if let Some(command) = CommandSummariser::parse(who) {
        return Ok(Some(Arc::new(command.map_err(wrong)?)));
    }
    let config = settings.config();
    let found = config.catalog.lookup(who);
    let base = settings.file.compaction.base_url.clone().unwrap_or_default();
    if !found.known && base.is_empty() {
        return Err(wrong(format!(
            "--summarizer {who}: unknown model; expected `{EXTRACTIVE}`, a model of the catalog, or command:PROG; for \
             another model, set base_url in [compaction] of the settings file"
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
        return Err(wrong(format!("--summarizer {who}: missing API key; set {variable}")));
    }
    let mut endpoint = Endpoint::new(dialect, key.as_deref().map(ApiKey::new));
    endpoint.base_url = base;
    let client = Client::new(&endpoint, ModelLimits::default(), Arc::clone(&config.redactor));
    let client = client.map_err(|error| wrong(format!("--summarizer {who}: {error}")))?;
    Ok(Some(Arc::new(ModelSummariser::new(client, &config.catalog, who, (config.clock)()))))
}
