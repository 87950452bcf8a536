//! Which results are files as they are: read to be edited, so that every line counts, by the words as they stand there.
//!
//! It goes by the tool's name, and where a tool runs commands by the command. Neither proves anything. A file taken for
//! something else is reduced by its kind, and code loses nothing at that; something taken for a file stays as it is.

/// Tools that show files, by the last part of their names in lower case.
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
/// What the names of tools that run commands have in them.
const SHELLS: [&str; 10] =
    ["bash", "shell", "exec", "command", "terminal", "powershell", "run_", "_run", "cmd", "process"];
/// Programs that print files.
const PRINTERS: [&str; 11] =
    ["cat", "bat", "batcat", "nl", "tac", "less", "more", "view", "type", "get-content", "gc"];
/// Programs that pass on what they are given, or the beginning or end of it.
const PASSERS: [&str; 6] = ["head", "tail", "cat", "nl", "less", "more"];
/// Words before a command that do not change what it prints.
const LEADS: [&str; 4] = ["sudo", "command", "builtin", "time"];
/// Endings of files that are looked at and not edited.
const RECORDS: [&str; 6] = [".log", ".jsonl", ".ndjson", ".csv", ".tsv", ".out"];

/// Whether a result is a file that was read.
pub(super) fn is_read(tool: &str, gist: &str) -> bool {
    if is_shell(tool) {
        // A gist that was cut is taken at its word.
        return gist.split(['\n', ';']).flat_map(|part| part.split("&&")).any(prints_file);
    }
    READERS.contains(&bare(tool).as_str()) && !is_record(path(gist))
}

/// Whether a tool runs commands.
pub(super) fn is_shell(tool: &str) -> bool {
    let name = bare(tool);
    name == "run" || SHELLS.iter().any(|part| name.contains(part))
}

/// A tool's own name: that of the server before it (`mcp__files__read_file`, `files.read_file`) is not part of it.
fn bare(tool: &str) -> String {
    let name = tool.rsplit_once("__").map_or(tool, |(_, name)| name);
    name.rsplit(['.', '/', ':']).next().unwrap_or(name).to_ascii_lowercase().replace('-', "_")
}

/// Whether a pipeline prints a file and does nothing to it.
fn prints_file(pipeline: &str) -> bool {
    let mut commands = pipeline.split('|');
    let first = commands.next().unwrap_or_default();
    let mut words = first.split_whitespace().skip_while(|word| LEADS.contains(word) || is_assignment(word));
    let prints = words.next().is_some_and(|word| PRINTERS.contains(&program(word).as_str()));
    let files: Vec<&str> = words.filter(|word| !word.starts_with('-')).collect();
    let is_written = first.contains('<') || files.iter().any(|word| word.starts_with('>') || *word == "EOF");
    let passes = |command: &str| {
        command.split_whitespace().next().is_some_and(|word| PASSERS.contains(&program(word).as_str()))
    };
    // Records alone are to be looked at; with anything else beside them it may be that which matters.
    let records = !files.is_empty() && files.iter().all(|file| is_record(file));
    prints && !files.is_empty() && !is_written && !records && commands.all(passes)
}

fn program(word: &str) -> String {
    word.rsplit('/').next().unwrap_or(word).to_ascii_lowercase()
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// The path of a gist such as `src/lib.rs:10-40`.
fn path(gist: &str) -> &str {
    let is_range = |range: &str| range.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    gist.rsplit_once(':').filter(|(_, range)| is_range(range)).map_or(gist, |(path, _)| path)
}

fn is_record(file: &str) -> bool {
    let file = file.trim_matches(['"', '\'']).to_ascii_lowercase();
    RECORDS.iter().any(|ending| file.ends_with(ending))
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
            ("Bash", "git show HEAD:src/lib.rs", false),
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
