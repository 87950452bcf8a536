//! Properties of the readers of logs, builds, tests and traces, checked on texts made here.

use proptest::prelude::*;

use crate::detect;
use crate::kind::Kind;
use crate::options::{Level, Options};
use crate::reduce;
use crate::result::mark;
use crate::spans::span::LineSpan;
use crate::text::lines::TextLines;
use crate::text::severity::{self, LogLevel};

const KINDS: [Kind; 4] = [Kind::Log, Kind::Build, Kind::Tests, Kind::Trace];

/// Folds a text and decodes the result, because these properties concern the choice of lines and not their encoding.
fn fold(text: &str) -> String {
    crate::unpack(&reduce(text.as_bytes(), &Options::default()).text).unwrap()
}

/// Reduces a text to a share of its tokens, in per cent.
fn within(text: &str, percent: u64) -> String {
    let tokens = text.len().div_ceil(4) as u64 * percent / 100;
    let short = reduce(text.as_bytes(), &Options { level: Level::Budget(tokens), ..Options::default() });
    assert!(short.tokens_after <= tokens, "{} of {tokens}", short.tokens_after);
    crate::unpack(&short.text).unwrap()
}

/// Returns the log of a service: a few templates in a fixed mixture, two of them errors.
fn service_log(lines: usize) -> String {
    (0..lines)
        .map(|n| {
            let time = format!("2031-05-04 07:{:02}:{:02},{:03}", n / 60 % 60, n % 60, n * 7 % 1000);
            match n {
                _ if n % 97 == 41 => format!(
                    "{time} ERROR [pool-{}] shop.Payments - card of order {n} was declined by bank {}\n",
                    n % 4,
                    n % 7
                ),
                _ if n % 61 == 17 => format!(
                    "{time} WARN  [pool-{}] shop.Stock - only {} copies left of book {n}\n",
                    n % 4,
                    n % 3
                ),
                _ if n == lines / 2 => format!(
                    "{time} ERROR [main] shop.Disk - volume /srv/books is full, writes are stopped now\n"
                ),
                _ if n % 5 == 2 => format!(
                    "{time} DEBUG [pool-{}] shop.Cache - hit for key book:{n} after {} us\n",
                    n % 4,
                    n * 31 % 900
                ),
                _ => format!(
                    "{time} INFO  [pool-{}] shop.Orders - order {n} placed by reader {} in {} ms\n",
                    n % 4,
                    n * 13 % 499,
                    n % 40
                ),
            }
        })
        .collect()
}

fn auth_log(lines: usize) -> String {
    let names = ["ada", "bo", "cy", "dee", "eli", "flo", "gil", "hal", "ivy", "joy", "kim", "leo", "mia"];
    (0..lines)
        .map(|n| {
            let head =
                format!("May  4 07:{:02}:{:02} gate sshd[{}]:", n / 60 % 60, n % 60, 4000 + n * 17 % 900);
            let (name, from) = (names[n * 7 % 13], format!("10.{}.{}.9", n % 7, n % 31));
            match n % 3 {
                0 => format!(
                    "{head} Failed password for invalid user {name} from {from} port {} ssh2\n",
                    1024 + n * 37 % 9000
                ),
                1 => format!(
                    "{head} Received disconnect from {from} port {}: 11: bye bye [preauth]\n",
                    1024 + n * 37 % 9000
                ),
                _ => format!("{head} Connection closed by authenticating user {name} {from} [preauth]\n"),
            }
        })
        .collect()
}

fn rustc_build(errors: usize) -> String {
    let mut text: String = (0..60).map(|n| format!("   Compiling crate-{n} v0.{n}.1\n")).collect();
    for n in 0..errors {
        text += &format!(
            "error[E0308]: mismatched types in the field of part_{n}\n  --> src/part_{n}.rs:{}:9\n   |\n",
            n + 10
        );
        text +=
            &format!("{:2} |     let shelf: u32 = open_shelf_number_{n}(\"third from the left\");\n", n + 10);
        text += "   |                ---   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected `u32`, found `String`\n   |                |\n";
        text += "   |                expected due to this\n   |\nhelp: you can convert the value and panic where it does not fit\n   |\n";
        text += "   |     let shelf: u32 = open_shelf_number(\"third from the left\").try_into().unwrap();\n   |                                                              ++++++++++++++++++++\n\n";
    }
    text + &format!("error: could not compile `library` (lib) due to {errors} previous errors\n")
}

