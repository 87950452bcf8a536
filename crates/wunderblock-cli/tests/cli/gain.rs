//! What shortening saved, and what `cost` tells about a single session.

use crate::desk::Desk;
use crate::reduce::{first_gap, log};
use serde_json::{Value, json};

/// The sum of the lines of a report.
fn saved(lines: &[Value]) -> i64 {
    lines.iter().map(|line| line["saved"].as_i64().unwrap()).sum()
}

#[test]
fn outputs_gain_what_they_leave_out_less_what_is_read_after_all() {
    let desk = Desk::with_session();
    let none = desk.run(&["gain"]).exits(0);
    assert!(none.out.is_empty() && none.err.contains("wunderblock run -- COMMAND"), "{}", none.err);
    desk.write("books.log", log());
    let done = desk.run(&["run", "--session", "7d1f0c52", "--", "cat", "books.log"]).exits(0);
    desk.run(&["run", "--", "sh", "-c", "echo short"]).exits(0);
    let (handle, _) = first_gap(&done.out);
    let by_command = desk.run(&["gain", "--by", "command"]).exits(0);
    let lines = desk.run(&["gain", "--by", "command", "--json"]).exits(0).lines();
    let [whole, sent] = ["verbatim", "sent"].map(|name| lines[0][name].as_i64().unwrap());
    assert!(done.err.contains(&format!("→ {sent} tokens")), "{} {sent}", done.err);
    assert_eq!((&lines[0]["name"], saved(&lines[..1])), (&json!("cat"), whole - sent));
    insta::assert_snapshot!("gain", by_command.out);
    // The output belongs to the session for which the command ran.
    let by_session = desk.run(&["gain", "--by", "session", "--json"]).exits(0).lines();
    assert_eq!(by_session.len(), 2);
    assert!(by_session[0]["name"].as_str().unwrap().starts_with("7d1f0c52"), "{}", by_session[0]);
    // A model reads the original after all, and takes in more than was saved.
    let call = json!({ "id": "a", "role": "assistant", "content": [
        { "type": "tool_use", "id": "t", "name": "mcp__wunderblock__read", "input": { "address": handle } }] });
    let result = json!({ "id": "b", "role": "user", "content": [
        { "type": "tool_result", "tool_use_id": "t", "content": log() }] });
    desk.feed(&["append", "reader"], &format!("{call}\n{result}\n")).exits(0);
    let lines = desk.run(&["gain", "--json"]).exits(0).lines();
    assert_eq!((lines[0]["reads"].as_i64(), lines[0]["losses"].as_i64()), (Some(1), Some(1)));
    assert_eq!(saved(&lines[..1]), whole - sent - lines[0]["read"].as_i64().unwrap());
    let shown = desk.run(&["gain"]).exits(0).out;
    assert!(
        shown.contains("1 original was read after all") && shown.contains("more than was saved"),
        "{shown}"
    );
}

#[test]
fn a_request_gains_against_the_whole_session_within_its_limit() {
    let desk = Desk::with_session();
    let total = |window: &str| {
        let args = ["context", "7d1f0c52", "--window", window, "--out", "r.json", "--json"];
        desk.run(&args).exits(0).json()["total_tokens"].as_i64().unwrap()
    };
    let small = total("16000");
    let lines = desk.run(&["gain", "--by", "session", "--json"]).exits(0).lines();
    let sum = lines.last().unwrap();
    assert_eq!((sum["texts"].as_i64(), sum["sent"].as_i64()), (Some(1), Some(small)));
    assert!(sum["verbatim"].as_i64().unwrap() <= 16_000, "no more than the window: {sum}");
    assert!(saved(&lines[..1]) > 0, "{sum}");
    let off = ["context", "7d1f0c52", "--window", "1000000", "--policy", "off", "--out", "r.json"];
    desk.run(&off).exits(0);
    let after = desk.run(&["gain", "--json"]).exits(0).lines();
    assert!(saved(&after[..1]) >= saved(&lines[..1]), "a request with everything in it loses nothing");
}

/// A log of requests to Anthropic, each with the tools of a name.
fn requests(tools: &[&str]) -> String {
    let said = |number: usize| {
        let role = if number.is_multiple_of(2) { "user" } else { "assistant" };
        json!({ "role": role, "content": format!("turn {number}") })
    };
    let entry = |(number, tool): (usize, &&str)| {
        let messages: Vec<Value> = (0..=number * 2).map(said).collect();
        json!({
            "request": { "model": "claude-sonnet-4-5", "max_tokens": 9, "messages": messages,
                "tools": [{ "name": tool, "input_schema": { "type": "object" } }] },
            "response": { "id": format!("m{number}"), "type": "message", "role": "assistant",
                "model": "claude-sonnet-4-5", "stop_reason": "end_turn",
                "content": [{ "type": "text", "text": format!("turn {}", number * 2 + 1) }],
                "usage": { "input_tokens": 10, "cache_read_input_tokens": 0,
                    "cache_creation_input_tokens": 20_000 + number, "output_tokens": 9 } },
        })
    };
    tools.iter().enumerate().map(|(number, tool)| format!("{}\n", entry((number, tool)))).collect()
}

#[test]
fn a_changed_beginning_is_placed_and_tools_are_counted() {
    let desk = Desk::new();
    desk.write("log.jsonl", requests(&["open", "shut"]));
    desk.run(&["import", "log.jsonl"]).exits(0);
    let sessions = desk.run(&["sessions", "--json"]).exits(0).lines();
    let id = sessions[0]["session"].as_str().unwrap();
    let lines = desk.run(&["cost", id, "--json"]).exits(0).lines();
    let broken = lines.iter().find(|line| line["by"] == "cache_break").unwrap();
    assert_eq!(broken["place"]["part"], "tools");
    let log = requests(&["open", "shut"]);
    let second: &str = log.lines().nth(1).unwrap();
    let request = second.split_once("\"request\":").unwrap().1;
    let offset = usize::try_from(broken["place"]["offset"].as_u64().unwrap()).unwrap();
    assert!(request[offset..].starts_with("shut"), "{}", &request[offset..]);
    let shown = desk.run(&["cost", id]).exits(0).out;
    assert!(shown.contains(&format!("changed from byte {offset} on, in the tools")), "{shown}");
}

#[test]
fn the_tools_of_a_session_are_counted_once() {
    let desk = Desk::with_session();
    let lines = desk.run(&["cost", "7d1f0c52", "--json"]).exits(0).lines();
    let tools: Vec<&Value> = lines.iter().filter(|line| line["by"] == "tool").collect();
    let calls: u64 = tools.iter().map(|tool| tool["calls"].as_u64().unwrap()).sum();
    let all = desk.run(&["show", "7d1f0c52"]).exits(0).out;
    assert!(calls > 0 && tools.iter().all(|tool| tool["tokens"].as_u64().is_some()), "{all}");
    insta::assert_snapshot!("cost_session", desk.run(&["cost", "7d1f0c52"]).exits(0).out);
}
