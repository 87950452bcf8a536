//! Tests of unusable sources: a message names the file and line, and the build continues if it safely can.

use crate::desk::Desk;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;

fn desk() -> Desk {
    let desk = Desk::new();
    desk.feed(&["append", "talk"], "{\"id\":\"m1\",\"role\":\"user\",\"content\":\"Go on.\"}\n").exits(0);
    desk.write("repo/.git/HEAD", "");
    desk
}

/// Builds a request in the project and returns the findings in the form `what source:line detail`.
#[track_caller]
fn findings(desk: &Desk, cwd: &str, more: &[&str]) -> Vec<String> {
    let report = desk.run(&[&["context", "talk", "--cwd", cwd, "--json"], more].concat()).exits(0).json();
    let list = report["findings"].as_array().unwrap().iter();
    list.map(|finding| {
        let line = finding["line"].as_u64().map(|line| format!(":{line}")).unwrap_or_default();
        let text = |name: &str| finding[name].as_str().unwrap().to_owned();
        format!("{} {}{line} {}", text("what"), text("source"), text("detail"))
    })
    .collect()
}

#[track_caller]
fn one(found: &[String], words: &[&str]) {
    assert!(found.iter().any(|line| words.iter().all(|word| line.contains(word))), "{words:?}: {found:#?}");
}

#[test]
fn files_that_cannot_be_instructions_are_named_and_passed_over() {
    let desk = desk();
    desk.write("repo/AGENTS.md", "a".repeat(50_000_000));
    desk.write("repo/a/AGENTS.md", b"\x7fELF\0\0binary");
    desk.write("repo/a/CLAUDE.md", b"latin \xe9");
    desk.write("repo/a/b/CLAUDE.local.md", "Good.\n");
    std::fs::create_dir(desk.path("repo/a/b/CLAUDE.md")).unwrap();
    symlink("GEMINI.md", desk.path("repo/GEMINI.md")).unwrap();
    symlink("nowhere", desk.path("repo/CLAUDE.md")).unwrap();
    symlink("/etc/hostname", desk.path("repo/a/GEMINI.md")).unwrap();
    symlink("..", desk.path("repo/a/b/loop")).unwrap();
    desk.shell("mkfifo repo/a/b/AGENTS.md").exits(0);
    for scan in [&[][..], &["--scan"]] {
        let found = findings(&desk, "repo/a/b", scan);
        one(&found, &["unusable AGENTS.md has 50000000 bytes", "split it"]);
        one(&found, &["unusable a/AGENTS.md is binary"]);
        one(&found, &["unusable a/CLAUDE.md is not UTF-8", "save it as UTF-8"]);
        one(&found, &["unusable a/b/CLAUDE.md is a directory"]);
        one(&found, &["unusable a/b/AGENTS.md is a pipe"]);
        one(&found, &["unusable GEMINI.md is a link that cannot be followed"]);
        one(&found, &["unusable CLAUDE.md is a link to something that does not exist"]);
        one(&found, &["unusable a/GEMINI.md leads outside"]);
        assert_eq!(found.len(), 8, "{found:#?}");
    }
    assert!(desk.run(&["replay", "talk", "--out", "-"]).exits(0).out.contains("Good."));
}

#[test]
fn imports_that_cannot_be_followed_are_named_with_their_line() {
    let desk = desk();
    desk.write("secret.md", "SECRET");
    desk.write("repo/AGENTS.md", "Good.\n\n@../secret.md\n@/etc/hostname\n@~/secret.md\n@gone.md\n@one.md\n");
    desk.write("repo/one.md", "@two.md\n");
    desk.write("repo/two.md", "\n@one.md\n@deep1.md");
    for depth in 1..8 {
        desk.write(&format!("repo/deep{depth}.md"), format!("at {depth} @deep{}.md\n", depth + 1));
    }
    symlink("../secret.md", desk.path("repo/inside.md")).unwrap();
    desk.write("repo/CLAUDE.md", "@inside.md");
    let found = findings(&desk, "repo", &[]);
    for (words, line) in [
        ("@../secret.md leads outside", 3),
        ("@/etc/hostname leads outside", 4),
        ("@~/secret.md leads outside", 5),
        ("@gone.md does not exist", 6),
    ] {
        one(&found, &[&format!("AGENTS.md:{line} {words}")]);
    }
    one(&found, &["two.md:2 @one.md", "circle"]);
    one(&found, &["@deep3.md is more than 4 imports away"]);
    one(&found, &["CLAUDE.md:1 @inside.md leads outside"]);
    assert!(!desk.run(&["replay", "talk", "--out", "-"]).exits(0).out.contains("SECRET"));
}