fn pytest_run(failures: usize) -> String {
    let mut text = "============================= test session starts ==============================\nplatform linux -- Python 3.12.1, pytest-8.0.0\nrootdir: /srv/library\ncollected 300 items\n\n".to_owned();
    for n in 0..300 {
        let status = if n % 29 == 3 && n / 29 < failures { "FAILED" } else { "PASSED" };
        text += &format!("tests/test_shelf.py::test_book_{n} {status}                      [{:3}%]\n", n / 3);
    }
    text += "\n=================================== FAILURES ===================================\n";
    for n in (0..300).filter(|n| n % 29 == 3 && n / 29 < failures) {
        text += &format!("_______________________________ test_book_{n} _______________________________\n\n");
        text += &format!(
            "    def test_book_{n}():\n        shelf = Shelf(rows=4)\n        # books are put back in the order in which they were lent\n        for book in lent_books():\n            shelf.put_back(book)\n        \n"
        );
        text += &format!(
            ">       assert shelf.place({n}) == {}\nE       assert {} == {}\nE        +  where {} = place({n})\n\n",
            n + 1,
            n + 2,
            n + 1,
            n + 2
        );
        text += &format!(
            "tests/test_shelf.py:{}: AssertionError\n----------------------------- Captured stdout call -----------------------------\n",
            n * 4 + 9
        );
        text += &(0..20)
            .map(|line| {
                format!("putting book {line} of run {n} back on row {} beside its neighbours\n", line % 4)
            })
            .collect::<String>();
    }
    text += "=========================== short test summary info ============================\n";
    for n in (0..300).filter(|n| n % 29 == 3 && n / 29 < failures) {
        text += &format!("FAILED tests/test_shelf.py::test_book_{n} - assert {} == {}\n", n + 2, n + 1);
    }
    text + &format!(
        "======================= {failures} failed, {} passed in 3.21s ========================\n",
        300 - failures
    )
}

fn cargo_test(failures: usize) -> String {
    let mut text = "    Finished `test` profile [unoptimized + debuginfo] target(s) in 3.10s\n     Running unittests src/lib.rs (target/debug/deps/library-1f2e)\n\nrunning 200 tests\n".to_owned();
    for n in 0..200 {
        let status = if n % 31 == 5 && n / 31 < failures { "FAILED" } else { "ok" };
        text += &format!("test shelf::tests::row_{n}_keeps_its_order ... {status}\n");
    }
    text += "\nfailures:\n\n";
    for n in (0..200).filter(|n| n % 31 == 5 && n / 31 < failures) {
        text += &format!(
            "---- shelf::tests::row_{n}_keeps_its_order stdout ----\n\nthread 'shelf::tests::row_{n}_keeps_its_order' (77) panicked at src/shelf.rs:{}:9:\n",
            n + 40
        );
        text += &format!(
            "assertion `left == right` failed: row {n}\n  left: {n}\n right: {}\nstack backtrace:\n",
            n + 1
        );
        for (at, name) in [
            "rust_begin_unwind",
            "core::panicking::panic_fmt",
            "core::panicking::assert_failed_inner",
            "core::panicking::assert_failed",
        ]
        .iter()
        .enumerate()
        {
            text += &format!(
                "   {at}: {name}\n             at /rustc/0f1e2d/library/core/src/panicking.rs:{at}:5\n"
            );
        }
        text += &format!(
            "   4: library::shelf::tests::row_{n}_keeps_its_order\n             at ./src/shelf.rs:{}:9\n",
            n + 40
        );
        text += "   5: core::ops::function::FnOnce::call_once\n             at /rustc/0f1e2d/library/core/src/ops/function.rs:250:5\nnote: Some details are omitted\n\n";
    }
    text += "\nfailures:\n";
    for n in (0..200).filter(|n| n % 31 == 5 && n / 31 < failures) {
        text += &format!("    shelf::tests::row_{n}_keeps_its_order\n");
    }
    text + &format!(
        "\ntest result: FAILED. {} passed; {failures} failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.31s\n\nerror: test failed, to rerun pass `--lib`\n",
        200 - failures
    )
}

