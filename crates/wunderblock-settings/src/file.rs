//! The settings file: parses it, checks its values, and resolves its paths.

use crate::error::SettingsError;
use crate::home::Person;
use crate::sections::instructions::{NamedLists, fill_in};
use crate::sections::root::File;
use crate::sections::{InvalidValue, Section};
use std::path::{Path, PathBuf};
use toml::de::DeTable;

/// Parses and checks a settings file. Resolves the paths in it, and adds the user's standard files.
pub(crate) fn parsed(text: &str, path: &Path, person: Option<&Person>) -> Result<File, SettingsError> {
    let refused = |why: String| SettingsError::file(path, why);
    let mut file: File = toml::from_str(text).map_err(|error| refused(error.to_string()))?;
    if let Some((section, InvalidValue { key, why })) = invalid(&file) {
        let line = line(text, section, key).map(|line| format!(", line {line}")).unwrap_or_default();
        return Err(refused(format!("[{section}]{line}: {why}")));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let home = person.map(|person| person.home.as_path());
    file.paths().into_iter().for_each(|path| *path = placed(path, folder, home));
    if let Some(person) = person {
        let named = |key| line(text, "instructions", key).is_some();
        let lists = NamedLists { managed: named("managed"), user: named("user") };
        fill_in(&mut file.instructions, person, lists);
    }
    Ok(file)
}

/// Finds an unusable value. Returns the name of its section, too.
fn invalid(file: &File) -> Option<(&'static str, InvalidValue)> {
    fn of<S: Section>(section: &S) -> Option<(&'static str, InvalidValue)> {
        section.invalid().map(|found| (S::NAME, found))
    }
    of(&file.compaction)
        .or_else(|| of(&file.context))
        .or_else(|| of(&file.sources))
        .or_else(|| of(&file.instructions))
        .or_else(|| of(&file.budget))
        .or_else(|| of(&file.embedder))
}

/// Returns the line of a key, counted from 1, if the key is present.
fn line(text: &str, section: &str, key: &str) -> Option<usize> {
    let table = DeTable::parse(text).ok()?;
    let value = table.get_ref().get(section)?.get_ref().as_table()?.get(key)?;
    Some(text.get(..value.span().start)?.matches('\n').count() + 1)
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
    use crate::sections::compaction::{Compaction, EXTRACTIVE};
    use crate::sections::context::Context;
    use crate::sections::embedder::EmbedderKeys;
    use crate::sections::scope::ScopeKeys;
    use crate::sections::sources::{Provider, SourceFiles};
    use std::collections::{BTreeMap, BTreeSet};
    use wunderblock::sources::InstructionRules;
    use wunderblock::{Config, ContextOptions};
    use wunderblock_core::allocate::Shares;

    /// Names of all sections, each with its maximum number of keys.
    const SECTIONS: [(&str, usize); 8] = [
        (File::NAME, File::MAX_KEYS),
        (ScopeKeys::NAME, ScopeKeys::MAX_KEYS),
        (EmbedderKeys::NAME, EmbedderKeys::MAX_KEYS),
        (Context::NAME, Context::MAX_KEYS),
        (SourceFiles::NAME, SourceFiles::MAX_KEYS),
        (InstructionRules::NAME, InstructionRules::MAX_KEYS),
        (Shares::NAME, Shares::MAX_KEYS),
        (Compaction::NAME, Compaction::MAX_KEYS),
    ];

    fn is_section(name: &str) -> bool {
        SECTIONS.iter().any(|(section, _)| *section == name)
    }

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

    /// Returns the keys of each section.
    fn keys(table: &toml::Table) -> BTreeMap<String, BTreeSet<String>> {
        let mut keys = BTreeMap::<String, BTreeSet<String>>::new();
        for (name, value) in table {
            match value.as_table().filter(|_| is_section(name)) {
                Some(inner) => drop(keys.insert(name.clone(), inner.keys().cloned().collect())),
                None => drop(keys.entry(String::new()).or_default().insert(name.clone())),
            }
        }
        keys
    }

    /// Returns all known keys of each section, which the error about an unknown key lists.
    fn known() -> BTreeMap<String, BTreeSet<String>> {
        let fields = |section: &str| -> Vec<String> {
            let error = toml::from_str::<File>(&format!("{section}\nno_such_key = 1\n")).unwrap_err();
            let message = error.message().to_owned();
            message.split('`').skip(3).step_by(2).map(str::to_owned).collect()
        };
        let (tables, own): (Vec<_>, Vec<_>) = fields("").into_iter().partition(|name| is_section(name));
        let mut keys = BTreeMap::from([(String::new(), own.into_iter().collect())]);
        for name in tables {
            let inner = fields(&format!("[{name}]")).into_iter().collect();
            keys.insert(name, inner);
        }
        keys
    }

    fn person(home: &Path) -> Person {
        Person { home: home.to_owned(), config: home.join(".config") }
    }

    #[test]
    fn every_section_has_few_keys() {
        let known = known();
        let names: BTreeSet<&str> = SECTIONS.iter().map(|(name, _)| *name).collect();
        assert_eq!(known.keys().map(String::as_str).collect::<BTreeSet<_>>(), names);
        for (name, most) in SECTIONS {
            let keys = &known[name];
            assert!(keys.len() <= most, "[{name}] has {} keys; the maximum is {most}: {keys:?}", keys.len());
        }
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
        assert_eq!(said.compaction.summarizer.take().as_deref(), Some(EXTRACTIVE));
        silent.instructions.home = None;
        assert_eq!(said, silent);
        for name in examples.iter().filter(|name| *name != "instructions.home") {
            assert!(
                ["agents", "models", "secrets"].contains(&name.as_str())
                    || name == "scope.user"
                    || name.starts_with("context.")
                    || name.starts_with("embedder.")
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
