//! Task lists as agents keep them: with a tool that writes the whole list, with tools that write or change one item,
//! or as boxes in a text.

use super::act::{Kind, kind, plain_name};
use super::change::WrittenText;
use regex::{Captures, Regex};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::sync::LazyLock;
use wunderblock_core::state::ItemStatus;
use wunderblock_core::units::Seq;
use wunderblock_core::work::TodoItem;

/// A task list at a given moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Open tasks in order, and for each one whether it is in progress.
    pub(crate) open: Vec<(String, bool)>,
    /// Tasks that are done or dropped.
    pub(crate) done: Vec<String>,
}

/// Change that a call makes to a task list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TodoCall {
    /// Replaces the list with the given items.
    Whole(Vec<TodoItem>),
    /// Adds these items, or replaces items with the same id.
    Merged(Vec<TodoItem>),
    /// Adds this item. Its result states the id.
    Added(TodoItem),
    /// Changes the status or the words of the item with this id.
    Changed(Box<str>, Option<ItemStatus>, Option<Box<str>>),
}

/// Maximum number of items that are read from a list.
const ENTRIES_MAX: usize = 200;
/// Maximum number of bytes in an input that is searched for a list.
const INPUT_MAX: usize = 256 << 10;

/// Words that identify lists; `todo.toml` explains each field.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct TodoWords {
    adds: Vec<String>,
    changes: Vec<String>,
    merges: Vec<String>,
    presents: Vec<String>,
    texts: Vec<String>,
    states: Vec<String>,
    ids: Vec<String>,
    done: Vec<String>,
    doing: Vec<String>,
    blocked: Vec<String>,
    dropped: Vec<String>,
    reports: Vec<String>,
    denials: Vec<String>,
    listed: String,
}

// Tests check that the embedded words parse.
static WORDS: LazyLock<TodoWords> =
    LazyLock::new(|| toml::from_str(include_str!("todo.toml")).unwrap_or_default());

impl Plan {
    /// Sorts the items of a list by their status.
    pub(in crate::extract) fn of(items: &[TodoItem]) -> Self {
        let mut plan = Self::default();
        items.iter().for_each(|item| plan.add(&item.what, item.status));
        plan
    }

    pub(in crate::extract) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.done.is_empty()
    }

    fn add(&mut self, text: &str, state: ItemStatus) {
        let text = text.trim().to_owned();
        match state {
            _ if text.is_empty() => {}
            ItemStatus::Done | ItemStatus::Dropped => self.done.push(text),
            ItemStatus::InProgress => self.open.push((text, true)),
            ItemStatus::Pending | ItemStatus::Blocked => self.open.push((text, false)),
        }
    }
}

/// Returns whether a tool keeps a whole list or single items of a list.
pub(in crate::extract) fn keeps_list(name: &str) -> bool {
    kind(name) == Kind::Plan
        || WORDS.adds.contains(&plain_name(name))
        || WORDS.changes.contains(&plain_name(name))
}

/// Returns the change that a call makes to the list, or `None` if the tool keeps no list.
pub fn todo_call(name: &str, input: &str) -> Option<TodoCall> {
    if !keeps_list(name) || input.len() > INPUT_MAX {
        return None;
    }
    let (adds, changes) = (WORDS.adds.contains(&plain_name(name)), WORDS.changes.contains(&plain_name(name)));
    let Value::Object(fields) = serde_json::from_str(input).ok()? else { return None };
    if adds {
        return item(&fields, true).map(TodoCall::Added);
    }
    if changes {
        let id = id(&fields)?;
        let state = first(&fields, &WORDS.states).map(state_of);
        let words = first(&fields, &WORDS.texts).and_then(Value::as_str).map(Into::into);
        return Some(TodoCall::Changed(id, state, words));
    }
    let items = fields.values().find_map(list)?;
    let merges = first(&fields, &WORDS.merges).is_some_and(|value| value == &Value::Bool(true));
    Some(if merges { TodoCall::Merged(items) } else { TodoCall::Whole(items) })
}

/// Returns the plan that a call presents to the user, or `None` if the tool presents none.
pub fn plan_call(name: &str, input: &str) -> Option<String> {
    if !WORDS.presents.contains(&plain_name(name)) || input.len() > INPUT_MAX {
        return None;
    }
    let Value::Object(fields) = serde_json::from_str(input).ok()? else { return None };
    Some(fields.get("plan")?.as_str()?.trim().to_owned()).filter(|plan| !plan.is_empty())
}

