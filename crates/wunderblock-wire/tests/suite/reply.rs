//! Replies, whole and as streams: both forms give the same result, however the bytes are divided into pieces.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use wunderblock_core::event::UsageMeasured;
use wunderblock_core::message::{Body, Dialect, Part};
use wunderblock_core::units::Tokens;
use wunderblock_wire::{ModelReply, ReplyFault, ReplyReader, StopReason, decode_reply};

pub(crate) const MOST: usize = 1 << 20;

pub(crate) fn read(dialect: Dialect, pieces: &[&[u8]]) -> ModelReply {
    let mut reading = ReplyReader::new(dialect, MOST);
    for piece in pieces {
        reading.push(piece);
    }
    reading.finish()
}

pub(crate) fn stream(dialect: Dialect, text: &str) -> ModelReply {
    read(dialect, &[text.as_bytes()])
}

/// Formats events with names, as Anthropic does.
pub(crate) fn named(events: &[Value]) -> String {
    let line =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("what"));
    events.iter().map(line).collect()
}

/// Formats events with OpenAI's end-of-stream marker.
pub(crate) fn done(events: &[Value]) -> String {
    let lines: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    lines + "data: [DONE]\n\n"
}

/// Describes the parts of a reply in words.
pub(crate) fn said(reply: &ModelReply) -> Vec<String> {
    let body = |body: &Body| body.inline().unwrap().to_owned();
    reply
        .message
        .parts
        .iter()
        .map(|part| match part {
            Part::Text { text, .. } => format!("text {}", body(text)),
            Part::Thinking { text, signature, .. } => format!("thinking {} {signature:?}", body(text)),
            Part::ToolCall { call, name, input, .. } => {
                format!("call {} {name} {}", call.as_str(), body(input))
            }
            Part::Opaque { raw, .. } => format!("opaque {}", body(raw)),
            other => format!("{other:?}"),
        })
        .collect()
}

pub(crate) fn usage(id: &str, model: &str, tokens: [u64; 4]) -> UsageMeasured {
    let [input, cache_read, cache_write, output] = tokens.map(Tokens);
    let (api_id, model) = (Some(id.into()), Some(model.into()));
    UsageMeasured { api_id, model, input, cache_read, cache_write, output, window: None, request: None }
}

fn start() -> Value {
    json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "content": [],
        "model": "claude-x", "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 12, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 40, "output_tokens": 1}}})
}

fn block(at: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": at, "content_block": block})
}

fn delta(at: u64, kind: &str, field: &str, text: &str) -> Value {
    json!({"type": "content_block_delta", "index": at, "delta": {"type": kind, field: text}})
}

fn stop(reason: &str, output: u64) -> [Value; 2] {
    let delta = json!({"stop_reason": reason, "stop_sequence": null});
    [
        json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": output}}),
        json!({"type": "message_stop"}),
    ]
}

#[test]
fn an_anthropic_stream_is_its_message() {
    let mut events = vec![
        start(),
        json!({"type": "ping"}),
        block(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, "thinking_delta", "thinking", "let me "),
        delta(0, "thinking_delta", "thinking", "see"),
        delta(0, "signature_delta", "signature", "c2ln"),
        json!({"type": "content_block_stop", "index": 0}),
        block(1, json!({"type": "text", "text": ""})),
        delta(1, "text_delta", "text", "It is "),
        delta(1, "text_delta", "text", "12 °C 汉."),
        json!({"type": "a_new_event", "x": 1}),
        delta(1, "a_new_delta", "y", "2"),
        block(2, json!({"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}})),
        delta(2, "input_json_delta", "partial_json", ""),
        delta(2, "input_json_delta", "partial_json", "{\"path\": \"a"),
        delta(2, "input_json_delta", "partial_json", ".rs\", \"n\": 1.50}"),
        block(3, json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}})),
        delta(3, "input_json_delta", "partial_json", "{\"query\":\"q\"}"),
    ];
    events.extend(stop("tool_use", 77));
    let streamed = stream(Dialect::Anthropic, &named(&events));
    assert_eq!(
        said(&streamed),
        [
            "thinking let me see Some(\"c2ln\")",
            "text It is 12 °C 汉.",
            "call toolu_1 Read {\"path\": \"a.rs\", \"n\": 1.50}",
            r#"opaque {"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"q"}}"#,
        ]
    );
    assert_eq!((streamed.stop, &streamed.fault), (StopReason::Tools, &None));
    assert_eq!(streamed.usage, Some(usage("msg_1", "claude-x", [12, 40, 3, 77])));
    assert_eq!(
        streamed.odd,
        ["an event of unknown kind `a_new_event`", "a delta of unknown kind `a_new_delta`"]
    );
    assert_eq!(streamed.text(), "It is 12 °C 汉.");
    let whole = r#"{"id":"msg_1","type":"message","role":"assistant","content":[
        {"type":"thinking","thinking":"let me see","signature":"c2ln"},{"type":"text","text":"It is 12 °C 汉."},
        {"type":"tool_use","id":"toolu_1","name":"Read","input":{"path": "a.rs", "n": 1.50}},
        {"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"q"}}],"model":"claude-x",
        "stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":12,"cache_creation_input_tokens":3,
        "cache_read_input_tokens":40,"output_tokens":77}}"#;
    let whole = decode_reply(Dialect::Anthropic, whole.replace("\n        ", "").as_bytes());
    assert_eq!(whole.message, ModelReply { odd: Vec::new(), ..streamed }.message);
}

