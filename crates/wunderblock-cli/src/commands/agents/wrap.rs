//! `wrap`: one run of an agent that is captured, without a change of the agent's files.

use crate::args::{Global, Wrap};
use crate::commands::agents::init::{HookOptions, connected, is_connected, program, read_all, title};
use crate::drawing::columns::plural;
use crate::output::console::say;
use crate::output::exit::{Exit, FAILED, Failure, REFUSED, unwritten};
use crate::resolve::names::short;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};
use std::time::{Duration, SystemTime};
use wunderblock::machine::settings::{Installation, OneRun};
use wunderblock::machine::{Agent, Places, histories};
use wunderblock_settings::{Settings, places, private_file};
use wunderblock_wire::hook::HookAgent;

/// Time before the start within which a changed transcript still counts: file systems round times.
const ROUNDING: Duration = Duration::from_secs(2);

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Wrap) -> Exit {
    let agent = connected(&wanted.agent)?;
    let places = places(Vec::new())?;
    let program = program()?;
    let folder = |base: &str| places.folder(base);
    let Wrap { recall, reach, run_commands, .. } = *wanted;
    let options = &*HookOptions { digest: Some(wanted.digest.chosen()), recall, reach, run_commands }.text();
    let installation =
        Installation { agent, program: &program, options, runs_commands: run_commands, folder: &folder };
    let refused =
        |error: wunderblock::machine::settings::SettingsError| Failure::Door(REFUSED, error.to_string());
    let mut one = installation.one_run().map_err(refused)?.unwrap_or_default();
    // Entries in the agent's files work in this run, too; a second time, each event would call the hook twice.
    if is_connected(&installation, &read_all(&installation.files())?) {
        one = OneRun { program: one.program, ..OneRun::default() };
    }
    let begun = SystemTime::now();
    let status = start(&one, wanted)?;
    take_in(global, settings, agent, &places, begun).await?;
    Ok(exit_code(status))
}

/// Runs the agent to its end. Keys that interrupt it do not end this program.
fn start(one: &OneRun, wanted: &Wrap) -> Result<ExitStatus, Failure> {
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGQUIT] {
        signal_hook::flag::register(signal, std::sync::Arc::default())?;
    }
    let mut command = Command::new(&one.program);
    command.args(&one.args).args(&wanted.args);
    let given = GivenFiles::write(one)?;
    command.envs(given.paths.iter().map(|(name, path)| (name, path)));
    command.status().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Failure::Door(FAILED, format!("no program `{}` in PATH; install the agent first", one.program))
        }
        _ => Failure::Door(FAILED, format!("{}: {error}", one.program)),
    })
}

/// Files that exist while the agent runs.
#[derive(Default)]
struct GivenFiles {
    folder: Option<PathBuf>,
    paths: Vec<(String, PathBuf)>,
}

impl GivenFiles {
    fn write(one: &OneRun) -> Result<Self, Failure> {
        let mut given = Self::default();
        if one.files.is_empty() {
            return Ok(given);
        }
        let folder = std::env::temp_dir().join(format!("wunderblock-wrap-{}", std::process::id()));
        // An existing folder is not ours.
        std::fs::create_dir(&folder).map_err(|error| unwritten(&folder, &error))?;
        given.folder = Some(folder.clone());
        for file in &one.files {
            let (named, path) = match &file.inside {
                Some(inside) => (folder.clone(), folder.join(inside)),
                None => {
                    let path = folder.join(format!("{}.json", file.variable));
                    (path.clone(), path)
                }
            };
            std::fs::create_dir_all(path.parent().unwrap_or(&folder))
                .and_then(|()| private_file().write(true).create_new(true).open(&path))
                .and_then(|mut new| new.write_all(&file.bytes))
                .map_err(|error| unwritten(&path, &error))?;
            given.paths.push((file.variable.clone(), named));
        }
        Ok(given)
    }
}

impl Drop for GivenFiles {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// Imports the transcripts that changed during the run, whether or not hooks have done so.
async fn take_in(
    global: &Global,
    settings: &Settings,
    agent: HookAgent,
    places: &Places,
    begun: SystemTime,
) -> Result<(), Failure> {
    let found = Agent::from_name(agent.name()).map(|agent| histories(&[agent], places)).unwrap_or_default();
    let since = begun.checked_sub(ROUNDING).unwrap_or(begun);
    let files = found.into_iter().flat_map(|history| history.files);
    let changed: Vec<PathBuf> =
        files.filter(|file| file.modified.is_none_or(|time| time >= since)).map(|file| file.path).collect();
    if changed.is_empty() {
        say(global, &format!("{} wrote no transcript: nothing to keep", title(agent)));
        return Ok(());
    }
    let engine = settings.capture().await?;
    for path in &changed {
        let imported = engine.import(path, None, &mut |_, _| {}).await?;
        let Some(id) = imported.sessions.into_iter().next() else { continue };
        let session = engine.session_by_id(id);
        let messages = plural(session.info().await?.messages, "message", "messages");
        say(global, &format!("kept: session {}, {messages}", short(&session).await?));
    }
    Ok(())
}

/// Returns the exit code of the agent; of one that a signal ended, 128 and the signal's number.
fn exit_code(status: ExitStatus) -> ExitCode {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let signal: Option<i32> = None;
    let code = status.code().or(signal.map(|signal| 128 + signal)).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(FAILED))
}
