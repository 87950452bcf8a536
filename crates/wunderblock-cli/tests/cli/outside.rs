//! Tests of content that enters a request from outside (flags, files, settings), up to the record of the request.

use crate::desk::Desk;
use crate::fixture::SESSION;
use crate::output::{shown, snapshot};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A session that has read `src/lib.rs`, given as a path relative to a directory two levels below the root.
const TALK: &str = r#"{"id":"m1","at":1772357000000,"role":"user","content":"Please repair the parser."}
{"id":"m2","at":1772357001000,"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"../../src/lib.rs"}}]}
{"id":"m3","at":1772357002000,"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"pub mod parser;"}]}
{"id":"m4","at":1772357003000,"role":"user","content":"Go on."}
"#;

/// Flags that most tests use.
const FLAGS: [&str; 14] = [
    "--safety",
    "safety.md",
    "--system",
    "system.md",
    "--memory",
    "memory.md",
    "--resources",
    "resources.json",
    "--state",
    "state.toml",
    "--tools",
    "tools.json",
    "--instructions",
    "mine.md",
];

/// Creates a project with all kinds of instruction files, the files named by flags, and the session `talk`.
fn desk() -> Desk {
    let desk = Desk::new();
    let files = [
        ("repo/.git/HEAD", "ref: refs/heads/main\n"),
        (
            "repo/AGENTS.md",
            "# Parser\n<!-- for people only -->\nUse tabs. See @docs/style.md and @../above.md.\n\
             <!-- block tests locked -->\nRun all tests.\n<!-- end -->\n",
        ),
        ("repo/CLAUDE.local.md", "My machine has no network.\n"),
        ("repo/GEMINI.md", "Kept out.\n"),
        ("repo/.wunderblockignore", "GEMINI.md\n/vendor\n"),
        ("repo/docs/style.md", "Short lines.\n"),
        ("repo/.claude/rules/all.md", "Write in English.\n"),
        ("repo/.claude/rules/rust.md", "---\npaths: \"src/**/*.rs\"\n---\nNo unsafe code.\n"),
        ("repo/.claude/rules/web.md", "---\npaths: \"web/**\"\n---\nNo inline styles.\n"),
        (
            "repo/.claude/skills/release/SKILL.md",
            "---\nname: release\ndescription: How to make a release.\n---\nTag, then push.\n",
        ),
        ("repo/tools/AGENTS.md", "Scripts are POSIX shell.\n<!-- block tests override -->\nRun no tests.\n"),
        ("repo/tools/deep/AGENTS.override.md", "The override holds.\n"),
        ("repo/tools/deep/AGENTS.md", "The overridden does not.\n"),
        ("repo/src/AGENTS.md", "The parser is recursive descent.\n"),
        ("repo/web/AGENTS.md", "Pages are static.\n"),
        ("repo/vendor/AGENTS.md", "Somebody else's.\n"),
        ("above.md", "Above the project.\n"),
        ("safety.md", "Never delete what you did not make.\n"),
        ("system.md", "You are a careful engineer.\n"),
        ("memory.md", "The release is on Friday.\n"),
        ("mine.md", "Today only the parser.\n"),
        (
            "resources.json",
            r#"{"resources":[{"uri":"file:///spec.md","name":"spec","description":"The grammar","mimeType":"text/markdown","text":"expr = term"},
                {"uri":"file:///note.md","text":"Friday, noon.","pinned":true}]}"#,
        ),
        (
            "state.toml",
            "plan = [{what = \"read\", status = \"done\"}, {what = \"repair\"}]\nexecution = \"repairing\"\n",
        ),
        (
            "tools.json",
            r#"[{"name":"grep","description":"Finds text.","schema":{"type":"object","properties":{"text":{"type":"string"}}}},
                {"name":"deploy","description":"Deploys.","schema":{},"deferred":true}]"#,
        ),
    ];
    files.into_iter().for_each(|(name, text)| desk.write(name, text));
    desk.feed(&["append", "talk"], TALK).exits(0);
    desk
}

/// Returns the arguments of a command on `talk` in the project, with the flags that every test uses.
fn build<'a>(command: &'a str, cwd: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&[command, "talk", "--cwd", cwd], &FLAGS[..], more].concat()
}

fn names<'v>(report: &'v Value, section: &str) -> Vec<&'v str> {
    let blocks = report["blocks"].as_array().unwrap().iter().filter(|block| block["section"] == section);
    blocks.map(|block| block["name"].as_str().unwrap()).collect()
}

