//! Dates that do not exist, questions about the readers, and a page of documentation.

use super::step::Status::{Doing, Done, Open};
use super::step::Step::{self, Back, Call, Expect, Mark, Say, Think, User};
use super::step::Tool::{Bash, Edit, Fails, Files, Glob, Grep, Lines, Read, Todo, Write};

const TIME: &str = "crates/wunderblock-wire/src/transcript/time.rs";
const CLAUDE: &str = "crates/wunderblock-wire/src/transcript/claude_code.rs";
const SESSIONS: &str = "crates/wunderblock-wire/src/transcript/claude_code/sessions.rs";
const READER: &str = "crates/wunderblock-wire/src/transcript/reader.rs";
const NOTE: &str = "docs/since.md";

const PAGE: &str = "# Entries since a point in time

`Since::parse` reads a number and a unit: `s`, `m`, `h`, `d` or `w`. It counts back from the time it is given; core has no
clock, so whoever asks passes the time. Anything else, a sign or a space among it, is `None`.

| text | since |
|------|-------|
| `90s` | 90 seconds ago |
| `15m` | a quarter of an hour ago |
| `2h` | two hours ago |
| `3d` | three times 24 hours ago, whatever the calendar says |
| `1w` | seven times 24 hours ago |

What happened exactly then is kept. `View::entries_since` filters a view's entries; it changes nothing that is shown.
";

