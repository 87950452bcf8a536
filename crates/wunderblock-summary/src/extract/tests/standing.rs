//! Facts that no summary may lose, however often the summary is rewritten, namely the first request and the rules.

use super::*;
use wunderblock_core::policy::Summary;

const TASK: &str =
    "Split src/session.rs into a store and a view, in small commits, and write docs/refactor.md first.";
const RULES: [&str; 3] = [
    "Only write end-to-end tests for AgentSession.",
    "Never delete the old code until the new tests pass.",
    "以后日志用标准库的 slog，不要再引入 zap。",
];

/// Returns the exchanges of a round, which have far more content than a summary has room for.
fn exchanges(round: usize) -> Vec<Message> {
    let mut said = Vec::new();
    if round == 0 {
        said.push(user(&format!("{TASK} {}", RULES[0])));
    }
    for step in 0..8 {
        let number = 8 * round + step;
        let asked = format!(
            "Now port module number {number}, look at how its view is named, and tell me what is left to do there."
        );
        said.push(user(&asked));
        if step == 4 {
            said.extend(RULES.get(round).filter(|_| round > 0).map(|rule| user(rule)));
        }
        let id = format!("c{number}");
        said.extend(ran(
            &id,
            &format!("cargo test -p module-{number}"),
            "error[E0308]: mismatched types",
            true,
        ));
        said.push(call(&format!("e{number}"), "Edit", &format!("src/module_{number}.rs"), "{}"));
        said.push(result(&format!("e{number}"), "ok", false));
        let told = format!(
            "I found that module {number} was ported to the store; its view still needs the new names of module {number}."
        );
        said.push(model(&told));
    }
    said
}

/// Returns the template of a preset, and the length of its summaries in tokens.
fn preset(name: &str) -> (Template, u64) {
    let path = format!("{}/../wunderblock/policies/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let policy: toml::Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
    let summary = &policy["summary"];
    let target = summary.get("target").and_then(toml::Value::as_integer);
    let target = target.map_or(Summary::default().target.0, |target| target.try_into().unwrap());
    (summary["template"].clone().try_into().unwrap(), target)
}

#[test]
fn twelve_compactions_keep_the_task_and_the_rules() {
    for name in ["balanced", "claude-code", "codex", "gemini-cli", "pi", "hermes", "lossless", "openclaw"] {
        let (template, target) = preset(name);
        let brief = brief(&template, target);
        let mut before = Extract::default();
        for round in 0..12 {
            let mut entries = entries(exchanges(round));
            entries.iter_mut().for_each(|entry| entry.seq = Seq(entry.seq.0 + 60 * round as u64));
            let earlier = earlier(1, 100 + 60 * round as u64, &before);
            let earlier = if round == 0 { vec![] } else { vec![earlier] };
            let material = material(&entries, earlier);
            let made = extracted(&material, &brief, &Thirds);
            let verdict = checked(&made.text, &material, &brief);
            assert_eq!(verdict.check.lost, [], "{name}, round {round}\n{}", made.text);
            before = made;
        }
        let before = before.text;
        assert!(before.contains("Split src/session.rs into a store and a view"), "{name}\n{before}");
        for rule in RULES {
            assert!(before.contains(rule.trim_end_matches(['.', '。'])), "{name}: {rule}\n{before}");
        }
    }
}

#[test]
fn a_summary_without_the_task_says_so() {
    let entries = entries(coding());
    let template = each(As::Markdown);
    let (material, brief) = (material(&entries, vec![]), brief(&template, 2_500));
    let text = extract(&material, &brief, &Thirds);
    let without: String =
        text.lines().filter(|line| !line.contains("--since")).map(|line| format!("{line}\n")).collect();
    let verdict = checked(&without, &material, &brief);
    assert!(verdict.check.is_task_lost(), "{:?}", verdict.check);
    assert!(
        verdict
            .faults
            .iter()
            .any(|fault| matches!(fault, SummaryFault::MissingWords(words) if words[0].contains("#101")))
    );
}
