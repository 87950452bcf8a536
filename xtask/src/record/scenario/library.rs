//! Questions about the library: a long read through index, storage and counting, answered from their own words.

use super::step::Step::{self, Call, Expect, Say, Think, User};
use super::step::Tool::{Bash, Fails, Files, Glob, Grep, Lines, Read};

const INDEX: &str = "crates/wunderblock/src/index";
const STORE: &str = "crates/wunderblock/src/store";

pub(super) const STEPS: &[Step] = &[
    User(
        "I have to give a talk about the text index next week. Read crates/wunderblock/src/index in its reading order and tell \
         me what it does differently from a full-text engine, and why. Numbers please, with where they are from.",
    ),
    Call("", &[Read("crates/wunderblock/src/index/mod.rs"), Bash("wc -l crates/wunderblock/src/index/*.rs")]),
    Call("The module names its design note.", &[Read("docs/design/0003-text-index.md")]),
    Call("Words first.", &[Lines("crates/wunderblock/src/index/words.rs", 1, 100)]),
    Call("", &[Lines("crates/wunderblock/src/index/words.rs", 100, 100)]),
    Call("", &[Lines("crates/wunderblock/src/index/words.rs", 200, 80)]),
    Call("", &[Lines("crates/wunderblock/src/index/segment.rs", 1, 100)]),
    Call("", &[Lines("crates/wunderblock/src/index/segment.rs", 100, 90)]),
    Call("", &[Read("crates/wunderblock/src/index/varint.rs")]),
    Call("", &[Lines("crates/wunderblock/src/index/block.rs", 1, 110)]),
    Call("", &[Lines("crates/wunderblock/src/index/header.rs", 1, 90)]),
    Call("", &[Lines("crates/wunderblock/src/index/merge.rs", 1, 90)]),
    Call("When are segments joined?", &[Lines("crates/wunderblock/src/index/tiers.rs", 1, 100)]),
    Call("", &[Lines("crates/wunderblock/src/index/query.rs", 1, 110)]),
    Call("", &[Lines("crates/wunderblock/src/index/query.rs", 110, 90)]),
    Call("", &[Lines("crates/wunderblock/src/index/scope.rs", 1, 80)]),
    Call("", &[Read("crates/wunderblock/src/index/tail.rs")]),
    Call("", &[Lines("crates/wunderblock/src/index/search.rs", 1, 110)]),
    Call("And the formula:", &[Read("crates/wunderblock/src/index/score.rs")]),
    Call(
        "It claims to use no floats. That can be checked.",
        &[Bash("rg -n --sort path -g '!tests.rs' '\\bf(32|64)\\b' crates/wunderblock/src/index")],
    ),
    Expect("score.rs"),
    Call(
        "{lines} lines. They look like tests; without what follows `cfg(test)` in each file nothing should be left.",
        &[Fails(
            "for f in crates/wunderblock/src/index/*.rs; do [ $(basename $f) = tests.rs ] || sed '/cfg(test)/,$d' $f; done | \
             grep -nE '\\bf(32|64)\\b'",
        )],
    ),
    Expect("Exit code 1"),
    Call(
        "True: none outside of its tests. What do the tests hold?",
        &[Grep("^\\s*fn [a-z_]+\\(", "crates/wunderblock/src/index/tests.rs")],
    ),
    Call("", &[Bash("rg -c --sort path '#\\[test\\]|proptest!' crates/wunderblock/src/index")]),
    Say(
        "**What is different**\n\n1. *Statistics per scope.* Counts come from the documents one may see, so another tenant's \
         words change nobody's ranking. SQLite's `bm25()` counts over the whole table.\n2. *Integers.* BM25 in fixed point with \
         16 fractional bits (`score.rs`); there is no float in the index outside of its tests, I searched.\n3. *Erasure \
         rewrites.* A segment without a document is byte for byte the one that would have been built without it.\n4. *No \
         waiting.* What is not indexed yet is read as text and ranked by the same formula (`tail.rs`).\n5. *Chinese by pairs* of \
         neighbouring characters, identifiers whole and in pieces (`words.rs`).\n\n**Numbers**, from \
         `docs/design/0003-text-index.md`, on synthetic events: 7.5 % of the text in size against 32.8 % for FTS5 with \
         ranking; a word that 40 % of the documents have, ranked, 0.8 ms against 37 ms. A rare word is slower than there: 0.19 \
         against 0.07 ms. The note says that build times varied twofold with the load of the machine.",
    ),
    User("一个汉字的查询怎么办？索引里只有两个字的组合。"),
    Call("", &[Grep("last|single|pair", "crates/wunderblock/src/index/words.rs")]),
    Call("", &[Grep("prefix|begin with", INDEX)]),
    Say(
        "对没有空格的文字，索引存的是相邻两个字的组合，另外再存每一段的最后一个字。查询一个字，就是查询所有以这个字开头的词条：组合加上\
         段尾的单字，正好等于它出现的全部位置。文档开头说明了为什么不另外存每个单字：中文的索引会从文本的 58 % 变成 66 %。",
    ),
    User(
        "Next topic for the talk: the ledger on SQLite. How does it survive a crash, and what does it cost?",
    ),
    Call(
        "",
        &[
            Glob("crates/wunderblock/src/store/**/*.rs"),
            Lines("crates/wunderblock/src/store/sqlite/mod.rs", 1, 90),
        ],
    ),
    Call("", &[Lines("crates/wunderblock/src/store/sqlite/mod.rs", 90, 110)]),
    Call("", &[Lines("crates/wunderblock/src/store/sqlite/mod.rs", 200, 110)]),
    Call("", &[Lines("crates/wunderblock/src/store/sqlite/append.rs", 1, 110)]),
    Call("", &[Bash("rg -n --sort path -i 'pragma' crates/wunderblock/src/store")]),
    Call(
        "",
        &[Bash(
            "rg -n --sort path 'CREATE TABLE|CREATE INDEX|CREATE UNIQUE' -A 9 crates/wunderblock/src/store | head -120",
        )],
    ),
    Call("", &[Lines("crates/wunderblock/src/store/codec.rs", 1, 110)]),
    Call("", &[Lines("crates/wunderblock/src/store/codec.rs", 110, 90)]),
    Call(
        "The port, so that I know what each store must do:",
        &[Lines("crates/wunderblock/src/store/mod.rs", 1, 120)],
    ),
    Call("", &[Bash("rg -n 'fn [a-z_]+' crates/wunderblock/src/store/mod.rs | head -60")]),
    Call(
        "",
        &[Files("conformance", "crates"), Bash("wc -l crates/wunderblock-testkit/src/conformance/*.rs")],
    ),
    Call("", &[Lines("crates/wunderblock-testkit/src/conformance/mod.rs", 1, 100)]),
    Call("", &[Lines("crates/wunderblock-testkit/src/conformance/appending.rs", 1, 110)]),
    Call("", &[Lines("crates/wunderblock/src/store/sqlite/erase.rs", 1, 59)]),
    Say(
        "**Crash.** The file is in WAL mode with `synchronous = FULL`, so what was acknowledged survives a power cut. One thread \
         does all writes of a process; what waits goes into one transaction, and each caller's part stands in a savepoint of \
         its own, so that one failure is one caller's failure.\n\n**Cost.** The sync is paid once per group instead of once per \
         append. I found no measured figure in these files, so I give none.\n\n**Several processes** may use one file: \
         positions are given inside the transaction, under SQLite's lock. **Erasure** overwrites (`secure_delete`) and empties \
         the log afterwards. Every store has to pass one conformance suite, in `wunderblock-testkit`.",
    ),
    User("And how are tokens counted, for models with and without a public vocabulary?"),
    Think(
        "tokens/ has count, class, estimate, counter, escaped. Read the estimate file whole, it should name its factors and \
         where they are from.",
        "",
        &[
            Bash("wc -l crates/wunderblock/src/tokens/*.rs"),
            Lines("crates/wunderblock/src/tokens/count.rs", 1, 100),
        ],
    ),
    Call("", &[Lines("crates/wunderblock/src/tokens/estimate.rs", 1, 110)]),
    Call("", &[Lines("crates/wunderblock/src/tokens/class.rs", 1, 120)]),
    Call("", &[Lines("crates/wunderblock/src/tokens/class.rs", 120, 100)]),
    Call("", &[Read("crates/wunderblock/src/tokens/escaped.rs")]),
    Call("", &[Grep("Unverified|Estimated", "crates/wunderblock/src/tokens")]),
    Say(
        "A text is counted once, in o200k, exactly. For models without a public vocabulary that count is multiplied by a factor \
         of the text's class (prose, code, JSON, hexadecimal and so on) and the model's family; `estimate.rs` has the table \
         and says where its factors are from. What recorded usage has confirmed is labelled `Estimated`, the rest \
         `Unverified`, and no result is ever below the o200k count.",
    ),
    User(
        "How large is all of this? Lines of code, of tests, of comments, and the biggest files. A rough count is fine.",
    ),
    Call("", &[Bash("find crates -name '*.rs' | sort | xargs wc -l | sort -rn | head -40")]),
    Call(
        "",
        &[Bash(
            "echo comments $(rg -c --no-filename '^\\s*//' crates -g '*.rs' | awk '{n += $1} END {print n}') tests $(rg -c --no-filename '#\\[test\\]' crates -g '*.rs' | awk '{n += $1} END {print n}')",
        )],
    ),
    Say(
        "Roughly: {/comments (\\d+)/} lines are comments, and there are {/tests (\\d+)/} functions marked as tests. The list above has the biggest files.",
    ),
    User(
        "List every function of the library with where it is, public or not; I want to see how they are named.",
    ),
    Call("", &[Grep("^ *(pub(\\([a-z]+\\))? )?(const )?fn ", "crates/wunderblock/src")]),
    Expect("fn "),
    Say(
        "That is all of them, cut in the middle by the tool: it shows 30,000 characters. Most names say what comes back or what \
         is done in one or two words.",
    ),
    User("Which errors can the library give, and does every one say what to do next?"),
    Call("", &[Read("crates/wunderblock/src/error.rs")]),
    Call(
        "",
        &[
            Grep("fn hint", "crates"),
            Bash(
                "rg -o --no-filename --no-line-number 'Error::[A-Z][A-Za-z]+' crates/wunderblock/src | sort | uniq -c | sort -rn | head -40; true",
            ),
        ],
    ),
    Call("", &[Grep("Refusal|Refused", STORE), Grep("Refusal", "crates/wunderblock/src/build")]),
    Call("", &[Lines("crates/wunderblock-core/src/plan.rs", 75, 60)]),
    Say(
        "`error.rs` has the list; each has a kind (usage, refused, failed). Not every one says what to do next: `hint()` names \
         a step for the common ones (no such session, an ambiguous prefix, over budget, a locked or damaged ledger) and is \
         `None` for the rest, for example for ids and formats, which have only their message. A request that cannot fit is a \
         refusal with its parts and their sizes (`plan::Refusal`), not a failure.",
    ),
];
