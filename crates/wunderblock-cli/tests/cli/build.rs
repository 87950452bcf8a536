//! Tests of `context`, `explain`, `replay` and `diff`: which bytes go where, and what is written to the ledger.

use crate::desk::Desk;
use crate::fixture::SESSION;
use serde_json::Value;

const SMALL: [&str; 4] = ["--window", "900", "--reserve", "200"];

#[test]
fn the_request_on_stdout_has_the_hash_that_is_reported() {
    let desk = Desk::with_session();
    for to in ["neutral", "anthropic", "openai-chat", "openai-responses", "gemini"] {
        let output = desk.run_bytes(&["context", SESSION, "--to", to, "--out", "-", "--json"]);
        assert!(output.status.success());
        let report: Value = serde_json::from_slice(&output.stderr).expect("the report is on stderr");
        let hash = blake3::hash(&output.stdout).to_hex().to_string();
        assert_eq!(report["digest"], hash.as_str());
        assert_eq!(report["encoded_bytes"], output.stdout.len());
        let replayed = desk.run_bytes(&["replay", SESSION, "--out", "-"]);
        assert_eq!(replayed.stdout, output.stdout, "{to}: an earlier request, byte for byte");
        desk.run(&["context", SESSION, "--to", to, "--out", "request.json", "--at", "400"]).exits(0);
    }
}

#[test]
fn people_get_the_report_on_stderr_when_the_request_is_on_stdout() {
    let desk = Desk::with_session();
    let done = desk.run(&["context", SESSION, "--out", "-"]).exits(0);
    serde_json::from_str::<Value>(&done.out).expect("only the request");
    assert!(done.err.contains("thinking out of its place") && done.err.contains("total"), "{}", done.err);
}

/// Returns the content of every file that a write to the ledger could change.
fn state(desk: &Desk) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(desk.folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("ledger.db") && !name.ends_with("-shm"))
        .map(|name| (name.clone(), desk.bytes(&name)))
        .filter(|(_, bytes)| !bytes.is_empty())
        .collect();
    files.sort();
    files
}

#[test]
fn what_only_reads_writes_nothing() {
    let desk = Desk::with_session();
    desk.run(&["context", SESSION, "-q"]).exits(0);
    let before = state(&desk);
    let table: [&[&str]; 11] = [
        &["sessions"],
        &["show", SESSION],
        &["show", "session.jsonl"],
        &["explain", SESSION, SMALL[0], SMALL[1], SMALL[2], SMALL[3]],
        &["explain", "session.jsonl"],
        &["explain", SESSION, "--find", "brace"],
        &["diff", SESSION, "99", "99"],
        &["replay", SESSION],
        &["export", SESSION],
        &["grep", "brace"],
        &["doctor"],
    ];
    for args in table {
        desk.run(args).exits(0);
        assert!(state(&desk) == before, "{args:?} changed the ledger");
    }
}

#[test]
fn a_ledger_that_cannot_be_written_can_be_read() {
    let desk = Desk::with_session();
    let ledger = desk.path("ledger.db");
    let mut mode = std::fs::metadata(&ledger).unwrap().permissions();
    mode.set_readonly(true);
    std::fs::set_permissions(&ledger, mode).unwrap();
    let table: [&[&str]; 7] = [
        &["sessions"],
        &["show", SESSION],
        &["explain", SESSION],
        &["search", "brace"],
        &["grep", "brace"],
        &["export", SESSION],
        &["doctor"],
    ];
    for args in table {
        desk.run(args).exits(0);
    }
    if std::fs::OpenOptions::new().append(true).open(&ledger).is_ok() {
        eprintln!("SKIPPED: permissions do not bind this user; refusals to write were not tried");
        return;
    }
    for args in [&["context", SESSION][..], &["import", "session.jsonl"]] {
        let done = desk.run(args).exits(1);
        assert!(done.err.contains("read-only") && done.err.contains("hint: "), "{}", done.err);
    }
}

#[test]
fn a_transcript_file_can_be_given_instead_of_a_session() {
    let desk = Desk::new();
    let first = desk.run(&["context", "session.jsonl", "--json"]).exits(0).json();
    assert_eq!(first["session"].as_str().unwrap().split('~').next(), Some(SESSION));
    let bare = Desk::new();
    for args in [&["show", "session.jsonl"][..], &["explain", "session.jsonl"], &["export", "session.jsonl"]]
    {
        bare.run(args).exits(0);
    }
    let mut grown = bare.bytes("session.jsonl");
    let record = serde_json::json!({
        "type": "user", "uuid": "c1", "parentUuid": "b9", "sessionId": SESSION, "timestamp": "2026-03-01T10:00:00.000Z",
        "message": { "role": "user", "content": "A later word: zanzibar" },
    });
    grown.extend_from_slice(format!("{record}\n").as_bytes());
    bare.write("session.jsonl", &grown);
    let shown = bare.run(&["show", "session.jsonl"]).exits(0);
    assert!(shown.out.contains("zanzibar"), "what the file has grown by is there: {}", shown.out);
}

#[test]
fn a_request_as_of_then_records_nothing() {
    let desk = Desk::with_session();
    let before = desk.run(&["export", SESSION]).exits(0).out;
    let report = desk.run(&["context", SESSION, "--at", "5", "--json"]).exits(0).json();
    assert!(report["recorded"].is_null());
    assert_eq!(desk.run(&["export", SESSION]).exits(0).out, before);
}

#[test]
fn odd_wishes_get_an_answer() {
    let desk = Desk::with_session();
    let table: [(&[&str], i32); 12] = [
        (&["context", SESSION, "--window", "1"], 3),
        (&["context", SESSION, "--window", "18446744073709551615"], 0),
        (&["context", SESSION, "--window", "18446744073709551616"], 2),
        (&["context", SESSION, "--window", "-1"], 2),
        (&["context", SESSION, "--reserve", "18446744073709551615"], 2),
        (&["context", SESSION, "--model", ""], 2),
        (&["context", SESSION, "--model", "\u{1b}[31mno-such-model"], 0),
        (&["context", SESSION, "--lane", ""], 2),
        (&["context", SESSION, "--query", ""], 2),
        (&["context", SESSION, "--at", "0"], 2),
        (&["context", SESSION, "--at", "999999"], 0),
        (&["context", SESSION, "--out", "no/such/folder/request.json"], 1),
    ];
    for (args, code) in table {
        let done = desk.run(args).exits(code);
        assert!(!(done.out + &done.err).contains('\u{1b}'), "{args:?}");
    }
}

#[test]
fn stdout_holds_data_only() {
    let desk = Desk::with_session();
    for args in [
        &["context", SESSION, "--json"][..],
        &["explain", SESSION, "--json"],
        &["doctor", "--json"],
        &["sessions", "--json"],
        &["search", "brace", "--json"],
    ] {
        let done = desk.run(args).exits(0);
        assert!(!done.lines().is_empty());
        assert_eq!(done.err, "", "{args:?}: nothing to say");
    }
}
