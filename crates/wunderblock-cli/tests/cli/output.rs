//! Snapshots of whole outputs, for people and for programs. A change in a snapshot is a change that users see.

use crate::desk::Desk;
use crate::fixture::{ERROR_LINE, SESSION};

/// Runs each command and returns its output and exit code as a person would see them.
pub(crate) fn shown(desk: &Desk, runs: &[&[&str]]) -> String {
    let mut out = String::new();
    for args in runs {
        let done = desk.run(args);
        out.push_str(&format!("$ wunderblock {}\n{}", args.join(" "), done.out));
        if !done.err.is_empty() {
            out.push_str(&format!("--- stderr\n{}", done.err));
        }
        out.push_str(&format!("--- exit {}\n\n", done.code));
    }
    desk.settled(&out)
}

pub(crate) fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn import_says_what_it_did_and_what_was_known() {
    let desk = Desk::new();
    desk.write(
        "broken.jsonl",
        "{\"role\":\"user\",\"content\":\"hi\"}\n{\"role\":\n{\"role\":\"user\",\"content\":\"ho\"}\n",
    );
    desk.write("empty.jsonl", "");
    desk.write("binary.json", [0u8, 159, 146, 150, 0, 1]);
    std::fs::create_dir(desk.path("folder")).unwrap();
    let runs: [&[&str]; 9] = [
        &["import", "session.jsonl"],
        &["import", "session.jsonl"],
        &["import", "session.jsonl", "--json"],
        &["import", "broken.jsonl"],
        &["import", "empty.jsonl"],
        &["import", "binary.json", "session.jsonl"],
        &["import", "folder"],
        &["import", "missing.jsonl"],
        &["import", "missing.jsonl", "--json"],
    ];
    snapshot("import", &shown(&desk, &runs));
}

#[test]
fn sessions_are_listed() {
    let desk = Desk::bare();
    let mut text = shown(&desk, &[&["sessions"], &["sessions", "--json"]]);
    let desk = Desk::with_session();
    let runs: [&[&str]; 5] = [
        &["sessions"],
        &["sessions", "7d1"],
        &["sessions", "nosuch"],
        &["sessions", "-n", "1"],
        &["sessions", "--json"],
    ];
    text.push_str(&shown(&desk, &runs));
    snapshot("sessions", &text);
}

#[test]
fn a_session_is_shown() {
    let desk = Desk::with_session();
    let runs: [&[&str]; 5] = [
        &["show", SESSION],
        &["show", SESSION, "--at", "2"],
        &["show", SESSION, "--at", "900-901"],
        &["show", SESSION, "--at", "9-2"],
        &["show", SESSION, "--at", "2", "--json"],
    ];
    snapshot("show", &shown(&desk, &runs));
}

#[test]
fn a_session_is_exported() {
    let desk = Desk::with_session();
    let runs: [&[&str]; 4] = [
        &["export", SESSION, "--to", "anthropic", "--out", "request.json"],
        &["export", SESSION, "--original", "--out", "copy.jsonl"],
        &["export", SESSION, "--out", "no/such/folder/x"],
        &["export", SESSION, "--original", "--to", "neutral"],
    ];
    snapshot("export", &shown(&desk, &runs));
    assert_eq!(desk.bytes("copy.jsonl"), desk.bytes("session.jsonl"));
}

#[test]
fn a_request_is_reported_as_a_picture() {
    let desk = Desk::with_session();
    let runs: [&[&str]; 5] = [
        &["context", SESSION],
        &["context", SESSION, "--window", "900", "--reserve", "200", "--out", "request.json"],
        &["context", SESSION, "--window", "900", "--reserve", "200", "--lane", "small", "-v"],
        &["context", SESSION, "--window", "900", "--reserve", "200", "--json"],
        &["context", SESSION, "--model", "gpt-4o", "--at", "5", "--to", "openai-chat"],
    ];
    snapshot("context", &shown(&desk, &runs));
}

#[test]
fn what_cannot_fit_is_refused_with_its_parts() {
    let desk = Desk::with_session();
    let runs: [&[&str]; 4] = [
        &["context", SESSION, "--window", "60"],
        &["context", SESSION, "--window", "60", "--json"],
        &["explain", SESSION, "--window", "60"],
        &["context", SESSION, "--window", "0"],
    ];
    snapshot("over_budget", &shown(&desk, &runs));
}

#[test]
fn a_request_is_explained() {
    let desk = Desk::with_session();
    let runs: [&[&str]; 6] = [
        &["explain", SESSION, "--window", "900", "--reserve", "200"],
        &["explain", SESSION, "--window", "900", "--reserve", "200", "--find", "P0042"],
        &["explain", SESSION, "--window", "900", "--reserve", "200", "--find", "brace", "--json"],
        &["explain", SESSION, "--find", "nowhere at all"],
        &["explain", SESSION, "--find", "wb:0000000000000000"],
        &["explain", "nosuch"],
    ];
    snapshot("explain", &shown(&desk, &runs));
}

