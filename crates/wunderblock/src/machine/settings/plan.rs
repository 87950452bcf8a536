//! Plans the changes of an agent's files.

use crate::machine::settings::change::{ExistingFiles, SettingsChange};
use crate::machine::settings::document::{Document, SettingsFormat};
use crate::machine::settings::entries::Entries;
use crate::machine::settings::error::{SettingsError, SettingsProblem};
use crate::machine::settings::table::{FileRow, PluginRow, files};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use wunderblock_wire::hook::HookAgent;

/// The plugin of OpenCode, with `{program}`, `{options}` and `{runs_commands}` in it.
const PLUGIN: &str = include_str!("opencode_plugin.js");

/// What to install for an agent, and where.
#[derive(Clone, Copy)]
pub struct Installation<'a> {
    /// The agent.
    pub agent: HookAgent,
    /// Path of this program. It is an absolute path, because agents start hooks in any folder.
    pub program: &'a str,
    /// Options of the hook's command, as a shell reads them. Each begins with `-`.
    pub options: &'a str,
    /// Whether the agent's shell commands run through this program.
    pub runs_commands: bool,
    /// Returns the folder that a text such as `$CODEX_HOME`, `$XDG_CONFIG_HOME/opencode`, `~/.codex` or `~` names.
    /// `None` if the variable is not set.
    pub folder: &'a dyn Fn(&str) -> Option<PathBuf>,
}

