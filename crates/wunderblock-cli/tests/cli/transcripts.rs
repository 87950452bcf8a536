//! Tests that a session is exported as a transcript that another agent can resume, and that `import` reads back.

use crate::desk::Desk;
use crate::fixture::SESSION;
use serde_json::Value;

const FORMATS: [&str; 3] = ["claude-code", "codex", "pi"];

/// Returns what the model saw of a session, as far as a format holds it: its texts, reasoning, calls and results, each
/// as JSON. Codex holds neither the reasoning of other providers nor the failure of a tool.
fn said(events: &[Value], format: &str) -> Vec<String> {
    let messages = events.iter().filter(|event| event["kind"] == "message.appended");
    let parts = messages.flat_map(|event| {
        let role = event["message"]["role"].as_str().unwrap().to_owned();
        let parts = event["message"]["parts"].as_array().unwrap().clone();
        parts.into_iter().map(move |part| (role.clone(), part))
    });
    let held = parts.filter(|(_, part)| format != "codex" || part["type"] != "thinking");
    let texts = held.map(|(role, mut part)| {
        let fields = part.as_object_mut().unwrap();
        fields.remove("extra");
        if format == "codex" {
            fields.remove("failed");
        }
        format!("{role} {part}")
    });
    texts.collect()
}

fn summaries(events: &[Value]) -> Vec<&Value> {
    let made = events.iter().filter(|event| event["kind"] == "session.compacted");
    made.map(|event| &event["summary"]).collect()
}

fn title(events: &[Value]) -> Option<&str> {
    let mut described = events.iter().filter(|event| event["kind"] == "session.described");
    described.next_back().and_then(|event| event["title"].as_str())
}

#[test]
fn a_session_comes_back_from_the_transcript_of_every_agent() {
    for format in FORMATS {
        let desk = Desk::with_session();
        desk.run(&["describe", SESSION, "--title", "The parser"]).exits(0);
        let args = ["export", SESSION, "--to", format, "-o", "out.jsonl", "--json"];
        let report = desk.run(&args).exits(0).json();
        let bytes = desk.bytes("out.jsonl");
        desk.run(&args).exits(0);
        assert_eq!(desk.bytes("out.jsonl"), bytes, "{format}: equal bytes");
        let session = report["session"].as_str().unwrap();
        assert!(report["command"].as_str().unwrap().ends_with(session), "{report}");
        assert_eq!(report["format"], format);
        if format == "codex" {
            assert!(report["file"].as_str().unwrap().ends_with(&format!("-{session}.jsonl")), "{report}");
        }

        let done = desk.run(&["import", "out.jsonl", "--json", "--tenant", "other"]).exits(0).json();
        assert_eq!(
            (&done["format"], &done["broken"], &done["opaque_bytes"]),
            (&format.into(), &0.into(), &0.into())
        );
        assert_eq!(done["sessions"].as_array().unwrap().len(), 1, "{done}");
        let copy = done["sessions"][0].as_str().unwrap().to_owned();
        let before = desk.run(&["export", SESSION]).exits(0).lines();
        let after = desk.run(&["export", &copy, "--tenant", "other"]).exits(0).lines();
        assert_eq!(said(&after, format), said(&before, format), "{format}");
        assert_eq!(summaries(&after), summaries(&before), "{format}");
        assert_eq!(title(&after), Some("The parser"), "{format}");
    }
}

#[test]
fn what_a_transcript_does_not_hold_is_listed_on_stderr() {
    let desk = Desk::with_session();
    desk.run(&["pin", &format!("{SESSION}#2")]).exits(0);
    for format in FORMATS {
        let done = desk.run(&["export", SESSION, "--to", format]).exits(0);
        assert!(done.err.contains("left out: the event `content.pinned`: 1 time"), "{}", done.err);
        assert!(done.err.contains("to continue: store it "), "{}", done.err);
        assert!(done.out.lines().all(|line| line.starts_with('{')), "stdout has only the transcript");
        let quiet = desk.run(&["export", SESSION, "--to", format, "-q"]).exits(0);
        assert_eq!((quiet.err.as_str(), quiet.out), ("", done.out));
    }
}

#[test]
fn an_unknown_format_is_refused_with_the_known_ones() {
    let desk = Desk::with_session();
    let done = desk.run(&["export", SESSION, "--to", "emacs"]).exits(2);
    assert!(done.err.contains("claude-code, codex, pi, neutral, anthropic"), "{}", done.err);
}
