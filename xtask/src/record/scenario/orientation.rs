//! The assistant gets to know the workspace.

use super::step::Status::{Doing, Done, Open};
use super::step::Step::{self, Call, Expect, Say, Think, User};
use super::step::Tool::{Bash, Fails, Files, Glob, Grep, Lines, Missing, Read, Todo};

pub(super) const STEPS: &[Step] = &[
    User(
        "I have just cloned this and know nothing about it. Give me an overview: which crates there are, how big they \
         are, who depends on whom, and where it is decided what goes into a request. Later I want to add a `--since` \
         filter, so keep an eye open for where times are handled.",
    ),
    Think(
        "Start with the layout and the manifests, then sizes, then the core crate in its reading order.",
        "I'll start with the layout and the manifests.",
        &[Bash("ls && git log --oneline | head -12"), Read("Cargo.toml")],
    ),
    Call("", &[Bash("find crates -name Cargo.toml | sort | xargs wc -l"), Read("clippy.toml")]),
    Call("", &[Missing("README.rst")]),
    Call(
        "No file of that name. The crate-level docs will do; first the dependencies as cargo sees them.",
        &[Bash(
            "cargo metadata --no-deps --format-version 1 | jq '[.packages[] | select(.name | startswith(\"wunderblock\")) \
             | {name, version, edition, dependencies: [.dependencies[] | {name, kind, req, default: \
             .uses_default_features, features}]}]'",
        )],
    ),
    Call(
        "So core needs hashing, serde and error messages, and the other crates build on it. Sizes next.",
        &[Bash("for c in crates/*; do echo \"$c $(find $c -name '*.rs' | sort | xargs cat | wc -l)\"; done")],
    ),
    Call(
        "",
        &[Bash("find crates/wunderblock-core crates/wunderblock-wire -name '*.rs' | sort | xargs wc -lc")],
    ),
    Call(
        "",
        &[Todo(&[
            (Doing, "Read core in its own reading order"),
            (Open, "Find where times enter and leave"),
            (Open, "Find out what the wire crate does"),
            (Open, "Answer with an overview"),
        ])],
    ),
    Call("lib.rs of core names a reading order.", &[Read("crates/wunderblock-core/src/lib.rs")]),
    Expect("In reading order"),
    Call(
        "I'll follow it.",
        &[Read("crates/wunderblock-core/src/units.rs"), Lines("crates/wunderblock-core/src/id.rs", 1, 70)],
    ),
    Call("", &[Lines("crates/wunderblock-core/src/message.rs", 1, 110)]),
    Call("", &[Lines("crates/wunderblock-core/src/message.rs", 110, 90)]),
    Call("", &[Lines("crates/wunderblock-core/src/event.rs", 1, 90)]),
    Call("", &[Grep("^pub (struct|enum) ", "crates/wunderblock-core/src")]),
    Call(
        "{lines} public types in core. The view is what events fold into:",
        &[Lines("crates/wunderblock-core/src/view.rs", 1, 110)],
    ),
    Call("", &[Lines("crates/wunderblock-core/src/view.rs", 170, 80)]),
    Call("And the decision itself:", &[Lines("crates/wunderblock-core/src/plan.rs", 1, 90)]),
    Call("", &[Lines("crates/wunderblock-core/src/plan.rs", 120, 100)]),
    Call("", &[Lines("crates/wunderblock-core/src/plan.rs", 220, 90)]),
    Call("", &[Read("crates/wunderblock-core/src/ports.rs")]),
    Call("", &[Lines("crates/wunderblock-core/src/budget.rs", 1, 80)]),
    Call("", &[Read("crates/wunderblock-core/src/section.rs")]),
    Call(
        "",
        &[Todo(&[
            (Done, "Read core in its own reading order"),
            (Doing, "Find where times enter and leave"),
            (Open, "Find out what the wire crate does"),
            (Open, "Answer with an overview"),
        ])],
    ),
    Call(
        "Times: they are `Millis` everywhere, so one search finds them.",
        &[Grep("Millis", "crates/wunderblock-core/src")],
    ),
    Call("", &[Grep("Millis", "crates/wunderblock-wire/src")]),
    Call("", &[Grep("\\.at\\b", "crates/wunderblock-core/src")]),
    Call(
        "No clock in core, then? Its promise is that nothing in it reads one; I'll check.",
        &[Fails("rg -n 'SystemTime|Instant::now|std::time' crates/wunderblock-core/src")],
    ),
    Expect("Exit code 1"),
    Call(
        "Nothing: \"now\" will have to come in as a value. What does the wire crate do with times?",
        &[Lines("crates/wunderblock-wire/src/transcript/time.rs", 1, 75)],
    ),
    Call("", &[Files("time::", "crates/wunderblock-wire/src")]),
    Call(
        "",
        &[Todo(&[
            (Done, "Read core in its own reading order"),
            (Done, "Find where times enter and leave"),
            (Doing, "Find out what the wire crate does"),
            (Open, "Answer with an overview"),
        ])],
    ),
    Call("", &[Read("crates/wunderblock-wire/src/lib.rs"), Glob("crates/wunderblock-wire/src/**/*.rs")]),
    Call("", &[Lines("crates/wunderblock-wire/src/transcript/mod.rs", 1, 120)]),
    Call("", &[Lines("crates/wunderblock-wire/src/dialect.rs", 1, 70)]),
    Call("", &[Lines("crates/wunderblock-wire/src/anthropic/encode.rs", 1, 100)]),
    Call("", &[Bash("rg -n --sort path 'pub fn ' crates/wunderblock-wire/src | head -60")]),
    Call(
        "Who calls into core's plan from outside of it?",
        &[Grep("plan::|render::|pair::arrange", "crates/wunderblock/src")],
    ),
    Call(
        "{lines} lines in {files} files of the library. Now whether it builds here, since I will change it.",
        &[Bash("cargo check -p wunderblock-core -p wunderblock-wire")],
    ),
    Expect("Finished"),
    Call(
        "It does. One run of the unit tests of core, to know the state before I touch anything.",
        &[Bash("cargo test -p wunderblock-core --lib")],
    ),
    Expect("test result: ok"),
    Call(
        "And which promises the integration tests hold:",
        &[Grep("^fn |fn .*\\(.*\\) \\{$", "crates/wunderblock-core/tests/promises/cases.rs")],
    ),
    Call("", &[Bash("git log --format='%h %s' -- crates/wunderblock-core | cat")]),
    Call(
        "",
        &[Todo(&[
            (Done, "Read core in its own reading order"),
            (Done, "Find where times enter and leave"),
            (Done, "Find out what the wire crate does"),
            (Doing, "Answer with an overview"),
        ])],
    ),
    Say(
        "**Overview**\n\n- `wunderblock-core` decides and does no I/O: events fold into a view (`view.rs`), `pair.rs` groups \
         what belongs together, `plan.rs` moves two frontiers so that the request fits, `render.rs` and `report.rs` write \
         it down. It has no clock; `Entry.at` is a `Millis` that comes with the event.\n- `wunderblock-wire` turns bytes \
         into messages and back: dialects (Anthropic, OpenAI chat) and agents' transcript formats. Times of transcripts \
         are read in `transcript/time.rs`.\n- `wunderblock` stores, counts and searches; `wunderblock-cli` is the command \
         line; `wunderblock-testkit` is for tests.\n\nFor `--since`, the place is core: a small type that turns `2h` and a \
         given \"now\" into a `Millis`, and a filter on the view's entries. The unit tests of core pass as they are.",
    ),
    User(
        "Good. What does a stub look like, and when does an entry become one? Short answer, with line numbers.",
    ),
    Call("", &[Lines("crates/wunderblock-core/src/stub.rs", 1, 85)]),
    Call(
        "",
        &[
            Lines("crates/wunderblock-core/src/stub.rs", 85, 60),
            Grep("Treatment::Stub", "crates/wunderblock-core/src"),
        ],
    ),
    Call("", &[Lines("crates/wunderblock-core/src/trim.rs", 75, 45)]),
    Say(
        "A stub is one line, for example `⟨output of `cargo test`: 12,431 bytes, 310 lines · wb:…⟩`: what it was, how large, \
         and the handle to read it back (`stub::line`). `trim::treatment` decides: a unit whose last entry lies before \
         `stub_before`, but not before `drop_before`, is shown with stubs, unless it is pinned, kept, or the operator's. \
         In such a unit tool bodies from `TOOL_BODY_MIN` (512 bytes) and texts from `TEXT_BODY_MIN` (4,096 bytes) on are \
         replaced; thinking goes.",
    ),
    User("And how does the search in the library cut its snippets? I saw it uses the same helpers."),
    Call("", &[Grep("stub::(head|tail)", "crates")]),
    Expect("search.rs"),
    Call("", &[Bash("rg -n -C 8 'stub::tail' crates/wunderblock/src/search.rs")]),
    Call("", &[Grep("SNIPPET", "crates/wunderblock/src/search.rs")]),
    Say(
        "Yes: `search.rs` takes `stub::tail` of what is before the hit and `stub::head` of what follows it, at most \
         `SNIPPET` and twice `SNIPPET` bytes. Both functions move the cut to a character boundary, so a snippet never ends \
         inside of a Chinese character.",
    ),
];
