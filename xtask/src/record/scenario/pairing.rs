//! A review of the pairing code, with a sub-agent, and a prompt that is taken back.

use super::step::Step::{self, Back, Call, Compact, Expect, Mark, Say, Think, User};
use super::step::Tool::{Bash, Fails, Files, Grep, Lines, Task};

const PAIR: &str = "crates/wunderblock-core/src/pair.rs";
const TRIM: &str = "crates/wunderblock-core/src/trim.rs";
const PLAN: &str = "crates/wunderblock-core/src/plan.rs";
const RENDER: &str = "crates/wunderblock-core/src/render.rs";
const HISTORY: &str = "crates/wunderblock-core/tests/promises/history.rs";

/// What the sub-agent does.
const SURVEY: &[Step] = &[
    Call("", &[Files("pair::", "crates")]),
    Call("", &[Grep("pair::|arrange\\(", "crates")]),
    Call("", &[Grep("OrphanResult|DuplicateResult", "crates")]),
    Call(
        "",
        &[Bash(
            "rg -n -C 6 'OrphanResult' crates/wunderblock-core/src/render.rs crates/wunderblock-core/src/report.rs || true",
        )],
    ),
    Call("", &[Grep("is_waiting|HELD_WAITING", "crates")]),
    Call("", &[Lines(TRIM, 95, 45)]),
    Call(
        "",
        &[Bash(
            "rg -n --sort path 'without a recorded result|synthetic' crates/wunderblock-core/src | head -20",
        )],
    ),
    Call("", &[Lines("crates/wunderblock-core/tests/promises/wellformed.rs", 1, 59)]),
    Call("", &[Grep("\\.early|\\.loose|\\.aside", "crates")]),
    Say(
        "`pair::arrange` is the only way units are made; outside of core nobody builds an `Arrangement`. Results that fit no \
         call are listed with `OrphanResult` or `DuplicateResult` and never answered by something made up. Open calls that \
         are left out are remembered up to `HELD_WAITING`, the newest first. The last search, for who reads `early`, \
         `loose` and `aside`, gave {lines} lines in {files} files.",
    ),
];

