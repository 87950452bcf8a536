//! `memory`: what a person says, what an agent proposes, and who decides.

use crate::desk::{Desk, Done};
use serde_json::Value;

const RULE: &str = "The tests run with make check";

/// Runs a command as in the shell that an agent opened.
fn as_agent(desk: &Desk, args: &[&str]) -> Done {
    Done::new(&desk.command(args).env("CLAUDECODE", "1").output().unwrap())
}

fn add(desk: &Desk, text: &str) -> String {
    let written = desk.run(&["memory", "add", text, "--json"]).exits(0).json();
    assert_eq!(written["applied"], 1);
    written["items"][0]["memory"].as_str().unwrap().to_owned()
}

fn texts(desk: &Desk, options: &[&str]) -> Vec<String> {
    let args: Vec<&str> = ["memory", "list", "--json"].into_iter().chain(options.iter().copied()).collect();
    let mut texts: Vec<String> =
        desk.run(&args).lines().iter().map(|memory| memory["text"].as_str().unwrap().to_owned()).collect();
    texts.sort_unstable();
    texts
}

fn waiting(desk: &Desk) -> Vec<Value> {
    desk.run(&["memory", "review", "--json"]).exits(0).lines()
}

#[test]
fn what_a_person_adds_is_listed_in_its_project_only() {
    let desk = Desk::new();
    let name = add(&desk, RULE);
    let again = desk.run(&["memory", "add", "the tests run with MAKE check!"]).exits(0);
    assert_eq!(again.out, format!("{name} says the same; nothing was added\n"));
    assert_eq!(texts(&desk, &[]), [RULE]);
    let listed = desk.run(&["memory", "list"]).exits(0);
    assert_eq!(listed.out, format!("{name}  fact · shared · now\n    {RULE}\n"));
    desk.shell("cd $HOME && mkdir other && cd other && $WB memory add 'Pages are blue' --everywhere")
        .exits(0);
    let other = desk.shell("cd $HOME/other && $WB memory list --json").exits(0).lines();
    assert_eq!(other.iter().map(|memory| &memory["text"]).collect::<Vec<_>>(), ["Pages are blue"]);
    assert_eq!(texts(&desk, &[]), ["Pages are blue", RULE]);
    assert_eq!(desk.run(&["sessions"]).out, "", "a memory log is not a session");
    desk.run(&["doctor"]).exits(0);
}

#[test]
fn an_agent_proposes_and_a_person_decides() {
    let desk = Desk::new();
    let proposed = as_agent(&desk, &["memory", "add", "Deploy on Fridays"]).exits(0);
    assert!(proposed.out.contains("waits for your verdict: nobody's words support it"), "{}", proposed.out);
    assert_eq!(texts(&desk, &[]), [""; 0]);
    let proposals = waiting(&desk);
    assert_eq!((proposals.len(), &proposals[0]["by"]), (1, &serde_json::json!(["agent", "claude-code"])));
    let name = proposals[0]["proposal"].as_str().unwrap();
    for verdict in ["apply", "discard"] {
        let refused = as_agent(&desk, &["memory", verdict, name]).exits(2);
        assert!(refused.err.contains("a person decides"), "{}", refused.err);
    }
    desk.run(&["memory", "discard", name, "--cause", "never on Fridays"]).exits(0);
    assert!(waiting(&desk).is_empty());
    // The same is known again, and the person may change their mind.
    let again = as_agent(&desk, &["memory", "add", "deploy on fridays."]).exits(0);
    assert!(again.out.contains("you rejected the same before"), "{}", again.out);
    let name = waiting(&desk)[0]["proposal"].as_str().unwrap().to_owned();
    desk.run(&["memory", "apply", &name]).exits(0);
    assert_eq!(texts(&desk, &[]), ["deploy on fridays."]);
    desk.run(&["memory", "apply", &name]).exits(3);
}

