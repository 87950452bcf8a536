//! Tests of answers for people: pins and hides, an agent's view, a request as text, many conversations in one file.

use crate::desk::Desk;
use crate::fixture::SESSION;
use crate::output::{shown, snapshot};
use serde_json::{Value, json};

/// Returns a time on the fixture's day.
fn at(minute: usize) -> String {
    format!("2026-03-01T10:{minute:02}:00.000Z")
}

/// A session that Claude Code compacted once. The summary keeps an earlier statement about a table, and loses one about
/// a port.
fn claude_code() -> String {
    let mut out = String::new();
    let mut record = |id: &str, parent: &str, more: Value| {
        let mut record = json!({
            "uuid": id, "parentUuid": (!parent.is_empty()).then_some(parent), "sessionId": "c1-garden",
            "timestamp": at(out.lines().count()), "cwd": "/home/ann/garden", "version": "2.0.1",
            "isSidechain": false, "userType": "external",
        });
        for (key, value) in more.as_object().unwrap() {
            record[key] = value.clone();
        }
        out.push_str(&format!("{record}\n"));
    };
    let user = |text: &str| json!({ "type": "user", "message": { "role": "user", "content": text } });
    let says = |id: &str, blocks: Value| {
        json!({ "type": "assistant", "message": {
            "id": id, "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": blocks,
            "stop_reason": "end_turn", "usage": { "input_tokens": 400, "output_tokens": 20 },
        } })
    };
    record(
        "a1",
        "",
        user("Water the beds from a table of plants. The pump listens on port 4711, never on another."),
    );
    let call = json!([{ "type": "tool_use", "id": "t1", "name": "Read", "input": { "file_path": "/home/ann/garden/beds.toml" } }]);
    record("a2", "a1", says("m1", call));
    let result = json!({ "type": "user", "message": { "role": "user", "content": [
        { "type": "tool_result", "tool_use_id": "t1", "content": "pump = \"port 4711\"\nbeds = 12\n" },
    ] } });
    record("a3", "a2", result);
    record(
        "a4",
        "a3",
        says("m2", json!([{ "type": "text", "text": "The table of plants has twelve beds." }])),
    );
    let boundary = json!({
        "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "logicalParentUuid": "a4",
        "compactMetadata": { "trigger": "auto", "preTokens": 155000 },
    });
    record("b1", "", boundary);
    let mut summary = user(
        "Summary so far:\n- The table of plants drives the watering: twelve beds.\n- Next: write the schedule.",
    );
    summary["isCompactSummary"] = json!(true);
    record("b2", "b1", summary);
    record("b3", "b2", user("Go on with the schedule."));
    record(
        "b4",
        "b3",
        says("m3", json!([{ "type": "text", "text": "Which port does the pump use? I do not see it." }])),
    );
    out
}

/// A small session in Codex's format, also compacted once.
fn codex() -> String {
    let line = |minute: usize, kind: &str, payload: Value| {
        json!({ "timestamp": at(minute), "type": kind, "payload": payload }).to_string()
    };
    let said = |role: &str, kind: &str, text: &str| json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] });
    [
        line(0, "session_meta", json!({ "id": "019fc8be-0000-7000-8000-00000000garden".replace("garden", "a1de"), "cwd": "/home/ann/garden", "originator": "codex", "cli_version": "0.50.0" })),
        line(1, "response_item", said("user", "input_text", "The pump listens on port 4711.")),
        line(2, "response_item", said("assistant", "output_text", "Noted: the pump's port is 4711.")),
        line(3, "compacted", json!({ "message": "The user waters a garden. The pump was found." })),
        line(4, "response_item", said("user", "input_text", "Go on.")),
    ]
    .join("\n")
        + "\n"
}

fn pi() -> String {
    let message = |id: &str, parent: Option<&str>, minute: usize, role: &str, text: &str| {
        json!({
            "type": "message", "id": id, "parentId": parent, "timestamp": at(minute),
            "message": { "role": role, "content": [{ "type": "text", "text": text }], "timestamp": 0 },
        })
        .to_string()
    };
    [
        json!({ "type": "session", "version": 3, "id": "p1-garden", "timestamp": at(0), "cwd": "/home/ann/garden" }).to_string(),
        message("aa000001", None, 1, "user", "The pump listens on port 4711."),
        message("aa000002", Some("aa000001"), 2, "assistant", "Noted: port 4711."),
        message("aa000003", Some("aa000002"), 3, "user", "And the beds are twelve."),
        json!({
            "type": "compaction", "id": "aa000004", "parentId": "aa000003", "timestamp": at(4),
            "summary": "A pump and its port were named.", "firstKeptEntryId": "aa000003", "tokensBefore": 9000,
        })
        .to_string(),
        message("aa000005", Some("aa000004"), 5, "user", "Go on."),
    ]
    .join("\n")
        + "\n"
}