#[test]
fn what_enters_from_outside_is_reported() {
    let desk = desk();
    let mut text = shown(&desk, &[&build("context", "repo/tools/deep", &["-v", "--out", "request.json"])]);
    desk.write("memory.md", "The release is on Monday.\n");
    desk.write("repo/AGENTS.md", "# Parser\nUse spaces.\n");
    let runs = [
        build("context", "repo/tools/deep", &[]),
        build("explain", "repo/tools/deep", &["--now"]),
        build("explain", "repo/tools/deep", &["--lane", "fresh", "--json"]),
        vec!["context", "talk", "--scan"],
    ];
    text.push_str(&shown(&desk, &runs.each_ref().map(Vec::as_slice)));
    snapshot("outside", &text);
}

/// Collects the names of all fields. Lists are `[]`.
fn fields(value: &Value, at: &str, out: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => object.iter().for_each(|(name, value)| {
            let at = format!("{at}.{name}");
            out.insert(at.clone());
            fields(value, &at, out);
        }),
        Value::Array(list) => list.iter().for_each(|value| fields(value, &format!("{at}[]"), out)),
        _ => {}
    }
}

#[test]
fn names_of_fields_are_a_promise() {
    let desk = desk();
    desk.run(&["import", "session.jsonl", "-q"]).exits(0);
    let args = [&["context", SESSION, "--cwd", "repo/tools", "--json"], &FLAGS[..]].concat();
    let mut names = BTreeSet::new();
    let first = desk.run(&args).exits(0).json();
    fields(&first, "", &mut names);
    // The provider's own count of the request.
    let usage = serde_json::json!({
        "id": "u1", "at": 1_800_000_000_000_u64, "kind": "usage.measured", "model": first["model"], "input": 5_000,
        "cache_read": 0, "cache_write": 0, "output": 9, "request": first["recorded"],
    });
    desk.feed(&["append", first["session"].as_str().unwrap()], &format!("{usage}\n")).exits(0);
    desk.write("memory.md", "The release is on Monday.\n");
    desk.write("repo/docs/style.md", "Long lines.\n");
    for more in [&[][..], &["--window", "3500", "--reserve", "100"]] {
        fields(&desk.run(&[&args[..], more].concat()).exits(0).json(), "", &mut names);
    }
    snapshot("outside_fields", &names.into_iter().collect::<Vec<_>>().join("\n"));
}

#[test]
fn each_level_has_its_files() {
    let desk = desk();
    let report = desk.run(&build("explain", "repo/tools/deep", &["--json"])).exits(0).json();
    let head = [
        "docs/style.md",
        "AGENTS.md",
        "CLAUDE.local.md",
        "tools/AGENTS.md",
        "tools/deep/AGENTS.override.md",
        ".claude/rules/all.md",
        "mine.md",
        "src/AGENTS.md",
        ".claude/rules/rust.md",
    ];
    assert_eq!(names(&report, "instructions"), head);
    assert_eq!(names(&report, "skills"), ["release"]);
    let block = |name: &str| {
        report["blocks"].as_array().unwrap().iter().find(|block| block["name"] == name).unwrap().clone()
    };
    assert_eq!(block("safety.md")["authority"], "safety");
    assert_eq!(block("AGENTS.md")["level"], "project root");
    assert_eq!(block("src/AGENTS.md")["reason"], "src/lib.rs was touched");
    assert_eq!(block("mine.md")["level"], "session");
    let found: Vec<String> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| format!("{} {}:{}", finding["what"], finding["source"], finding["line"]))
        .collect();
    let expected = [
        "\"unusable\" \"AGENTS.md\":3",
        "\"ignored\" \"GEMINI.md\":null",
        "\"refused\" \"tools/AGENTS.md\":2",
    ];
    assert_eq!(found, expected);
}

#[test]
fn the_scan_finds_the_rest_but_not_what_is_ignored() {
    let desk = desk();
    let report = desk.run(&build("explain", "repo", &["--scan", "--json"])).exits(0).json();
    let names = names(&report, "instructions");
    assert!(
        names.contains(&"web/AGENTS.md") && names.contains(&"tools/deep/AGENTS.override.md"),
        "{names:?}"
    );
    assert!(!names.contains(&"vendor/AGENTS.md") && !names.contains(&".claude/rules/web.md"), "{names:?}");
}

#[test]
fn the_request_holds_what_the_report_lists() {
    let desk = desk();
    let args = build("context", "repo/tools/deep", &["--out", "-", "--to"]);
    for to in ["neutral", "anthropic", "openai-chat", "openai-responses", "gemini"] {
        let request = desk.run(&[&args[..], &[to, "--lane", to]].concat()).exits(0).out;
        for text in [
            "Never delete what you did not make.",
            "You are a careful engineer.",
            "Use tabs.",
            "Short lines.",
            "My machine has no network.",
            "Run all tests.",
            "The override holds.",
            "No unsafe code.",
            "The parser is recursive descent.",
            "Today only the parser.",
            "How to make a release.",
            "The release is on Friday.",
            "The grammar",
            "Friday, noon.",
            "repairing",
            "deploy",
        ] {
            assert_eq!(request.matches(text).count(), 1, "{to}: {text}");
        }
        for text in [
            "for people only",
            "Above the project.",
            "Kept out.",
            "Run no tests.",
            "The overridden",
            "No inline styles.",
            "Pages are static.",
            "Tag, then push.",
            "expr = term",
            "Deploys.",
        ] {
            assert!(!request.contains(text), "{to}: {text}");
        }
    }
}

