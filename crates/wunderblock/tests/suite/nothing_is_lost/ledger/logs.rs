//! Logs of requests: each conversation is stored once, however often a log repeats it.

use crate::scene::{Home, events, import, session, transcript};
use wunderblock_core::event::Fact;
use wunderblock_wire::transcript::Format;

fn request(messages: &[&str]) -> String {
    let list = messages.join(",");
    format!(
        "{{\"request\":{{\"model\":\"claude-x\",\"messages\":[{list}],\"system\":\"rules\",\"max_tokens\":9}}"
    )
}

const ASKED: &str = r#"{"role":"user","content":"list"}"#;
const CALLED: &str =
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"k","name":"ls","input":{}}]}"#;
const SHOWN: &str = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"k","content":"a"}]}"#;

/// Returns the lines of a log: a call with its reply, the next request, and a request that goes another way.
fn lines() -> [String; 3] {
    let reply = r#"{"id":"r1","type":"message","role":"assistant","model":"claude-x","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"k","name":"ls","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":5,"output_tokens":2}}"#;
    let other = r#"{"role":"user","content":"stop"}"#;
    [
        format!("{},\"response\":{reply}}}\n", request(&[ASKED])),
        format!("{}}}\n", request(&[ASKED, CALLED, SHOWN])),
        format!("{}}}\n", request(&[ASKED, CALLED, other])),
    ]
}

#[test]
fn a_log_that_grows_or_is_rotated_or_copied_is_one_session_without_anything_twice() {
    let home = Home::new();
    let engine = home.engine();
    let lines = lines();
    for len in 1..=lines.len() {
        import(&engine, &home.file("log.jsonl", lines[..len].concat()));
    }
    let expected = |last: &'static str| ["system: rules", "user: list", "assistant: (hm) | ls#k", last];
    let imported = import(&engine, &home.file("copy.jsonl", lines.concat()));
    assert_eq!((imported.format, imported.appended), (Format::Anthropic, 0));
    // The rest of a log that was rotated repeats the conversation without the reasoning and the id of the reply.
    let imported = import(&engine, &home.file("log.2.jsonl", lines[1..].concat()));
    assert_eq!((imported.appended, &imported.warnings[..]), (0, &[][..]));
    let own = imported.sessions[0].as_str().trim_end_matches("~2").to_owned();
    assert_eq!(transcript(&session(&engine, &format!("{own}~1"))), expected("tool: #k = a"));
    assert_eq!(transcript(&session(&engine, &format!("{own}~2"))), expected("user: stop"));
}

#[test]
fn the_rest_of_a_log_may_be_imported_before_its_beginning() {
    let home = Home::new();
    let engine = home.engine();
    let [first, second, _] = lines();
    import(&engine, &home.file("log.2.jsonl", second));
    let imported = import(&engine, &home.file("log.1.jsonl", first));
    let session = session(&engine, imported.sessions[0].as_str());
    assert_eq!(
        transcript(&session),
        ["system: rules", "user: list", "assistant: ls#k", "tool: #k = a"],
        "the reply is known, and its usage is added"
    );
    let usages =
        events(&session).into_iter().filter(|event| matches!(event.fact, Some(Fact::UsageMeasured(_))));
    assert_eq!(usages.count(), 1);
}
