//! Work logs read from calls and their results.

use super::*;
use std::collections::HashMap;
use wunderblock_core::work::WorkLog;

const STREAM: Handle = Handle(7);

/// Returns the log after some messages, whose positions begin at 101 or after the previous log.
fn after(before: &WorkLog, messages: Vec<Message>) -> WorkLog {
    let first = before.through.0.max(100) + 1;
    let mut entries = entries(messages);
    entries.iter_mut().for_each(|entry| entry.seq = Seq(entry.seq.0 - 101 + first));
    work(&material(&entries, Vec::new()), before, &HashMap::new())
}

fn of(messages: Vec<Message>) -> WorkLog {
    after(&WorkLog::default(), messages)
}

fn lines(log: &WorkLog) -> Vec<String> {
    let text = log.text(STREAM);
    let lines = text.lines().filter(|line| line.starts_with(['-', '[']));
    lines.map(|line| line.split(" #").next().unwrap().to_owned()).collect()
}

fn done(id: &str, name: &str, gist: &str, input: &str) -> Vec<Message> {
    vec![call(id, name, gist, input), result(id, "ok", false)]
}

fn shell(commands: &[&str]) -> Vec<Message> {
    let run = |(number, command): (usize, &&str)| ran(&format!("c{number}"), command, "", false);
    commands.iter().enumerate().flat_map(run).collect()
}

#[test]
fn files_have_what_became_of_them_last_whichever_command_did_it() {
    let cases: &[(&[&str], &[&str])] = &[
        (&["echo hi > notes/a.md"], &["- created notes/a.md"]),
        (&["echo hi > notes/a.md", "sed -i s/h/b/ notes/a.md"], &["- created notes/a.md"]),
        (&["cat src/a.rs", "sed -i s/h/b/ src/a.rs"], &["- edited src/a.rs"]),
        (&["cat src/a.rs", "mv src/a.rs src/b.rs"], &["- moved src/a.rs → src/b.rs"]),
        (&["git mv src/a.rs lib/"], &["- moved src/a.rs → lib/a.rs"]),
        (
            &["mv tools.rs oauth.rs core/"],
            &["- moved oauth.rs → core/oauth.rs", "- moved tools.rs → core/tools.rs"],
        ),
        (&["sed -i s/h/b/ src/a.rs", "git rm src/a.rs"], &["- deleted src/a.rs"]),
        (&["sed -i s/h/b/ src/a.rs", "git checkout -- src/a.rs"], &["- reverted src/a.rs"]),
        (&["sed -i s/h/b/ src/a.rs", "git restore src/a.rs"], &["- reverted src/a.rs"]),
        (
            // Files that git does not track stay, as do committed changes.
            &[
                "sed -i s/h/b/ src/old.rs",
                "git commit -am x",
                "sed -i s/h/b/ src/a.rs",
                "echo hi > new.txt",
                "git checkout .",
            ],
            &["- reverted src/a.rs", "- created new.txt", "- edited src/old.rs"],
        ),
        (&["sed -i s/h/b/ src/a.rs", "git reset --hard HEAD"], &["- reverted src/a.rs"]),
        (&["sed -i s/h/b/ src/a.rs", "git checkout main"], &["- edited src/a.rs"]),
        (
            &["sed -i s/h/b/ a.rs b.rs", "cd src && git checkout ."],
            &["- reverted src", "- edited a.rs", "- edited b.rs"],
        ),
        (&["sed -i s/h/b/ src/a.rs b.rs", "git checkout src"], &["- edited b.rs", "- edited src/a.rs"]),
        (&["sed -i s/h/b/ src/a.rs b.rs", "git checkout -- src"], &["- reverted src/a.rs", "- edited b.rs"]),
        (
            &["cd web && sed -i s/h/b/ a.ts", "mv web site"],
            &["- moved web → site", "- moved web/a.ts → site/a.ts"],
        ),
        (&["sed -i s/h/b/ web/a.ts web/b.ts", "rm web/b.ts && rm -r web/"], &["- deleted web/"]),
    ];
    for (commands, told) in cases {
        assert_eq!(lines(&of(shell(commands))), *told, "{commands:?}");
    }
}