impl Installation<'_> {
    /// Returns the files to read before [`install`](Self::install) and [`undo`](Self::undo). Some may not exist.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = files(self.agent).iter().flat_map(|row| self.paths(row)).collect();
        paths.sort();
        paths.dedup();
        paths
    }

    /// Returns the changes that add our entries. A file that already has them is left out.
    ///
    /// # Errors
    /// Returns an error if a file cannot be changed. Then no change is returned.
    pub fn install(&self, existing: &ExistingFiles) -> Result<Vec<SettingsChange>, SettingsError> {
        let mut after: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
        for row in files(self.agent) {
            let paths = self.paths(row);
            let is_there = |path: &&PathBuf| existing.contains_key(*path);
            let Some(path) = paths.iter().find(is_there).or(paths.last()) else { continue };
            for other in &paths {
                let Some(before) = after.get(other).or(existing.get(other)).cloned() else { continue };
                // An earlier installation may have used a file that is not preferred any more.
                let bytes = if other == path { Ok(Some(before)) } else { self.removed(row, other, before) };
                if let Some(bytes) = bytes.map_err(|problem| error(other, problem))? {
                    after.insert(other.clone(), bytes);
                }
            }
            let before = after.get(path).map(Vec::as_slice);
            let bytes = self.added(row, path, before).map_err(|problem| error(path, problem))?;
            after.insert(path.clone(), bytes);
        }
        let changes = after.into_iter().map(|(path, bytes)| (path, Some(bytes)));
        Ok(changed(existing, changes))
    }

    /// Returns whether the files have all entries: installing would change nothing.
    #[must_use]
    pub fn is_complete(&self, existing: &ExistingFiles) -> bool {
        self.install(existing).is_ok_and(|changes| changes.is_empty())
    }

    /// Returns the changes that remove our entries.
    ///
    /// A file that is still as the installation left it gets the bytes back that it had before: `written` contains the
    /// changes of the installation. From any other file, only our entries are removed.
    ///
    /// # Errors
    /// Returns an error if a file with our name in it cannot be read. Then no change is returned.
    pub fn undo(
        &self,
        existing: &ExistingFiles,
        written: &[SettingsChange],
    ) -> Result<Vec<SettingsChange>, SettingsError> {
        let mut after: BTreeMap<PathBuf, Option<Vec<u8>>> = BTreeMap::new();
        for row in files(self.agent) {
            for path in self.paths(row) {
                let Some(current) = existing.get(&path) else { continue };
                let is_ours =
                    |change: &&SettingsChange| change.path == path && change.after.as_ref() == Some(current);
                let restored = || match written.iter().find(is_ours) {
                    Some(change) => change.before.clone(),
                    None => Some(current.clone()),
                };
                let bytes = after.get(&path).cloned().unwrap_or_else(restored);
                // An older installation may have left its entries in the backup.
                let bytes = match bytes {
                    Some(bytes) => {
                        self.removed(row, &path, bytes).map_err(|problem| error(&path, problem))?
                    }
                    None => None,
                };
                after.insert(path, bytes);
            }
        }
        Ok(changed(existing, after))
    }

    /// Returns the paths that a row names, in the folder that is used.
    fn paths(&self, row: &FileRow) -> Vec<PathBuf> {
        let folder = row.base.iter().find_map(|base| (self.folder)(base));
        let paths = folder.map(|folder| row.names.iter().map(|name| folder.join(&**name)).collect());
        paths.unwrap_or_default()
    }

    pub(super) fn entries(&self) -> Entries<'_> {
        Entries {
            agent: self.agent.name(),
            program: self.program,
            options: self.options,
            runs_commands: self.runs_commands,
        }
    }

    /// Returns a file with our entries.
    pub(super) fn added(
        &self,
        row: &FileRow,
        path: &Path,
        before: Option<&[u8]>,
    ) -> Result<Vec<u8>, SettingsProblem> {
        let bytes = before.unwrap_or_default();
        if let Some(plugin) = &row.plugin {
            return self.plugin(plugin, path, bytes);
        }
        let mut document = Document::read(format(row, path), bytes)?;
        if let Some(hooks) = &row.hooks {
            self.entries().add_hooks(&mut document, hooks)?;
        }
        if let Some(server) = &row.server {
            self.entries().add_server(&mut document, server)?;
        }
        Ok(document.bytes())
    }

    /// Returns the plugin, unless the file is somebody else's.
    fn plugin(&self, row: &PluginRow, path: &Path, bytes: &[u8]) -> Result<Vec<u8>, SettingsProblem> {
        if !bytes.is_empty() && !is_plugin(row, bytes) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            return Err(SettingsProblem::Taken { key: name });
        }
        // A JSON string is a string of JavaScript.
        let program = serde_json::Value::from(self.program).to_string();
        let text = PLUGIN.replace("{runs_commands}", if self.runs_commands { "true" } else { "false" });
        let options = serde_json::Value::from_iter(self.options.split_whitespace()).to_string();
        Ok(text.replace("{options}", &options).replace("{program}", &program).into_bytes())
    }

    /// Returns a file without our entries; `None` if the whole file is ours.
    fn removed(
        &self,
        row: &FileRow,
        path: &Path,
        bytes: Vec<u8>,
    ) -> Result<Option<Vec<u8>>, SettingsProblem> {
        if let Some(plugin) = &row.plugin {
            return Ok(Some(bytes).filter(|bytes| !is_plugin(plugin, bytes)));
        }
        // Every entry contains the program's name, so a file without it need not be readable.
        if memchr::memmem::find(&bytes, b"wunderblock").is_none() {
            return Ok(Some(bytes));
        }
        let mut document = Document::read(format(row, path), &bytes)?;
        if row.hooks.is_some() {
            self.entries().remove_hooks(&mut document, |_| true)?;
        }
        if let Some(server) = &row.server {
            self.entries().remove_server(&mut document, server)?;
        }
        Ok(Some(document.bytes()))
    }
}

fn is_plugin(row: &PluginRow, bytes: &[u8]) -> bool {
    bytes.starts_with(row.mark.as_bytes())
}

fn format(row: &FileRow, path: &Path) -> SettingsFormat {
    let extension = path.extension().and_then(|extension| extension.to_str());
    match extension {
        Some("toml") => SettingsFormat::Toml,
        _ if row.comments => SettingsFormat::JsonWithComments,
        _ => SettingsFormat::Json,
    }
}

fn error(path: &Path, problem: SettingsProblem) -> SettingsError {
    SettingsError { path: path.to_owned(), problem }
}

/// Returns the files that differ from the existing ones.
fn changed(
    existing: &ExistingFiles,
    after: impl IntoIterator<Item = (PathBuf, Option<Vec<u8>>)>,
) -> Vec<SettingsChange> {
    let changes = after.into_iter().map(|(path, after)| {
        let before = existing.get(&path).cloned();
        SettingsChange { path, before, after }
    });
    changes.filter(|change| change.before != change.after).collect()
}
