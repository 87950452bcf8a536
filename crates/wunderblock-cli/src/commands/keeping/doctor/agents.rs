//! `doctor --agents`: whether what agents write arrives in the ledger, agent by agent, without reading the ledger.

use super::probe::probe;
use crate::args::Global;
use crate::commands::agents::init::{CONNECTED, is_connected, is_installed, program, read_all, title};
use crate::drawing::columns::{columns, pad, plural};
use crate::drawing::terminal::clean;
use crate::output::console::{age, print, print_report};
use crate::output::exit::{Exit, FAILED, Failure};
use serde::Serialize;
use std::process::ExitCode;
use std::time::UNIX_EPOCH;
use wunderblock::machine::settings::Installation;
use wunderblock::machine::{Agent, Places, histories};
use wunderblock::{Engine, HistoryFile, Transcripts};
use wunderblock_core::units::Millis;
use wunderblock_settings::input::read_usual;
use wunderblock_settings::{Settings, places, state_folder};
use wunderblock_wire::hook::HookAgent;

/// What is known about the capture of one agent.
#[derive(Debug, Serialize)]
struct AgentCheck {
    agent: &'static str,
    #[serde(skip)]
    title: &'static str,
    /// Whether the agent has a folder of settings.
    installed: bool,
    /// Whether all our entries are in its settings, with the path of this program.
    connected: bool,
    /// Number of the agent's transcripts.
    transcripts: usize,
    /// Time of the latest change of a transcript.
    latest: Option<i64>,
    /// Whether that transcript is stored as it is now, is stored in part, or is not stored.
    stored: Option<StoredState>,
    /// Time that the hook took to take in a message of a transcript made for it, in milliseconds, or what failed.
    probe: Option<Result<u64, String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum StoredState {
    Whole,
    Beginning,
    Missing,
}

impl AgentCheck {
    const fn is_fine(&self) -> bool {
        // An agent may write more after the last event of a session, which the next event takes in.
        let stored = !matches!(self.stored, Some(StoredState::Missing));
        !self.installed || self.connected && stored && !matches!(self.probe, Some(Err(_)))
    }

    /// Returns the findings, each with what to do about it.
    fn findings(&self) -> Vec<String> {
        if !self.installed {
            return vec!["– not installed".to_owned()];
        }
        let mut lines = Vec::new();
        lines.push(match self.connected {
            true => "✓ connected".to_owned(),
            false => format!("✗ not connected: `wunderblock init {}` connects it", self.agent),
        });
        let files = plural(self.transcripts as u64, "transcript", "transcripts");
        let latest = self.latest.map(|at| age(Millis(at))).unwrap_or_default();
        lines.push(match self.stored {
            None => "– no transcripts yet".to_owned(),
            Some(StoredState::Whole) => format!("✓ {files}, the latest ({latest}) is stored"),
            Some(StoredState::Beginning) => format!(
                "✓ {files}, the latest ({latest}) is stored up to the last hook; the next one adds the rest"
            ),
            Some(StoredState::Missing) => {
                format!("✗ {files}, the latest ({latest}) is not stored: `wunderblock import` adds it")
            }
        });
        lines.extend(self.probe.as_ref().map(|probe| match probe {
            Ok(millis) => format!("✓ a message of a test was stored by the hook in {millis} ms"),
            Err(why) => format!("✗ a message of a test was not stored by the hook: {}", clean(why)),
        }));
        lines
    }
}

/// Checks all agents that can be connected.
pub(super) async fn run(global: &Global, settings: &Settings) -> Exit {
    let places = places(Vec::new())?;
    let program = program()?;
    // Without a ledger, nothing is stored; that is a finding like any other.
    let engine = if settings.db.is_file() { Some(settings.read_only().await?) } else { None };
    let mut checks = Vec::new();
    for agent in CONNECTED {
        checks.push(check(agent, &places, &program, engine.as_ref()).await?);
    }
    if global.json {
        checks.iter().try_for_each(print_report)?;
    } else {
        print(&picture(&checks))?;
    }
    let is_fine = checks.iter().all(AgentCheck::is_fine);
    Ok(if is_fine { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

async fn check(
    agent: HookAgent,
    places: &Places,
    program: &str,
    engine: Option<&Engine>,
) -> Result<AgentCheck, Failure> {
    let folder = |base: &str| places.folder(base);
    let mut check = AgentCheck {
        agent: agent.name(),
        title: title(agent),
        installed: false,
        connected: false,
        transcripts: 0,
        latest: None,
        stored: None,
        probe: None,
    };
    let installation = Installation { agent, program, options: "", runs_commands: false, folder: &folder };
    check.installed = is_installed(&installation, places);
    if !check.installed {
        return Ok(check);
    }
    check.connected = is_connected(&installation, &read_all(&installation.files())?);
    let histories =
        Agent::from_name(agent.name()).map(|agent| histories(&[agent], places)).unwrap_or_default();
    let files = || histories.iter().flat_map(|history| &history.files);
    check.transcripts = files().count();
    if let Some(latest) = files().max_by_key(|file| file.modified) {
        let since = latest.modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        check.latest = since.and_then(|since| i64::try_from(since.as_millis()).ok());
        check.stored = Some(match engine {
            Some(engine) => stored(engine, latest).await?,
            None => StoredState::Missing,
        });
    }
    check.probe = Some(probe(agent, program).await);
    Ok(check)
}

/// Returns whether a transcript is stored. One that contains no session yet can be stored, too.
async fn stored(engine: &Engine, file: &HistoryFile) -> Result<StoredState, Failure> {
    let only = Transcripts { files: vec![file.clone()], links: Vec::new() };
    if only.unchanged(engine).await?.iter().all(Option::is_some) {
        return Ok(StoredState::Whole);
    }
    let beginning = engine.imported(&file.path).await?;
    Ok(beginning.map_or(StoredState::Missing, |_| StoredState::Beginning))
}

fn picture(checks: &[AgentCheck]) -> String {
    let wide = checks.iter().map(|check| columns(check.title)).max().unwrap_or_default();
    let mut out = String::new();
    for check in checks {
        let mut name = check.title;
        for finding in check.findings() {
            out.push_str(&format!("{}  {finding}\n", pad(name, wide)));
            name = "";
        }
    }
    // What went wrong in a hook is told nowhere else.
    if let Some(log) = state_folder().map(|folder| folder.join("hook.log"))
        && let Ok(text) = read_usual(&log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        && let Some(last) = text.lines().last()
    {
        let count = plural(text.lines().count() as u64, "problem", "problems");
        let path = clean(&log.to_string_lossy());
        out.push_str(&format!("{count} in {path}, the latest:\n  {}\n", clean(last)));
    }
    out
}