fn chunk(delta: Value, reason: Option<&str>) -> Value {
    json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-x",
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
}

#[test]
fn an_openai_stream_is_its_completion() {
    let call = |index: u64, rest: Value| {
        let mut call = json!({"index": index});
        call.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        chunk(json!({"tool_calls": [call]}), None)
    };
    let begin = |index, id: &str, name: &str| {
        call(index, json!({"id": id, "type": "function", "function": {"name": name, "arguments": ""}}))
    };
    let events = [
        chunk(json!({"role": "assistant", "content": null}), None),
        chunk(json!({"reasoning_content": "hm"}), None),
        chunk(json!({"reasoning_content": "m"}), None),
        chunk(json!({"content": "Loo"}), None),
        chunk(json!({"content": "king 汉"}), None),
        begin(0, "call_a", "read"),
        begin(1, "call_b", "grep"),
        call(0, json!({"function": {"arguments": "{\"p\":"}})),
        call(1, json!({"function": {"arguments": "{}"}})),
        call(0, json!({"function": {"arguments": " 1.0}"}})),
        chunk(json!({}), Some("tool_calls")),
        json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-x", "choices": [],
            "usage": {"prompt_tokens": 100, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 64}}}),
    ];
    let streamed = stream(Dialect::OpenaiChat, &done(&events));
    let expected =
        ["thinking hmm None", "text Looking 汉", "call call_a read {\"p\": 1.0}", "call call_b grep {}"];
    assert_eq!(said(&streamed), expected);
    assert_eq!((streamed.stop, &streamed.fault, streamed.odd.len()), (StopReason::Tools, &None, 0));
    assert_eq!(streamed.usage, Some(usage("chatcmpl-1", "gpt-x", [36, 64, 0, 9])));
    let whole = r#"{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"gpt-x","choices":[{"index":0,
        "message":{"role":"assistant","content":"Looking 汉","reasoning_content":"hmm","tool_calls":[
        {"id":"call_a","type":"function","function":{"name":"read","arguments":"{\"p\": 1.0}"}},
        {"id":"call_b","type":"function","function":{"name":"grep","arguments":"{}"}}]},"finish_reason":"tool_calls"}],
        "usage":{"prompt_tokens":100,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":64}}}"#;
    assert_eq!(decode_reply(Dialect::OpenaiChat, whole.as_bytes()), streamed);
}

