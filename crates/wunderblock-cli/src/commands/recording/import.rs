//! `import`: imports transcripts into the ledger.

mod histories;
mod line;
mod many;
mod summary;
mod watch;

use crate::args::{Global, Import};
use crate::drawing::columns::plural;
use crate::drawing::terminal::clean;
use crate::output::console::{print, say};
use crate::output::exit::{Exit, FAILED, Failure, wrong};
use crate::output::hint::failure_text;
use crate::output::progress::catch_up;
use crate::resolve::importing::{Shown, import};
use crate::resolve::names::Names;
use histories::Histories;
use line::print_imported;
use many::{ManyFiles, options};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use summary::ImportSummary;
use watch::watch;
use wunderblock::machine::Agent;
use wunderblock::{Engine, HistoryFile, transcripts};
use wunderblock_settings::Settings;
use wunderblock_settings::lookup::{holds_many, is_transcript};

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Import) -> Exit {
    let engine = settings.write().await?;
    let many = ManyFiles { global, engine: &engine, wanted };
    if wanted.paths.is_empty() {
        let histories = Histories::find(&engine, &wanted.agent).await?;
        if !histories.is_wanted(&many, &settings.db).await? {
            return Ok(ExitCode::SUCCESS);
        }
        let failed = histories.import(&many, &settings.db).await?;
        return finish(&many, failed, true, || histories.files_now()).await;
    }
    let mut failed = Vec::new();
    for path in &wanted.paths {
        if holds_many(path) {
            failed.extend(folder(&many, settings, path).await?);
        } else if let Err(error) = one(global, &engine, path, wanted).await {
            if wanted.paths.len() == 1 {
                return Err(error);
            }
            failed.push(error);
        }
    }
    let is_folder = wanted.paths.iter().any(|path| holds_many(path));
    finish(&many, failed, is_folder, || files_now(&wanted.paths)).await
}

/// Counts and indexes what was imported, reports the failures, and follows the files if that is wanted.
async fn finish(
    many: &ManyFiles<'_>,
    failed: Vec<Failure>,
    is_list: bool,
    files: impl Fn() -> Vec<HistoryFile>,
) -> Exit {
    let ManyFiles { global, engine, wanted } = *many;
    if !wanted.no_index {
        catch_up(engine, global).await?;
    }
    if !global.json && is_list {
        print("next: wunderblock sessions\n")?;
    }
    if !failed.is_empty() {
        let mut stderr = std::io::stderr().lock();
        let _ = writeln!(stderr, "{} could not be imported:", plural(failed.len() as u64, "file", "files"));
        for error in &failed {
            let _ = writeln!(stderr, "error: {}", clean(&failure_text(error)));
        }
    }
    if wanted.watch {
        return watch(many, files).await;
    }
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

/// Imports the transcripts in a folder and prints the totals. Returns the failures.
async fn folder(many: &ManyFiles<'_>, settings: &Settings, path: &Path) -> Result<Vec<Failure>, Failure> {
    let begun = Instant::now();
    let found = transcripts(path)?;
    let count = found.files.len();
    if count == 0 {
        say(many.global, &format!("no transcripts in {}", clean(&path.to_string_lossy())));
    }
    let mut summary = ImportSummary::of_folders();
    summary.links = found.links.len() as u64;
    for link in found.links.iter().filter(|_| many.is_listed()) {
        let link = clean(&link.to_string_lossy());
        say(many.global, &format!("skipped: {link}: a symbolic link; give it by name to import it"));
    }
    let parent = |file: &Path| file.parent().unwrap_or(Path::new("")).to_owned();
    let failed = many.import(found, &mut summary, parent).await?;
    if !many.global.json && count > 0 {
        print(&summary.text(path, &settings.db, begun.elapsed()))?;
    }
    Ok(failed)
}

/// Returns the files that the given paths name now. Folders that cannot be read are left out.
fn files_now(paths: &[PathBuf]) -> Vec<HistoryFile> {
    paths.iter().filter_map(|path| transcripts(path).ok()).flat_map(|found| found.files).collect()
}

async fn one(global: &Global, engine: &Engine, path: &Path, wanted: &Import) -> Result<(), Failure> {
    if let Some(agent) = path.to_str().and_then(Agent::from_name).filter(|_| !path.exists()) {
        let name = &agent.name;
        let advice = format!("`wunderblock import --agent {name}` imports its sessions");
        return Err(wrong(format!("`{name}` is an agent, not a path; {advice}")));
    }
    is_transcript(path)?;
    let imported = import(global, engine, path, options(wanted, Shown::All)).await?;
    let names = if global.json { Names::default() } else { Names::all(engine).await? };
    print_imported(global, &imported, &names)
}
