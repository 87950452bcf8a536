//! Which entries are ours.

use serde_json::Value;
use std::path::Path;
use wunderblock_text::shell::words;

/// Name of the program in the entries that it adds, without folder and extension.
const PROGRAM: &str = "wunderblock";

/// Whether a hook's handler starts this program for this agent, wherever the program is.
pub(super) fn is_handler(handler: &Value, agent: &str) -> bool {
    let command = handler.get("command").and_then(Value::as_str).unwrap_or_default();
    let words = words(command).unwrap_or_default();
    let [program, hook, name, options @ ..] = words.as_slice() else { return false };
    // Another version of the program may have options; a command that goes on with another word is the user's.
    let is_alone = options.iter().all(|word| word.starts_with('-'));
    is_program(program) && hook == "hook" && name == agent && is_alone
}

/// Whether an entry of a server starts this program. Its command is a path with `args`, or a list of both.
pub(super) fn is_server(entry: &Value) -> bool {
    let list = |field: &str| entry.get(field).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut words = list("command");
    words.extend(entry.get("command").filter(|command| command.is_string()).cloned());
    words.extend(list("args"));
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    matches!(words.as_slice(), [program, "mcp", ..] if is_program(program))
}

fn is_program(path: &str) -> bool {
    Path::new(path).file_stem().is_some_and(|name| name == PROGRAM)
}

/// Returns a word of a command line as a POSIX shell reads it: `sh`, `bash` and `zsh`.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
