//! Tests that every command follows the table of exit codes.

use crate::desk::Desk;

/// Each event as described in `docs/exit-codes.md`, its exit code, and the commands that cause the event.
const TABLE: [(&str, u8, &[&[&str]]); 15] = [
    (
        "`grep` or `search` finds nothing, or is given up before it has searched everything",
        1,
        &[&["grep", "xylophone"], &["search", "xylophone"]],
    ),
    (
        "`explain --find` or `erase --text` finds the text nowhere",
        1,
        &[&["explain", "live", "--find", "xylophone"], &["erase", "--text", "xylophone"]],
    ),
    (
        "`show --at` names positions the session does not have",
        1,
        &[&["show", "live", "--at", "99999-999999"]],
    ),
    ("`doctor` finds a problem", 1, &[&["doctor", "--db", "damaged.db"]]),
    ("`undo` has nothing to undo", 1, &[&["undo", "live"]]),
    (
        "a file cannot be read or written, the ledger is missing or damaged, the disk is full",
        1,
        &[
            &["import", "missing.jsonl"],
            &["sessions", "--db", "missing.db"],
            &["export", "live", "--out", "no/such/folder"],
        ],
    ),
    (
        "an unknown command, flag or value; no command",
        2,
        &[&["frobnicate"], &["show", "--frobnicate"], &["context", "live", "--to", "morse"], &[]],
    ),
    (
        "an unknown or ambiguous session; an unknown handle",
        2,
        &[&["show", "nope"], &["show", "li"], &["read", "wb:0123456789abcdef"]],
    ),
    (
        "an invalid regular expression; an invalid range",
        2,
        &[&["grep", "--regex", "("], &["show", "live", "--at", "9-3"]],
    ),
    (
        "a pipe, a socket or a device instead of a transcript",
        2,
        &[&["import", "/dev/null"], &["show", "/dev/null"]],
    ),
    ("even the smallest request does not fit", 3, &[&["context", "live", "--window", "60"]]),
    ("`backup` onto an existing file", 3, &[&["backup", "session.jsonl"]]),
    ("`restore` onto an existing ledger, without `--replace`", 3, &[&["restore", "whole.bak"]]),
    ("`erase`: a beginning of an id that is not the session's short id", 2, &[&["erase", "liv", "--yes"]]),
    ("`erase` without `--yes`", 3, &[&["erase", "live"], &["erase", "--text", "hello"]]),
];

fn ready() -> Desk {
    let desk = Desk::new();
    for session in ["live", "little"] {
        let line = "{\"id\":\"m1\",\"role\":\"user\",\"content\":\"hello\"}\n";
        desk.feed(&["append", session], line).exits(0);
    }
    desk.run(&["backup", "whole.bak"]).exits(0);
    desk.run(&["backup", "damaged.db"]).exits(0);
    let ledger = rusqlite::Connection::open(desk.path("damaged.db")).expect("the copy opens");
    ledger.execute("UPDATE events SET payload = x'7b' WHERE seq = 2", []).expect("a damage");
    desk
}

#[test]
fn every_command_follows_the_table() {
    let desk = ready();
    let guide = include_str!("../../../../docs/exit-codes.md");
    for (what, code, commands) in TABLE {
        assert!(guide.contains(&format!("| {what} | {code} |")), "{what}: not in the guide");
        for args in commands {
            let done = desk.run(args).exits(code.into());
            assert!(code == 1 || done.err.contains("error: ") || args.is_empty(), "{args:?}: {}", done.err);
            let with_json = [args, &["--json"][..]].concat();
            let told = desk.run(&with_json).exits(code.into());
            if code == 1 && !told.out.contains("\"error\"") {
                continue;
            }
            let error = told.lines().pop().unwrap_or_else(|| panic!("{args:?}: nothing on stdout"));
            assert_eq!(error["exit_code"], code, "{args:?}: {error}");
            assert_eq!(error["kind"], ["", "failed", "usage", "refused"][usize::from(code)], "{args:?}");
            assert!(error["error"].as_str().is_some_and(|text| !text.is_empty()), "{args:?}: {error}");
        }
    }
    assert!(guide.contains("| 0 | done |"));
    let help = desk.run(&["--help"]).exits(0).out;
    assert!(help.contains("0 done, 1 failed or nothing found, 2 wrong usage, 3 refused"), "{help}");
}

#[test]
fn wrong_usage_is_json_where_json_is_wanted() {
    let desk = Desk::bare();
    let told = |args: &[&str]| desk.run(args).exits(2);
    let unknown = told(&["show", "x", "--limits", "3", "--json"]).json();
    assert_eq!(unknown["error"], "unexpected argument '--limits' found");
    assert!(unknown["hint"].as_str().unwrap().contains("--limit"), "{unknown}");
    let missing = told(&["--json", "show"]).json();
    assert_eq!(missing["error"], "the following required arguments were not provided: <SESSION>");
    assert_eq!(told(&["--json"]).json()["error"], "no command is given");
    assert_eq!(told(&["show", "x", "--limits"]).out, "", "without --json stdout stays empty");
    assert_eq!(told(&["show", "--", "--json", "y"]).out, "", "an argument after -- is not a flag");
    let shown = desk.run(&["show", "--help", "--json"]).exits(0).out;
    assert!(shown.contains("Usage:"), "help is not an error");
}

#[test]
fn errors_about_arguments_show_no_control_characters() {
    let desk = Desk::bare();
    for argument in ["\u{1b}[31mred", "--\u{1b}]0;title\u{7}", "a\u{9b}2Jb", "x\u{202e}y"] {
        for arguments in
            [&[argument][..], &["context", "s", "--window", argument], &["export", "s", argument, "z"]]
        {
            let done = desk.run(arguments).exits(2);
            assert!(!done.err.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']), "{:?}", done.err);
        }
    }
}

#[test]
fn a_pipe_or_a_device_in_place_of_a_settings_file_is_an_error_and_not_a_wait() {
    let desk = Desk::bare();
    std::fs::create_dir_all(desk.path(".claude")).unwrap();
    let pipe = |name: &str| {
        let made = std::process::Command::new("mkfifo").arg(desk.path(name)).status().unwrap();
        assert!(made.success());
    };
    pipe(".claude/settings.json");
    let done = desk.run(&["init", "claude-code", "--yes"]).exits(1);
    assert!(done.err.contains("settings.json: it is not a regular file"), "{}", done.err);
    desk.run(&["doctor", "--agents"]);
    std::fs::remove_file(desk.path(".claude/settings.json")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", desk.path(".claude/settings.json")).unwrap();
    desk.run(&["init", "claude-code", "--yes"]).exits(1);
    desk.run(&["doctor", "--agents"]);
    std::fs::remove_file(desk.path("config/wunderblock/config.toml")).unwrap();
    pipe("config/wunderblock/config.toml");
    let done = desk.run(&["sessions"]).exits(2);
    assert!(done.err.contains("it is not a regular file"), "{}", done.err);
}
