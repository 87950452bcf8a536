//! Connected agents: `init` writes their settings and takes it back, `hook` takes in their sessions and never fails.

use crate::desk::{Desk, Done};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// All files below a folder, with their bytes.
fn bytes(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(
                    path.strip_prefix(folder).unwrap().to_string_lossy().into_owned(),
                    std::fs::read(path).unwrap(),
                );
            }
        }
    }
    found
}

/// Settings of the agents, each with something of the user's own.
const HOMES: [[(&str, &str); 4]; 5] = [
    [
        (".claude/settings.json", "{}\n"),
        (".codex/config.toml", ""),
        (".gemini/settings.json", "{\n}\n"),
        ("config/opencode/opencode.json", "{}"),
    ],
    [
        (
            ".claude/settings.json",
            "{\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"Stop\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }]\n    }\n}\n",
        ),
        (".codex/config.toml", "# mine\nmodel = \"gpt-5\" # good\n\n[mcp_servers.other]\ncommand = \"x\"\n"),
        (".gemini/settings.json", "{\n\t// with a comment\n\t\"theme\": \"dark\",\n}\n"),
        ("config/opencode/opencode.jsonc", "{\n  // mine\n  \"mcp\": {},\n}\n"),
    ],
    [
        (".claude/settings.json", "\u{feff}{\r\n  \"env\": { \"A\": \"1\" }\r\n}\r\n"),
        (".codex/config.toml", "model = \"gpt-5\"\r\n"),
        (".gemini/settings.json", "{\"mcpServers\": {\"other\": {\"command\": \"y\"}}}"),
        ("config/opencode/plugins/mine.js", "export const Mine = async () => ({})\n"),
    ],
    [
        (".claude.json", "{\"numStartups\": 3, \"mcpServers\": {}}"),
        (".codex/hooks.json", "{\"hooks\": {}}"),
        (".gemini/settings.json", "{ \"hooks\": { \"AfterTool\": [] } }"),
        ("config/opencode/opencode.json", "{\r\n\t\"model\": \"m\"\r\n}"),
    ],
    [
        (".claude/settings.local.json", "{}"),
        (".codex/config.toml", "[tui]\nnotifications = true\n"),
        (".gemini/GEMINI.md", "be kind\n"),
        ("config/opencode/AGENTS.md", "be brief\n"),
    ],
];

#[test]
fn what_init_writes_its_undo_takes_back() {
    for home in HOMES {
        let desk = Desk::bare();
        for (name, text) in home {
            desk.write(name, text);
        }
        desk.shell("mkdir -p .claude .codex .gemini").exits(0);
        let before = bytes(desk.folder());
        let asked = desk.run(&["init"]).exits(2);
        assert!(
            asked.out.contains("wunderblock hook") || asked.out.contains("hook claude-code"),
            "{}",
            asked.out
        );
        assert_eq!(bytes(desk.folder()), before, "nothing is written without consent");
        let done = desk.run(&["init", "--yes"]).exits(0);
        assert!(done.err.contains("Claude Code, Codex, Gemini CLI, OpenCode: connected"), "{}", done.err);
        assert!(done.err.contains("type /hooks in Codex"), "{}", done.err);
        let connected = bytes(desk.folder());
        assert_ne!(connected, before);
        let again = desk.run(&["init", "--yes"]).exits(0);
        assert!(again.err.contains("nothing to change"), "{}", again.err);
        assert_eq!(bytes(desk.folder()), connected, "a second time changes nothing");
        desk.run(&["init", "--undo", "--yes"]).exits(0);
        let mut after = bytes(desk.folder());
        after.retain(|name, _| !name.ends_with("settings-backup.json"));
        assert_eq!(after, before);
    }
}

