//! `wrap`: one run of an agent is captured, and no file of the agent changes.

use crate::desk::Desk;
use serde_json::Value;

/// Adds a program in the place of an agent.
fn agent(desk: &Desk, name: &str, script: &str) {
    desk.write(&format!("bin/{name}"), format!("#!/bin/sh\n{script}\n"));
    desk.shell("chmod +x bin/*").exits(0);
}

const WRAP: &str = "PATH=\"$PWD/bin:$PATH\" \"$WB\" wrap";

#[test]
fn claude_code_gets_entries_as_options_and_its_session_is_kept() {
    let desk = Desk::bare();
    desk.write("s.jsonl", crate::fixture::transcript());
    agent(
        &desk,
        "claude",
        "for arg; do printf '%s\\n' \"$arg\"; done\nmkdir -p .claude/projects/p\ncp s.jsonl .claude/projects/p/\nexit 7",
    );
    let done = desk.shell(&format!("{WRAP} claude-code --no-digest -- -p 'hello  you'")).exits(7);
    let args: Vec<&str> = done.out.lines().collect();
    let [settings @ .., "-p", "hello  you"] = args.as_slice() else { panic!("{}", done.out) };
    let text = settings.join("\n");
    let (hooks, servers) =
        text.strip_prefix("--settings=").unwrap().split_once("\n--mcp-config=").expect("both options");
    let [hooks, servers] = [hooks, servers].map(|text| serde_json::from_str::<Value>(text).unwrap());
    let command = hooks["hooks"]["SessionStart"][0]["hooks"][0]["command"].as_str().unwrap();
    assert!(command.ends_with(" hook claude-code --no-digest"), "{command}");
    assert_eq!(servers["mcpServers"]["wunderblock"]["args"], serde_json::json!(["mcp"]));
    assert!(done.err.contains("kept: session 7d1f0c52-parser~2, 9 messages"), "{}", done.err);
    assert!(!desk.path(".claude/settings.json").exists() && !desk.path(".claude.json").exists());
    // An agent that is connected gets nothing twice.
    desk.run(&["init", "claude-code", "--yes"]).exits(0);
    let again = desk.shell(&format!("{WRAP} claude-code --recall -- -p hello")).exits(7);
    assert_eq!(again.out, "-p\nhello\n");
}

#[test]
fn codex_gets_its_tools_and_gemini_cli_a_file_that_is_removed() {
    let desk = Desk::bare();
    agent(&desk, "codex", "for arg; do printf '%s\\n' \"$arg\"; done");
    let done = desk.shell(&format!("{WRAP} codex -- exec")).exits(0);
    let args: Vec<&str> = done.out.lines().collect();
    let ["-c", command, "-c", "mcp_servers.wunderblock.args=[\"mcp\"]", "exec"] = args.as_slice() else {
        panic!("{}", done.out)
    };
    assert!(command.starts_with("mcp_servers.wunderblock.command=\"/"), "{command}");
    assert!(done.err.contains("Codex wrote no transcript: nothing to keep"), "{}", done.err);
    agent(
        &desk,
        "gemini",
        "echo \"$GEMINI_CLI_SYSTEM_SETTINGS_PATH\"\ncat \"$GEMINI_CLI_SYSTEM_SETTINGS_PATH\"\nkill -TERM $$",
    );
    let done = desk.shell(&format!("{WRAP} gemini-cli")).exits(128 + 15);
    let (path, settings) = done.out.split_once('\n').unwrap();
    let settings: Value = serde_json::from_str(settings).unwrap();
    assert!(settings["hooks"]["SessionStart"][0]["hooks"][0]["command"].is_string());
    assert!(!std::path::Path::new(path).parent().unwrap().exists(), "{path}");
    let missing = desk.shell("PATH=/nowhere \"$WB\" wrap claude-code").exits(1);
    assert!(missing.err.contains("no program `claude` in PATH"), "{}", missing.err);
    let unknown = desk.run(&["wrap", "emacs"]).exits(2);
    assert!(unknown.err.contains("`emacs` cannot be connected; known are claude-code"), "{}", unknown.err);
}

#[test]
fn opencode_gets_a_folder_with_its_plugin_and_its_tools() {
    let desk = Desk::bare();
    let shown = "cd \"$OPENCODE_CONFIG_DIR\" && pwd && grep '^const [PO]' plugins/*.js && cat opencode.json";
    agent(&desk, "opencode", shown);
    let done = desk.shell(&format!("{WRAP} opencode --recall -- run hello")).exits(0);
    let mut lines = done.out.lines();
    let folder = lines.next().unwrap();
    assert!(lines.next().unwrap().starts_with("const PROGRAM = \"/"), "{}", done.out);
    assert_eq!(lines.next(), Some("const OPTIONS = [\"--no-digest\",\"--recall\"]"));
    let settings: Value = serde_json::from_str(&lines.collect::<String>()).unwrap();
    assert_eq!(settings["mcp"]["wunderblock"]["command"][1], "mcp");
    assert!(!std::path::Path::new(folder).exists(), "{folder}");
    // A folder of the user stays the one that is read.
    agent(&desk, "opencode", "echo \"$OPENCODE_CONFIG_DIR\"");
    let own = desk.shell(&format!("OPENCODE_CONFIG_DIR=/mine {WRAP} opencode")).exits(0);
    assert_eq!(own.out, "/mine\n");
}
