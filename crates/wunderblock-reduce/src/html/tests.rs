use proptest::prelude::*;

use super::*;
use crate::result::segment;

fn segments(text: &str, room: KeepLimit) -> Vec<TextSegment> {
    HtmlReading::of(text, &QueryTerms::default()).segments(room)
}

fn fold(text: &str) -> String {
    let segments = segments(text, KeepLimit::Fold);
    assert!(segment::tiles_source(&segments, text.len()), "{segments:?}");
    segment::write_segments(&segments, text, None)
}

const PAGE: &str = r##"<!DOCTYPE html>
<html><head><title>Pumps &amp; valves</title><style>p { color: red }</style>
<script>if (1 < 2) { document.write("<p>no text</p>") }</script></head>
<body><nav><ul><li><a href="/">Home</a><li><a href="/all">All of the pages there are</a></ul></nav>
<main><h1>Pumps</h1>
<p>A pump moves <b>water</b>.
<p>See <a href="/valves">valves</a> &mdash; and <a href="#top">above</a>.</p>
<ul><li>hand pump<li>foot pump<ol><li>small<li>large</ol></ul>
<table><tr><th>Name<th>Litres</tr><tr><td>A 1<td>20</tr><tr><td><p>B 2</p></td><td>30</td></tr></table>
<pre><code class="language-rust">fn main() {
    <span>pump</span>(1 &lt; 2);
}
</code></pre>
</main><footer>Imprint and other things of no use here</footer></body></html>
"##;

#[test]
fn a_page_is_shown_as_markdown_and_the_marks_say_what_is_not() {
    let told = "⟨… B0-875: 948 bytes, as Markdown without 1 style sheet, 1 script, 1 navigation, 1 footer⟩\n\
        title: Pumps & valves\n\n# Pumps\n\nA pump moves water.\n\n\
        See [valves](/valves) — and above.\n\n\
        - hand pump\n- foot pump\n  1. small\n  2. large\n\n\
        | Name | Litres |\n|---|---|\n| A 1 | 20 |\n| B 2 | 30 |\n\n\
        ```rust\nfn main() {\n    pump(1 < 2);\n}\n```\n";
    let shown = fold(PAGE);
    let without_places = |text: &str| -> Vec<String> {
        let places = |line: &str| {
            line.starts_with('⟨')
                .then(|| line.split_once("bytes, ").or(line.split_once(": ")).unwrap().1.to_owned())
        };
        text.lines().map(|line| places(line).unwrap_or(line.to_owned())).collect()
    };
    assert_eq!(without_places(&shown), without_places(told));
}

#[test]
fn a_budget_keeps_headings_first() {
    let sections: String = (0..40)
        .map(|n| format!("<h2>Part {n}</h2><p>{}</p>", "words that fill the page ".repeat(20)))
        .collect();
    let page = format!("<html><body>{sections}</body></html>");
    let segments = segments(&page, KeepLimit::Bytes(6_000));
    assert!(segment::tiles_source(&segments, page.len()));
    let shown = segment::write_segments(&segments, &page, None);
    assert!(shown.len() < 6_600, "{}", shown.len());
    assert!((0..40).all(|n| shown.contains(&format!("## Part {n}\n"))), "{shown}");
    assert!(shown.contains("words that fill"));
    assert!(shown.contains(" 9 paragraphs⟩"), "{shown}");
}

#[test]
fn what_is_not_closed_swallows_nothing() {
    let text = "<html><body><nav><a href=/>x</a><div><p>The text of this page is here.</div><p>And here.";
    let shown = fold(text);
    assert!(shown.contains("The text of this page is here."), "{shown}");
    assert!(shown.contains("And here."), "{shown}");
}

#[test]
fn a_page_without_text_says_so() {
    let shell = format!(
        "<!doctype html><html><head><title>App</title></head><body><div id=root></div><script>{}</script></body></html>",
        "var a=1;".repeat(4_000)
    );
    assert!(fold(&shell).contains("a shell that scripts fill"));
    assert!(!fold(PAGE).contains("shell"));
}

#[test]
fn pages_are_told_from_other_texts() {
    let vote = |text: &str| vote(&LineSample::of(text));
    assert!(vote(PAGE) > 90);
    assert!(vote("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<!DOCTYPE HTML>\n<p>x") > 90);
    assert!(vote("<div>\n<p>one</p>\n<p>two</p>\n<ul>\n<li>x</li>\n</ul>\n</div>\n") > 50);
    for other in [
        "<?xml version=\"1.0\"?>\n<project>\n<version>1</version>\n</project>\n",
        "<project>\n  <groupId>a</groupId>\n  <artifactId>b</artifactId>\n</project>\n",
        "import x from 'y'\nexport default () => {\n  return (\n    <div>\n      <p>x</p>\n    </div>\n  )\n}\n",
        "The tag <div> opens a block.\nIt is closed by </div>.\n",
        "",
        "<",
    ] {
        assert_eq!(vote(other), 0, "{other}");
    }
}

#[test]
fn deep_and_broken_markup_takes_linear_time() {
    let n = if cfg!(debug_assertions) { 20_000 } else { 100_000 };
    for text in [
        "<div>".repeat(n),
        "<ul><li>x".repeat(n / 2),
        "<table><tr><td>".repeat(n / 2),
        "</p>".repeat(n),
        "<a href=\"".repeat(n / 2),
        "<b c='\"".repeat(n / 2),
        "<!-- ".repeat(n),
        "<script>".repeat(n),
        "<textarea></".repeat(n / 2),
        "<pre>\n".repeat(n / 2),
        "<blockquote>x".repeat(n / 2),
        format!("{}{}", "<div><b>".repeat(n / 4), "</b></div></i>".repeat(n / 4)),
        "&amp".repeat(n),
        "<".repeat(n),
        "<h1><td>x<tr>".repeat(n / 4),
    ] {
        let shown = fold(&text);
        assert!(shown.len() < 8 * text.len(), "{} of {}", shown.len(), text.len());
    }
}

proptest! {
    #[test]
    fn any_cut_and_mutation_of_a_page_tiles(from in 0usize..900, to in 0usize..960, with in "[<>&/=\"'a-z⟨ \n]{0,6}", room in 0usize..2_000) {
        let cut = |mut at: usize| {
            at = at.min(PAGE.len());
            while !PAGE.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let (from, to) = (cut(from), cut(to));
        let text = format!("{}{with}{}", &PAGE[..from], &PAGE[to..]);
        for target in [KeepLimit::Fold, KeepLimit::Bytes(room)] {
            let segments = segments(&text, target);
            prop_assert!(segment::tiles_source(&segments, text.len()));
        }
    }

    #[test]
    fn any_string_tiles(text in "\\PC{0,80}|[<>&/=\"'a-z# ⟨⟩\n]{0,120}") {
        let shown = fold(&text);
        // Text of the page never becomes a mark with a handle.
        prop_assert_eq!(mark::gaps(&shown).filter(|found| found.handle.is_some()).count(), 0);
    }
}
