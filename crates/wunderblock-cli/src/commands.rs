//! The commands, one file each: every command parses its arguments, calls the engine once, and prints the result.

mod agent_view;
mod append;
mod backup;
mod build;
mod compact;
mod cost;
mod delegates;
mod describe;
mod diff;
mod doctor;
mod erase;
mod expand;
mod export;
mod find;
mod gain;
mod grep;
mod hook;
mod import;
mod init;
mod leaving;
#[cfg(feature = "mcp")]
mod mcp;
mod read;
mod reduce;
mod replay;
mod restore;
#[cfg_attr(not(unix), path = "commands/no_run.rs")]
mod run;
mod search;
mod sessions;
mod show;
mod simulate;
mod status;
mod through_run;
mod undo;
mod visibility;
mod wrap;

use crate::args::{Args, Command};
use crate::exit::Exit;
use crate::fallback::settings_or_defaults;
use crate::help;
use std::io::Write;
use std::process::ExitCode;
use wunderblock::Visibility;
use wunderblock_settings::Settings;

/// Runs the command that was given.
pub(crate) async fn run(args: Args) -> Exit {
    let global = &args.global;
    match &args.command {
        Command::Help(wanted) => return help::run(wanted.topic.as_deref()),
        Command::Completions(wanted) => {
            let mut script = Vec::new();
            clap_complete::generate(wanted.shell, &mut help::listed(), "wunderblock", &mut script);
            return written(&script);
        }
        Command::Man => {
            let mut page = Vec::new();
            clap_mangen::Man::new(help::listed()).render(&mut page)?;
            return written(&page);
        }
        // These commands are handled before the settings are read, so that invalid settings cannot stop them.
        Command::Hook(wanted) => return Ok(hook::run(global, wanted)),
        Command::OnTerminal(wanted) => return run::on_terminal(&wanted.command),
        #[cfg(target_os = "linux")]
        Command::Guarded(wanted) => return run::guarded(global, wanted),
        Command::Run(wanted) => {
            return run::run(global, &settings_or_defaults(global)?, wanted).await;
        }
        _ => {}
    }
    let settings = Settings::read(&global.overrides())?;
    match args.command {
        Command::Import(wanted) => import::run(global, &settings, &wanted).await,
        Command::Append(wanted) => append::run(global, &settings, &wanted).await,
        Command::Sessions(wanted) => sessions::run(global, &settings, &wanted).await,
        Command::Init(wanted) => init::run(global, &wanted),
        Command::Wrap(wanted) => wrap::run(global, &settings, &wanted).await,
        Command::Cost(wanted) => cost::run(global, &settings, &wanted).await,
        Command::Status(wanted) => status::run(global, &settings, &wanted).await,
        Command::Agents(wanted) => delegates::run(global, &settings, &wanted).await,
        Command::Gain(wanted) => gain::run(global, &settings, &wanted).await,
        Command::Show(wanted) => show::run(global, &settings, &wanted).await,
        Command::Export(wanted) => export::run(global, &settings, &wanted).await,
        Command::Context(wanted) => build::context(global, &settings, wanted).await,
        Command::Explain(wanted) => build::explain(global, &settings, wanted).await,
        Command::Simulate(wanted) => simulate::run(global, &settings, wanted).await,
        Command::Compact(wanted) => compact::run(global, &settings, wanted).await,
        Command::Undo(wanted) => undo::run(global, &settings, &wanted).await,
        Command::Pin(wanted) => visibility::run(global, &settings, &wanted, Visibility::Pin).await,
        Command::Unpin(wanted) => visibility::run(global, &settings, &wanted, Visibility::Unpin).await,
        Command::Hide(wanted) => visibility::run(global, &settings, &wanted, Visibility::Hide).await,
        Command::Unhide(wanted) => visibility::run(global, &settings, &wanted, Visibility::Unhide).await,
        Command::Replay(wanted) => replay::run(global, &settings, &wanted).await,
        Command::Diff(wanted) => diff::run(global, &settings, &wanted).await,
        Command::Read(wanted) => read::run(global, &settings, &wanted).await,
        Command::Grep(wanted) => grep::run(global, &settings, &wanted).await,
        Command::Search(wanted) => search::run(global, &settings, &wanted).await,
        Command::Describe(wanted) => describe::run(global, &settings, &wanted).await,
        Command::Expand(wanted) => expand::run(global, &settings, &wanted).await,
        Command::Reduce(wanted) => reduce::run(global, &settings, &wanted).await,
        #[cfg(feature = "mcp")]
        Command::Mcp(wanted) => mcp::run(&settings, &wanted),
        Command::Doctor(wanted) => doctor::run(global, &settings, &wanted).await,
        Command::Backup(wanted) => backup::run(global, &settings, &wanted).await,
        Command::Restore(wanted) => restore::run(global, &settings, &wanted).await,
        Command::Erase(wanted) => erase::run(global, &settings, &wanted).await,
        #[cfg(target_os = "linux")]
        Command::Guarded(_) => Ok(ExitCode::SUCCESS),
        Command::Hook(_)
        | Command::Run(_)
        | Command::Help(_)
        | Command::Completions(_)
        | Command::Man
        | Command::OnTerminal(_) => Ok(ExitCode::SUCCESS),
    }
}

fn written(page: &[u8]) -> Exit {
    std::io::stdout().lock().write_all(page)?;
    Ok(ExitCode::SUCCESS)
}
