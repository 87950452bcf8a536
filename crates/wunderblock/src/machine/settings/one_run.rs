//! One run of an agent with our entries, without a change of its files.

use crate::machine::settings::entries::Entries;
use crate::machine::settings::error::SettingsError;
use crate::machine::settings::plan::Installation;
use crate::machine::settings::table::{Pass, ServerRow, files, program};
use std::path::Path;

/// How to start an agent with our entries for one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OneRun {
    /// Name of the agent's program.
    pub program: String,
    /// Arguments that come before those of the user.
    pub args: Vec<String>,
    /// Files that must exist during the run.
    pub files: Vec<GivenFile>,
    /// Whether the run calls our hook. Otherwise its transcript must be imported afterwards.
    pub is_hooked: bool,
}

/// A file that one run of an agent needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenFile {
    /// Environment variable that must hold the path of the file, or of the folder in which the file is.
    pub variable: String,
    /// Path of the file in the folder of the variable; `None` if the variable names the file.
    pub inside: Option<String>,
    /// Content of the file.
    pub bytes: Vec<u8>,
}

/// Files that tell OpenCode that a folder has the packages of plugins. Without them, OpenCode loads them from the network
/// at every run and waits for them, although our plugin needs none.
const PACKAGES: [(&str, &str); 2] = [
    ("package-lock.json", r#"{"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}"#),
    ("node_modules/.package-lock.json", "{}"),
];

impl Installation<'_> {
    /// Returns how to start the agent for one run. `None` if the agent takes in settings only from its files.
    ///
    /// # Errors
    /// Returns an error if the entries cannot be written.
    pub fn one_run(&self) -> Result<Option<OneRun>, SettingsError> {
        let Some(program) = program(self.agent) else { return Ok(None) };
        let mut run = OneRun { program: program.to_owned(), ..OneRun::default() };
        for row in files(self.agent) {
            let Some(pass) = &row.pass else { continue };
            let content = || {
                // The file is new, and its name decides only its format.
                let path = Path::new(row.names.first().map_or("", |name| &**name));
                self.added(row, path, None)
                    .map_err(|problem| SettingsError { path: path.to_owned(), problem })
            };
            match pass {
                Pass::Option(option) => {
                    run.args.push(format!("{option}={}", String::from_utf8_lossy(&content()?).trim()));
                }
                Pass::Variable(name) => {
                    run.files.push(GivenFile { variable: name.to_string(), inside: None, bytes: content()? });
                }
                // A folder of the user would no longer be read.
                Pass::Folder(name) if (self.folder)(&format!("${name}")).is_some() => continue,
                Pass::Folder(name) => {
                    let mut give = |inside: Option<&str>, bytes: Vec<u8>| {
                        let inside = inside.map(ToOwned::to_owned);
                        run.files.push(GivenFile { variable: name.to_string(), inside, bytes });
                    };
                    give(row.names.last().map(|name| &**name), content()?);
                    if row.plugin.is_some() {
                        PACKAGES.iter().for_each(|(name, text)| give(Some(name), text.as_bytes().to_vec()));
                    }
                }
                Pass::Field(option) => {
                    let fields = row.server.iter().flat_map(|server| fields(&self.entries(), server));
                    run.args.extend(fields.flat_map(|field| [option.to_string(), field]));
                    continue;
                }
            }
            run.is_hooked |= row.hooks.is_some() || row.plugin.is_some();
        }
        Ok(Some(run))
    }
}

/// Returns the fields of a server's entry as `KEY=VALUE`. Texts and lists of texts are the same in JSON and in TOML.
fn fields(entries: &Entries<'_>, row: &ServerRow) -> Vec<String> {
    let entry = entries.filled(&row.entry);
    let fields = entry.as_object().into_iter().flatten();
    fields.map(|(name, value)| format!("{}.{name}={value}", row.keys.join("."))).collect()
}
