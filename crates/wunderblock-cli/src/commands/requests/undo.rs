//! `undo`: restores the view from before a compaction.

use crate::args::{Global, UndoArgs};
use crate::drawing::terminal::clean;
use crate::output::console::answer;
use crate::output::exit::Exit;
use crate::resolve::lookup::lookup;
use crate::resolve::names::short;
use wunderblock::report::UndoReport;
use wunderblock_core::stub::grouped;
use wunderblock_settings::{Settings, lane};

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &UndoArgs) -> Exit {
    let engine = settings.existing().await?;
    let session = lookup(global).session(&engine, &wanted.session.session).await?;
    let undone = session.lane(lane(wanted.lane.as_deref())?).undo().await?;
    let name = short(&session).await?;
    answer(global, &UndoReport::new(session.id().as_str(), &undone), || {
        format!(
            "lane {}: undone the compaction of {name}#{} (policy {}): {} → {} tokens\n",
            clean(undone.lane.as_str()),
            undone.compaction,
            undone.policy,
            grouped(undone.after.0),
            grouped(undone.before.0)
        )
    })
}
