//! What `reduce` promises of any text, whatever its kind is said to be.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may stop at what cannot be")]

use proptest::prelude::*;
use wunderblock_reduce::{Kind, Level, Options, Reduced, gaps, invert, reduce, unpack};

const HANDLE: &str = "wb:3f9c1a7be2d04c58";

/// Pieces of outputs of every kind; a text is made of runs of them.
const PIECES: [&str; 44] = [
    "2031-05-04 07:11:02,120 INFO shop.Orders - order 17 placed in 33 ms",
    "2031-05-04 07:11:03,481 ERROR shop.Payments - card declined by bank 4",
    "nova.log_07:11:02 2031-05-04 WARN shelf.api [req-9] late",
    "   Compiling serde v1.0.229",
    "error[E0308]: mismatched types",
    "  --> src/a.rs:3:7",
    "warning: unused variable: `x`",
    "test shelf::holds ... ok",
    "test shelf::falls ... FAILED",
    "test result: FAILED. 1 passed; 1 failed; 0 ignored",
    "tests/a_test.py ..F.                                     [ 50%]",
    "E       AssertionError: assert 3 == 4",
    "src/main.rs:42:    let shelf = Shelf::new();",
    "src/lib.rs-43-    // a comment",
    "diff --git a/x.rs b/x.rs",
    "@@ -1,3 +1,3 @@",
    "-let a = 1;",
    "+let a = 2;",
    " let b = 3;",
    "drwxr-xr-x  2 ann staff  4096 May  4 07:11 books",
    "-rw-r--r--  1 ann staff 17203 May  4 07:11 list.txt",
    "id,name,price,status",
    "17,\"a, b\",3.50,ok",
    "| id | name |",
    "|----|------|",
    "java.lang.IllegalStateException: no shelf 9",
    "\tat shop.Shelf.open(Shelf.java:17)",
    "Caused by: java.io.IOException: gone",
    "Traceback (most recent call last):",
    "  File \"a.py\", line 3, in <module>",
    "  # shelf.books[0] will be created",
    "  + resource \"shelf\" \"books\" {",
    "changed: [host1]",
    "<html><head><script>var a = 1;</script></head><body><h1>Books</h1>",
    "<p>A shelf of <a href=\"/b\">books</a>.</p></body></html>",
    "# Books",
    "- a list item with `code` and [a link](https://example.org/a)",
    "fn open(shelf: &Shelf) -> Result<Book, Error> {",
    "    return Err(Error::Gone);",
    "\u{1b}[32mok\u{1b}[0m 12%\r13%\r14%",
    "{\"id\": 17, \"name\": \"a\", \"tags\": [1, 2.50, 1e400], \"ok\": null}",
    "[{\"a\":1,\"b\":\"x\"},{\"a\":2,\"b\":\"y\"},",
    "⟨… lines 1–9: 9 lines · wb:0000000000000000⟩ ⟨⟨ ⟨=×3⟩ ⟨=json⟩",
    "书架上有三十本书。谁借走了第十七本？",
];

/// Runs of pieces, with a number changed here and there, and noise between.
fn text() -> impl Strategy<Value = String> {
    let piece = (proptest::sample::select(&PIECES[..]), 1..30_usize, 0..4_usize);
    let run = piece.prop_map(|(piece, times, step)| {
        let line =
            |n: usize| if step == 0 { piece.to_owned() } else { piece.replace('7', &(n * step).to_string()) };
        (0..times).map(|n| line(n) + "\n").collect::<String>()
    });
    let noise = "(\\PC{0,40}|[\\n\\r\\t ]{0,6}|[\\[\\]{},:\"0-9]{0,20})";
    proptest::collection::vec(prop_oneof![5 => run, 1 => noise], 0..12).prop_map(|runs| runs.concat())
}

fn levels() -> impl Strategy<Value = Level> {
    prop_oneof![Just(Level::Lossless), Just(Level::Fold), (0..3_000_u64).prop_map(Level::Budget)]
}

