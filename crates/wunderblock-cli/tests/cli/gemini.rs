//! A session of Gemini CLI through its hooks: captured once, with its project, and answered after a compression, of
//! which it tells no hook. The order of events and lines is that of version 0.61.0.

use crate::desk::Desk;
use serde_json::{Value, json};

/// A session that its agent writes while the test calls the hook.
struct Written {
    desk: Desk,
    text: String,
}

impl Written {
    fn new() -> Self {
        Self { desk: Desk::bare(), text: String::new() }
    }

    fn add(&mut self, lines: &[Value]) {
        self.text.extend(lines.iter().map(|line| format!("{line}\n")));
        self.desk.write("session-1.jsonl", &self.text);
    }

    /// Calls the hook. Returns the context that it adds.
    fn hook(&self, event: &str, fields: Value) -> Option<String> {
        let mut input = json!({
            "session_id": "g1", "transcript_path": self.desk.path("session-1.jsonl"), "cwd": self.desk.folder(),
            "hook_event_name": event, "timestamp": "2026-01-02T03:04:05Z",
        });
        input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        Some(
            self.desk.hook("gemini-cli", &input, &["--no-digest"])?["additionalContext"]
                .as_str()
                .unwrap()
                .to_owned(),
        )
    }

    /// A turn: the prompt is recorded with the context that the hook adds, and answered.
    fn turn(&mut self, id: &str, prompt: &str, before: &[Value]) -> Option<String> {
        let context = self.hook("BeforeAgent", json!({ "prompt": prompt }));
        self.hook("PreCompress", json!({ "trigger": "auto" }));
        self.add(before);
        let mut content = vec![json!({ "text": prompt })];
        content.extend(
            context.iter().map(|text| json!({ "text": format!("<hook_context>{text}</hook_context>") })),
        );
        self.add(&[
            json!({ "id": id, "type": "user", "content": content }),
            json!({ "$set": { "lastUpdated": "2026-01-02T03:04:07Z" } }),
            json!({ "id": format!("{id}a"), "type": "gemini", "content": "Done.", "tokens": { "input": 9, "output": 1 } }),
        ]);
        self.hook("AfterAgent", json!({ "prompt": prompt, "prompt_response": "Done." }));
        context
    }

    fn events(&self) -> String {
        self.desk.run(&["export", "g1"]).exits(0).out
    }
}

fn header() -> Value {
    json!({ "sessionId": "g1", "projectHash": "p", "startTime": "2026-01-02T03:04:05Z", "kind": "main" })
}

/// The message with the context of a session, whose id is the same in all sessions.
fn context(desk: &Desk) -> Value {
    let folder = desk.folder().to_string_lossy().into_owned();
    let text =
        format!("<session_context>\nHello.\n- **Workspace Directories:**\n  - {folder}\n</session_context>");
    json!({ "id": "c0", "timestamp": "2026-01-02T03:04:05Z", "type": "user", "content": [{ "text": text }] })
}

fn compression(desk: &Desk, id: &str) -> Value {
    let summary = json!({ "id": id, "type": "user", "content": [{ "text": "<state_snapshot>the gate</state_snapshot>" }] });
    let answer = json!({ "id": format!("{id}a"), "type": "gemini", "content": [{ "text": "Got it." }] });
    json!({ "$set": { "messages": [context(desk), summary, answer] } })
}

