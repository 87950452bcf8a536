//! A commit that came in breaks clipped texts; the assistant finds out why.

use super::step::Status::{Doing, Done, Open};
use super::step::Step::{self, Call, Expect, Pulled, Say, Think, User};
use super::step::Tool::{Bash, Edit, Fails, Grep, Lines, Read, Todo};

const STUB: &str = "crates/wunderblock-core/src/stub.rs";

pub(super) const STEPS: &[Step] = &[
    Pulled {
        path: STUB,
        old: "    while !text.is_char_boundary(start) {\n        start += 1;\n    }\n    text.get(start..)",
        new: "    while !text.is_char_boundary(start) {\n        start -= 1;\n    }\n    text.get(start..)",
        message: "stub: look for the boundary in the same direction in head and tail",
    },
    Pulled {
        path: "crates/wunderblock-core/src/section.rs",
        old: "//! The places of a request, ordered from what never changes to what changes every turn.",
        new: "//! The places of a request, in order: from what never changes to what changes every turn.",
        message: "section: a plainer first sentence",
    },
    User(
        "我刚拉取了别人的两个提交。现在中文会话里被截断的文本有时比允许的长度还长。请找出原因，先不要改代码。",
    ),
    Think(
        "Two commits were pulled. The report: with Chinese text a clipped text is longer than allowed. clip is in \
         stub.rs. First see what came in, then reproduce.",
        "先看看拉取了什么，再重现问题。",
        &[Bash("git log --format='%h %s' -4 | cat"), Bash("git status --short --branch")],
    ),
    Call("", &[Bash("git log -p --format='commit %h%n    %s%n' -2 | cat")]),
    Expect("start -= 1"),
    Call(
        "第一眼就可疑，但先用测试证明。",
        &[Fails(
            "cargo test -p wunderblock-core 2>&1 | grep -E '^(test |failures|error|assertion|thread|  left| right)|result'; exit ${PIPESTATUS[0]}",
        )],
    ),
    Expect("FAILED"),
    Call(
        "失败的测试是 `{/test (\\S+) \\.\\.\\. FAILED/}`。看看它检查什么。",
        &[Grep("fn a_clip_ends_on_characters", "crates/wunderblock-core/tests")],
    ),
    Call("", &[Bash("sed -n '/fn a_clip_ends_on/,/^}/p' crates/wunderblock-core/tests/promises/cases.rs")]),
    Call("", &[Lines(STUB, 82, 24), Lines(STUB, 144, 24)]),
    Call(
        "",
        &[Fails(
            "RUST_BACKTRACE=1 cargo test -p wunderblock-core --test promises a_clip_ends 2>&1 | tail -60; exit ${PIPESTATUS[0]}",
        )],
    ),
    Expect("panicked"),
    Call(
        "断言失败的是最后一条：头加尾不得超过 `keep`。用一个最小的例子量一下超出多少。",
        &[Bash(
            "mkdir -p crates/wunderblock-core/examples && cat > crates/wunderblock-core/examples/clip.rs <<'EOF'\nuse \
             wunderblock_core::stub::{head, tail};\n\nfn main() {\n    let text = \"窗口很小，账本很长。\".repeat(3);\n    for max \
             in 0..16 {\n        let (head, tail) = (head(&text, max), tail(&text, max));\n        println!(\"{max:>2}  head \
             {:>2}  tail {:>2}  {}\", head.len(), tail.len(), if tail.len() > max { \"too long\" } else { \"\" });\n    \
             }\n}\nEOF\ncargo run -q -p wunderblock-core --example clip",
        )],
    ),
    Expect("too long"),
    Call(
        "`head` 从不超过上限，`tail` 会超过，一到两个字节。看看还有谁用它。",
        &[Grep("\\btail\\(", "crates")],
    ),
    Call("", &[Bash("git log --format='%h %s' -S'start += 1' -- crates/wunderblock-core/src/stub.rs | cat")]),
    Call(
        "用 `git bisect` 确认不是别的提交。",
        &[Bash(
            "git stash -q -u && git bisect start \
         HEAD HEAD~2 && git bisect run sh -c '! grep -q \"start -= 1\" crates/wunderblock-core/src/stub.rs'; git bisect \
         reset; git stash pop -q && git status --short",
        )],
    ),
    Expect("is the first bad commit"),
    Call("", &[Bash("rm -r crates/wunderblock-core/examples && git status --short")]),
    Say(
        "原因找到了。提交 “stub: look for the boundary in the same direction in head and tail” 把 `stub::tail` 里的 `start += \
         1` 改成了 `start -= 1`。两个函数的方向本来就必须相反：`head` 的末尾往前退，`tail` 的开头往后移，这样结果只会变短。\
         现在 `tail` 会往前多取一个字符的开头，所以三字节的汉字会多出一到两个字节。英文每个字符一个字节，因此看不出来。\n\n另\
         一个提交只改了注释，与此无关。代码没有改动。",
    ),
    User("好。请修复，并在 stub.rs 里加一个直接针对 head 和 tail 的测试，注释里说明为什么方向不同。"),
    Call(
        "",
        &[Todo(&[
            (Doing, "A test of head and tail that fails"),
            (Open, "Fix tail"),
            (Open, "Say in a comment why"),
            (Open, "Commit"),
        ])],
    ),
    Call(
        "先写测试，看它失败。",
        &[Edit(
            STUB,
            "    #[test]\n    fn small_bodies_stay() {",
            "    #[test]\n    fn head_and_tail_never_exceed_what_they_are_given() {\n        let text = \
         \"a窗é口🦀\".repeat(3);\n        for max in 0..=text.len() + 1 {\n            let (head, tail) = (head(&text, max), \
         tail(&text, max));\n            assert!(head.len() <= max && text.starts_with(head), \"head of {max}: \
         {head}\");\n            assert!(tail.len() <= max && text.ends_with(tail), \"tail of {max}: {tail}\");\n            \
         assert!(max < text.len() || head == text && tail == text);\n        }\n    }\n\n    #[test]\n    fn \
         small_bodies_stay() {",
        )],
    ),
    Call("", &[Fails("cargo test -p wunderblock-core --lib stub")]),
    Expect("head_and_tail_never_exceed_what_they_are_given ... FAILED"),
    Call(
        "失败在 `{/tail of (\\d+)/}` 字节处。现在修复。",
        &[Edit(
            STUB,
            "    while !text.is_char_boundary(start) {\n        start -= 1;\n    }",
            "    // Forward, where `head` goes back: either way the cut makes the text shorter, never longer.\n    while \
         !text.is_char_boundary(start) {\n        start += 1;\n    }",
        )],
    ),
    Call("", &[Bash("cargo test -p wunderblock-core --lib stub")]),
    Expect("test result: ok"),
    Call("", &[Bash("cargo test -p wunderblock-core 2>&1 | grep -E '^test |result'")]),
    Expect("a_clip_ends_on_characters_and_says_exactly_what_is_gone ... ok"),
    Call("", &[Bash("cargo clippy -q -p wunderblock-core --all-targets 2>&1 | grep -c '^warning' || true")]),
    Call(
        "",
        &[Bash(
            "cargo clippy -q -p wunderblock-core --lib -- -D warnings && cargo fmt -p wunderblock-core -- --check && git diff",
        )],
    ),
    Call(
        "",
        &[
            Bash(
                "git commit -qam 'stub: a tail is never longer than it may be' && git log --format='%h %s' -3 | cat",
            ),
            Todo(&[
                (Done, "A test of head and tail that fails"),
                (Done, "Fix tail"),
                (Done, "Say in a comment why"),
                (Done, "Commit"),
            ]),
        ],
    ),
    Say(
        "已修复并提交。新测试在修复前失败、修复后通过；原来的 `a_clip_ends_on_characters_and_says_exactly_what_is_gone` 也重新通过。",
    ),
    User(
        "English again, please. Are there other places where bytes and characters are mixed up like this? Look through \
         core and wire: everything that slices text or moves an index by hand.",
    ),
    Call(
        "Index arithmetic on text leaves traces; I'll search for them.",
        &[Grep("is_char_boundary|char_indices|split_at\\(", "crates")],
    ),
    Call(
        "{lines} lines in {files} files. And slices by `get`:",
        &[Grep("\\.get\\([^)]*\\.\\.", "crates/wunderblock-core/src")],
    ),
    Call("", &[Grep("\\.get\\([^)]*\\.\\.", "crates/wunderblock-wire/src")]),
    Call(
        "{lines} lines. Direct slicing would be refused by the lints outside of tests; let me see that it is.",
        &[
            Bash("sed -n '/workspace.lints.clippy/,/^$/p' Cargo.toml"),
            Bash(
                "rg -n --sort path '\\[[a-z_]+\\.\\.[a-z_]*\\]' crates/wunderblock-core/src crates/wunderblock-wire/src | head -20",
            ),
        ],
    ),
    Call("The gist of a call cuts JSON text by hand:", &[Read("crates/wunderblock-wire/src/gist.rs")]),
    Call("", &[Lines("crates/wunderblock-wire/src/transcript/object.rs", 1, 120)]),
    Call("", &[Bash("cargo test -q -p wunderblock-wire --test text 2>&1 | tail -8")]),
    Expect("test result: ok"),
    Call("", &[Lines("crates/wunderblock-wire/src/strings.rs", 1, 90)]),
    Call("", &[Lines("crates/wunderblock-core/src/render.rs", 440, 60)]),
    Say(
        "I went through the hits in core and wire. In core, text is cut only by `stub::head` and `stub::tail`, and by `chars().take(…)` in `render::first_words`, and, since today, by `char_indices` in `since.rs`; all of them end on a character. In wire, `gist::head` walks over JSON escapes and keeps the \
         last position that is a boundary; slices go through `get`, which gives `None` inside of a character and never \
         panics. One oddity, not a defect: `first_words` compares `out.len()`, bytes, with the length of the trimmed text, \
         also bytes, to decide on the `…`; a control character that was filtered out therefore also gives an `…`.",
    ),
];
