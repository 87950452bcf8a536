//! The resolved settings, and the ledger that they name. A value that the caller gives overrides the settings file,
//! which overrides the default.

use crate::embedder::embedder;
use crate::error::SettingsError;
use crate::file::parsed;
use crate::home::{Person, default_db};
use crate::input::read;
use crate::kept::spool;
use crate::overrides::Overrides;
use crate::sections::root::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use wunderblock::catalog::Catalog;
use wunderblock::definitions::DelegateRules;
use wunderblock::redact::Redactor;
use wunderblock::store::sqlite::{Access, Sqlite};
use wunderblock::{BoxFuture, Config, Engine};
use wunderblock_core::id::{MAX_ID_BYTES, TenantId};

/// Maximum time that the output of a command waits for another process's lock.
const SOON: Duration = Duration::from_secs(1);

/// The resolved settings of a program.
#[derive(Debug)]
pub struct Settings {
    /// Path of the ledger, which need not exist.
    pub db: PathBuf,
    /// Content of the settings file, without what the other fields and methods return.
    pub file: File,
    config: Config,
    /// Reason why nothing may be kept: the settings are unusable, and may name another ledger or tenant.
    unusable: Option<String>,
}

impl Settings {
    /// Reads the settings file that the caller names, or the user's. Without a file, the defaults hold.
    ///
    /// # Errors
    /// Fails if a file is missing or invalid.
    pub fn read(overrides: &Overrides) -> Result<Self, SettingsError> {
        Self::resolve(overrides, settings_file(overrides.config.as_deref())?)
    }

    /// Returns the settings without any file.
    ///
    /// # Errors
    /// Fails if the tenant is invalid, or if the caller names no ledger and there is no home directory.
    pub fn defaults(overrides: &Overrides) -> Result<Self, SettingsError> {
        Self::resolve(overrides, parsed("", Path::new(""), Person::here().as_ref())?)
    }

    /// Returns the same settings for a program that must keep nothing, with the reason.
    #[must_use]
    pub fn keeping_nothing(self, why: String) -> Self {
        Self { unusable: Some(why), ..self }
    }

    /// Returns whether what a command writes is kept.
    #[must_use]
    pub const fn keeps(&self) -> bool {
        self.unusable.is_none()
    }

    fn resolve(overrides: &Overrides, mut file: File) -> Result<Self, SettingsError> {
        let db = overrides.db.clone().or(file.db.take()).map_or_else(default_db, Ok)?;
        let mut config = Config::default();
        if let Some(tenant) = overrides.tenant.clone().or(file.tenant.take()) {
            config.tenant = TenantId::new(tenant).map_err(|error| SettingsError::value(error.to_string()))?;
        }
        config.user = overrides.user.clone().or(file.scope.user.take()).map(user).transpose()?;
        config.cwd = std::env::current_dir().ok();
        if let Some(path) = file.models.take() {
            let text = read(&path)?;
            config.catalog = Catalog::embedded()
                .with_overrides(&text)
                .map_err(|error| SettingsError::file(&path, error.to_string()))?;
        }
        if let Some(path) = file.secrets.take() {
            let rules = Redactor::with_rules(&read(&path)?);
            config.redactor = Arc::new(rules.map_err(|error| SettingsError::file(&path, error.to_string()))?);
        }
        config.embedder = embedder(&file.embedder, &config)?;
        Ok(Self { db, file, config, unusable: None })
    }

    /// Moves the outputs of killed runs into the ledger. An output that cannot be stored now is left for the next
    /// program.
    pub async fn take_in(&self) {
        let orphans = spool::orphans(&self.db, self.config.tenant.as_str());
        if orphans.is_empty() || !self.keeps() {
            return;
        }
        let Ok(engine) = self.open(Access::Create).await else { return };
        for orphan in orphans {
            let _ = orphan.take_in(&engine).await;
        }
    }

    /// Returns the rules for delegates and their models.
    ///
    /// # Errors
    /// Fails if their file is missing or invalid.
    pub fn delegate_rules(&self) -> Result<DelegateRules, SettingsError> {
        let Some(path) = &self.file.agents else { return Ok(DelegateRules::default()) };
        DelegateRules::parse(&read(path)?).map_err(|error| SettingsError::file(path, error.to_string()))
    }