pub(super) const STEPS: &[Step] = &[
    User(
        "Next: times in transcripts. I have the suspicion that `rfc3339` in the wire crate takes dates that do not exist, like \
         February 30th. Check, and if so, refuse them. What does not parse should be no time, not another day.",
    ),
    Call("", &[Read(TIME)]),
    Call(
        "The day is checked against 31 in every month, and an hour of 24 passes with any minute. Tests first.",
        &[Edit(
            TIME,
            "            (\"2024-13-05T00:00:00Z\", None),\n",
            "            (\"2024-13-05T00:00:00Z\", None),\n            (\"2024-02-29T00:00:00Z\", \
             Some(1_709_164_800_000)),\n            (\"2023-02-29T00:00:00Z\", None),\n            \
             (\"1900-02-29T00:00:00Z\", None),\n            (\"2024-02-30T00:00:00Z\", None),\n            \
             (\"2024-04-31T00:00:00Z\", None),\n            (\"2024-04-30T24:00:00Z\", Some(1_714_521_600_000)),\n            \
             (\"2024-04-30T24:00:01Z\", None),\n",
        )],
    ),
    Call("", &[Fails("cargo test -p wunderblock-wire --lib time")]),
    Expect("FAILED"),
    Call(
        "It stops at `{/(2\\d{3}-\\d\\d-\\d\\dT[\\d:]+Z)\\n/}`, as suspected.",
        &[Edit(
            TIME,
            "    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 24 || minute > 59 || second > 60 {",
            "    if !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) || minute > 59 || second > 60 {",
        )],
    ),
    Call("", &[Fails("cargo check -p wunderblock-wire")]),
    Expect("E0425"),
    Call(
        "`days_in` is yet to be written. The hour went missing in that edit, too: 24 only at midnight.",
        &[
            Edit(
                TIME,
                "/// Milliseconds of a `.123456` at the beginning, and what follows it.",
                "/// How many days a month of the Gregorian calendar has.\nfn days_in(year: i64, month: i64) -> i64 {\n    let leap = \
             year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);\n    match month {\n        2 if leap => 29,\n        2 => \
             28,\n        4 | 6 | 9 | 11 => 30,\n        _ => 31,\n    }\n}\n\n/// Milliseconds of a `.123456` at the beginning, \
             and what follows it.",
            ),
            Edit(
                TIME,
                "minute > 59 || second > 60 {\n        return None;\n    }\n",
                "minute > 59 || second > 60 {\n        return None;\n    }\n    // 24:00:00 is the end of a day; no other time has \
             that hour.\n    if hour > 24 || hour == 24 && (minute, second) != (0, 0) {\n        return None;\n    }\n",
            ),
        ],
    ),
    Call("", &[Bash("cargo test -p wunderblock-wire --lib time")]),
    Expect("test result: ok"),
    Call(
        "Does a check against another calendar agree? `date` knows them all.",
        &[Bash(
            "for d in 2024-02-29 2023-02-28 2000-02-29 1900-03-01 2100-12-31; do printf '%s %s\\n' $d $(date -u -d \"$d\" +%s); done; \
         for d in 2023-02-29 1900-02-29 2024-04-31; do date -u -d \"$d\" +%s 2>&1; done; true",
        )],
    ),
    Expect("invalid date"),
    Call(
        "",
        &[Bash(
            "cargo clippy -p wunderblock-wire --lib --color always -- -W clippy::precedence -W clippy::pedantic -A clippy::doc_markdown 2>&1 | head -150",
        )],
    ),
    Call(
        "That was with pedantic lints, which the house does not use. With the house's own:",
        &[Bash("cargo clippy -q -p wunderblock-wire --lib -- -D warnings && echo clean")],
    ),
    Expect("clean"),
    Call("", &[Bash("cargo fmt -p wunderblock-wire && git diff")]),
    Call("", &[Bash("cargo test -p wunderblock-wire --test transcript 2>&1 | grep -v '^warning'")]),
    Expect("test result: ok"),
    Call(
        "",
        &[Bash(
            "git commit -qam 'transcript: a day that does not exist is no time' && git log --stat --format='%h %s' -1 | cat",
        )],
    ),
    Say(
        "Confirmed and fixed. `2024-02-30` was read as March 1st, `2023-02-29` likewise, and `24:30` was taken. Now the day is \
         checked against its month, leap years included, and the hour 24 only at midnight sharp. `date` agrees on the cases I \
         tried. The readers' tests pass, and it is committed.",
    ),
    Mark("tree"),
    User("How does the reader of Claude Code sessions know a rewind?"),
    Call("", &[Grep("rewind|Root|RolledBack", "crates/wunderblock-wire/src")]),
    Call("", &[Lines(SESSIONS, 100, 60)]),
    Say("By the tree: a record whose parent already has another successor begins a branch."),
    Back("tree"),
    User(
        "How does the reader of Claude Code sessions tell a rewind from parallel tool calls? Both make a record with several \
         successors. Walk me through the code, with the tests that show it.",
    ),
    Call("", &[Lines(CLAUDE, 1, 75), Lines(SESSIONS, 1, 75)]),
    Call("", &[Lines(SESSIONS, 75, 90)]),
    Call("", &[Lines(SESSIONS, 165, 90)]),
    Call("", &[Lines(CLAUDE, 95, 60)]),
    Call(
        "",
        &[Bash(
            "sed -n '/^fn parallel_calls_make_no_branches/,/^}/p;/^fn rewinds_branch/,/^}/p' crates/wunderblock-wire/tests/transcript/claude_code.rs",
        )],
    ),
    Call("", &[Lines("crates/wunderblock-wire/tests/transcript/claude_code.rs", 1, 66)]),
    Call("", &[Lines(READER, 60, 70)]),
    Call("", &[Bash("cargo test -p wunderblock-wire --test transcript claude_code 2>&1 | grep '^test '")]),
    Expect("parallel_calls_make_no_branches ... ok"),
    Say(
        "`Session` remembers the records of the reply that is going on (`reply`): its pieces, its tools' results, and what \
         hangs on them. `Sessions::after` asks two things of a record's parent: is it another than the record before, and does \
         it belong to that reply? If both, the record is a piece of the same reply, or a result of one of its parallel calls, \
         and comes next in order (`Place::Next`). If the parent is older than that, the record is placed behind it \
         (`Place::After`), and as that place has a successor already, a branch begins. A prompt ends the reply, so nothing \
         after it is taken for one of its pieces. The tests are `parallel_calls_make_no_branches` and \
         `rewinds_branch_and_a_new_beginning_is_a_root`; they pass.",
    ),
    User("Which formats are there, and how many record types does each know? A table, please."),
    Call(
        "",
        &[
            Glob("crates/wunderblock-wire/src/transcript/*.rs"),
            Files("RECORD_TYPES", "crates/wunderblock-wire/src"),
        ],
    ),
    Call("", &[Bash("rg -n --sort path 'RECORD_TYPES' crates/wunderblock-wire/src")]),
    Call(
        "",
        &[Bash(
            "for f in claude_code codex pi openai_chat aider generic; do printf '%-12s ' $f; sed -n '/RECORD_TYPES: /,/^];/p' \
         crates/wunderblock-wire/src/transcript/$f.rs | grep -cE '^ +\\(\"|\\[\\(\"'; done",
        )],
    ),
    Expect("claude_code"),
    Say(
        "| format | record types |\n|---|---|\n| Claude Code | {/claude_code +(\\d+)/} |\n| Codex | {/codex +(\\d+)/} |\n| pi, \
         OpenClaw | {/pi +(\\d+)/} |\n| OpenAI chat | {/openai_chat +(\\d+)/} |\n| aider | {/aider +(\\d+)/} |\n| other JSON | \
         {/generic +(\\d+)/} |\n\nCounted as the lines of each `RECORD_TYPES` that begin an entry.",
    ),
    User(
        "What do the dependencies look like as a whole? I need versions and licences of what core and wire pull in, as JSON.",
    ),
    Call("", &[Bash("cargo tree -p wunderblock-wire -e normal | head -60")]),
    Call(
        "",
        &[Bash(
            "cargo metadata --format-version 1 --filter-platform x86_64-unknown-linux-gnu | jq '[.packages[] | select(.name | IN(\"blake3\", \"serde\", \"serde_core\", \
         \"serde_derive\", \"serde_json\", \"thiserror\", \"thiserror-impl\", \"itoa\", \"memchr\", \"indexmap\", \"hashbrown\", \
         \"arrayvec\", \"constant_time_eq\", \"cfg-if\", \"syn\", \"quote\", \"proc-macro2\", \"unicode-ident\")) | {name, version, \
         license, rust_version, features}]'",
        )],
    ),
    Call(
        "",
        &[Bash(
            "cargo metadata --format-version 1 --filter-platform x86_64-unknown-linux-gnu | jq -r '.packages[] | [.license // \"none\"] | @tsv' | sort | uniq -c | sort -rn",
        )],
    ),
    Expect("Apache-2.0"),
    Say(
        "The list with versions, licences and features is above. Over everything the workspace pulls in on Linux, the most frequent \
         licence is `{/\\d+ (\\S.*)/}`, with {/(\\d+) \\S/} packages.",
    ),
    User(
        "The compiler's warnings for core's tests, as JSON too: level, code, message, file and line. One object a line.",
    ),
    Call(
        "",
        &[Bash(
            "cargo check -p wunderblock-core --tests --message-format=json 2>/dev/null | jq -c 'select(.reason == \
         \"compiler-message\") | .message | {level, code: .code.code, message, at: (.spans[0] | {file_name, line_start, \
         column_start, text: .text[0].text})}'",
        )],
    ),
    Expect("unreachable_pub"),
    Say(
        "{lines} messages. They are about `{/\"code\":\"(\\w+)\"/}` and the like, in the integration tests, which share helpers over files.",
    ),
    User(
        "Write docs/since.md: half a page about the filter, for users. Then check that the examples in it are true.",
    ),
    Call(
        "",
        &[Todo(&[(Doing, "docs/since.md"), (Open, "Check its examples against the code"), (Open, "Commit")])],
    ),
    Call("", &[Bash("ls docs docs/*; wc -l docs/design/*.md"), Read("crates/wunderblock-core/src/since.rs")]),
    Call("", &[Write(NOTE, PAGE)]),
    Think(
        "Check the table: parse each text in its first column. The test table in since.rs has 90s, 15m, 2h, 3d, 1w. A script \
         can take the texts from the page and look for them in the tests.",
        "Every text of the table should be in the test's table:",
        &[Bash(
            "grep -oE '^\\| `[^`]+`' docs/since.md | tr -d '|` ' | while read -r text; do grep -qF \"(\\\"$text\\\", Some\" \
             crates/wunderblock-core/src/since.rs && echo \"$text tested\" || echo \"$text NOT tested\"; done",
        )],
    ),
    Expect("1w tested"),
    Call(
        "All {lines} are. A sign and a space are refused in the tests as well:",
        &[Grep("-2h|2 h", "crates/wunderblock-core/src/since.rs")],
    ),
    Call(
        "",
        &[Bash("git add -A && git commit -qm 'docs: the filter by time' && git log --oneline -8 | cat")],
    ),
    Say("Written, checked against the tests of `since.rs`, and committed."),
    User("最后检查一遍：从今天早上到现在一共改了什么？格式、lint、测试都再跑一次。"),
    Call(
        "",
        &[Todo(&[(Doing, "All changes since the morning"), (Open, "Formatting and lints"), (Open, "Tests")])],
    ),
    Call("", &[Bash("git log --format='%h %s' -11 | cat; git diff --stat HEAD~11 | cat")]),
    Call("", &[Bash("git diff HEAD~11 -- crates/wunderblock-core/src crates/wunderblock-wire/src | cat")]),
    Call(
        "",
        &[Bash(
            "cargo fmt -p wunderblock-core -p wunderblock-wire -- --check && cargo clippy -q -p wunderblock-core -p \
                     wunderblock-wire --lib -- -D warnings && echo clean",
        )],
    ),
    Expect("clean"),
    Call(
        "",
        &[
            Bash("cargo test -p wunderblock-core 2>&1 | grep -E '^test |result'"),
            Bash("cargo test -p wunderblock-wire --lib 2>&1 | grep -E '^test |result'"),
        ],
    ),
    Expect("test result: ok"),
    Call("", &[Bash("cargo nextest run -p wunderblock-core --lib --color always 2>&1 | tail -40")]),
    Expect("\u{1b}["),
    Call(
        "",
        &[
            Bash("git status --short --branch"),
            Todo(&[(Done, "All changes since the morning"), (Done, "Formatting and lints"), (Done, "Tests")]),
        ],
    ),
    Say(
        "今天的提交都在 `main` 上，工作区是干净的：\n\n- `Since` 和 `View::entries_since`，连同测试和 `docs/since.md`；\n- `stub::tail` \
         不再超过允许的长度；\n- 同一个 id 的多次调用各自保留自己的结果：新增一个测试；\n- 数字分组已修复，并移到 `grouped.rs`；\n- \
         `saturating_sub` 的说明更准确；\n- 不存在的日期不再被当作时间。\n\n其中有三个提交是拉取来的，两个引入了上面的错误。格式、库的 lint、core 的全部测试和 wire 的单元测试都通过。",
    ),
];
