//! What was typed, what it means: flag before environment before settings file before default.

use crate::args::Global;
use crate::exit::{FAILED, Failure, wrong};
use crate::sources::Provider;
use etcetera::BaseStrategy;
use serde::Deserialize;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wunderblock::catalog::Catalog;
use wunderblock::limits::MAX_SOURCE_BYTES;
use wunderblock::redact::Redactor;
use wunderblock::sources::InstructionRules;
use wunderblock::store::sqlite::Access;
use wunderblock::{Config, Engine};
use wunderblock_core::allocate::Shares;
use wunderblock_core::id::TenantId;

/// The settings file. Every key is optional; `docs/config.toml` has them all, with their defaults.
#[derive(Debug, Default, PartialEq, Deserialize)]
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

/// Defaults of a build.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
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
        let file = settings_file(global)?;
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
        let instructions = file.instructions;
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

/// The directories of a person.
struct Person {
    home: PathBuf,
    config: PathBuf,
}

impl Person {
    fn find() -> Option<Self> {
        let strategy = strategy().ok()?;
        Some(Self { home: strategy.home_dir().to_owned(), config: strategy.config_dir() })
    }
}

/// The settings file that counts, read; the defaults if there is none.
fn settings_file(global: &Global) -> Result<File, Failure> {
    let person = Person::find();
    let usual = || person.as_ref().map(|person| person.config.join("wunderblock/config.toml"));
    let path = global.config.clone().or_else(|| usual().filter(|path| path.exists()));
    match path {
        Some(path) => parsed(&read(&path)?, &path, person.as_ref()),
        None => parsed("", Path::new(""), person.as_ref()),
    }
}

/// A settings file, checked, its paths in full, and with the places that are a person's own.
fn parsed(text: &str, path: &Path, person: Option<&Person>) -> Result<File, Failure> {
    let refused = |why: &str| wrong(format!("{}: {why}", path.display()));
    let mut file: File = toml::from_str(text).map_err(|error| refused(&error.to_string()))?;
    file.budget.check().map_err(|error| refused(&format!("[budget]: {error}")))?;
    if let Some(percent) = file.context.warn.iter().flatten().find(|percent| !(1..=100).contains(*percent)) {
        let why =
            format!("[context]: {percent} in `warn` is no part of the limit in hundredths; give 1 to 100");
        return Err(refused(&why));
    }
    if let Some(provider) = file.sources.providers.iter().find(|provider| !provider.is_complete()) {
        let why = format!("[sources]: provider `{}` needs a name and a command", provider.name);
        return Err(refused(&why));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let home = person.map(|person| person.home.as_path());
    paths(&mut file).for_each(|path| *path = placed(path, folder, home));
    if let Some(person) = person {
        // An empty list says that there are no such files.
        let table: toml::Table = toml::from_str(text).map_err(|error| refused(&error.to_string()))?;
        let names = |key| table.get("instructions").is_some_and(|rules| rules.get(key).is_some());
        fill_in(&mut file.instructions, person, (names("managed"), names("user")));
    }
    Ok(file)
}

/// The places where managed policy and the person's own files are, unless the settings name them.
fn fill_in(rules: &mut InstructionRules, person: &Person, (has_managed, has_user): (bool, bool)) {
    let home = &person.home;
    if !has_managed {
        rules.managed =
            ["/etc/wunderblock/AGENTS.md", "/etc/claude-code/CLAUDE.md"].map(PathBuf::from).to_vec();
    }
    if !has_user {
        // Codex takes the override in place of the other.
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

/// Every path a settings file may name.
fn paths(file: &mut File) -> impl Iterator<Item = &mut PathBuf> {
    let (sources, rules) = (&mut file.sources, &mut file.instructions);
    let one = [&mut file.db, &mut file.models, &mut file.secrets, &mut rules.home];
    let one = one.into_iter().chain([&mut sources.tools, &mut sources.resources, &mut sources.state]);
    let many = [&mut sources.safety, &mut sources.system, &mut sources.memory, &mut sources.skills];
    let many = many.into_iter().chain([&mut rules.managed, &mut rules.user, &mut rules.roots]);
    one.flatten().chain(many.flatten())
}

/// A path of a settings file: `~/` is the home directory, and what is relative begins where the file is. Where the
/// program was started must not decide whose safety policy is read.
fn placed(path: &Path, folder: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => folder.join(path),
    }
}

/// The text of a file or a pipe, of at most [`MAX_SOURCE_BYTES`].
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    let refused = |why: String| wrong(format!("{}: {why}", path.display()));
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path);
    file.and_then(|file| file.take(MAX_SOURCE_BYTES + 1).read_to_end(&mut bytes)).map_err(|error| {
        refused(match error.kind() {
            ErrorKind::NotFound => "does not exist; check the path".to_owned(),
            ErrorKind::IsADirectory => "is a directory; give a file".to_owned(),
            ErrorKind::PermissionDenied => {
                "may not be read (permission denied); give a file that may".to_owned()
            }
            _ => format!("cannot be read: {error}"),
        })
    })?;
    if bytes.len() as u64 > MAX_SOURCE_BYTES {
        return Err(refused(format!("has more than the {MAX_SOURCE_BYTES} bytes that are read; split it")));
    }
    let text = String::from_utf8(bytes);
    text.map_err(|error| {
        let from = error.utf8_error().valid_up_to();
        refused(format!("is not UTF-8 text (from byte {from}); save it as UTF-8"))
    })
}

fn strategy() -> Result<impl BaseStrategy, Failure> {
    etcetera::choose_base_strategy()
        .map_err(|error| Failure::Door(FAILED, format!("no home directory ({error}); give --db PATH")))
}

fn default_db() -> Result<PathBuf, Failure> {
    Ok(strategy()?.data_dir().join("wunderblock").join("ledger.db"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use wunderblock::ContextOptions;

    fn documented() -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/config.toml");
        std::fs::read_to_string(path).expect("the documented settings")
    }

    /// The key of a line, commented out or not.
    fn key(line: &str) -> Option<&str> {
        let (key, _) = line.strip_prefix("# ").unwrap_or(line).split_once(" = ")?;
        key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_').then_some(key)
    }

    /// The settings with every key in force, and the keys whose value is an example.
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

    /// All keys there are: what a refusal of an unknown one lists.
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
        silent.instructions.home = None;
        assert_eq!(said, silent);
        for name in examples.iter().filter(|name| *name != "instructions.home") {
            assert!(
                ["models", "secrets"].contains(&name.as_str())
                    || name.starts_with("context.")
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
    fn an_empty_list_says_that_there_are_no_such_files() {
        let home = Path::new("/home/me");
        let read = |text| parsed(text, Path::new("c.toml"), Some(&person(home))).unwrap().instructions;
        assert_eq!(read("[instructions]\nuser = []\nmanaged = []\n").user, Vec::<PathBuf>::new());
        assert_eq!(read("[instructions]\nmanaged = []\n").managed, Vec::<PathBuf>::new());
        assert_eq!(read("[instructions]\nmanaged = []\n").user.len(), 4);
    }
}
