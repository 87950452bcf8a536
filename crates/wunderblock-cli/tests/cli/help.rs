//! Tests of the help, where people read the names of commands and flags. The names must stay the same.

use crate::desk::Desk;

const COMMANDS: [&str; 33] = [
    "memory",
    "import",
    "append",
    "sessions",
    "show",
    "export",
    "context",
    "explain",
    "simulate",
    "eval",
    "compact",
    "undo",
    "pin",
    "unpin",
    "hide",
    "unhide",
    "replay",
    "diff",
    "read",
    "grep",
    "search",
    "describe",
    "expand",
    "reduce",
    "run",
    "mcp",
    "doctor",
    "backup",
    "restore",
    "erase",
    "help",
    "completions",
    "man",
];

#[test]
fn every_command_teaches_itself() {
    let desk = Desk::bare();
    let mut text = desk.run(&["--help"]).exits(0).out;
    for command in COMMANDS {
        let help = desk.run(&[command, "--help"]).exits(0);
        assert_eq!(help.err, "", "help that was asked for is data");
        assert_eq!(help.out, desk.run(&["help", command]).exits(0).out);
        // The sources of a request are listed under a separate heading, one per line, so the help of these commands
        // may be longer.
        let most = if matches!(command, "context" | "explain" | "compact" | "mcp") { 70 } else { 50 };
        assert!(help.out.lines().count() <= most, "{command}: no wall of text");
        assert!(help.out.lines().all(|line| line.chars().count() <= 120), "{command}: {}", help.out);
        if command != "man" {
            assert!(
                help.out.contains(&format!("  wunderblock {command} ")) || help.out.contains("Each line is"),
                "{command} has an example"
            );
        }
        text.push_str(&format!("\n$ wunderblock {command} --help\n{}", help.out));
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("help", text));
}

#[test]
fn flags_keep_their_names() {
    let desk = Desk::bare();
    let request = ["--model", "--window", "--reserve", "--query", "--to", "--lane", "--at"];
    let sources = [
        "--cwd",
        "--scan",
        "--instructions",
        "--safety",
        "--system",
        "--tools",
        "--skills",
        "--agents",
        "--memory",
        "--resources",
        "--state",
        "--now",
    ];
    let request = [&request[..], &sources].concat();
    let table: [(&str, &[&str]); 20] = [
        ("import", &["--format", "--no-index"]),
        ("append", &[]),
        ("sessions", &["--limit"]),
        ("show", &["--at", "--limit", "--all"]),
        ("export", &["--original", "--to", "--out"]),
        ("context", &["--out"]),
        ("explain", &["--find", "--agent-view", "--html"]),
        (
            "simulate",
            &[
                "--joined",
                "--policy",
                "--against",
                "--model",
                "--window",
                "--reserve",
                "--jitter",
                "--summary-tokens",
                "--svg",
                "--per-turn",
            ],
        ),
        ("eval", &["locomo", "sessions"]),
        ("replay", &["--at", "--out"]),
        ("diff", &[]),
        ("read", &["--lines", "--bytes", "--json-path", "--page"]),
        ("grep", &["--session", "--regex", "--ignore-case", "--limit", "--context"]),
        ("search", &["--session", "--newest", "--limit", "--context"]),
        ("describe", &[]),
        ("expand", &["--query", "--page", "--tokens", "--events"]),
        ("doctor", &["--rebuild", "--repair"]),
        ("backup", &[]),
        ("restore", &["--replace"]),
        ("erase", &["--at", "--reason", "--yes"]),
    ];
    let global = ["--db", "--config", "--tenant", "--json", "--quiet", "--verbose"];
    let has =
        |help: &str, flag: &str| help.split(|c: char| c.is_whitespace() || c == ',').any(|word| word == flag);
    for (command, flags) in table {
        let help = desk.run(&[command, "--help"]).exits(0).out;
        let built = if matches!(command, "context" | "explain") { &request[..] } else { &[] };
        for flag in flags.iter().chain(built) {
            assert!(has(&help, flag), "{command} {flag}");
        }
    }
    let options = desk.run(&["help", "options"]).exits(0).out;
    for flag in global {
        assert!(has(&options, flag), "{flag}");
    }
}

#[test]
fn the_first_page_is_one_screen() {
    let done = Desk::bare().run(&["--help"]).exits(0);
    assert!(done.out.lines().count() <= 40, "{}", done.out);
    assert!(done.out.lines().all(|line| line.chars().count() <= 80), "{}", done.out);
    assert_eq!(done.out, Desk::bare().run(&["help"]).exits(0).out);
}

#[test]
fn a_topic_is_a_command_or_a_page() {
    let desk = Desk::bare();
    assert!(desk.run(&["help", "words"]).exits(0).out.contains("lane"));
    let done = desk.run(&["help", "contxt"]).exits(2);
    assert!(done.err.contains("did you mean `context`?"), "{}", done.err);
}

#[test]
fn nothing_typed_is_wrong_usage() {
    let done = Desk::bare().run(&[]).exits(2);
    assert_eq!(done.out, "");
    assert!(done.err.contains("Usage:"), "{}", done.err);
}

#[test]
fn the_version_is_data() {
    let done = Desk::bare().run(&["--version"]).exits(0);
    assert_eq!(done.out, format!("wunderblock {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_parse_in_the_shells_that_are_here() {
    let desk = Desk::bare();
    for (shell, check) in [
        ("bash", "bash -n"),
        ("zsh", "zsh -n"),
        ("fish", "fish --no-execute"),
        ("elvish", ""),
        ("powershell", ""),
    ] {
        let done = desk.run(&["completions", shell]).exits(0);
        for command in COMMANDS {
            assert!(done.out.contains(command), "{shell} {command}");
        }
        desk.write("script", &done.out);
        let name = check.split(' ').next().unwrap_or_default();
        if name.is_empty() || desk.shell(&format!("command -v {name}")).code != 0 {
            continue;
        }
        desk.shell(&format!("{check} script")).exits(0);
    }
    desk.run(&["completions", "tcsh"]).exits(2);
}

#[test]
fn the_manual_page_renders() {
    let desk = Desk::bare();
    let done = desk.run(&["man"]).exits(0);
    assert!(done.out.contains(".TH wunderblock 1"), "{}", done.out);
    desk.write("wunderblock.1", &done.out);
    if desk.shell("command -v man && command -v groff").code == 0 {
        let page = desk.shell("man -l wunderblock.1 2>&1 | cat").exits(0);
        assert!(page.out.contains("SYNOPSIS"), "{}", page.out);
    }
}
