//! Where tasks begin and end by what became of the todo list: an item that is done ends one.

use std::collections::BTreeMap;
use wunderblock_core::compact::{TaskMark, task::TaskSource};
use wunderblock_core::message::Part;
use wunderblock_core::ports::Bodies;
use wunderblock_core::view::View;

/// Names of tools that write a whole todo list.
const TOOLS: [&str; 5] = ["TodoWrite", "todo_write", "todowrite", "update_plan", "write_todos"];
/// Fields that hold the list, of an item its words, and how far it is.
const LISTS: [&str; 3] = ["todos", "plan", "items"];
const WORDS: [&str; 5] = ["content", "step", "text", "title", "description"];
/// Values that say that an item is done.
const DONE: [&str; 3] = ["completed", "done", "complete"];

/// The marks, in order.
pub(super) fn marks(view: &View, texts: &dyn Bodies) -> Vec<TaskMark> {
    let mut marks = Vec::new();
    let mut before: BTreeMap<String, bool> = BTreeMap::new();
    for entry in view.entries() {
        for part in &entry.message.parts {
            let Part::ToolCall { name, input, .. } = part else { continue };
            if !TOOLS.iter().any(|tool| tool.eq_ignore_ascii_case(name)) {
                continue;
            }
            let Some(items) = texts.of(input).and_then(items) else { continue };
            for (words, done) in &items {
                if *done && before.get(words) == Some(&false) {
                    let title = Some(words.as_str().into());
                    marks.push(TaskMark { at: entry.seq, ends: true, title, by: TaskSource::Todo });
                }
            }
            before = items;
        }
    }
    // Several items that are done at once end one task.
    marks.dedup_by_key(|mark| mark.at);
    marks
}

/// The items of a list, and whether each is done.
fn items(json: &str) -> Option<BTreeMap<String, bool>> {
    let value: serde_json::Value = serde_json::from_str(json).ok()?;
    let list = LISTS.iter().find_map(|name| value.get(name)?.as_array())?;
    let item = |item: &serde_json::Value| {
        let words = WORDS.iter().find_map(|name| item.get(name)?.as_str())?.trim().to_owned();
        let done = item
            .get("status")
            .and_then(|status| status.as_str())
            .is_some_and(|status| DONE.contains(&status));
        (!words.is_empty()).then_some((words, done))
    };
    Some(list.iter().filter_map(item).collect())
}