#[test]
fn front_matter_and_patterns_that_cannot_be_read_are_named_with_their_line() {
    let desk = desk();
    desk.write("repo/.claude/rules/open.md", "---\npaths: x\nnever closed");
    desk.write("repo/.claude/rules/yaml.md", "---\nname: x\npaths: [a, {b\n---\nText.\n");
    desk.write("repo/.claude/rules/kind.md", "---\npaths: 3.5\n---\nText.\n");
    desk.write("repo/.claude/rules/glob.md", "---\npaths: \"src/[a\"\n---\nText.\n");
    desk.write("repo/.claude/skills/mute/SKILL.md", "---\nname: mute\n---\nText.\n");
    desk.write("repo/.claude/skills/open/SKILL.md", "---\nname: open\n");
    desk.write("repo/.wunderblockignore", "fine\n[bad\n");
    desk.write("repo/AGENTS.md", "Good.\n<!-- block  -->\n<!-- block x sideways -->\n");
    let found = findings(&desk, "repo", &[]);
    one(&found, &["unusable .claude/rules/open.md:1", "never closed"]);
    one(&found, &["unusable .claude/rules/yaml.md:", "front matter"]);
    one(&found, &["unusable .claude/rules/kind.md:2", "front matter"]);
    one(&found, &["unusable .claude/rules/glob.md", "src/[a"]);
    one(&found, &["skills/mute/SKILL.md:1", "description"]);
    one(&found, &["skills/open/SKILL.md:1", "never closed"]);
    one(&found, &["AGENTS.md:3", "sideways"]);
    assert!(desk.run(&["replay", "talk", "--out", "-"]).exits(0).out.contains("Good."));
}

#[test]
fn a_file_that_may_not_be_read_is_named() {
    let desk = desk();
    desk.write("repo/AGENTS.md", "Hidden.\n");
    desk.shell("chmod 000 repo/AGENTS.md").exits(0);
    if std::fs::read(desk.path("repo/AGENTS.md")).is_ok() {
        eprintln!("SKIPPED: permissions do not bind this user");
        return;
    }
    one(&findings(&desk, "repo", &[]), &["unusable AGENTS.md may not be read"]);
    let done = desk.run(&["context", "talk", "--safety", "repo/AGENTS.md"]).exits(2);
    assert!(done.err.contains("repo/AGENTS.md: cannot be read"), "{}", done.err);
}

fn tool(number: usize, bytes: usize) -> Value {
    json!({ "name": format!("tool{number:03}"), "description": "Does something.", "input_schema": {
        "type": "object", "properties": { "text": { "type": "string", "description": "words ".repeat(bytes / 6) } },
    } })
}

#[test]
fn five_hundred_large_tools_are_named_and_as_many_declared_as_fit() {
    let desk = desk();
    let tools: Vec<Value> = (0..500).map(|number| tool(number, 5_000)).collect();
    desk.write("tools.json", Value::from(tools).to_string());
    let report = desk.run(&["context", "talk", "--tools", "tools.json", "--json"]).exits(0).json();
    let tools = report["tools"].as_array().unwrap();
    let declared = tools.iter().filter(|tool| tool["deferred"].is_null()).count();
    assert_eq!(tools.len(), 500);
    assert!((10..60).contains(&declared), "{declared}");
    assert!(report["total_tokens"].as_u64() <= report["limit"].as_u64());
    let request = desk.run(&["replay", "talk", "--out", "-"]).exits(0).out;
    assert!(request.contains("tool499"), "the others are there by name");
    let done = desk.run(&["context", "talk", "--tools", "tools.json", "--window", "2000"]).exits(3);
    assert!(done.err.contains("the names of") && done.err.contains("hint: "), "{}", done.err);
}

