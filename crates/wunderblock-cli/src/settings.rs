//! Resolves settings. A flag overrides the environment, which overrides the settings file, which overrides the
//! default.

use crate::args::Global;
use crate::config::{File, Person, parsed};
use crate::exit::{FAILED, Failure, wrong};
use crate::input::{read, refused};
use crate::spool;
use etcetera::BaseStrategy;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use wunderblock::catalog::Catalog;
use wunderblock::definitions::DelegateRules;
use wunderblock::machine::Places;
use wunderblock::redact::Redactor;
use wunderblock::store::sqlite::{Access, Sqlite};
use wunderblock::{Config, Engine};
use wunderblock_core::id::TenantId;

/// Maximum time that the output of a command waits for another process's lock.
const SOON: Duration = Duration::from_secs(1);

/// The resolved settings of a run.
pub(crate) struct Settings {
    pub(crate) db: PathBuf,
    pub(crate) file: File,
    config: Config,
    /// Reason why nothing may be kept: the settings are unusable, and may name another ledger or tenant.
    unusable: Option<String>,
}

impl Settings {
    pub(crate) fn read(global: &Global) -> Result<Self, Failure> {
        Self::resolve(global, settings_file(global)?)
    }

    /// Reads the settings for a command that must run whatever they hold. Without them, nothing is kept, unless the
    /// command line names the ledger and the tenant: an erasure would not find what is in another ledger. `tell` reports
    /// that the defaults are used.
    pub(crate) fn read_or_default(global: &Global, tell: fn(&Global, &str)) -> Result<Self, Failure> {
        Self::read(global).or_else(|failure| {
            let defaults = Self::resolve(global, parsed("", Path::new(""), person().as_ref())?)?;
            let text = failure.text();
            if global.db.is_some() && global.tenant.is_some() {
                let text =
                    format!("wunderblock: the defaults are used, because the settings cannot be: {text}");
                tell(global, &text);
                return Ok(defaults);
            }
            Ok(Self { unusable: Some(format!("the settings cannot be used: {text}")), ..defaults })
        })
    }

    /// Returns whether what a command writes is kept.
    pub(crate) const fn keeps(&self) -> bool {
        self.unusable.is_none()
    }

    fn resolve(global: &Global, mut file: File) -> Result<Self, Failure> {
        let db = global.db.clone().or(file.db.take()).map_or_else(default_db, Ok)?;
        let mut config = Config::default();
        if let Some(tenant) = global.tenant.clone().or(file.tenant.take()) {
            config.tenant = TenantId::new(tenant).map_err(|error| wrong(error.to_string()))?;
        }
        if let Some(path) = file.models.take() {
            let text = read(&path)?;
            config.catalog = Catalog::embedded()
                .with_overrides(&text)
                .map_err(|error| refused(&path, &error.to_string()))?;
        }
        if let Some(path) = file.secrets.take() {
            let rules = Redactor::with_rules(&read(&path)?);
            config.redactor = Arc::new(rules.map_err(|error| refused(&path, &error.to_string()))?);
        }
        Ok(Self { db, file, config, unusable: None })
    }

    /// Moves the outputs of killed runs into the ledger. An output that cannot be stored now is left for the next
    /// command.
    pub(crate) async fn take_in(&self) {
        let orphans = spool::orphans(&self.db, self.config.tenant.as_str());
        if orphans.is_empty() || !self.keeps() {
            return;
        }
        let Ok(engine) = Engine::open_with(&self.db, Access::Create, self.config.clone()).await else {
            return;
        };
        for orphan in orphans {
            let _ = orphan.take_in(&engine).await;
        }
    }

    /// Returns the rules for delegates and their models.
    pub(crate) fn delegate_rules(&self) -> Result<DelegateRules, Failure> {
        let Some(path) = &self.file.agents else { return Ok(DelegateRules::default()) };
        DelegateRules::parse(&read(path)?).map_err(|error| refused(path, &error.to_string()))
    }

