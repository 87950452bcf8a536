//! Tests of `simulate`: its table, its fields and its picture.

use crate::desk::Desk;
use crate::output::snapshot;
use std::path::PathBuf;

fn example() -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("examples/session.jsonl").to_string_lossy().into_owned()
}

/// Masks figures: keeps only the names of the policies' rows, and replaces digits in other lines. The figures vary
/// between ledgers, because handles have different digits, which cost different numbers of tokens.
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
    desk.write("mine.toml", "extends = \"balanced\"\nname = \"mine\"\n\n[trigger]\ndown_to = 0.4\nidle = 0\n\n[trigger.soft]\nfraction = 0.5\n");
    let policies = "balanced,claude-code,openmanus,mine.toml,off";
    let args = ["simulate", &example, "--window", "24000", "--policies", policies, "--per-turn", "-q"];
    let done = desk.run(&args).exits(0);
    assert!(done.out.lines().take(12).all(|line| line.chars().count() <= 100), "{}", done.out);
    let few = ["simulate", &example, "--window", "24000", "--policies", "balanced,off", "--per-turn", "-q"];
    assert_eq!(desk.run(&few).exits(0).out, desk.run(&few).exits(0).out, "again the same");
    snapshot("simulate", &figureless(&done.out, &["balanced", "claude-code", "openmanus", "mine", "off"]));
}

#[test]
fn programs_get_fields_and_people_a_picture() {
    let desk = Desk::with_session();
    let session = crate::fixture::SESSION;
    let args = ["simulate", session, "--window", "2000", "--policies", "off,balanced", "--json"];
    let found = desk.run(&[&args[..], &["--svg", "sizes.svg"]].concat()).exits(0).json();
    for field in
        ["histories", "windows", "requests", "far_references", "largest_reply", "against", "policies"]
    {
        assert!(found.get(field).is_some(), "{field}: {found}");
    }
    for field in
        ["session", "sessions", "model", "window", "limits", "requests", "far_references", "policies"]
    {
        assert!(found["histories"][0].get(field).is_some(), "{field}: {found}");
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
        "user_words_share",
        "far",
        "near",
        "repeated_reads",
        "difference",
        "writer",
        "levels",
        "literals_lost",
        "time_ms",
        "dominates",
        "dominated_by",
    ];
    for policy in found["policies"].as_array().unwrap() {
        fields.iter().for_each(|field| assert!(policy.get(field).is_some(), "{field}: {policy}"));
        assert_eq!(policy["over_budget"], 0);
        assert!(policy.get("series").is_none(), "only where it is asked for");
        for field in
            ["references", "recalled", "in_lists", "reached", "recall", "recall_per_reply", "reach_per_reply"]
        {
            assert!(policy["far"].get(field).is_some(), "{field}: {policy}");
        }
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

/// Sessions, files and folders can be simulated together, with a policy file that has the name of a preset.
#[test]
fn many_sessions_are_played_at_once() {
    let desk = Desk::bare();
    let line = |role: &str, text: &str| format!("{{\"role\":\"{role}\",\"content\":\"{text}\"}}\n");
    let talk = |name: &str| {
        let turns = (0..6).map(|nth| line("user", &format!("{name} {nth}")) + &line("assistant", "yes"));
        turns.collect::<String>()
    };
    desk.write("talks/a.jsonl", talk("one"));
    desk.write("talks/b.jsonl", talk("two"));
    desk.write("talks/notes.json", "{}");
    desk.write("c.jsonl", talk("three"));
    desk.write(
        "balanced.toml",
        "extends = \"balanced\"\nname = \"balanced\"\n\n[trigger]\ndown_to = 0.4\nidle = 0\n\n[trigger.soft]\nfraction = 0.5\n",
    );
    let args =
        ["simulate", "talks", "c.jsonl", "talks/a.jsonl", "--window", "8000", "--jitter", "3", "--json"];
    let policies = ["--policy", "balanced", "--policy", "balanced.toml", "--against", "off"];
    let found = desk.run(&[&args[..], &policies].concat()).exits(0).json();
    assert_eq!(
        found["histories"].as_array().unwrap().len(),
        3,
        "a file that was named twice is played once: {found}"
    );
    assert_eq!((&found["windows"], &found["against"]), (&3.into(), &"off".into()));
    let mut names: Vec<&str> =
        found["policies"].as_array().unwrap().iter().map(|policy| policy["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["balanced", "balanced.toml", "off"]);
    let done = desk.run(&[&args[..], &["--svg", "x.svg"]].concat()).exits(2);
    assert!(done.err.contains("--jitter"), "{}", done.err);
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
    assert!(done.err.contains("no room in a window of 900"), "{}", done.err);
    desk.run(&["simulate", "nosuch"]).exits(2);
}