#[test]
fn calls_are_told_apart_where_servers_number_them_badly() {
    let piece = |call: Value| chunk(json!({"tool_calls": [call]}), None);
    let table = [
        // Every call has the index 0 and comes whole.
        vec![
            piece(json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}})),
            piece(json!({"index": 0, "id": "b", "function": {"name": "g", "arguments": "{}"}})),
        ],
        // No call has an index, and the id is only in the first piece.
        vec![
            piece(json!({"id": "a", "function": {"name": "f", "arguments": "{"}})),
            piece(json!({"function": {"arguments": "}"}})),
            piece(json!({"id": "b", "function": {"name": "g", "arguments": "{}"}})),
        ],
        // Name and id are in each piece, and one call has an object as arguments.
        vec![
            piece(json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{"}})),
            piece(json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "}"}})),
            piece(json!({"index": 1, "id": "b", "function": {"name": "g", "arguments": {}}})),
        ],
    ];
    for mut events in table {
        events.push(chunk(json!({}), Some("tool_calls")));
        let reply = stream(Dialect::OpenaiChat, &done(&events));
        assert_eq!(said(&reply), ["call a f {}", "call b g {}"]);
    }
}

#[test]
fn what_goes_wrong_is_said_beside_what_had_come() {
    let begun =
        [start(), block(0, json!({"type": "text", "text": ""})), delta(0, "text_delta", "text", "half")];
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let provider = |reply: &ModelReply| match &reply.fault {
        Some(ReplyFault::Provider(refusal)) => refusal.to_string(),
        other => panic!("{other:?}"),
    };

    let cut = stream(Dialect::Anthropic, &named(&begun));
    assert_eq!((cut.text().as_str(), &cut.fault), ("half", &Some(ReplyFault::Cut)));
    let failed = stream(Dialect::Anthropic, &named(&[&begun[..], std::slice::from_ref(&error)].concat()));
    assert_eq!(
        (failed.text().as_str(), provider(&failed).as_str()),
        ("half", "overloaded_error: Overloaded")
    );
    assert_eq!(provider(&stream(Dialect::Anthropic, &error.to_string())), "overloaded_error: Overloaded");
    let broken = named(&begun) + "data: {\"type\": \"conte\n\n" + &named(&stop("end_turn", 1));
    let broken = stream(Dialect::Anthropic, &broken);
    assert_eq!(broken.text(), "half");
    assert!(matches!(broken.fault, Some(ReplyFault::Unreadable { .. })), "{:?}", broken.fault);

    let cut = stream(Dialect::OpenaiChat, &format!("data: {}\n\n", chunk(json!({"content": "half"}), None)));
    assert_eq!((cut.text().as_str(), &cut.fault), ("half", &Some(ReplyFault::Cut)));
    let error =
        json!({"error": {"message": "The server had an error", "type": "server_error", "code": null}});
    let failed = stream(Dialect::OpenaiChat, &done(&[chunk(json!({"content": "half"}), None), error]));
    assert_eq!(
        (failed.text().as_str(), provider(&failed).as_str()),
        ("half", "server_error: The server had an error")
    );

    for nonsense in
        ["", " \n", "<html>502</html>", "{", "[]", "null", "data: {}\n\n", "data: [DONE]\n\n", "{\"a\":1}"]
    {
        for dialect in [
            Dialect::Anthropic,
            Dialect::OpenaiChat,
            Dialect::OpenaiResponses,
            Dialect::Gemini,
            Dialect::Neutral,
        ] {
            let reply = stream(dialect, nonsense);
            let known =
                matches!(reply.fault, Some(ReplyFault::Unreadable { .. } | ReplyFault::Unsupported { .. }));
            assert!(known, "{nonsense:?}: {:?}", reply.fault);
        }
    }
}

#[test]
fn a_refusal_is_not_text() {
    let events =
        [chunk(json!({"refusal": "I can't "}), None), chunk(json!({"refusal": "do that."}), Some("stop"))];
    let reply = stream(Dialect::OpenaiChat, &done(&events));
    assert_eq!((reply.text().as_str(), reply.refusal().as_deref()), ("", Some("I can't do that.")));
    let events = [&[start()][..], &stop("refusal", 3)].concat();
    assert_eq!(stream(Dialect::Anthropic, &named(&events)).refusal().as_deref(), Some(""));
    assert_eq!(
        stream(Dialect::OpenaiChat, &done(&[chunk(json!({"content": "a"}), Some("stop"))])).refusal(),
        None
    );
}

