//! Each unusable file leads to a finding with its name, and the other files are read.

#![cfg(unix)]

use crate::untrusted_stays_untrusted::sources::scene::Scene;
use std::fs::{self, File};
use std::process::Command;

/// Returns the finding about `AGENTS.md`, with a valid file beside it.
fn wrong(make: impl FnOnce(&Scene)) -> String {
    let scene = Scene::new(&[("CLAUDE.md", "sound")]);
    make(&scene);
    let found = scene.read("", &[]);
    assert_eq!(found.head.len(), 1, "{:?}", scene.lines(&found));
    assert_eq!(&*found.head[0].path, "CLAUDE.md");
    let lines = scene.lines(&found);
    assert_eq!(lines.len(), 2, "{lines:?}");
    lines[1].strip_prefix("! AGENTS.md Unusable: ").unwrap_or(&lines[1]).to_owned()
}

#[test]
fn a_file_of_50_mb() {
    let said = wrong(|scene| File::create(scene.path("AGENTS.md")).unwrap().set_len(50 << 20).unwrap());
    assert_eq!(said, "has 52428800 bytes, more than the 4194304 that are read; split it");
}

#[test]
fn links_in_circles_and_to_nowhere_and_outside() {
    let said = wrong(|scene| {
        scene.link("AGENTS.md", "b.md");
        scene.link("b.md", "AGENTS.md");
    });
    assert!(said.starts_with("is a link that cannot be followed"), "{said}");
    assert_eq!(
        wrong(|scene| scene.link("AGENTS.md", "nowhere.md")),
        "is a link to something that does not exist"
    );
    let said = wrong(|scene| {
        scene.write("../secret.md", "secret");
        scene.link("AGENTS.md", "../secret.md");
    });
    assert!(said.starts_with("leads outside of the project"), "{said}");
    assert!(wrong(|scene| scene.link("AGENTS.md", "/dev/zero")).starts_with("leads outside of the project"));
}

#[test]
fn pipes_and_directories_are_rejected() {
    let said = wrong(|scene| {
        assert!(Command::new("mkfifo").arg(scene.path("AGENTS.md")).status().unwrap().success());
    });
    assert_eq!(said, "is a pipe, a socket or a device, not a file");
    let said = wrong(|scene| fs::create_dir(scene.path("AGENTS.md")).unwrap());
    assert_eq!(said, "is a directory, not a file");
}

#[test]
fn what_is_not_text() {
    assert_eq!(
        wrong(|scene| scene.write("AGENTS.md", b"PK\x03\0\0")),
        "is binary (a zero byte at 3), not text"
    );
    let said = wrong(|scene| scene.write("AGENTS.md", [b'a', b'b', b'c', 0xE9, b'd']));
    assert_eq!(said, "is not UTF-8 (from byte 3); save it as UTF-8");
}

#[test]
fn what_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new(&[("AGENTS.md", "x")]);
    fs::set_permissions(scene.path("AGENTS.md"), fs::Permissions::from_mode(0o000)).unwrap();
    if File::open(scene.path("AGENTS.md")).is_err() {
        let lines = scene.shown("", &[]);
        assert_eq!(lines, ["! AGENTS.md Unusable: may not be read (permission denied)"]);
    }
}

#[test]
fn a_byte_order_mark_goes_and_line_ends_stay() {
    let scene = Scene::new(&[
        ("AGENTS.md", "\u{FEFF}one\r\ntwo\r\n"),
        (".claude/rules/a.md", "\u{FEFF}---\r\npaths: x\r\n---\r\nrule\r\n"),
    ]);
    let found = scene.read("", &["x"]);
    assert_eq!(found.head[0].pieces[0].text, "one\r\ntwo\r\n");
    assert_eq!(found.nested[0].pieces[0].text, "rule\r\n");
    assert_eq!(&*found.head[0].digest, blake3::hash("\u{FEFF}one\r\ntwo\r\n".as_bytes()).to_hex().as_str());
}

#[test]
fn one_file_under_two_names_is_read_once() {
    let scene = Scene::new(&[("AGENTS.md", "x")]);
    scene.link("CLAUDE.md", "AGENTS.md");
    assert_eq!(scene.shown("", &[]), ["AGENTS.md (project root, session start): x"]);
}

#[test]
fn a_rule_nobody_can_read_is_left_out() {
    let scene = Scene::new(&[
        (".claude/rules/a.md", "---\npaths: [x\n---\ntext"),
        (".claude/rules/b.md", "---\npaths: **/*.rs\n---\ntext"),
        (".claude/rules/c.md", "---\nname: c\npaths:\n  - \"{a\"\n---\ntext"),
        (".claude/rules/d.md", "---\npaths: []\n---\ntext"),
        (".claude/rules/e.md", "---\npaths: x\ntext"),
        (".claude/rules/f.md", "---\npaths:\n  - \"{a\"\n  - x\n---\nsound"),
        (".claude/rules/g.md", "---\npaths: {a: b}\n---\ntext"),
    ]);
    let found = scene.read("", &["x"]);
    assert_eq!((found.head.len(), found.nested.len()), (0, 1), "{:?}", scene.lines(&found));
    let told: Vec<(String, u64)> = found
        .findings
        .iter()
        .map(|finding| (finding.source.rsplit('/').next().unwrap().to_owned(), finding.line.unwrap()))
        .collect();
    let expected = [
        ("a.md", 2),
        ("b.md", 2),
        ("c.md", 4),
        ("c.md", 3),
        ("d.md", 2),
        ("e.md", 1),
        ("f.md", 3),
        ("g.md", 2),
    ];
    let expected = expected.map(|(name, line): (&str, u64)| (name.to_owned(), line));
    assert_eq!(told, expected, "{:#?}", scene.lines(&found));
}

#[test]
fn front_matter_of_other_files_is_text() {
    let scene = Scene::new(&[("AGENTS.md", "---\npaths: [x\n---\ntext")]);
    assert_eq!(scene.shown("", &[]), ["AGENTS.md (project root, session start): ---|paths: [x|---|text"]);
}

#[test]
fn rule_directories_in_circles_and_outside() {
    let scene = Scene::new(&[(".claude/rules/a.md", "a"), ("../else/b.md", "b"), ("more/c.md", "c")]);
    scene.link(".claude/rules/round", "..");
    scene.link(".claude/rules/self", ".");
    scene.link(".claude/rules/else", "../../../else");
    scene.link(".claude/rules/more", "../../more");
    let found = scene.read("", &[]);
    let paths: Vec<&str> = found.head.iter().map(|file| &*file.path).collect();
    assert_eq!(paths, [".claude/rules/a.md", ".claude/rules/more/c.md"], "{:#?}", scene.lines(&found));
    assert!(found.findings.iter().any(|finding| finding.detail.contains("outside")));
    assert!(found.findings.iter().any(|finding| finding.detail.contains("where it began")));
}

#[test]
fn many_mentions_and_many_problems_are_bounded() {
    let mentions: String = (0..3_000).map(|at| format!("@{at}.md\n")).collect();
    let scene = Scene::new(&[("AGENTS.md", &mentions), ("CLAUDE.md", &"<!-- block -->\n".repeat(100_000))]);
    let found = scene.read("", &[]);
    assert!(found.findings.len() <= 501, "{}", found.findings.len());
    assert!(found.findings.last().unwrap().detail.contains("not listed"));
}