pub(super) const STEPS: &[Step] = &[
    Mark("review"),
    User("Review crates/wunderblock-core/src/pair.rs. Is there anything quadratic in it?"),
    Call("", &[Lines(PAIR, 1, 120)]),
    Call("", &[Lines(PAIR, 120, 90)]),
    Call("", &[Grep("binary_search|contains\\(|sort_", PAIR)]),
    Call("", &[Lines(PAIR, 210, 89)]),
    Say(
        "One place could be: `name` appends `-` while the made-up id is taken. It would take an input that uses exactly those \
         ids again and again. Everything else is hash maps, a binary search, and sorts at the end.",
    ),
    Back("review"),
    User(
        "Review crates/wunderblock-core/src/pair.rs properly: first have someone survey who uses it and what happens to \
         results without a call, then read it yourself. I want to know: is anything quadratic, can a result go to the \
         wrong call, and do the tests cover ids that come again?",
    ),
    Think(
        "A survey of users is independent of my reading; give it to a sub-agent, so that its search output does not fill \
         this context. Meanwhile nothing; the answer comes first.",
        "I'll have the uses surveyed first.",
        &[Task(
            "Survey the uses of pair.rs",
            "In this repository, find out who uses crates/wunderblock-core/src/pair.rs and what becomes of tool results \
             without a call, of duplicates, and of calls that are never answered. Do not change anything. Answer in one \
             paragraph, with the names of functions and constants.",
            SURVEY,
        )],
    ),
    Call("Now the file itself.", &[Lines(PAIR, 1, 70)]),
    Call("", &[Lines(PAIR, 70, 75)]),
    Call("", &[Lines(PAIR, 145, 75)]),
    Call("", &[Lines(PAIR, 220, 79)]),
    Call(
        "How ids are made in the random histories:",
        &[Grep("CallId|call_id|ids", HISTORY), Lines(HISTORY, 80, 100)],
    ),
    Call("", &[Lines(HISTORY, 180, 110)]),
    Call("", &[Lines(HISTORY, 290, 110)]),
    Call("", &[Lines("crates/wunderblock-core/tests/promises/cases.rs", 60, 110)]),
    Call("", &[Lines("crates/wunderblock-core/tests/promises/cases.rs", 170, 75)]),
    Call(
        "How did the file come to be as it is?",
        &[Bash("git log -p --format='commit %h%n    %s%n' -3 -- crates/wunderblock-core/src/trim.rs | cat")],
    ),
    Call("And where a trim meets pairing:", &[Lines(TRIM, 1, 60)]),
    Call("", &[Lines(PLAN, 90, 60), Grep("spent", "crates/wunderblock-core/src")]),
    Think(
        "Quadratic: name() loop. A session of n calls with ids x, x-SEQ-0, x-SEQ-0-, ... needs an attacker who knows seqs. \
         Each loop adds one character, n loops of n chars. The worst is n^2 in total only if n ids are crafted for each. \
         Measure rather than guess? A quick program with 20,000 calls of the same id shows the ordinary case.",
        "The ordinary bad case is one id used for everything. I'll measure it rather than argue.",
        &[Bash(
            "mkdir -p crates/wunderblock-core/examples && cat > crates/wunderblock-core/examples/same_id.rs <<'EOF'\nuse \
             std::time::Instant;\nuse wunderblock_core::event::Event;\n\nfn main() {\n    let _: Option<Event> = None;\n    \
             let _ = Instant::now();\n}\nEOF\nsed -n '/pub struct Event/,/^}/p' crates/wunderblock-core/src/event.rs; sed -n \
             '/pub struct MessageAppended/,/^}/p' crates/wunderblock-core/src/event.rs; rg -n 'fn new_history|pub fn say|fn \
             push' -A 14 crates/wunderblock-core/tests/promises/history.rs",
        )],
    ),
    Call(
        "The test's own history can be used; a test that prints its time is less work than an example.",
        &[Bash(
            "rm -r crates/wunderblock-core/examples && cat >> crates/wunderblock-core/tests/promises/cases.rs <<'EOF'\n\n\
             #[test]\nfn one_id_for_every_call_is_not_quadratic() {\n    let mut times = Vec::new();\n    for count in [2_000, \
             4_000, 8_000] {\n        let messages = (0..count).flat_map(|n| [call(&[\"x\"]), answer(\"x\", \
             &n.to_string())]);\n        let history = ledger(messages.collect());\n        let view = \
             view_of(&history.events);\n        let start = std::time::Instant::now();\n        let arranged = \
             wunderblock_core::pair::arrange(&view);\n        assert_eq!(arranged.exchanges.len(), count);\n        \
             assert!(arranged.exchanges.iter().all(|unit| unit.members.len() == 2 && !unit.is_waiting()));\n        \
             times.push(start.elapsed());\n    }\n    assert!(times[2] < times[0] * 10);\n    println!(\"{times:?}\");\n}\nEOF\ncargo test -p wunderblock-core --test \
             promises one_id -- --nocapture 2>&1 | grep -v '^warning' | tail -14",
        )],
    ),
    Expect("test result: ok"),
    Call(
        "2,000, 4,000 and 8,000 calls of one id, each paired with its own result: {/(\\[[^\\]]*s\\])/}. Four times the calls \
         take less than ten times as long; quadratic would be sixteen. A test that measures time does not belong into the suite; I'll keep its assertion and drop the clock.",
        &[Bash(
            "git checkout -q crates/wunderblock-core/tests/promises/cases.rs && cat >> \
             crates/wunderblock-core/tests/promises/cases.rs <<'EOF'\n\n#[test]\nfn \
             calls_that_share_one_id_each_keep_their_own_result() {\n    let messages = (0..200).flat_map(|n| \
             [call(&[\"x\"]), answer(\"x\", &n.to_string())]);\n    let history = ledger(messages.collect());\n    let view = \
             view_of(&history.events);\n    let arranged = wunderblock_core::pair::arrange(&view);\n    \
             assert_eq!(arranged.exchanges.len(), 200);\n    for unit in &arranged.exchanges {\n        assert_eq!(unit.members, \
             [unit.key, unit.key.next()]);\n    }\n    assert!(arranged.loose.is_empty() && arranged.early.is_empty());\n}\n\
             EOF\ncargo test -p wunderblock-core --test promises share_one_id 2>&1 | tail -5; git diff --stat",
        )],
    ),
    Expect("test result: ok"),
    Call(
        "Does it fail if a result goes to the oldest waiting call and never leaves the queue?",
        &[Bash(
            "sed -i 's/self.waiting.get_mut(id).and_then(Vec::pop) }/self.waiting.get(id).and_then(|w| w.first().copied()) }/' \
         crates/wunderblock-core/src/pair.rs && git diff crates/wunderblock-core/src/pair.rs",
        )],
    ),
    Expect("first().copied()"),
    Call(
        "",
        &[Fails(
            "cargo test -p wunderblock-core --test promises share_one_id 2>&1 | tail -20; exit ${PIPESTATUS[0]}",
        )],
    ),
    Expect("FAILED"),
    Call(
        "Good. Back, format, commit.",
        &[Bash(
            "git checkout -q crates/wunderblock-core/src/pair.rs && cargo fmt -p wunderblock-core && git commit -qam 'core: a case \
         for calls that share one id' && git log --stat --format='%h %s' -1 | cat",
        )],
    ),
    Say(
        "**Quadratic?** No. Calls and results go through hash maps by id, and what remains is sorted once. Measured with one \
         id for up to 8,000 calls. The only loop that can grow is in `name`, and only for ids made to collide.\n\n**Wrong \
         call?** A result goes to the nearest call before it that still waits (`waiting`, a stack per id), else it is kept \
         for the first call after it (`early`). A call answered early is answered anew by a result after it (`foretold`), \
         and the earlier one is listed as a duplicate.\n\n**Ids that come again?** I found no case one can \
         read that shows it plainly, so I added one: 200 calls that all use the id `x`, each with its own result. It fails if \
         the queue is not emptied.",
    ),
    User("为什么 `early` 和 `loose` 要分开？都是没有用上的结果。"),
    Call("", &[Grep("early|loose", PAIR)]),
    Call(
        "",
        &[Grep("early|loose", "crates/wunderblock-core/src/trim.rs"), Grep("\\.early|\\.loose", RENDER)],
    ),
    Call("", &[Lines(TRIM, 100, 32)]),
    Say(
        "因为它们的命运不同。`loose` 里的结果已经确定不会再用：它是重复的，或者在它之后又来了一个结果。`trim::settle` 会把它们记进 \
         `spent`，以后任何调用都不能再取走。`early` 里的结果现在没有调用，但以后的调用也许会要它，所以不能记进 `spent`。",
    ),
    User("And in the render step, what is shown for a call that has no result yet?"),
    Call("", &[Grep("synthetic|no result was", "crates/wunderblock-core/src")]),
    Call("", &[Lines(RENDER, 100, 90)]),
    Call("", &[Lines(RENDER, 190, 90)]),
    Call("", &[Lines(RENDER, 280, 80)]),
    Say(
        "The plan lists such calls (`synthetic`), and the renderer answers each of them in its place with a mark that says that no result \
         was recorded. It is part of the recorded plan, so the same request can be rendered again, and a result that comes \
         later is a recorded step (`TrimReason::LateResult`).",
    ),
    Compact(
        "Summary of the conversation so far.\n\n1. Overview: wunderblock-core decides without any I/O (view, pair, plan, \
         render), wunderblock-wire reads and writes formats, wunderblock stores and searches, wunderblock-cli is the command \
         line.\n2. Added crates/wunderblock-core/src/since.rs (`Since::parse`, `Since::keeps`) and `View::entries_since` with \
         tests; committed. Noticed, not changed: the doc of `saturating_sub` in units.rs says \"never below zero\", which is \
         not so for `Millis`, an i64.\n3. 用户报告中文文本被截断后超过允许长度。原因：一个拉取的提交把 stub::tail 的 `start += 1` 改成了 \
         `start -= 1`。已修复，加了测试 head_and_tail_never_exceed_what_they_are_given，已提交。\n4. Searched core and wire for \
         other mix-ups of bytes and characters: none found that is a defect.\n5. Reviewed pair.rs: nothing quadratic; added \
         the test calls_that_share_one_id_each_keep_their_own_result; committed. `early` are results a later call may still \
         take, `loose` are spent for good.\n\nThe user writes English and Chinese; answer in the language of the question. \
         Tests of core: cargo test -p wunderblock-core. Nothing is uncommitted. Next: whatever the user asks.",
    ),
];
