//! `index`: adds documents, and brings them up to date.

use crate::args::{Global, Index};
use crate::drawing::columns::plural;
use crate::drawing::terminal::clean;
use crate::output::console::answer;
use crate::output::exit::{Exit, FAILED, wrong};
use crate::output::progress::{bar, catch_up, update};
use std::process::ExitCode;
use wunderblock::{IndexedDocuments, scope_at};
use wunderblock_core::stub::grouped;
use wunderblock_settings::Settings;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Index) -> Exit {
    let unusable = |error| wrong(format!("the current folder cannot be used: {error}"));
    let folder = dunce::canonicalize(".").map_err(unusable)?;
    let engine = settings.write().await?;
    let scope = scope_at(&engine, &folder).await?;
    let bar = bar(global, "reading", "{msg} [{bar:32}] {pos}/{len} files {eta}");
    let mut progress = |progress: wunderblock::Progress| update(&bar, progress.done, progress.total);
    let done = engine.documents().index(&wanted.paths, &scope, &mut progress).await;
    bar.finish_and_clear();
    let done = done?;
    catch_up(&engine, global).await?;
    answer(global, &done, || picture(&done))?;
    let is_nothing = done.new + done.changed + done.unchanged == 0;
    Ok(if is_nothing || !done.problems.is_empty() { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}

fn picture(done: &IndexedDocuments) -> String {
    let counts = [
        (done.new, "new"),
        (done.changed, "changed"),
        (done.unchanged, "unchanged"),
        (done.removed, "removed"),
        (done.erased, "erased before"),
    ];
    let counts = counts.into_iter().filter(|(count, what)| *count > 0 || *what == "new");
    let counts: Vec<String> = counts.map(|(count, what)| format!("{} {what}", grouped(count))).collect();
    let mut out = format!("{}; {} stored\n", counts.join(", "), plural(done.sections, "section", "sections"));
    if !done.skipped.is_empty() {
        let skipped = done.skipped.iter().map(|(kind, count)| format!("{} {}", grouped(*count), clean(kind)));
        out.push_str(&format!("skipped: {}\n", skipped.collect::<Vec<_>>().join(", ")));
    }
    for problem in &done.problems {
        out.push_str(&format!("• {} {}\n", clean(&problem.path.to_string_lossy()), clean(&problem.why)));
    }
    out
}
