//! The commands, one file each, in folders by what they are for: every command parses its arguments, calls the engine once, and prints the result.

mod agents;
mod keeping;
mod looking;
mod memory;
mod recording;
mod requests;

use crate::args::{Args, Command, Global};
use crate::commands::requests::visibility;
use crate::help;
use crate::output::exit::Exit;
use crate::resolve::fallback::settings_or_defaults;
use std::io::Write;
use std::process::ExitCode;
use wunderblock::Visibility;
use wunderblock_settings::{Overrides, Settings};

/// Runs a command that knows no settings, so that invalid ones cannot stop it. Returns `None` for the other commands.
fn without_settings(global: &Global, command: &Command) -> Option<Exit> {
    match command {
        Command::Help(wanted) => Some(help::run(wanted.topic.as_deref())),
        Command::Completions(wanted) => {
            let mut script = Vec::new();
            clap_complete::generate(wanted.shell, &mut help::listed(), "wunderblock", &mut script);
            Some(written(&script))
        }
        Command::Man => {
            let mut page = Vec::new();
            let rendered = clap_mangen::Man::new(help::listed()).render(&mut page);
            Some(rendered.map_err(Into::into).and_then(|()| written(&page)))
        }
        Command::Hook(wanted) => Some(Ok(agents::hook::run(global, wanted))),
        Command::OnTerminal(wanted) => Some(agents::run::on_terminal(&wanted.command)),
        #[cfg(target_os = "linux")]
        Command::Guarded(wanted) => Some(agents::run::guarded(global, wanted)),
        _ => None,
    }
}

/// Runs the command that was given.
pub(crate) async fn run(args: Args) -> Exit {
    let global = &args.global;
    if let Some(done) = without_settings(global, &args.command) {
        return done;
    }
    if let Command::Run(wanted) = &args.command {
        return agents::run::run(global, &settings_or_defaults(global)?, wanted).await;
    }
    let user = args.command.user().map(str::to_owned);
    let settings = Settings::read(&Overrides { user, ..global.overrides() })?;
    match args.command {
        Command::Import(wanted) => recording::import::run(global, &settings, &wanted).await,
        Command::Append(wanted) => recording::append::run(global, &settings, &wanted).await,
        Command::Memory(wanted) => memory::run(global, &settings, &wanted).await,
        Command::Index(wanted) => recording::index::run(global, &settings, &wanted).await,
        Command::Unindex(wanted) => recording::unindex::run(global, &settings, &wanted).await,
        Command::Sessions(wanted) => looking::sessions::run(global, &settings, &wanted).await,
        Command::Init(wanted) => agents::init::run(global, &wanted),
        Command::Wrap(wanted) => agents::wrap::run(global, &settings, &wanted).await,
        Command::Cost(wanted) => looking::cost::run(global, &settings, &wanted).await,
        Command::Status(wanted) => looking::status::run(global, &settings, &wanted).await,
        Command::Agents(wanted) => agents::delegates::run(global, &settings, &wanted).await,
        Command::Gain(wanted) => looking::gain::run(global, &settings, &wanted).await,
        Command::Show(wanted) => looking::show::run(global, &settings, &wanted).await,
        Command::Export(wanted) => recording::export::run(global, &settings, &wanted).await,
        Command::Context(wanted) => requests::build::context(global, &settings, wanted).await,
        Command::Explain(wanted) => requests::build::explain(global, &settings, wanted).await,
        Command::Eval(wanted) => requests::eval::run(global, &settings, &wanted).await,
        Command::Simulate(wanted) => requests::simulate::run(global, &settings, wanted).await,
        Command::Compact(wanted) => requests::compact::run(global, &settings, wanted).await,
        Command::Undo(wanted) => requests::undo::run(global, &settings, &wanted).await,
        Command::Pin(wanted) => visibility::run(global, &settings, &wanted, Visibility::Pin).await,
        Command::Unpin(wanted) => visibility::run(global, &settings, &wanted, Visibility::Unpin).await,
        Command::Hide(wanted) => visibility::run(global, &settings, &wanted, Visibility::Hide).await,
        Command::Unhide(wanted) => visibility::run(global, &settings, &wanted, Visibility::Unhide).await,
        Command::Replay(wanted) => requests::replay::run(global, &settings, &wanted).await,
        Command::Diff(wanted) => requests::diff::run(global, &settings, &wanted).await,
        Command::Read(wanted) => looking::read::run(global, &settings, &wanted).await,
        Command::Grep(wanted) => looking::grep::run(global, &settings, &wanted).await,
        Command::Search(wanted) => looking::search::run(global, &settings, &wanted).await,
        Command::Describe(wanted) => looking::describe::run(global, &settings, &wanted).await,
        Command::Expand(wanted) => looking::expand::run(global, &settings, &wanted).await,
        Command::Reduce(wanted) => agents::reduce::run(global, &settings, &wanted).await,
        #[cfg(feature = "mcp")]
        Command::Mcp(wanted) => agents::mcp::run(&settings, &wanted),
        Command::Doctor(wanted) => keeping::doctor::run(global, &settings, &wanted).await,
        Command::Backup(wanted) => keeping::backup::run(global, &settings, &wanted).await,
        Command::Restore(wanted) => keeping::restore::run(global, &settings, &wanted).await,
        Command::Erase(wanted) => keeping::erase::run(global, &settings, &wanted).await,
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
