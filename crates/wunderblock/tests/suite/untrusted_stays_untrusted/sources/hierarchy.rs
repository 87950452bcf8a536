//! Selection, order and rank of instruction files.

use crate::untrusted_stays_untrusted::sources::scene::Scene;
use std::fs;
use wunderblock::sources::{InstructionRules, Workspace};
use wunderblock_core::instruction::settle;

#[test]
fn from_policy_down_to_where_work_happens() {
    let mut scene = Scene::new(&[
        ("AGENTS.md", "root agents"),
        ("CLAUDE.md", "root claude"),
        ("CLAUDE.local.md", "root local"),
        ("GEMINI.md", "root gemini"),
        ("a/AGENTS.md", "a agents"),
        ("a/b/.claude/CLAUDE.md", "b claude"),
        ("a/b/c/AGENTS.md", "below"),
        ("beside/AGENTS.md", "beside"),
        ("../AGENTS.md", "above the root"),
        ("../etc/policy.md", "policy"),
        ("../home/me.md", "me"),
    ]);
    scene.rules.managed = vec![scene.top.join("etc/policy.md"), scene.top.join("etc/absent.md")];
    scene.rules.user = vec![scene.top.join("home/me.md")];
    let expected = [
        "TOP/etc/policy.md (managed policy, session start): policy",
        "TOP/home/me.md (user, session start): me",
        "AGENTS.md (project root, session start): root agents",
        "CLAUDE.md (project root, session start): root claude",
        "CLAUDE.local.md (project root, session start): root local",
        "GEMINI.md (project root, session start): root gemini",
        "a/AGENTS.md (directory, session start): a agents",
        "a/b/.claude/CLAUDE.md (directory, session start): b claude",
    ];
    assert_eq!(scene.shown("a/b", &[]), expected);
}

#[test]
fn of_alternatives_the_first_is_taken() {
    let scene = Scene::new(&[
        ("AGENTS.override.md", "instead"),
        ("AGENTS.md", "usual"),
        ("CLAUDE.md", "claude"),
        (".claude/CLAUDE.md", "hidden"),
    ]);
    let expected = [
        "AGENTS.override.md (project root, session start): instead",
        "CLAUDE.md (project root, session start): claude",
    ];
    assert_eq!(scene.shown("", &[]), expected);
}

#[test]
fn what_lies_elsewhere_comes_when_it_is_touched() {
    let scene = Scene::new(&[
        ("AGENTS.md", "root"),
        ("work/AGENTS.md", "work"),
        ("work/deep/er/AGENTS.md", "deeper"),
        ("beside/AGENTS.md", "beside"),
        ("beside/in/CLAUDE.md", "in"),
        ("never/AGENTS.md", "never"),
    ]);
    let touched = [
        "beside/in/x.rs",
        "work/deep/er/new.rs",
        "../outside/x.rs",
        "/etc/passwd",
        "work/x.rs",
        "beside/y.rs",
    ];
    let expected = [
        "AGENTS.md (project root, session start): root",
        "work/AGENTS.md (directory, session start): work",
        "+ beside/AGENTS.md (directory, beside/in/x.rs was touched): beside",
        "+ beside/in/CLAUDE.md (directory, beside/in/x.rs was touched): in",
        "+ work/deep/er/AGENTS.md (directory, work/deep/er/new.rs was touched): deeper",
    ];
    assert_eq!(scene.shown("work", &touched), expected);
}

#[test]
fn rules_apply_to_the_paths_they_name() {
    let scene = Scene::new(&[
        (".claude/rules/always.md", "---\ndescription: x\n---\nalways"),
        (".claude/rules/one.md", "---\npaths: \"src/**/*.{ts,tsx}, lib/*.ts\"\n---\n\none"),
        (".claude/rules/sub/many.md", "---\npaths:\n  - \"*.md\"\n  - tests/**\n---\nmany"),
        (".claude/rules/not-a-rule.txt", "no"),
        ("a/.claude/rules/nested.md", "nested"),
        ("a/.claude/rules/scoped.md", "---\npaths: x.rs\n---\nscoped"),
    ]);
    let always = ".claude/rules/always.md (project root, session start): always";
    let one = |path| {
        format!("+ .claude/rules/one.md (project root, {path} was touched, which it has a pattern for): one")
    };
    let many = |path| {
        format!(
            "+ .claude/rules/sub/many.md (project root, {path} was touched, which it has a pattern for): many"
        )
    };
    let nested = "+ a/.claude/rules/nested.md (directory, a/x.rs was touched): nested".to_owned();
    let scoped =
        "+ a/.claude/rules/scoped.md (directory, a/x.rs was touched, which it has a pattern for): scoped"
            .to_owned();
    let cases: [(&[&str], Vec<String>); 6] = [
        (&[], vec![]),
        (&["src/a/b.tsx"], vec![one("src/a/b.tsx")]),
        (&["src/a/b.rs", "lib/deep/a.ts"], vec![]),
        (&["lib/a.ts", "README.md"], vec![one("lib/a.ts"), many("README.md")]),
        (&["docs/README.md", "tests/a/b"], vec![many("tests/a/b")]),
        (&["a/x.rs"], vec![nested, scoped]),
    ];
    for (touched, expected) in cases {
        let shown = scene.shown("", touched);
        assert_eq!(shown[0], always);
        assert_eq!(shown[1..], expected, "{touched:?}");
    }
}