    /// Returns the models, including those from the settings.
    pub(crate) fn catalog(&self) -> &Catalog {
        &self.config.catalog
    }

    /// Opens the engine for a command that writes.
    pub(crate) async fn write(&self) -> Result<Engine, Failure> {
        self.take_in().await;
        Ok(Engine::open_with(&self.db, Access::Create, self.config.clone()).await?)
    }

    /// Opens the engine for a command whose output must not wait for another process's lock. The command calls
    /// [`Settings::take_in`] at its end.
    pub(crate) async fn write_soon(&self) -> Result<Engine, Failure> {
        if let Some(why) = &self.unusable {
            return Err(Failure::Door(FAILED, why.clone()));
        }
        let file = Sqlite::open_for(&self.db, Access::Create, SOON).map_err(wunderblock::Error::Store)?;
        Ok(Engine::on(Arc::new(file), true, self.config.clone()).await?)
    }

    /// Opens the engine for a hook: nothing but the hook's own work is done.
    pub(crate) async fn capture(&self) -> Result<Engine, Failure> {
        Ok(Engine::open_with(&self.db, Access::Brief, self.config.clone()).await?)
    }

    /// Opens the engine for a command that changes existing content. Never creates a ledger.
    pub(crate) async fn existing(&self) -> Result<Engine, Failure> {
        self.take_in().await;
        Ok(Engine::open_with(&self.db, Access::Write, self.config.clone()).await?)
    }

    /// Opens the engine for a command that only reads. The ledger may be read-only.
    pub(crate) async fn read_only(&self) -> Result<Engine, Failure> {
        self.take_in().await;
        Ok(Engine::open_with(&self.db, Access::Read, self.config.clone()).await?)
    }

    /// Opens the engine for a command that reads, but does background work too if the ledger can be written.
    pub(crate) async fn either(&self) -> Result<Engine, Failure> {
        self.take_in().await;
        match Engine::open_with(&self.db, Access::Write, self.config.clone()).await {
            Err(wunderblock::Error::Store(error)) if error.may_be_read() => self.read_only().await,
            other => Ok(other?),
        }
    }

    pub(crate) fn config(&self) -> Config {
        self.config.clone()
    }
}

/// Reads the given settings file, or the user's. Returns the defaults if there is no file.
fn settings_file(global: &Global) -> Result<File, Failure> {
    let person = person();
    let usual = || person.as_ref().map(|person| person.config.join("wunderblock/config.toml"));
    let path = global.config.clone().or_else(|| usual().filter(|path| path.exists()));
    match path {
        Some(path) if global.config.is_none() && !path.is_file() => {
            Err(refused(&path, "it is not a regular file; move it away"))
        }
        Some(path) => parsed(&read(&path)?, &path, person.as_ref()),
        None => parsed("", Path::new(""), person.as_ref()),
    }
}

fn strategy() -> Result<impl BaseStrategy, Failure> {
    etcetera::choose_base_strategy()
        .map_err(|error| Failure::Door(FAILED, format!("no home directory ({error}); give --db PATH")))
}

fn default_db() -> Result<PathBuf, Failure> {
    Ok(strategy()?.data_dir().join("wunderblock").join("ledger.db"))
}

/// Returns the folder of logs and of backups of agents' settings.
pub(crate) fn state_folder() -> Option<PathBuf> {
    let strategy = strategy().ok()?;
    let folder = strategy.state_dir().unwrap_or_else(|| strategy.data_dir());
    Some(folder.join("wunderblock"))
}

/// Returns the places in which the user's agents keep their sessions. `projects` are the folders in which agents may
/// have left a history.
pub(crate) fn places(projects: Vec<PathBuf>) -> Result<Places, Failure> {
    let named = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value));
    let variables = std::env::vars_os().filter_map(named).collect();
    Ok(Places { home: strategy()?.home_dir().to_owned(), variables, projects })
}

fn person() -> Option<Person> {
    let strategy = strategy().ok()?;
    Some(Person { home: strategy.home_dir().to_owned(), config: strategy.config_dir() })
}
