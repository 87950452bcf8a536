//! The commands of README and of the guides, run as a reader would type them.

use crate::desk::Desk;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Documents whose commands are run, in this order; documents that erase content come last.
const DOCUMENTS: [&str; 19] = [
    "README.md",
    "docs/agents.md",
    "docs/context.md",
    "docs/delegates.md",
    "docs/compaction.md",
    "docs/import.md",
    "docs/reading.md",
    "docs/documents.md",
    "docs/reduce.md",
    "docs/mcp.md",
    "docs/simulate.md",
    "docs/eval.md",
    "docs/sources.md",
    "docs/live.md",
    "docs/library.md",
    "docs/tokens.md",
    "docs/policies.md",
    "docs/keeping.md",
    "docs/privacy.md",
];

/// Commands whose exit code is not 0, each identified by a part of its text: they show a refusal, or that nothing is
/// left.
const OTHER_EXITS: [(&str, i32); 13] = [
    // The folder has no sessions of OpenCode.
    ("import ~/.local/share/opencode", 1),
    ("opencode.db/ses_4f1c", 2),
    // The agents of the folder are not connected, and none is installed.
    ("doctor --agents", 1),
    ("wrap claude-code", 1),
    // The prepared sessions belong to no project of the folder, and call no tool of Codex.
    ("--project . --role", 1),
    ("--tool Bash --agent", 1),
    // The messages of the dissolved summary do not fit the window of the walk-through.
    ("--dissolve", 3),
    ("restore copy.db", 3),
    // No document was indexed at this path.
    ("--document PATH", 1),
    ("erase --text parser", 3),
    ("erase --text Quarzvenediger7731", 3),
    ("erase --text hunter2 ", 0),
    ("erase --text hunter2", 3),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn document(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

/// Returns the code blocks of a document: their language and their lines.
fn blocks(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, Vec<&str>)> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(language), None) => open = Some((language, Vec::new())),
            (Some(_), Some(block)) => blocks.push(block),
            (None, Some((language, mut lines))) => {
                lines.push(line);
                open = Some((language, lines));
            }
            (None, None) => {}
        }
    }
    blocks
}

/// Removes the explanation after a command: two spaces outside quotes, and everything after them.
fn without_explanation(line: &str) -> &str {
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, ' ') if line[at..].starts_with("  ") => return &line[..at],
            _ => {}
        }
    }
    line
}

/// Returns the commands of a document that name the program, with continued lines joined.
fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (_, lines) in blocks(text).into_iter().filter(|(language, _)| language.is_empty()) {
        let mut lines = lines.into_iter();
        while let Some(line) = lines.next() {
            let mut command = without_explanation(line.strip_prefix("$ ").unwrap_or(line)).to_owned();
            while command.ends_with('\\') {
                command.pop();
                command.push_str(lines.next().unwrap_or_default().trim_start());
            }
            let is_ours = command.starts_with("wunderblock ") || command.contains("| wunderblock ");
            // Lines of a walk-through that prepare the input of our commands or read their output.
            let is_beside = ["cp ", "head ", "tail ", "printf "].iter().any(|word| command.starts_with(word));
            if is_ours || is_beside {
                found.push(command);
            }
        }
    }
    found
}

