//! The live door.

use crate::desk::Desk;
use crate::fixture::SESSION;
use std::io::{BufRead, BufReader, Write};

fn message(id: &str, text: &str) -> String {
    format!(
        "{}\n",
        serde_json::json!({ "id": id, "at": 1_772_355_600_000i64, "role": "user", "content": text })
    )
}

#[test]
fn every_line_is_answered_and_a_bad_one_holds_up_no_other() {
    let desk = Desk::new();
    let input = [
        message("m1", "one"),
        "\n".to_owned(),
        "{broken\n".to_owned(),
        message("m1", "one"),
        message("m1", "another"),
        "[1,2]\n".to_owned(),
        "{\"id\":\"m2\",\"kind\":\"message.appended\",\"at\":1772355600000,\"message\":{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"text\":\"two\"}]}}\n".to_owned(),
        "{\"id\":\"m3\",\"kind\":\"no.such.kind\"}\n".to_owned(),
        "{\"id\":\"m\\u0007\",\"role\":\"user\",\"content\":\"x\"}\n".to_owned(),
        "{\"id\":\"m4\",\"role\":\"emperor\",\"content\":\"x\"}\n".to_owned(),
        message("m5", "last, without a newline").trim_end().to_owned(),
    ];
    let done = desk.feed(&["append", "live"], &input.concat()).exits(1);
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("append", done.out));
    assert_eq!(done.err, "");
}

#[test]
fn a_conflict_is_a_refusal_and_duplicates_are_none() {
    let desk = Desk::new();
    desk.feed(&["append", "live"], &message("m1", "one")).exits(0);
    let again = desk.feed(&["append", "live"], &message("m1", "one")).exits(0);
    assert_eq!(again.json()["status"], "duplicate");
    let other = desk.feed(&["append", "live"], &(message("m1", "other") + &message("m2", "two"))).exits(3);
    let answers = other.lines();
    assert_eq!((&answers[0]["status"], &answers[1]["status"]), (&"conflict".into(), &"appended".into()));
    assert!(answers[0]["hint"].is_string() && answers[0]["seq"].is_null());
}

#[test]
fn equal_lines_without_ids_are_two_events() {
    let desk = Desk::new();
    let line = "{\"role\":\"user\",\"content\":\"again\"}\n";
    let answers = desk.feed(&["append", "live"], &line.repeat(3)).exits(0).lines();
    assert!(answers.iter().all(|answer| answer["status"] == "appended"));
    assert_eq!(answers.last().unwrap()["seq"], 4, "after the opening event");
}

#[test]
fn an_answer_comes_before_the_next_line_is_needed() {
    let desk = Desk::new();
    let mut child = desk.start(&["append", "live"]);
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for number in 0..5 {
        stdin.write_all(message(&format!("m{number}"), "hi").as_bytes()).unwrap();
        let answer: serde_json::Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["id"], format!("m{number}"));
        // Durable when it is acknowledged: somebody else sees it while the writer is still there.
        let seen = desk.run(&["show", "live", "--json"]).exits(0).lines();
        assert_eq!(seen.last().unwrap()["seq"], answer["seq"]);
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn several_processes_append_to_one_session_at_once() {
    // The ledger does not exist yet: they also race to make it.
    let desk = Desk::bare();
    let (writers, each) = (4, 60);
    let children: Vec<_> = (0..writers).map(|_| desk.start(&["append", "shared"])).collect();
    let running: Vec<_> = children
        .into_iter()
        .enumerate()
        .map(|(writer, mut child)| {
            std::thread::spawn(move || {
                let mut stdin = child.stdin.take().unwrap();
                for number in 0..each {
                    stdin
                        .write_all(message(&format!("{writer}-{number}"), &"text ".repeat(50)).as_bytes())
                        .unwrap();
                }
                drop(stdin);
                child.wait_with_output().unwrap()
            })
        })
        .collect();
    let mut acknowledged = Vec::new();
    for thread in running {
        let output = thread.join().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        for line in text.lines() {
            let answer: serde_json::Value = serde_json::from_str(line).unwrap();
            acknowledged.push((answer["seq"].as_u64().unwrap(), answer["id"].as_str().unwrap().to_owned()));
        }
    }
    assert_eq!(acknowledged.len(), writers * each);
    let events = desk.run(&["export", "shared"]).exits(0).lines();
    let seqs: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=(writers * each) as u64 + 1).collect::<Vec<_>>(), "gapless");
    for (seq, id) in acknowledged {
        assert_eq!(events[seq as usize - 1]["id"], id.as_str(), "where the acknowledgement says");
    }
    assert_eq!(desk.run(&["doctor", "--json"]).exits(0).json()["ok"], true);
}

#[test]
fn an_import_and_an_append_share_the_ledger() {
    let desk = Desk::new();
    let mut child = desk.start(&["append", "live"]);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(message("m1", "before").as_bytes()).unwrap();
    desk.run(&["import", "session.jsonl", "-q"]).exits(0);
    stdin.write_all(message("m2", "after").as_bytes()).unwrap();
    drop(stdin);
    assert!(child.wait_with_output().unwrap().status.success());
    desk.run(&["search", "brace"]).exits(0);
    assert_eq!(desk.run(&["doctor", "--json"]).exits(0).json()["ok"], true);
}

#[test]
fn what_is_exported_can_be_appended() {
    let desk = Desk::with_session();
    let exported = desk.run(&["export", SESSION]).exits(0).out;
    let done = desk.feed(&["append", "copy"], &exported).exits(0);
    assert!(done.lines().iter().all(|answer| answer["status"] == "appended"), "{}", done.out);
    let bodies = |text: &str| -> Vec<String> {
        let events = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        events
            .filter(|event| event["kind"] == "message.appended")
            .map(|event| event["message"].to_string())
            .collect()
    };
    let copy = desk.run(&["export", "copy"]).exits(0).out;
    assert_eq!(bodies(&copy), bodies(&exported));
    let same = |session: &str| desk.run(&["export", session, "--to", "anthropic"]).exits(0).out;
    assert_eq!(same("copy"), same(SESSION), "the same request comes of it");
    let again = desk.feed(&["append", "copy"], &exported).exits(0);
    assert!(again.lines().iter().all(|answer| answer["status"] == "duplicate"), "{}", again.out);
}

#[test]
fn appending_to_a_transcript_goes_on_where_it_ended() {
    let desk = Desk::with_session();
    desk.feed(&["append", SESSION], &message("live-1", "zanzibar")).exits(0);
    assert!(desk.run(&["show", SESSION]).exits(0).out.contains("zanzibar"));
    assert!(desk.run(&["show", "session.jsonl"]).exits(0).out.contains("zanzibar"));
}

#[test]
fn a_wrong_session_id_is_wrong_usage() {
    let desk = Desk::new();
    for id in ["", "a\u{7}b", &"x".repeat(600)] {
        let done = desk.feed(&["append", id], &message("m1", "x")).exits(2);
        assert_eq!(done.out, "");
        assert!(!done.err.contains('\u{7}'));
    }
}
