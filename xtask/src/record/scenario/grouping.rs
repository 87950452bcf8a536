//! Another defect that was pulled, then a refactoring over several files.

use super::step::Status::{Doing, Done, Open};
use super::step::Step::{self, Call, Expect, Pulled, Say, Think, User};
use super::step::Tool::{Bash, Edit, Fails, Files, Grep, Lines, Read, Todo, Write};

const STUB: &str = "crates/wunderblock-core/src/stub.rs";
const UNITS: &str = "crates/wunderblock-core/src/units.rs";
const RENDER: &str = "crates/wunderblock-core/src/render.rs";
const GROUPED: &str = "crates/wunderblock-core/src/grouped.rs";

const MOVED: &str = r#"//! Numbers for people.

/// Digits in groups of three: `12,431`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn without_commas_it_is_the_number_and_no_group_is_longer_than_three() {
        for exponent in 0..64 {
            let number = 1_u64 << exponent;
            let text = grouped(number);
            assert_eq!(text.replace(',', ""), number.to_string());
            let groups: Vec<usize> = text.split(',').map(str::len).collect();
            assert!((1..=3).contains(&groups[0]) && groups[1..].iter().all(|len| *len == 3), "{text}");
        }
    }
}
"#;

const OLD: &str = r"/// Digits in groups of three: `12,431`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

";

