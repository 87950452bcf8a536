//! Installed plugins: which are enabled, what they depend on, and their files with definitions.

use super::commands::add_listed;
use super::dialect::one_line;
use super::found::FoundDefinitions;
use super::places::{DefinitionFile, DefinitionQuery, files_in, origin};
use super::read::{parse_json, read};
use super::value::{Fields, Value};
use crate::limits::{MAX_DEFINITION_DEPTH, MAX_SOURCE_FILE};
use crate::read_text;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use wunderblock_core::delegate::command::CommandKind;
use wunderblock_core::delegate::definition::Layer;
use wunderblock_core::delegate::tools::ToolPattern;

/// Folders of Claude Code of the user, in order of preference, and its settings in the folder of the system's settings.
const CLAUDE: [&str; 2] = ["$CLAUDE_CONFIG_DIR", "~/.claude"];
const CLAUDE_POLICY: &str = "claude-code/managed-settings.json";
/// Folders of Gemini CLI, in order of preference.
const GEMINI: [&str; 2] = ["$GEMINI_CLI_HOME/.gemini", "~/.gemini"];

/// Manifest of a plugin of Claude Code.
const MANIFEST: &str = ".claude-plugin/plugin.json";
/// Manifest of an extension of Gemini CLI.
const EXTENSION: &str = "gemini-extension.json";
/// File of a skill.
const SKILL: &str = "SKILL.md";

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
        let settings = settings(query, found);
        found.denied = settings.iter().flat_map(denied_types).collect();
        let plugins = plugins(query, &settings, found);
        check_dependencies(&plugins, found);
        for plugin in &plugins {
            plugin.add("agents", None, found);
            if query.commands {
                plugin.add("commands", Some(CommandKind::Command), found);
                plugin.add("skills", Some(CommandKind::Skill), found);
            }
        }
    }
    if query.wants("gemini-cli") {
        for extension in extensions(query, found) {
            let parts = [
                ("agents", None, "md", 1),
                ("commands", Some(CommandKind::Command), "toml", MAX_DEFINITION_DEPTH),
                ("skills", Some(CommandKind::Skill), SKILL, 2),
            ];
            let manifest = object(&extension.join(EXTENSION), found).unwrap_or_default();
            let own = extension.file_name().unwrap_or_default().to_string_lossy();
            let name = manifest.text("name").unwrap_or_else(|| own.into_owned());
            for (folder, kind, ending, depth) in parts {
                if kind.is_some() && !query.commands {
                    continue;
                }
                let folder = extension.join(folder);
                for path in files_in(&folder, ending, depth, None, found) {
                    let plugin = kind.map(|_| name.as_str());
                    read(&file("gemini-cli", &folder, path, kind), plugin, found);
                }
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
    folders.retain(|folder| folder.join(EXTENSION).is_file());
    folders.sort();
    folders
}

/// Returns the enabled plugins of Claude Code that are installed for the user or for the project.
fn plugins(query: &DefinitionQuery, settings: &[Fields], found: &mut FoundDefinitions) -> Vec<Plugin> {
    let Some(base) = CLAUDE.iter().find_map(|base| query.places.folder(base)) else { return Vec::new() };
    let list = base.join("plugins/installed_plugins.json");
    let Some(installed) = object(&list, found) else { return Vec::new() };
    let Some(Value::Map(entries)) = installed.get("plugins") else { return Vec::new() };
    let enabled = enabled(settings);
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
        let manifest = object(&folder.join(MANIFEST), found).unwrap_or_default();
        plugins.push(Plugin { id: id.clone(), folder, manifest });
    }
    plugins
}

/// Returns the settings of Claude Code: the user's, the project's, and the policy, the strongest last.
fn settings(query: &DefinitionQuery, found: &mut FoundDefinitions) -> Vec<Fields> {
    let base = CLAUDE.iter().find_map(|base| query.places.folder(base)).unwrap_or_default();
    let project = query.project_folders().last().map(|root| root.join(".claude")).unwrap_or_default();
    let files = [
        base.join("settings.json"),
        project.join("settings.json"),
        project.join("settings.local.json"),
        query.system.join(CLAUDE_POLICY),
    ];
    files.iter().filter_map(|path| object(path, found)).collect()
}

/// Returns which plugins the settings enable or disable. Later files win, key by key.
fn enabled(settings: &[Fields]) -> BTreeMap<String, bool> {
    let mut enabled = BTreeMap::new();
    for settings in settings {
        if let Some(Value::Map(plugins)) = settings.get("enabledPlugins") {
            let flags = plugins.0.iter().filter_map(|(id, _)| Some((id.clone(), plugins.flag(id)?)));
            enabled.extend(flags);
        }
    }
    enabled
}

/// Returns the rules that deny types of delegates: `Agent(NAME)`, in earlier versions `Task(NAME)`, or `Agent` for all.
fn denied_types(settings: &Fields) -> Vec<ToolPattern> {
    let Some(Value::Map(permissions)) = settings.get("permissions") else { return Vec::new() };
    let rules = permissions.get("deny").map(Value::words).unwrap_or_default();
    let rules = rules.iter().map(|rule| ToolPattern::parse(rule));
    rules.filter(|rule| matches!(&*rule.name, "Agent" | "Task")).collect()
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

    /// Adds the plugin's definitions of a kind: those that the manifest names, or else those in the folder. Skills that the
    /// manifest names are added to those in the folder.
    fn add(&self, field: &str, kind: Option<CommandKind>, found: &mut FoundDefinitions) {
        let is_skill = kind == Some(CommandKind::Skill);
        let listed = self.manifest.get(field);
        if listed.is_none() || is_skill {
            let folder = self.folder.join(field);
            // A plugin without a folder of skills may be one skill.
            let folder = if is_skill && !folder.is_dir() { self.folder.clone() } else { folder };
            self.add_folder(&folder, kind, found);
        }
        if let (Some(Value::Map(commands)), Some(_)) = (listed, kind) {
            return self.add_by_name(commands, found);
        }
        for listed in listed.map(Value::items).unwrap_or_default() {
            match self.inside(&listed) {
                Some(path) if path.is_file() => {
                    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
                    read(&file("claude-code", &folder, path, kind), Some(&self.name()), found);
                }
                Some(path) if path.is_dir() && kind.is_some() => self.add_folder(&path, kind, found),
                _ => self.remark_missing(&listed, found),
            }
        }
    }

    fn add_folder(&self, folder: &Path, kind: Option<CommandKind>, found: &mut FoundDefinitions) {
        let (ending, depth) = match kind {
            Some(CommandKind::Skill) if *folder == *self.folder => (SKILL, 1),
            Some(CommandKind::Skill) => (SKILL, 2),
            _ => ("md", MAX_DEFINITION_DEPTH),
        };
        for path in files_in(folder, ending, depth, None, found) {
            // A manifest may name the folder that is read anyway.
            let is_known = found.commands.iter().any(|one| *path == *Path::new(&*one.origin.place));
            if !is_known {
                read(&file("claude-code", folder, path, kind), Some(&self.name()), found);
            }
        }
    }

    /// Adds commands that the manifest names one by one, each with a file or a text of its own.
    fn add_by_name(&self, commands: &Fields, found: &mut FoundDefinitions) {
        for (name, own) in &commands.0 {
            let Value::Map(own) = own else { continue };
            let source = own.text("source").unwrap_or_default();
            let (path, text) = match (own.text("content"), self.inside(&source)) {
                (Some(text), _) => (self.folder.join(MANIFEST), Ok(text)),
                (None, Some(path)) if path.is_file() => {
                    found.inputs.note(&path);
                    let text = read_text(&path, MAX_SOURCE_FILE);
                    (path, text)
                }
                _ => {
                    self.remark_missing(&source, found);
                    continue;
                }
            };
            match text {
                Ok(text) => {
                    let file = file("claude-code", &self.folder, path, Some(CommandKind::Command));
                    add_listed(&file, &format!("{}:{name}", self.name()), own, &text, found);
                }
                Err(why) => found.remark(&path, why),
            }
        }
    }

    /// Returns the path of a file or a folder that the manifest names, if it is in the plugin.
    fn inside(&self, listed: &str) -> Option<PathBuf> {
        let path = self.folder.join(listed);
        let (own, folder) = (dunce::canonicalize(&path).ok()?, dunce::canonicalize(&self.folder).ok()?);
        own.starts_with(folder).then_some(path)
    }

    fn remark_missing(&self, listed: &str, found: &mut FoundDefinitions) {
        let (name, listed) = (self.name(), one_line(listed));
        found.remark(
            &self.folder,
            format!("the manifest of {name} names {listed}, which is not a file in it"),
        );
    }
}

fn file(product: &str, folder: &Path, path: PathBuf, kind: Option<CommandKind>) -> DefinitionFile {
    let origin = origin(product, Layer::Plugin, 0, &path);
    DefinitionFile::in_folder(folder, path, kind, origin)
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
            found.remark(path, why);
            None
        }
    }
}
