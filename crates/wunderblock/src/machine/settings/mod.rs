//! Settings of agents: the entries by which an agent calls this program, added and removed without other changes.
//!
//! [`Installation::install`] plans the changes of an agent's files, and [`Installation::undo`] their reverse. Both
//! are pure: the caller reads the files, shows the [`diff`], writes the results, and keeps each [`SettingsChange`] as
//! the backup. The entries of each agent are data (`settings.toml`), except for the plugin of OpenCode, which is a
//! file of its own.
//!
//! - A file keeps every byte outside the entries, with its comments, indentation and line ends. An object or list
//!   that is written in one line is broken into lines where an entry is added.
//! - An entry is ours if its command starts a program of our name with our arguments, wherever the program is.
//!   Installing again changes nothing, or only the program's path.
//! - A file that cannot be read as its format, and an entry of our name that is not ours, are errors that change
//!   nothing.

mod change;
mod diff;
mod document;
mod edit;
mod entries;
mod error;
mod json;
mod one_run;
mod owner;
mod plan;
mod table;
#[cfg(test)]
mod tests;
mod toml;

pub use change::{ExistingFiles, SettingsChange};
pub use diff::diff;
pub use document::{Document, SettingsFormat};
pub use error::{SettingsError, SettingsProblem};
pub use one_run::{GivenFile, OneRun};
pub use plan::Installation;