pub(super) const STEPS: &[Step] = &[
    Pulled {
        path: STUB,
        old: "(digits.len() - index).is_multiple_of(3)",
        new: "(digits.len() - index - 1).is_multiple_of(3)",
        message: "stub: group from the last digit, which has index zero",
    },
    User(
        "Another pull, another surprise: the report now says things like `1,243,1 bytes` and `99,9 lines`. Please find it, fix \
         it, and see to it that it cannot come back.",
    ),
    Call(
        "The commas are one place off. First the state and what came in.",
        &[Bash("git status --short; git log --format='%h %s' -3 | cat")],
    ),
    Call("", &[Grep("fn grouped", "crates"), Bash("git show --format='commit %h%n    %s%n' HEAD | cat")]),
    Expect("index - 1"),
    Call("", &[Fails("cargo test -p wunderblock-core --lib stub")]),
    Expect("numbers_are_grouped ... FAILED"),
    Think(
        "The commit's message says the last digit has index zero. But index counts from the first digit: with 4 digits, the \
         comma comes before index 1, where 3 digits remain, len - index = 3. So no - 1. The existing tests catch it; the \
         commit was made without running them, or against them.",
        "`index` counts from the first digit, so `digits.len() - index` is the number of digits still to come, and the comma \
         belongs where that is a multiple of three. The `- 1` shifts it by one. {/(\\d+) failed;/} of the existing tests fail on it.",
        &[Edit(
            STUB,
            "(digits.len() - index - 1).is_multiple_of(3)",
            "(digits.len() - index).is_multiple_of(3)",
        )],
    ),
    Call("", &[Bash("cargo test -p wunderblock-core --lib stub")]),
    Expect("test result: ok"),
    Call(
        "Fixed. Who else prints numbers in groups, perhaps with code of their own?",
        &[Grep("grouped\\(", "crates")],
    ),
    Call(
        "{lines} lines in {files} files use this one.",
        &[Bash("rg -n --sort path \"push\\(','\\)|thousand|chunks\\(3\\)|rchunks\" crates | head -20")],
    ),
    Call(
        "",
        &[Bash(
            "git commit -qam 'stub: commas before groups of three again' && git log --format='%h %s' -2 | cat",
        )],
    ),
    Say(
        "Fixed and committed. The commit took `index` for a count from the last digit; it counts from the first. The test \
         `numbers_are_grouped` would have caught it: it fails with that commit and passes without it. It cannot come back \
         unnoticed as long as the tests are run before a push.\n\nIf you like, I can move `grouped` out of `stub.rs`: others use \
         it too, and it has nothing to do with stubs.",
    ),
    User(
        "Yes, move it to a file of its own, `grouped.rs`, with a better test. Keep `stub::grouped` working for the command line.",
    ),
    Call(
        "",
        &[Todo(&[
            (Doing, "grouped.rs with its tests"),
            (Open, "Take it out of stub.rs, re-export it there"),
            (Open, "Let core use it directly"),
            (Open, "All of core and wire build and pass"),
        ])],
    ),
    Call("", &[Files("grouped", "crates"), Lines(STUB, 160, 25)]),
    Call(
        "",
        &[
            Write(GROUPED, MOVED),
            Edit("crates/wunderblock-core/src/lib.rs", "pub mod id;\n", "pub mod grouped;\npub mod id;\n"),
        ],
    ),
    Call("", &[Edit(STUB, OLD, "")]),
    Call(
        "Without a re-export first, to see who needs it:",
        &[Fails(
            "cargo check -p wunderblock-core --all-targets 2>&1 | grep -v '^warning: unreachable' | grep -A 12 '^error'; exit ${PIPESTATUS[0]}",
        )],
    ),
    Expect("E0425"),
    Call("", &[Grep("grouped", RENDER)]),
    Expect("use crate::stub"),
    Call("", &[Bash("rg -n '^use crate::stub' crates/wunderblock-core/src")]),
    Call(
        "The re-export in stub.rs serves both stub.rs itself and everybody outside.",
        &[Edit(
            STUB,
            "use crate::message::{Body, Part};\n",
            "pub use crate::grouped::grouped;\nuse crate::message::{Body, Part};\n",
        )],
    ),
    Call("", &[Bash("cargo check -p wunderblock-core")]),
    Expect("Finished"),
    Call(
        "Core itself should name the new place.",
        &[Bash(
            "sed -i -E 's/^use crate::stub::\\{self, Stubbed, grouped\\};/use crate::grouped::grouped;\\nuse crate::stub::{self, \
         Stubbed};/' crates/wunderblock-core/src/render.rs && git diff crates/wunderblock-core/src/render.rs",
        )],
    ),
    Call("", &[Bash("cargo fmt -p wunderblock-core && cargo check -p wunderblock-core && git diff --stat")]),
    Expect("Finished"),
    Call(
        "",
        &[Fails(
            "cargo test -p wunderblock-core --lib 2>&1 | tail -30; cargo clippy -q -p wunderblock-core --lib --tests -- -D warnings -A unreachable-pub 2>&1 | head -40; exit ${PIPESTATUS[0]}",
        )],
    ),
    Expect("numbers_are_grouped"),
    Call(
        "The old test in stub.rs is a copy now; it goes.",
        &[Edit(
            STUB,
            "    #[test]\n    fn numbers_are_grouped() {\n        for (number, text) in [(0, \"0\"), (999, \"999\"), (1_000, \
         \"1,000\"), (1_234_567, \"1,234,567\")] {\n            assert_eq!(grouped(number), text);\n        }\n    }\n\n",
            "",
        )],
    ),
    Call("", &[Bash("cargo test -p wunderblock-core --lib")]),
    Expect("without_commas_it_is_the_number"),
    Call(
        "",
        &[Todo(&[
            (Done, "grouped.rs with its tests"),
            (Done, "Take it out of stub.rs, re-export it there"),
            (Done, "Let core use it directly"),
            (Doing, "All of core and wire build and pass"),
        ])],
    ),
    Call(
        "",
        &[
            Bash("cargo test -p wunderblock-core 2>&1 | grep -E '^test |result'"),
            Bash("cargo check -p wunderblock-wire 2>&1 | tail -3"),
        ],
    ),
    Expect("test result: ok"),
    Call("", &[Bash("git add -A && git diff --cached")]),
    Call(
        "",
        &[Bash(
            "git commit -qm 'core: numbers for people in a file of their own' && git log --stat --format='%h %s' -1 | cat",
        )],
    ),
    Say(
        "Moved and committed: `grouped.rs` has the function and two tests, one of them over all powers of two; `stub.rs` \
         re-exports it, so `stub::grouped` still works; `render.rs` names the new place.",
    ),
    User("And the doc of `saturating_sub` you mentioned? Correct it, please, only the words."),
    Call("", &[Lines(UNITS, 8, 25)]),
    Call("", &[Grep("saturating_sub", "crates/wunderblock-core/src")]),
    Call(
        "",
        &[Edit(
            UNITS,
            "/// The difference, never below zero: budgets run out, they do not wrap.",
            "/// The difference; where it cannot be represented, the smallest value: budgets run out, they do not wrap. For\n            \
         /// tokens and bytes that is zero, times may be negative.",
        )],
    ),
    Call(
        "",
        &[Bash(
            "cargo fmt -p wunderblock-core -- --check && cargo check -q -p wunderblock-core && git diff && git commit -qam 'units: what saturates where'",
        )],
    ),
    Say(
        "Done: it now says that the smallest value is zero for tokens and bytes, and that times may be negative. Committed.",
    ),
    User("报告里的金额和令牌数是怎么算出来的？给我看看 cost.rs 和 report.rs 的大意，不用改。"),
    Call("", &[Lines("crates/wunderblock-core/src/cost.rs", 1, 100)]),
    Call("", &[Lines("crates/wunderblock-core/src/cost.rs", 100, 92)]),
    Call("", &[Read("crates/wunderblock-core/src/report.rs")]),
    Call("", &[Lines("crates/wunderblock-core/src/budget.rs", 80, 98)]),
    Call("", &[Lines("crates/wunderblock/src/tokens/counter.rs", 1, 100)]),
    Call("", &[Lines("crates/wunderblock/src/tokens/estimate.rs", 1, 110)]),
    Say(
        "报告里没有金额，只有令牌数和字节数。`cost.rs` 为每个条目算出两种大小：原文的，和变成存根以后的；`plan` 只用这些数字做决定。\
         `report.rs` 按区段汇总实际放进请求的内容，并列出被省略的部分和原因。每个数字都带有可信程度（`Certainty`）：精确、测量、估计、\
         未验证。令牌数来自 `tokens/counter.rs`：文本只用 o200k 数一次，其他模型按系数换算，而且结果从不低于 o200k 的数目。",
    ),
];
