//! The child's side of a [task](super::task).

use super::measure::{cpu, peak_memory};
use super::outcome::Outcome;
use super::{context, ingest};
use futures_executor::block_on;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

/// Does a task, and tells what it took.
pub(super) fn run(arguments: &[String]) -> Outcome<()> {
    let [task, ledger, other] = arguments else { return Err("a child wants a task and two paths".into()) };
    let start = Instant::now();
    let events = match task.as_str() {
        "import" => {
            let engine = ingest::open(Path::new(ledger))?;
            let imported = block_on(engine.import(Path::new(other), None, &mut |_, _| {}))?;
            imported.appended as usize
        }
        "context" => {
            let engine = ingest::open(Path::new(ledger))?;
            block_on(engine.session_by_id(ingest::stream()?).explain(&context::options()))?;
            1
        }
        other => return Err(format!("a child does not know `{other}`").into()),
    };
    let seconds = start.elapsed().as_secs_f64();
    let told = format!("{events} {seconds} {} {}", cpu().as_secs_f64(), peak_memory());
    Ok(writeln!(std::io::stdout(), "{told}")?)
}
