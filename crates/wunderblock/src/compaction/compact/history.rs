//! Reading a session's steps, compactions and tasks from the ledger.

use crate::base::error::Error;
use crate::ledger::reading::query_batch::EVERY;
use crate::request::desk::ControlEvents;
use crate::request::need::MarkedWanted;
use std::collections::BTreeSet;
use wunderblock_core::compact::TaskMark;
use wunderblock_core::compact::task::TaskSource;
use wunderblock_core::event::{Event, Fact, ViewTrimmed};
use wunderblock_core::id::LaneId;
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::Seq;
use wunderblock_core::view::View;
use wunderblock_store::Marked;

/// Returns the steps of a lane up to a position, latest first, without the contradictory ones that no lane follows.
pub(crate) async fn recorded_steps(
    of: &impl ControlEvents,
    lane: &LaneId,
    to: Seq,
) -> Result<Vec<(Seq, ViewTrimmed)>, Error> {
    let steps = marked_events(of, Marked::OfLane("view.trimmed", lane.clone()), to).await?.into_iter();
    let own = steps.filter_map(|event| match event.fact {
        Some(fact) if fact.contradiction(event.seq).is_some() => None,
        Some(Fact::ViewTrimmed(step)) => Some((event.seq, step)),
        _ => None,
    });
    Ok(own.collect())
}

/// Returns the positions of the steps undone up to a position.
pub(crate) async fn undone_steps(
    of: &impl ControlEvents,
    what: Marked,
    to: Seq,
) -> Result<BTreeSet<Seq>, Error> {
    let undone = marked_events(of, what, to).await?.into_iter();
    let step = |event: Event| match event.fact {
        Some(Fact::CompactionUndone(undone)) => Some(undone.compaction),
        _ => None,
    };
    Ok(undone.filter_map(step).collect())
}

/// Returns all control events of a kind up to a position, latest first.
pub(crate) async fn marked_events(
    of: &impl ControlEvents,
    what: Marked,
    to: Seq,
) -> Result<Vec<Event>, Error> {
    of.marked(MarkedWanted { what, to, limit: EVERY }).await
}

/// Returns the first result of `find` over the control events up to a position, latest first. Reads a page at a time,
/// so the latest event of a long history is found as fast as that of a short one.
pub(crate) async fn find_newest<T>(
    of: &impl ControlEvents,
    what: Marked,
    to: Seq,
    mut find: impl FnMut(Event) -> Option<T>,
) -> Result<Option<T>, Error> {
    let mut to = to;
    loop {
        let events = of.marked(MarkedWanted { what: what.clone(), to, limit: PAGE }).await?;
        let next = events.last().filter(|_| events.len() as u64 == PAGE).map(|last| last.seq.prev());
        if let Some(found) = events.into_iter().find_map(&mut find) {
            return Ok(Some(found));
        }
        match next {
            Some(next) => to = next,
            _ => return Ok(None),
        }
    }
}

/// Events read at a time.
const PAGE: u64 = 32;
/// Maximum number of task marks of each kind that are read, starting with the latest. Older marks divide a part of
/// the session that was summarised long ago.
const MARKS_MAX: u64 = 1_024;

/// Returns the mark that an event sets, if it begins or ends a task.
pub(crate) fn task_mark(event: &Event) -> Option<TaskMark> {
    let (ends, title) = match &event.fact {
        Some(Fact::TaskStarted(task)) => (false, task.title.as_ref().unwrap_or(&task.task)),
        Some(Fact::TaskFinished(task)) => (true, &task.task),
        _ => return None,
    };
    Some(TaskMark { at: event.seq, ends, title: Some(title.clone()), by: TaskSource::Event })
}

/// Sorts the marks of events. If no events set marks, uses the marks of the todo list.
pub(crate) fn settled(mut marks: Vec<TaskMark>, view: &View, texts: &dyn Bodies) -> Vec<TaskMark> {
    if marks.is_empty() {
        marks = super::todo::marks(view, texts);
    }
    // At any one position, a task begins before it ends.
    marks.sort_by_key(|mark| (mark.at, mark.ends));
    marks
}

/// Returns the starts and ends of the latest tasks: from events, or else from the todo list.
pub(crate) async fn task_marks(
    of: &impl ControlEvents,
    view: &View,
    texts: &dyn Bodies,
) -> Result<Vec<TaskMark>, Error> {
    let mut marks = Vec::new();
    for kind in ["task.started", "task.finished"] {
        let wanted = MarkedWanted { what: Marked::Kind(kind), to: view.head(), limit: MARKS_MAX };
        marks.extend(of.marked(wanted).await?.iter().filter_map(task_mark));
    }
    Ok(settled(marks, view, texts))
}
