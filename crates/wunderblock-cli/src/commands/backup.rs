//! `backup`: the ledger in a second file.

use crate::args::{Backup, Global};
use crate::console::{print, print_report};
use crate::exit::{Failure, REFUSED};
use crate::settings::Settings;
use crate::terminal::clean;
use std::process::ExitCode;
use wunderblock::report::BackupReport;
use wunderblock_core::stub::grouped;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Backup) -> Result<ExitCode, Failure> {
    let engine = settings.read_only().await?;
    if wanted.to.exists() {
        let why = format!("{} exists already; give a path where nothing is", wanted.to.display());
        return Err(Failure::Door(REFUSED, why));
    }
    let bytes = engine.ledger().backup(&wanted.to).await?;
    if global.json {
        print_report(&BackupReport { path: &wanted.to, bytes })?;
    } else {
        print(&format!("{}: {} bytes\n", clean(&wanted.to.to_string_lossy()), grouped(bytes)))?;
    }
    Ok(ExitCode::SUCCESS)
}
