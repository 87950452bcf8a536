//! What each tool is called with, what it does in the tree, and what it answers.

use super::sanitise::ROOT;
use super::scenario::{Status, Tool};
use super::tree::Tree;
use crate::program::Outcome;
use serde_json::{Value, json};

/// The longest answer of a command, in characters; the agent cuts what is longer.
const MAX_OUTPUT: usize = 30_000;
/// Lines shown around an edit.
const AROUND: usize = 4;

/// What a tool answered.
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) failed: bool,
}

/// The tool's name and its arguments.
pub(super) fn input(tool: &Tool) -> (&'static str, Value) {
    match *tool {
        Tool::Bash(command) | Tool::Fails(command) => ("Bash", json!({ "command": command })),
        Tool::Read(path) | Tool::Missing(path) => ("Read", json!({ "file_path": absolute(path) })),
        Tool::Lines(path, from, count) => {
            ("Read", json!({ "file_path": absolute(path), "offset": from, "limit": count }))
        }
        Tool::Grep(pattern, path) => {
            ("Grep", json!({ "pattern": pattern, "path": path, "output_mode": "content", "-n": true }))
        }
        Tool::Files(pattern, path) => {
            ("Grep", json!({ "pattern": pattern, "path": path, "output_mode": "files_with_matches" }))
        }
        Tool::Glob(pattern) => ("Glob", json!({ "pattern": pattern })),
        Tool::Edit(path, old, new) | Tool::Misses(path, old, new) => {
            ("Edit", json!({ "file_path": absolute(path), "old_string": old, "new_string": new }))
        }
        Tool::Write(path, content) => ("Write", json!({ "file_path": absolute(path), "content": content })),
        Tool::Todo(list) => {
            let todos: Vec<Value> = list.iter().map(|(status, what)| todo(*status, what)).collect();
            ("TodoWrite", json!({ "todos": todos }))
        }
        Tool::Task(about, prompt, _) => {
            ("Task", json!({ "description": about, "prompt": prompt, "subagent_type": "general-purpose" }))
        }
    }
}

fn todo(status: Status, what: &str) -> Value {
    let status = match status {
        Status::Open => "pending",
        Status::Doing => "in_progress",
        Status::Done => "completed",
    };
    json!({ "content": what, "status": status, "activeForm": what })
}

/// How long it seems to take, in milliseconds.
pub(super) fn duration(tool: &Tool) -> i64 {
    match *tool {
        Tool::Bash(command) | Tool::Fails(command) if command.contains("cargo") => 6_400,
        Tool::Bash(_) | Tool::Fails(_) => 310,
        _ => 45,
    }
}

/// Does what the tool does. A sub-agent is not run here.
pub(super) fn run(tool: &Tool, tree: &Tree) -> Outcome<Answer> {
    match *tool {
        Tool::Bash(command) => command_answer(tree, command, false),
        Tool::Fails(command) => command_answer(tree, command, true),
        Tool::Read(path) => lines(tree, path, 1, 2_000),
        Tool::Lines(path, from, count) => lines(tree, path, from, count),
        Tool::Missing(path) if !tree.path(path).exists() => failure("File does not exist.".to_owned()),
        Tool::Missing(path) => Err(format!("{path} is there").into()),
        Tool::Grep(pattern, path) => {
            let found = tree.search(&["-n", "--no-heading", "-e", pattern, path])?;
            success(found.map_or_else(|| "No matches found".to_owned(), |found| cut(found.trim_end())))
        }
        Tool::Files(pattern, path) => {
            let found = tree.search(&["-l", "-e", pattern, path])?;
            success(found.map_or_else(|| "No files found".to_owned(), |found| listed(&found)))
        }
        Tool::Glob(pattern) => {
            let found = tree.search(&["--files", "-g", pattern])?;
            let paths = |found: String| found.lines().map(|line| format!("{ROOT}/{line}\n")).collect();
            success(found.map_or_else(|| "No files found".to_owned(), paths))
        }
        Tool::Edit(path, old, new) => edit(tree, path, old, new),
        Tool::Misses(path, old, _) => {
            if std::fs::read_to_string(tree.path(path))?.contains(old) {
                return Err(format!("{path} holds what the scenario says it does not:\n{old}").into());
            }
            failure(format!("No match in {} for the text to be replaced:\n{old}", absolute(path)))
        }
        Tool::Write(path, content) => {
            let file = tree.path(path);
            let verb = if file.exists() { "overwritten" } else { "created" };
            if let Some(folder) = file.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(file, content)?;
            success(format!("{} has been {verb}.", absolute(path)))
        }
        Tool::Todo(_) => success("The list has been updated.".to_owned()),
        Tool::Task(about, ..) => Err(format!("the sub-agent `{about}` is run by the player").into()),
    }
}

