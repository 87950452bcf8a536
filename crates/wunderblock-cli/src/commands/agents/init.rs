//! `init`: connects agents, by entries in their settings, and removes these entries again.

mod backup;

use crate::args::{DigestArg, Global, Init, ReachArgs};
use crate::drawing::columns::plural;
use crate::drawing::terminal::{clean, clean_lines};
use crate::output::atomic_file::replace;
use crate::output::console::{is_agreed, print, say};
use crate::output::exit::{Exit, FAILED, Failure, REFUSED, unwritten, wrong};
use backup::Backups;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wunderblock::machine::settings::{ExistingFiles, Installation, SettingsChange, diff};
use wunderblock::machine::{Agent, Places};
use wunderblock_settings::input::read_usual;
use wunderblock_settings::places;
use wunderblock_wire::hook::HookAgent;

/// Agents whose sessions a hook can take in: they write a transcript that `import` reads.
pub(in crate::commands) const CONNECTED: [HookAgent; 4] = HookAgent::ALL;

pub(crate) fn run(global: &Global, wanted: &Init) -> Exit {
    let places = places(Vec::new())?;
    let program = program()?;
    let folder = |base: &str| places.folder(base);
    let Init { recall, reach, run_commands, .. } = *wanted;
    let options = HookOptions { digest: Some(wanted.digest.chosen()), recall, reach, run_commands }.text();
    let installation = |agent| {
        let (options, runs_commands) = (&*options, run_commands);
        Installation { agent, program: &program, options, runs_commands, folder: &folder }
    };
    let mut backups = Backups::read()?;
    let mut changes = Vec::new();
    let agents = chosen(wanted, &places, &installation)?;
    for agent in &agents {
        let installation = installation(*agent);
        let existing = read_all(&installation.files())?;
        let planned = match wanted.undo {
            true => installation.undo(&existing, &backups.changes),
            false => installation.install(&existing),
        };
        let planned = planned.map_err(|error| Failure::Door(REFUSED, error.to_string()))?;
        // Two agents never share a file, so their changes do not meet.
        changes.extend(planned);
    }
    if changes.is_empty() {
        let names: Vec<&str> = agents.iter().map(|agent| title(*agent)).collect();
        let state = if wanted.undo { "has no entries of wunderblock" } else { "is connected" };
        say(global, &format!("{} {state}: nothing to change", names.join(", ")));
        return Ok(ExitCode::SUCCESS);
    }
    for change in &changes {
        print(&clean_lines(&diff(change)))?;
    }
    let question = format!("Write {}?", plural(changes.len() as u64, "file", "files"));
    let refusal = "nothing is written without consent; --yes writes without asking";
    if !wanted.yes && !is_agreed(&question, refusal)? {
        return Ok(ExitCode::SUCCESS);
    }
    // The backup is written first, so that an interruption between the two never loses bytes.
    if !wanted.undo {
        backups.add(&changes)?;
    }
    changes.iter().try_for_each(write)?;
    if wanted.undo {
        backups.remove(&changes)?;
    }
    report(global, &agents, wanted);
    Ok(ExitCode::SUCCESS)
}

/// Returns the agents that are named, or those with a folder of settings.
fn chosen<'a>(
    wanted: &Init,
    places: &Places,
    installation: &impl Fn(HookAgent) -> Installation<'a>,
) -> Result<Vec<HookAgent>, Failure> {
    if !wanted.agents.is_empty() {
        return wanted.agents.iter().map(|name| connected(name)).collect();
    }
    let found: Vec<HookAgent> =
        CONNECTED.into_iter().filter(|agent| is_installed(&installation(*agent), places)).collect();
    if found.is_empty() {
        let home = clean(&places.home.to_string_lossy());
        let text = format!("no settings of {} in {home}; name the agent to create them", known_names());
        return Err(Failure::Door(FAILED, text));
    }
    Ok(found)
}

/// Options of the hook in entries.
#[derive(Clone, Copy)]
pub(in crate::commands) struct HookOptions {
    /// `None` in entries of older versions, which state no choice.
    pub(in crate::commands) digest: Option<DigestArg>,
    pub(in crate::commands) recall: bool,
    pub(in crate::commands) reach: ReachArgs,
    pub(in crate::commands) run_commands: bool,
}

