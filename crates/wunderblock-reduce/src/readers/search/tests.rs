use super::*;
use crate::readers::property;

fn results(files: usize, matches: usize) -> String {
    let mut text = String::new();
    for file in 0..files {
        for nth in 0..matches {
            text.push_str(&format!(
                "src/part{file}/mod.rs:{}:    let value_{nth} = open(\"{file}\")?;\n",
                nth * 7 + 3
            ));
        }
    }
    text
}

#[test]
fn results_of_each_form_are_recognised() {
    let heading = "src/a.rs\n3:fn one() {\n9:fn two() {\n\nsrc/b.rs\n1:fn three() {\n4-}\n7:fn four() {\n";
    let bare = "src/a.rs:fn one() {\nsrc/a.rs:fn two() {\nsrc/b.rs:fn three() {\nsrc/b.rs:fn four() {\n";
    let context = "src/a-b.rs-2-use x;\nsrc/a-b.rs:3:fn one() {\nsrc/a-b.rs-4-    1\n--\nsrc/c.rs-8-}\nsrc/c.rs:9:fn two() {}\n";
    for text in [results(3, 3).as_str(), heading, bare, context] {
        assert!(vote(&LineSample::of(text)) >= 60, "{text}");
    }
}

#[test]
fn colons_alone_do_not_make_a_search_result() {
    let log: String =
        (0..60).map(|n| format!("nova-api.log_13:{:02}:{:02} served in {n} ms\n", 10 + n / 20, n)).collect();
    let times: String =
        (0..60).map(|n| format!("2024-05-16 13:{}:{} served\n", 10 + n % 40, 10 + n % 40)).collect();
    let gcc: String = (1..20).map(|n| format!("src/a.c:{n}:5: warning: unused variable 'x{n}'\n")).collect();
    let yaml = "name: a\nimage: b\nports:\n  - 80:80\nfoo: bar\n".repeat(5);
    for text in [log.as_str(), &times, &gcc, &yaml, "see src/a.rs:3: it\nis wrong\nbut prose\n"] {
        assert!(vote(&LineSample::of(text)) < 30, "{text}");
    }
}

#[test]
fn every_file_stays_and_a_budget_is_shared() {
    let text = results(20, 40);
    let folded = property::fold(&text, spans);
    assert!(folded.len() * 10 < text.len() * 7, "{} of {}", folded.len(), text.len());
    assert!(folded.contains("matches"));
    for short in [folded, property::within(&text, spans, text.len() / 4)] {
        for file in 0..20 {
            let shown = short.matches(&format!("src/part{file}/mod.rs:")).count();
            assert!(shown >= 2, "{file}: {shown}");
        }
    }
}

#[test]
fn few_matches_stay_whole() {
    let text = results(4, 4);
    assert_eq!(property::fold(&text, spans), text);
}

#[test]
fn any_text_is_tiled() {
    let long = format!("{}dist/a.min.js:1:{}\n", results(1, 3), "var é=1;".repeat(200));
    let folded = property::fold(&long, spans);
    assert!(folded.contains("dist/a.min.js:1:var") && folded.len() < 700, "{folded}");
    property::tiles(
        &[&long, &results(2, 14), "src/a.rs\n3:x\n\nsrc/b.rs\n4:y\n", "a/b-3-x\n--\na/b:4:z\n"],
        spans,
    );
}
