//! Shell commands of agents through `run`: only with the option, and with the same result.

use crate::desk::Desk;
use serde_json::json;
use std::process::Command;

/// Calls the hook before a command runs. Returns the command with which it answers.
fn before(desk: &Desk, agent: &str, (event, tool): (&str, &str), options: &[&str]) -> Option<String> {
    let command = "seq 1 3000 | sed 's/^/line number /'; exit 3";
    let input = json!({
        "hook_event_name": event, "session_id": "s", "transcript_path": desk.path("s.jsonl"), "cwd": desk.folder(),
        "tool_name": tool, "tool_input": { "command": command, "description": "counts" },
    });
    let specific = desk.hook(agent, &input, options)?;
    let new =
        [&specific["updatedInput"], &specific["tool_input"]].into_iter().find(|new| new.is_object()).unwrap();
    assert_eq!(new["description"], "counts");
    Some(new["command"].as_str().unwrap().to_owned())
}

#[test]
fn a_command_runs_through_this_program_only_with_the_option() {
    let desk = Desk::bare();
    for (agent, event, tool) in [
        ("claude-code", "PreToolUse", "Bash"),
        ("codex", "PreToolUse", "Bash"),
        ("gemini-cli", "BeforeTool", "run_shell_command"),
    ] {
        assert_eq!(before(&desk, agent, (event, tool), &[]), None, "{agent}");
        let command = before(&desk, agent, (event, tool), &["--run-commands"]).unwrap();
        let db = desk.path("ledger.db");
        let shell = Command::new("sh").args(["-c", &command]).env("WUNDERBLOCK_DB", &db).output().unwrap();
        let shown = String::from_utf8(shell.stdout).unwrap();
        assert_eq!(shell.status.code(), Some(3), "{agent}");
        assert!(shown.len() < 10_000 && shown.contains("line number 1 ") && shown.contains("wb:"), "{shown}");
    }
    assert_eq!(before(&desk, "claude-code", ("PreToolUse", "Read"), &["--run-commands"]), None);
    assert!(desk.run(&["grep", "line number 1500"]).exits(0).out.contains("line number 1500"));
}

#[test]
fn init_asks_for_commands_only_with_the_option() {
    let desk = Desk::bare();
    desk.write(".claude/settings.json", "{ \"model\": \"x\" }\n");
    let settings = || String::from_utf8(desk.bytes(".claude/settings.json")).unwrap();
    desk.run(&["init", "claude-code", "--yes"]).exits(0);
    assert!(!settings().contains("Bash"));
    desk.run(&["init", "claude-code", "--run-commands", "--recall", "--yes"]).exits(0);
    let connected = settings();
    assert!(
        connected.contains("|Bash\"")
            && connected.contains("hook claude-code --no-digest --recall --run-commands\"")
    );
    let done = desk.run(&["init", "claude-code", "--run-commands", "--recall", "--yes"]).exits(0);
    assert!(done.err.contains("nothing to change"), "{}", done.err);
    desk.run(&["init", "--undo", "claude-code", "--yes"]).exits(0);
    assert_eq!(settings(), "{ \"model\": \"x\" }\n");
}
