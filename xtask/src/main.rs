//! Work on the repository itself: `cargo run --release -p xtask -- COMMAND`.

mod bench;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let outcome = match arguments.next().as_deref() {
        Some("bench") => bench::run(&arguments.collect::<Vec<_>>()),
        _ => Err("usage: xtask bench [--events 1000,10000,100000] [--json]".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            use std::io::Write as _;
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}
