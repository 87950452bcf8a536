//! Generated sessions have the documented properties.

use std::collections::BTreeSet;
use wunderblock_core::event::{Fact, NewEvent};
use wunderblock_core::message::{Part, Role};
use wunderblock_testkit::generate::{claude_code_lines, session};

fn text(event: &NewEvent) -> usize {
    event.fact.bodies().iter().map(|body| body.bytes().0 as usize).sum()
}

#[test]
fn a_seed_means_one_session() {
    let one: Vec<NewEvent> = session(500, 7).collect();
    assert_eq!(one.len(), 500);
    assert!(session(500, 7).eq(one.iter().cloned()));
    assert!(session(400, 7).eq(one.iter().take(400).cloned()), "a shorter one is its beginning");
    assert!(session(500, 8).ne(one));
    assert!(claude_code_lines(300, 7).eq(claude_code_lines(300, 7)));
}

#[test]
fn a_session_has_the_shape_of_real_ones() {
    let events: Vec<NewEvent> = session(5_000, 1).collect();
    let ids: BTreeSet<&str> = events.iter().map(|event| event.id.as_str()).collect();
    assert_eq!(ids.len(), events.len());
    assert!(events.windows(2).all(|pair| pair[0].at < pair[1].at));
    let mean = events.iter().map(text).sum::<usize>() / events.len();
    assert!((3_000..3_600).contains(&mean), "{mean} bytes an event");
    let (mut open, mut results) = (Vec::new(), 0);
    for event in &events {
        let Fact::MessageAppended(said) = &event.fact else { continue };
        open.extend(said.message.calls().cloned());
        for part in &said.message.parts {
            match part {
                Part::ToolResult { call, .. } => {
                    assert_eq!(open.remove(0), *call, "answers come in the order of the calls");
                    assert!((2_000..21_000).contains(&text(event)), "{}", text(event));
                    results += 1;
                }
                Part::ToolCall { input, .. } => {
                    let input: serde_json::Value = serde_json::from_str(input.inline().unwrap()).unwrap();
                    assert!(input.is_object());
                }
                _ => {}
            }
        }
    }
    assert!(results > 1_500);
    let user = |event: &&NewEvent| matches!(&event.fact, Fact::MessageAppended(said) if said.message.role == Role::User);
    let chinese = |event: &&NewEvent| {
        event.fact.bodies().iter().any(|body| body.inline().unwrap().contains(['的', '了', '在', '是']))
    };
    assert!(events.iter().filter(user).count() > 100);
    assert!(events.iter().filter(user).filter(chinese).count() > 3);
    let all: String =
        events.iter().take(500).flat_map(|event| event.fact.bodies()).filter_map(|b| b.inline()).collect();
    let words: BTreeSet<&str> = all.split(|sign: char| !sign.is_alphabetic() && sign != '_').collect();
    assert!(words.len() > 3_000, "{} different words", words.len());
}

#[test]
fn lines_are_the_same_session() {
    let (mut parent, mut texts) = (serde_json::Value::Null, Vec::new());
    let mut usages = BTreeSet::new();
    for line in claude_code_lines(2_000, 3) {
        let record: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(record["parentUuid"], parent);
        parent = record["uuid"].clone();
        let content = &record["message"]["content"];
        match record["type"].as_str().unwrap() {
            "system" => continue,
            "assistant" => {
                // The session may end between a reply and its usage event.
                if record["message"]["usage"]["output_tokens"].as_u64().is_some_and(|tokens| tokens > 0) {
                    usages.insert(record["message"]["id"].as_str().unwrap().to_owned());
                }
            }
            other => assert_eq!(other, "user"),
        }
        let block = if content.is_array() { &content[0] } else { content };
        let text = match block["type"].as_str() {
            Some("tool_use") => serde_json::to_string(&block["input"]).unwrap(),
            Some("tool_result") => block["content"].as_str().unwrap().to_owned(),
            Some("text") => block["text"].as_str().unwrap().to_owned(),
            _ => block.as_str().unwrap().to_owned(),
        };
        texts.push(text);
    }
    let events: Vec<NewEvent> = session(2_000, 3).collect();
    let bodies: Vec<&str> =
        events.iter().flat_map(|event| event.fact.bodies()).map(|body| body.inline().unwrap()).collect();
    assert!(texts.iter().map(String::as_str).eq(bodies), "every text once, and in order");
    let told = events.iter().filter(|event| matches!(event.fact, Fact::UsageMeasured(_))).count();
    assert_eq!(usages.len(), told);
}
