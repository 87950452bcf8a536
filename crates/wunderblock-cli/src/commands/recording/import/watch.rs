//! `import --watch`: imports what agents write, until it is interrupted.
//!
//! The folders are read again and again, because that works the same on every file system, also over a network. An
//! interruption loses nothing: every import is durable when its line is printed.

use super::line::print_imported;
use super::many::{ManyFiles, options};
use crate::drawing::columns::plural;
use crate::drawing::terminal::clean;
use crate::output::console::say;
use crate::output::exit::{Exit, Failure};
use crate::output::hint::failure_text;
use crate::resolve::importing::{Shown, import};
use crate::resolve::names::Names;
use indicatif::ProgressBar;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use wunderblock::{Error, HistoryFile, ImportReason, Imported, Progress};

/// Minimum time between two looks at the files.
const PAUSE: Duration = Duration::from_secs(1);

/// A look takes at most one part in this many of the time, so that a large history does not keep a processor busy.
const SHARE: u32 = 20;

/// Length and time of the last change of a file.
type Stamp = (u64, Option<SystemTime>);

/// Follows the files that `files` returns. Ends only if the output is closed or the ledger cannot be written.
pub(super) async fn watch(many: &ManyFiles<'_>, files: impl Fn() -> Vec<HistoryFile>) -> Exit {
    let mut seen: HashMap<PathBuf, Stamp> = stamps(files());
    let count = plural(seen.len() as u64, "file", "files");
    say(many.global, &format!("watching {count}; Ctrl-C ends it"));
    loop {
        let begun = Instant::now();
        let now = stamps(files());
        let mut changed: Vec<&PathBuf> =
            now.iter().filter(|(path, stamp)| seen.get(*path) != Some(stamp)).map(|(path, _)| path).collect();
        changed.sort();
        let is_new = !changed.is_empty();
        for path in changed {
            follow(many, path).await?;
        }
        if is_new && !many.wanted.no_index {
            many.engine.maintenance().catch_up(&mut |_: Progress| {}).await?;
        }
        seen = now;
        std::thread::sleep(PAUSE.max(begun.elapsed().saturating_mul(SHARE)));
    }
}

fn stamps(files: Vec<HistoryFile>) -> HashMap<PathBuf, Stamp> {
    files.into_iter().map(|file| (file.path, (file.bytes, file.modified))).collect()
}

/// Imports one file that has changed. A file that cannot be imported is reported and tried again when it changes.
async fn follow(many: &ManyFiles<'_>, path: &Path) -> Result<(), Failure> {
    let bar = ProgressBar::hidden();
    let shown = Shown::Part { bar: &bar, before: 0, warnings: many.global.verbose };
    let imported = import(many.global, many.engine, path, options(many.wanted, shown)).await;
    match imported.map_err(Failure::from) {
        Ok(Imported { appended: 0, .. }) => Ok(()),
        Ok(imported) => {
            let names = if many.global.json { Names::default() } else { Names::all(many.engine).await? };
            print_imported(many.global, &imported, &names)
        }
        // A file that has just been created may not have a whole record yet.
        Err(Failure::Engine(Error::Import { reason: ImportReason::NotATranscript, .. })) => Ok(()),
        Err(Failure::BrokenPipe) => Err(Failure::BrokenPipe),
        Err(error @ Failure::Engine(Error::Store(_))) => Err(error),
        Err(error) => {
            say(many.global, &format!("not imported: {}", clean(&failure_text(&error))));
            Ok(())
        }
    }
}
