//! Scanning the whole project for instruction files.

use crate::untrusted_stays_untrusted::sources::scene::Scene;
use wunderblock::sources::{SourceQuery, instructions};

fn scene() -> Scene {
    let mut scene = Scene::new(&[
        ("AGENTS.md", "root"),
        ("here/AGENTS.md", "here"),
        ("z/AGENTS.md", "z"),
        ("b/AGENTS.override.md", "b instead"),
        ("b/AGENTS.md", "b"),
        ("b/c/.claude/CLAUDE.md", "c"),
        ("b/c/.claude/other/CLAUDE.md", "odd"),
        ("vendor/AGENTS.md", "vendor"),
        ("z/old/AGENTS.md", "old"),
        ("z/.geminiignore", "old/\n"),
        (".geminiignore", "vendor/\n"),
        (".git/AGENTS.md", "git"),
        (".gitignore", "z/\n"),
    ]);
    scene.rules.scan = true;
    scene
}

#[test]
fn it_finds_what_no_ignore_file_keeps_out() {
    let scene = scene();
    #[cfg(unix)]
    scene.link("b/round", "..");
    let found = scene.read("here", &["z/x", "b/c/x"]);
    let expected = [
        "AGENTS.md (project root, session start): root",
        "here/AGENTS.md (directory, session start): here",
        "b/AGENTS.override.md (directory, found by the scan): b instead",
        "b/c/.claude/CLAUDE.md (directory, found by the scan): c",
        "b/c/.claude/other/CLAUDE.md (directory, found by the scan): odd",
        "z/AGENTS.md (directory, found by the scan): z",
        "! z/old/AGENTS.md Ignored: kept out by z/.geminiignore, line 1: old/",
    ];
    assert_eq!(scene.lines(&found), expected);
    let ignore: Vec<&str> = found.ignore.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(ignore, [".geminiignore", "z/.geminiignore"]);
}

#[test]
fn what_it_found_is_read_again_without_it() {
    let scene = scene();
    let workspace = scene.workspace("here");
    let wanted =
        SourceQuery { workspace: &workspace, rules: &scene.rules, touched: &[], frozen: None, scanned: None };
    let first = instructions(&wanted);
    let again = || {
        instructions(&SourceQuery { frozen: Some(&first.ignore), scanned: Some(&first.scanned), ..wanted })
    };
    assert_eq!(again().head, first.head);
    scene.write("z/AGENTS.md", "z, changed");
    scene.write("new/AGENTS.md", "new");
    std::fs::remove_file(scene.path("b/AGENTS.override.md")).unwrap();
    let later: Vec<String> = scene.lines(&again());
    assert!(later.iter().any(|line| line.ends_with("z, changed")), "{later:?}");
    assert!(!later.iter().any(|line| line.contains("new/") || line.contains("override")), "{later:?}");
}

#[test]
fn an_ignore_file_that_a_later_scan_meets_waits() {
    let scene = scene();
    let workspace = scene.workspace("");
    let wanted =
        SourceQuery { workspace: &workspace, rules: &scene.rules, touched: &[], frozen: None, scanned: None };
    let first = instructions(&wanted);
    scene.write("b/.geminiignore", "*\n");
    let later = instructions(&SourceQuery { frozen: Some(&first.ignore), ..wanted });
    assert_eq!((&later.head, &later.ignore), (&first.head, &first.ignore));
    let told =
        "! b/.geminiignore Deferred: is new since the session began; that takes effect in the next session";
    assert_eq!(scene.lines(&later).iter().filter(|line| *line == told).count(), 1);
    assert_ne!(instructions(&wanted).head, first.head);
}

#[test]
fn a_list_of_files_does_not_lead_outside() {
    let scene = scene();
    scene.write("../secret.md", "secret");
    let workspace = scene.workspace("");
    let scanned = ["../secret.md".to_owned(), scene.top.join("secret.md").display().to_string()];
    let wanted = SourceQuery {
        workspace: &workspace,
        rules: &scene.rules,
        touched: &[],
        frozen: None,
        scanned: Some(&scanned),
    };
    assert_eq!(instructions(&wanted).head.len(), 1);
}

#[test]
fn it_is_the_same_each_time_and_bounded() {
    let mut scene = Scene::new(&[]);
    scene.rules.scan = true;
    for at in 0..2_100 {
        scene.write(&format!("{at:04}/AGENTS.md"), format!("{at}"));
    }
    let first = scene.read("", &[]);
    assert_eq!(first.scanned.len(), 2_000);
    assert_eq!(first.scanned.last().map(String::as_str), Some("1999/AGENTS.md"));
    assert!(first.findings[0].detail.contains("2100"), "{:?}", first.findings);
    let second = scene.read("", &[]);
    assert_eq!((first.scanned, first.head), (second.scanned, second.head));
}
