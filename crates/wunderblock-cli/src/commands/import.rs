//! `import`: imports transcripts into the ledger.

use crate::args::{Global, Import};
use crate::columns::plural;
use crate::console::{print, print_report, say};
use crate::exit::{Exit, FAILED, Failure};
use crate::hint::sentence;
use crate::importing::import;
use crate::lookup::is_transcript;
use crate::progress::catch_up;
use crate::settings::Settings;
use crate::terminal::clean;
use crate::typed::format;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use wunderblock::{Engine, Error, ImportReason, Imported, Transcripts, transcripts};
use wunderblock_core::stub::grouped;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Import) -> Exit {
    let engine = settings.write().await?;
    let mut failed = Vec::new();
    for path in &wanted.paths {
        if path.is_dir() {
            failed.extend(folder(global, &engine, path, wanted).await?);
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

/// Imports the transcripts in a folder. Files that are not transcripts are named and skipped. Returns the other
/// failures.
async fn folder(
    global: &Global,
    engine: &Engine,
    path: &Path,
    wanted: &Import,
) -> Result<Vec<Failure>, Failure> {
    let found = transcripts(path)?;
    let unchanged = if wanted.verify { Vec::new() } else { found.unchanged(engine).await? };
    let Transcripts { files, links } = found;
    if files.is_empty() {
        say(global, &format!("no transcripts in {}", clean(&path.to_string_lossy())));
    }
    for link in links {
        let link = clean(&link.to_string_lossy());
        say(global, &format!("skipped: {link}: a symbolic link; give it by name to import it"));
    }
    let mut failed = Vec::new();
    for (number, file) in files.into_iter().enumerate() {
        if let Some(Some(imported)) = unchanged.get(number) {
            print_imported(global, imported)?;
            continue;
        }
        match one(global, engine, &file, wanted).await {
            Ok(()) => {}
            Err(error @ Failure::Engine(Error::Import { reason: ImportReason::NotATranscript, .. })) => {
                say(global, &format!("skipped: {}", clean(&text(&error))));
            }
            // Nobody reads the output any more, so the import ends here.
            Err(Failure::BrokenPipe) => return Err(Failure::BrokenPipe),
            Err(error) => failed.push(error),
        }
    }
    Ok(failed)
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
    let imported = import(global, engine, path, (format(wanted.format), wanted.verify)).await?;
    print_imported(global, &imported)
}

fn print_imported(global: &Global, imported: &Imported) -> Result<(), Failure> {
    if global.json { print_report(imported) } else { print(&line(imported)) }
}

fn line(imported: &Imported) -> String {
    let names: Vec<&str> = imported.sessions.iter().map(|id| id.as_str()).collect();
    let shown = names.iter().take(3).copied().collect::<Vec<_>>().join(" ");
    let more = if names.len() > 3 { format!(" and {} more", names.len() - 3) } else { String::new() };
    let what = if imported.unchanged { "nothing new".to_owned() } else { amounts(imported) };
    format!(
        "{}: {}, {what}  → {}{more}\n",
        clean(&imported.path.to_string_lossy()),
        imported.format.name(),
        clean(&shown)
    )
}

/// Describes the amounts of a file that are new, known, erased, of unknown shape, and broken.
fn amounts(imported: &Imported) -> String {
    let mut out = plural(imported.appended, "event", "events");
    if imported.duplicates > 0 {
        out.push_str(&format!(", {} known", grouped(imported.duplicates)));
    }
    if imported.erased > 0 {
        let erased = plural(imported.erased, "erased record", "erased records");
        out.push_str(&format!(", {erased} not stored again"));
    }
    if imported.opaque_bytes > 0 {
        let tenths = imported.opaque_bytes.saturating_mul(1000) / imported.bytes.max(1);
        out.push_str(&format!(", {}.{} % of the bytes of unknown shape", tenths / 10, tenths % 10));
    }
    if imported.broken > 0 {
        out.push_str(&format!(", {}", plural(imported.broken, "broken record", "broken records")));
    }
    out
}