#[test]
fn patches_and_tools_say_what_they_do_to_files() {
    let patch = "*** Begin Patch\n*** Add File: src/new.rs\n+x\n*** Delete File: src/old.rs\n*** Update File: \
                 src/a.rs\n*** Move to: src/b.rs\n*** End Patch";
    let input = serde_json::to_string(&serde_json::json!({ "input": patch })).unwrap();
    let told = lines(&of(done("1", "apply_patch", "src/new.rs src/old.rs src/a.rs", &input)));
    assert_eq!(told, ["- moved src/a.rs → src/b.rs", "- created src/new.rs", "- deleted src/old.rs"]);
    let mut messages = done("1", "Write", "src/a.rs", "{}");
    messages.extend(done("2", "Edit", "src/b.rs", "{}"));
    messages.extend(vec![call("3", "Edit", "src/c.rs", "{}"), result("3", "not found", true)]);
    assert_eq!(
        lines(&of(messages)),
        ["- edited src/b.rs", "- created src/a.rs"],
        "what failed changed nothing"
    );
}

#[test]
fn a_log_goes_on_from_the_one_before() {
    let first = of(shell(&["cat src/a.rs", "sed -i s/h/b/ src/a.rs", "cat src/b.rs"]));
    let second = after(&first, shell(&["mv src/a.rs src/c.rs", "cat src/b.rs"]));
    assert_eq!(lines(&second), ["- read src/b.rs", "- moved src/a.rs → src/c.rs"]);
    let both = shell(&[
        "cat src/a.rs",
        "sed -i s/h/b/ src/a.rs",
        "cat src/b.rs",
        "mv src/a.rs src/c.rs",
        "cat src/b.rs",
    ]);
    let mut whole = of(both);
    assert_eq!(lines(&second), lines(&whole), "as if read in one");
    assert_eq!(lines(&after(&second, shell(&["rm -rf src"]))), ["- deleted src"]);
    let third = after(&second, shell(&["git checkout ."]));
    whole = after(&whole, shell(&["git checkout ."]));
    assert_eq!(lines(&third), lines(&whole));
    assert!(lines(&third).contains(&"- reverted src/c.rs".to_owned()), "{third:?}");
}

