//! `import`: imports transcripts into the ledger.

mod summary;

use crate::args::{Global, Import};
use crate::columns::plural;
use crate::console::{print, print_report, say};
use crate::exit::{Exit, FAILED, Failure};
use crate::hint::sentence;
use crate::importing::{ImportOptions, Shown, import};
use crate::lookup::is_transcript;
use crate::names::Names;
use crate::progress::{bar, catch_up, update};
use crate::settings::Settings;
use crate::terminal::clean;
use crate::typed::format;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;
use summary::ImportSummary;
use wunderblock::{Engine, Error, ImportNotice, ImportReason, Imported, Transcripts, transcripts};
use wunderblock_core::stub::grouped;
use wunderblock_wire::transcript::Format;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Import) -> Exit {
    let engine = settings.write().await?;
    let mut failed = Vec::new();
    for path in &wanted.paths {
        if path.is_dir() {
            failed.extend(folder(global, (&engine, settings), path, wanted).await?);
        } else if let Err(error) = one(global, &engine, path, wanted).await {
            if wanted.paths.len() == 1 {
                return Err(error);
            }
            failed.push(error);
        }
    }
    if !wanted.no_index {
        catch_up(&engine, global).await?;
    }
    if !global.json && wanted.paths.iter().any(|path| path.is_dir()) {
        print("next: wunderblock sessions\n")?;
    }
    if failed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let mut stderr = std::io::stderr().lock();
    let _ = writeln!(stderr, "{} could not be imported:", plural(failed.len() as u64, "file", "files"));
    for error in &failed {
        let _ = writeln!(stderr, "error: {}", clean(&text(error)));
    }
    Ok(ExitCode::from(FAILED))
}

/// Imports the transcripts in a folder and prints the totals. Files that are not transcripts are skipped. Returns all
/// failures, except for files that are not transcripts.
async fn folder(
    global: &Global,
    (engine, settings): (&Engine, &Settings),
    path: &Path,
    wanted: &Import,
) -> Result<Vec<Failure>, Failure> {
    let begun = Instant::now();
    let found = transcripts(path)?;
    let unchanged = if wanted.verify { Vec::new() } else { found.unchanged(engine).await? };
    let Transcripts { files, links } = found;
    if files.is_empty() {
        say(global, &format!("no transcripts in {}", clean(&path.to_string_lossy())));
    }
    // Programs, and people who ask for details, get one line per file.
    let is_listed = global.json || global.verbose;
    let mut summary = ImportSummary::default();
    summary.links = links.len() as u64;
    for link in links.iter().filter(|_| is_listed) {
        let link = clean(&link.to_string_lossy());
        say(global, &format!("skipped: {link}: a symbolic link; give it by name to import it"));
    }
    let mut failed = Vec::new();
    let bar = bar(global, "importing", "{msg} [{bar:32}] {pos}/{len} files {eta}");
    let count = files.len() as u64;
    for (number, file) in files.into_iter().enumerate() {
        update(&bar, number as u64, count);
        let imported = match unchanged.get(number) {
            Some(Some(imported)) => Ok(imported.clone()),
            _ => file_of_folder(global, engine, &file, wanted).await,
        };
        match imported {
            Ok(imported) => {
                if is_listed {
                    bar.suspend(|| print_imported(global, &imported, &Names::default()))?;
                }
                summary.add(&imported);
            }
            Err(error @ Failure::Engine(Error::Import { reason: ImportReason::NotATranscript, .. })) => {
                summary.skipped += 1;
                if is_listed {
                    bar.suspend(|| say(global, &format!("skipped: {}", clean(&text(&error)))));
                }
            }
            Err(Failure::BrokenPipe) => return Err(Failure::BrokenPipe),
            Err(error) => failed.push(error),
        }
    }
    bar.finish_and_clear();
    if !global.json && count > 0 {
        print(&summary.text(path, &settings.db, begun.elapsed()))?;
    }
    Ok(failed)
}

fn options(wanted: &Import, shown: Shown) -> ImportOptions {
    ImportOptions { format: format(wanted.format), verify: wanted.verify, shown }
}

async fn file_of_folder(
    global: &Global,
    engine: &Engine,
    file: &Path,
    wanted: &Import,
) -> Result<Imported, Failure> {
    is_transcript(file)?;
    let shown = if global.verbose { Shown::Warnings } else { Shown::Nothing };
    import(global, engine, file, options(wanted, shown)).await
}

fn text(failure: &Failure) -> String {
    match failure {
        Failure::Engine(error) => match error.hint().as_ref().and_then(sentence) {
            Some(hint) => format!("{error} ({hint})"),
            None => error.to_string(),
        },
        Failure::Door(_, text) => text.clone(),
        Failure::BrokenPipe => String::new(),
    }
}

async fn one(global: &Global, engine: &Engine, path: &Path, wanted: &Import) -> Result<(), Failure> {
    is_transcript(path)?;
    let imported = import(global, engine, path, options(wanted, Shown::All)).await?;
    let names = if global.json { Names::default() } else { Names::all(engine).await? };
    print_imported(global, &imported, &names)
}

fn print_imported(global: &Global, imported: &Imported, names: &Names) -> Result<(), Failure> {
    if global.json { print_report(imported) } else { print(&line(imported, names)) }
}

/// Maximum number of sessions that a file's line names.
const NAMED: usize = 3;

fn line(imported: &Imported, names: &Names) -> String {
    let shown: Vec<String> = imported.sessions.iter().take(NAMED).map(|id| names.short(id)).collect();
    let more = imported.sessions.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let path = clean(&imported.path.to_string_lossy());
    let what = match imported.format {
        _ if imported.unchanged => format!("{}, nothing new", imported.format.name()),
        Format::JsonLines | Format::JsonDocument => {
            format!(
                "read as generic JSON: {}, {}",
                plural(imported.messages, "message", "messages"),
                amounts(imported)
            )
        }
        format => format!("{}, {}", format.name(), amounts(imported)),
    };
    format!("{path}: {what}  → {}{more}\n", shown.join(" "))
}

/// Describes how much of a file is new, known, erased, of unknown shape, and broken.
fn amounts(imported: &Imported) -> String {
    let mut out = plural(imported.appended, "event", "events");
    if imported.duplicates > 0 {
        out.push_str(&format!(", {} known", grouped(imported.duplicates)));
    }
    if imported.erased > 0 {
        let erased = plural(imported.erased, "erased record", "erased records");
        out.push_str(&format!(", {erased} not stored again"));
    }
    let is_generic = imported.notices.contains_key(&ImportNotice::Generic);
    if imported.opaque_bytes > 0 && !is_generic {
        let tenths = imported.opaque_bytes.saturating_mul(1000) / imported.bytes.max(1);
        out.push_str(&format!(", {}.{} % of the bytes of unknown shape", tenths / 10, tenths % 10));
    }
    if imported.broken > 0 {
        out.push_str(&format!(", {}", plural(imported.broken, "broken record", "broken records")));
    }
    out
}
