//! JSON of unknown shapes.

use crate::transcript::{check, read, tell};
use wunderblock_wire::transcript::RecordStatus;

#[test]
fn role_and_text_are_taken_where_found_and_every_record_says_it_is_opaque() {
    for (line, expected) in [
        (r#"{"type":"user.message","data":{"content":"a"}}"#, "User(a)"),
        (r#"{"role":"user","message":{"content":[{"type":"text","text":"a"}]}}"#, "User(a)"),
        (r#"{"sender":"human","text":"a"}"#, "User(a)"),
        (
            r#"{"author":{"role":"assistant"},"content":{"content_type":"text","parts":["a","b"]}}"#,
            "Assistant(a | b)",
        ),
        (r#"{"from":"gpt","value":"a"}"#, "Assistant(a)"),
        (
            r#"{"type":"gemini","content":"","toolCalls":[{"id":"k","name":"f","args":{"x":1},"result":[{"functionResponse":{"id":"k","response":{"output":"o"}}}]}]}"#,
            r#"Assistant(call k f {"x":1}) + Tool(result k o)"#,
        ),
        (
            r#"{"type":"assistant","message":{"role":"model","parts":[{"text":"hm","thought":true},{"functionCall":{"name":"f","args":{}}}]}}"#,
            "Assistant(thinks hm | call call-0 f {})",
        ),
        (
            r#"{"type":"tool_call","toolCallId":"k","toolName":"Shell","parameters":{"c":1}}"#,
            r#"Assistant(call k Shell {"c":1})"#,
        ),
        (r#"{"type":"tool_result","toolCallId":"k","value":"o","isError":true}"#, "Tool(result k failed o)"),
        (
            r#"{"type":"tool.execution_complete","data":{"toolCallId":"k","result":{"content":"o"}}}"#,
            "Tool(result k o)",
        ),
        (r#"{"type":"telemetry","n":1}"#, ""),
    ] {
        let text = format!("{line}\n{{\"type\":\"other\"}}\n");
        let records = read("x.jsonl", &text);
        let told = tell(&records[..1]);
        let said = told.split_once("? ").map_or("", |(_, said)| said).trim();
        assert_eq!(said.trim_start_matches("opened() + "), expected, "{line}");
        assert!(records.iter().all(|record| matches!(record.kept, RecordStatus::Opaque { .. })), "{line}");
    }
}

#[test]
fn a_document_gives_a_record_for_each_element_and_for_the_rest() {
    let text = "{\n \"environment\": \"main\",\n \"trajectory\": [{\"action\": \"x\"}],\n \"history\": [\n  {\"role\": \"system\", \"content\": \"s\"},\n  {\"role\": \"user\", \"content\": \"u\"},\n  {\"role\": \"assistant\", \"content\": \"a\", \"tool_calls\": [{\"id\": \"k\", \"function\": {\"name\": \"f\", \"arguments\": \"{}\"}}]},\n  {\"role\": \"tool\", \"content\": \"o\", \"tool_call_id\": \"k\"}\n ],\n \"info\": {}\n}\n";
    let records = read("run.traj", text);
    check(
        &records,
        "
        document-
        system? opened() + System(s)
        user? User(u)
        assistant? Assistant(a | call k f {})
        tool? Tool(result k o)
        document-
        ",
    );
    assert_eq!(
        &text[records[2].offset as usize..][..records[2].len as usize],
        "{\"role\": \"user\", \"content\": \"u\"}"
    );
}

#[test]
fn several_conversations_in_one_document_are_sessions() {
    let text = r#"[{"name":"x","chat_messages":[{"sender":"human","text":"a"},{"sender":"assistant","text":"b"}]},
{"chat_messages":[{"sender":"human","text":"c"}]}]"#;
    check(
        &read("conversations.json", text),
        "
        document-
        object? [conversation-1] opened() + User(a)
        object? [conversation-1] Assistant(b)
        document-
        object? [conversation-2] opened() + User(c)
        document-
        ",
    );
}

#[test]
fn a_document_without_messages_still_gives_its_text() {
    check(
        &read("x.json", "{\"a\": {\"key\": \"one two\"},\n \"b\": 2}"),
        "document? opened() + User injected=text without a role(one two)",
    );
}

#[test]
fn a_conversation_written_out_is_a_session_a_line() {
    let text =
        "{\"transcript\": \"user: hi\\nthere\\nassistant: yes\\ntool: 3\"}\n{\"transcript\": \"user: b\"}\n";
    check(
        &read("dialogues.jsonl", text),
        "
        transcript? [line-1] opened() + User(hi/there) + Assistant(yes) + User injected=tool output(3)
        transcript? [line-2] opened() + User(b)
        ",
    );
}

#[test]
fn values_other_than_objects_are_kept() {
    let text = "\u{feff}{\"role\":\"user\",\"message\":{\"content\":\"a\"}}\n42\n\"text\"\n[1, 2]\nnull\n";
    check(
        &read("x.jsonl", text),
        "
        user? opened() + User(a)
        number?
        string?
        array?
        null?
        ",
    );
}

/// Messages of SWE-agent in another program's file: shell output does not count as the user's.
#[test]
fn output_of_a_shell_is_not_the_users() {
    let text = r#"{"run":7,"history":[
        {"role":"system","content":"rules"},
        {"role":"user","content":"shown","is_demo":true},
        {"role":"user","content":"the task\nbash-$"},
        {"role":"assistant","content":"ls","thought":"I look.","action":"ls"},
        {"role":"user","content":"a.py\nbash-$"}],"info":{}}"#;
    let said = tell(&read("a.json", text));
    for one in [
        "User injected=demonstration(shown)",
        "User(the task/bash-$)",
        "User injected=environment(a.py/bash-$)",
    ] {
        assert!(said.contains(one), "{one}: {said}");
    }
}

#[test]
fn white_space_that_json_does_not_know_is_no_record() {
    let records = read("x.jsonl", "{\"type\":\"other\"} \x0c\n");
    assert_eq!((records.len(), records[0].len), (1, 16));
}