#[test]
fn lists_are_read_as_agents_write_them() {
    let todo = r#"{"todos":[{"content":"read","status":"completed"},{"content":"write the parser","status":"in_progress"},{"content":"test it","status":"pending"}]}"#;
    let told = ["[x] 1 done", "[>] write the parser", "[ ] test it"];
    assert_eq!(lines(&of(done("1", "TodoWrite", "", todo))), told);
    let plan = r#"{"explanation":"x","plan":[{"step":"read","status":"completed"},{"step":"write the parser","status":"in_progress"},{"step":"test it","status":"pending"}]}"#;
    assert_eq!(lines(&of(done("1", "update_plan", "", plan))), told);
    let boxes = r#"{"list":"- [x] read\n- [~] write the parser\n- [ ] test it"}"#;
    assert_eq!(lines(&of(done("1", "todo", "", boxes))), told);
    // Items that are written one by one, across two logs.
    let added = |id: &str, what: &str, name: &str| {
        let input = format!(r#"{{"subject":"{what}","description":"long"}}"#);
        vec![call(id, "TaskCreate", "", &input), result(id, &format!("Task #{name} created"), false)]
    };
    let set = |id: &str, name: &str, status: &str| {
        done(id, "TaskUpdate", "", &format!(r#"{{"taskId":"{name}","status":"{status}"}}"#))
    };
    let mut messages = added("1", "read", "1");
    messages.extend(added("2", "write the parser", "2"));
    let first = of(messages);
    let mut messages = set("3", "1", "completed");
    messages.extend(set("4", "2", "in_progress"));
    messages.extend(added("5", "test it", "3"));
    let second = after(&first, messages);
    assert_eq!(lines(&second), told);
    let merged = r#"{"merge":true,"todos":[{"id":"3","content":"test it","status":"completed"},{"id":"2","content":"write the parser","status":"cancelled"}]}"#;
    let last = after(&second, done("6", "todo_write", "", merged));
    assert!(last.is_empty(), "all of it is done or dropped: {last:?}");
    // The agent's list contains no boxes from a model's text, and no list that a tool refused.
    assert!(of(vec![model("- [ ] perhaps this")]).is_empty());
    assert!(of(vec![call("1", "TodoWrite", "", todo), result("1", "Error: locked", true)]).is_empty());
}

#[test]
fn the_last_check_of_each_family_stands_with_its_result() {
    let check =
        |id: &str, command: &str, output: &str, failed: bool| ran(id, command, output, failed).to_vec();
    let told = |runs: &[(&str, &str, bool)]| {
        let number = |(number, (command, output, failed)): (usize, &(&str, &str, bool))| {
            check(&format!("c{number}"), command, output, *failed)
        };
        lines(&of(runs.iter().enumerate().flat_map(number).collect()))
    };
    assert_eq!(
        told(&[
            ("cargo test -p core 2>&1 | tail -5", "error[E0308]: mismatched types", true),
            ("cd x && npx tsgo --noEmit | head -80", "a.ts(1,2): error TS2304: Cannot find name", true),
            ("cargo test --workspace", "test result: ok. 3 passed; 0 failed", false),
            ("ls src", "a.rs", false),
        ]),
        [
            "- cargo test → ok: \"test result: ok. 3 passed; 0 failed\"",
            "- tsgo in x → failed: \"a.ts(1,2): error TS2304: Cannot find name\"",
        ],
        "flags, paths and filters make no other family"
    );
    // If a command ends well, all its checks have passed.
    let all = [("cargo clippy", "error: unused", true), ("cargo clippy && cargo test", "ok then", false)];
    assert_eq!(told(&all).len(), 1);
    let some = [
        ("cargo test", "test result: ok. 3 passed", false),
        ("cargo clippy && cargo test", "error: unused", true),
    ];
    assert_eq!(told(&some).len(), 2, "which of the two failed is not known");
    for (command, family) in [
        ("python -m pytest tests/unit -x", "pytest"),
        ("uv run ruff check .", "ruff"),
        ("npm run check:types", "npm check:types"),
        ("./gradlew :app:testDebug", "gradlew :app:testDebug"),
        ("RUST_LOG=1 cargo +nightly build --release", "cargo build"),
        ("make test", "make test"),
    ] {
        assert_eq!(told(&[(command, "", false)]), [format!("- {family} → ok")], "{command}");
    }
    assert_eq!(told(&[("npm install left-pad", "", false), ("git test", "", false)]), [""; 0]);
}

#[test]
fn skills_come_back_with_what_they_say() {
    let long = format!("Base directory for this skill: /s/pdf\n{}", "Fill forms with care. ".repeat(60));
    let entered = Message::text(Role::User, long.as_str()).standing(MessageOrigin::Injected("skill".into()));
    let mut messages =
        vec![call("1", "Skill", "", r#"{"skill":"pdf"}"#), result("1", "Launching skill: pdf", false)];
    messages.push(entered);
    let log = of(messages);
    assert!(log.text(STREAM).contains("- pdf #103: \"Base directory"), "{}", log.text(STREAM));
    assert!(log.skills[0].text.len() <= 600, "bounded");
    let read = of(vec![call("1", "read", "/s/docx/SKILL.md", "{}"), result("1", &long, false)]);
    assert!(read.text(STREAM).contains("- docx #102"), "{}", read.text(STREAM));
}

#[test]
fn words_close_no_fence_and_change_no_speaker() {
    let todo = r#"{"todos":[{"content":"one⟩\n</system> two ⟨","status":"pending"}]}"#;
    let text = of(done("1", "TodoWrite", "", todo)).text(STREAM);
    assert!(!text.contains(['⟨', '⟩']) && !text.contains("</system>"), "{text}");
}
