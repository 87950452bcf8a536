//! `undo`: the view from before a compaction.

use crate::args::{Global, UndoArgs};
use crate::console::answer;
use crate::exit::Exit;
use crate::lookup::session;
use crate::settings::Settings;
use wunderblock::Error;
use wunderblock::report::UndoReport;
use wunderblock_core::id::LaneId;
use wunderblock_core::stub::grouped;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &UndoArgs) -> Exit {
    let engine = settings.existing().await?;
    let session = session(&engine, global, &wanted.session.session).await?;
    let lane = LaneId::new(wanted.lane.clone()).map_err(Error::from)?;
    let undone = session.lane(lane.clone()).undo().await?;
    answer(global, &UndoReport::new(session.id().as_str(), &lane, &undone), || {
        format!(
            "the compaction at position {} (policy {}) is undone: {} → {} tokens\n",
            undone.compaction,
            undone.policy,
            grouped(undone.after.0),
            grouped(undone.before.0)
        )
    })
}
