//! `docs/policies.md` contains every preset, every constant of each preset with its source, and valid examples.
//!
//! `UPDATE_GOLDEN=1 cargo test -p wunderblock policies::` rewrites the table in the document.

use super::presets::here;
use std::fmt::Write;
use wunderblock::policy::Policies;
use wunderblock_core::policy::{CompactionLimits, Summary, Template};

const BEGIN: &str = "by UPDATE_GOLDEN=1 cargo test -p wunderblock policies:: -->\n";
const END: &str = "<!-- end of presets -->";

/// A constant in a preset's file.
struct Row {
    key: String,
    value: String,
    source: Option<String>,
}

/// Returns the constants of a preset in the order of its file, that is, each line that sets a key. Leaves out the
/// preset's name, its description, and the sections of its template, which share one source.
fn rows(text: &str) -> Vec<Row> {
    let (mut rows, mut table, mut steps) = (Vec::new(), String::new(), 0);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("[[").and_then(|rest| rest.split(']').next()) {
            table = name.to_owned();
            steps += usize::from(name == "step");
        } else if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            table = name.to_owned();
        }
        let Some((key, rest)) = line.split_once(" = ").filter(|_| table != "summary.template.section") else {
            continue;
        };
        let (value, source) = match rest.split_once("# ") {
            Some((value, source)) => (value.trim(), Some(source.trim().to_owned())),
            None => (rest.trim(), None),
        };
        let key = match (table.as_str(), key) {
            ("", _) => continue,
            ("step", "do") => format!("step {steps}"),
            ("step", key) => format!("step {steps}: {key}"),
            (table, key) => format!("{table}.{key}"),
        };
        rows.push(Row { key, value: plain(value), source });
    }
    rows
}

/// Formats a number as in prose, and puts a word in backticks.
fn plain(value: &str) -> String {
    if value.starts_with('"') { value.replace('"', "`") } else { value.replace('_', "") }
}

fn table() -> String {
    let policies = Policies::embedded();
    let mut out = String::new();
    for name in policies.names() {
        let (Some(text), Some(policy)) = (policies.text(name), policies.preset(name)) else {
            continue;
        };
        writeln!(out, "\n### {name}\n\n{}.\n", capital(&policy.about)).unwrap();
        let rows = rows(text);
        if rows.is_empty() {
            continue;
        }
        writeln!(out, "| key | value | source |\n|---|---|---|").unwrap();
        for Row { key, value, source } in rows {
            writeln!(out, "| `{key}` | {value} | {} |", source.unwrap_or_default()).unwrap();
        }
    }
    out.push('\n');
    out
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[test]
fn every_constant_of_a_preset_has_its_source() {
    let policies = Policies::embedded();
    for name in policies.names() {
        for row in policies.text(name).map(rows).unwrap_or_default() {
            let is_step = row.key.starts_with("step") && !row.key.contains(':');
            assert!(row.source.is_some() || is_step, "{name}: {} has no source", row.key);
        }
    }
}

#[test]
fn the_table_says_what_the_files_say() {
    let path = here("../../docs/policies.md");
    let document = std::fs::read_to_string(&path).unwrap();
    let (head, rest) = document.split_once(BEGIN).expect("where the table begins");
    let (found, tail) = rest.split_once(END).expect("where it ends");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, format!("{head}{BEGIN}{}{END}{tail}", table())).unwrap();
        return;
    }
    assert_eq!(found, table());
}

#[test]
fn the_examples_are_read() {
    let document = std::fs::read_to_string(here("../../docs/policies.md")).unwrap();
    let examples: Vec<&str> =
        document.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(examples.len(), 2);
    for example in examples {
        let parsed = Policies::embedded().parse(example, "docs/policies.md").unwrap();
        assert_eq!(parsed.warnings, []);
        let summary = Summary { template: Template::default(), ..parsed.policy.summary };
        if parsed.policy.name.as_ref() == "mine" {
            assert_eq!((summary, parsed.policy.limits), (Summary::default(), CompactionLimits::default()));
        }
    }
}