#[test]
fn recorded_requests_are_rebuilt_and_compared() {
    let desk = Desk::with_session();
    let mut text = shown(&desk, &[&["replay", SESSION], &["diff", SESSION, "1", "2"]]);
    desk.run(&["context", SESSION, "-q"]).exits(0);
    desk.feed(
        &["append", SESSION],
        "{\"id\":\"n1\",\"at\":1772357000000,\"role\":\"user\",\"content\":\"One more thing.\"}\n",
    )
    .exits(0);
    desk.run(&["context", SESSION, "-q"]).exits(0);
    desk.run(&["context", SESSION, "-q", "--window", "900", "--reserve", "200"]).exits(0);
    let built: Vec<String> = desk
        .run(&["export", SESSION])
        .lines()
        .iter()
        .filter(|event| event["kind"] == "context.built")
        .map(|event| event["seq"].to_string())
        .collect();
    let [first, second, third] = built.as_slice() else { panic!("three requests: {built:?}") };
    let runs: [&[&str]; 8] = [
        &["replay", SESSION],
        &["replay", SESSION, "--at", first, "--out", "request.json"],
        &["replay", SESSION, "--json"],
        &["replay", SESSION, "--at", "1"],
        &["diff", SESSION, first, second],
        &["diff", SESSION, second, third],
        &["diff", SESSION, first, first],
        &["diff", SESSION, first, second, "--json"],
    ];
    text.push_str(&shown(&desk, &runs));
    snapshot("replay_and_diff", &text);
}

#[test]
fn handles_are_read_back() {
    let desk = Desk::with_session();
    let found = desk.run(&["grep", "P0042", "--json"]).exits(0).lines();
    let handle = found[0]["handle"].as_str().expect("the log is a blob").to_owned();
    let runs: [&[&str]; 9] = [
        &["read", &handle, "--lines", "136-138"],
        &["read", &handle, "--bytes", "0-40"],
        &["read", &handle, "--lines", "1-2", "--json"],
        &["read", &handle, "--lines", "500-501"],
        &["read", &handle, "--json-path", "a.b"],
        &["read", &handle, "--lines", "1-2", "--page", "1"],
        &["read", "wb:0123456789abcdef"],
        &["read", "nonsense"],
        &["read", "wb:0123456789abcdef", "--json"],
    ];
    snapshot("read", &shown(&desk, &runs));
    let all = desk.run_bytes(&["read", &handle]);
    assert_eq!(String::from_utf8(all.stdout).unwrap(), crate::fixture::log(), "the exact bytes");
}

#[test]
fn texts_are_found() {
    let desk = Desk::with_session();
    let runs: [&[&str]; 8] = [
        &["grep", "P0042"],
        &["grep", "p00[0-9]2", "--regex", "-i", "--json"],
        &["grep", "module-0", "-n", "2"],
        &["grep", "nowhere at all"],
        &["grep", "(", "--regex"],
        &["grep", "括号", "--session", SESSION],
        &["grep", "", "--session", SESSION],
        &["grep", "x", "--session", "nosuch"],
    ];
    snapshot("grep", &shown(&desk, &runs));
}

#[test]
fn words_are_searched_for() {
    let desk = Desk::with_session();
    let runs: [&[&str]; 8] = [
        &["search", "unexpected token"],
        &["search", "括号", "--newest"],
        &["search", "brace", "-n", "1", "--json"],
        &["search", "nowhereatall"],
        &["search", "+brace -rewrite"],
        &["search", "brace", "-rewrite"],
        &["search", "\"only remove\""],
        &["search", ""],
    ];
    snapshot("search", &shown(&desk, &runs));
    assert!(ERROR_LINE.contains("unexpected token"));
}

#[test]
fn the_ledger_is_looked_after() {
    let desk = Desk::with_session();
    let runs: [&[&str]; 12] = [
        &["doctor"],
        &["doctor", "--json"],
        &["doctor", "--rebuild"],
        &["doctor", "--repair", "--json"],
        &["backup", "copy.db"],
        &["backup", "copy.db"],
        &["restore", "copy.db"],
        &["erase", SESSION, "--at", "2"],
        &["erase", SESSION, "--at", "2", "--reason", "a secret", "--yes"],
        &["show", SESSION, "--at", "2"],
        &["restore", "copy.db", "--replace"],
        &["show", SESSION, "--at", "2"],
    ];
    let sizes = ["\ncopy.db: ", "ledger.db: ", "\"bytes\":"];
    snapshot("care", &sizes.iter().fold(shown(&desk, &runs), |text, before| unsized_after(&text, before)));
}

/// Masks the number after each occurrence of `before`.
fn unsized_after(text: &str, before: &str) -> String {
    let mut parts = text.split(before);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ',');
        // In JSON, a comma follows the number.
        let comma = if part[..part.len() - rest.len()].ends_with(',') { "," } else { "" };
        out.push_str(&format!(
            "{before}{}{comma}{rest}",
            if rest.len() < part.len() { "[size]" } else { "" }
        ));
    }
    out
}

#[test]
fn wrong_usage_says_what_would_be_right() {
    let desk = Desk::with_session();
    desk.write("bad.toml", "windows = 3\n");
    desk.write("tools.json", "{}");
    let runs: [&[&str]; 9] = [
        &["frobnicate"],
        &["context"],
        &["context", SESSION, "--window", "many"],
        &["context", SESSION, "--wimdow", "1"],
        &["sessions", "--config", "bad.toml"],
        &["sessions", "--config", "nosuch.toml"],
        &["context", SESSION, "--tools", "tools.json"],
        &["sessions", "--tenant", ""],
        &["show", "no/such/file.jsonl"],
    ];
    snapshot("usage", &shown(&desk, &runs));
}
