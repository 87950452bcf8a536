use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A request of each dialect with the same three parts.
fn request(dialect: usize, tools: &[String], system: &str, said: &[String]) -> String {
    let message = |(number, text): (usize, &String)| match dialect {
        2 => json!({ "role": role_of(dialect, number), "parts": [{ "text": text }] }),
        _ => json!({ "role": role_of(dialect, number), "content": text }),
    };
    let said: Vec<Value> = said.iter().enumerate().map(message).collect();
    let tools: Vec<Value> = tools.iter().map(|name| json!({ "name": name })).collect();
    match dialect {
        0 => json!({ "model": "m", "messages": said, "system": system, "tools": tools }),
        1 => json!({ "model": "m", "input": said, "instructions": system, "tools": tools }),
        _ => json!({ "contents": said, "systemInstruction": { "parts": [{ "text": system }] }, "tools": tools }),
    }
    .to_string()
}

fn parts() -> impl Strategy<Value = (usize, Vec<String>, String, Vec<String>)> {
    let texts = |most| prop::collection::vec("[a-z é]{1,12}", 1..most);
    (0..3usize, texts(4), "[a-z]{1,9}", texts(7))
}

proptest! {
    #[test]
    fn a_request_that_only_grows_has_no_break((dialect, tools, system, said) in parts(), more in "[a-z]{1,9}") {
        let before = request(dialect, &tools, &system, &said);
        let mut longer = said.clone();
        longer.push(more);
        let after = request(dialect, &tools, &system, &longer);
        prop_assert_eq!(first_break(before.as_bytes(), before.as_bytes()), None);
        prop_assert_eq!(first_break(before.as_bytes(), after.as_bytes()), None);
        // What was appended is gone.
        let part = PromptPart::Message { number: longer.len(), role: role_of(dialect, said.len()) };
        prop_assert_eq!(first_break(after.as_bytes(), before.as_bytes()).map(|found| found.part), Some(part));
    }

    #[test]
    fn the_break_is_at_the_first_byte_that_changed((dialect, tools, system, said) in parts(), at in any::<prop::sample::Index>()) {
        let before = request(dialect, &tools, &system, &said);
        let number = at.index(said.len());
        let mut changed = said.clone();
        changed[number].push('X');
        let after = request(dialect, &tools, &system, &changed);
        let found = first_break(before.as_bytes(), after.as_bytes()).unwrap();
        prop_assert_eq!(&after[found.offset..=found.offset], "X");
        prop_assert_eq!(found.part, PromptPart::Message { number: number + 1, role: role_of(dialect, number) });
        // A change that providers read earlier comes first.
        let after = request(dialect, &tools, &format!("{system}X"), &changed);
        let found = first_break(before.as_bytes(), after.as_bytes()).unwrap();
        prop_assert_eq!((&after[found.offset..=found.offset], found.part), ("X", PromptPart::System));
        let mut more = tools.clone();
        more.push("new".to_owned());
        let after = request(dialect, &more, &system, &changed);
        let found = first_break(before.as_bytes(), after.as_bytes()).unwrap();
        prop_assert_eq!((after[found.offset..].starts_with(r#"{"name":"new""#), found.part), (true, PromptPart::Tools));
    }

    #[test]
    fn nothing_panics(before in ".{0,40}", after in ".{0,40}", offset in 0..60usize) {
        let _ = first_break(before.as_bytes(), after.as_bytes());
        let _ = request_at(&before, offset);
    }
}

fn role_of(dialect: usize, number: usize) -> Box<str> {
    [["user", "assistant"], ["user", "assistant"], ["user", "model"]][dialect][number % 2].into()
}

#[test]
fn cache_marks_are_not_content() {
    let before = r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}]}"#;
    let after = r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":"b"}]}"#;
    assert_eq!(first_break(before.as_bytes(), after.as_bytes()), None);
    let spaced = before.replace(":", ": ");
    let after = after.replace(":", ": ");
    assert_eq!(first_break(spaced.as_bytes(), after.as_bytes()), None);
}

#[test]
fn a_request_is_found_in_its_entry_of_a_log() {
    let request = |text: &str| format!(r#"{{"messages":[{{"role":"user","content":"{text}"}}]}}"#);
    let (one, two) = (request("one"), request("two"));
    let lines = format!("{{\"request\":{one},\"response\":{{}}}}\n{{\"call\":{{\"body\":{two}}}}}\n");
    assert_eq!(request_at(&lines, 5), Some(&*one));
    assert_eq!(request_at(&lines, lines.len() - 4), Some(&*two));
    let document = format!("[\n  {{\"request\":\n {one}}},\n  {two}\n]");
    assert_eq!(request_at(&document, document.find("one").unwrap()), Some(&*one));
    assert_eq!(request_at(&document, document.find("two").unwrap()), Some(&*two));
    for none in ["", "{}", "[]", r#"{"message":{"role":"user"}}"#, r#"{"input":["a","b"]}"#] {
        assert_eq!(request_at(none, 0), None, "{none}");
    }
    assert_eq!(request_at("é", 1), None);
}
