//! `simulate`: the table, the fields, the picture.

use crate::desk::Desk;
use crate::output::snapshot;
use std::path::PathBuf;

fn example() -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("examples/session.jsonl").to_string_lossy().into_owned()
}

/// Times differ from run to run: `1.2 s` becomes `0.0 s`.
fn timeless(text: &str) -> String {
    let line =
        |line: &str| match line.rfind(" s ").filter(|at| line[..*at].ends_with(|c: char| c.is_ascii_digit()))
        {
            Some(at) => format!("{} 0.0{}", line[..at - 4].to_owned(), &line[at..]),
            None => line.to_owned(),
        };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Handles are keyed by the ledger, and what their digits cost differs with them: of a policy's rows only its name is kept,
/// of other lines all but the numbers.
fn figureless(text: &str, policies: &[&str]) -> String {
    let mut rows = policies.to_vec();
    rows.sort_unstable();
    let is_row = |line: &&str| !policies.iter().any(|name| line.starts_with(&format!("{name} ")));
    let plain =
        |line: &str| line.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect::<String>();
    let lines: Vec<String> = text.lines().filter(is_row).map(plain).collect();
    format!("{}\n{}\n", lines.join("\n"), rows.join("\n"))
}

#[test]
fn a_session_is_played_under_each_policy() {
    let desk = Desk::bare();
    let example = example();
    desk.write("mine.toml", "extends = \"balanced\"\nname = \"mine\"\n\n[trigger.soft]\nfraction = 0.5\n");
    let policies = "balanced,claude-code,openmanus,mine.toml,off";
    let args = ["simulate", &example, "--window", "24000", "--policies", policies, "--per-turn", "-q"];
    let done = desk.run(&args).exits(0);
    assert!(done.out.lines().take(12).all(|line| line.chars().count() <= 100), "{}", done.out);
    assert_eq!(timeless(&done.out), timeless(&desk.run(&args).exits(0).out), "again the same");
    snapshot("simulate", &figureless(&done.out, &["balanced", "claude-code", "openmanus", "mine", "off"]));
}

#[test]
fn programs_get_fields_and_people_a_picture() {
    let desk = Desk::with_session();
    let session = crate::fixture::SESSION;
    let args = ["simulate", session, "--window", "2000", "--policies", "off,balanced", "--json"];
    let found = desk.run(&[&args[..], &["--svg", "sizes.svg"]].concat()).exits(0).json();
    for field in ["session", "sessions", "model", "window", "limit", "requests", "far_references", "policies"]
    {
        assert!(found.get(field).is_some(), "{field}: {found}");
    }
    let fields = [
        "name",
        "over_budget",
        "compactions",
        "rejected",
        "tokens_sent",
        "cached_tokens",
        "fresh_tokens",
        "cost",
        "peak_tokens",
        "user_messages_verbatim",
        "far_reference_recall",
        "far_reference_reachable",
        "literals_lost",
        "time_ms",
        "dominates",
        "dominated_by",
    ];
    for policy in found["policies"].as_array().unwrap() {
        fields.iter().for_each(|field| assert!(policy.get(field).is_some(), "{field}: {policy}"));
        assert_eq!(policy["over_budget"], 0);
        assert!(policy.get("series").is_none(), "only where it is asked for");
    }
    let turns = desk.run(&[&args[..], &["--per-turn"]].concat()).exits(0).json();
    let series = turns["policies"][0]["series"].as_array().unwrap();
    assert_eq!(series.len() as u64, turns["requests"].as_u64().unwrap());
    let svg = String::from_utf8(desk.bytes("sizes.svg")).unwrap();
    assert!(
        svg.starts_with("<svg")
            && svg.contains(">balanced</text>")
            && svg.contains("prefers-color-scheme: dark")
    );
}

#[test]
fn what_cannot_be_played_is_said() {
    let desk = Desk::with_session();
    let session = crate::fixture::SESSION;
    let done = desk.run(&["simulate", session, "--policies", "balnced"]).exits(2);
    assert!(done.err.contains("did you mean `balanced`"), "{}", done.err);
    let done = desk.run(&["simulate", session, "--policies", "nowhere.toml"]).exits(2);
    assert!(done.err.contains("nowhere.toml"), "{}", done.err);
    let done = desk.run(&["simulate", session, "--window", "900", "--reserve", "900"]).exits(2);
    assert!(done.err.contains("nothing is left"), "{}", done.err);
    desk.run(&["simulate", "nosuch"]).exits(2);
}