#[test]
fn tools_with_an_invalid_schema_are_reported_and_not_declared() {
    let desk = desk();
    let object = json!({ "type": "object" });
    let table = [
        ("anthropic", json!({ "name": "it", "input_schema": "text" }), "not a JSON object"),
        ("anthropic", json!({ "name": "it", "input_schema": [] }), "not a JSON object"),
        ("anthropic", json!({ "name": "it", "input_schema": { "type": "string" } }), "not of type `object`"),
        (
            "anthropic",
            json!({ "name": "it", "input_schema": { "type": "object", "properties": [] } }),
            "`properties`",
        ),
        (
            "anthropic",
            json!({ "name": "it", "input_schema": { "type": "object", "required": "x" } }),
            "`required`",
        ),
        ("neutral", json!({ "name": "it", "schema": "no JSON" }), "not JSON"),
        ("neutral", json!({ "name": "it", "schema": 3 }), "not a JSON object"),
        (
            "openai-chat",
            json!({ "type": "function", "function": { "name": "it", "parameters": 3 } }),
            "not a JSON object",
        ),
    ];
    for (to, odd, why) in table {
        let good = match to {
            "anthropic" => json!({ "name": "good", "input_schema": object }),
            "neutral" => json!({ "name": "good", "schema": object }),
            _ => json!({ "type": "function", "function": { "name": "good", "parameters": object } }),
        };
        desk.write("tools.json", json!([odd, good]).to_string());
        let args = ["explain", "talk", "--to", to, "--tools", "tools.json", "--json"];
        let report = desk.run(&args).exits(0).json();
        let names: Vec<&Value> =
            report["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["good"], "{odd}");
        let finding = &report["findings"][0];
        assert_eq!([&finding["source"], &finding["what"]], ["tool it", "unusable"], "{odd}");
        assert!(finding["detail"].as_str().unwrap().contains(why), "{odd}: {finding}");
    }
}

#[test]
fn what_cannot_be_left_out_and_does_not_fit_is_listed() {
    let desk = desk();
    desk.write("safety.md", "Never. ".repeat(5_000));
    let args = ["context", "talk", "--safety", "safety.md", "--window", "3000"];
    let done = desk.run(&[&args[..], &["--json"]].concat()).exits(3);
    let parts = done.json()["parts"].as_array().unwrap().clone();
    assert!(parts.iter().any(|part| part["section"] == "safety" && part["what"] == "safety.md"), "{parts:?}");
    let last = desk.run(&["show", "talk", "-n", "1", "--json"]).exits(0).lines()[0].clone();
    assert_eq!([&last["kind"], &last["error_code"]], ["turn.completed", "context_overflow"]);
    desk.run(&["context", "talk", "--safety", "safety.md"]).exits(0);
}

/// Runs the command and checks its error, which must contain the given words and no raw system error.
#[track_caller]
fn refused(desk: &Desk, args: &[&str], words: &[&str]) {
    let done = desk.run(&[&["context", "talk"], args].concat()).exits(2);
    for word in words {
        assert!(done.err.contains(word), "{args:?}: {word}: {}", done.err);
    }
    assert!(!done.err.contains('\u{1b}') && !done.err.contains("os error"), "{args:?}: {}", done.err);
}

#[test]
fn files_that_flags_name_must_be_what_they_are_to_be() {
    let desk = desk();
    desk.write("prose.md", "Just words.\n");
    desk.write("binary", [0xff, 0xfe, 0]);
    desk.write("huge.md", "a".repeat(50_000_000));
    let table: [(&str, &str, &str, &[&str]); 16] = [
        ("--state", "a.json", "{\"plan\":\n[{\"what\":3}]}", &["a.json: ", "line 2"]),
        ("--state", "b.json", "{\"plam\":[]}", &["b.json: ", "`plam`", "`plan`", "line 1"]),
        ("--state", "c.json", "plan = []", &["c.json: ", "line 1", "TOML if its name ends in .toml"]),
        ("--state", "d.toml", "todo = []\nplan = 3\n", &["d.toml: ", "line 2"]),
        (
            "--state",
            "e.json",
            "{\"plan\":[{\"what\":\"x\",\"status\":\"half\"}]}",
            &["`half`", "`in_progress`"],
        ),
        ("--state", "prose.md", "Just words.\n", &["prose.md: ", "line 1"]),
        ("--resources", "f.json", "3", &["f.json: ", "a list of resources"]),
        ("--resources", "g.json", "[{\"name\":\"x\"}]", &["g.json: ", "`uri`", "line 1"]),
        ("--resources", "h.json", "[{\"uri\":\"x\",\n\"pined\":true}]", &["`pined`", "`pinned`", "line 2"]),
        ("--resources", "i.toml", "[[resources]]\nuri = 3\n", &["i.toml: ", "line 2"]),
        ("--tools", "j.json", "{}", &["j.json: not a JSON array of tools"]),
        ("--tools", "k.json", "[1]", &["k.json: not a JSON array of tools", "line 1"]),
        ("--tools", "l.json", "[{\"name\":", &["l.json: not a JSON array of tools", "line 1"]),
        ("--tools", "m.json", "[{\"input_schema\":{}}]", &["m.json: ", "needs a name"]),
        ("--tools", "prose.md", "Just words.\n", &["prose.md: not a JSON array of tools"]),
        ("--skills", "prose.md", "Just words.\n", &["prose.md: is not a directory of skills", "SKILL.md"]),
    ];
    for (flag, name, text, words) in table {
        desk.write(name, text);
        refused(&desk, &[flag, name], words);
    }
    for flag in ["--safety", "--system", "--memory", "--tools", "--resources", "--state"] {
        refused(&desk, &[flag, "nosuch"], &["nosuch: does not exist; check the path"]);
        refused(&desk, &[flag, "repo"], &["repo: is a directory; give a file"]);
        refused(&desk, &[flag, "binary"], &["binary: is not UTF-8 text"]);
        refused(&desk, &[flag, "huge.md"], &["huge.md: is too large: the maximum is", "split it"]);
        refused(
            &desk,
            &[flag, "no\u{1b}[31m\nhint: such"],
            &["no\u{241b}[31m\u{240a}hint: such: does not exist"],
        );
    }
    refused(&desk, &["--safety", "/dev/zero"], &["/dev/zero: is too large"]);
    refused(&desk, &["--instructions", "prose.md"], &["--cwd DIR"]);
    refused(&desk, &["--scan"], &["--cwd DIR"]);
    refused(&desk, &["--skills", "nosuch"], &["nosuch: is not a directory of skills"]);
}

#[test]
fn where_work_happens_must_be_a_directory_whatever_its_name() {
    let desk = desk();
    refused(&desk, &["--cwd", "nosuch"], &["nosuch: does not exist; give a directory that exists"]);
    refused(&desk, &["--cwd", "session.jsonl"], &["session.jsonl: is not a directory"]);
    refused(&desk, &["--cwd", "no\n\u{1b}[31m"], &["no\u{240a}\u{241b}[31m: does not exist"]);
    for name in ["sp ace", "new\nline", "日本語 🦀", "-dash", "quo\"te'", "tab\tand\u{1b}[31m"] {
        desk.write(&format!("{name}/.git/HEAD"), "");
        desk.write(&format!("{name}/AGENTS.md"), "Good.\n");
        desk.write(&format!("{name}/in/CLAUDE.md"), "@../../up.md\nInner.\n");
        let cwd = format!("{name}/in");
        let done = desk.run(&["explain", "talk", &format!("--cwd={cwd}"), "-v"]).exits(0);
        assert!(
            done.out.contains("AGENTS.md") && done.out.contains("in/CLAUDE.md:1"),
            "{name}: {}",
            done.out
        );
        assert!(!done.out.contains('\u{1b}'), "{name}");
    }
    let mut inside = desk.command(&["explain", "talk", "--cwd", ".", "--json"]);
    let output = inside.current_dir(desk.path("sp ace/in")).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["blocks"][0]["name"], "AGENTS.md", "the root above is found from a relative place");
}

