//! The newest state of a list of what is to be done.

use serde_json::Value;

/// A list as it stood at some moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Plan {
    /// What is still to be done, in order, and whether it is being done.
    pub(in super::super) open: Vec<(String, bool)>,
    /// What is done.
    pub(in super::super) done: Vec<String>,
}

/// A longer list is read no further.
const ENTRIES_MAX: usize = 200;
/// A list in a larger text is not looked for, in bytes.
const INPUT_MAX: usize = 256 << 10;

const TEXTS: [&str; 8] = ["content", "step", "text", "title", "task", "subject", "description", "name"];
const STATES: [&str; 4] = ["status", "state", "done", "completed"];

impl Plan {
    fn is_empty(&self) -> bool {
        self.open.is_empty() && self.done.is_empty()
    }

    fn add(&mut self, text: &str, state: TodoState) {
        let text = text.trim().to_owned();
        match state {
            _ if text.is_empty() => {}
            TodoState::Done => self.done.push(text),
            TodoState::Open => self.open.push((text, false)),
            TodoState::Doing => self.open.push((text, true)),
        }
    }
}

#[derive(Clone, Copy)]
enum TodoState {
    Open,
    Doing,
    Done,
}

/// The list in the input of a call: an array of objects that have a text and a state.
pub(super) fn of_call(input: &str) -> Option<Plan> {
    if input.len() > INPUT_MAX {
        return None;
    }
    let Value::Object(fields) = serde_json::from_str(input).ok()? else { return None };
    let mut plan = Plan::default();
    for value in fields.values() {
        let list = match value {
            Value::Array(list) => list.clone(),
            // Some harnesses pass the list as a text.
            Value::String(text) if text.trim_start().starts_with('[') => {
                serde_json::from_str(text).unwrap_or_default()
            }
            Value::String(text) => {
                if let Some(read) = of_text(text) {
                    return Some(read);
                }
                continue;
            }
            _ => continue,
        };
        for entry in list.iter().take(ENTRIES_MAX) {
            let Value::Object(entry) = entry else { continue };
            let text = TEXTS.iter().find_map(|name| entry.get(*name)).and_then(Value::as_str);
            let state = STATES.iter().find_map(|name| entry.get(*name));
            if let (Some(text), Some(state)) = (text, state) {
                plan.add(text, state_of(state));
            }
        }
        if !plan.is_empty() {
            break;
        }
    }
    (!plan.is_empty()).then_some(plan)
}

fn state_of(value: &Value) -> TodoState {
    match value {
        Value::Bool(true) => TodoState::Done,
        Value::String(word) => match word.to_ascii_lowercase().as_str() {
            "completed" | "complete" | "done" | "finished" | "cancelled" | "canceled" | "已完成" => {
                TodoState::Done
            }
            "in_progress" | "in-progress" | "doing" | "active" | "进行中" => TodoState::Doing,
            _ => TodoState::Open,
        },
        _ => TodoState::Open,
    }
}

/// The boxes of a text: `- [ ] open`, `- [x] done`.
pub(super) fn of_text(text: &str) -> Option<Plan> {
    memchr::memchr(b'[', text.as_bytes())?;
    let mut plan = Plan::default();
    for line in text.lines() {
        let line = line.trim_start();
        let Some(line) = line.strip_prefix(['-', '*', '+']) else { continue };
        let Some(rest) = line.trim_start().strip_prefix('[') else { continue };
        let Some((mark, text)) = rest.split_once(']') else { continue };
        let state = match mark {
            " " | "" => TodoState::Open,
            "x" | "X" | "✓" | "✔" => TodoState::Done,
            "~" | "-" | "/" => TodoState::Doing,
            _ => continue,
        };
        // `[x](link)` is a link.
        if !text.starts_with('(') && plan.open.len() + plan.done.len() < ENTRIES_MAX {
            plan.add(text, state);
        }
    }
    (!plan.is_empty()).then_some(plan)
}
