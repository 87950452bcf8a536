//! Directories of the user, and what lies in them: the settings, the ledger, logs, and the sessions of agents.

use crate::error::SettingsError;
use etcetera::BaseStrategy;
use std::ffi::OsString;
use std::path::PathBuf;
use wunderblock::machine::Places;

/// Directories of the user.
pub(crate) struct Person {
    pub(crate) home: PathBuf,
    pub(crate) config: PathBuf,
}

impl Person {
    /// Returns the directories of the user, if there is a home directory.
    pub(crate) fn here() -> Option<Self> {
        let strategy = strategy().ok()?;
        Some(Self { home: strategy.home_dir().to_owned(), config: strategy.config_dir() })
    }
}

fn strategy() -> Result<impl BaseStrategy, SettingsError> {
    etcetera::choose_base_strategy().map_err(|error| SettingsError::NoHome(error.to_string()))
}

/// Returns the path of the ledger for which neither the caller nor the settings name one.
pub(crate) fn default_db() -> Result<PathBuf, SettingsError> {
    Ok(strategy()?.data_dir().join("wunderblock").join("ledger.db"))
}

/// Returns the folder of logs and of backups of agents' settings.
#[must_use]
pub fn state_folder() -> Option<PathBuf> {
    let strategy = strategy().ok()?;
    let folder = strategy.state_dir().unwrap_or_else(|| strategy.data_dir());
    Some(folder.join("wunderblock"))
}

/// Returns the places in which the user's agents keep their sessions. `projects` are the folders in which agents may
/// have left a history.
///
/// # Errors
/// Fails if there is no home directory.
pub fn places(projects: Vec<PathBuf>) -> Result<Places, SettingsError> {
    let named = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value));
    let variables = std::env::vars_os().filter_map(named).collect();
    Ok(Places { home: strategy()?.home_dir().to_owned(), variables, projects })
}

/// Returns the working folder of this process.
///
/// # Errors
/// Fails if the folder cannot be read.
pub fn working_folder() -> Result<PathBuf, SettingsError> {
    let folder = std::env::current_dir();
    folder.map_err(|error| SettingsError::value(format!("the working folder cannot be read: {error}")))
}
