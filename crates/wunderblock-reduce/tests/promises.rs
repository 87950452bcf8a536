//! Properties of `reduce` for any text, whatever kind the caller states.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may stop at what cannot be")]

use held::{HANDLE, check};
use proptest::prelude::*;
use wunderblock_reduce::{Kind, Level, Options, reduce};

#[path = "promises/held.rs"]
mod held;
#[path = "promises/sample.rs"]
mod sample;

/// Lines from outputs of every kind. A text consists of runs of these lines.
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

/// Runs of lines, with numbers changed in some places, and with noise between the runs.
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

fn options(level: Level, kind: Option<Kind>) -> Options<'static> {
    Options { level, kind, handle: Some(HANDLE), ..Options::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_text_is_all_promises_hold(text in text(), level in levels(), kind in kinds()) {
        let held = check(text.as_bytes(), &options(level, kind));
        prop_assert!(held.is_ok(), "{}", held.unwrap_err());
    }

    /// Takes a sample of one kind in the form in which its tool would write it, and damages it: cuts it off, repeats
    /// a part, inserts a part of another kind, or changes bytes.
    #[test]
    fn a_broken_text_of_any_kind_keeps_all_promises(
        text in sample::harmed(),
        level in levels(),
        failed in any::<bool>(),
        kind in kinds(),
    ) {
            let options = Options { failed, query: Some("shelf 17"), ..options(level, kind) };
        let held = check(&text, &options);
        prop_assert!(held.is_ok(), "{}", held.unwrap_err());
    }

    #[test]
    fn twice_is_once(text in text(), level in levels(), again in levels()) {
            let once = reduce(text.as_bytes(), &options(level, None));
        let known = |text: &str| text == once.text;
        let twice = reduce(once.text.as_bytes(), &Options { known: &known, ..options(again, None) });
        prop_assert!(twice.text == once.text || matches!(again, Level::Budget(_)));
        prop_assert_eq!(&reduce(text.as_bytes(), &options(level, None)), &once);
    }

    #[test]
    fn any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..3_000), level in levels()) {
        let held = check(&bytes, &options(level, None));
        prop_assert!(held.is_ok(), "{}", held.unwrap_err());
    }
}

#[test]
fn a_kind_that_was_said_wrongly_breaks_no_budget() {
    let log: String = (0..90)
        .map(|n| format!("07:{:02}:{:02} INFO order {n} placed in {} ms\n", n / 60, n % 60, n * 7))
        .collect();
    let twice = log.clone() + &log;
    for kind in Kind::ALL {
        for tokens in [0, 70, 400] {
            let held = check(twice.as_bytes(), &options(Level::Budget(tokens), Some(kind)));
            assert!(held.is_ok(), "{kind} {tokens}: {}", held.unwrap_err());
        }
    }
}

#[test]
fn a_text_that_only_loses_its_overwritten_states_is_shorter() {
    let states: String = (0..40).map(|n| format!("{:>3}% of {n} shelves sorted\r", n * 5 / 2)).collect();
    let text: String = (0..20).map(|n| format!("{states}all of shelf {n} is sorted, at last\n")).collect();
    let short = check(text.as_bytes(), &options(Level::Fold, None)).unwrap();
    assert!(short.text.len() * 10 < text.len(), "{}", short.text);
}

/// The shortened text has a larger share of bytes that are not text than its source has, but it is still a text that
/// has been shown.
#[test]
fn a_text_whose_noise_stays_is_not_taken_for_noise_the_second_time() {
    let quiet: String =
        (0..60).map(|n| format!("shelf {n} of the hall is sorted and all of it is in place\n")).collect();
    let mut bytes = quiet.into_bytes();
    for n in 0..24_u8 {
        let refused = [b"ERROR shelf ".as_slice(), &[b'a' + n], b" refused: ", &[1 + n; 12], b"\n"].concat();
        bytes.extend(refused);
    }
    let mut shut = 0;
    for tokens in [200, 300, 400, 600] {
        let held = check(&bytes, &options(Level::Budget(tokens), Some(Kind::Log)));
        shut += usize::from(held.unwrap().gaps.len() > 1);
    }
    assert!(shut > 0);
}

#[test]
fn a_mark_of_the_whole_text_spans_its_bytes_not_its_decoded_form() {
    let mut bytes = Vec::new();
    for n in 0..40_u8 {
        bytes.extend(
            [b"shelf ".as_slice(), &[b'a' + n % 26, 0xe9], b" is sorted and stays so until noon\n"].concat(),
        );
    }
    let short = check(&bytes, &options(Level::Budget(20), None)).unwrap();
    assert_eq!(short.gaps.len(), 1);
    assert_eq!(short.gaps[0].span, 0..bytes.len());
}

#[test]
fn a_date_of_no_calendar_is_read_as_far_as_dates_go() {
    let row = |n: usize| {
        format!("-rw-r--r-- 1 ann ann {n} May 88888888888888888888 99999999999999999999 shelf-{n}.txt\n")
    };
    let text: String = (0..40).map(row).collect();
    check(text.as_bytes(), &options(Level::Fold, Some(Kind::Listing))).unwrap();
}