    /// Returns the models, including those from the settings.
    #[must_use]
    pub const fn catalog(&self) -> &Catalog {
        &self.config.catalog
    }

    /// Returns the settings of the engine.
    #[must_use]
    pub fn config(&self) -> Config {
        self.config.clone()
    }

    fn open(&self, access: Access) -> BoxFuture<'static, Engine> {
        let (db, config) = (self.db.clone(), self.config.clone());
        Box::pin(async move { Engine::open_with(&db, access, config).await })
    }

    /// Opens the engine for a program that writes.
    ///
    /// # Errors
    /// Fails if the ledger cannot be opened or created.
    pub fn write(&self) -> BoxFuture<'_, Engine> {
        Box::pin(async {
            self.take_in().await;
            self.open(Access::Create).await
        })
    }

    /// Opens the engine for a program whose output must not wait for another process's lock. The program calls
    /// [`Settings::take_in`] at its end.
    ///
    /// # Errors
    /// Fails if the ledger cannot be opened or created, or if nothing may be kept.
    pub async fn write_soon(&self) -> Result<Engine, SettingsError> {
        if let Some(why) = &self.unusable {
            return Err(SettingsError::Unusable(why.clone()));
        }
        let file = Sqlite::open_for(&self.db, Access::Create, SOON).map_err(wunderblock::Error::Store)?;
        Ok(Engine::on(Arc::new(file), true, self.config.clone()).await?)
    }

    /// Opens the engine for a hook: nothing but the hook's own work is done.
    ///
    /// # Errors
    /// Fails if the ledger cannot be opened or created.
    pub fn capture(&self) -> BoxFuture<'_, Engine> {
        self.open(Access::Brief)
    }

    /// Opens the engine for a program that changes existing content. Never creates a ledger.
    ///
    /// # Errors
    /// Fails if the ledger does not exist or cannot be opened.
    pub fn existing(&self) -> BoxFuture<'_, Engine> {
        Box::pin(async {
            self.take_in().await;
            self.open(Access::Write).await
        })
    }

    /// Opens the engine for a program that only reads. The ledger may be read-only.
    ///
    /// # Errors
    /// Fails if the ledger does not exist or cannot be opened.
    pub fn read_only(&self) -> BoxFuture<'_, Engine> {
        Box::pin(async {
            self.take_in().await;
            self.open(Access::Read).await
        })
    }

    /// Opens the engine for a program that reads, but does background work too if the ledger can be written.
    ///
    /// # Errors
    /// Fails if the ledger does not exist or cannot be opened.
    pub fn either(&self) -> BoxFuture<'_, Engine> {
        Box::pin(async {
            self.take_in().await;
            match self.open(Access::Write).await {
                Err(wunderblock::Error::Store(error)) if error.may_be_read() => self.read_only().await,
                opened => opened,
            }
        })
    }
}

/// Checks the name of a user.
fn user(name: String) -> Result<String, SettingsError> {
    let is_name =
        !name.trim().is_empty() && name.len() <= MAX_ID_BYTES && !name.chars().any(char::is_control);
    let why = || {
        SettingsError::value(format!("invalid user `{}`: expected a name on one line", name.escape_debug()))
    };
    if is_name { Ok(name) } else { Err(why()) }
}

/// Reads the given settings file, or the user's. Returns the defaults if there is no file.
fn settings_file(given: Option<&Path>) -> Result<File, SettingsError> {
    let person = Person::here();
    let usual = || person.as_ref().map(|person| person.config.join("wunderblock/config.toml"));
    let path = given.map(Path::to_owned).or_else(|| usual().filter(|path| path.exists()));
    match path {
        Some(path) if given.is_none() && !path.is_file() => {
            Err(SettingsError::file(&path, "it is not a regular file; move it away"))
        }
        Some(path) => parsed(&read(&path)?, &path, person.as_ref()),
        None => parsed("", Path::new(""), person.as_ref()),
    }
}
