//! Replies of OpenAI Responses and of Gemini, whole and as streams.

use crate::reply::{MOST, named, read, said, stream, usage};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use wunderblock_core::message::{Dialect, Message};
use wunderblock_core::request::Request;
use wunderblock_wire::{ModelReply, ReplyFault, ReplyReader, StopReason, decode_reply, encode, validate};

const RESPONSES: Dialect = Dialect::OpenaiResponses;
const GEMINI: Dialect = Dialect::Gemini;

/// Formats events without names and without `[DONE]`.
fn bare(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

fn provider(reply: &ModelReply) -> String {
    match &reply.fault {
        Some(ReplyFault::Provider(refusal)) => refusal.to_string(),
        other => panic!("{other:?}"),
    }
}

/// Returns a request that continues after the reply.
fn goes_on(dialect: Dialect, reply: &ModelReply) -> String {
    let mut messages = vec![Message::user("q"), reply.message.clone()];
    messages.extend(reply.message.calls().map(|call| Message::tool_result(call.clone(), "r")));
    messages.push(Message::user("and?"));
    let request =
        Request { model: Some("m".into()), messages, cache: Some(Vec::new()), ..Request::default() };
    let encoded = encode(dialect, &request).unwrap();
    assert_eq!(validate(dialect, &encoded.bytes), []);
    assert_eq!(encoded.dropped, []);
    String::from_utf8(encoded.bytes).unwrap()
}

fn response(status: &str, output: Value) -> Value {
    json!({"id": "resp_1", "object": "response", "status": status, "model": "gpt-x", "output": output, "error": null,
        "incomplete_details": null, "usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 64},
        "output_tokens": 9, "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 109}})
}

fn output() -> Value {
    json!([
        {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "let me see"}],
            "encrypted_content": "c2Vh"},
        {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "phase": "commentary",
            "content": [{"type": "output_text", "text": "Looking 汉", "annotations": [], "logprobs": []}]},
        {"id": "fc_1", "type": "function_call", "status": "completed", "call_id": "call_a", "name": "read",
            "arguments": "{\"p\": 1.0}"},
        {"id": "ctc_1", "type": "custom_tool_call", "status": "completed", "call_id": "call_b", "name": "patch",
            "input": "free"},
        {"id": "ws_1", "type": "web_search_call", "status": "completed"},
    ])
}

fn begin(at: usize, item: Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": at, "item": item})
}

fn grow(at: usize, kind: &str, more: &str) -> Value {
    json!({"type": format!("response.{kind}.delta"), "output_index": at, "content_index": 0, "summary_index": 0,
        "delta": more})
}

/// Returns the events that are sent before any item is whole.
fn pieces() -> Vec<Value> {
    vec![
        json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "model": "gpt-x",
            "output": []}}),
        begin(0, json!({"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "c2"})),
        json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 0}),
        grow(0, "reasoning_summary_text", "let me "),
        grow(0, "reasoning_summary_text", "see"),
        begin(
            1,
            json!({"id": "msg_1", "type": "message", "status": "in_progress", "role": "assistant", "content": []}),
        ),
        grow(1, "output_text", "Loo"),
        grow(1, "output_text", "king 汉"),
        begin(2, json!({"type": "function_call", "call_id": "call_a", "name": "read", "arguments": ""})),
        grow(2, "function_call_arguments", "{\"p\":"),
        begin(3, json!({"type": "custom_tool_call", "call_id": "call_b", "name": "patch", "input": ""})),
        grow(3, "custom_tool_call_input", "free"),
        grow(2, "function_call_arguments", " 1.0}"),
    ]
}

fn whole_items() -> Vec<Value> {
    let items = output();
    let item = |(at, item): (usize, &Value)| json!({"type": "response.output_item.done", "output_index": at, "item": item});
    items.as_array().unwrap().iter().enumerate().map(item).collect()
}

