//! What reduction saves on real outputs, beside what it keeps: one line per kind, and one per file.
//!
//! Everything is checked from outside. The facts one reads an output for are found by rules of their own
//! ([`oracle`]), not by the readers that chose; that nothing left unmarked is found by putting the text together again
//! from the source and the gaps ([`check`]).

mod check;
mod measure;
mod oracle;
mod row;
mod scale;
mod table;

use measure::measure;
use std::error::Error;
use std::path::{Path, PathBuf};

/// Reduces every file below the folders, and tells what came of it.
pub(crate) fn run(paths: &[String]) -> Result<String, Box<dyn Error>> {
    if let Some((first, rest)) = paths.split_first()
        && first == "--scale"
    {
        return scale::run(rest);
    }
    let is_asked = |flag: &str| paths.iter().any(|path| path == flag);
    let mut files = Vec::new();
    for path in paths.iter().filter(|path| !path.starts_with("--")) {
        find(Path::new(path), &mut files)?;
    }
    files.sort();
    let mut rows = Vec::new();
    for file in files {
        let bytes = std::fs::read(&file)?;
        if bytes.is_empty() {
            continue;
        }
        rows.push(measure(file.to_string_lossy().into_owned(), &bytes));
    }
    Ok(if is_asked("--json") {
        table::json(&rows)
    } else if is_asked("--missing") {
        table::missing(&rows)
    } else {
        table::text(&rows)
    })
}

fn find(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(path)? {
        let path = entry?.path();
        // What a folder says about itself is no output.
        if path.file_name().is_none_or(|name| name != "SOURCE.md") {
            find(&path, files)?;
        }
    }
    Ok(())
}
