//! `backup`: the ledger in a second file.

use crate::args::{Backup, Global};
use crate::console::{print, print_json};
use crate::exit::{Failure, REFUSED};
use crate::settings::Settings;
use crate::terminal::clean;
use serde_json::json;
use std::process::ExitCode;
use wunderblock_core::stub::grouped;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Backup) -> Result<ExitCode, Failure> {
    let engine = settings.read_only().await?;
    if wanted.to.exists() {
        let why = format!("{} exists already; give a path where nothing is", wanted.to.display());
        return Err(Failure::Door(REFUSED, why));
    }
    let bytes = engine.ledger().backup(&wanted.to).await?;
    let path = wanted.to.to_string_lossy();
    if global.json {
        print_json(&json!({ "path": path, "bytes": bytes }))?;
    } else {
        print(&format!("{}: {} bytes\n", clean(&path), grouped(bytes)))?;
    }
    Ok(ExitCode::SUCCESS)
}