/// Returns the list in an argument, which is an array of objects with a text and a status, or boxes in a text.
fn list(value: &Value) -> Option<Vec<TodoItem>> {
    let items: Vec<TodoItem> = match value {
        Value::Array(list) => {
            list.iter().take(ENTRIES_MAX).filter_map(|entry| item(entry.as_object()?, false)).collect()
        }
        // Some harnesses pass the list as JSON in a string.
        Value::String(text) if text.trim_start().starts_with('[') => {
            let parsed = serde_json::from_str::<Value>(text).ok();
            return parsed.as_ref().and_then(list).or_else(|| boxes(text));
        }
        Value::String(text) => return boxes(text),
        _ => return None,
    };
    (!items.is_empty()).then_some(items)
}

fn first<'v>(fields: &'v Map<String, Value>, names: &[String]) -> Option<&'v Value> {
    names.iter().find_map(|name| fields.get(name))
}

fn id(fields: &Map<String, Value>) -> Option<Box<str>> {
    match first(fields, &WORDS.ids)? {
        Value::String(id) => Some(id.as_str().into()),
        Value::Number(id) => Some(id.to_string().into()),
        _ => None,
    }
}

/// Parses an item of a list. A new item may lack a status.
fn item(fields: &Map<String, Value>, is_new: bool) -> Option<TodoItem> {
    let what = first(fields, &WORDS.texts)?.as_str()?.trim();
    let state = first(fields, &WORDS.states);
    if what.is_empty() || state.is_none() && !is_new {
        return None;
    }
    let status = state.map(state_of).unwrap_or_default();
    Some(TodoItem { what: what.into(), status, id: id(fields), ..TodoItem::default() })
}

fn state_of(value: &Value) -> ItemStatus {
    match value {
        Value::Bool(true) => ItemStatus::Done,
        Value::String(word) => {
            let word = word.to_lowercase();
            let is = |words: &[String]| words.contains(&word);
            match () {
                () if is(&WORDS.done) => ItemStatus::Done,
                () if is(&WORDS.doing) => ItemStatus::InProgress,
                () if is(&WORDS.blocked) => ItemStatus::Blocked,
                () if is(&WORDS.dropped) => ItemStatus::Dropped,
                () => ItemStatus::Pending,
            }
        }
        _ => ItemStatus::Pending,
    }
}

/// Maximum number of bytes before a report that are searched for a denial.
const BEFORE: usize = 24;

/// Returns the changes to items that a result shows, or that the report of a teammate states.
pub(in crate::extract) fn told(text: &str, is_report: bool) -> Vec<TodoCall> {
    static LISTED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(&WORDS.listed).ok());
    static REPORTS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(&WORDS.reports.join("|")).ok());
    if !text.contains('#') && !text.contains("askId") || text.len() > INPUT_MAX {
        return Vec::new();
    }
    let pattern = if is_report { &REPORTS } else { &LISTED };
    let captures = pattern.iter().flat_map(|pattern| pattern.captures_iter(text));
    let change = |found: Captures<'_>| {
        let id = ["id", "idle", "event", "first", "last"].iter().find_map(|name| found.name(name))?;
        let status = found.name("status").map_or(ItemStatus::Done, |word| state_of(&word.as_str().into()));
        // A word such as "when" stands before the report.
        let report = found.get(0)?;
        let from = text.floor_char_boundary(report.start().saturating_sub(BEFORE));
        let lead = text.get(from..report.start()).unwrap_or_default();
        let lead = lead.rsplit(['.', '\n', '>', '!']).next().unwrap_or_default();
        let words = format!("{lead}{}", report.as_str()).to_lowercase();
        let denied = is_report && WORDS.denials.iter().any(|denial| words.contains(denial.as_str()));
        (!denied).then(|| TodoCall::Changed(id.as_str().into(), Some(status), None))
    };
    captures.filter_map(change).collect()
}

/// Applies a call at a position to a list.
pub fn follow(list: &mut Vec<TodoItem>, at: Seq, call: &TodoCall) {
    let placed = |item: &TodoItem| TodoItem { at, span: (at, at), ..item.clone() };
    match call {
        TodoCall::Whole(items) => *list = items.iter().map(placed).collect(),
        TodoCall::Merged(items) => {
            for item in items.iter().map(placed) {
                match list.iter_mut().find(|had| had.id.is_some() && had.id == item.id) {
                    Some(had) => *had = item,
                    None => list.push(item),
                }
            }
        }
        TodoCall::Added(item) => list.push(placed(item)),
        TodoCall::Changed(id, status, words) => {
            let Some(had) = list.iter_mut().find(|had| had.id.as_ref() == Some(id)) else { return };
            had.status = status.unwrap_or(had.status);
            if let Some(words) = words {
                had.what.clone_from(words);
            }
            (had.at, had.span) = (at, (had.span.0, at));
        }
    }
    list.truncate(ENTRIES_MAX);
}

