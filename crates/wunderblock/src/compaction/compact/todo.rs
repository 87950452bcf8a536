//! Ends of tasks as the todo list shows them: each item that becomes done ends a task.

use std::collections::BTreeSet;
use wunderblock_core::compact::{TaskMark, task::TaskSource};
use wunderblock_core::message::Part;
use wunderblock_core::ports::Bodies;
use wunderblock_core::state::ItemStatus;
use wunderblock_core::view::View;
use wunderblock_core::work::TodoItem;
use wunderblock_summary::{follow, todo_call};

/// Returns the marks, in order.
pub(super) fn marks(view: &View, texts: &dyn Bodies) -> Vec<TaskMark> {
    let mut marks = Vec::new();
    let mut list = Vec::new();
    for entry in view.entries() {
        for part in &entry.message.parts {
            let Part::ToolCall { name, input, .. } = part else { continue };
            let Some(call) = texts.of(input).and_then(|input| todo_call(name, input)) else { continue };
            let open = list.iter().filter(|item| !is_done(item)).map(|item: &TodoItem| item.what.clone());
            let open: BTreeSet<Box<str>> = open.collect();
            follow(&mut list, entry.seq, &call);
            for item in list.iter().filter(|item| is_done(item) && open.contains(&item.what)) {
                let title = Some(item.what.clone());
                marks.push(TaskMark { at: entry.seq, ends: true, title, by: TaskSource::Todo });
            }
        }
    }
    // Several items that the same call marks as done end one task.
    marks.dedup_by_key(|mark| mark.at);
    marks
}

fn is_done(item: &TodoItem) -> bool {
    item.status == ItemStatus::Done
}
