//! `undo`: the view from before a compaction.

use super::{print, print_json, session};
use crate::args::{Global, UndoArgs};
use crate::exit::Failure;
use crate::settings::Settings;
use serde_json::json;
use std::process::ExitCode;
use wunderblock::Error;
use wunderblock_core::id::LaneId;
use wunderblock_core::stub::grouped;

pub(crate) async fn run(
    global: &Global,
    settings: &Settings,
    wanted: &UndoArgs,
) -> Result<ExitCode, Failure> {
    let engine = settings.existing().await?;
    let session = session(&engine, global, &wanted.session.session).await?;
    let lane = LaneId::new(wanted.lane.clone()).map_err(Error::from)?;
    let undone = session.undo(&lane).await?;
    if global.json {
        print_json(&json!({
            "session": session.id().as_str(),
            "lane": lane.as_str(),
            "undone_seq": undone.compaction.0,
            "policy": undone.policy,
            "tokens_before": undone.after.0,
            "tokens_after": undone.before.0,
            "seq": undone.recorded.0,
        }))?;
    } else {
        print(&format!(
            "the compaction at position {} (policy {}) is undone: {} → {} tokens\n",
            undone.compaction,
            undone.policy,
            grouped(undone.after.0),
            grouped(undone.before.0)
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
