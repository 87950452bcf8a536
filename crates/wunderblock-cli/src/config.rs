//! The settings file: its keys, the checks of their values, and the resolution of its paths.

use crate::exit::Failure;
use crate::input::refused;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use toml::de::DeTable;
use wunderblock::sources::InstructionRules;
use wunderblock_core::allocate::{RoomError, Shares};
use wunderblock_core::section::Section;

/// Content of the settings file. Every key is optional; `docs/config.toml` lists all keys with their defaults.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    /// Path of the ledger.
    pub(crate) db: Option<PathBuf>,
    /// Tenant whose data is used.
    pub(crate) tenant: Option<String>,
    /// Path of a model catalog that overrides the embedded one.
    pub(crate) models: Option<PathBuf>,
    /// Path of a file with rules for delegates and their models.
    pub(crate) agents: Option<PathBuf>,
    /// Path of a file with additional rules for detecting secrets.
    pub(crate) secrets: Option<PathBuf>,
    /// Defaults of `context` and `explain`.
    #[serde(default)]
    pub(crate) context: Context,
    /// Files that enter every request.
    #[serde(default)]
    pub(crate) sources: SourceFiles,
    /// Rules for which instruction files are used.
    #[serde(default)]
    pub(crate) instructions: InstructionRules,
    /// Limits on the share of the budget that each section may take.
    #[serde(default)]
    pub(crate) budget: Shares,
    /// Settings of compactions.
    #[serde(default)]
    pub(crate) compaction: Compaction,
}

/// Settings of compactions: when and how lanes are compacted.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Compaction {
    /// Name of a preset, or path of a policy file.
    pub(crate) policy: Option<String>,
    /// `extractive`, a model's name, or `command:PROG`.
    pub(crate) summarizer: Option<String>,
    /// Base URL at which the summarizing model is called.
    pub(crate) base_url: Option<String>,
    /// Programs that run before or after a compaction.
    pub(crate) hooks: Vec<HookFile>,
}

/// A hook as the settings file describes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HookFile {
    pub(crate) when: When,
    pub(crate) command: Vec<String>,
}

/// Time at which a hook runs, relative to the compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum When {
    Before,
    After,
}

/// Files that enter every request.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
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

/// A provider of state, as the settings file describes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Provider {
    pub(crate) name: String,
    pub(crate) command: Vec<String>,
}

impl Provider {
    /// Returns whether the provider has a name and a command.
    pub(crate) fn is_complete(&self) -> bool {
        !self.name.trim().is_empty() && self.command.first().is_some_and(|program| !program.is_empty())
    }
}

/// Directories of the user.
pub(crate) struct Person {
    pub(crate) home: PathBuf,
    pub(crate) config: PathBuf,
}

/// Defaults of the options of a build.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Context {
    pub(crate) model: Option<String>,
    pub(crate) window: Option<u64>,
    pub(crate) reserve: Option<u64>,
    pub(crate) warn: Option<Vec<u8>>,
}

