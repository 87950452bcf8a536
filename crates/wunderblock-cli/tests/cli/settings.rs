//! Tests of the settings file: what it adds to requests, and which of the user's own files are used.

use crate::desk::Desk;
use serde_json::Value;

fn desk() -> Desk {
    let desk = Desk::new();
    desk.feed(&["append", "talk"], "{\"id\":\"m1\",\"role\":\"user\",\"content\":\"Go on.\"}\n").exits(0);
    desk
}

fn explained(desk: &Desk, args: &[&str]) -> Value {
    desk.run(&[&["explain", "talk", "--json"], args].concat()).exits(0).json()
}

fn names(report: &Value) -> Vec<&str> {
    report["blocks"].as_array().unwrap().iter().map(|block| block["name"].as_str().unwrap()).collect()
}

#[test]
fn a_persons_own_files_count_wherever_work_happens() {
    let desk = desk();
    desk.write(".claude/CLAUDE.md", "Be brief.\n");
    desk.write("config/wunderblock/AGENTS.md", "Be exact.\n");
    desk.write(".codex/AGENTS.md", "Be kind.\n");
    desk.write("repo/.git/HEAD", "");
    let report = explained(&desk, &["--cwd", "repo"]);
    let ends: Vec<bool> = names(&report)
        .iter()
        .zip(["wunderblock/AGENTS.md", ".codex/AGENTS.md", ".claude/CLAUDE.md"])
        .map(|(name, end)| name.ends_with(end))
        .collect();
    assert_eq!(ends, [true; 3], "{:?}", names(&report));
    assert!(report["blocks"].as_array().unwrap().iter().all(|block| block["level"] == "user"));
    desk.write("none.toml", "[instructions]\nuser = []\nmanaged = []\n");
    assert!(names(&explained(&desk, &["--cwd", "repo", "--config", "none.toml"])).is_empty());
    desk.write("mine.toml", "[instructions]\nuser = [\"~/.claude/CLAUDE.md\"]\nmanaged = [\"policy.md\"]\n");
    desk.write("policy.md", "No network.\n");
    let report = explained(&desk, &["--cwd", "repo", "--config", "mine.toml"]);
    let levels: Vec<&Value> =
        report["blocks"].as_array().unwrap().iter().map(|block| &block["level"]).collect();
    assert_eq!(levels, ["managed policy", "user"]);
}

#[test]
fn paths_begin_where_the_settings_are() {
    let desk = desk();
    desk.write("safety.md", "From where it was started.\n");
    desk.write("etc/safety.md", "From beside the settings.\n");
    desk.write("etc/config.toml", "[sources]\nsafety = [\"safety.md\"]\n");
    let request = desk.run(&["context", "talk", "--config", "etc/config.toml", "--out", "-"]).exits(0).out;
    assert!(request.contains("From beside the settings."), "{request}");
}

#[test]
fn flags_come_before_the_settings() {
    let desk = desk();
    for name in ["a.md", "b.md"] {
        desk.write(name, format!("This is {name}.\n"));
    }
    desk.write("a.json", "[{\"name\":\"a\",\"input_schema\":{\"type\":\"object\"}}]");
    desk.write("b.json", "[{\"name\":\"b\",\"input_schema\":{\"type\":\"object\"}}]");
    desk.write("config.toml", "[sources]\nsystem = [\"a.md\"]\ntools = \"a.json\"\n");
    let config = ["--config", "config.toml"];
    let report = explained(&desk, &config);
    assert_eq!(names(&report).len(), 1);
    assert_eq!(report["tools"][0]["name"], "a");
    let report = explained(&desk, &[&config[..], &["--system", "b.md", "--tools", "b.json"]].concat());
    assert_eq!(names(&report)[0], "b.md", "texts of both, those of flags first");
    assert_eq!(names(&report).len(), 2);
    assert_eq!(report["tools"].as_array().unwrap().len(), 1);
    assert_eq!(report["tools"][0]["name"], "b");
}