#[test]
fn invalid_json_in_the_input_of_a_call_is_kept() {
    let mut events = vec![
        start(),
        block(0, json!({"type": "tool_use", "id": "t", "name": "Read", "input": {}})),
        delta(0, "input_json_delta", "partial_json", "{\"path\": \"a"),
    ];
    events.extend(stop("max_tokens", 5));
    let reply = stream(Dialect::Anthropic, &named(&events));
    assert_eq!(said(&reply), [r#"call t Read "{\"path\": \"a""#]);
    assert_eq!(
        (reply.stop, reply.odd.as_slice()),
        (StopReason::Length, &["the input of a call is not JSON".to_owned()][..])
    );
}

#[test]
fn a_reply_without_end_is_not_read_on() {
    for beginning in ["{\"a\":\"", "data: ", "", " "] {
        let mut reading = ReplyReader::new(Dialect::Anthropic, 1_000);
        reading.push(beginning.as_bytes());
        for _ in 0..10_000 {
            reading.push(b"          ");
        }
        assert!(reading.is_done());
        assert_eq!(reading.finish().fault, Some(ReplyFault::TooLong { max: 1_000 }));
    }
}

/// Generates the content of a reply: texts, thinking and calls.
fn contents() -> impl Strategy<Value = Vec<(u8, String)>> {
    vec((0..3_u8, "[a-z汉é\\\\\" \\n\u{2028}]{1,12}"), 0..6)
}

fn halves(text: &str) -> [&str; 2] {
    let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
    [&text[..middle], &text[middle..]]
}

/// Returns the whole and the streamed form of one reply.
fn anthropic_forms(contents: &[(u8, String)]) -> (String, String) {
    let mut blocks = Vec::new();
    let mut events = vec![start()];
    for (at, (kind, text)) in (0..).zip(contents) {
        let input = json!({"t": text});
        let (whole, begun, kinds, pieces) = match kind {
            0 => (
                json!({"type": "text", "text": text}),
                json!({"type": "text", "text": ""}),
                ("text_delta", "text"),
                text.clone(),
            ),
            1 => (
                json!({"type": "thinking", "thinking": text, "signature": ""}),
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                ("thinking_delta", "thinking"),
                text.clone(),
            ),
            _ => (
                json!({"type": "tool_use", "id": format!("t{at}"), "name": "f", "input": input}),
                json!({"type": "tool_use", "id": format!("t{at}"), "name": "f", "input": {}}),
                ("input_json_delta", "partial_json"),
                input.to_string(),
            ),
        };
        blocks.push(whole);
        events.push(block(at, begun));
        events.extend(halves(&pieces).map(|half| delta(at, kinds.0, kinds.1, half)));
    }
    events.extend(stop("end_turn", 5));
    let mut whole = start()["message"].clone();
    whole["content"] = blocks.into();
    whole["stop_reason"] = "end_turn".into();
    whole["usage"]["output_tokens"] = 5.into();
    (whole.to_string(), named(&events))
}

fn openai_forms(contents: &[(u8, String)]) -> (String, String) {
    let all = |wanted: u8| -> String {
        contents.iter().filter(|(kind, _)| *kind == wanted).map(|(_, text)| text.as_str()).collect()
    };
    let (text, thinking) = (all(0), all(1));
    let mut message = json!({"role": "assistant"});
    let mut events = vec![chunk(json!({"role": "assistant"}), None)];
    for (name, text) in [("reasoning_content", &thinking), ("content", &text)] {
        if !text.is_empty() {
            message[name] = text.clone().into();
            events.extend(halves(text).map(|half| chunk(json!({name: half}), None)));
        }
    }
    let calls: Vec<String> = contents
        .iter()
        .filter(|(kind, _)| *kind == 2)
        .map(|(_, text)| json!({"t": text}).to_string())
        .collect();
    for (at, arguments) in calls.iter().enumerate() {
        let call =
            |function: Value| json!({"id": format!("c{at}"), "type": "function", "function": function});
        let mut begun = call(json!({"name": "f", "arguments": ""}));
        begun["index"] = at.into();
        events.push(chunk(json!({"tool_calls": [begun]}), None));
        events.extend(halves(arguments).map(|half| {
            chunk(json!({"tool_calls": [{"index": at, "function": {"arguments": half}}]}), None)
        }));
        let whole = call(json!({"name": "f", "arguments": arguments}));
        message
            .as_object_mut()
            .unwrap()
            .entry("tool_calls")
            .or_insert(json!([]))
            .as_array_mut()
            .unwrap()
            .push(whole);
    }
    if text.is_empty() {
        message["content"] = Value::Null;
        events.push(chunk(json!({"content": null}), None));
    }
    let usage = json!({"prompt_tokens": 7, "completion_tokens": 2});
    events.push(chunk(json!({}), Some("stop")));
    events.push(json!({"id": "chatcmpl-1", "model": "gpt-x", "choices": [], "usage": usage}));
    let whole = json!({"id": "chatcmpl-1", "model": "gpt-x", "usage": usage,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    (whole.to_string(), done(&events))
}

fn cut<'b>(bytes: &'b [u8], cuts: &[usize]) -> Vec<&'b [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

fn dialects() -> impl Strategy<Value = Dialect> {
    prop_oneof![Just(Dialect::Anthropic), Just(Dialect::OpenaiChat)]
}

proptest! {
    #[test]
    fn both_forms_of_a_reply_are_the_same(dialect in dialects(), contents in contents()) {
        let (whole, streamed) =
            if dialect == Dialect::Anthropic { anthropic_forms(&contents) } else { openai_forms(&contents) };
        let (whole, streamed) = (decode_reply(dialect, whole.as_bytes()), stream(dialect, &streamed));
        prop_assert_eq!(&whole.fault, &None);
        prop_assert_eq!(whole, streamed);
    }

    #[test]
    fn pieces_do_not_matter(
        dialect in dialects(),
        contents in contents(),
        cuts in vec(0_usize..10_000, 0..12),
        most in prop_oneof![Just(MOST), 0_usize..1_500],
        form in 0..4,
    ) {
        let (whole, streamed) =
            if dialect == Dialect::Anthropic { anthropic_forms(&contents) } else { openai_forms(&contents) };
        let text = match form {
            0 => whole,
            1 => streamed,
            2 => format!("\u{feff}\n {whole}"),
            _ => format!("\u{feff}{}", streamed.replace('\n', "\r\n")),
        };
        let all = |pieces: &[&[u8]]| {
            let mut reading = ReplyReader::new(dialect, most);
            pieces.iter().for_each(|piece| reading.push(piece));
            reading.finish()
        };
        let at_once = all(&[text.as_bytes()]);
        prop_assert_eq!(at_once.fault.is_none(), text.len() <= most);
        prop_assert_eq!(all(&cut(text.as_bytes(), &cuts)), at_once);
    }

    #[test]
    fn whatever_comes_is_read_without_panic(
        dialect in dialects(),
        bytes in vec(any::<u8>(), 0..300),
        at in 0_usize..3_000,
        contents in contents(),
    ) {
        let _ = read(dialect, &[&bytes]);
        // Damages the middle of a valid reply.
        let (whole, streamed) =
            if dialect == Dialect::Anthropic { anthropic_forms(&contents) } else { openai_forms(&contents) };
        for text in [whole, streamed] {
            let mut text = text.into_bytes();
            let at = at % text.len();
            let end = (at + bytes.len()).min(text.len());
            text.splice(at..end, bytes.iter().copied());
            let _ = read(dialect, &[&text]);
        }
    }

    #[test]
    fn events_of_any_shape_are_read_without_panic(
        dialect in dialects(),
        events in vec((0..8_usize, 0..8_usize, 0..10_usize), 0..12),
    ) {
        let kinds = ["message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop", "error", "x", "ping"];
        let fields = ["message", "content_block", "delta", "usage", "error", "choices", "index", "type"];
        let values = [
            json!(null), json!([]), json!({}), json!(7), json!("text"), json!(-1.5), json!([{}]),
            json!({"type": "text_delta", "text": 7}), json!([{"delta": {"tool_calls": [{}, 3, {"function": 3}]}}]),
            json!([{"index": 0, "delta": {"content": [], "function_call": {"arguments": []}}}]),
        ];
        let events: Vec<Value> = events
            .iter()
            .map(|(kind, field, value)| json!({"type": kinds[*kind], fields[*field]: values[*value]}))
            .collect();
        let _ = stream(dialect, &done(&events));
    }
}
