//! Files kept out by ignore files, and when changes to ignore files take effect.

use crate::untrusted_stays_untrusted::sources::scene::Scene;
use wunderblock::sources::{FoundSources, SourceQuery, instructions};

fn scene() -> Scene {
    Scene::new(&[
        ("AGENTS.md", "root @secret/notes.md"),
        ("secret/notes.md", "notes"),
        ("secret/AGENTS.md", "secret"),
        ("open/AGENTS.md", "open"),
        (".claude/rules/private.md", "private"),
    ])
}

fn paths(found: &FoundSources) -> Vec<&str> {
    found.head.iter().chain(&found.nested).map(|file| &*file.path).collect()
}

const TOUCHED: [&str; 2] = ["secret/x", "open/x"];

#[test]
fn they_keep_out_files_rules_and_imports() {
    let scene = scene();
    scene.write(".wunderblockignore", "# not for models\nsecret/\n\nprivate.md\n");
    scene.write(".gitignore", "*\n");
    let found = scene.read("", &TOUCHED);
    assert_eq!(paths(&found), ["AGENTS.md", "open/AGENTS.md"]);
    let expected = [
        "! AGENTS.md:1 Ignored: @secret/notes.md is kept out by .wunderblockignore, line 2: secret/",
        "! .claude/rules/private.md Ignored: kept out by .wunderblockignore, line 4: private.md",
        "! secret/AGENTS.md Ignored: kept out by .wunderblockignore, line 2: secret/",
    ];
    assert_eq!(scene.lines(&found)[2..], expected);
    assert_eq!(
        found.ignore,
        [(".wunderblockignore".to_owned(), "# not for models\nsecret/\n\nprivate.md\n".to_owned())]
    );
}

#[test]
fn each_has_its_own_switch() {
    let mut scene = scene();
    scene.write(".geminiignore", "secret/\n");
    scene.write(".cursorignore", "open/\n");
    scene.write(".rooignore", "AGENTS.md\n");
    assert_eq!(scene.read("", &TOUCHED).head.len(), 2);
    assert_eq!(scene.read("", &TOUCHED).nested.len(), 0);
    scene.rules.ignore.insert(".geminiignore".to_owned(), false);
    assert_eq!(paths(&scene.read("", &TOUCHED)).last(), Some(&"secret/AGENTS.md"));
    scene.rules.ignore.insert(".rooignore".to_owned(), true);
    let found = scene.read("", &TOUCHED);
    assert_eq!(paths(&found), [".claude/rules/private.md"]);
}

#[test]
fn an_alternative_that_is_kept_out_is_not_there() {
    let scene =
        Scene::new(&[("AGENTS.override.md", "x"), ("AGENTS.md", "y"), (".aiexclude", "AGENTS.override.md")]);
    assert_eq!(paths(&scene.read("", &[])), ["AGENTS.md"]);
}

#[test]
fn an_empty_aiexclude_keeps_out_everything() {
    let scene = Scene::new(&[("AGENTS.md", "x"), ("a/AGENTS.md", "y"), ("a/.aiexclude", "\n")]);
    assert_eq!(paths(&scene.read("a", &[])), ["AGENTS.md"]);
}

#[test]
fn policy_and_the_persons_own_files_are_never_kept_out() {
    let mut scene =
        Scene::new(&[("policy.md", "policy"), ("me.md", "me"), ("AGENTS.md", "x"), (".geminiignore", "*\n")]);
    scene.rules.managed = vec![scene.path("policy.md")];
    scene.rules.user = vec![scene.path("me.md")];
    assert_eq!(paths(&scene.read("", &[])), ["policy.md", "me.md"]);
}

#[test]
fn they_are_frozen_for_a_session() {
    let scene = scene();
    scene.write(".geminiignore", "secret/\n");
    scene.write(".aiexclude", "nothing\n");
    let workspace = scene.workspace("");
    let touched = TOUCHED.map(str::to_owned);
    let wanted = SourceQuery {
        workspace: &workspace,
        rules: &scene.rules,
        touched: &touched,
        frozen: None,
        scanned: None,
    };
    let first = instructions(&wanted);
    let again = |frozen| instructions(&SourceQuery { frozen: Some(frozen), ..wanted });
    assert_eq!(scene.lines(&first), scene.lines(&again(&first.ignore)), "what has not changed is not told");

    scene.write(".geminiignore", "open/\n");
    scene.write("a/.geminiignore", "somewhere else\n");
    scene.write(".cursorignore", "AGENTS.md\n");
    std::fs::remove_file(scene.path(".aiexclude")).unwrap();
    let later = again(&first.ignore);
    assert_eq!((paths(&later), &later.ignore), (paths(&first), &first.ignore));
    let told: Vec<String> =
        scene.lines(&later).into_iter().filter(|line| line.contains("Deferred")).collect();
    let expected = [
        "! .aiexclude Deferred: is gone since the session began; that takes effect in the next session",
        "! .cursorignore Deferred: is new since the session began; that takes effect in the next session",
        "! .geminiignore Deferred: has changed since the session began; that takes effect in the next session",
    ];
    assert_eq!(told, expected);
    let next = instructions(&wanted);
    assert_eq!(paths(&next), [".claude/rules/private.md"]);
}

#[test]
fn what_is_wrong_with_them_is_told_and_the_rest_holds() {
    let scene = scene();
    scene.write(".geminiignore", "ok\n{a\nsecret/\n");
    scene.write(".cursorignore", vec![b'x'; 300 << 10]);
    scene.write(".aiexclude", [0xFF, 0xFE, b'a']);
    let found = scene.read("", &TOUCHED);
    assert_eq!(paths(&found).last(), Some(&"open/AGENTS.md"));
    let told: Vec<(&str, Option<u64>)> =
        found.findings.iter().map(|finding| (&*finding.source, finding.line)).collect();
    assert_eq!(
        told[..3],
        [(".aiexclude", None), (".cursorignore", None), (".geminiignore", Some(2))],
        "{:?}",
        found.findings
    );
}
