//! Checks the promises of `examples/session.jsonl`, the file that people try first.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use regex::Regex;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use wunderblock::tokens::Vocabulary;
use wunderblock_core::message::Part;
use wunderblock_wire::transcript::{
    Format, RecordItem, RecordPlace, RecordStatus, TranscriptReader, TranscriptRecord, detect,
};

fn text() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/session.jsonl");
    TEXT.get_or_init(|| std::fs::read_to_string(path).unwrap())
}

fn lines() -> Vec<Value> {
    text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn records() -> Vec<TranscriptRecord> {
    let format = detect("session.jsonl", text().as_bytes()).unwrap();
    assert_eq!(format, Format::ClaudeCode);
    let (mut reader, mut offset, mut records) =
        (TranscriptReader::new(format, "session.jsonl"), 0, Vec::new());
    for (index, line) in text().lines().enumerate() {
        records.extend(reader.line(offset, index as u64 + 1, line.as_bytes()));
        offset += line.len() as u64 + 1;
    }
    records.extend(reader.finish());
    records
}

/// Returns the blocks of all messages, each with its message's id if there is one.
fn blocks(lines: &[Value]) -> Vec<(Option<&str>, &Value)> {
    let mut blocks = Vec::new();
    for message in lines.iter().filter_map(|line| line.get("message")) {
        let content = &message["content"];
        match content.as_array() {
            Some(parts) => blocks.extend(parts.iter().map(|part| (message["id"].as_str(), part))),
            None => blocks.push((None, content)),
        }
    }
    blocks
}

#[test]
fn it_is_a_long_session_in_a_small_file() {
    let lines = lines();
    let blocks = blocks(&lines);
    let calls: BTreeSet<&str> = blocks.iter().filter_map(|(id, _)| *id).collect();
    assert!(calls.len() >= 300, "{} model calls", calls.len());
    let tokens: u64 = blocks.iter().map(|(_, block)| tokens(block)).sum();
    assert!(tokens > 150_000, "{tokens} tokens");
    assert!(text().len() <= 1_500_000, "{} bytes", text().len());
}

/// Tokens of a block: text, thinking, the arguments of a tool call, or its result.
fn tokens(block: &Value) -> u64 {
    let said = |text: &str| u64::from(Vocabulary::O200k.count(text));
    let fields = ["text", "thinking", "content"].iter().filter_map(|key| block.get(key)?.as_str());
    let input = block.get("input").map_or(0, |input| said(&input.to_string()));
    block.as_str().map_or(0, said) + fields.map(said).sum::<u64>() + input
}

#[test]
fn the_reader_understands_every_record() {
    let records = records();
    for record in &records {
        assert!(
            matches!(record.kept, RecordStatus::Understood | RecordStatus::Bookkeeping),
            "line {}: {:?}",
            record.line,
            record.kept
        );
    }
    let items = || records.iter().flat_map(|record| &record.items);
    assert_eq!(
        items().filter(|item| matches!(item, RecordItem::Compacted { summary: Some(_), .. })).count(),
        1
    );
    assert_eq!(items().filter(|item| matches!(item, RecordItem::Spawned(_))).count(), 1);
    assert!(records.iter().any(|record| record.session.is_some()), "the sub-agent has a session of its own");
    let mut after: BTreeMap<&str, u32> = BTreeMap::new();
    for record in &records {
        if let RecordPlace::After(id) = &record.place {
            *after.entry(id).or_default() += 1;
        }
    }
    let branches = after.values().filter(|count| **count > 1).count();
    assert_eq!(branches, 2, "one place for each prompt that was taken back");
}

#[test]
fn every_call_has_one_result() {
    let (mut calls, mut results) = (BTreeSet::new(), BTreeSet::new());
    for record in records() {
        for item in record.items {
            let RecordItem::Message(message) = item else { continue };
            for part in message.parts {
                match part {
                    Part::ToolCall { call, .. } => assert!(calls.insert(call.clone()), "{call:?} twice"),
                    Part::ToolResult { call, .. } => {
                        assert!(calls.contains(&call), "a result before its call: {call:?}");
                        assert!(results.insert(call.clone()), "{call:?} answered twice");
                    }
                    Part::Opaque { raw, .. } => panic!("a block nobody knows: {raw:?}"),
                    _ => {}
                }
            }
        }
    }
    assert_eq!(calls, results);
}

#[test]
fn parents_come_first_and_time_never_goes_back() {
    let (mut seen, mut last) = (BTreeSet::new(), String::new());
    for line in lines() {
        let Some(id) = line["uuid"].as_str() else { continue };
        if let Some(parent) = line["parentUuid"].as_str() {
            assert!(seen.contains(parent), "{id} hangs on a record that is not there yet");
        }
        assert!(seen.insert(id.to_owned()), "{id} twice");
        let at = line["timestamp"].as_str().unwrap().to_owned();
        assert!(at >= last, "{id} at {at}, after {last}");
        last = at;
    }
}

#[test]
fn it_says_nothing_of_the_machine_that_recorded_it() {
    let home = Regex::new(r#"(?:^|[^/\w.-])/(?:tmp|root|work|Users|mnt|var|opt|private)\b"#).unwrap();
    let other_home = Regex::new(r"/home/([\w-]+)").unwrap();
    let host = Regex::new(r"https?://([\w.-]+)").unwrap();
    let address = Regex::new(r"[\w.+-]+@([\w-]+\.[\w.-]+)").unwrap();
    for (index, line) in text().lines().enumerate() {
        let line_number = index + 1;
        // An escaped line end would put the letter `n` before the next line's first path.
        let line = &line.replace("\\n", "  ").replace("\\t", "  ");
        assert!(home.find(line).is_none(), "line {line_number}: {:?}", home.find(line));
        assert!(!line.contains("registry+"), "line {line_number} names a registry");
        for user in other_home.captures_iter(line) {
            assert_eq!(&user[1], "dev", "line {line_number}");
        }
        for found in host.captures_iter(line) {
            assert!(
                ["docs.rs", "github.com", "rust-lang.github.io"].contains(&&found[1]),
                "line {line_number}: {}",
                &found[1]
            );
        }
        for found in address.captures_iter(line) {
            assert!(found[1].starts_with("example."), "line {line_number}: {}", &found[0]);
        }
    }
}