#[test]
fn a_message_is_pinned_and_hidden_and_all_of_it_taken_back() {
    let desk = Desk::with_session();
    let runs: [&[&str]; 12] = [
        &["hide", SESSION, "5"],
        &["hide", SESSION, "5"],
        &["explain", SESSION, "--find", "P0042"],
        &["pin", SESSION, "5"],
        &["unhide", SESSION, "5"],
        &["context", SESSION, "--window", "900", "--reserve", "200"],
        &["unpin", SESSION, "5"],
        &["pin", SESSION, "2"],
        &["hide", SESSION, "1"],
        &["hide", SESSION, "999"],
        &["hide", SESSION, "3", "--json"],
        &["unhide", SESSION, "3", "--json"],
    ];
    snapshot("visibility", &shown(&desk, &runs));
    let hidden = desk.run(&["grep", "P0042"]).exits(0);
    assert!(hidden.out.contains("P0042"), "hidden is not lost");
}

#[test]
fn what_an_agent_had_in_view_is_told_from_its_own_compactions() {
    let desk = Desk::bare();
    desk.write("claude.jsonl", claude_code());
    desk.write("codex.jsonl", codex());
    desk.write("pi.jsonl", pi());
    let runs: [&[&str]; 9] = [
        &["explain", "claude.jsonl", "--agent-view"],
        &["explain", "claude.jsonl", "--agent-view", "--at", "4"],
        &["explain", "claude.jsonl", "--agent-view", "--find", "4711"],
        &["explain", "claude.jsonl", "--agent-view", "--find", "table of plants"],
        &["explain", "claude.jsonl", "--agent-view", "--find", "xylophone"],
        &["explain", "codex.jsonl", "--agent-view", "--find", "4711"],
        &["explain", "pi.jsonl", "--agent-view", "--find", "4711"],
        &["explain", "pi.jsonl", "--agent-view"],
        &["explain", "claude.jsonl", "--agent-view", "--html", "page.html"],
    ];
    let text = shown(&desk, &runs);
    // Handles differ, because this ledger has a random key.
    snapshot("agent_view", &without_handles(&text));
}

#[test]
fn a_summary_that_the_transcript_lacks_is_not_judged_and_no_case_hides_a_text() {
    let desk = Desk::bare();
    desk.write("codex.jsonl", codex().replace("The user waters a garden. The pump was found.", ""));
    let find = |sought: &str, code| {
        desk.run(&["explain", "codex.jsonl", "--agent-view", "--find", sought]).exits(code).out.clone()
    };
    let told = find("PUMP'S port", 0);
    assert!(told.contains("1 place spelt `pump's port`, 0 in its view"), "{told}");
    assert!(told.contains("not known whether its summary says it"), "{told}");
    assert!(!told.contains("nothing like it"), "{told}");
    assert!(find("the pumps port", 1).contains("not found up to here"));
    let placed = desk.run(&["explain", "codex.jsonl", "--find", "PUMP'S port"]).exits(0);
    assert!(placed.out.contains("1 place spelt `pump's port`, 1 in the request"), "{}", placed.out);
}

/// Masks the digits of handles.
fn without_handles(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("wb:") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let digits = after.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(after.len());
        out.push_str(if digits == 16 { "[handle]" } else { &after[..digits] });
        rest = &after[digits..];
    }
    out + rest
}

#[test]
fn a_request_is_written_as_text_to_read() {
    let desk = Desk::with_session();
    let done = desk.run(&["context", SESSION, "--out", "request.md"]).exits(0);
    assert!(done.out.contains("request in request.md"), "{}", done.out);
    let text = String::from_utf8(desk.bytes("request.md")).unwrap();
    // The long result is cut in the middle, so the snapshot contains only the text around it.
    let lines: Vec<&str> = text.lines().filter(|line| !line.contains("Compiling module-")).collect();
    let text = lines.join("\n").replace(&crate::fixture::secret(), "[secret]");
    snapshot("request_text", &desk.settled(&text));
}

#[test]
fn a_file_of_many_conversations_says_so_and_the_newest_with_content_is_taken() {
    let desk = Desk::bare();
    let mut log = String::new();
    for (day, words) in ["plant beans", "water the beds", "repair the pump"].into_iter().enumerate() {
        log.push_str(&format!(
            "\n# aider chat started at 2026-03-0{} 09:00:00\n\n#### {words}\n\nDone: {words}.\n",
            day + 1
        ));
    }
    log.push_str("\n# aider chat started at 2026-03-04 09:00:00\n\n> nothing was said here\n");
    desk.write(".aider.chat.history.md", log);
    let runs: [&[&str]; 6] = [
        &["show", ".aider.chat.history.md"],
        &["show", ".aider.chat.history.md#1"],
        &["show", ".aider.chat.history.md#2", "-q"],
        &["show", ".aider.chat.history.md", "-q"],
        &["show", ".aider.chat.history.md#9"],
        &["simulate", ".aider.chat.history.md", "--policies", "nothing-of-that-name"],
    ];
    snapshot("conversations", &shown(&desk, &runs));
}
