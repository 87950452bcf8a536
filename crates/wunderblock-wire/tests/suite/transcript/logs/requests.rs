use crate::transcript::checkpoint::check_splits;
use crate::transcript::{check, opaque_share, read, read_as};
use proptest::prelude::*;
use std::collections::BTreeSet;
use wunderblock_wire::transcript::{Format, RecordPlace, detect};

/// Returns a request of Anthropic Messages with a system text after the messages, as clients write it.
fn request(messages: &[&str]) -> String {
    format!(
        r#"{{"model":"claude-x","max_tokens":9,"messages":[{}],"system":[{{"type":"text","text":"rules","cache_control":{{"type":"ephemeral"}}}}],"tools":[]}}"#,
        messages.join(",")
    )
}

const ASKED: &str = r#"{"role":"user","content":"list the files"}"#;
const MARKED: &str = r#"{"role":"user","content":[{"type":"text","text":"list the files","cache_control":{"type":"ephemeral"}}]}"#;
const CALLED: &str = r#"{"role":"assistant","content":[{"type":"text","text":"I look. "},{"type":"tool_use","id":"t1","name":"ls","input":{"path":"/a"}}]}"#;
const ANSWERED: &str = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a.txt"},{"type":"text","text":"and now?"}]}"#;

#[test]
fn each_request_adds_what_earlier_ones_did_not_contain() {
    let text = [request(&[ASKED]), request(&[MARKED, CALLED, ANSWERED]), request(&[ASKED, CALLED, ANSWERED])];
    let records = read("log.jsonl", &text.join("\n"));
    check(
        &records,
        r#"
        document-
        system opened() + System(rules)
        document-
        user User(list the files)
        document-
        document-
        assistant Assistant(I look.  | call t1 ls {"path":"/a"})
        user Tool(result t1 a.txt) + User(and now?)
        document-
        document-
        "#,
    );
    assert!(opaque_share(&records) < 0.05);
}

#[test]
fn a_reply_and_the_request_that_repeats_it_are_one_message() {
    let reply = r#"{"id":"r1","type":"message","role":"assistant","model":"claude-x","stop_reason":"tool_use","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"ls","input":{ "path" : "\/a"}}],"usage":{"input_tokens":5,"cache_read_input_tokens":3,"output_tokens":2}}"#;
    let text = [
        format!(
            r#"{{"request":{{"timestamp":1722886382.5,"url":"/v1/messages","body":{}}},"response":{{"status_code":200,"body":{reply}}}}}"#,
            request(&[ASKED])
        ),
        format!(
            r#"{{"request":{{"body":{}}},"response":{{"status_code":529,"body":{{"type":"error","error":{{"type":"overloaded_error","message":"busy"}}}}}}}}"#,
            request(&[ASKED, CALLED, ANSWERED])
        ),
    ];
    let records = read("log.jsonl", &text.join("\n"));
    check(
        &records,
        r#"
        document-
        system opened() + System(rules)
        document-
        user User(list the files)
        document-
        reply Assistant(thinks hm ~s | I look. | call t1 ls { "path" : "\/a"}) + usage(r1 5/3/0/2)
        document-
        document-
        user Tool(result t1 a.txt) + User(and now?)
        document-
        reply turn(error overloaded_error)
        document-
        "#,
    );
    assert_eq!(records[1].at.unwrap().0, 1_722_886_382_500);
}

