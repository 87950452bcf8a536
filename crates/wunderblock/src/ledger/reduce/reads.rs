//! Recognises results that are files read for editing, so every line of them must stay verbatim.
//!
//! The decision uses the tool's name, and the command if the tool runs commands. Both can be wrong. If a file is not
//! recognised, it is reduced by its kind, which loses no code; if other output is mistaken for a file, it stays
//! unchanged.

use wunderblock_reduce::Claim;

/// Tools that show files, by the last part of their lower-case names.
const READERS: [&str; 26] = [
    "read",
    "readfile",
    "read_file",
    "file_read",
    "fs_read",
    "read_text_file",
    "read_many_files",
    "read_multiple_files",
    "read_lines",
    "read_file_v2",
    "view",
    "viewfile",
    "view_file",
    "view_image",
    "cat",
    "catfile",
    "cat_file",
    "open",
    "openfile",
    "open_file",
    "get_file",
    "get_file_contents",
    "notebookread",
    "read_notebook",
    "str_replace_editor",
    "str_replace_based_edit_tool",
];
/// Parts of names of tools that run commands.
const SHELLS: [&str; 10] =
    ["bash", "shell", "exec", "command", "terminal", "powershell", "run_", "_run", "cmd", "process"];
/// Returns whether a result is a file that was read.
pub(super) fn is_read(tool: &str, gist: &str) -> bool {
    if is_shell(tool) {
        // A truncated gist is judged by the part that is left.
        return Claim::of(gist) == Claim::File;
    }
    READERS.contains(&bare(tool).as_str()) && Claim::of(&format!("Read {gist}")) == Claim::File
}

/// Returns whether a tool runs commands.
pub(super) fn is_shell(tool: &str) -> bool {
    let name = bare(tool);
    name == "run" || SHELLS.iter().any(|part| name.contains(part))
}

/// Returns a tool's own name, without the name of the server (`mcp__files__read_file`, `files.read_file`).
fn bare(tool: &str) -> String {
    let name = tool.rsplit_once("__").map_or(tool, |(_, name)| name);
    name.rsplit(['.', '/', ':']).next().unwrap_or(name).to_ascii_lowercase().replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_read_are_known_by_tool_and_command() {
        for (tool, gist, read) in [
            ("Read", "src/lib.rs:10-40", true),
            ("read_file", "src/lib.rs", true),
            ("mcp__files__read_text_file", "a.py", true),
            ("str_replace_based_edit_tool", "src/lib.rs:1-20", true),
            ("Read", "/var/log/app.log", false),
            ("Read", "data/events.jsonl:1-2000", false),
            ("Bash", "cat src/lib.rs", true),
            ("bash", "cd /repo && cat -n src/lib.rs", true),
            ("shell", "cat src/lib.rs | head -50", true),
            ("exec_command", "LC_ALL=C sudo /bin/cat /etc/hosts", true),
            ("Bash", "cargo build; cat src/lib.rs", true),
            ("PowerShell", "Get-Content src/lib.rs", true),
            ("Bash", "cat app.log", false),
            ("Bash", "cat app.log notes.md", true),
            ("Bash", "cat src/lib.rs | grep fn", false),
            ("Bash", "cat > a.txt <<EOF", false),
            ("Bash", "cat <<EOF", false),
            ("Bash", "cat", false),
            ("Bash", "cargo test", false),
            ("Bash", "git show HEAD:src/lib.rs", true),
            ("Bash", "concat src/lib.rs", false),
            ("Grep", "fn read src", false),
            ("WebFetch", "https://example.org/read", false),
            ("thread", "cat a", false),
        ] {
            assert_eq!(is_read(tool, gist), read, "{tool} {gist}");
        }
    }

    #[test]
    fn tools_that_run_commands_are_known_by_name() {
        for (tool, runs) in [
            ("Bash", true),
            ("run", true),
            ("run_shell_command", true),
            ("local_shell", true),
            ("Read", false),
        ] {
            assert_eq!(is_shell(tool), runs, "{tool}");
        }
    }
}