/// Parses and checks a settings file. Resolves the paths in a settings file, and adds the user's standard files.
pub(crate) fn parsed(text: &str, path: &Path, person: Option<&Person>) -> Result<File, Failure> {
    let mut file: File = toml::from_str(text).map_err(|error| refused(path, &error.to_string()))?;
    if let Some((section, key, why)) = absurd(&file) {
        let line = line(text, section, key).map(|line| format!(", line {line}")).unwrap_or_default();
        return Err(refused(path, &format!("[{section}]{line}: {why}")));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let home = person.map(|person| person.home.as_path());
    paths(&mut file).for_each(|path| *path = placed(path, folder, home));
    if let Some(person) = person {
        // An empty list states that there are no such files, so the standard files are used only if the key is
        // missing.
        let named = |key| line(text, "instructions", key).is_some();
        fill_in(&mut file.instructions, person, (named("managed"), named("user")));
    }
    Ok(file)
}

/// Finds an unusable value. Returns the section, the key, and the reason why the value is unusable.
fn absurd(file: &File) -> Option<(&'static str, &'static str, String)> {
    let is_empty = |hook: &HookFile| hook.command.first().is_none_or(|program| program.trim().is_empty());
    if file.compaction.hooks.iter().any(is_empty) {
        return Some(("compaction", "hooks", "a hook has no command to run".to_owned()));
    }
    if file.context.model.as_deref().is_some_and(|model| model.trim().is_empty()) {
        let why = "`model` is empty; leave it out to use the transcript's model";
        return Some(("context", "model", why.to_owned()));
    }
    let mut warn = file.context.warn.iter().flatten();
    if let Some(percent) = warn.find(|percent| !(1..=100).contains(*percent)) {
        let why = format!("invalid percentage `{percent}` in `warn`; must be from 1 to 100");
        return Some(("context", "warn", why));
    }
    if let Some(provider) = file.sources.providers.iter().find(|provider| !provider.is_complete()) {
        let why = format!("the provider `{}` needs a name and a command", provider.name);
        return Some(("sources", "providers", why));
    }
    let error = file.budget.check().err()?;
    let (RoomError::Share { section, .. } | RoomError::Order { section, .. }) = &error;
    // `memory` is the only key that is not named like its section.
    let key = if *section == Section::PinnedMemory.name() { "memory" } else { section };
    Some(("budget", key, error.to_string()))
}

/// Returns the line of a key, counted from 1, if the key is present.
fn line(text: &str, section: &str, key: &str) -> Option<usize> {
    let table = DeTable::parse(text).ok()?;
    let value = table.get_ref().get(section)?.get_ref().as_table()?.get(key)?;
    Some(text.get(..value.span().start)?.matches('\n').count() + 1)
}

/// Adds the standard paths of managed policy and of the user's files, unless the settings name other paths.
fn fill_in(rules: &mut InstructionRules, person: &Person, (has_managed, has_user): (bool, bool)) {
    let home = &person.home;
    if !has_managed {
        rules.managed =
            ["/etc/wunderblock/AGENTS.md", "/etc/claude-code/CLAUDE.md"].map(PathBuf::from).to_vec();
    }
    if !has_user {
        // As in Codex, `AGENTS.override.md` replaces `AGENTS.md`.
        let instead = Some(home.join(".codex/AGENTS.override.md")).filter(|path| path.exists());
        rules.user = vec![
            person.config.join("wunderblock/AGENTS.md"),
            instead.unwrap_or_else(|| home.join(".codex/AGENTS.md")),
            home.join(".claude/CLAUDE.md"),
            home.join(".gemini/GEMINI.md"),
        ];
    }
    rules.home.get_or_insert_with(|| home.clone());
}

/// Iterates over all paths that a settings file can contain.
fn paths(file: &mut File) -> impl Iterator<Item = &mut PathBuf> {
    let (sources, rules) = (&mut file.sources, &mut file.instructions);
    let one = [&mut file.db, &mut file.models, &mut file.agents, &mut file.secrets, &mut rules.home];
    let one = one.into_iter().chain([&mut sources.tools, &mut sources.resources, &mut sources.state]);
    let many = [&mut sources.safety, &mut sources.system, &mut sources.memory, &mut sources.skills];
    let many = many.into_iter().chain([&mut rules.managed, &mut rules.user, &mut rules.roots]);
    one.flatten().chain(many.flatten())
}

/// Resolves a path from a settings file: `~/` is the home directory, and other relative paths start at the file's
/// folder. The working directory is never used, because it must not decide whose safety policy is read.
fn placed(path: &Path, folder: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => folder.join(path),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use wunderblock::{Config, ContextOptions};

    fn documented() -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/config.toml");
        std::fs::read_to_string(path).expect("the documented settings")
    }

    /// Returns the key of a line, whether or not the line is commented out.
    fn key(line: &str) -> Option<&str> {
        let (key, _) = line.strip_prefix("# ").unwrap_or(line).split_once(" = ")?;
        key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_').then_some(key)
    }

    /// Returns the settings with all commented keys activated, and the keys whose value is an example.
    fn in_force(text: &str) -> (toml::Table, BTreeSet<String>) {
        let (mut out, mut examples, mut comment, mut section) =
            (String::new(), BTreeSet::new(), String::new(), String::new());
        for line in text.lines() {
            if let Some(name) = line.strip_prefix('[') {
                section = format!("{}.", name.trim_end_matches(']'));
            }
            if let Some(key) = key(line) {
                if comment.ends_with("An example.") {
                    examples.insert(format!("{section}{key}"));
                }
                out.push_str(line.strip_prefix("# ").unwrap_or(line));
                comment.clear();
            } else if line.starts_with('#') {
                comment.push_str(line);
            } else {
                out.push_str(line);
                comment.clear();
            }
            out.push('\n');
        }
        (toml::from_str(&out).expect("every key can be put in force"), examples)
    }

    fn keys(table: &toml::Table) -> BTreeSet<String> {
        let nested = ["context", "sources", "instructions", "budget"];
        let mut keys = BTreeSet::new();
        for (name, value) in table {
            match value.as_table().filter(|_| nested.contains(&name.as_str())) {
                Some(inner) => keys.extend(inner.keys().map(|key| format!("{name}.{key}"))),
                None => drop(keys.insert(name.clone())),
            }
        }
        keys
    }

    /// Returns all known keys, which the error about an unknown key lists.
    fn known() -> BTreeSet<String> {
        let fields = |section: &str| -> Vec<String> {
            let error = toml::from_str::<File>(&format!("{section}\nno_such_key = 1\n")).unwrap_err();
            let message = error.message().to_owned();
            message.split('`').skip(3).step_by(2).map(str::to_owned).collect()
        };
        let mut keys = BTreeSet::new();
        for name in fields("") {
            match name.as_str() {
                "context" | "sources" | "instructions" | "budget" => {
                    keys.extend(fields(&format!("[{name}]")).iter().map(|key| format!("{name}.{key}")));
                }
                _ => drop(keys.insert(name)),
            }
        }
        keys
    }

    fn person(home: &Path) -> Person {
        Person { home: home.to_owned(), config: home.join(".config") }
    }

    #[test]
    fn the_documented_settings_have_every_key_and_are_the_defaults() {
        let home = tempfile::tempdir().unwrap();
        let person = person(home.path());
        let read = |text: &str| parsed(text, Path::new("config.toml"), Some(&person)).expect("settings");
        let (mut table, examples) = in_force(&documented());
        assert_eq!(keys(&table), known());
        let all: File = read(&table.to_string());
        assert!(all.sources.providers.iter().all(Provider::is_complete));
        assert_eq!(read(&documented()), read(""), "as it stands it changes nothing");
        for name in &examples {
            match name.split_once('.') {
                Some((section, key)) => drop(table[section].as_table_mut().unwrap().remove(key)),
                None => drop(table.remove(name)),
            }
        }
        let (mut said, mut silent) = (read(&table.to_string()), read(""));
        let explicit = [said.db.take().unwrap(), said.instructions.home.take().unwrap()];
        assert_eq!(
            explicit,
            [home.path().join(".local/share/wunderblock/ledger.db"), home.path().to_owned()]
        );
        assert_eq!(said.tenant.take().unwrap(), Config::default().tenant.as_str());
        assert_eq!(said.context.warn.take().unwrap(), ContextOptions::default().warn);
        assert_eq!(said.compaction.policy.take().as_deref(), Some(wunderblock::policy::DEFAULT));
        assert_eq!(said.compaction.summarizer.take().as_deref(), Some(crate::policy::EXTRACTIVE));
        silent.instructions.home = None;
        assert_eq!(said, silent);
        for name in examples.iter().filter(|name| *name != "instructions.home") {
            assert!(
                ["agents", "models", "secrets"].contains(&name.as_str())
                    || name.starts_with("context.")
                    || name.starts_with("compaction.")
                    || name.starts_with("sources."),
                "{name} has a default, which should stand there"
            );
        }
    }

    #[test]
    fn a_path_begins_where_the_settings_are_or_at_home() {
        let text = "db = \"a.db\"\n[sources]\nsafety = [\"~/s.md\", \"/s.md\", \"../s.md\", \"~me/s.md\"]\n";
        let home = Path::new("/home/me");
        let file = parsed(text, Path::new("/etc/w/config.toml"), Some(&person(home))).unwrap();
        assert_eq!(file.db.unwrap(), Path::new("/etc/w/a.db"));
        let safety = ["/home/me/s.md", "/s.md", "/etc/w/../s.md", "/etc/w/~me/s.md"].map(PathBuf::from);
        assert_eq!(file.sources.safety, safety);
    }

    #[test]
    fn an_empty_list_disables_the_default_files() {
        let home = Path::new("/home/me");
        let read = |text| parsed(text, Path::new("c.toml"), Some(&person(home))).unwrap().instructions;
        assert_eq!(read("[instructions]\nuser = []\nmanaged = []\n").user, Vec::<PathBuf>::new());
        assert_eq!(read("[instructions]\nmanaged = []\n").managed, Vec::<PathBuf>::new());
        assert_eq!(read("[instructions]\nmanaged = []\n").user.len(), 4);
    }
}
