//! `erase --document`: erases what the ledger keeps of documents.

use super::elsewhere;
use super::waiting::Waiting;
use crate::args::{Erase, Global};
use crate::drawing::columns::plural;
use crate::drawing::terminal::clean;
use crate::output::console::{answer, print, print_report, say};
use crate::output::exit::{Exit, Failure, REFUSED};
use std::path::Path;
use std::process::ExitCode;
use wunderblock::report::EraseDocumentsReport;
use wunderblock::{Engine, ErasedPart};
use wunderblock_settings::Settings;

pub(super) async fn run(global: &Global, settings: &Settings, wanted: &Erase, path: &Path) -> Exit {
    let engine = settings.existing().await?;
    let known = engine.documents().at(path).await?;
    let count = plural(known.len() as u64, "document", "documents");
    if !wanted.yes {
        answer(global, &known, || {
            known.iter().map(|document| format!("{}\n", clean(&document.path.to_string_lossy()))).collect()
        })?;
        let text = format!("{count} would be erased permanently, with all versions; confirm with --yes");
        return Err(Failure::Door(REFUSED, text));
    }
    let waiting = Waiting::begin(global, &engine);
    let erased = engine.documents().erase(path, wanted.reason.as_deref()).await;
    drop(waiting);
    let erased = erased?;
    let again = async |copy: &Engine| copy.documents().erase(path, wanted.reason.as_deref()).await.map(drop);
    let again = wanted.with_kept.then_some(again);
    let left_in = elsewhere::copies(settings, &engine, ErasedPart::Documents(path), again).await?;
    if global.json {
        print_report(&EraseDocumentsReport { documents: &known, erased: &erased, files_left: &left_in })?;
    } else {
        print(&elsewhere::told(&format!(" {count}"), &erased, ""))?;
        say(global, "the files stay where they are; `index` leaves them out until they change");
    }
    elsewhere::name(global, &left_in);
    Ok(ExitCode::SUCCESS)
}
