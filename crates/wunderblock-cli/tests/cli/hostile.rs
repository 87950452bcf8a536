//! Tests that hostile content never reaches a terminal unchanged, and that a reader that goes away is not an error.

use crate::desk::Desk;
use crate::fixture::{HOSTILE, SESSION, secret};

/// Returns whether a terminal would act on a character or leave it invisible.
fn acts(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[track_caller]
fn harmless(text: &str, what: &str) {
    if let Some(at) = text.find(acts) {
        let from = text[..at].char_indices().rev().nth(40).map_or(0, |(from, _)| from);
        panic!("{what}: {:?}", &text[from..(at + 4).min(text.len())]);
    }
}

#[test]
fn nothing_hostile_is_written_by_what_people_read() {
    let desk = Desk::with_session();
    let name = format!("{}.jsonl", "a\u{202e}b\u{1b}[2Jc");
    desk.write(
        &name,
        format!("{{\"role\":\"user\",\"content\":{}}}\n{{broken {HOSTILE}\n", serde_json::json!(HOSTILE)),
    );
    let table: [&[&str]; 28] = [
        &["import", &name],
        &["import", &name, "--json"],
        &["sessions"],
        &["sessions", "--json"],
        &["show", SESSION, "-v"],
        &["show", SESSION, "--json"],
        &["show", &name],
        &["grep", "red"],
        &["grep", "red", "--json"],
        &["search", "red"],
        &["search", "desrever", "--json"],
        &["context", SESSION, "-v"],
        &["context", SESSION, "--json"],
        &["context", &name, "-v"],
        &["explain", SESSION, "--find", "red"],
        &["explain", SESSION, "--find", "red", "--json"],
        &["explain", SESSION, "--agent-view", "--find", "red"],
        &["explain", SESSION, "--agent-view", "--find", "red", "--json"],
        &["pin", SESSION, "5"],
        &["hide", SESSION, "5", "--json"],
        &["unhide", SESSION, "5"],
        &["compact", SESSION, "--dry-run", "-v"],
        &["explain", &name],
        &["doctor"],
        &["show", "\u{1b}[31mnosuch"],
        &["import", "\u{1b}[31mmissing"],
        &["grep", "\u{1b}[31m"],
        &["grep", "(\u{1b}[31m\u{202e}", "--regex"],
    ];
    for args in table {
        let done = desk.run(args);
        harmless(&done.out, &format!("{args:?} stdout"));
        harmless(&done.err, &format!("{args:?} stderr"));
        assert!(!done.err.contains("panicked"));
    }
}

#[test]
fn a_terminal_gets_even_exact_bytes_harmless() {
    let desk = Desk::with_session();
    if desk.shell("command -v script").code != 0 {
        eprintln!("SKIPPED: there is no `script` to make a terminal with");
        return;
    }
    let handle =
        desk.run(&["grep", "P0042", "--json"]).exits(0).lines()[0]["handle"].as_str().unwrap().to_owned();
    let commands = [
        format!("read {handle}"),
        format!("show {SESSION} -v"),
        format!("export {SESSION}"),
        format!("export {SESSION} --original"),
        format!("context {SESSION} --out -"),
        "grep red".to_owned(),
        "grep red --json".to_owned(),
    ];
    for command in commands {
        let done = desk.shell(&format!("script -qec \"$WB {command}\" typescript </dev/null")).exits(0);
        // The terminal itself ends lines with CR LF.
        harmless(&done.out.replace("\r\n", "\n"), &command);
        assert!(done.out.len() > 100, "{command}: {}", done.out);
    }
}

#[test]
fn a_pipe_gets_the_exact_bytes() {
    let desk = Desk::with_session();
    let handle =
        desk.run(&["grep", "P0042", "--json"]).exits(0).lines()[0]["handle"].as_str().unwrap().to_owned();
    let output = desk.run_bytes(&["read", &handle]);
    assert!(String::from_utf8(output.stdout).unwrap().contains(HOSTILE));
}

#[test]
fn a_secret_is_exact_in_the_original_and_unknown_to_the_index() {
    let desk = Desk::with_session();
    let secret = secret();
    assert!(desk.run(&["grep", &secret]).exits(0).out.contains(&secret));
    for query in [secret.as_str(), &secret[..20], "token environment"] {
        let done = desk.run(&["search", query]);
        assert!(!done.out.contains(&secret), "{query}: {}", done.out);
    }
    desk.run(&["search", &secret]).exits(1);
}

#[test]
fn what_is_erased_is_in_no_file() {
    let desk = Desk::with_session();
    let secret = secret();
    let seq = desk.run(&["grep", &secret, "--json"]).exits(0).lines()[0]["seq"].to_string();
    desk.run(&["erase", SESSION, "--at", &seq, "--yes"]).exits(0);
    desk.run(&["grep", &secret]).exits(1);
    for entry in std::fs::read_dir(desk.folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with("ledger.db") {
            let bytes = std::fs::read(&path).unwrap();
            assert!(
                !bytes.windows(secret.len()).any(|window| window == secret.as_bytes()),
                "{}",
                path.display()
            );
        }
    }
    assert_eq!(desk.run(&["doctor", "--json"]).exits(0).json()["ok"], true);
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let desk = Desk::with_session();
    // More text than a pipe can hold.
    let long: String = (0..3000)
        .map(|number| format!("{}\n", serde_json::json!({ "id": format!("m{number}"), "role": "user", "content": "red words ".repeat(10) })))
        .collect();
    desk.feed(&["append", "long"], &long).exits(0);
    for command in [
        "export long",
        "show long --at 1-3000",
        "show long --at 1-3000 --json",
        "grep red",
        "grep red --json",
        "search red -n 2000",
        "search red -n 2000 --json",
        "export long --to anthropic",
        "context long --out -",
        "completions bash",
        "context long -v",
        "sessions",
        "--help",
        "man",
    ] {
        let done = desk.shell(&format!("{{ $WB {command}; echo $? >code; }} | head -c 10 >/dev/null"));
        let code = String::from_utf8(desk.bytes("code")).unwrap();
        assert_eq!(code.trim(), "0", "{command}: {}", done.err);
        let noise =
            done.err.lines().filter(|line| line.starts_with("error") || line.contains("panicked")).count();
        assert_eq!(noise, 0, "{command}: {}", done.err);
    }
}

#[test]
fn a_place_that_takes_nothing_is_an_error() {
    let desk = Desk::with_session();
    if !std::path::Path::new("/dev/full").exists() {
        eprintln!("SKIPPED: there is no /dev/full");
        return;
    }
    for command in [
        "export 7d1",
        "show 7d1",
        "grep brace",
        "context 7d1",
        "context 7d1 --out -",
        "read nothing; $WB sessions",
    ] {
        let done = desk.shell(&format!("$WB {command} >/dev/full"));
        assert_eq!(done.code, 1, "{command}: {}", done.err);
        assert!(done.err.contains("cannot be written"), "{command}: {}", done.err);
    }
}

#[test]
fn times_are_those_of_the_wall_clock() {
    let desk = Desk::with_session();
    let mut command = desk.command(&["show", SESSION, "--at", "2"]);
    let output = command.env("TZ", "Asia/Shanghai").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    if !std::path::Path::new("/usr/share/zoneinfo/Asia/Shanghai").exists() {
        eprintln!("SKIPPED: no time zones on this machine");
        return;
    }
    assert!(text.contains("2026-03-01 17:0"), "{text}");
}

#[test]
fn lines_keep_to_the_width_there_is() {
    let desk = Desk::with_session();
    for columns in [60usize, 80, 120] {
        for args in [
            &["sessions"][..],
            &["show", SESSION],
            &["search", "brace"],
            &["context", SESSION, "--window", "900", "--reserve", "200"],
            &["explain", SESSION, "--find", "brace"],
            &["doctor"],
        ] {
            if columns == 60 && args[0] != "show" && args[0] != "search" {
                continue;
            }
            let mut command = desk.command(args);
            let output = command.env("COLUMNS", columns.to_string()).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            for line in text.lines() {
                // Wide characters take two columns; those of the fixture are in the CJK blocks.
                let wide: usize = line
                    .chars()
                    .map(|c| if ('\u{2e80}'..='\u{ffee}').contains(&c) && c != '\u{fffd}' { 2 } else { 1 })
                    .sum();
                assert!(wide <= columns, "{args:?} at {columns}: {wide}: {line}");
            }
        }
    }
}
