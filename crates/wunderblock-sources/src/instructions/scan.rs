//! Searches a whole project for instruction files.

use super::ignored::Ignored;
use super::rules::InstructionRules;
use crate::limits::MAX_SCAN_ENTRIES;
use crate::workspace::Workspace;
use ignore::{DirEntry, WalkBuilder, WalkState};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Result of a scan, sorted by path.
#[derive(Default)]
pub(super) struct Scanned {
    /// Directories that contain a file with an instruction file's name.
    pub(crate) directories: BTreeSet<PathBuf>,
    /// Ignore files.
    pub(super) ignore: BTreeSet<PathBuf>,
    /// Whether the scan stopped because the project has too many files.
    pub(super) is_partial: bool,
}

/// Scans a project on several cores. Links are not followed, and ignored directories are not entered. Apart from
/// ignored directories, only `.git` is skipped: an ignore file has to name directories with third-party code, since
/// guessing them would be unreliable.
pub(crate) fn scan(workspace: &Workspace, rules: &InstructionRules, ignored: &Ignored) -> Scanned {
    let names = FileNames::new(rules);
    let found = Mutex::new(Scanned::default());
    let looked = AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get).min(8);
    let walk = WalkBuilder::new(&workspace.root).standard_filters(false).threads(threads).build_parallel();
    walk.run(|| {
        let mut mine = Mine { scanned: Scanned::default(), all: &found };
        let (names, looked) = (&names, &looked);
        Box::new(move |entry| {
            let Ok(entry) = entry else { return WalkState::Continue };
            if looked.fetch_add(1, Ordering::Relaxed) >= MAX_SCAN_ENTRIES {
                mine.scanned.is_partial = true;
                return WalkState::Quit;
            }
            mine.look(&entry, &workspace.root, names, ignored)
        })
    });
    found.into_inner().unwrap_or_default()
}

/// Findings of one thread, added to the result when the thread ends.
struct Mine<'a> {
    scanned: Scanned,
    all: &'a Mutex<Scanned>,
}

impl Mine<'_> {
    fn look(&mut self, entry: &DirEntry, root: &Path, names: &FileNames, ignored: &Ignored) -> WalkState {
        let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
        if is_dir {
            let kept_out = || {
                let inside = entry.path().strip_prefix(root).unwrap_or(Path::new(""));
                !inside.as_os_str().is_empty() && ignored.entry(inside, true).is_some()
            };
            let skip = entry.depth() > 0 && (entry.file_name() == ".git" || kept_out());
            return if skip { WalkState::Skip } else { WalkState::Continue };
        }
        if names.ignore.contains(entry.file_name()) {
            self.scanned.ignore.insert(entry.path().to_owned());
        }
        for above in names.files.get(entry.file_name()).into_iter().flatten() {
            if let Some(directory) = entry.path().parent().and_then(|parent| strip_suffix(parent, above)) {
                self.scanned.directories.insert(directory.to_owned());
            }
        }
        WalkState::Continue
    }
}

impl Drop for Mine<'_> {
    fn drop(&mut self) {
        if let Ok(mut all) = self.all.lock() {
            all.directories.append(&mut self.scanned.directories);
            all.ignore.append(&mut self.scanned.ignore);
            all.is_partial |= self.scanned.is_partial;
        }
    }
}

/// File names to search for.
struct FileNames<'a> {
    /// Leading directories of names, keyed by the last component of each name.
    files: HashMap<&'a OsStr, Vec<&'a Path>>,
    ignore: HashSet<&'a OsStr>,
}

impl<'a> FileNames<'a> {
    fn new(rules: &'a InstructionRules) -> Self {
        let mut files: HashMap<&OsStr, Vec<&Path>> = HashMap::new();
        for name in rules.names.iter().flatten().map(Path::new) {
            if let (Some(last), Some(above)) = (name.file_name(), name.parent()) {
                files.entry(last).or_default().push(above);
            }
        }
        let ignore =
            rules.ignore.iter().filter(|(_, on)| **on).map(|(name, _)| OsStr::new(name.as_str())).collect();
        Self { files, ignore }
    }
}

fn strip_suffix<'p>(path: &'p Path, suffix: &Path) -> Option<&'p Path> {
    if !path.ends_with(suffix) {
        return None;
    }
    path.ancestors().nth(suffix.components().count())
}