#[test]
fn changes_are_taken_back() {
    let desk = Desk::new();
    let berlin = add(&desk, "Ada lives in Berlin");
    let lisbon =
        desk.run(&["memory", "add", "Ada lives in Lisbon", "--supersedes", &berlin, "--json"]).json();
    let lisbon = lisbon["items"][0]["memory"].as_str().unwrap().to_owned();
    assert_eq!(texts(&desk, &[]), ["Ada lives in Lisbon"]);
    assert_eq!(texts(&desk, &["--all"]), ["Ada lives in Berlin", "Ada lives in Lisbon"]);
    let history = desk.run(&["memory", "history", &berlin]).exits(0);
    assert!(history.out.contains("superseded person you"), "{}", history.out);
    desk.run(&["memory", "rollback", &lisbon, "--to", "0"]).exits(0);
    assert_eq!(texts(&desk, &[]), ["Ada lives in Berlin"]);
    desk.run(&["memory", "forget", &berlin, "--dry-run"]).exits(0);
    assert_eq!(texts(&desk, &[]).len(), 1);
    desk.run(&["memory", "forget", &berlin]).exits(0);
    assert!(texts(&desk, &[]).is_empty());
    let heard = desk.run(&["memory", "add", "Ada lives in Berlin"]).exits(0);
    assert!(heard.out.contains("you asked to forget this"), "{}", heard.out);
    desk.run(&["memory", "restore", &berlin]).exits(0);
    assert_eq!(texts(&desk, &[]), ["Ada lives in Berlin"]);
}

#[test]
fn what_a_person_stated_in_sessions_is_proposed_once() {
    let desk = Desk::new();
    let said = |id: &str, text: &str| {
        desk.feed(&["append", id], &format!("{}\n", serde_json::json!({"role": "user", "content": text})))
            .exits(0)
    };
    said("one", "Never push to main without a green build. Then fix the parser, it fails on tabs.");
    said("two", "请始终用中文回答。");
    let learned = desk.run(&["memory", "learn", "one", "--json"]).exits(0).json();
    assert_eq!((&learned["sessions"], &learned["written"]["pending"]), (&1.into(), &1.into()));
    let proposals = waiting(&desk);
    assert_eq!(proposals[0]["text"], "Never push to main without a green build.");
    assert_eq!(proposals[0]["held"], serde_json::json!([]));
    desk.run(&["memory", "discard", proposals[0]["proposal"].as_str().unwrap()]).exits(0);
    let again = desk.run(&["memory", "learn", "one"]).exits(0);
    assert_eq!(again.out, "read 1 message of 1 session, 80 B\n0 proposals to decide about, 1 known before\n");
    desk.run(&["memory", "learn", "two"]).exits(0);
    assert_eq!(waiting(&desk)[0]["text"], "请始终用中文回答。");
}

#[test]
fn wrong_calls_say_what_to_do() {
    let desk = Desk::new();
    let name = add(&desk, RULE);
    for (args, code, words) in [
        (vec!["memory", "show", "nothing"], 2, "no memory in scope has the name `nothing`"),
        (vec!["memory", "show", "65303b-99"], 2, "no memory in scope has the name"),
        (vec!["memory", "rollback", &name, "--to", "999"], 3, "ends at position"),
        (vec!["memory", "restore", &name], 3, "only a forgotten memory can be restored"),
        (vec!["memory", "add", "x", "--evidence", "here"], 2, "use SESSION#POSITION=WORDS"),
        (vec!["memory", "add", "?!"], 1, "its text has no word"),
        (vec!["memory", "add", "x", "--importance", "101"], 1, "numbers from 0 to 100"),
        (vec!["memory", "add", "x", "--supersedes", "ffffff-2"], 1, "no memory in scope has the name"),
    ] {
        let done = desk.run(&args).exits(code);
        assert!(format!("{}{}", done.out, done.err).contains(words), "{args:?}: {}{}", done.out, done.err);
    }
    assert_eq!(texts(&desk, &[]), [RULE]);
}
