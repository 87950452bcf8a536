//! What `hook` answers: a recap to a session that was compacted or resumed, a digest to a new one, nothing to others.

use crate::desk::Desk;
use serde_json::{Value, json};

/// Calls the hook at the start of a session. Returns the context that it adds.
fn start(desk: &Desk, source: &str, transcript: &str, options: &[&str]) -> Option<String> {
    let input = json!({
        "hook_event_name": "SessionStart", "source": source, "session_id": "new",
        "transcript_path": desk.path(transcript), "cwd": desk.folder(),
    });
    let specific = desk.hook("claude-code", &input, options)?;
    assert_eq!(specific["hookEventName"], "SessionStart");
    Some(specific["additionalContext"].as_str().unwrap().to_owned())
}

/// The transcript of the fixture, as if its agent had worked in the desk's folder.
fn transcript(desk: &Desk) -> String {
    let now = jiff::Timestamp::now().to_string();
    let lines = crate::fixture::transcript();
    let moved = lines.lines().map(|line| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        for (field, value) in
            [("cwd", desk.folder().to_string_lossy().into_owned()), ("timestamp", now.clone())]
        {
            record[field] = value.into();
        }
        format!("{record}\n")
    });
    moved.collect()
}

#[test]
fn a_session_that_goes_on_is_answered_with_where_it_stands() {
    let desk = Desk::bare();
    assert_eq!(start(&desk, "startup", "s.jsonl", &[]), None);
    assert!(!desk.path("ledger.db").exists(), "a digest of nothing creates no ledger");
    desk.write("s.jsonl", transcript(&desk));
    for source in ["compact", "resume"] {
        let text = start(&desk, source, "s.jsonl", &[]).unwrap();
        assert!(text.contains("Only remove the brace, please. 只删括号。"), "{text}");
        assert!(!text.contains("rewrite the whole parser"), "words of another branch: {text}");
    }
    for source in ["clear", "fork", "nova"] {
        assert_eq!(start(&desk, source, "s.jsonl", &[]), None);
    }
    assert_eq!(start(&desk, "compact", "missing.jsonl", &[]), None);
}

#[test]
fn a_new_session_is_answered_with_a_digest_of_the_last_ones() {
    let desk = Desk::bare();
    desk.write("s.jsonl", transcript(&desk));
    desk.run(&["import", "s.jsonl", "-q"]).exits(0);
    let text = start(&desk, "startup", "new.jsonl", &["--digest"]).unwrap();
    assert!(text.contains("claude-code, now") && text.contains("只删括号。"), "{text}");
    assert!(!text.contains("A brace too many"), "words of the model: {text}");
    assert_eq!(start(&desk, "startup", "new.jsonl", &["--no-digest"]), None);
    assert_eq!(
        start(&desk, "startup", "s.jsonl", &["--digest"]),
        None,
        "a digest leaves out the session itself"
    );
    // Sessions of other agents only if they were chosen.
    let codex = json!({
        "hook_event_name": "SessionStart", "source": "startup", "session_id": "new",
        "transcript_path": desk.path("new.jsonl"), "cwd": desk.folder(),
    });
    assert_eq!(desk.hook("codex", &codex, &["--digest"]), None);
    assert!(desk.hook("codex", &codex, &["--digest=all"]).unwrap().to_string().contains("只删括号。"));
    assert!(!desk.path("state/wunderblock/hook.log").exists());
}

#[test]
fn entries_without_a_choice_give_no_digest_and_say_so_once() {
    let desk = Desk::bare();
    desk.write("s.jsonl", transcript(&desk));
    desk.run(&["import", "s.jsonl", "-q"]).exits(0);
    let text = start(&desk, "startup", "new.jsonl", &[]).unwrap();
    assert!(text.contains("`wunderblock init --digest`") && !text.contains("只删括号。"), "{text}");
    assert_eq!(start(&desk, "startup", "new.jsonl", &[]), None);
    assert_eq!(start(&desk, "startup", "new.jsonl", &["--recall"]), None);
}

#[test]
fn init_writes_whether_new_sessions_get_a_digest() {
    let desk = Desk::bare();
    desk.write(".claude/settings.json", "{}\n");
    let commands = || {
        let text = String::from_utf8(desk.bytes(".claude/settings.json")).unwrap();
        ["", " --no-digest", " --digest", " --digest=all"]
            .map(|option| text.matches(&format!("hook claude-code{option}\"")).count())
    };
    let done = desk.run(&["init", "claude-code", "--yes"]).exits(0);
    assert!(done.err.contains("`wunderblock init --digest` adds it"), "{}", done.err);
    let all = commands()[1];
    assert!(all > 8);
    assert_eq!(commands(), [0, all, 0, 0]);
    desk.run(&["init", "claude-code", "--digest", "--yes"]).exits(0);
    assert_eq!(commands(), [0, 0, all, 0]);
    assert!(desk.run(&["doctor", "--agents"]).exits(0).out.contains("Claude Code  ✓ connected"));
    desk.run(&["init", "claude-code", "--digest=all", "--yes"]).exits(0);
    assert_eq!(commands(), [0, 0, 0, all]);
    desk.run(&["init", "claude-code", "--no-digest", "--yes"]).exits(0);
    assert_eq!(commands(), [0, all, 0, 0]);
    desk.run(&["init", "claude-code", "--digest", "--no-digest", "--yes"]).exits(2);
    // Entries of an older version state nothing, and count as entries of ours.
    let older = String::from_utf8(desk.bytes(".claude/settings.json")).unwrap().replace(" --no-digest", "");
    desk.write(".claude/settings.json", older);
    assert!(desk.run(&["doctor", "--agents"]).exits(0).out.contains("Claude Code  ✓ connected"));
    desk.run(&["init", "claude-code", "--yes"]).exits(0);
    assert_eq!(commands(), [0, all, 0, 0]);
}

#[test]
fn a_status_line_has_what_is_known() {
    let desk = Desk::bare();
    let none = desk.run(&["append", "empty"]).exits(0);
    assert_eq!(none.code, 0);
    desk.run(&["status"]).exits(1);
    desk.write("s.jsonl", transcript(&desk));
    desk.run(&["import", "s.jsonl", "-q"]).exits(0);
    let line = desk.run(&["status"]).exits(0).out;
    assert!(line.starts_with("context 5,") && line.contains(" of 200k (3 %) · cache 0 % · $0.0"), "{line}");
    assert_eq!(line.lines().count(), 1);
    let input = json!({ "transcript_path": desk.path("s.jsonl"), "cwd": "/", "session_id": "x" });
    assert_eq!(desk.feed(&["status"], &input.to_string()).exits(0).out, line);
    for broken in ["{", "[1]", "{\"cwd\":7}", "\u{1b}[31m"] {
        assert_eq!(desk.feed(&["status"], broken).exits(0).out, line, "{broken}");
    }
    let report: Value = serde_json::from_str(&desk.run(&["status", "--json"]).exits(0).out).unwrap();
    assert_eq!(report["window"], 200_000);
}