#[test]
fn providers_of_state_are_asked_and_what_they_said_is_said_once() {
    let desk = desk();
    desk.write("status", "on main\n");
    desk.write(
        "config.toml",
        "[sources]\nproviders = [{ name = \"git\", command = [\"cat\", \"status\"] }, { name = \"page\", command = [\"cat\", \"page\"] }]\n",
    );
    let run = || {
        let done = desk.run(&["context", "talk", "--config", "config.toml", "--json"]).exits(0).json();
        let request = desk.run_bytes(&["replay", "talk", "--out", "-"]).stdout;
        (done, String::from_utf8(request).unwrap())
    };
    let (report, request) = run();
    assert_eq!(request.matches("on main").count(), 1);
    assert_eq!(report["findings"][0]["source"], "state provider page");
    let (_, again) = run();
    assert_eq!(again, request, "nothing has changed");
    desk.write("status", "on side\n");
    let (_, changed) = run();
    assert_eq!([changed.matches("on main").count(), changed.matches("on side").count()], [1, 1]);
    std::fs::remove_file(desk.path("status")).unwrap();
    let (report, silent) = run();
    assert_eq!(silent, changed, "what it said last still stands");
    assert_eq!(report["findings"].as_array().unwrap().len(), 2);
}

#[test]
fn a_provider_is_asked_where_work_happens() {
    let desk = desk();
    desk.write("repo/.git/HEAD", "");
    desk.write("repo/here", "in the project\n");
    desk.write("config.toml", "[sources]\nproviders = [{ name = \"it\", command = [\"cat\", \"here\"] }]\n");
    let request =
        desk.run(&["context", "talk", "--config", "config.toml", "--cwd", "repo", "--out", "-"]).exits(0).out;
    assert!(request.contains("in the project"));
}

#[test]
fn providers_that_hang_fail_or_flood_hold_nothing_up() {
    let desk = desk();
    desk.write(
        "config.toml",
        "[sources]\nproviders = [\n\
         { name = \"sleeper\", command = [\"sleep\", \"30\"] },\n\
         { name = \"missing\", command = [\"/no/such/program\"] },\n\
         { name = \"flood\", command = [\"head\", \"-c\", \"3000000\", \"/dev/zero\"] },\n\
         { name = \"red\", command = [\"printf\", \"\\\\033[31mred\"] },\n]\n",
    );
    let done = desk.run(&["context", "talk", "--config", "config.toml", "-v"]).exits(0);
    for words in ["`sleep` took longer than 2000 ms", "`/no/such/program` does not start"] {
        assert!(done.out.contains(words), "{}", done.out);
    }
    assert!(!done.out.contains('\u{1b}') && !done.out.contains('\0'), "{}", done.out);
    let report = explained(&desk, &[]);
    assert!(report["total_tokens"].as_u64().unwrap() < 60_000, "{}", report["total_tokens"]);
}

#[test]
fn budgets_hold() {
    let desk = desk();
    desk.write("repo/.git/HEAD", "");
    desk.write("repo/AGENTS.md", "Every line is a rule that takes some room.\n".repeat(2_000));
    let report = explained(&desk, &["--cwd", "repo"]);
    let taken = |report: &Value| {
        let sections = report["sections"].as_array().unwrap();
        sections
            .iter()
            .find(|line| line["name"] == "instructions")
            .map_or(0, |line| line["tokens"].as_u64().unwrap())
    };
    let free = taken(&report);
    assert!(free > 10_000, "{free}");
    desk.write("config.toml", "[budget]\ninstructions = { min = 100, max = 3000, share = 20 }\n");
    let report = explained(&desk, &["--cwd", "repo", "--config", "config.toml"]);
    assert!((1_000..=3_000).contains(&taken(&report)), "{}", taken(&report));
    assert_eq!(report["blocks"][0]["shown"], "cut");
    assert_eq!(report["findings"][0]["what"], "no_room");
}

#[test]
fn warnings_are_given_at_their_thresholds() {
    let desk = desk();
    desk.write("config.toml", "[context]\nwarn = [1, 2]\n");
    desk.write("system.md", "Some words that take room. ".repeat(60));
    let args = ["--config", "config.toml", "--system", "system.md", "--window", "4000"];
    let report = explained(&desk, &args);
    assert_eq!(report["warned"], 2);
    assert!(explained(&desk, &["--config", "config.toml"])["warned"].is_null());
}