#[test]
fn settings_that_cannot_be_meant_are_named_with_their_line() {
    let desk = desk();
    let table: [(&str, &[&str]); 18] = [
        ("[budget]\ntools = { min = -1 }\n", &["line 2", "-1"]),
        ("[budget]\n\ntools = { share = 101 }\n", &["[budget], line 3", "`tools`", "101"]),
        ("[budget]\ntools = { share = 300 }\n", &["line 2", "300"]),
        ("[budget]\nmemory = { min = 9, max = 8 }\n", &["[budget], line 2", "exceeds its maximum"]),
        ("[budget.skills]\nmin = 1\nshare = 200\n", &["[budget], line 1", "`skills`"]),
        ("[budget]\ntools = { min = 99999999999999999999 }\n", &["line 2"]),
        ("[budget]\nprompt = { min = 1 }\n", &["line 2", "`prompt`", "`transcript`"]),
        ("[context]\nwarn = [0, 200]\n", &["[context], line 2", "`0` in `warn`", "must be from 1 to 100"]),
        ("[context]\nwarn = [70, 200]\n", &["[context], line 2", "`200` in `warn`"]),
        ("[context]\nwarn = [300]\n", &["line 2", "300"]),
        ("[context]\nwindow = -5\n", &["line 2", "-5"]),
        ("[context]\nmodel = \" \"\n", &["[context], line 2", "`model` is empty"]),
        ("[sources]\nsafety = [\"nosuch.md\"]\n", &["nosuch.md: does not exist"]),
        ("[sources]\nsafety = \"a.md\"\n", &["line 2"]),
        ("[sources]\nproviders = [{ name = \"x\", command = [] }]\n", &["[sources], line 2", "`x`"]),
        ("[instructions]\ndepth = -1\n", &["line 2"]),
        ("[instructions]\nignore = { \".x\" = \"no\" }\n", &["line 2"]),
        ("[instructions]\nnames = \"AGENTS.md\"\n", &["line 2"]),
    ];
    for (text, words) in table {
        desk.write("config.toml", text);
        refused(&desk, &["--config", "config.toml"], words);
    }
}

#[test]
fn absurd_budgets_that_could_be_meant_do_no_harm() {
    let desk = desk();
    desk.write("repo/AGENTS.md", "Good.\n");
    for text in [
        "[budget]\ninstructions = { min = 0, max = 0, share = 0 }\n",
        "[budget]\ntranscript = { min = 9000000000000000000, share = 100 }\n",
        "[budget]\ntools = { min = 9000000000000000000 }\n",
        "[budget]\ntranscript = { max = 0 }\nrecall = { share = 0 }\n",
        "[context]\nwarn = []\n[instructions]\nnames = []\nmarkers = []\nrule_dirs = []\ndepth = 0\n",
        "[instructions]\nnames = [[], [\"\"], [\"..\"], [\"/etc/hostname\"], [\"../secret.md\"]]\nmarkers = [\"\"]\nrule_dirs = [\"\", \"..\"]\n",
    ] {
        desk.write("config.toml", text);
        let done = desk.run(&["explain", "talk", "--config", "config.toml", "--cwd", "repo", "--scan"]);
        assert!([0, 3].contains(&done.code) && !done.err.contains("panicked"), "{text}: {}", done.err);
    }
}
