//! The assistant adds a filter by time to core, with the usual detours.

use super::step::Status::{Doing, Done, Open};
use super::step::Step::{self, Call, Expect, Say, Think, User};
use super::step::Tool::{Bash, Edit, Fails, Grep, Lines, Misses, Read, Todo, Write};

const SINCE: &str = "crates/wunderblock-core/src/since.rs";
const VIEW: &str = "crates/wunderblock-core/src/view.rs";
const CASES: &str = "crates/wunderblock-core/tests/promises/cases.rs";
const LIB: &str = "crates/wunderblock-core/src/lib.rs";

const FIRST: &str = r#"//! Points in time as people say them: `90m`, `2h`, `3d`.

use crate::units::Millis;

/// The beginning of a span of time; what is older is of no interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Since(pub Millis);

impl Since {
    /// Reads a number and a unit (`s`, `m`, `h`, `d`, `w`), counted back from `now`.
    #[must_use]
    pub fn parse(text: &str, now: Millis) -> Option<Self> {
        let (number, unit) = text.split_at(text.len() - 1);
        let number: u64 = number.parse().ok()?;
        let seconds = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3_600,
            "d" => 86_400,
            "w" => 604_800,
            _ => return None,
        };
        Some(Self(now.saturating_sub(Millis(number * seconds * 1_000))))
    }

    pub fn keeps(self, at: Millis) -> bool {
        at > self.0
    }
}
"#;

const TESTS: &str = r#"
#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = Millis(1_000_000_000);

    #[test]
    fn spans_are_counted_back_from_now() {
        for (text, millis) in [
            ("90s", Some(90_000)),
            ("15m", Some(900_000)),
            ("2h", Some(7_200_000)),
            ("3d", Some(259_200_000)),
            ("1w", Some(604_800_000)),
            ("0s", Some(0)),
            ("h", None),
            ("12", None),
            ("2 h", None),
            ("2y", None),
        ] {
            let expected = millis.map(|millis| Since(Millis(NOW.0 - millis)));
            assert_eq!(Since::parse(text, NOW), expected, "{text}");
        }
    }

    #[test]
    fn what_happened_at_the_very_beginning_is_kept() {
        let since = Since(Millis(5_000));
        assert!(since.keeps(Millis(5_000)));
        assert!(!since.keeps(Millis(4_999)));
    }
}
"#;

const ODD: &str = r#"        assert!(!since.keeps(Millis(4_999)));
    }

    #[test]
    fn odd_texts_are_refused_and_not_fatal() {
        for text in ["", "天", "3天", "-2h", "99999999999999999d", "１２h", "\u{feff}2h"] {
            assert_eq!(Since::parse(text, NOW), None, "{text:?}");
        }
    }
}
"#;

