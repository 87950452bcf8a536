//! Chores of the repository that are programs: `cargo run -p xtask -- COMMAND`.

mod record;

use std::io::Write;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo run -p xtask -- COMMAND

  record --out FILE [--rev REV] [--target DIR]
      play the example session on a throw-away copy of REV (default HEAD) and write its transcript to FILE;
      with DIR, keep what is built there for the next time
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.split_first() {
        Some((command, rest)) if command == "record" => match record::Options::parse(rest) {
            Some(options) => record::run(&options),
            None => return usage(),
        },
        _ => return usage(),
    };
    match outcome {
        Ok(said) => {
            let _ = writeln!(std::io::stdout(), "{said}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    let _ = write!(std::io::stderr(), "{USAGE}");
    ExitCode::from(2)
}