fn kinds() -> impl Strategy<Value = Option<Kind>> {
    proptest::option::of(proptest::sample::select(&Kind::ALL[..]))
}

fn options(level: Level, kind: Option<Kind>, ours: &dyn Fn(&str) -> bool) -> Options<'_> {
    Options { level, kind, handle: Some(HANDLE), ours, ..Options::default() }
}

/// The text without its gaps' marks.
fn without_marks(text: &str) -> String {
    let mut out = String::new();
    let mut at = 0;
    for found in gaps(text) {
        out.push_str(&text[at..found.span.start]);
        at = found.span.end;
    }
    out.push_str(&text[at..]);
    out
}

/// Notes are facts about what is shown; they are no part of the source.
fn without_notes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("⟨×") {
        out.push_str(&rest[..at]);
        let end = rest[at..].find('⟩').map_or(rest.len(), |end| at + end + '⟩'.len_utf8());
        rest = &rest[end..];
    }
    out + rest
}

fn bare(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '⟨').collect()
}

/// Whether the source is the short text and what its gaps stand for.
fn is_whole(source: &str, short: &Reduced) -> bool {
    if short.lossless {
        return short.text == source || invert(&short.text).as_deref() == Some(source);
    }
    // A page is written anew: gaps over all of it, and its text after them.
    let end = short.gaps.iter().try_fold(0, |at, gap| (gap.span.start == at).then_some(gap.span.end));
    if end == Some(source.len()) || short.gaps.iter().any(|gap| gap.span == (0..source.len())) {
        return true;
    }
    let mut kept = String::new();
    let mut at = 0;
    for gap in &short.gaps {
        assert!(
            at <= gap.span.start && gap.span.start < gap.span.end && gap.span.end <= source.len(),
            "{gap:?}"
        );
        kept.push_str(&source[at..gap.span.start]);
        at = gap.span.end;
    }
    kept.push_str(&source[at..]);
    let shown = unpack(&short.text).unwrap();
    bare(&without_notes(&without_marks(&shown))) == bare(&without_notes(&kept))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_left_out_without_a_mark(text in text(), level in levels(), kind in kinds()) {
        let short = reduce(text.as_bytes(), &options(level, kind, &|handle| handle == HANDLE));
        prop_assert!(is_whole(&text, &short), "{:?} {:?}\n{}", short.kind, short.gaps, short.text);
        let shown = unpack(&short.text).unwrap_or_default();
        let marks = gaps(&shown).filter(|found| found.handle == Some(HANDLE)).count();
        prop_assert!(short.untouched.is_some() || marks >= short.gaps.len(), "{marks} marks\n{}", short.text);
    }

    #[test]
    fn nothing_grows_and_a_budget_holds(text in text(), level in levels(), kind in kinds()) {
        let short = reduce(text.as_bytes(), &options(level, kind, &|_| false));
        prop_assert!(short.tokens_after <= short.tokens_before);
        prop_assert_eq!(short.tokens_after, short.text.len().div_ceil(4) as u64);
        if let Level::Budget(tokens) = short.level && short.untouched.is_none() {
            // No budget can be below a mark.
            prop_assert!(short.tokens_after <= tokens.max(24), "{} of {tokens}", short.tokens_after);
        }
    }

    #[test]
    fn twice_is_once(text in text(), level in levels(), again in levels()) {
        let ours = |handle: &str| handle == HANDLE;
        let once = reduce(text.as_bytes(), &options(level, None, &ours));
        if once.untouched.is_some() {
            return Ok(());
        }
        prop_assert_eq!(&reduce(once.text.as_bytes(), &options(again, None, &ours)).text, &once.text);
        prop_assert_eq!(&reduce(text.as_bytes(), &options(level, None, &ours)), &once);
    }

    #[test]
    fn any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..3_000), level in levels()) {
        let short = reduce(&bytes, &options(level, None, &|_| false));
        prop_assert!(short.lossless == short.gaps.is_empty());
    }
}