#[test]
fn every_message_is_captured_once_with_its_project() {
    let mut session = Written::new();
    let opening = [header(), json!({ "$set": { "messages": [context(&session.desk)] } })];
    session.add(&opening);
    assert_eq!(session.hook("SessionStart", json!({ "source": "startup" })), None);
    let result = json!({ "functionResponse": { "id": "r1", "name": "run_shell_command", "response": { "output": "open" } } });
    session.add(&[
        json!({ "id": "1", "type": "user", "content": [{ "text": "Is the gate open?" }] }),
        json!({ "id": "2", "type": "gemini", "content": "", "tokens": { "input": 5, "output": 1 } }),
    ]);
    session.hook("PreCompress", json!({ "trigger": "auto" }));
    session.add(&[
        json!({ "id": "2", "type": "gemini", "content": "", "tokens": { "input": 5, "output": 1 }, "toolCalls": [
            { "id": "r1", "name": "run_shell_command", "args": { "command": "gate" }, "status": "success", "result": [result] },
        ] }),
    ]);
    session.hook(
        "AfterTool",
        json!({ "tool_name": "run_shell_command", "tool_input": {}, "tool_response": {} }),
    );
    session.add(&[json!({ "id": "3", "type": "user", "content": [result] })]);
    session.turn("4", "Close it", &[]);
    // Resumed: the agent writes the opening again.
    session.add(&opening);
    session.turn("5", "Lock it", &[]);
    for _ in 0..3 {
        session.hook("SessionEnd", json!({ "reason": "exit" }));
    }
    let events = session.events();
    for (what, count) in
        [("message.appended", 8), ("session.closed", 1), ("Is the gate open?", 1), ("<session_context>", 1)]
    {
        assert_eq!(events.lines().filter(|line| line.contains(what)).count(), count, "{what}: {events}");
    }
    session.desk.run(&["import", "session-1.jsonl", "-q"]).exits(0);
    assert_eq!(session.events(), events, "an import after the hooks adds nothing");
    let listed: Value =
        serde_json::from_str(&session.desk.run(&["sessions", "--json"]).exits(0).out).unwrap();
    assert_eq!(listed["project"], session.desk.folder().to_string_lossy().as_ref(), "{listed}");
    assert!(!session.desk.path("state/wunderblock/hook.log").exists());
}

#[test]
fn sessions_with_the_same_context_are_not_branches_of_each_other() {
    let mut session = Written::new();
    let context = json!({ "$set": { "messages": [context(&session.desk)] } });
    session.add(&[header(), context.clone()]);
    session.turn("1", "Close the gate", &[]);
    let other = json!({ "sessionId": "g2", "projectHash": "p", "startTime": "2026-01-03T03:04:05Z" });
    let said = json!({ "id": "9", "type": "user", "content": [{ "text": "Paint the gate" }] });
    session.desk.write("session-2.jsonl", format!("{other}\n{context}\n{said}\n"));
    session.desk.run(&["import", "session-2.jsonl", "-q"]).exits(0);
    let ids: Vec<String> = session
        .desk
        .run(&["sessions", "--json"])
        .exits(0)
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["session"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids.iter().filter(|id| id.contains('~')).count(), 0, "{ids:?}");
    assert_eq!(ids.len(), 2);
}

#[test]
fn the_first_prompt_after_a_compression_is_answered_with_a_recap() {
    let mut session = Written::new();
    let opening = [header(), json!({ "$set": { "messages": [context(&session.desk)] } })];
    session.add(&opening);
    assert_eq!(session.turn("1", "The gate must stay green", &[]), None);
    // It compresses by itself after the hook was called for the turn, so that the next turn gets the recap.
    let compressed = [compression(&session.desk, "s1")];
    assert_eq!(session.turn("2", "And the hinge?", &compressed), None);
    let recap = session.turn("3", "Oil it", &[]).expect("a recap");
    assert!(recap.contains("The gate must stay green") && recap.len() <= 4_500, "{recap}");
    assert_eq!(session.turn("4", "Next", &[]), None, "only once");
    // Typed: it compresses between two turns.
    let compressed = compression(&session.desk, "s2");
    session.hook("PreCompress", json!({ "trigger": "manual" }));
    session.add(&[compressed]);
    assert!(session.turn("5", "What is left?", &[]).expect("a recap").contains("Oil it"));
    assert_eq!(session.turn("6", "Next", &[]), None, "only once");
    assert_eq!(session.turn("7", "Last", &[]), None);
}
