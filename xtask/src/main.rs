//! Chores of the repository that are programs: `cargo run -p xtask -- COMMAND`.

mod bench;
mod dist;
mod fixture;
mod formats;
mod lines;
mod picture;
mod program;
mod prove;
mod record;
mod reduce;
mod usage;

use std::io::{Read, Write};
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo run -p xtask -- COMMAND

  bench [--events 1000,10000,100000] [--json]
                                  print the numbers of the design as a table (build with --release)
  dist                            build the program that is published, static where the target for that is
                                  installed, and pack it with completions, man page and checksums into target/dist
  record --out FILE [--rev REV]   play the example session on a throw-away copy of REV (default HEAD)
                                  and write its transcript to FILE
  record-ledger BINARY DIR        have the program BINARY write the ledger that later versions must open, with
                                  everything it gives for it, into DIR
  prove [--scale N | --twentieth] [--seed S] [--only model|importers|kill|calls] [--binary PROGRAM]
                                  attack the ledger: 10,000 interleavings against a model, 500 runs of importers
                                  at once, 1,000 kills, kills at system calls where there is strace; N times as
                                  many with --scale (build with --release)
  formats                         write the guide to transcript formats to stdout
  usage FILE...                   compare our counts with the usage that transcripts report
  reduce [--json | --missing] PATH...
                                  reduce every file there; print what is saved, per kind and per file, beside
                                  what stays visible, or what does not (build with --release)
  reduce --scale [--bytes N] [INPUT...]
                                  reduce generated inputs of every kind at N, 2N and 4N bytes (8 MB); print time
                                  per byte, memory, and what 20 KB cost (build with --release)
  lines [FOLDER]                  count the lines of code of each package of the repository there
  picture                         draw the report on stdin as an SVG picture on stdout
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((command, rest)) = arguments.split_first() else { return misused() };
    if arguments.iter().any(|argument| matches!(argument.as_str(), "-h" | "--help" | "help")) {
        let _ = write!(std::io::stdout(), "{USAGE}");
        return ExitCode::SUCCESS;
    }
    let outcome = match (command.as_str(), rest) {
        ("bench", rest) => bench::run(rest).map(|()| None),
        ("record", rest) => match record::Options::parse(rest) {
            Some(options) => record::run(&options).map(Some),
            None => return misused(),
        },
        ("record-ledger", [binary, folder]) => fixture::run(Path::new(binary), Path::new(folder)).map(Some),
        ("prove", rest) => prove::run(rest).map(Some),
        ("dist", []) => dist::run().map(Some),
        ("formats", []) => Ok(Some(formats::guide())),
        ("usage", files @ [_, ..]) => usage::table(files).map(Some),
        ("reduce", paths @ [_, ..]) => reduce::run(paths).map(Some),
        ("lines", []) => lines::table(Path::new(".")).map(Some),
        ("lines", [folder]) => lines::table(Path::new(folder)).map(Some),
        ("picture", []) => report().map(|text| Some(picture::draw(&text))),
        _ => return misused(),
    };
    match outcome {
        Ok(said) => {
            let _ = writeln!(std::io::stdout(), "{}", said.unwrap_or_default().trim_end());
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn report() -> Result<String, Box<dyn std::error::Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    Ok(text)
}

fn misused() -> ExitCode {
    let _ = write!(std::io::stderr(), "{USAGE}");
    ExitCode::from(2)
}