#[test]
fn comments_go_and_blocks_hold() {
    let scene = Scene::new(&[
        (
            "AGENTS.md",
            "<!-- for maintainers -->\nkeep\n<!-- block style locked -->\ntabs\n<!-- end -->\n`<!-- code -->`\n",
        ),
        ("a/AGENTS.md", "<!-- block style -->\nspaces\n<!-- end -->\nmore\n<!-- block x shut -->\nkept\n"),
    ]);
    let found = scene.read("a", &[]);
    let settled = settle(&found.head);
    assert_eq!(settled.texts, ["keep\ntabs\n`<!-- code -->`\n", "more\nkept\n"]);
    let refused = &settled.findings[0];
    assert_eq!((&*refused.source, refused.line), ("a/AGENTS.md", Some(1)));
    assert!(refused.detail.contains("is locked by AGENTS.md"), "{}", refused.detail);
    let bad = &found.findings[0];
    assert_eq!((&*bad.source, bad.line, found.findings.len()), ("a/AGENTS.md", Some(5), 1));
}

#[test]
fn a_rule_keeps_its_line_numbers() {
    let scene = Scene::new(&[(
        ".claude/rules/a.md",
        "---\ndescription: x\n---\n\n<!-- block a -->\nx\n<!-- block b shut -->\n",
    )]);
    let found = scene.read("", &[]);
    assert_eq!(found.head[0].pieces[0].line, 5);
    assert_eq!(found.findings[0].line, Some(7));
}

#[test]
fn names_and_markers_are_a_matter_of_configuration() {
    let mut scene = Scene::new(&[
        ("HOUSE.md", "house"),
        ("AGENTS.md", "agents"),
        ("a/HOUSE.md", "a"),
        ("a/pkg.toml", ""),
    ]);
    scene.rules.names = vec![vec!["HOUSE.md".to_owned()]];
    assert_eq!(scene.shown("a", &[]).len(), 2);
    scene.rules.markers = vec!["pkg.toml".to_owned()];
    assert_eq!(scene.shown("a", &[]), ["HOUSE.md (project root, session start): a"]);
    scene.rules.markers.clear();
    assert_eq!(scene.shown("", &[]), ["HOUSE.md (project root, session start): house"]);
}

#[test]
fn the_rules_are_read_from_a_config_file() {
    let rules: InstructionRules =
        toml::from_str("scan = true\nuser = [\"/home/me/AGENTS.md\"]\n[ignore]\n\".cursorignore\" = false\n\".mine\" = true\n")
            .unwrap();
    let usual = InstructionRules::default();
    assert!(
        rules.scan
            && !rules.ignore[".cursorignore"]
            && rules.ignore[".mine"]
            && rules.ignore[".geminiignore"]
    );
    assert_eq!((rules.names, rules.depth), (usual.names, usual.depth));
    assert!(toml::from_str::<InstructionRules>("depht = 3").is_err());
    assert!(toml::from_str::<InstructionRules>("depth = -3").is_err());
}

#[test]
fn worktrees_of_one_repository_share_a_project() {
    let scene = Scene::new(&[("x", "")]);
    let make = |path: &str, text: &str| {
        let path = scene.top.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let top = scene.top.display();
    make("tree/.git", &format!("gitdir: {top}/repo/.git/worktrees/tree\n"));
    make("repo/.git/worktrees/tree/commondir", "../..\n");
    make("repo/.git/worktrees/tree/gitdir", &format!("{top}/tree/.git\n"));
    // One `.git` file claims to belong to the same worktree, and another names a repository that is gone.
    make("thief/.git", &format!("gitdir: {top}/repo/.git/worktrees/tree\n"));
    make("lost/.git", "gitdir: ../nowhere/.git/worktrees/lost\n");
    make("lost/in/file", "");
    let project = |path: &str| {
        let workspace = Workspace::find(&scene.top.join(path), &[".git".to_owned()]).unwrap();
        workspace.project.strip_prefix(&scene.top).unwrap().to_string_lossy().into_owned()
    };
    assert_eq!(project("repo"), "repo/.git");
    assert_eq!(project("tree"), "repo/.git");
    assert_eq!(project("thief"), "thief/.git");
    assert_eq!(project("lost/in"), "lost/.git");
}

#[test]
fn a_directory_that_is_not_there_is_an_error() {
    let scene = Scene::new(&[("file", "")]);
    for (path, why) in [("nowhere", "does not exist"), ("file", "is not a directory")] {
        let error = Workspace::find(&scene.path(path), &[]).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}
