use super::*;
use crate::readers::property;

/// Returns a commit that changes `files` files. Each file has one hunk, with two changed lines between `context`
/// unchanged lines.
fn patch(files: usize, context: usize) -> String {
    let mut text = String::from(
        "commit 0123456789abcdef0123456789abcdef01234567\nAuthor: Ann <ann@example.org>\nDate:   Mon Jan 1 00:00:00 2024 +0000\n\n    parse: accept empty input\n\n    It was refused.\n\n",
    );
    for file in 0..files {
        let lines = 2 * context + 1;
        text.push_str(&format!(
            "diff --git a/src/f{file}.rs b/src/f{file}.rs\nindex 0123456..789abcd 100644\n--- a/src/f{file}.rs\n+++ b/src/f{file}.rs\n@@ -10,{lines} +10,{lines} @@ fn parse() {{\n"
        ));
        let same = |n: usize| format!("     let unchanged_{n} = compute(input, {n});\n");
        (0..context).for_each(|n| text.push_str(&same(n)));
        text.push_str(&format!("-    old_call({file});\n+    new_call({file});\n"));
        (0..context).for_each(|n| text.push_str(&same(n + context)));
    }
    text
}

const COMBINED: &str = "diff --cc a.rs\nindex 1234567,89abcde..0000000\n--- a/a.rs\n+++ b/a.rs\n@@@ -1,3 -1,3 +1,4 @@@\n  one\n- two\n -three\n++four\n++five\n  six\n";

#[test]
fn diffs_of_each_form_are_recognised() {
    let plain = "--- a.txt\t2024-01-01\n+++ b.txt\t2024-01-02\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n";
    let renamed = "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\ndiff --git a/z b/z\nBinary files a/z and b/z differ\ndiff --git a/m b/m\nold mode 100644\nnew mode 100755\n";
    let stat = "commit 0123456789abcdef\nAuthor: A <a@b.c>\n\n    one\n\n a.rs | 3 +-\n 1 file changed\n\ncommit 1123456789abcdef\nAuthor: A <a@b.c>\n\n    two\n";
    for text in [patch(3, 3).as_str(), COMBINED, plain, renamed, stat] {
        assert!(vote(&LineSample::of(text)) > 90, "{} {text}", vote(&LineSample::of(text)));
    }
}

#[test]
fn a_text_that_quotes_a_change_is_not_detected_as_a_diff() {
    let list = "- one\n- two\n- three\n+ four\nand some words\n".repeat(6);
    let quoted = format!(
        "The change was:\n{}\nIt helped, as the next lines show.\n{}",
        "+ a line\n- a line\n",
        "Some words.\n".repeat(10)
    );
    let marked = "words @@ -1,2 +1,2 @@ words\n".repeat(9);
    for text in [list.as_str(), &quoted, &marked, "--- \ntitle: x\n---\n# y\n"] {
        assert!(vote(&LineSample::of(text)) < 30, "{text}");
    }
}

#[test]
fn every_place_and_changed_line_stays_before_what_did_not_change() {
    let text = patch(12, 9);
    let folded = property::fold(&text, spans);
    let short = property::within(&text, spans, text.len() * 45 / 100);
    for shown in [&folded, &short] {
        for file in 0..12 {
            for atom in [
                format!("diff --git a/src/f{file}.rs"),
                format!("-    old_call({file});"),
                format!("+    new_call({file});"),
            ] {
                assert!(shown.contains(&atom), "{atom} in {shown}");
            }
        }
        assert_eq!(shown.matches("@@ -10,19").count(), 12);
        assert!(shown.contains("parse: accept empty input"));
    }
    assert!(folded.len() < text.len());
}

#[test]
fn lines_of_a_hunk_that_look_like_headers_are_lines() {
    let text = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n--- sql comment\n+++ counter\n same\n";
    let lines = TextLines::of(text);
    assert_eq!(
        spans(&lines).iter().filter(|span| span.label == Some(crate::result::label::Label::Changed)).count(),
        2
    );
    let lines = TextLines::of(COMBINED);
    assert_eq!(
        spans(&lines).iter().filter(|span| span.label == Some(crate::result::label::Label::Changed)).count(),
        4
    );
}

#[test]
fn what_programs_write_is_described() {
    let mut text = patch(1, 3);
    text.push_str("diff --git a/Cargo.lock b/Cargo.lock\nindex 1..2 100644\n--- a/Cargo.lock\n+++ b/Cargo.lock\n@@ -1,1 +1,41 @@\n same\n");
    (0..40).for_each(|n| text.push_str(&format!("+checksum = \"{n:064}\"\n")));
    let folded = property::fold(&text, spans);
    assert!(folded.contains("40 changed, generated: +40 −0"), "{folded}");
    assert!(folded.contains("diff --git a/Cargo.lock") && folded.contains("+    new_call(0);"));
}

#[test]
fn any_text_is_tiled() {
    let long = format!("--- a\n+++ b\n@@ -0,0 +1 @@\n+{}\n", "é".repeat(900));
    property::tiles(&[&patch(2, 5), COMBINED, &long], spans);
}
