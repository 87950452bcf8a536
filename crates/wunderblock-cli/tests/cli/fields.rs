//! Tests that the names of JSON fields stay the same, because programs depend on them.

use crate::desk::Desk;
use crate::fixture::SESSION;
use serde_json::Value;

fn has(value: &Value, fields: &[&str], what: &str) {
    let object = value.as_object().unwrap_or_else(|| panic!("{what}: {value}"));
    for field in fields {
        assert!(object.contains_key(*field), "{what} has `{field}`: {value}");
    }
}

fn all_have(values: &Value, fields: &[&str], what: &str) {
    let values = values.as_array().unwrap_or_else(|| panic!("{what}: {values}"));
    assert!(!values.is_empty(), "{what}");
    values.iter().for_each(|value| has(value, fields, what));
}

const REPORT: [&str; 18] = [
    "window",
    "window_source",
    "reserve",
    "margin",
    "limit",
    "total_tokens",
    "total_bytes",
    "certainty",
    "sections",
    "entries",
    "left_out",
    "session",
    "model",
    "dialect",
    "digest",
    "encoded_bytes",
    "recorded",
    "dropped",
];

#[test]
fn reports_have_their_fields() {
    let desk = Desk::with_session();
    let small = ["--window", "900", "--reserve", "200", "--json"];
    for command in ["context", "explain"] {
        let report = desk.run(&[&[command, SESSION][..], &small].concat()).exits(0).json();
        has(&report, &REPORT, command);
        all_have(&report["sections"], &["name", "tokens"], "sections");
        all_have(
            &report["left_out"],
            &["from_seq", "to_seq", "count", "tokens", "reason", "handle"],
            "left_out",
        );
        all_have(&report["entries"], &["section", "treatment", "tokens", "what"], "entries");
        let sum: u64 =
            report["sections"].as_array().unwrap().iter().map(|line| line["tokens"].as_u64().unwrap()).sum();
        assert_eq!(report["total_tokens"], sum, "the sections are the whole");
        assert!(report["total_tokens"].as_u64() <= report["limit"].as_u64());
    }
}

#[test]
fn what_is_left_out_can_be_read_back_by_its_handle() {
    let desk = Desk::with_session();
    let report =
        desk.run(&["context", SESSION, "--window", "900", "--reserve", "200", "--json"]).exits(0).json();
    for run in report["left_out"].as_array().unwrap() {
        let read = desk.run(&["read", run["handle"].as_str().unwrap()]).exits(0);
        let seqs: Vec<u64> = read.lines().iter().map(|event| event["seq"].as_u64().unwrap()).collect();
        assert_eq!(seqs.first(), run["from_seq"].as_u64().as_ref());
        assert_eq!(seqs.last(), run["to_seq"].as_u64().as_ref());
    }
}

#[test]
fn refusals_have_their_fields() {
    let desk = Desk::with_session();
    let refusal = desk.run(&["context", SESSION, "--window", "60", "--json"]).exits(3).json();
    has(
        &refusal,
        &["error", "kind", "exit_code", "error_code", "hint", "limit", "needed", "parts"],
        "refusal",
    );
    assert_eq!(refusal["error_code"], "context_overflow");
    all_have(&refusal["parts"], &["section", "what", "tokens"], "parts");
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table of cases, or one story")]
fn every_other_answer_has_its_fields() {
    let desk = Desk::new();
    let import = desk.run(&["import", "session.jsonl", "--json"]).exits(0).json();
    let fields = [
        "path",
        "format",
        "sessions",
        "bytes",
        "unchanged",
        "records",
        "appended",
        "duplicates",
        "opaque_bytes",
        "broken",
        "warnings",
    ];
    has(&import, &fields, "import");
    desk.run(&["context", SESSION, "-q"]).exits(0);
    let handle =
        desk.run(&["grep", "P0042", "--json"]).exits(0).lines()[0]["handle"].as_str().unwrap().to_owned();
    let table: [(&[&str], &[&str]); 12] = [
        (
            &["sessions", "--json"],
            &[
                "session",
                "head",
                "messages",
                "text_bytes",
                "opened_at",
                "updated_at",
                "forked_from",
                "parent",
                "imported",
                "indexed",
            ],
        ),
        (&["show", SESSION, "--json"], &["tenant", "stream", "seq", "id", "at", "source", "kind"]),
        (&["export", SESSION], &["tenant", "stream", "seq", "id", "at", "source", "kind"]),
        (
            &["replay", SESSION, "--json"],
            &["session", "seq", "at", "lane", "model", "dialect", "bytes", "digest", "erased", "proved"],
        ),
        (
            &["diff", SESSION, "99", "99", "--json"],
            &[
                "first",
                "second",
                "same",
                "append_only",
                "common_bytes",
                "first_bytes",
                "second_bytes",
                "causes",
            ],
        ),
        (
            &["read", &handle, "--page", "1", "--json"],
            &["handle", "text", "bytes", "total_bytes", "page", "pages"],
        ),
        (&["grep", "P0042", "--json"], &["session", "seq", "at", "handle", "line", "text"]),
        (&["search", "brace", "--json"], &["session", "seq", "at", "score", "matched", "snippet"]),
        (
            &["explain", SESSION, "--find", "brace", "--json"],
            &["sought", "count", "in_request", "more", "places"],
        ),
        (
            &["explain", SESSION, "--agent-view", "--json"],
            &["session", "at", "compactions", "from", "messages", "kept", "found"],
        ),
        (
            &["pin", SESSION, "2", "--json"],
            &[
                "session",
                "now",
                "entry",
                "along",
                "recorded",
                "hidden",
                "left_out_by",
                "brought_back",
                "told_by",
            ],
        ),
        (
            &["doctor", "--json"],
            &[
                "ok",
                "path",
                "bytes",
                "tenants",
                "sessions",
                "problems",
                "repaired",
                "events",
                "bodies",
                "source_bytes",
            ],
        ),
    ];
    for (args, fields) in table {
        let lines = desk.run(args).exits(0).lines();
        assert!(!lines.is_empty(), "{args:?}");
        lines.iter().for_each(|line| has(line, fields, &args.join(" ")));
    }
    has(&desk.run(&["backup", "copy.db", "--json"]).exits(0).json(), &["path", "bytes"], "backup");
    has(
        &desk.run(&["restore", "copy.db", "--replace", "--json"]).exits(0).json(),
        &["path", "kept", "erased_again", "erasures_unread"],
        "restore",
    );
    let erased = desk.run(&["erase", SESSION, "--at", "3", "--yes", "--json"]).exits(0).json();
    has(&erased, &["session", "from_seq", "to_seq", "events", "blobs", "source_bytes", "receipt"], "erase");
}

#[test]
fn errors_are_json_too_and_stdout_holds_nothing_else() {
    let desk = Desk::with_session();
    let table: [(&[&str], i32); 8] = [
        (&["show", "nosuch", "--json"], 2),
        (&["context", "nosuch", "--json"], 2),
        (&["replay", SESSION, "--json"], 2),
        (&["read", "wb:0123456789abcdef", "--json"], 2),
        (&["grep", "(", "--regex", "--json"], 2),
        (&["import", "missing", "--json"], 1),
        (&["erase", SESSION, "--json"], 3),
        (&["backup", "session.jsonl", "--json"], 3),
    ];
    for (args, code) in table {
        let done = desk.run(args).exits(code);
        let error = done.json();
        has(&error, &["error", "kind", "exit_code"], &args.join(" "));
        assert_eq!(error["exit_code"], code);
        assert!(done.err.starts_with("error: "), "people read it on stderr: {}", done.err);
    }
}