#[test]
fn bodies_that_are_only_listed_can_be_read() {
    let desk = desk();
    let report = desk.run(&build("context", "repo", &["--json"])).exits(0).json();
    for (name, text) in [("release", "Tag, then push."), ("file:///spec.md", "expr = term")] {
        let blocks = report["blocks"].as_array().unwrap();
        let block = blocks.iter().find(|block| block["name"] == name).unwrap();
        let handle = block["handle"].as_str().expect("a handle");
        assert!(desk.run(&["read", handle]).exits(0).out.contains(text), "{name}");
    }
}

#[test]
fn what_is_not_given_stays_and_what_is_given_empty_goes() {
    let desk = desk();
    desk.run(&["context", "talk", "--safety", "safety.md", "--memory", "memory.md", "-q"]).exits(0);
    let kept = desk.run(&["explain", "talk", "--json"]).exits(0).json();
    assert_eq!([names(&kept, "safety"), names(&kept, "pinned_memory")], [["safety.md"], ["memory.md"]]);
    let gone = desk.run(&["explain", "talk", "--safety", "/dev/null", "--json"]).exits(0).json();
    assert_eq!([names(&gone, "safety"), names(&gone, "pinned_memory")], [vec![], vec!["memory.md"]]);
    desk.write("none", "");
    for flag in ["--tools", "--resources", "--state"] {
        desk.run(&["context", "talk", flag, "none", "-q"]).exits(0);
    }
}

#[test]
fn a_request_outlives_the_files_it_came_from() {
    let desk = desk();
    desk.run(&build("context", "repo/tools/deep", &["-q", "--out", "request.json"])).exits(0);
    let before = desk.run(&["explain", "talk", "--json"]).exits(0).json();
    std::fs::remove_dir_all(desk.path("repo")).unwrap();
    for (name, _) in [("safety.md", ()), ("tools.json", ()), ("memory.md", ()), ("resources.json", ())] {
        std::fs::remove_file(desk.path(name)).unwrap();
    }
    let after = desk.run(&["explain", "talk", "--json"]).exits(0).json();
    assert_eq!(after["blocks"], before["blocks"]);
    assert_eq!(after["tools"], before["tools"]);
    assert_eq!(desk.run_bytes(&["replay", "talk", "--out", "-"]).stdout, desk.bytes("request.json"));
}

#[test]
fn a_deleted_file_leaves_with_the_next_build() {
    let desk = desk();
    desk.run(&build("context", "repo", &["-q"])).exits(0);
    std::fs::remove_file(desk.path("repo/AGENTS.md")).unwrap();
    let report = desk.run(&build("explain", "repo", &["--json"])).exits(0).json();
    assert!(!names(&report, "instructions").contains(&"AGENTS.md"));
    let gone = json!({ "section": "instructions", "name": "AGENTS.md", "how": "removed" });
    assert!(report["changes"].as_array().unwrap().contains(&gone), "{}", report["changes"]);
}

#[test]
fn the_past_has_the_sources_it_had() {
    let desk = desk();
    let first = desk.run(&build("context", "repo", &["--json", "--out", "first.json"])).exits(0).json();
    let then = first["recorded"].to_string();
    desk.write("repo/AGENTS.md", "# Parser\nUse spaces.\n");
    desk.write("memory.md", "The release is on Monday.\n");
    desk.run(&build("context", "repo", &["--now", "-q", "--out", "second.json"])).exits(0);
    assert_ne!(desk.bytes("first.json"), desk.bytes("second.json"));
    // The settings are the current ones, which a past request must not use.
    desk.write(
        "config.toml",
        "[sources]\nsafety = [\"system.md\"]\nproviders = [{ name = \"now\", command = [\"false\"] }]\n",
    );
    for more in [&[][..], &["--config", "config.toml"]] {
        let args = [&["explain", "talk", "--at", &then, "--json"], more].concat();
        let past = desk.run(&args).exits(0).json();
        assert_eq!(past["blocks"], first["blocks"]);
        assert_eq!(past["findings"], first["findings"], "those of then");
    }
    let replayed = desk.run_bytes(&["replay", "talk", "--at", &then, "--out", "-"]).stdout;
    assert_eq!(replayed, desk.bytes("first.json"));
}
