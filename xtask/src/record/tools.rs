//! Arguments of each tool, its effect on the repository's copy, and its result.

use super::sanitise::ROOT;
use super::scenario::{TodoStatus, ToolUse};
use super::tree::RepositoryCopy;
use crate::program::ChoreResult;
use serde_json::{Value, json};

/// Maximum length of a command's output, in characters. The imitated agent cuts longer outputs.
const MAX_OUTPUT: usize = 30_000;
/// Maximum number of lines shown of a file that is read without a limit.
const MAX_LINES: usize = 2_000;
/// Number of lines shown before and after an edit.
const AROUND: usize = 4;

/// Result of a tool call.
pub(super) struct ToolOutput {
    pub(super) text: String,
    pub(super) failed: bool,
}

/// Returns the tool's name and its arguments.
pub(super) fn input(tool: &ToolUse) -> (&'static str, Value) {
    match tool {
        ToolUse::Bash(command) | ToolUse::Fails(command) => ("Bash", json!({ "command": command })),
        ToolUse::Read { path, offset: Some(from), limit } => {
            ("Read", json!({ "file_path": absolute(path), "offset": from, "limit": limit }))
        }
        ToolUse::Read { path, .. } | ToolUse::Missing(path) => {
            ("Read", json!({ "file_path": absolute(path) }))
        }
        ToolUse::Grep { pattern, path } => {
            ("Grep", json!({ "pattern": pattern, "path": path, "output_mode": "content", "-n": true }))
        }
        ToolUse::Files { pattern, path } => {
            ("Grep", json!({ "pattern": pattern, "path": path, "output_mode": "files_with_matches" }))
        }
        ToolUse::Glob(pattern) => ("Glob", json!({ "pattern": pattern })),
        ToolUse::Edit { path, old, new } | ToolUse::Misses { path, old, new } => {
            ("Edit", json!({ "file_path": absolute(path), "old_string": old, "new_string": new }))
        }
        ToolUse::Write { path, content } => {
            ("Write", json!({ "file_path": absolute(path), "content": content }))
        }
        ToolUse::Todo(list) => {
            let todo = |(status, what): &(TodoStatus, String)| json!({ "content": what, "status": status, "activeForm": what });
            let todos: Vec<Value> = list.iter().map(todo).collect();
            ("TodoWrite", json!({ "todos": todos }))
        }
        ToolUse::Task { description, prompt, .. } => (
            "Task",
            json!({ "description": description, "prompt": prompt, "subagent_type": "general-purpose" }),
        ),
    }
}

/// Apparent duration of a tool call in the transcript, in milliseconds.
pub(super) fn duration(tool: &ToolUse) -> i64 {
    match tool {
        ToolUse::Bash(command) | ToolUse::Fails(command) if command.contains("cargo") => 6_400,
        ToolUse::Bash(_) | ToolUse::Fails(_) => 310,
        _ => 45,
    }
}

/// Runs a tool and returns its result. The player runs sub-agents itself.
pub(super) fn run(tool: &ToolUse, tree: &RepositoryCopy) -> ChoreResult<ToolOutput> {
    match tool {
        ToolUse::Bash(command) => command_answer(tree, command, false),
        ToolUse::Fails(command) => command_answer(tree, command, true),
        ToolUse::Read { path, offset, limit } => {
            lines(tree, path, offset.unwrap_or(1), limit.unwrap_or(MAX_LINES))
        }
        ToolUse::Missing(path) if !tree.path(path).exists() => failure("File does not exist.".to_owned()),
        ToolUse::Missing(path) => Err(format!("{path} exists; the scenario expects it to be missing").into()),
        ToolUse::Grep { pattern, path } => {
            let found = tree.search(&["-n", "--no-heading", "-e", pattern, path])?;
            success(found.map_or_else(|| "No matches found".to_owned(), |found| cut(found.trim_end())))
        }
        ToolUse::Files { pattern, path } => {
            let found = tree.search(&["-l", "-e", pattern, path])?;
            success(found.map_or_else(|| "No files found".to_owned(), |found| listed(&found)))
        }
        ToolUse::Glob(pattern) => {
            let found = tree.search(&["--files", "-g", pattern])?;
            let paths = |found: String| found.lines().map(|line| format!("{ROOT}/{line}\n")).collect();
            success(found.map_or_else(|| "No files found".to_owned(), paths))
        }
        ToolUse::Edit { path, old, new } => edit(tree, path, old, new),
        ToolUse::Misses { path, old, .. } => {
            if std::fs::read_to_string(tree.path(path))?.contains(old) {
                return Err(format!(
                    "{path} contains a text that the scenario expects to be missing:\n{old}"
                )
                .into());
            }
            failure(format!("No match in {} for the text to be replaced:\n{old}", absolute(path)))
        }
        ToolUse::Write { path, content } => {
            let file = tree.path(path);
            let verb = if file.exists() { "overwritten" } else { "created" };
            if let Some(folder) = file.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(file, content)?;
            success(format!("{} has been {verb}.", absolute(path)))
        }
        ToolUse::Todo(_) => success("The list has been updated.".to_owned()),
        ToolUse::Task { description, .. } => {
            Err(format!("the sub-agent `{description}` is run by the player").into())
        }
    }
}

/// Replaces `old` in a file, where it must occur exactly once, and returns the new content.
pub(super) fn replace(tree: &RepositoryCopy, path: &str, old: &str, new: &str) -> ChoreResult<String> {
    let file = tree.path(path);
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{path}: {error}"))?;
    match text.matches(old).count() {
        1 => {}
        count => return Err(format!("{path} contains this text {count} times; expected once:\n{old}").into()),
    }
    let text = text.replacen(old, new, 1);
    std::fs::write(file, &text)?;
    Ok(text)
}

fn edit(tree: &RepositoryCopy, path: &str, old: &str, new: &str) -> ChoreResult<ToolOutput> {
    let text = replace(tree, path, old, new)?;
    let before = text.split(new).next().unwrap_or_default().lines().count();
    let from = before.saturating_sub(AROUND);
    let shown = numbered(&text, from, new.lines().count() + 2 * AROUND);
    success(format!("{} has been updated. Around the change it now reads:\n{shown}", absolute(path)))
}

fn command_answer(tree: &RepositoryCopy, command: &str, fails: bool) -> ChoreResult<ToolOutput> {
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

fn lines(tree: &RepositoryCopy, path: &str, from: usize, count: usize) -> ChoreResult<ToolOutput> {
    let text = std::fs::read_to_string(tree.path(path)).map_err(|error| format!("{path}: {error}"))?;
    // Files in the copy can name the machine too, for example in build output.
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

/// Keeps the start and the end of an output that is too long.
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

fn success(text: String) -> ChoreResult<ToolOutput> {
    Ok(ToolOutput { text, failed: false })
}

fn failure(text: String) -> ChoreResult<ToolOutput> {
    Ok(ToolOutput { text, failed: true })
}
