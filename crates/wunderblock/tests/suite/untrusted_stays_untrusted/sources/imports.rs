//! Files that `@path` imports, and files that it cannot import.

use crate::untrusted_stays_untrusted::sources::scene::Scene;

#[test]
fn an_import_is_a_file_of_its_own_before_the_one_that_imports() {
    let scene = Scene::new(&[
        (
            "CLAUDE.md",
            "@docs/style.md and (@docs/more.txt).\nme@example.org `@docs/code.md` @types/node @nobody\n<!-- @docs/code.md -->\n",
        ),
        ("docs/style.md", "style, see @inner/deep.md"),
        ("docs/inner/deep.md", "deep @../more.txt"),
        ("docs/more.txt", "more"),
        ("docs/code.md", "code"),
    ]);
    let expected = [
        "docs/more.txt (project root, imported by docs/inner/deep.md): more",
        "docs/inner/deep.md (project root, imported by docs/style.md): deep @../more.txt",
        "docs/style.md (project root, imported by CLAUDE.md): style, see @inner/deep.md",
        "CLAUDE.md (project root, session start): @docs/style.md and (@docs/more.txt).|me@example.org `@docs/code.md` @types/node @nobody",
    ];
    assert_eq!(scene.shown("", &[]), expected);
}

#[test]
fn what_is_there_already_is_not_imported_again() {
    let scene =
        Scene::new(&[("AGENTS.md", "agents"), ("CLAUDE.md", "@AGENTS.md"), ("a/CLAUDE.md", "@../AGENTS.md")]);
    assert_eq!(scene.shown("a", &[]).len(), 3);
}

#[test]
fn imports_end_in_circles_and_in_the_deep() {
    let mut scene = Scene::new(&[
        ("AGENTS.md", "\n@1.md\n@AGENTS.md"),
        ("1.md", "@2.md"),
        ("2.md", "@3.md\n@1.md"),
        ("3.md", "@4.md"),
        ("4.md", "@5.md"),
        ("5.md", "five"),
    ]);
    let paths = |shown: &[String]| -> Vec<String> {
        shown.iter().map(|line| line.split(['(', ',', ';']).next().unwrap().trim().to_owned()).collect()
    };
    let shown = scene.shown("", &[]);
    let expected = [
        "4.md",
        "3.md",
        "2.md",
        "1.md",
        "AGENTS.md",
        "! 4.md:1 Unusable: @5.md is more than 4 imports away from where they begin",
        "! 2.md:2 Unusable: @1.md is what leads here: the imports go in a circle",
        "! AGENTS.md:3 Unusable: @AGENTS.md is what leads here: the imports go in a circle",
    ];
    assert_eq!(paths(&shown), expected, "{shown:#?}");
    scene.rules.depth = 0;
    assert_eq!(scene.shown("", &[]).len(), 3);
    scene.rules.depth = 255;
    assert_eq!(scene.read("", &[]).head.len(), 6);
    // A chain of hundreds of imports ends at the built-in limit.
    for at in 0..500 {
        scene.write(&format!("{at}.md"), format!("@{}.md", at + 1));
    }
    assert_eq!(scene.read("", &[]).head.len(), 17);
}

#[cfg(unix)]
#[test]
fn imports_do_not_climb_out() {
    let mut scene = Scene::new(&[
        (
            "AGENTS.md",
            "@../secret.md\n@inside/link.md\n@linked/secret.md\n@~/secret.md\n@a/../../secret.md\n@absent.md\n",
        ),
        ("a/x", ""),
        ("../secret.md", "secret"),
        ("../home/secret.md", "secret at home"),
    ]);
    scene.write("AGENTS.md", format!("{}@{}\n", "@../secret.md\n@inside/link.md\n@linked/secret.md\n@~/secret.md\n@a/../../secret.md\n@absent.md\n", scene.top.join("secret.md").display()));
    scene.link("inside/link.md", "../../secret.md");
    scene.link("linked", "..");
    let outside = "leads outside of the project and the roots that may be imported from; add its directory to `roots` if it is meant";
    let found = scene.read("", &[]);
    assert_eq!(found.head.len(), 1);
    let expected = [
        format!("! AGENTS.md:1 Unusable: @../secret.md {outside}"),
        format!("! AGENTS.md:2 Unusable: @inside/link.md {outside}"),
        format!("! AGENTS.md:3 Unusable: @linked/secret.md {outside}"),
        "! AGENTS.md:4 Unusable: @~/secret.md begins with ~, and no home directory is configured".to_owned(),
        format!("! AGENTS.md:5 Unusable: @a/../../secret.md {outside}"),
        "! AGENTS.md:6 Unusable: @absent.md does not exist".to_owned(),
        format!("! AGENTS.md:7 Unusable: @TOP/secret.md {outside}"),
    ];
    assert_eq!(scene.lines(&found)[1..], expected);
    scene.rules.home = Some(scene.top.join("home"));
    assert_eq!(scene.read("", &[]).head.len(), 1, "a home directory is not a root");
    scene.rules.roots = vec![scene.top.join("home")];
    let shown = scene.shown("", &[]);
    assert_eq!(shown[0], "TOP/home/secret.md (project root, imported by AGENTS.md): secret at home");
}

#[cfg(unix)]
#[test]
fn nothing_rises_by_being_imported() {
    let mut scene = Scene::new(&[
        ("AGENTS.md", "agents"),
        ("docs/x.md", "in the project @../../home/private.md"),
        ("../home/me.md", "@mine.md @TOP/repo/docs/x.md @link.md"),
        ("../home/mine.md", "mine"),
        ("../home/private.md", "private"),
        ("../etc/policy.md", "policy @TOP/repo/policy.md"),
        ("policy.md", "says it is policy"),
        ("linked.md", "linked"),
    ]);
    for path in ["../home/me.md", "../etc/policy.md"] {
        let text = std::fs::read_to_string(scene.path(path)).unwrap();
        scene.write(path, text.replace("TOP", &scene.top.to_string_lossy()));
    }
    scene.link("../home/link.md", "../repo/linked.md");
    scene.rules.managed = vec![scene.top.join("etc/policy.md")];
    scene.rules.user = vec![scene.top.join("home/me.md")];
    let found = scene.read("", &[]);
    let levels: Vec<String> = found
        .head
        .iter()
        .map(|file| format!("{} {}", file.path.rsplit('/').next().unwrap(), file.level.label()))
        .collect();
    let expected = [
        "policy.md project root",
        "policy.md managed policy",
        "mine.md user",
        "x.md directory",
        "linked.md project root",
        "me.md user",
        "AGENTS.md project root",
    ];
    assert_eq!(levels, expected);
    let refused = &found.findings[0];
    assert_eq!((&*refused.source, refused.line, found.findings.len()), ("docs/x.md", Some(1), 1));
}