impl TodoCall {
    /// Takes the id of an added item from the call's result, where the id is written `#3`.
    pub(in crate::extract) fn named(&mut self, result: &str) {
        if let Self::Added(item) = self
            && item.id.is_none()
        {
            let digits = result.split('#').nth(1).unwrap_or_default();
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            item.id = digits.get(..end).filter(|id| !id.is_empty()).map(Into::into);
        }
    }
}

/// Returns the boxes in a text, for example: `- [ ] open`, `- [x] done`.
pub(in crate::extract) fn of_text(text: &str) -> Option<Plan> {
    boxes(text).map(|items| Plan::of(&items)).filter(|plan| !plan.is_empty())
}

/// Returns whether a file's name says that the file contains a task list.
pub(in crate::extract) fn is_plan_file(path: &str) -> bool {
    has_in_name(path, &["plan", "todo", "task", "progress", "checklist"])
}

/// Returns whether a file's name says that its boxes are for those who use the file.
pub(in crate::extract) fn is_template(path: &str) -> bool {
    has_in_name(path, &["skill", "template"])
}

fn has_in_name(path: &str, words: &[&str]) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default().to_lowercase();
    words.iter().any(|word| name.contains(word))
}

/// Boxes that a call writes into a file, and boxes that it overwrites.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::extract) struct Ticks {
    over: Vec<TodoItem>,
    written: Vec<TodoItem>,
}

impl Ticks {
    /// Returns the boxes that a change writes and overwrites, or `None` if there are no boxes in the change.
    pub(in crate::extract) fn of_change(change: &WrittenText) -> Option<Self> {
        let all =
            |texts: &[String]| texts.iter().filter_map(|text| boxes(text)).flatten().collect::<Vec<_>>();
        let ticks = Self { over: all(&change.over), written: all(&change.written) };
        (ticks != Self::default()).then_some(ticks)
    }

    /// Returns the boxes that a file shows, with or without line numbers.
    pub(in crate::extract) fn of_file(text: &str) -> Option<Self> {
        Some(Self { over: Vec::new(), written: boxes(text)? })
    }

    /// Updates the list of a file. If `is_whole` is set, the file contains only the new list, so the previous list is
    /// dropped.
    pub(in crate::extract) fn follow(&self, list: &mut Vec<TodoItem>, is_whole: bool) {
        if is_whole {
            list.clear();
        }
        for item in &self.written {
            match list.iter_mut().find(|had| had.what == item.what) {
                Some(had) => had.status = item.status,
                None => list.push(item.clone()),
            }
        }
        let is_in = |items: &[TodoItem], had: &TodoItem| items.iter().any(|item| item.what == had.what);
        // A task that the edit replaced is gone, unless the new text lists it again.
        list.retain(|had| !is_in(&self.over, had) || is_in(&self.written, had));
        list.truncate(ENTRIES_MAX);
    }
}

fn boxes(text: &str) -> Option<Vec<TodoItem>> {
    memchr::memchr(b'[', text.as_bytes())?;
    let mut items = Vec::new();
    for line in text.lines() {
        let line = line.trim_start();
        // Programs that show files put a number before each line.
        let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let line = numbered.strip_prefix(['→', '\t', '|', ':']).map_or(line, str::trim_start);
        let Some(line) = line.strip_prefix(['-', '*', '+']) else { continue };
        let Some(rest) = line.trim_start().strip_prefix('[') else { continue };
        let Some((mark, text)) = rest.split_once(']') else { continue };
        let status = match mark {
            " " | "" => ItemStatus::Pending,
            "x" | "X" | "✓" | "✔" => ItemStatus::Done,
            "~" | "-" | "/" => ItemStatus::InProgress,
            _ => continue,
        };
        // `[x](link)` is a link.
        if !text.starts_with('(') && !text.trim().is_empty() && items.len() < ENTRIES_MAX {
            items.push(TodoItem { what: text.trim().into(), status, ..TodoItem::default() });
        }
    }
    (!items.is_empty()).then_some(items)
}