#[test]
fn a_stream_of_responses_is_its_response() {
    let end = json!({"type": "response.completed", "response": response("completed", json!([]))});
    let odd = json!({"type": "response.hologram", "x": 1});
    let events = [pieces(), whole_items(), vec![odd, end]].concat();
    let streamed = stream(RESPONSES, &named(&events));
    assert_eq!(
        said(&streamed),
        [
            "thinking let me see Some(\"c2Vh\")",
            "text Looking 汉",
            "call call_a read {\"p\": 1.0}",
            "call call_b patch free",
            r#"opaque {"id":"ws_1","type":"web_search_call","status":"completed"}"#,
        ]
    );
    assert_eq!((streamed.stop, &streamed.fault), (StopReason::Tools, &None));
    assert_eq!(streamed.usage, Some(usage("resp_1", "gpt-x", [36, 64, 0, 9])));
    assert_eq!(streamed.odd, ["an event of unknown kind `response.hologram`"]);
    let whole = decode_reply(RESPONSES, response("completed", output()).to_string().as_bytes());
    assert_eq!(whole, ModelReply { odd: Vec::new(), ..streamed.clone() });
    let next = goes_on(RESPONSES, &streamed);
    assert!(
        next.contains(r#""phase":"commentary""#) && next.contains("c2Vh") && !next.contains("rs_1"),
        "{next}"
    );
}

#[test]
fn a_reply_that_asks_for_more_than_functions_stops_for_tools() {
    for (item, stop) in [
        (json!({"type": "shell_call", "call_id": "c", "action": {}}), StopReason::Tools),
        (json!({"type": "web_search_call", "id": "ws", "status": "completed"}), StopReason::End),
    ] {
        let reply = decode_reply(RESPONSES, response("completed", json!([item])).to_string().as_bytes());
        assert_eq!(reply.stop, stop, "{item}");
    }
}

#[test]
fn what_was_written_to_the_cache_is_told_apart() {
    let mut body = response("completed", output());
    body["usage"]["input_tokens_details"]["cache_write_tokens"] = json!(20);
    let reply = decode_reply(RESPONSES, body.to_string().as_bytes());
    assert_eq!(reply.usage, Some(usage("resp_1", "gpt-x", [16, 64, 20, 9])));
}

#[test]
fn a_stream_of_responses_that_breaks_off_keeps_what_had_come() {
    let cut = stream(RESPONSES, &named(&pieces()));
    assert_eq!(
        said(&cut),
        [
            "thinking let me see None",
            "text Looking 汉",
            "call call_a read {\"p\": 1.0}",
            "call call_b patch free"
        ]
    );
    assert_eq!(cut.fault, Some(ReplyFault::Cut));
    let headless = stream(RESPONSES, &named(&[grow(0, "output_text", "half")]));
    assert_eq!((headless.text().as_str(), &headless.fault), ("half", &Some(ReplyFault::Cut)));

    let error =
        json!({"type": "error", "code": "rate_limit_exceeded", "message": "Slow down", "param": null});
    let failed = stream(RESPONSES, &named(&[pieces(), vec![error]].concat()));
    assert_eq!(provider(&failed), "rate_limit_exceeded: Slow down");
    assert_eq!(failed.text(), "Looking 汉");
    let mut body = response("failed", json!([]));
    body["error"] = json!({"code": "server_error", "message": "It broke"});
    let failed = stream(RESPONSES, &named(&[json!({"type": "response.failed", "response": body})]));
    assert_eq!(provider(&failed), "server_error: It broke");
    let refused = json!({"error": {"message": "No.", "type": "invalid_request_error", "code": null}});
    assert_eq!(
        provider(&decode_reply(RESPONSES, refused.to_string().as_bytes())),
        "invalid_request_error: No."
    );
}

#[test]
fn responses_say_why_they_stopped() {
    let said =
        json!([{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}]);
    let table = [
        ("completed", Value::Null, StopReason::End, "completed"),
        ("incomplete", json!({"reason": "max_output_tokens"}), StopReason::Length, "max_output_tokens"),
        ("incomplete", json!({"reason": "content_filter"}), StopReason::Refused, "content_filter"),
        ("cancelled", Value::Null, StopReason::Other, "cancelled"),
    ];
    for (status, details, stop, word) in table {
        let mut body = response(status, said.clone());
        body["incomplete_details"] = details;
        let reply = decode_reply(RESPONSES, body.to_string().as_bytes());
        assert_eq!((reply.stop, reply.message.stop.as_deref()), (stop, Some(word)));
        let event = json!({"type": format!("response.{status}"), "response": body});
        if status != "cancelled" {
            assert_eq!(stream(RESPONSES, &named(&[event])).stop, stop, "{word}");
        }
    }
    let refusal =
        json!([{"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}]);
    let reply = decode_reply(RESPONSES, response("completed", refusal).to_string().as_bytes());
    assert_eq!((reply.text().as_str(), reply.refusal().as_deref()), ("", Some("No.")));
}

fn piece(parts: Value, reason: Option<&str>) -> Value {
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
    if let Some(reason) = reason {
        candidate["finishReason"] = json!(reason);
    }
    json!({"candidates": [candidate], "modelVersion": "gemini-x", "responseId": "r1",
        "usageMetadata": {"promptTokenCount": 100, "cachedContentTokenCount": 64, "candidatesTokenCount": 4,
        "thoughtsTokenCount": 5, "totalTokenCount": 109}})
}

#[test]
fn a_stream_of_gemini_is_its_body() {
    let call = json!({"functionCall": {"id": "fc1", "name": "read", "args": {"p": 1.5}}, "thoughtSignature": "c2ln"});
    let events = [
        piece(json!([{"text": "let me ", "thought": true}]), None),
        piece(json!([{"text": "see", "thought": true}]), None),
        piece(json!([{"text": "Loo"}]), None),
        piece(json!([{"text": "king 汉"}, call]), None),
        piece(json!([{"functionCall": {"name": "grep", "args": {}}}]), None),
        piece(json!([{"text": ""}, {"text": "", "thoughtSignature": "ZW5k"}]), Some("STOP")),
    ];
    let streamed = stream(GEMINI, &bare(&events));
    assert_eq!(
        said(&streamed),
        [
            "thinking let me see None",
            "text Looking 汉",
            "call fc1 read {\"p\":1.5}",
            "call function:grep grep {}",
            "thinking  Some(\"ZW5k\")",
        ]
    );
    assert_eq!((streamed.stop, &streamed.fault, streamed.odd.len()), (StopReason::Tools, &None, 0));
    assert_eq!(streamed.usage, Some(usage("r1", "gemini-x", [36, 64, 0, 9])));
    let parts = json!([{"text": "let me see", "thought": true}, {"text": "Looking 汉"}, call,
        {"functionCall": {"name": "grep", "args": {}}}, {"text": "", "thoughtSignature": "ZW5k"}]);
    assert_eq!(decode_reply(GEMINI, piece(parts, Some("STOP")).to_string().as_bytes()), streamed);
    let signed = ModelReply {
        message: Message { parts: streamed.message.parts[1..].to_vec(), ..streamed.message.clone() },
        ..streamed
    };
    let next = goes_on(GEMINI, &signed);
    assert!(
        next.contains(r#""thoughtSignature":"c2ln""#) && next.contains(r#""thoughtSignature":"ZW5k""#),
        "{next}"
    );
    assert!(!next.contains(r#""id":"function:grep""#), "{next}");
}

#[test]
fn gemini_says_why_it_stopped_and_what_went_wrong() {
    let table = [
        ("STOP", StopReason::End),
        ("MAX_TOKENS", StopReason::Length),
        ("SAFETY", StopReason::Refused),
        ("MALFORMED_FUNCTION_CALL", StopReason::Other),
    ];
    for (word, stop) in table {
        let reply = decode_reply(GEMINI, piece(json!([{"text": "a"}]), Some(word)).to_string().as_bytes());
        assert_eq!((reply.stop, reply.message.stop.as_deref()), (stop, Some(word)));
    }
    let empty = json!({"candidates": [{"finishReason": "SAFETY", "index": 0}], "modelVersion": "g"});
    let blocked = json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 7}});
    for body in [empty, blocked] {
        for reply in [
            decode_reply(GEMINI, body.to_string().as_bytes()),
            stream(GEMINI, &bare(std::slice::from_ref(&body))),
        ] {
            assert_eq!((reply.refusal().as_deref(), &reply.fault), (Some(""), &None), "{body}");
        }
    }
    let pieces = [piece(json!([{"text": "a"}]), None), piece(json!([{"text": "b"}]), Some("STOP"))];
    let list = Value::from(pieces.to_vec()).to_string();
    for reply in [decode_reply(GEMINI, list.as_bytes()), stream(GEMINI, &list)] {
        assert_eq!((reply.text().as_str(), reply.stop, &reply.fault), ("ab", StopReason::End, &None));
    }
    let half = piece(json!([{"text": "half"}]), None);
    let cut = stream(GEMINI, &bare(std::slice::from_ref(&half)));
    assert_eq!((cut.text().as_str(), &cut.fault), ("half", &Some(ReplyFault::Cut)));
    let error = json!({"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}});
    let failed = stream(GEMINI, &bare(&[half, error.clone()]));
    assert_eq!((failed.text().as_str(), provider(&failed).as_str()), ("half", "UNAVAILABLE: Overloaded"));
    for body in [error.to_string(), format!("[{error}]")] {
        assert_eq!(provider(&decode_reply(GEMINI, body.as_bytes())), "UNAVAILABLE: Overloaded");
    }
}

fn cut<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

proptest! {
    #[test]
    fn pieces_do_not_matter(cuts in vec(0_usize..10_000, 0..12), most in prop_oneof![Just(MOST), 0_usize..1_500]) {
        let end = json!({"type": "response.completed", "response": response("completed", json!([]))});
        let events = named(&[pieces(), whole_items(), vec![end]].concat());
        let contents = bare(&[piece(json!([{"text": "a 汉"}]), None), piece(json!([{"text": "b"}]), Some("STOP"))]);
        for (dialect, text) in [(RESPONSES, events), (GEMINI, contents)] {
            let all = |pieces: &[&[u8]]| {
                let mut reading = ReplyReader::new(dialect, most);
                pieces.iter().for_each(|piece| reading.push(piece));
                reading.finish()
            };
            prop_assert_eq!(all(&cut(text.as_bytes(), &cuts)), all(&[text.as_bytes()]));
        }
    }

    #[test]
    fn events_of_any_shape_are_read_without_panic(events in vec((0..12_usize, 0..8_usize, 0..9_usize), 0..12), bytes in vec(any::<u8>(), 0..200)) {
        let kinds = ["created", "completed", "failed", "output_item.added", "output_item.done", "output_text.delta",
            "function_call_arguments.delta", "reasoning_summary_text.delta", "refusal.delta", "error", "x", "y.delta"];
        let fields = ["response", "item", "delta", "candidates", "error", "promptFeedback", "output_index", "usageMetadata"];
        let values = [
            json!(null), json!([]), json!({}), json!(7), json!("text"), json!([{}]),
            json!({"output": [{"type": "reasoning", "summary": [7]}, 3], "usage": {"input_tokens": u64::MAX}, "blockReason": "x"}),
            json!([{"content": {"parts": [7, {}, {"text": 7}, {"functionCall": {"name": "f", "args": 7}}]}, "finishReason": "STOP"}]),
            json!({"promptTokenCount": u64::MAX, "toolUsePromptTokenCount": u64::MAX, "type": "message", "content": 7}),
        ];
        let events: Vec<Value> = events
            .iter()
            .map(|(kind, field, value)| {
                json!({"type": format!("response.{}", kinds[*kind]), "delta": "d", fields[*field]: values[*value]})
            })
            .collect();
        for dialect in [RESPONSES, GEMINI] {
            let _ = stream(dialect, &bare(&events));
            let _ = read(dialect, &[&bytes]);
            for event in &events {
                let _ = decode_reply(dialect, event.to_string().as_bytes());
            }
        }
    }
}
