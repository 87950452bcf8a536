//! What erasures say, and erasing in copies of the ledger.

use crate::args::Global;
use crate::drawing::columns::plural;
use crate::drawing::terminal::clean;
use crate::output::console::say;
use crate::output::exit::Failure;
use std::collections::BTreeSet;
use std::path::PathBuf;
use wunderblock::store::sqlite::Access;
use wunderblock::{Engine, Erased, ErasedPart, Error};
use wunderblock_core::stub::grouped;
use wunderblock_settings::Settings;

/// Erases in the copies of a ledger that have some of the content if `erase` is given. Returns those that still have
/// some of it.
pub(super) async fn copies(
    settings: &Settings,
    engine: &Engine,
    part: ErasedPart<'_>,
    erase: Option<impl AsyncFn(&Engine) -> Result<(), Error>>,
) -> Result<Vec<PathBuf>, Failure> {
    let found = engine.ledger().copies_with(part).await?;
    let Some(erase) = erase.filter(|_| !found.is_empty()) else { return Ok(found) };
    let mut failed = BTreeSet::new();
    for path in found {
        // A copy that cannot be opened, such as a backup that is being made, is named below, and so is one in which the
        // erasure fails.
        let Ok(copy) = Engine::open_with(&path, Access::Write, settings.config()).await else { continue };
        if engine.ledger().has_copy(&copy) && erase(&copy).await.is_err() {
            failed.insert(path);
        }
    }
    failed.extend(engine.ledger().copies_with(part).await?);
    Ok(failed.into_iter().collect())
}

/// Names the copies that still have the content.
pub(super) fn name(global: &Global, left: &[PathBuf]) {
    if !left.is_empty() {
        let names = left.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>().join(", ");
        let (names, count) = (clean(&names), plural(left.len() as u64, "copy", "copies"));
        let text = format!(
            "left: {count} of the ledger with the content: {names}; --with-kept erases it there, too"
        );
        say(global, &text);
    }
}

/// Returns what was erased, as a line. `what` precedes the amounts, and `more` follows them.
pub(super) fn told(what: &str, erased: &Erased, more: &str) -> String {
    let (events, bodies) = (plural(erased.events, "event", "events"), plural(erased.blobs, "body", "bodies"));
    let bytes = grouped(erased.source_bytes.0);
    format!("erased{what}: {events}, {bodies}, {bytes} bytes of originals{more}\n")
}