impl HookOptions {
    fn all() -> impl Iterator<Item = Self> {
        let digests = [None].into_iter().chain(DigestArg::ALL.map(Some));
        let choices = digests.flat_map(|digest| ReachArgs::ALL.map(|reach| (digest, reach)));
        choices.flat_map(|(digest, reach)| {
            (0..4).map(move |bits| Self { digest, recall: bits & 1 > 0, reach, run_commands: bits & 2 > 0 })
        })
    }

    pub(in crate::commands) fn text(self) -> String {
        let options = [
            self.digest.map(DigestArg::option),
            self.recall.then_some("--recall"),
            self.reach.option(),
            self.run_commands.then_some("--run-commands"),
        ];
        options.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

/// Returns whether the files have all our entries: installing again, with any options of the hook, would change nothing.
pub(in crate::commands) fn is_connected(installation: &Installation<'_>, existing: &ExistingFiles) -> bool {
    HookOptions::all().any(|own| {
        let (options, runs_commands) = (&*own.text(), own.run_commands);
        Installation { options, runs_commands, ..*installation }.is_complete(existing)
    })
}

/// Returns the path of this program, for entries in settings.
pub(in crate::commands) fn program() -> Result<String, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::Door(FAILED, format!("the path of this program is unknown: {error}")))?;
    let text = program.to_str().map(str::to_owned);
    text.ok_or_else(|| wrong("the path of this program is not UTF-8".to_owned()))
}

/// Returns whether an agent has a folder of settings. The home directory itself does not count as one.
pub(in crate::commands) fn is_installed(installation: &Installation<'_>, places: &Places) -> bool {
    let folders = |path: &PathBuf| path.parent().is_some_and(|at| at != places.home && at.is_dir());
    installation.files().iter().any(folders)
}

/// Returns the agent with this name, if it can be connected.
pub(in crate::commands) fn connected(name: &str) -> Result<HookAgent, Failure> {
    let agent = HookAgent::from_name(name).filter(|agent| CONNECTED.contains(agent));
    agent.ok_or_else(|| wrong(format!("`{name}` cannot be connected; known are {}", known_names())))
}

fn known_names() -> String {
    CONNECTED.map(HookAgent::name).join(", ")
}

pub(in crate::commands) fn title(agent: HookAgent) -> &'static str {
    Agent::from_name(agent.name()).map_or(agent.name(), |agent| &agent.title)
}

pub(in crate::commands) fn read_all(paths: &[PathBuf]) -> Result<ExistingFiles, Failure> {
    let mut existing = ExistingFiles::new();
    for path in paths {
        match read_usual(path) {
            Ok(bytes) => {
                existing.insert(path.clone(), bytes);
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(Failure::Door(FAILED, format!("{}: {error}", path.display()))),
        }
    }
    Ok(existing)
}

/// Writes a file, unless it has changed since it was read. A link stays a link, and the file keeps its permissions.
fn write(change: &SettingsChange) -> Result<(), Failure> {
    let path = dunce::canonicalize(&change.path).unwrap_or_else(|_| change.path.clone());
    let current = read_usual(&path).ok();
    if current != change.before {
        let text = format!(
            "{} has changed in the meantime: nothing is written to it; run the command again",
            path.display()
        );
        return Err(Failure::Door(FAILED, text));
    }
    let failed = |error: std::io::Error| unwritten(&path, &error);
    let Some(bytes) = &change.after else { return std::fs::remove_file(&path).map_err(failed) };
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(failed)?;
    replace(&path, bytes).map_err(failed)
}

fn report(global: &Global, agents: &[HookAgent], wanted: &Init) {
    let names: Vec<&str> = agents.iter().map(|agent| title(*agent)).collect();
    if wanted.undo {
        say(global, &format!("{}: the entries are removed", names.join(", ")));
        return;
    }
    say(global, &format!("{}: connected from the next session on", names.join(", ")));
    say(global, wanted.digest.chosen().words());
    say(global, wanted.reach.words());
    if agents.contains(&HookAgent::Codex) {
        say(global, "Codex runs a hook only once you trust it: type /hooks in Codex");
    }
    say(
        global,
        "next: `wunderblock import` takes in the sessions from before; `wunderblock init --undo` disconnects",
    );
}
