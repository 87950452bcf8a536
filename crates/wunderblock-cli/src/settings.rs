//! What was typed, what it means: flag before environment before settings file before default.

use crate::args::Global;
use crate::exit::{FAILED, Failure, wrong};
use crate::sources::Provider;
use etcetera::BaseStrategy;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wunderblock::catalog::Catalog;
use wunderblock::redact::Redactor;
use wunderblock::sources::InstructionRules;
use wunderblock::store::sqlite::Access;
use wunderblock::{Config, Engine};
use wunderblock_core::allocate::Shares;
use wunderblock_core::id::TenantId;

/// The settings file. Every key is optional; `docs/config.toml` has them all, with their defaults.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// The ledger.
    db: Option<PathBuf>,
    /// Whose ledger.
    tenant: Option<String>,
    /// A catalog of models that wins over the embedded one.
    models: Option<PathBuf>,
    /// Further rules for secrets.
    secrets: Option<PathBuf>,
    /// Defaults of `context` and `explain`.
    #[serde(default)]
    context: Context,
    /// What enters every request.
    #[serde(default)]
    sources: SourceFiles,
    /// Which instruction files count.
    #[serde(default)]
    instructions: InstructionRules,
    /// Which section may take how much.
    #[serde(default)]
    budget: Shares,
}

/// Files that enter every request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SourceFiles {
    pub(crate) safety: Vec<PathBuf>,
    pub(crate) system: Vec<PathBuf>,
    pub(crate) memory: Vec<PathBuf>,
    pub(crate) skills: Vec<PathBuf>,
    pub(crate) tools: Option<PathBuf>,
    pub(crate) resources: Option<PathBuf>,
    pub(crate) state: Option<PathBuf>,
    pub(crate) providers: Vec<Provider>,
}

/// Defaults of a build.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Context {
    pub(crate) model: Option<String>,
    pub(crate) window: Option<u64>,
    pub(crate) reserve: Option<u64>,
    pub(crate) warn: Option<Vec<u8>>,
}

/// What it all means.
pub(crate) struct Settings {
    pub(crate) db: PathBuf,
    pub(crate) context: Context,
    pub(crate) sources: SourceFiles,
    pub(crate) instructions: InstructionRules,
    pub(crate) budget: Shares,
    config: Config,
}

impl Settings {
    pub(crate) fn read(global: &Global) -> Result<Self, Failure> {
        let file = file(global)?;
        let db = global.db.clone().or(file.db).map_or_else(default_db, Ok)?;
        let mut config = Config::default();
        if let Some(tenant) = global.tenant.clone().or(file.tenant) {
            config.tenant = TenantId::new(tenant).map_err(|error| wrong(error.to_string()))?;
        }
        if let Some(path) = file.models {
            let text = read(&path)?;
            config.catalog = Catalog::embedded()
                .with_overrides(&text)
                .map_err(|error| wrong(format!("{}: {error}", path.display())))?;
        }
        if let Some(path) = file.secrets {
            let rules = Redactor::with_rules(&read(&path)?);
            config.redactor = Arc::new(rules.map_err(|error| wrong(format!("{}: {error}", path.display())))?);
        }
        file.budget.check().map_err(|error| wrong(format!("[budget] in the settings: {error}")))?;
        let warn = file.context.warn.iter().flatten().copied();
        if let Some(percent) = warn.into_iter().find(|percent| !(1..=100).contains(percent)) {
            let why = format!(
                "`warn` in the settings: {percent} is no part of a limit in hundredths; 1 to 100 are"
            );
            return Err(wrong(why));
        }
        let instructions = with_places(file.instructions);
        let (context, sources, budget) = (file.context, file.sources, file.budget);
        Ok(Self { db, context, sources, instructions, budget, config })
    }

    /// The engine for a command that writes.
    pub(crate) async fn write(&self) -> Result<Engine, Failure> {
        Ok(Engine::open(&self.db, Access::Create, self.config.clone()).await?)
    }

    /// The engine for a command that changes what is there: it makes no ledger.
    pub(crate) async fn existing(&self) -> Result<Engine, Failure> {
        Ok(Engine::open(&self.db, Access::Write, self.config.clone()).await?)
    }

    /// The engine for a command that only reads: it works on a ledger that may not be written.
    pub(crate) async fn read_only(&self) -> Result<Engine, Failure> {
        Ok(Engine::open(&self.db, Access::Read, self.config.clone()).await?)
    }

    /// The engine for a command that reads, but may do the background's work on the way where it can.
    pub(crate) async fn either(&self) -> Result<Engine, Failure> {
        match Engine::open(&self.db, Access::Write, self.config.clone()).await {
            Err(wunderblock::Error::Store(
                wunderblock::store::StoreError::ReadOnly | wunderblock::store::StoreError::Io(_),
            )) => self.read_only().await,
            other => Ok(other?),
        }
    }

    pub(crate) fn config(&self) -> Config {
        self.config.clone()
    }
}

/// The rules, with the places where managed policy and the person's own files are, unless the settings name others.
fn with_places(mut rules: InstructionRules) -> InstructionRules {
    let Ok(strategy) = strategy() else { return rules };
    let home = strategy.home_dir().to_path_buf();
    if rules.managed.is_empty() {
        rules.managed =
            ["/etc/wunderblock/AGENTS.md", "/etc/claude-code/CLAUDE.md"].map(PathBuf::from).to_vec();
    }
    if rules.user.is_empty() {
        let own = strategy.config_dir().join("wunderblock").join("AGENTS.md");
        let codex = ["AGENTS.override.md", "AGENTS.md"].map(|name| home.join(".codex").join(name));
        let codex = codex.into_iter().find(|path| path.exists());
        let others = [home.join(".claude/CLAUDE.md"), home.join(".gemini/GEMINI.md")];
        rules.user = std::iter::once(own).chain(codex).chain(others).collect();
    }
    rules.home.get_or_insert(home);
    rules
}

fn file(global: &Global) -> Result<File, Failure> {
    let path = match &global.config {
        Some(path) => path.clone(),
        None => match strategy() {
            Ok(strategy) => strategy.config_dir().join("wunderblock").join("config.toml"),
            Err(_) => return Ok(File::default()),
        },
    };
    if global.config.is_none() && !path.exists() {
        return Ok(File::default());
    }
    toml::from_str(&read(&path)?).map_err(|error| wrong(format!("{}: {error}", path.display())))
}

pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| wrong(format!("{}: {error}", path.display())))
}

fn strategy() -> Result<impl BaseStrategy, Failure> {
    etcetera::choose_base_strategy()
        .map_err(|error| Failure::Door(FAILED, format!("no home directory ({error}); give --db PATH")))
}

fn default_db() -> Result<PathBuf, Failure> {
    Ok(strategy()?.data_dir().join("wunderblock").join("ledger.db"))
}