#[test]
fn a_streamed_reply_is_assembled() {
    let events = r#"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"r1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[],\"usage\":{\"input_tokens\":7}}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"one \"}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"two\"}}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":4}}\n\ndata: {\"type\":\"message_stop\"}\n\n"#;
    let text =
        format!(r#"{{"request":{{"body":{}}},"response":{{"body_raw":"{events}"}}}}"#, request(&[ASKED]));
    let records = read("log.jsonl", &text);
    let reply = records.iter().find(|record| *record.kind == *"reply").unwrap();
    check(std::slice::from_ref(reply), "reply Assistant(one two) + usage(r1 7/0/0/4)");
}

#[test]
fn a_request_that_repeats_a_part_is_a_branch_and_one_with_another_beginning_a_session() {
    let text = [
        request(&[ASKED, CALLED, ANSWERED]),
        request(&[r#"{"role":"user","content":"name this session"}"#]),
        request(&[ASKED, CALLED, r#"{"role":"user","content":"something else"}"#]),
        request(&[
            r#"{"role":"user","content":"name this session"}"#,
            r#"{"role":"assistant","content":"Files"}"#,
        ]),
    ]
    .map(|line| {
        line.replace(r#""system":["#, r#""meta":["#)
            .replace(r#""max_tokens""#, r#""system":"rules","max_tokens""#)
    });
    let records = read("log.jsonl", &text.join("\n"));
    let said: Vec<_> = records.iter().filter(|record| !record.items.is_empty()).collect();
    let [_, _, called, ..] = said[..] else { panic!("{said:?}") };
    let other = said[4].session.clone().unwrap();
    let place = |at: usize| (said[at].session.clone(), said[at].place.clone());
    assert_eq!(place(4), (Some(other.clone()), RecordPlace::Next));
    assert_eq!(place(6), (None, RecordPlace::After(called.id.clone().unwrap())));
    assert_eq!(place(7), (Some(other.clone()), RecordPlace::After(said[5].id.clone().unwrap())));
    assert_eq!(said.len(), 8);
}

#[test]
fn ids_follow_from_the_content_alone() {
    let ids = |text: String| {
        let records = read("log.jsonl", &text);
        let said = records.into_iter().filter(|record| *record.kind != *"system");
        said.filter_map(|record| record.id).collect::<Vec<_>>()
    };
    let early = ids(request(&[ASKED]));
    let late = ids(format!("{}\n{}", request(&[ASKED]), request(&[ASKED, CALLED])));
    // A log that was rotated begins with a request that repeats the whole conversation.
    let rotated = ids(request(&[ASKED, CALLED]).replace(r#""messages""#, r#""system":"rules","messages""#));
    assert_eq!(early[..], late[..1]);
    assert_eq!(rotated.last(), late.last());
    // A list of messages, and one message per line, are the same conversation.
    assert_eq!(ids(format!("[{ASKED},\n {CALLED}]")), late);
    assert_eq!(ids(format!("{ASKED}\n{CALLED}")), late);
}

#[test]
fn requests_of_openai_responses_continue_by_items_or_by_the_id_of_the_reply() {
    let text = [
        r#"{"request":{"model":"m","instructions":"rules","input":"list"},"response":{"id":"r1","object":"response","model":"m","status":"completed","output":[{"type":"reasoning","id":"x","summary":[],"encrypted_content":"e"},{"type":"function_call","call_id":"c1","name":"ls","arguments":"{}"}],"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":4},"output_tokens":2}}}"#,
        r#"{"request":{"model":"m","instructions":"rules","input":[{"role":"user","content":"list"},{"type":"reasoning","id":"x","summary":[],"encrypted_content":"e"},{"type":"function_call","call_id":"c1","name":"ls","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"a.txt"}]},"response":{"id":"r2","object":"response","model":"m","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"one file","annotations":[]}]}]}}"#,
        r#"{"request":{"model":"m","previous_response_id":"r2","input":[{"role":"user","content":"thanks"}]}}"#,
    ];
    let records = read("log.jsonl", &text.join("\n"));
    check(
        &records,
        r#"
        document-
        system opened() + System(rules)
        document-
        user User(list)
        document-
        reply Assistant(thinks  ~e | call c1 ls {}) + usage(r1 6/4/0/2)
        document-
        document-
        function_call_output Tool(result c1 a.txt)
        document-
        reply Assistant(one file)
        document-
        document-
        user User(thanks)
        document-
        "#,
    );
}

#[test]
fn requests_of_gemini_are_read_like_the_others() {
    let ask = r#"{"role":"user","parts":[{"text":"list"}]}"#;
    let call = r#"{"role":"model","parts":[{"functionCall":{"name":"ls","args":{"b":1,"a":2}}}]}"#;
    let text = [
        format!(
            r#"{{"request":{{"systemInstruction":{{"parts":[{{"text":"rules"}}]}},"contents":[{ask}]}},"response":{{"candidates":[{{"content":{call},"finishReason":"STOP"}}],"usageMetadata":{{"promptTokenCount":9,"candidatesTokenCount":3}},"modelVersion":"g","responseId":"r1"}}}}"#
        ),
        format!(
            r#"{{"request":{{"contents":[{ask},{},{{"role":"user","parts":[{{"functionResponse":{{"name":"ls","response":{{"output":"a.txt"}}}}}}]}}]}}}}"#,
            call.replace(r#""b":1,"a":2"#, r#""a":2,"b":1"#)
        ),
    ];
    let records = read("log.jsonl", &text.join("\n"));
    check(
        &records,
        r#"
        document-
        system opened() + System(rules)
        document-
        user User(list)
        document-
        reply Assistant(call function:ls ls {"b":1,"a":2}) + usage(r1 9/0/0/3)
        document-
        document-
        user Tool(result function:ls a.txt)
        document-
        "#,
    );
}

#[test]
fn a_document_holds_one_request_or_many() {
    let one = request(&[ASKED, CALLED]).replace(",\"", ",\n \"");
    let many = format!("[\n{},\n{}\n]", request(&[ASKED]), request(&[ASKED, CALLED]));
    for text in [one, many] {
        assert_eq!(detect("a.json", text.as_bytes()), Ok(Format::Anthropic));
        let records = read("a.json", &text);
        let said: Vec<_> = records.iter().flat_map(|record| &record.items).collect();
        assert_eq!(said.len(), 4, "{said:?}");
    }
}

#[test]
fn what_is_no_message_is_kept_and_reported() {
    let text = format!(
        "{}\n{}\n{}\n",
        request(&[ASKED]),
        request(&[ASKED, r#"{"role":"nobody","content":"x"}"#]),
        r#"{"something":"else","role":"user","text":"hm"}"#
    );
    check(
        &read("log.jsonl", &text),
        "
        document-
        system opened() + System(rules)
        document-
        user User(list the files)
        document-
        document-
        nobody?
        document-
        object? User(hm)
        ",
    );
}

/// Returns a line of a log: a request for the first words of a conversation, with or without a reply, or one message.
fn log_line(format: Format, words: &[usize], kind: usize) -> String {
    let messages: Vec<String> =
        words.iter().enumerate().map(|(at, word)| said(format, at % 2 == 0, *word)).collect();
    let list = messages.join(",");
    let (key, reply) = match format {
        Format::OpenaiResponses => (
            "input",
            format!(r#"{{"id":"r{kind}","object":"response","output":[{}]}}"#, said(format, false, kind)),
        ),
        Format::Gemini => {
            ("contents", format!(r#"{{"candidates":[{{"content":{}}}]}}"#, said(format, false, kind)))
        }
        _ => (
            "messages",
            format!(
                r#"{{"id":"r{kind}","type":"message","role":"assistant","content":[{{"type":"text","text":"word {kind}"}}],"usage":{{"input_tokens":3}}}}"#
            ),
        ),
    };
    match kind {
        0 => format!(r#"{{"system":"rules","{key}":[{list}]}}"#),
        1 => format!(r#"{{"request":{{"{key}":[{list}],"instructions":"rules"}},"response":{reply}}}"#),
        2 => format!(r#"{{"response":{reply},"request":{{"{key}":[{list}]}}}}"#),
        3 => format!(r#"{{"response":{{"error":{{"message":"busy"}}}},"request":{{"{key}":[{list}]}}}}"#),
        4 => format!(r#"{{"{key}":[{list}],"previous_response_id":"r1"}}"#),
        5 => format!("[{list}]"),
        6 => messages.last().cloned().unwrap_or_default(),
        7 => reply,
        8 => format!(r#"{{"{key}":[{list}]}} {}"#, messages.first().cloned().unwrap_or_default()),
        _ => format!(r#"{{"note":"{list}"}}"#).replace('"', "\""),
    }
}

fn said(format: Format, is_user: bool, word: usize) -> String {
    match (format, is_user) {
        (Format::Gemini, true) => format!(r#"{{"role":"user","parts":[{{"text":"word {word}"}}]}}"#),
        (Format::Gemini, false) => format!(r#"{{"role":"model","parts":[{{"text":"word {word}"}}]}}"#),
        (Format::OpenaiResponses, false) => format!(
            r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"word {word}"}}]}}"#
        ),
        (_, true) => format!(r#"{{"role":"user","content":"word {word}"}}"#),
        (_, false) => format!(r#"{{"role":"assistant","content":"word {word}"}}"#),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn logs_go_on_where_they_stopped_and_say_nothing_twice(
        lines in prop::collection::vec((prop::collection::vec(0_usize..2, 0..4), 0_usize..10), 1..10),
    ) {
        for format in [Format::Anthropic, Format::OpenaiResponses, Format::Gemini] {
            let text: Vec<String> = lines.iter().map(|(words, kind)| log_line(format, words, *kind)).collect();
            let text = text.join("\n");
            check_splits(format, "log.jsonl", text.as_bytes());
            let records = read_as(format, "log.jsonl", text.as_bytes());
            let mut ids = BTreeSet::new();
            for id in records.iter().filter_map(|record| record.id.as_ref()) {
                prop_assert!(ids.insert(id), "{id} twice in {text}");
            }
            // A record follows one that was read before it.
            let mut before = BTreeSet::new();
            for record in &records {
                if let RecordPlace::After(id) = &record.place {
                    prop_assert!(before.contains(id), "after unknown {id} in {text}");
                }
                before.extend(record.id.clone());
            }
        }
    }
}