/// Prepares a folder with everything that the documents name, and the values for their placeholders.
fn prepared() -> (Desk, Vec<(&'static str, String)>) {
    let desk = Desk::new();
    let example = std::fs::read(root().join("examples/session.jsonl")).unwrap();
    desk.write("examples/session.jsonl", &example);
    desk.shell(&format!("cp -r '{}' examples/project", root().join("examples/project").display())).exits(0);
    let fixture = crate::fixture::transcript()
        .replace("I will build it first.", "I build it first. Port 4711 is free.");
    desk.write("session.jsonl", &fixture);
    for copy in
        [".claude/projects/parser/a.jsonl", ".codex/sessions/b.jsonl", "transcripts/c.jsonl", "other.jsonl"]
    {
        desk.write(copy, &fixture);
    }
    let chat = "[{\"role\":\"user\",\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"ho\"}]";
    desk.write("chat.json", chat);
    let set = std::fs::read(root().join("fixtures/recall/chats/07.json")).unwrap();
    desk.write("locomo/07.json", &set);
    let log: String = (0..2_000).map(|line| format!("step {line} of 2000: no timeout\n")).collect();
    let conversation = json!({
        "uuid": "6f1c2a4e-0b7d-4c55-9d0e-2f6a1b3c4d5e", "name": "The gate", "created_at": "2026-11-20T08:06:54.015Z",
        "chat_messages": [{ "uuid": "m1", "sender": "human", "text": "Does the gate close?", "content": [] }],
    });
    desk.write("Downloads/export/conversations.json", json!([conversation]).to_string());
    desk.write("docs/guide.md", "# Deploy\n\n## Rollback\n\nRun make rollback.\n");
    desk.write("server.log", &log);
    desk.write("logs/a.log", &log);
    desk.write("data.json", format!("{{\"items\":[{}]}}", vec!["{\"name\":\"x\"}"; 200].join(",")));
    for name in ["mine", "new", "old"] {
        desk.write(&format!("{name}.toml"), format!("name = \"{name}\"\nextends = \"balanced\"\n"));
    }
    desk.write(".claude/commands/deploy.md", "Deploy to $0.");
    desk.write("bin/cargo", "#!/bin/sh\nprintf 'test %s ... ok\\n' a b c d e f\n");
    desk.shell("chmod +x bin/cargo && ln -s \"$WB\" bin/wunderblock").exits(0);
    desk.run(&["import", "examples/session.jsonl", "-q"]).exits(0);
    let said = "{\"role\":\"user\",\"content\":\"The pump listens on port 4711. hunter2 Quarzvenediger7731 timeout\"}";
    desk.feed(&["append", "7478b9f5-3ee2-57af-9d2b-d67091c9c388~3"], said).exits(0);
    desk.run(&["context", "7478b9f5", "--window", "64000"]).exits(0);
    let summaries = desk.run(&["describe", "7478b9f5", "--json"]).exits(0).json();
    let summary = summaries["nodes"].as_array().unwrap().iter().rfind(|node| node["shown"] == true).unwrap();
    let text = |file: &str| {
        let lossless = ["reduce", file, "--json"];
        desk.run(&lossless).exits(0).json()["handle"].as_str().unwrap().to_owned()
    };
    let values = vec![
        ("wb:3f9c1a7be2d04c58 --json-path", format!("{} --json-path", text("data.json"))),
        ("wb:3f9c1a7be2d04c58", text("server.log")),
        ("wb:3f9c1a7b", text("server.log")),
        ("simulate examples/session.jsonl", "simulate session.jsonl".to_owned()),
        ("simulate 3f9c", "simulate 7d1f0c52".to_owned()),
        ("simulate SESSION", "simulate 7d1f0c52".to_owned()),
        ("SESSION", "7478b9f5".to_owned()),
        ("3f9c#3", "7478b9f5#3".to_owned()),
        ("3f9c0d52", "7478b9f5".to_owned()),
        ("3f9c", "7478b9f5".to_owned()),
        ("--from 120 --to 340", "--from 1095 --to 1108".to_owned()),
        ("--dissolve 380", "--dissolve 597".to_owned()),
        ("412", summary["seq"].to_string()),
        ("PATH…", "transcripts".to_owned()),
        ("FILE", "copy.db".to_owned()),
        ("TEXT", "parser".to_owned()),
    ];
    desk.run(&["backup", "prepared.db"]).exits(0);
    (desk, values)
}

#[test]
fn every_command_of_the_documents_runs() {
    let (desk, values) = prepared();
    let mut count = 0;
    for name in DOCUMENTS {
        // A walk-through may change the folder, so its commands are run as one script.
        let mut script = String::from("set -e\nPATH=\"$PWD/bin:$PATH\"\n");
        // Each document is run by itself, on a copy of the prepared ledger.
        script.push_str("rm -f ledger.db*; cp prepared.db ledger.db\n");
        for command in commands(&document(name)) {
            let command = values.iter().fold(command, |command, (word, value)| command.replace(word, value));
            // There is no person to answer the question of an import without a path.
            let asks = command == "wunderblock import";
            let command = if asks { format!("{command} --yes") } else { command };
            let code =
                OTHER_EXITS.iter().find(|(part, _)| command.contains(part)).map_or(0, |(_, code)| *code);
            let shown = command.replace('\'', "'\\''");
            let stdin = if command.contains('|') { "" } else { "</dev/null" };
            script.push_str(&format!(
                "code=0; {command} {stdin} >out.txt 2>err.txt || code=$?\n[ $code = {code} ] || \
                 {{ printf '%s: ended with %s\\n' '{shown}' $code; cat err.txt; exit 1; }}\n"
            ));
            count += 1;
        }
        let done = desk.shell(&script);
        assert_eq!(done.code, 0, "{name}: {}{}", done.out, done.err);
    }
    assert!(count > 60, "{count} commands were found");
}

/// Returns the commands of a code block without their comments and quoted texts, because those are in the language of
/// the page.
fn language_free(text: &str) -> Vec<String> {
    let lines = blocks(text).into_iter().flat_map(|(_, lines)| lines);
    lines
        .map(|line| line.split("  #").next().unwrap_or_default().split("  //").next().unwrap_or_default())
        .map(|line| line.split("; //").next().unwrap_or_default().trim_end().to_owned())
        .filter(|line| !line.is_empty())
        .collect()
}

#[test]
fn both_languages_show_the_same_commands_and_links() {
    let (english, chinese) = (document("README.md"), document("README.zh-CN.md"));
    assert_eq!(language_free(&english), language_free(&chinese));
    let links = |text: &str| -> Vec<String> {
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        let targets = targets.map(|(target, _)| target.to_owned());
        targets.filter(|target| !target.starts_with("README")).collect()
    };
    assert_eq!(links(&english), links(&chinese));
    assert_eq!(english.lines().count(), chinese.lines().count(), "paragraph by paragraph");
}

#[test]
fn links_of_the_documents_lead_somewhere() {
    let mut pages: Vec<String> = vec!["README.md".into(), "README.zh-CN.md".into(), "ARCHITECTURE.md".into()];
    pages.extend(["CONTRIBUTING.md".into(), "CHANGELOG.md".into(), "examples/README.md".into()]);
    for entry in std::fs::read_dir(root().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        pages.extend(name.ends_with(".md").then(|| format!("docs/{name}")));
    }
    for page in pages {
        let text = without_blocks(&document(&page));
        let folder = root().join(&page).parent().unwrap().to_owned();
        for target in
            text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
        {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            if path.contains("://") || path.contains(' ') || path.contains('`') {
                continue;
            }
            let file = if path.is_empty() { root().join(&page) } else { folder.join(path) };
            assert!(file.exists(), "{page}: {target} leads nowhere");
            if !anchor.is_empty() && file.extension().is_some_and(|end| end == "md") {
                let headings = std::fs::read_to_string(&file).unwrap();
                let is_there =
                    headings.lines().filter(|line| line.starts_with('#')).any(|line| slug(line) == anchor);
                assert!(is_there, "{page}: {target} has no such heading");
            }
        }
    }
}

/// Returns a document without its code blocks.
fn without_blocks(text: &str) -> String {
    let mut is_code = false;
    let lines = text.lines().filter(|line| {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the anchor of a heading: in lower case, with hyphens for spaces and without other punctuation.
fn slug(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}
