//! `import` without a path: finds what agents wrote, asks, and follows it.

use crate::desk::Desk;
use serde_json::json;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::sync::mpsc;
use std::time::{Duration, SystemTime};

/// A session of Codex, as its first lines.
fn rollout(id: &str, text: &str) -> String {
    let meta = json!({ "id": id, "timestamp": "2026-03-01T09:00:00.000Z", "cwd": "/home/ann/garden", "originator": "codex_cli_rs" });
    let said =
        json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": text }] });
    let line = |kind: &str, payload| {
        format!("{}\n", json!({ "timestamp": "2026-03-01T09:00:00.000Z", "type": kind, "payload": payload }))
    };
    line("session_meta", meta) + &line("response_item", said)
}

/// A home directory with histories of Claude Code, Codex and aider, written a minute ago: an import reads a file
/// again that changed in the milliseconds before the last one.
fn home() -> Desk {
    let desk = Desk::new();
    let chat = "\n# aider chat started at 2026-03-01 09:00:00\n\n#### hello\n\nHi.\n";
    let files = [
        (".claude/projects/-home-ann-garden/s1.jsonl", crate::fixture::transcript()),
        (".codex/sessions/2026/03/01/rollout-a.jsonl", rollout("0190", "Water the garden.")),
        (".codex/sessions/2026/03/01/notes.jsonl", "{}\n".to_owned()),
        (".aider.chat.history.md", chat.to_owned()),
    ];
    let minute_ago = SystemTime::now() - Duration::from_mins(1);
    for (name, text) in files {
        desk.write(name, text);
        File::options().write(true).open(desk.path(name)).unwrap().set_modified(minute_ago).unwrap();
    }
    std::fs::remove_file(desk.path("session.jsonl")).unwrap();
    desk
}

#[test]
fn the_histories_of_agents_are_found_and_imported() {
    let desk = home();
    let asked = desk.run(&["import"]).exits(2);
    insta::assert_snapshot!("histories_found", desk.settled(&(asked.out + &asked.err)));
    // Nothing is imported without consent.
    desk.run(&["search", "Water"]).exits(1);
    let done = desk.run(&["import", "--yes"]).exits(0);
    for row in ["Claude Code      1", "Codex            1", "aider            1"] {
        assert!(done.out.contains(row), "{}", done.out);
    }
    let again = desk.run(&["import"]).exits(0);
    assert!(again.err.contains("nothing new since the last import"), "{}", again.err);
    desk.run(&["import", "--agent", "codex", "--yes", "--verify"]).exits(0);
    let unknown = desk.run(&["import", "--agent", "codecs"]).exits(2);
    assert!(
        unknown.err.contains("unknown agent `codecs`") && unknown.err.contains("claude-code"),
        "{}",
        unknown.err
    );
    let name = desk.run(&["import", "codex"]).exits(2);
    assert!(name.err.contains("`wunderblock import --agent codex` imports its sessions"), "{}", name.err);
}

#[test]
fn a_variable_of_an_agent_moves_its_history() {
    let desk = home();
    desk.write("else where/sessions/2026/rollout-b.jsonl", rollout("0191", "Prune the roses."));
    let mut command = desk.command(&["import", "--agent", "codex", "--yes"]);
    let done = command.env("CODEX_HOME", desk.path("else where")).output().unwrap();
    assert!(done.status.success());
    desk.run(&["search", "roses"]).exits(0);
    desk.run(&["search", "Water"]).exits(1);
}

#[test]
fn without_any_history_the_error_says_what_to_do() {
    let desk = Desk::new();
    let none = desk.run(&["import"]).exits(1);
    assert!(none.err.contains("no histories of Claude Code, Codex,"), "{}", none.err);
    assert!(none.err.contains("give a file or a folder"), "{}", none.err);
}

#[test]
fn a_watch_imports_what_is_written() {
    let desk = home();
    let mut child = desk.start(&["import", "--agent", "codex", "--yes", "--watch"]);
    let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (send, lines) = mpsc::channel();
    let told = send.clone();
    let readers = [
        std::thread::spawn(move || {
            BufReader::new(out).lines().map_while(Result::ok).for_each(|line| drop(send.send(line)))
        }),
        std::thread::spawn(move || {
            BufReader::new(err).lines().map_while(Result::ok).for_each(|line| drop(told.send(line)))
        }),
    ];
    let wait = |what: &str| {
        while !lines.recv_timeout(Duration::from_secs(60)).expect("a line").contains(what) {}
    };
    wait("watching 1 file;");
    desk.write(".codex/sessions/2026/03/02/rollout-b.jsonl", rollout("0191", "Prune the roses."));
    wait("rollout-b.jsonl: codex, 2 events");
    let line = json!({ "timestamp": "2026-03-01T09:01:00.000Z", "type": "response_item", "payload": { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Pruned." }] } });
    let grown = format!("{}{line}\n", rollout("0191", "Prune the roses."));
    desk.write(".codex/sessions/2026/03/02/rollout-b.jsonl", grown);
    wait("rollout-b.jsonl: codex, 1 event");
    child.kill().unwrap();
    child.wait().unwrap();
    for reader in readers {
        reader.join().unwrap();
    }
    desk.run(&["search", "Pruned"]).exits(0);
}