#[test]
fn the_table_lacks_no_constant() {
    // A preset sets everything beyond the defaults in its own file, so the table lists all keys that the file has
    // when parsed as TOML.
    let policies = Policies::embedded();
    for name in policies.names().filter(|name| policies.text(name).is_some()) {
        let text = policies.text(name).unwrap();
        let file: toml::Value = toml::from_str(text).unwrap();
        assert!(file.get("extends").is_none(), "{name} would take constants from elsewhere");
        let mut keys = Vec::new();
        flat(&file, "", &mut keys);
        let mut listed: Vec<String> = rows(text).into_iter().map(|row| row.key).collect();
        keys.sort();
        listed.sort();
        assert_eq!(listed, keys, "{name}");
    }
}

/// Collects the keys of a file under the names the table uses.
fn flat(value: &toml::Value, path: &str, keys: &mut Vec<String>) {
    for (key, value) in value.as_table().unwrap() {
        match (path, key.as_str(), value) {
            ("", "name" | "about", _) | ("summary.template", "section", _) => {}
            ("", "step", steps) => {
                for (index, step) in steps.as_array().unwrap().iter().enumerate() {
                    let name = |key: &String| match key.as_str() {
                        "do" => format!("step {}", index + 1),
                        key => format!("step {}: {key}", index + 1),
                    };
                    keys.extend(step.as_table().unwrap().keys().map(name));
                }
            }
            (_, _, toml::Value::Table(_)) => flat(value, &joined(path, key), keys),
            _ => keys.push(joined(path, key)),
        }
    }
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Returns the keys that a table may have, as the error for an unknown key lists them.
fn known_keys(header: &str) -> Vec<String> {
    let text = format!("name = \"mine\"\n{header}\nno_such_key = 1\n");
    let error = Policies::embedded().parse(&text, "a file").unwrap_err();
    let unknown = error.findings.iter().find(|finding| finding.fault.key.ends_with("no_such_key"));
    let (_, known) = unknown.unwrap().fault.what.split_once("expected one of ").unwrap();
    known.split(", ").map(|key| key.trim_matches('`').to_owned()).collect()
}

#[test]
fn the_complete_example_has_every_key() {
    let document = std::fs::read_to_string(here("../../docs/policies.md")).unwrap();
    let example = document.split("```toml\n").nth(2).and_then(|rest| rest.split("```").next()).unwrap();
    let example: toml::Value = toml::from_str(example).unwrap();
    let lacks_none = |table: &toml::Value, header: &str, elsewhere: &[&str]| {
        let mut missing = known_keys(header);
        missing.retain(|key| table.get(key).is_none() && !elsewhere.contains(&key.as_str()));
        assert!(missing.is_empty(), "{header}: {missing:?}");
    };
    lacks_none(&example, "", &[]);
    for (name, table) in example.as_table().unwrap().iter().filter(|(_, value)| value.is_table()) {
        lacks_none(table, &format!("[{name}]"), &[]);
    }
    lacks_none(&example["trigger"]["soft"], "[trigger.soft]", &[]);
    let template = &example["summary"]["template"];
    lacks_none(template, "[summary.template]", &[]);
    lacks_none(&template["section"][0], "[[summary.template.section]]", &[]);
    for step in example["step"].as_array().unwrap() {
        // The gains are shown at one step.
        lacks_none(step, &format!("[[step]]\ndo = {}", step["do"]), &["min_gain", "min_tokens"]);
    }
    let kinds = Policies::embedded().parse("name = \"x\"\n[[step]]\ndo = \"?\"\n", "a file").unwrap_err();
    let kinds = kinds.to_string().rsplit_once("expected one of ").unwrap().1.split(", ").count();
    assert_eq!(example["step"].as_array().unwrap().len(), kinds);
}
