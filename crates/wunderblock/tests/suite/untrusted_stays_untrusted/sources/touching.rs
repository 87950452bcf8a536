//! Paths that tool calls touch.

use crate::untrusted_stays_untrusted::sources::scene::Scene;
use proptest::prelude::*;
use std::path::{Component, Path};
use wunderblock::sources::touched;

#[test]
fn paths_are_found_in_what_tool_calls_say() {
    let scene = Scene::new(&[
        ("src/a.rs", ""),
        ("src/deep/b.rs", ""),
        ("Makefile", ""),
        ("docs/x.md", ""),
        ("my.d/c", ""),
    ]);
    let workspace = scene.workspace("src");
    let root = scene.repo();
    let whole = format!("{}/docs/x.md:3-9", root.display());
    let cases: [(&str, &[&str]); 22] = [
        ("a.rs:10-20", &["src/a.rs"]),
        ("deep/b.rs:7", &["src/deep/b.rs"]),
        ("deep/new.rs", &["src/deep/new.rs"]),
        ("no/such/dir.rs", &[]),
        (&whole, &["docs/x.md"]),
        ("cat ../docs/x.md | head -5", &["docs/x.md"]),
        ("cd .. && cargo test docs && cat Makefile", &["Makefile"]),
        ("cd deep; cat b.rs", &["src/deep", "src/deep/b.rs"]),
        ("sed -n '1,5p' \"a.rs\"", &["src/a.rs"]),
        ("deep", &["src/deep"]),
        ("ls", &[]),
        ("cargo build deep", &[]),
        ("fn main a.rs", &["src/a.rs"]),
        ("deep/**/*.rs", &["src/deep"]),
        ("path=deep/b.rs depth=3", &["src/deep/b.rs"]),
        ("https://example.org/src/a.rs", &[]),
        ("cat ../../secret/x.md /etc/passwd", &[]),
        ("cat ~/x.md $HOME/x.md -o/x", &[]),
        ("../src/../docs/./x.md", &["docs/x.md"]),
        ("ls ..", &[]),
        ("it has 3.5 versions, e.g. v1.2", &[]),
        ("", &[]),
    ];
    for (gist, expected) in cases {
        assert_eq!(touched([gist].into_iter(), &workspace), expected, "{gist:?}");
    }
}

#[test]
fn they_are_sorted_each_once_and_bounded() {
    let scene = Scene::new(&[("b.rs", ""), ("a.rs", "")]);
    let workspace = scene.workspace("");
    assert_eq!(touched(["b.rs", "a.rs:1", "cat b.rs"].into_iter(), &workspace), ["a.rs", "b.rs"]);
    let many: Vec<String> = (0..5_000).map(|at| format!("{at}.rs")).collect();
    assert_eq!(touched(many.iter().map(String::as_str), &workspace).len(), 512);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn nothing_leads_outside(gist in "(\\.\\./|/|a/|b\\.rs|\\.|~|:1| |cd |\\*|é|\\.\\.){0,20}") {
        let scene = Scene::new(&[("a/a/b.rs", "")]);
        for path in touched([gist.as_str()].into_iter(), &scene.workspace("a")) {
            let inside = Path::new(&path).components().all(|part| matches!(part, Component::Normal(_)));
            prop_assert!(inside && !path.is_empty(), "{path:?}");
        }
    }
}
