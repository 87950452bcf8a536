//! `mcp`: serves the ledger to an agent, over stdin and stdout.

use crate::args::McpArgs;
use crate::output::exit::{Exit, FAILED, Failure};
use std::process::ExitCode;
use wunderblock_mcp::{Served, Stopper, serve};
use wunderblock_settings::Settings;

pub(crate) fn run(settings: &Settings, wanted: &McpArgs) -> Exit {
    let cwd = match &wanted.build.sources.cwd {
        Some(cwd) => cwd.clone(),
        None => std::env::current_dir().map_err(|error| {
            Failure::Door(FAILED, format!("the working directory cannot be used ({error}); give --cwd DIR"))
        })?,
    };
    let served = Served::of(settings, &wanted.build.choice(), cwd, wanted.reach.choice())?;
    let served = Served { guard: guard(settings)?, ..served };
    let stopper = Stopper::new();
    #[cfg(unix)]
    stop_at_signals(&stopper)?;
    serve(served, Box::new(std::io::stdin()), Box::new(std::io::stdout()), &stopper)
        .map_err(|error| Failure::Door(FAILED, error.to_string()))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the beginning of the command line that runs a command so that it ends with this process. Empty where the
/// system does not tell a process of its parent's end.
fn guard(settings: &Settings) -> Result<Vec<String>, Failure> {
    if !cfg!(target_os = "linux") {
        return Ok(Vec::new());
    }
    let (program, db) = (std::env::current_exe()?, std::path::absolute(&settings.db)?);
    let (Some(program), Some(db)) = (program.to_str(), db.to_str()) else { return Ok(Vec::new()) };
    let (tenant, server) = (settings.config().tenant.to_string(), std::process::id().to_string());
    let words = [program, "--db", db, "--tenant", &tenant, "--quiet", "guarded", "--server", &server];
    Ok(words.map(str::to_owned).to_vec())
}

/// Lets a signal end the server in the same way as the end of its input, so that no command stays behind.
#[cfg(unix)]
fn stop_at_signals(stopper: &Stopper) -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    let signalled = stopper.clone();
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            signalled.stop();
        }
    });
    Ok(())
}
