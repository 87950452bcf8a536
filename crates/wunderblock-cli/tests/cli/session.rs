//! Tests of ids, starts of ids and paths that name a session.

use crate::desk::Desk;
use crate::fixture::SESSION;

fn say(desk: &Desk, session: &str) {
    let line = "{\"id\":\"m1\",\"role\":\"user\",\"content\":\"hello\"}\n";
    desk.feed(&["append", session], line).exits(0);
}

#[test]
fn a_unique_beginning_is_enough() {
    let desk = Desk::new();
    for id in ["alpha-1", "alpha-2", "beta"] {
        say(&desk, id);
    }
    let table =
        [("alpha-1", 0, "alpha-1"), ("b", 0, "beta"), ("alpha", 2, ""), ("gamma", 2, ""), ("", 2, "")];
    for (given, code, meant) in table {
        let done = desk.run(&["explain", given, "--json"]).exits(code);
        if code == 0 {
            assert_eq!(done.json()["session"], meant);
        } else {
            assert!(done.err.contains("hint: ") || given.is_empty(), "{given}: {}", done.err);
        }
    }
    let done = desk.run(&["show", "alpha"]).exits(2);
    assert!(
        done.err.contains("alpha-1") && done.err.contains("alpha-2"),
        "the candidates are named: {}",
        done.err
    );
}

#[test]
fn an_exact_id_is_not_ambiguous() {
    let desk = Desk::new();
    say(&desk, "alpha");
    say(&desk, "alpha-2");
    assert_eq!(desk.run(&["explain", "alpha", "--json"]).exits(0).json()["session"], "alpha");
}

#[test]
fn a_transcripts_id_means_its_newest_branch() {
    let desk = Desk::with_session();
    let newest = desk.run(&["show", SESSION]).exits(0).out;
    assert!(
        newest.contains("Only remove the brace") && !newest.contains("rewrite the whole parser"),
        "{newest}"
    );
    let branches: Vec<String> = desk
        .run(&["sessions", "--json"])
        .exits(0)
        .lines()
        .iter()
        .map(|line| line["session"].as_str().unwrap().to_owned())
        .filter(|id| id.starts_with(SESSION))
        .collect();
    assert_eq!(branches.len(), 2, "{branches:?}");
    let all: String = branches
        .iter()
        .map(|id| {
            let exact = if id.contains('~') { id.clone() } else { format!("{id}~1") };
            desk.run(&["show", &exact]).exits(0).out
        })
        .collect();
    assert!(all.contains("rewrite the whole parser"), "the branch that was left is kept");
}

#[test]
fn wildcard_characters_are_matched_literally() {
    let desk = Desk::new();
    say(&desk, "plain");
    for given in ["%", "_lain", "*", "pl?in"] {
        desk.run(&["show", given]).exits(2);
        assert_eq!(desk.run(&["sessions", given]).exits(0).out, "");
    }
}

#[test]
fn tenants_do_not_see_each_other() {
    let desk = Desk::with_session();
    assert_eq!(desk.run(&["sessions", "--tenant", "other"]).exits(0).out, "");
    desk.run(&["show", SESSION, "--tenant", "other"]).exits(2);
    desk.run(&["grep", "brace", "--tenant", "other"]).exits(1);
    desk.run(&["search", "brace", "--tenant", "other"]).exits(1);
    let handle =
        desk.run(&["grep", "P0042", "--json"]).exits(0).lines()[0]["handle"].as_str().unwrap().to_owned();
    desk.run(&["read", &handle, "--tenant", "other"]).exits(2);
}