pub(super) const STEPS: &[Step] = &[
    User(
        "Now the filter. `Since::parse(\"2h\", now)` in core, units s, m, h, d, w; `keeps(at)` says whether something at \
         that time is wanted; the view gets `entries_since`. No clock in core, no panics on odd input, tests. Commit when \
         it is done.",
    ),
    Think(
        "A new file since.rs beside units.rs. Millis is i64, so the number should be too. Let me look at how units are \
         declared once more, then write the type, then the view.",
        "",
        &[Todo(&[
            (Doing, "Since: type and parser"),
            (Open, "View::entries_since"),
            (Open, "Tests with odd input"),
            (Open, "Clippy, docs, commit"),
        ])],
    ),
    Call(
        "",
        &[
            Bash("rg -n 'saturating_sub' crates/wunderblock-core/src | head -20"),
            Lines("crates/wunderblock-core/src/units.rs", 1, 50),
        ],
    ),
    Call("", &[Write(SINCE, FIRST)]),
    Call("", &[Bash("cargo check -p wunderblock-core")]),
    Call(
        "That was too easy: the file is not part of the crate yet, so nothing looked at it.",
        &[Edit(LIB, "pub mod section;\n", "pub mod section;\npub mod since;\n")],
    ),
    Call("", &[Fails("cargo check -p wunderblock-core")]),
    Expect("error[E0308]"),
    Call(
        "There it is: `{/error\\[(E\\d+)\\]/}`, a `u64` where `Millis` wants an `i64`.",
        &[Edit(SINCE, "let number: u64 =", "let number: i64 =")],
    ),
    Call("", &[Bash("cargo check -p wunderblock-core")]),
    Expect("Finished"),
    Call(
        "Now tests beside it, the boundary among them.",
        &[Bash("cat crates/wunderblock-core/src/stub.rs | sed -n '/cfg(test)/,$p' | head -40")],
    ),
    Call(
        "",
        &[Bash(
            "cat >> crates/wunderblock-core/src/since.rs <<'EOF'\n\n#[cfg(test)]\nmod tests {}\nEOF\ntail -5 crates/wunderblock-core/src/since.rs",
        )],
    ),
    Call("", &[Edit(SINCE, "\n\n#[cfg(test)]\nmod tests {}\n", TESTS)]),
    Call("", &[Fails("cargo test -p wunderblock-core --lib since")]),
    Expect("what_happened_at_the_very_beginning_is_kept ... FAILED"),
    Call(
        "The boundary is wrong: what happened exactly at the beginning must be kept. `>` has to be `>=`.",
        &[Edit(SINCE, "at > self.0", "at >= self.0")],
    ),
    Call("", &[Bash("cargo test -p wunderblock-core --lib since")]),
    Expect("2 passed"),
    Call(
        "Both pass. Now what nobody types on purpose: nothing, Chinese, negative, enormous, full-width digits.",
        &[Edit(SINCE, "        assert!(!since.keeps(Millis(4_999)));\n    }\n}\n", ODD)],
    ),
    Call("", &[Fails("cargo test -p wunderblock-core --lib since")]),
    Expect("panicked"),
    Call(
        "It panics, as `split_at` with `len() - 1` must on an empty text. Cut before the last character instead.",
        &[Edit(
            SINCE,
            "        let (number, unit) = text.split_at(text.len() - 1);\n",
            "        let (at, _) = text.char_indices().next_back()?;\n        let (number, unit) = text.split_at(at);\n",
        )],
    ),
    Call("", &[Fails("RUST_BACKTRACE=0 cargo test -p wunderblock-core --lib since")]),
    Expect("\"-2h\""),
    Call(
        "One further: `-2h` is read as two hours ahead. A `u32` takes no sign; is that enough for the numbers?",
        &[Bash("echo $(( (1 << 32) * 604800 * 1000 )) of $(( (1 << 62) - 1 + (1 << 62) ))")],
    ),
    Expect("of 9223372036854775807"),
    Call(
        "{/(\\d+) of/} at most: the largest `u32` of weeks stays below the largest `i64` of milliseconds, so nothing can overflow.",
        &[Misses(
            SINCE,
            "let number: u64 = number.parse().ok()?;",
            "let number: u32 = number.parse().ok()?;",
        )],
    ),
    Call(
        "It says `i64` since the first fix; I forgot my own edit.",
        &[
            Edit(SINCE, "let number: i64 = number.parse().ok()?;", "let number: u32 = number.parse().ok()?;"),
            Lines(SINCE, 1, 34),
        ],
    ),
    Call("", &[Fails("cargo check -p wunderblock-core")]),
    Expect("error[E0308]"),
    Call(
        "The types must meet somewhere; the conversion is lossless, so `i64::from`.",
        &[Edit(SINCE, "Millis(number * seconds * 1_000)", "Millis(i64::from(number) * seconds * 1_000)")],
    ),
    Call("", &[Bash("cargo test -p wunderblock-core --lib since")]),
    Expect("3 passed"),
    Call(
        "",
        &[Todo(&[
            (Done, "Since: type and parser"),
            (Doing, "View::entries_since"),
            (Done, "Tests with odd input"),
            (Open, "Clippy, docs, commit"),
        ])],
    ),
    Call("Now the view.", &[Grep("fn entries|fn entry|fn turns", VIEW), Lines(VIEW, 188, 24)]),
    Call(
        "",
        &[Edit(
            VIEW,
            "    /// The entry at a position.\n",
            "    /// The entries that happened at that time or later, in order.\n    pub fn entries_since(&self, since: Since) -> impl \
         DoubleEndedIterator<Item = &ViewEntry> {\n        self.entries.values().filter(|entry| since.keeps(entry.at))\n    }\n\n    \
         /// The entry at a position.\n",
        )],
    ),
    Call("", &[Fails("cargo check -p wunderblock-core --color always")]),
    Expect("\u{1b}["),
    Call(
        "The import, of course.",
        &[Edit(
            VIEW,
            "use crate::plan::Injection;\n",
            "use crate::plan::Injection;\nuse crate::since::Since;\n",
        )],
    ),
    Call("", &[Fails("cargo check -p wunderblock-core --color always")]),
    Expect("E0373"),
    Call(
        "The closure borrows `since`, which lives in this call only. It is `Copy`, so `move` costs nothing.",
        &[Edit(VIEW, "filter(|entry| since.keeps(entry.at))", "filter(move |entry| since.keeps(entry.at))")],
    ),
    Call("", &[Bash("cargo clippy -p wunderblock-core --lib --color always")]),
    Expect("missing documentation"),
    Call(
        "Clippy asks for documentation of `keeps`, rightly.",
        &[Edit(
            SINCE,
            "    pub fn keeps(self",
            "    /// Whether something that happened at that time is of interest; what happened at the beginning is.\n    \
         #[must_use]\n    pub fn keeps(self",
        )],
    ),
    Call(
        "",
        &[
            Bash("cargo clippy -p wunderblock-core --lib -- -D warnings"),
            Bash("cargo fmt -p wunderblock-core -- --check && echo formatted"),
        ],
    ),
    Expect("formatted"),
    Call(
        "Is there a view in the tests that I can ask for its entries?",
        &[Grep("view_of|new_history", "crates/wunderblock-core/tests/promises")],
    ),
    Call("", &[Lines("crates/wunderblock-core/tests/promises/history.rs", 1, 80)]),
    Call("", &[Grep("at: Millis|Millis\\(", "crates/wunderblock-core/tests")]),
    Call("", &[Lines("crates/wunderblock-core/tests/promises/lane.rs", 1, 76)]),
    Call(
        "A case one can read: split a history at every entry's time.",
        &[
            Edit(
                CASES,
                "use wunderblock_core::plan::TrimReason;\n",
                "use wunderblock_core::plan::TrimReason;\nuse wunderblock_core::since::Since;\n",
            ),
            Edit(
                CASES,
                "#[test]\nfn a_clip_ends_on_characters_and_says_exactly_what_is_gone() {",
                "#[test]\nfn entries_since_a_time_are_those_at_it_or_after_it() {\n    let history = ledger((0..6).map(|n| \
             user(&n.to_string())).collect());\n    let view = view_of(&history.events);\n    for entry in view.entries() {\n        \
             let since: Vec<Seq> = view.entries_since(Since(entry.at)).map(|entry| entry.seq).collect();\n        let all: \
             Vec<Seq> = view.entries().filter(|other| other.at >= entry.at).map(|other| other.seq).collect();\n        \
             assert_eq!(since, all);\n        assert!(since.contains(&entry.seq));\n    }\n}\n\n#[test]\nfn \
             a_clip_ends_on_characters_and_says_exactly_what_is_gone() {",
            ),
        ],
    ),
    Call(
        "",
        &[Bash(
            "cargo test -p wunderblock-core --test promises cases:: 2>&1 | grep -v '^warning' | tail -40",
        )],
    ),
    Expect("entries_since_a_time_are_those_at_it_or_after_it ... ok"),
    Call(
        "Does it fail when it should? With `>` for `>=` in `keeps`:",
        &[Bash(
            "sed -i 's/at >= self.0/at > self.0/' crates/wunderblock-core/src/since.rs && git diff --stat",
        )],
    ),
    Call(
        "",
        &[Fails(
            "cargo test -p wunderblock-core --test promises entries_since 2>&1 | tail -25; exit ${PIPESTATUS[0]}",
        )],
    ),
    Expect("FAILED"),
    Call(
        "It does. Back again.",
        &[Bash(
            "sed -i 's/at > self.0/at >= self.0/' crates/wunderblock-core/src/since.rs && cargo test -p wunderblock-core 2>&1 | grep -E '^test |result'",
        )],
    ),
    Expect("test result: ok"),
    Call("", &[Fails("cargo fmt -p wunderblock-core -- --check")]),
    Expect("Diff in"),
    Call(
        "A line too long for the house; rustfmt breaks it.",
        &[Bash("cargo fmt -p wunderblock-core && git diff --stat")],
    ),
    Call("", &[Bash("git status --short && git diff"), Read(SINCE)]),
    Call(
        "",
        &[Todo(&[
            (Done, "Since: type and parser"),
            (Done, "View::entries_since"),
            (Done, "Tests with odd input"),
            (Doing, "Clippy, docs, commit"),
        ])],
    ),
    Call(
        "lib.rs lists the modules in reading order; `since` belongs there.",
        &[
            Edit(LIB, "[`id`] and [`units`] name things", "[`id`], [`units`] and [`since`] name things"),
            Bash("RUSTDOCFLAGS='-D warnings' cargo doc -p wunderblock-core --no-deps 2>&1 | tail -4"),
        ],
    ),
    Call(
        "",
        &[Bash(
            "git add -A && git commit -q -m 'core: entries since a point in time, as people say it' && git log --stat --format='%h %s' -1 | cat",
        )],
    ),
    Expect("since.rs"),
    Say(
        "Done and committed.\n\n- `Since::parse` reads `90s`, `15m`, `2h`, `3d`, `1w`, counted back from the `now` it is \
         given; anything else is `None`. On the way: the first form panicked on an empty text and took `-2h` for the \
         future; both have tests now.\n- `keeps` includes the very beginning.\n- `View::entries_since` filters by it.\n\nOne \
         thing I noticed and did not touch: the doc of `saturating_sub` in `units.rs` says \"never below zero\". That holds \
         for `Tokens` and `Bytes`; `Millis` is an `i64` and only saturates at its smallest value.",
    ),
];
