//! The command line of Wunderblock: parses the arguments, calls the engine once, and prints the result.

#![cfg_attr(not(unix), expect(dead_code, reason = "only `run` uses it, which needs a Unix system"))]

mod args;
mod commands;
mod drawing;
mod help;
mod output;
mod resolve;
mod showing;

use clap::error::ErrorKind;
use clap::{FromArgMatches, Parser};
use std::process::ExitCode;

fn main() -> ExitCode {
    // The help pages are written only for a command line that shows them: one that asks for help or is invalid.
    let parsed = args::Args::try_parse().or_else(|error| match error.kind() {
        ErrorKind::DisplayVersion => Err(error),
        _ => help::command().try_get_matches().and_then(|found| args::Args::from_arg_matches(&found)),
    });
    let args = match parsed {
        Ok(args) => args,
        Err(error) => {
            let mut words = std::env::args_os().skip(1).take_while(|word| word != "--");
            return output::exit::usage(&error, words.any(|word| word == "--json"));
        }
    };
    let json = args.global.json;
    // With a handler for `SIGXFSZ`, a write beyond `ulimit -f` fails instead of ending our process.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
    match futures_executor::block_on(commands::run(args)) {
        Ok(code) => code,
        Err(error) => output::exit::failed(&error, json),
    }
}