#[test]
fn settings_that_changed_since_lose_only_our_entries() {
    let desk = Desk::bare();
    desk.write(".claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    desk.run(&["init", "claude-code", "--yes"]).exits(0);
    let text = String::from_utf8(desk.bytes(".claude/settings.json")).unwrap();
    desk.write(".claude/settings.json", text.replace("opus", "sonnet"));
    desk.run(&["init", "--undo", "--yes"]).exits(0);
    let left: Value = serde_json::from_slice(&desk.bytes(".claude/settings.json")).unwrap();
    assert_eq!(left, json!({ "model": "sonnet" }));
}

#[test]
fn settings_that_cannot_be_read_stay_as_they_are() {
    let desk = Desk::bare();
    desk.write(".claude/settings.json", "{ \"hooks\": 7 }");
    desk.write(".codex/config.toml", "model = ");
    for (agent, reason) in [("claude-code", "`hooks` must be"), ("codex", "line 1")] {
        let refused = desk.run(&["init", agent, "--yes"]).exits(3);
        assert!(refused.err.contains(reason), "{}", refused.err);
    }
    assert_eq!(desk.bytes(".claude/settings.json"), b"{ \"hooks\": 7 }");
    let unknown = desk.run(&["init", "emacs"]).exits(2);
    assert!(
        unknown.err.contains("`emacs` cannot be connected; known are claude-code, codex"),
        "{}",
        unknown.err
    );
    let none = Desk::bare().run(&["init"]).exits(1);
    assert!(none.err.contains("name the agent"), "{}", none.err);
}

fn hook(desk: &Desk, input: &Value) -> Done {
    let done = desk.feed(&["hook", "claude-code"], &input.to_string()).exits(0);
    assert_eq!((done.out.as_str(), done.err.as_str()), ("", ""));
    done
}

/// The events of the two branches of the fixture, without times of the import.
fn events(desk: &Desk) -> Vec<String> {
    ["7d1f0c52~1", "7d1f0c52~2"].iter().map(|branch| desk.run(&["export", branch]).exits(0).out).collect()
}

#[test]
fn hooks_and_imports_lead_to_the_same_session() {
    let transcript = crate::fixture::transcript();
    let lines: Vec<&str> = transcript.split_inclusive('\n').collect();
    let expected = {
        let desk = Desk::bare();
        desk.write("s.jsonl", &transcript);
        desk.run(&["import", "s.jsonl", "-q"]).exits(0);
        desk.run(&["sessions", "--json"]).exits(0).lines().len()
    };
    let desk = Desk::bare();
    let call = |event: &str| json!({ "hook_event_name": event, "session_id": "7d1f0c52-parser", "transcript_path": desk.path("s.jsonl"), "cwd": desk.folder() });
    // The transcript does not exist yet.
    hook(&desk, &call("SessionStart"));
    for end in [1, 2, 4, 5, lines.len()] {
        desk.write("s.jsonl", lines[..end].concat());
        hook(&desk, &call("PostToolUse"));
        hook(&desk, &call("Stop"));
    }
    let hooked = events(&desk);
    desk.run(&["import", "s.jsonl", "-q"]).exits(0);
    assert_eq!(events(&desk), hooked, "an import after the hooks adds nothing");
    hook(&desk, &call("Stop"));
    assert_eq!(events(&desk), hooked, "nor does a hook after the import");
    assert_eq!(desk.run(&["sessions", "--json"]).exits(0).lines().len(), expected);
    desk.run(&["search", "brace"]).exits(0);
    let mut end = call("SessionEnd");
    end["reason"] = "logout".into();
    hook(&desk, &end);
    hook(&desk, &end);
    let ended = events(&desk).concat();
    assert_eq!(
        ended.matches("session.closed").count() - hooked.concat().matches("session.closed").count(),
        1,
        "in its branch, and only once"
    );
    assert!(!desk.path("state/wunderblock/hook.log").exists());
}

#[test]
fn a_delegate_is_in_flight_from_its_hook_to_its_end() {
    let desk = Desk::bare();
    let record = |kind: &str, id: &str, before: &str, more: &str| {
        format!(
            r#"{{"parentUuid":{before},"isSidechain":false,"cwd":"/w","sessionId":"main","version":"2","type":"{kind}","uuid":"{id}","timestamp":"2026-01-02T03:04:05.678Z"{more}}}"#
        )
    };
    let said = record("user", "u1", "null", r#","message":{"role":"user","content":"find it"}"#);
    let called = record(
        "assistant",
        "a1",
        "\"u1\"",
        r#","message":{"id":"m1","role":"assistant","model":"claude-opus-4-8","content":[{"type":"tool_use","id":"c1","name":"Agent","input":{"subagent_type":"Explore","model":"opus","prompt":"Look for it."}}]}"#,
    );
    let answered = record(
        "user",
        "u2",
        "\"a1\"",
        r#","toolUseResult":{"status":"completed","agentId":"7","resolvedModel":"claude-sonnet-4-5-20250929","totalTokens":90,"totalDurationMs":2500},"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"Here it is."}]}"#,
    );
    let event = |name: &str| json!({ "hook_event_name": name, "session_id": "main", "transcript_path": desk.path("s.jsonl"), "agent_id": "7", "agent_type": "Explore" });
    let outcome = || {
        let nodes = desk.run(&["agents", "tree", "main", "--json"]).exits(0).lines();
        assert_eq!(nodes.len(), 2, "{nodes:?}");
        nodes[1].clone()
    };
    desk.write("s.jsonl", format!("{said}\n"));
    // The hook comes before the transcript has the call.
    hook(&desk, &event("SubagentStart"));
    hook(&desk, &event("SubagentStart"));
    let started = outcome();
    assert_eq!((&started["outcome"], &started["type"]), (&json!("in flight"), &json!("Explore")));
    desk.write("s.jsonl", format!("{said}\n{called}\n"));
    hook(&desk, &event("PostToolUse"));
    let started = outcome();
    assert_eq!((&started["outcome"], &started["call"]), (&json!("in flight"), &json!("c1")));
    hook(&desk, &event("SubagentStop"));
    hook(&desk, &event("SubagentStop"));
    assert_eq!(outcome()["outcome"], "done");
    desk.write("s.jsonl", format!("{said}\n{called}\n{answered}\n"));
    hook(&desk, &event("Stop"));
    let ended = outcome();
    assert_eq!(ended["result"]["text"], "Here it is.");
    assert_eq!((&ended["reported_tokens"], &ended["milliseconds"]), (&json!(90), &json!(2500)));
    assert_eq!(ended["mismatch"]["answered"], "claude-sonnet-4-5-20250929");
    let table = desk.run(&["agents", "tree", "main"]).exits(0).out;
    let remark = "the call asked for opus, but claude-sonnet-4-5-20250929 answered";
    assert!(table.contains("opus → sonnet-4-5") && table.contains(remark), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
    // A hook that comes late adds nothing that the import has.
    let events = || desk.run(&["export", "main"]).exits(0).out;
    let before = events();
    hook(&desk, &event("SubagentStart"));
    hook(&desk, &event("SubagentStop"));
    assert_eq!(events(), before);
    assert_eq!(before.matches("hook:spawned:agent-7").count(), 1, "{before}");
    assert!(!desk.path("state/wunderblock/hook.log").exists());
}

#[test]
fn a_hook_never_fails_its_agent() {
    let desk = Desk::bare();
    desk.write("s.jsonl", crate::fixture::transcript());
    desk.write("binary", [0u8, 1, 2, 255]);
    let path = |name: &str| {
        json!({ "hook_event_name": "Stop", "session_id": "x", "transcript_path": desk.path(name) })
            .to_string()
    };
    let silent = [path("nowhere.jsonl"), "{}".to_owned(), json!({ "hook_event_name": "Nova" }).to_string()];
    for input in &silent {
        desk.feed(&["hook", "claude-code"], input).exits(0);
    }
    assert!(!desk.path("state/wunderblock/hook.log").exists());
    let told = [String::new(), "[1]".to_owned(), "{\"a\":".to_owned(), path("binary")];
    for input in &told {
        let done = desk.feed(&["hook", "claude-code"], input).exits(0);
        assert_eq!((done.out.as_str(), done.err.as_str()), ("", ""));
    }
    desk.feed(&["hook", "emacs"], "{}").exits(0);
    desk.write("bad.toml", "db = [");
    desk.feed(&["--config", "bad.toml", "hook", "claude-code"], &path("s.jsonl")).exits(0);
    desk.run(&["append", "x"]).exits(0);
    desk.feed(&["append", "x"], "{\"role\":\"user\",\"content\":\"hi\"}").exits(0);
    desk.sql().execute_batch("PRAGMA user_version = 99").unwrap();
    desk.feed(&["hook", "claude-code"], &path("s.jsonl")).exits(0);
    let log = String::from_utf8(desk.bytes("state/wunderblock/hook.log")).unwrap();
    assert_eq!(log.lines().count(), told.len() + 3, "{log}");
    assert!(log.contains("claude-code: the database has format 99"), "{log}");
}

#[test]
fn doctor_says_whether_what_an_agent_writes_is_captured() {
    let desk = Desk::bare();
    desk.shell("mkdir -p .claude/projects/p .codex config/opencode").exits(0);
    let examined = |code: i32| desk.run(&["doctor", "--agents"]).exits(code).out;
    let before = examined(1);
    for line in [
        "Claude Code  ✗ not connected: `wunderblock init claude-code` connects it\n",
        "             – no transcripts yet\n",
        "Gemini CLI   – not installed\n",
    ] {
        assert!(before.contains(line), "{before}");
    }
    assert_eq!(before.matches("✓ a message of a test was stored by the hook in").count(), 3, "{before}");
    assert!(!desk.path("ledger.db").exists(), "the test has a ledger of its own");
    desk.run(&["init", "--no-digest", "--yes"]).exits(0);
    assert_eq!(examined(0).matches("✓ connected").count(), 3);
    let transcript = crate::fixture::transcript();
    let file = ".claude/projects/p/s.jsonl";
    let lines: Vec<&str> = transcript.split_inclusive('\n').collect();
    let (first, rest) = (lines[..2].concat(), lines[2..].concat());
    desk.write(file, &first);
    assert!(examined(1).contains("✗ 1 transcript, the latest (now) is not stored: `wunderblock import`"));
    let call = json!({ "hook_event_name": "Stop", "transcript_path": desk.path(file) });
    hook(&desk, &call);
    assert!(examined(0).contains("✓ 1 transcript, the latest (now) is stored"));
    desk.write(file, format!("{first}{rest}"));
    assert!(examined(0).contains("is stored up to the last hook; the next one adds the rest"));
    hook(&desk, &call);
    desk.feed(&["hook", "claude-code"], "no JSON").exits(0);
    let last = examined(0);
    assert!(last.contains("1 problem in ") && last.contains("claude-code: "), "{last}");
    let report: Vec<Value> = desk
        .run(&["doctor", "--agents", "--json"])
        .exits(0)
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(report[0]["stored"], "whole");
    assert_eq!(report[2]["installed"], false);
}
