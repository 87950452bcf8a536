//! Output during an import: a progress bar, and a message if another process imports the same file.

use crate::args::Global;
use crate::drawing::columns::plural;
use crate::drawing::terminal::clean;
use crate::output::console::say;
use crate::output::progress::{bar, update};
use indicatif::ProgressBar;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};
use wunderblock::{Engine, Error, Imported};
use wunderblock_wire::transcript::Format;

/// Waiting time for another import after which a message reports the wait.
const PATIENCE: Duration = Duration::from_millis(500);

/// Maximum number of warnings per file that are shown without `-v`.
const WARNINGS: usize = 5;

/// The parts of an import's output that are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shown<'b> {
    /// A progress bar and the warnings.
    All,
    /// Progress on the bar of an import of many files.
    Part {
        /// Bar of all files, in bytes.
        bar: &'b ProgressBar,
        /// Length of the files before this one.
        before: u64,
        /// Whether to show the warnings.
        warnings: bool,
    },
}

/// Options that determine how a transcript is imported and what is shown of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImportOptions<'b> {
    /// Format of the file; `None` to detect it.
    pub(crate) format: Option<Format>,
    /// Whether to compare a file whole even if it looks unchanged.
    pub(crate) verify: bool,
    pub(crate) shown: Shown<'b>,
}

impl ImportOptions<'_> {
    /// Detects the format, trusts the file's modification time, and shows everything.
    pub(crate) const DEFAULT: Self = Self { format: None, verify: false, shown: Shown::All };
}

/// Imports a transcript and shows its progress and warnings.
pub(crate) async fn import(
    global: &Global,
    engine: &Engine,
    path: &Path,
    ImportOptions { format, verify, shown }: ImportOptions<'_>,
) -> Result<Imported, Error> {
    let name = path.to_string_lossy();
    let mut importing = Importing::begin(global, &name, shown);
    let progress = &mut |done, total| importing.update(done, total);
    let imported = match verify {
        true => engine.maintenance().verify_import(path, format, progress).await,
        false => engine.import(path, format, progress).await,
    };
    importing.finish();
    let imported = imported?;
    if !global.quiet && !matches!(shown, Shown::Part { warnings: false, .. }) {
        warn(global, &imported.warnings);
    }
    Ok(imported)
}

/// An import in progress.
struct Importing<'g> {
    global: &'g Global,
    path: &'g str,
    bar: ProgressBar,
    /// Length of the files before this one, if the bar is the one of many files.
    before: Option<u64>,
    /// Time since which no bytes have been read, because another import holds the file.
    since: Option<Instant>,
    told: bool,
}

impl<'g> Importing<'g> {
    fn begin(global: &'g Global, path: &'g str, shown: Shown<'_>) -> Self {
        let name = Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
        let (bar, before) = match shown {
            Shown::All => (import_bar(global, &clean(&name.unwrap_or_default())), None),
            Shown::Part { bar, before, .. } => (bar.clone(), Some(before)),
        };
        Self { global, path, bar, before, since: None, told: false }
    }

    /// Shows the progress. An import that waits for another one keeps reporting that no bytes have been read.
    fn update(&mut self, done: u64, total: u64) {
        match self.before {
            Some(before) => self.bar.set_position(before + done),
            None => update(&self.bar, done, total),
        }
        self.since = (done == 0).then(|| self.since.unwrap_or_else(Instant::now));
        if !self.told && self.since.is_some_and(|since| since.elapsed() >= PATIENCE) {
            self.told = true;
            let text = format!("another process is importing {}: waiting for it", clean(self.path));
            self.bar.suspend(|| say(self.global, &text));
        }
    }

    /// Removes the bar, unless other files follow.
    fn finish(&self) {
        if self.before.is_none() {
            self.bar.finish_and_clear();
        }
    }
}

/// Creates the bar of an import, in bytes.
pub(crate) fn import_bar(global: &Global, message: &str) -> ProgressBar {
    bar(global, message, "importing {msg} [{bar:32}] {bytes}/{total_bytes} {bytes_per_sec} {eta}")
}

/// Prints the warnings of an import to stderr: the first few, or all with `-v`.
fn warn(global: &Global, warnings: &[String]) {
    let mut stderr = std::io::stderr().lock();
    let shown = if global.verbose { warnings.len() } else { WARNINGS };
    for warning in warnings.iter().take(shown) {
        let _ = writeln!(stderr, "warning: {}", clean(warning));
    }
    if warnings.len() > shown {
        let more = plural((warnings.len() - shown) as u64, "more warning", "more warnings");
        let _ = writeln!(stderr, "warning: {more}; -v shows them");
    }
}
