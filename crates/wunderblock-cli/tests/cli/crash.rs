//! Tests that `kill -9` at any moment loses nothing that was acknowledged, and leaves the ledger intact.
//!
//! `WUNDERBLOCK_TEST_KILLS` is the total number of kills, half in appends and half in imports (default 60; `xtask
//! prove` makes 1,000, in all commands). `WUNDERBLOCK_TEST_SEED` determines the moments of the kills.

use crate::desk::Desk;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin};
use std::time::{Duration, Instant};

pub(crate) fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a number"))
}

/// Random numbers (Sebastiano Vigna's splitmix64).
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit.max(1)
    }
}

fn text_of(id: &str) -> String {
    // Some texts are long enough to become separate blobs.
    format!("the words of {id}. ").repeat(1 + id.len() % 3 * 20)
}

fn feed(mut stdin: ChildStdin, first: u64) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        for number in first..first + 400 {
            let id = format!("m{number}");
            let line = json!({ "id": id, "role": "user", "content": text_of(&id) });
            if writeln!(stdin, "{line}").is_err() {
                return;
            }
        }
        // The pipe stays open, so the program waits for more input until it is killed.
        std::thread::sleep(Duration::from_millis(200));
    })
}

/// Reads acknowledgements until the program has ended. A line that the kill cut off is skipped.
fn acknowledged(child: &mut Child) -> std::thread::JoinHandle<Vec<(u64, String)>> {
    let out = BufReader::new(child.stdout.take().expect("a pipe"));
    std::thread::spawn(move || {
        let answers = out.lines().map_while(Result::ok);
        let answers = answers.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
        let done =
            answers.filter(|answer| matches!(answer["status"].as_str(), Some("appended" | "duplicate")));
        done.map(|answer| (answer["seq"].as_u64().unwrap(), answer["id"].as_str().unwrap().to_owned()))
            .collect()
    })
}

/// Checks that `doctor` finds only problems in derived data, and that `doctor --repair` fixes them.
fn well(desk: &Desk, when: &str) {
    let done = desk.run(&["doctor", "--json"]);
    let report = done.json();
    let problems =
        report["problems"].as_array().unwrap_or_else(|| panic!("{when}: {}{}", done.out, done.err));
    assert!(problems.iter().all(|problem| problem["derived"] == true), "{when}: {report}");
    if !problems.is_empty() {
        assert_eq!(desk.run(&["doctor", "--repair", "--json"]).exits(0).json()["ok"], true, "{when}");
    }
}

#[test]
fn killed_appends_lose_nothing_that_was_acknowledged() {
    let kills = setting("WUNDERBLOCK_TEST_KILLS", 40).div_ceil(2);
    let mut draw = Draw(setting("WUNDERBLOCK_TEST_SEED", 1));
    let (mut desk, mut known, mut next, mut count) = (Desk::bare(), HashMap::new(), 0, 0);
    for round in 0..kills {
        if round % 10 == 0 {
            // A new ledger is created now and then, so that kills also hit the creation of a ledger.
            (desk, known, next) = (Desk::bare(), HashMap::new(), 0);
        }
        let mut child = desk.start(&["append", "live"]);
        let feeder = feed(child.stdin.take().unwrap(), next);
        let reader = acknowledged(&mut child);
        std::thread::sleep(Duration::from_micros(draw.below(200_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        for (seq, id) in reader.join().unwrap() {
            known.insert(seq, id);
            count += 1;
        }
        feeder.join().unwrap();
        next += 400;
        if known.is_empty() {
            continue;
        }
        well(&desk, &format!("round {round}"));
        let events = desk.run(&["export", "live"]).exits(0).lines();
        for (place, event) in events.iter().enumerate() {
            assert_eq!(event["seq"], place + 1, "gapless");
        }
        for (seq, id) in &known {
            let event = &events[usize::try_from(*seq).unwrap() - 1];
            assert_eq!(event["id"], id.as_str(), "round {round}: position {seq}");
            assert_eq!(event["message"]["parts"][0]["text"], text_of(id).as_str());
        }
    }
    assert!(count > 0, "some lines were acknowledged before a kill");
}

#[test]
fn killed_imports_can_be_done_again() {
    let kills = setting("WUNDERBLOCK_TEST_KILLS", 60).div_ceil(2);
    let mut draw = Draw(setting("WUNDERBLOCK_TEST_SEED", 1) ^ 0x5eed);
    let transcript = crate::fixture::transcript();
    let reference = Desk::bare();
    reference.write("session.jsonl", &transcript);
    let begun = Instant::now();
    reference.run(&["import", "session.jsonl", "-q"]).exits(0);
    // The moments of the kills are derived from the duration of an import on this machine.
    let mut whole = u64::try_from(begun.elapsed().as_micros()).unwrap();
    let bodies = |desk: &Desk| -> Vec<Value> {
        let events = desk.run(&["export", "session.jsonl"]).exits(0).lines();
        events
            .into_iter()
            .map(|event| json!([event["seq"], event["id"], event["kind"], event["message"]]))
            .collect()
    };
    let expected = bodies(&reference);
    let (mut cut_short, mut desk) = (0, Desk::bare());
    for round in 0..kills {
        // Imports into the same ledger are killed up to three times before a new ledger is created.
        if round % 3 == 0 {
            desk = Desk::bare();
            desk.write("session.jsonl", &transcript);
        }
        let mut child = desk.start(&["import", "session.jsonl", "-q"]);
        std::thread::sleep(Duration::from_micros(draw.below(whole)));
        child.kill().unwrap();
        let ended = child.wait().unwrap().success();
        cut_short += u64::from(!ended);
        whole = if ended { whole * 9 / 10 } else { whole * 21 / 20 };
        if round % 3 != 2 {
            continue;
        }
        if desk.path("ledger.db").exists() && desk.run(&["sessions"]).code == 0 {
            well(&desk, &format!("round {round}"));
        }
        desk.run(&["import", "session.jsonl", "-q"]).exits(0);
        assert!(desk.run_bytes(&["export", "session.jsonl", "--original"]).stdout == transcript.as_bytes());
        assert_eq!(bodies(&desk), expected, "round {round}: nothing twice, nothing missing");
        assert_eq!(desk.run(&["doctor", "--json"]).exits(0).json()["ok"], true, "round {round}");
    }
    assert!(cut_short * 4 > kills, "{cut_short} of {kills} imports were cut short");
}