/// Changes a file in which `old` stands exactly once; the answer is the file after it.
pub(super) fn replace(tree: &Tree, path: &str, old: &str, new: &str) -> Outcome<String> {
    let file = tree.path(path);
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{path}: {error}"))?;
    match text.matches(old).count() {
        1 => {}
        count => return Err(format!("{path} holds this {count} times, not once:\n{old}").into()),
    }
    let text = text.replacen(old, new, 1);
    std::fs::write(file, &text)?;
    Ok(text)
}

fn edit(tree: &Tree, path: &str, old: &str, new: &str) -> Outcome<Answer> {
    let text = replace(tree, path, old, new)?;
    let before = text.split(new).next().unwrap_or_default().lines().count();
    let from = before.saturating_sub(AROUND);
    let shown = numbered(&text, from, new.lines().count() + 2 * AROUND);
    success(format!("{} has been updated. Around the change it now reads:\n{shown}", absolute(path)))
}

fn command_answer(tree: &Tree, command: &str, fails: bool) -> Outcome<Answer> {
    let ran = tree.bash(command)?;
    if (ran.code != 0) != fails {
        return Err(format!(
            "`{command}` ended with {}, which the scenario does not expect:\n{}",
            ran.code, ran.output
        )
        .into());
    }
    let output = cut(ran.output.trim_end());
    if fails {
        failure(format!("Exit code {}\n{output}", ran.code).trim_end().to_owned())
    } else {
        success(output)
    }
}

fn lines(tree: &Tree, path: &str, from: usize, count: usize) -> Outcome<Answer> {
    let text = std::fs::read_to_string(tree.path(path)).map_err(|error| format!("{path}: {error}"))?;
    let text = tree.sanitiser().clean(&text);
    let shown = numbered(&text, from.saturating_sub(1), count);
    if shown.is_empty() { Err(format!("{path} has no line {from}").into()) } else { success(shown) }
}

fn numbered(text: &str, skip: usize, count: usize) -> String {
    let shown = text.lines().enumerate().skip(skip).take(count);
    let shown: Vec<String> = shown.map(|(index, line)| format!("{:>6}→{line}", index + 1)).collect();
    shown.join("\n")
}

fn listed(found: &str) -> String {
    format!("Found {} files\n{}", found.lines().count(), found.trim_end())
}

/// Head and tail of an output that is too long.
fn cut(output: &str) -> String {
    let length = output.chars().count();
    if length <= MAX_OUTPUT {
        return output.to_owned();
    }
    let half = MAX_OUTPUT / 2;
    let head: String = output.chars().take(half).collect();
    let tail: String = output.chars().skip(length - half).collect();
    let gone = output.lines().count().saturating_sub(head.lines().count() + tail.lines().count());
    format!("{head}\n\n... [{gone} lines truncated] ...\n\n{tail}")
}

fn absolute(path: &str) -> String {
    format!("{ROOT}/{path}")
}

fn success(text: String) -> Outcome<Answer> {
    Ok(Answer { text, failed: false })
}

fn failure(text: String) -> Outcome<Answer> {
    Ok(Answer { text, failed: true })
}
