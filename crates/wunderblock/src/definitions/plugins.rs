//! Installed plugins: which are enabled, what they depend on, and their files with definitions.

use super::dialect::one_line;
use super::found::{DefinitionRemark, FoundDefinitions};
use super::places::{DefinitionFile, DefinitionQuery, files_in, origin};
use super::read::{parse_json, read};
use super::value::{Fields, Value};
use crate::limits::MAX_SOURCE_FILE;
use crate::sources::read_text;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use wunderblock_core::delegate::definition::Layer;

/// Folders of Claude Code of the user, in order of preference, and its settings in the folder of the system's settings.
const CLAUDE: [&str; 2] = ["$CLAUDE_CONFIG_DIR", "~/.claude"];
const CLAUDE_POLICY: &str = "claude-code/managed-settings.json";
/// Folders of Gemini CLI, in order of preference.
const GEMINI: [&str; 2] = ["$GEMINI_CLI_HOME/.gemini", "~/.gemini"];

/// A plugin on the disk.
struct Plugin {
    /// Name with its marketplace, `NAME@MARKETPLACE`.
    id: String,
    folder: PathBuf,
    manifest: Fields,
}

/// Adds the definitions of all enabled plugins and extensions.
pub(super) fn add(query: &DefinitionQuery, found: &mut FoundDefinitions) {
    if query.wants("claude-code") {
        let plugins = plugins(query, found);
        check_dependencies(&plugins, found);
        for plugin in &plugins {
            plugin.add(found);
        }
    }
    if query.wants("gemini-cli") {
        for extension in extensions(query, found) {
            let folder = extension.join("agents");
            for path in files_in(&folder, ("md", false), &mut found.inputs) {
                read(&file("gemini-cli", &folder, path), None, found);
            }
        }
    }
}

fn extensions(query: &DefinitionQuery, found: &mut FoundDefinitions) -> Vec<PathBuf> {
    let base = GEMINI.iter().find_map(|base| query.places.folder(base)).unwrap_or_default();
    let folder = base.join("extensions");
    found.inputs.note(&folder);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.retain(|folder| folder.join("gemini-extension.json").is_file());
    folders.sort();
    folders
}

/// Returns the enabled plugins of Claude Code that are installed for the user or for the project.
fn plugins(query: &DefinitionQuery, found: &mut FoundDefinitions) -> Vec<Plugin> {
    let Some(base) = CLAUDE.iter().find_map(|base| query.places.folder(base)) else { return Vec::new() };
    let list = base.join("plugins/installed_plugins.json");
    let Some(installed) = object(&list, found) else { return Vec::new() };
    let Some(Value::Map(entries)) = installed.get("plugins") else { return Vec::new() };
    let enabled = enabled(query, &base, found);
    let mut plugins = Vec::new();
    for (id, entry) in &entries.0 {
        if enabled.get(id.as_str()) != Some(&true) {
            continue;
        }
        // Before version 2 of the list, a plugin had one entry instead of one per scope.
        let entries = match entry {
            Value::List(entries) => entries.iter().collect(),
            other => vec![other],
        };
        let here = |entry: &&Value| match entry {
            Value::Map(fields) => {
                fields.text("projectPath").is_none_or(|path| query.folder.starts_with(path))
            }
            _ => false,
        };
        let Some(Value::Map(entry)) = entries.into_iter().find(here) else { continue };
        let Some(folder) = entry.text("installPath").map(PathBuf::from) else { continue };
        let manifest = folder.join(".claude-plugin/plugin.json");
        let manifest = object(&manifest, found).unwrap_or_default();
        plugins.push(Plugin { id: id.clone(), folder, manifest });
    }
    plugins
}

/// Returns which plugins the settings enable or disable. Later files win, key by key.
fn enabled(query: &DefinitionQuery, base: &Path, found: &mut FoundDefinitions) -> BTreeMap<String, bool> {
    let project = query.project_folders().last().map(|root| root.join(".claude")).unwrap_or_default();
    let files = [
        base.join("settings.json"),
        project.join("settings.json"),
        project.join("settings.local.json"),
        query.system.join(CLAUDE_POLICY),
    ];
    let mut enabled = BTreeMap::new();
    for path in files {
        if let Some(Value::Map(plugins)) = object(&path, found).as_ref().and_then(|s| s.get("enabledPlugins"))
        {
            let flags = plugins.0.iter().filter_map(|(id, _)| Some((id.clone(), plugins.flag(id)?)));
            enabled.extend(flags);
        }
    }
    enabled
}

/// Reports dependencies that are not enabled. A bare name is one of the same marketplace.
fn check_dependencies(plugins: &[Plugin], found: &mut FoundDefinitions) {
    for plugin in plugins {
        let Some(Value::List(wanted)) = plugin.manifest.get("dependencies") else { continue };
        let market = plugin.id.rsplit_once('@').map_or("", |(_, market)| market);
        for wanted in wanted {
            let (name, own) = match wanted {
                Value::Map(fields) => (fields.text("name").unwrap_or_default(), fields.text("marketplace")),
                other => (other.scalar().unwrap_or_default(), None),
            };
            let (name, own) = match name.split_once('@') {
                Some((name, market)) => (name.to_owned(), Some(market.to_owned())),
                None => (name, own),
            };
            let id = format!("{name}@{}", own.as_deref().unwrap_or(market));
            if !plugins.iter().any(|other| other.id == id) {
                let detail =
                    format!("the plugin {} needs {}, which is not enabled", plugin.id, one_line(&id));
                found.remark(&plugin.folder, detail);
            }
        }
    }
}

impl Plugin {
    fn name(&self) -> String {
        let own = || self.id.split('@').next().unwrap_or_default().to_owned();
        self.manifest.text("name").unwrap_or_else(own)
    }

    /// Adds the plugin's definitions: the files that the manifest names, or else those in `agents/`.
    fn add(&self, found: &mut FoundDefinitions) {
        let name = self.name();
        let Some(listed) = self.manifest.get("agents") else {
            let folder = self.folder.join("agents");
            for path in files_in(&folder, ("md", true), &mut found.inputs) {
                read(&file("claude-code", &folder, path), Some(&name), found);
            }
            return;
        };
        for listed in listed.items() {
            let path = self.folder.join(&listed);
            let inside = dunce::canonicalize(&path).is_ok_and(|path| {
                dunce::canonicalize(&self.folder).is_ok_and(|folder| path.starts_with(folder))
            });
            if inside && path.is_file() {
                let folder = path.parent().unwrap_or(Path::new("")).to_owned();
                read(&file("claude-code", &folder, path), Some(&name), found);
            } else {
                let detail =
                    format!("the manifest of {name} names {}, which is not a file in it", one_line(&listed));
                found.remark(&self.folder, detail);
            }
        }
    }
}

fn file(product: &str, folder: &Path, path: PathBuf) -> DefinitionFile {
    let inner = path.strip_prefix(folder).unwrap_or(&path).with_extension("");
    let origin = origin(product, Layer::Plugin, 0, &path);
    DefinitionFile { path, inner, key: Box::default(), origin }
}

/// Reads a JSON object; `None` if the file does not exist or cannot be used.
fn object(path: &Path, found: &mut FoundDefinitions) -> Option<Fields> {
    found.inputs.note(path);
    if !path.exists() {
        return None;
    }
    match read_text(path, MAX_SOURCE_FILE).and_then(|text| parse_json(&text)) {
        Ok(fields) => Some(fields),
        Err(why) => {
            found.remarks.push(DefinitionRemark {
                place: path.to_string_lossy().into(),
                line: None,
                detail: why,
            });
            None
        }
    }
}