fn java_traces(traces: usize) -> String {
    (0..traces)
        .map(|n| {
            let what = ["lend", "return", "reserve", "renew", "buy", "sell", "bind"][n % 7];
            let mut text = format!("shop.books.{}Exception: could not {what} the book\n", title(what));
            text += &format!("\tat shop.books.Desk.{what}(Desk.java:{})\n\tat shop.books.Door.open(Door.java:7)\n", n % 7 + 3);
            text += &(0..18).map(|line| format!("\tat org.springframework.web.filter.Chain{line}.next(Chain.java:{line})\n")).collect::<String>();
            text += &format!("Caused by: java.io.IOException: no card for {what}\n\tat java.base/java.io.Reader.read(Reader.java:9)\n\tat java.base/java.io.Reader.fill(Reader.java:10)\n\tat java.base/java.io.Reader.take(Reader.java:11)\n\t... 19 more\n");
            text
        })
        .collect()
}

fn title(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

fn samples() -> Vec<(Kind, String)> {
    vec![
        (Kind::Log, service_log(900)),
        (Kind::Log, auth_log(900)),
        (Kind::Build, rustc_build(9)),
        (Kind::Tests, pytest_run(6)),
        (Kind::Tests, cargo_test(5)),
        (Kind::Trace, java_traces(7)),
    ]
}

#[test]
fn a_sample_is_taken_for_what_it_is() {
    for (kind, text) in samples() {
        assert_eq!(detect::detect_kind(&text), kind, "{}", &text[..200]);
    }
}

#[test]
fn repetition_is_folded() {
    for (text, percent) in [
        (service_log(900), 90),
        (auth_log(900), 80),
        (cargo_test(2), 60),
        (pytest_run(2), 60),
        (java_traces(40), 70),
    ] {
        let short = fold(&text);
        let saved = 100 - short.len() * 100 / text.len();
        assert!(saved >= percent, "{saved} % of\n{short}");
    }
}

/// Returns the lines of a reduced text that are from the source, without their notes.
fn shown(short: &str) -> impl Iterator<Item = &str> {
    short.lines().filter(|line| !line.starts_with("⟨…")).map(|line| {
        let line = line.split(" ⟨×").next().unwrap_or(line);
        line.split(" ⟨and ").next().unwrap_or(line)
    })
}

/// Returns the number of lines that the marks of a reduced text count under a label.
fn counted(short: &str, label: &str) -> usize {
    let marks = mark::gaps(short).map(|found| &short[found.span]);
    marks
        .flat_map(|mark| mark.trim_end_matches('⟩').split_once(": ").map_or("", |(_, told)| told).split(','))
        .filter_map(|told| {
            told.trim()
                .split_once(' ')
                .filter(|(_, what)| *what == label)
                .and_then(|(count, _)| count.parse::<usize>().ok())
        })
        .sum()
}

#[test]
fn every_error_is_counted_whether_shown_or_not() {
    let of = |line: &str, wanted: LogLevel| severity::read_line(line).level == Some(wanted);
    for text in [service_log(900), service_log(3_000)] {
        for short in [fold(&text), within(&text, 25), within(&text, 5)] {
            for severity in [LogLevel::Error, LogLevel::Warning] {
                let all = text.lines().filter(|line| of(line, severity)).count();
                let visible = shown(&short).filter(|line| of(line, severity)).count();
                assert_eq!(
                    visible + counted(&short, &severity.label().unwrap().fact(2).what),
                    all,
                    "{short}"
                );
            }
        }
    }
}

#[test]
fn the_notes_of_error_templates_add_up_to_the_errors_of_the_source() {
    for text in [service_log(900), auth_log(900)] {
        let trouble = |line: &str| severity::read_line(line).weight() > LogLevel::Info;
        let all = text.lines().filter(|line| trouble(line)).count();
        let (mut noted, mut lines, mut notes) = (0, 0, 0);
        for line in fold(&text).lines().filter(|line| !line.starts_with("⟨…") && trouble(line)) {
            let equal = line.split_once(" ⟨×").map(|(_, note)| (note, 0));
            match equal.or(line.split_once(" ⟨and ").map(|(_, note)| (note, 1))) {
                Some((note, more)) => {
                    noted += more + note.split([',', ' ', '⟩']).next().unwrap().parse::<usize>().unwrap();
                    notes += 1;
                }
                None => lines += 1,
            }
        }
        // The last line of a template with a note is shown too, and the note counts it.
        assert_eq!(noted + lines - notes, all);
    }
}

#[test]
fn what_is_rare_in_a_log_stays_whole() {
    let short = fold(&service_log(900));
    assert!(short.contains("shop.Disk - volume /srv/books is full"), "{short}");
    assert!(short.contains("⟨and 699 alike to L900: pool-0 ×"), "{short}");
}

#[test]
fn what_took_far_too_long_stays() {
    let slow = service_log(900)
        .replace("order 433 placed by reader 140 in 33 ms", "order 433 placed by reader 140 in 9133 ms");
    assert!(slow.contains("9133 ms"));
    assert!(fold(&slow).contains("order 433 placed by reader 140 in 9133 ms"), "{}", fold(&slow));
}

#[test]
fn what_follows_a_record_stays_with_it() {
    // The same lines follow many plain records, so that none of these records is the first, the last, or rare.
    let trail = "\tat shop.Disk.write(Disk.java:9)\n\tat shop.Desk.lend(Desk.java:3)\n";
    let log: String = service_log(300)
        .lines()
        .enumerate()
        .map(|(at, line)| {
            let trail = if at % 20 == 3 || line.contains("shop.Disk") { trail } else { "" };
            format!("{line}\n{trail}")
        })
        .collect();
    let short = fold(&log);
    assert!(short.contains(&format!("stopped now\n{trail}")), "{short}");
}

/// Returns the share of atoms that a text contains, in per cent.
fn visible(short: &str, atoms: &[String]) -> usize {
    atoms.iter().filter(|atom| short.contains(atom.as_str())).count() * 100 / atoms.len()
}

#[test]
fn a_quarter_of_the_tokens_shows_what_one_reads_a_text_for() {
    let failing = |n: &usize| n % 29 == 3 && n / 29 < 6;
    let pytest: Vec<String> = (0..300)
        .filter(failing)
        .flat_map(|n| {
            [
                format!("test_book_{n} "),
                format!("test_shelf.py:{}: AssertionError", n * 4 + 9),
                format!("assert {} == {}", n + 2, n + 1),
            ]
        })
        .chain(["6 failed, 294 passed".to_owned()])
        .collect();
    let rust: Vec<String> = (0..200)
        .filter(|n| n % 31 == 5 && n / 31 < 5)
        .flat_map(|n| {
            [
                format!("row_{n}_keeps_its_order ... FAILED"),
                format!("src/shelf.rs:{}:9", n + 40),
                format!("left: {n}\n"),
                format!("right: {}\n", n + 1),
            ]
        })
        .chain(["195 passed; 5 failed".to_owned()])
        .collect();
    let build: Vec<String> = (0..9)
        .flat_map(|n| {
            [format!("mismatched types in the field of part_{n}"), format!("src/part_{n}.rs:{}:9", n + 10)]
        })
        .chain(["due to 9 previous errors".to_owned()])
        .collect();
    let words = ["lend", "return", "reserve", "renew", "buy", "sell", "bind"];
    let traces: Vec<String> = words
        .iter()
        .flat_map(|what| {
            [
                format!("{}Exception: could not {what} the book", title(what)),
                format!("IOException: no card for {what}"),
            ]
        })
        .collect();
    let log: Vec<String> = [
        "declined by bank",
        "volume /srv/books is full",
        "copies left of book",
        "hit for key",
        "placed by reader",
    ]
    .map(str::to_owned)
    .into();
    let cases = [
        (pytest_run(6), pytest),
        (cargo_test(5), rust),
        (rustc_build(9), build),
        (java_traces(7), traces),
        (service_log(900), log),
    ];
    for (text, atoms) in cases {
        let short = within(&text, 25);
        let share = visible(&short, &atoms);
        let missing: Vec<_> = atoms.iter().filter(|atom| !short.contains(atom.as_str())).collect();
        let full = short.len() * 100 / (text.len() / 4);
        assert!(share >= 95, "{share} %, {full} % full, without {missing:?}:\n{short}");
        assert_eq!(visible(&fold(&text), &atoms), 100, "{}", fold(&text));
    }
}

#[test]
fn quoted_reports_are_not_reports() {
    let quoted = "# Notes on the shelf\n\nWe saw this yesterday, when the row was full and nobody had returned a book for days:\n\n```\nrunning 2 tests\ntest a ... ok\ntest b ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed\n```\n\n## What to do\n\nNothing, says the librarian. Rows fill and rows empty.\nThe report is kept for those who come after us.\n";
    assert_eq!(detect::detect_kind(quoted), Kind::Markdown);
    let history = quoted.replace(
        "running 2 tests\ntest a ... ok\n",
        "error[E0308]: no\n  --> src/a.rs:3:7\n   |\n 3 | a\n   | ^\n",
    );
    assert_eq!(detect::detect_kind(&history), Kind::Markdown);
    let log: String = (0..50)
        .map(|n| format!("nova.log_07:11:{:02} 2031-05-04 07:11:{:02}.120 77 INFO shelf.api [req-{n}] src/shelf.py:{n}: test_{n} PASSED\n", n % 60, n % 60))
        .collect();
    assert_eq!(detect::detect_kind(&log), Kind::Log);
    let mut run = pytest_run(3);
    let noise: String =
        (0..60).map(|n| format!("2031-05-04 07:11:{:02} INFO shelf.api test_{n} ... ok\n", n % 60)).collect();
    run = run.replace("putting book 7 of run 3 back", &format!("{noise}putting book 7 of run 3 back"));
    assert_eq!(detect::detect_kind(&run), Kind::Tests);
    let docker: String = (0..40)
        .map(|n| match n % 4 {
            0 => format!("2031-05-04T07:11:{:02}.1Z #{n} [{n}/40] RUN make part-{n}\n", n % 60),
            1 => {
                format!("2031-05-04T07:11:{:02}.2Z #{n} 0.412 gcc -O2 -c part-{n}.c -o part-{n}.o\n", n % 60)
            }
            2 => format!(
                "2031-05-04T07:11:{:02}.3Z #{n} 0.614 part-{n}.c:3:7: warning: unused variable 'x'\n",
                n % 60
            ),
            _ => format!("2031-05-04T07:11:{:02}.4Z #{n} DONE 1.2s\n", n % 60),
        })
        .collect();
    assert_eq!(detect::detect_kind(&docker), Kind::Build);
}

fn tiles(spans: &[LineSpan], len: usize) -> bool {
    let mut at = 0;
    for span in spans {
        if span.range().start != at || span.range().end < at {
            return false;
        }
        at = span.range().end;
    }
    at == len
}

/// A sample with some stretches replaced by noise, and its end cut off.
fn broken() -> impl Strategy<Value = String> {
    let texts: Vec<String> =
        vec![service_log(40), auth_log(30), rustc_build(2), pytest_run(1), cargo_test(1), java_traces(4)];
    let edits = prop::collection::vec(
        (any::<prop::sample::Index>(), 0usize..200, "[ \\tE⟨>_=.:()0-9a-z\\n\\r\u{1b}\u{8}\\[-]{0,12}"),
        0..8,
    );
    (prop::sample::select(texts), edits, 0usize..3_000).prop_map(|(mut text, edits, keep)| {
        for (at, length, with) in edits {
            let floor = |mut at: usize| {
                while !text.is_char_boundary(at) {
                    at -= 1;
                }
                at
            };
            let start = floor(at.index(text.len() + 1));
            let end = floor((start + length).min(text.len()));
            text.replace_range(start..end.max(start), &with);
        }
        let mut end = keep.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn units_tile_any_text(text in "(\\PC|\n|\r| |\t|[a-z:0-9(/.]){0,120}") {
        let lines = TextLines::of(&text);
        for kind in KINDS {
            prop_assert!(tiles(&super::spans(&lines, kind, None), text.len()), "{}", kind);
        }
    }

    #[test]
    fn units_tile_broken_texts(text in broken()) {
        let lines = TextLines::of(&text);
        for kind in KINDS {
            prop_assert!(tiles(&super::spans(&lines, kind, None), text.len()), "{}", kind);
        }
    }

    #[test]
    fn nothing_grows_and_twice_is_once(text in broken(), percent in 5u64..90) {
        let budget = Level::Budget(text.len() as u64 / 4 * percent / 100);
        for kind in KINDS {
            for level in [Level::Fold, budget] {
                let options = Options { level, kind: Some(kind), ..Options::default() };
                let once = reduce(text.as_bytes(), &options);
                let escapes = text.matches('⟨').count() * '⟨'.len_utf8();
                prop_assert!(once.text.len() <= text.len() + escapes);
                let known = |text: &str| text == once.text;
                let twice = reduce(once.text.as_bytes(), &Options { known: &known, ..options });
                prop_assert!(twice.text == once.text || level == budget);
            }
        }
    }
}
