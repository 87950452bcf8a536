//! Sessions and messages by project, agent, tag, time, role, tool and path; titles; what sessions cost.

use crate::desk::Desk;
use serde_json::{Value, json};

/// A record of Claude Code.
fn record(id: &str, after: Option<&str>, at: &str, more: &Value) -> String {
    let mut record = json!({ "uuid": id, "parentUuid": after, "timestamp": at, "sessionId": "5e55-garden", "version": "2.1.0", "gitBranch": "hedge" });
    let object = record.as_object_mut().unwrap();
    object.extend(more.as_object().unwrap().clone());
    format!("{record}\n")
}

/// A ledger with a session in a worktree of the repository `garden`, one of Codex, and one without a project.
fn ledger() -> Desk {
    let desk = Desk::new();
    desk.shell("mkdir -p garden/.git/worktrees/hedge garden/src hedge").exits(0);
    let root = desk.folder().canonicalize().unwrap();
    desk.write("hedge/.git", format!("gitdir: {}/garden/.git/worktrees/hedge\n", root.display()));
    desk.write("garden/.git/worktrees/hedge/commondir", "../..\n");
    desk.write("garden/.git/worktrees/hedge/gitdir", format!("{}/hedge/.git\n", root.display()));
    let cwd = root.join("hedge").to_string_lossy().into_owned();
    let says = |role: &str, content: Value| json!({ "type": role, "cwd": cwd, "message": { "role": role, "content": content } });
    let reply = |id: &str, blocks: Value, used: [u64; 3]| {
        json!({ "type": "assistant", "cwd": cwd, "message": {
            "id": id, "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": blocks,
            "stop_reason": "end_turn",
            "usage": { "input_tokens": used[0], "cache_read_input_tokens": used[1], "cache_creation_input_tokens": used[2], "output_tokens": 100 },
        } })
    };
    let call = json!([{ "type": "tool_use", "id": "t1", "name": "Read", "input": { "file_path": "/srv/garden/src/pump.rs" } }]);
    let lines = [
        record("a1", None, "2026-03-01T09:00:00Z", &says("user", json!("Why does the pump rattle?"))),
        record("a2", Some("a1"), "2026-03-01T09:00:10Z", &reply("m1", call, [1_000, 0, 20_000])),
        record(
            "a3",
            Some("a2"),
            "2026-03-01T09:00:11Z",
            &says(
                "user",
                json!([{ "type": "tool_result", "tool_use_id": "t1", "content": "fn rattle() {}" }]),
            ),
        ),
        record(
            "a4",
            Some("a3"),
            "2026-03-01T09:00:20Z",
            &reply("m2", json!([{ "type": "text", "text": "It must rattle." }]), [500, 21_000, 100]),
        ),
        record("a5", Some("a4"), "2026-03-01T11:00:00Z", &says("user", json!("Then oil it."))),
        record(
            "a6",
            Some("a5"),
            "2026-03-01T11:00:10Z",
            &reply("m3", json!([{ "type": "text", "text": "Oiled." }]), [100, 0, 22_000]),
        ),
    ];
    desk.write("s.jsonl", lines.concat());
    let meta = json!({ "timestamp": "2026-02-01T09:00:00Z", "type": "session_meta", "payload": { "id": "c0de-x", "cwd": "/srv/shed" } });
    let said = json!({ "timestamp": "2026-02-01T09:00:00Z", "type": "response_item", "payload": { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Does the door rattle?" }] } });
    desk.write("c.jsonl", format!("{meta}\n{said}\n"));
    desk.run(&["import", "s.jsonl", "c.jsonl", "-q"]).exits(0);
    desk.feed(&["append", "plain"], "{\"id\":\"1\",\"role\":\"user\",\"content\":\"rattle\"}").exits(0);
    desk
}

fn ids(desk: &Desk, args: &[&str]) -> Vec<String> {
    let done = desk.run(&[args, &["--json"]].concat());
    let id = |line: &Value| line["session"].as_str().unwrap().to_owned();
    done.lines().iter().map(id).collect()
}

fn places(desk: &Desk, args: &[&str]) -> Vec<(String, u64)> {
    let done = desk.run(&[args, &["--json"]].concat());
    let mut places: Vec<_> = done
        .lines()
        .iter()
        .map(|hit| (hit["session"].as_str().unwrap().to_owned(), hit["seq"].as_u64().unwrap()))
        .collect();
    places.sort();
    places
}

#[test]
fn sessions_are_found_by_project_agent_tag_and_time() {
    let desk = ledger();
    assert_eq!(ids(&desk, &["sessions"]), ["plain", "5e55-garden", "c0de-x"], "the latest message first");
    for project in ["garden", "hedge", "garden/src"] {
        // As a folder, each belongs to the repository; as a name, only the repository itself has sessions.
        assert_eq!(ids(&desk, &["sessions", "--project", project]), ["5e55-garden"], "{project}");
    }
    assert_eq!(ids(&desk, &["sessions", "--project", "shed"]), ["c0de-x"]);
    assert_eq!(ids(&desk, &["sessions", "--project", "she"]), [""; 0]);
    assert_eq!(ids(&desk, &["sessions", "--agent", "codex"]), ["c0de-x"]);
    assert_eq!(ids(&desk, &["sessions", "--since", "2026-02-15"]), ["plain", "5e55-garden"]);
    assert_eq!(ids(&desk, &["sessions", "--since", "1h"]), ["plain"]);
    let wrong = desk.run(&["sessions", "--since", "yesterday"]).exits(2);
    assert!(wrong.err.contains("invalid time `yesterday`: expected 2w"), "{}", wrong.err);
    desk.run(&["describe", "5e55-garden", "--title", "The rattling pump", "--tag", "urgent", "--tag", "v2"])
        .exits(0);
    desk.run(&["describe", "5e55-garden", "--untag", "v2", "--tag", "urgent"]).exits(0);
    assert_eq!(ids(&desk, &["sessions", "--tag", "urgent"]), ["5e55-garden"]);
    assert_eq!(ids(&desk, &["sessions", "--tag", "urgent", "--tag", "v2"]), [""; 0]);
    let listed = desk.run(&["sessions"]).exits(0);
    assert!(listed.out.contains("[urgent] The rattling pump"), "{}", listed.out);
    let details = desk.run(&["sessions", "5e55", "-v"]).exits(0);
    for part in ["branch hedge", "model claude-sonnet-4-5", "/hedge && claude --resume 5e55-garden"] {
        assert!(details.out.contains(part), "{part}: {}", details.out);
    }
    desk.run(&["describe", "5e55-garden", "--title", ""]).exits(0);
    assert!(desk.run(&["sessions"]).out.contains("[urgent] Why does the pump rattle?"));
    for wrong in [["--tag", "a\nb"], ["--tag", ""], ["--title", "a\u{7}"]] {
        let refused = desk.run(&[&["describe", "5e55-garden"][..], &wrong[..]].concat()).exits(3);
        assert!(refused.err.contains("no control characters"), "{}", refused.err);
    }
}

#[test]
fn the_list_fits_80_columns() {
    let desk = ledger();
    let narrow = desk.command(&["sessions"]).env("COLUMNS", "80").output().unwrap();
    let out = String::from_utf8(narrow.stdout).unwrap();
    assert!(out.contains("Why does the pump r"), "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
}

#[test]
fn messages_are_found_by_role_tool_path_and_session() {
    let desk = ledger();
    let garden = |seqs: &[u64]| seqs.iter().map(|seq| ("5e55-garden".to_owned(), *seq)).collect::<Vec<_>>();
    for command in ["search", "grep"] {
        assert_eq!(places(&desk, &[command, "rattle"]).len(), 5, "{command}");
        assert_eq!(
            places(&desk, &[command, "rattle", "--project", "garden"]),
            garden(&[2, 5, 6]),
            "{command}"
        );
        assert_eq!(
            places(&desk, &[command, "rattle", "--agent", "codex"]),
            [("c0de-x".to_owned(), 2)],
            "{command}"
        );
        assert_eq!(places(&desk, &[command, "rattle", "--role", "assistant"]), garden(&[6]), "{command}");
        assert_eq!(
            places(&desk, &[command, "rattle", "--tool", "Read"]),
            garden(&[5]),
            "{command}: the result of the call"
        );
        assert_eq!(places(&desk, &[command, "rattle", "--path", "src/pump.rs"]), garden(&[5]), "{command}");
        assert_eq!(places(&desk, &[command, "rattle", "--path", "/srv/garden"]), garden(&[5]), "{command}");
        assert_eq!(places(&desk, &[command, "rattle", "--path", "ump.rs"]), [], "{command}");
        assert_eq!(
            places(&desk, &[command, "rattle", "--since", "2026-02-20", "--role", "user"]).len(),
            2,
            "{command}"
        );
    }
}

#[test]
fn the_cost_is_summed_by_day_and_its_losses_are_named() {
    let desk = ledger();
    let by_day = desk.run(&["cost"]).exits(0);
    let by_model = desk.run(&["cost", "--by", "model", "--project", "garden"]).exits(0);
    insta::assert_snapshot!("cost", format!("{}\n{}", by_day.out, by_model.out));
    let lines = desk.run(&["cost", "5e55", "--by", "agent", "--json"]).exits(0).lines();
    // 1,600 input at $3, 42,100 written at $3.75, 21,000 read at $0.30, 300 output at $15 per million.
    assert_eq!(lines[0]["cost"], 4_800 + 157_875 + 6_300 + 4_500);
    assert_eq!((&lines[0]["by"], &lines[0]["name"]), (&json!("agent"), &json!("claude-code")));
    // The third request repeats 21,600 tokens after two hours: written instead of read.
    assert_eq!(lines[0]["misses"]["idle"][0], 1);
    let none = desk.run(&["cost", "--agent", "codex"]).exits(0);
    assert!(none.out.is_empty() && none.err.contains("no usage"), "{}", none.err);
}

#[test]
fn the_cost_of_a_session_includes_all_of_its_branches() {
    let desk = Desk::with_session();
    let all = desk.run(&["cost", "--json", "--by", "session"]).exits(0).lines();
    assert_eq!(all.len(), 3, "two branches, and the sum");
    for branch in ["7d1f0c52", "7d1f0c52~1", "7d1f0c52~2"] {
        let own = desk.run(&["cost", branch, "--json", "--by", "agent"]).exits(0).lines();
        assert_eq!(own[0]["replies"], all[2]["replies"], "{branch}");
    }
    desk.run(&["cost", "7d1f0c52", "--project", "x"]).exits(2);
    desk.run(&["search", "brace", "--session", "7d1f0c52", "--tag", "x"]).exits(2);
}
