//! `backup`: copies the ledger to a new file.

use crate::args::{Backup, Global};
use crate::drawing::terminal::clean;
use crate::output::console::{answer, say};
use crate::output::exit::{Exit, Failure, REFUSED};
use wunderblock::BackedUp;
use wunderblock::report::BackupReport;
use wunderblock::store::sqlite::is_of_ledger;
use wunderblock_core::stub::grouped;
use wunderblock_settings::Settings;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Backup) -> Exit {
    let engine = settings.read_only().await?;
    if wanted.to.exists() {
        let why = format!("{} already exists; give a path that does not exist", wanted.to.display());
        return Err(Failure::Door(REFUSED, why));
    }
    // A name such as that of the log would make the backup a part of the ledger.
    if is_of_ledger(&settings.db, &wanted.to) {
        let why = format!("{} belongs to a ledger; name another file", wanted.to.display());
        return Err(Failure::Door(REFUSED, why));
    }
    let BackedUp { bytes, noted } = engine.ledger().backup(&wanted.to).await?;
    if !noted {
        say(
            global,
            "the ledger cannot be written, so it does not know this backup: a later erasure does not look into it",
        );
    }
    let report = BackupReport { path: &wanted.to, bytes, noted };
    answer(global, &report, || format!("{}: {} bytes\n", clean(&wanted.to.to_string_lossy()), grouped(bytes)))
}
