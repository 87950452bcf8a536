//! A provider's request is unchanged after it has been read into the neutral form and written again.

use crate::shared::{canonical, newer, providers};
use proptest::prelude::*;
use wunderblock_core::message::{Dialect, Part, Role};
use wunderblock_wire::{decode, decode_blocks, decode_message, encode, validate};

const ALL: [Dialect; 5] =
    [Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini, Dialect::Neutral];

/// Asserts that a request survives decoding and encoding: the document is equal, nothing is dropped, and a second
/// round gives the same bytes.
pub(crate) fn survives(dialect: Dialect, json: &str) {
    let request = decode(dialect, json.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{json}"));
    let encoded = encode(dialect, &request).unwrap();
    let written = String::from_utf8(encoded.bytes.clone()).unwrap();
    assert_eq!(canonical(&written), canonical(json), "\nwas: {json}\nis:  {written}");
    assert_eq!(encoded.dropped, [], "{json}");
    let again = encode(dialect, &decode(dialect, &encoded.bytes).unwrap()).unwrap();
    assert_eq!(String::from_utf8(again.bytes).unwrap(), written, "not a fixed point");
}

fn anthropic(messages: &str) -> String {
    format!(r#"{{"model":"m","max_tokens":9,"messages":{messages}}}"#)
}

#[test]
fn every_anthropic_feature_survives() {
    let cases = [
        (r#"[{"role":"user","content":"hi"}]"#, "content as a string"),
        (
            r#"[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral","ttl":"1h"}}]}]"#,
            "a cache mark",
        ),
        (
            r#"[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"c2ln"},{"type":"redacted_thinking","data":"eHl6"},{"type":"text","text":"a","citations":[{"type":"char_location","start_char_index":0,"new_field":1.50}]},{"type":"tool_use","id":"toolu_1","name":"Read","input":{"z":1e400,"a":[12345678901234567890123,0.10,-0],"m":{"b":1,"a":2}},"caller":{"type":"direct"}},{"type":"tool_use","id":"toolu_2","name":"Read","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_2","content":"two"},{"type":"tool_result","tool_use_id":"toolu_1","is_error":true},{"type":"text","text":"and?"}]}]"#,
            "thinking, citations, odd numbers, parallel calls answered in another order",
        ),
        (
            r#"[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}},{"type":"image","source":{"type":"url","url":"https://x.example/a.png"}},{"type":"image","source":{"type":"file","file_id":"file_1"},"cache_control":{"type":"ephemeral"}}]}]"#,
            "images of every form",
        ),
        (
            r#"[{"role":"user","content":[{"type":"document","title":"T","context":"C","citations":{"enabled":true},"source":{"type":"base64","media_type":"application/pdf","data":"JVBERg=="}},{"type":"document","source":{"type":"text","media_type":"text/plain","data":"plain"}},{"type":"document","source":{"type":"content","content":[{"type":"text","text":"c"}]}},{"type":"document","source":{"type":"url","url":"https://x.example/a.pdf","hash":"h"}},{"type":"document","source":{"type":"file","file_id":"file_2"}},{"type":"search_result","source":"s","title":"t","content":[]}]}]"#,
            "documents of every form",
        ),
        (
            r#"[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"u","encrypted_content":"e"}]},{"type":"mcp_tool_use","id":"mcptoolu_1","name":"n","server_name":"s","input":{}},{"type":"text","text":"done"}]},{"role":"user","content":"next"}]"#,
            "tools of the server",
        ),
        (
            r#"[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"T","input":{}},{"type":"tool_use","id":"b","name":"T","input":{}},{"type":"tool_use","id":"c","name":"T","input":{}},{"type":"tool_use","id":"d","name":"T","input":{}},{"type":"tool_use","id":"e","name":"T","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"x"}],"is_error":false},{"type":"tool_result","tool_use_id":"b","content":[]},{"type":"tool_result","tool_use_id":"c","content":""},{"type":"tool_result","tool_use_id":"d","content":null},{"type":"tool_result","tool_use_id":"e","content":[{"type":"text","text":"\n"},{"type":"image","source":{"type":"base64","media_type":"image/webp","data":"aGk="}},{"type":"tool_reference","tool_name":"T"}]}]}]"#,
            "every form of a tool result",
        ),
        (
            r#"[{"role":"user","content":"q"},{"role":"system","content":"from now on"},{"role":"assistant","content":"ok"},{"role":"user","content":[{"type":"text","text":"r"}]},{"role":"system","content":[{"type":"text","text":"also"}]}]"#,
            "system messages between turns",
        ),
        (
            r#"[{"role":"user","content":[{"type":"hologram","wb:from":1,"deep":[[[[]]]]},{"type":"text","text":"t","wb:shape":"blocks","wb:=x":null,"":0}],"wb:from":"me","other":[1]}]"#,
            "unknown blocks, and fields that look like ours",
        ),
    ];
    for (messages, what) in cases {
        let json = anthropic(messages);
        survives(Dialect::Anthropic, &json);
        assert_eq!(validate(Dialect::Anthropic, json.as_bytes()), [], "{what}");
    }
}

#[test]
fn the_rest_of_an_anthropic_request_survives() {
    let rest = [
        r#""system":"be brief""#,
        r#""system":"","tools":[]"#,
        r#""system":[{"type":"text","text":"a"},{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}]"#,
        r#""tools":[{"name":"T","description":"d","input_schema":{"type":"object","properties":{"z":{},"a":{"maximum":1e999}}},"cache_control":{"type":"ephemeral"},"strict":true},{"type":"custom","name":"U","description":"","input_schema":{"type":"object"}},{"type":"web_search_20250305","name":"web_search","max_uses":5}]"#,
        r#""stream":true,"temperature":0.10,"metadata":{"user_id":"u"},"thinking":{"type":"adaptive"},"tool_choice":{"type":"auto"},"context_management":{"edits":[]}"#,
    ];
    for rest in rest {
        let json =
            format!(r#"{{"model":"m","max_tokens":9,{rest},"messages":[{{"role":"user","content":"q"}}]}}"#);
        survives(Dialect::Anthropic, &json);
        assert_eq!(validate(Dialect::Anthropic, json.as_bytes()), [], "{json}");
    }
}

#[test]
fn every_openai_feature_survives() {
    let call = r#"{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"z\": 1e400, \"a\":0.10}"}}"#;
    let cases = [
        r#"{"role":"system","content":"s"},{"role":"user","content":"hi","name":"ann"}"#.to_owned(),
        r#"{"role":"developer","content":"s","name":"n"},{"role":"system","content":[{"type":"text","text":"t"}]},{"role":"system","content":[{"type":"text","text":"u","cache":1},{"type":"text","text":"v"}]},{"role":"user","content":[{"type":"text","text":"one"}]}"#.to_owned(),
        r#"{"role":"user","content":"a"},{"role":"user","content":""},{"role":"system","content":"mid"},{"role":"developer","content":"mid2"},{"role":"user","content":"b"}"#.to_owned(),
        format!(r#"{{"role":"user","content":"q"}},{{"role":"assistant","content":null,"tool_calls":[{call},{{"id":"call_2","type":"function","function":{{"name":"f","arguments":"not json {{"}}}}]}},{{"role":"tool","tool_call_id":"call_2","content":"2"}},{{"role":"tool","tool_call_id":"call_1","content":[{{"type":"text","text":"1"}}],"name":"f"}},{{"role":"user","content":"and?"}}"#),
        format!(r#"{{"role":"user","content":"q"}},{{"role":"assistant","tool_calls":[{call}]}},{{"role":"tool","tool_call_id":"call_1","content":""}},{{"role":"assistant","content":"","refusal":null,"annotations":[],"tool_calls":[{call}],"reasoning_content":"hmm"}},{{"role":"tool","tool_call_id":"call_1","content":[{{"type":"text","text":"a"}},{{"type":"text","text":"b"}}]}}"#),
        r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk=","detail":"low"}},{"type":"image_url","image_url":{"url":"https://x.example/i"}},{"type":"input_audio","input_audio":{"data":"aGk=","format":"mp3"}},{"type":"input_audio","input_audio":{"data":"aGk=","format":"wav"}},{"type":"file","file":{"file_id":"file-1"}},{"type":"file","file":{"filename":"x.pdf","file_data":"data:application/pdf;base64,aGk="}},{"type":"file","file":{"filename":"document.pdf","file_data":"data:application/pdf;base64,aGk="}},{"type":"file","file":{"file_data":"data:application/pdf;base64,aGk="}}]}"#.to_owned(),
        r#"{"role":"user","content":"q"},{"role":"assistant","content":null,"refusal":"no"},{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"refusal","refusal":"b"}]},{"role":"assistant","content":null,"audio":{"id":"audio_1"}},{"role":"user","content":"r"}"#.to_owned(),
        r#"{"role":"user","content":"q"},{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"r"},{"role":"assistant","content":null,"function_call":{"name":"f","arguments":""}},{"role":"function","name":"f","content":"s"}"#.to_owned(),
        r#"{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"custom","custom":{"name":"x","input":"free\ntext"}}]},{"role":"tool","tool_call_id":"c","content":"ok"}"#.to_owned(),
    ];
    for messages in cases {
        let json = format!(r#"{{"model":"m","messages":[{messages}]}}"#);
        survives(Dialect::OpenaiChat, &json);
        assert_eq!(validate(Dialect::OpenaiChat, json.as_bytes()), [], "{json}");
    }
}

#[test]
fn the_rest_of_an_openai_request_survives() {
    let rest = [
        r#""max_tokens":5"#,
        r#""max_completion_tokens":5,"max_tokens":6"#,
        r#""stream":true,"stream_options":{"include_usage":true},"seed":-0,"functions":[{"name":"f"}]"#,
        r#""tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"},"strict":true},"x":1},{"type":"function","function":{"name":"g"}},{"type":"custom","custom":{"name":"h"}}],"tool_choice":"auto""#,
    ];
    for rest in rest {
        let json = format!(r#"{{"model":"m",{rest},"messages":[{{"role":"user","content":"q"}}]}}"#);
        survives(Dialect::OpenaiChat, &json);
        assert_eq!(validate(Dialect::OpenaiChat, json.as_bytes()), [], "{json}");
    }
}

#[test]
fn arguments_keep_every_byte() {
    let arguments =
        "{\"b\" : 1.0,\n \"a\":1E+400, \"n\": 123456789012345678901234567890 ,\"u\":\"\\u00e9\"} ";
    let json = format!(
        r#"{{"model":"m","messages":[{{"role":"user","content":"q"}},{{"role":"assistant","content":null,"tool_calls":[{{"id":"c","type":"function","function":{{"name":"f","arguments":{}}}}}]}},{{"role":"tool","tool_call_id":"c","content":"r"}}]}}"#,
        serde_json::to_string(arguments).unwrap()
    );
    let request = decode(Dialect::OpenaiChat, json.as_bytes()).unwrap();
    let Part::ToolCall { input, .. } = &request.messages[1].parts[0] else { panic!() };
    assert_eq!(input.inline(), Some(arguments));
    let anthropic = String::from_utf8(encode(Dialect::Anthropic, &request).unwrap().bytes).unwrap();
    assert!(anthropic.contains(&format!("\"input\":{}", arguments.trim())), "{anthropic}");
}

#[test]
fn a_user_message_with_results_is_two_messages() {
    let raw = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r"},{"type":"text","text":"go on"}]}"#;
    let messages = decode_message(Dialect::Anthropic, raw).unwrap();
    let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::Tool, Role::User]);
}

#[test]
fn a_reply_gives_its_id_model_and_stop_reason_and_sends_none_of_them() {
    let raw = r#"{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3}}"#;
    let messages = decode_message(Dialect::Anthropic, raw).unwrap();
    let [message] = messages.as_slice() else { panic!() };
    assert_eq!(message.api_id.as_deref(), Some("msg_1"));
    assert_eq!(message.model.as_deref(), Some("claude"));
    assert_eq!(message.stop.as_deref(), Some("end_turn"));
    assert!(message.extra.as_deref().unwrap().contains("input_tokens"), "usage is kept");
    let request = wunderblock_core::request::Request { messages, ..Default::default() };
    let encoded = encode(Dialect::Anthropic, &request).unwrap();
    let expected = r#"{"messages":[{"role":"user","content":"(The conversation begins here.)"},{"role":"assistant","content":[{"type":"text","text":"a"}]}]}"#;
    assert_eq!(String::from_utf8(encoded.bytes).unwrap(), expected);
    assert_eq!(encoded.dropped, []);
}

#[test]
fn what_a_recorder_adds_to_a_message_is_kept_and_never_sent() {
    let raw = r#"{"role":"user","content":[{"type":"text","text":"q"}],"timestamp":7}"#;
    let messages = decode_message(Dialect::Anthropic, raw).unwrap();
    assert!(messages[0].extra.as_deref().unwrap().contains(r#""timestamp":7"#));
    let request = wunderblock_core::request::Request { messages, ..Default::default() };
    let bytes = encode(Dialect::Anthropic, &request).unwrap().bytes;
    let expected = r#"{"messages":[{"role":"user","content":[{"type":"text","text":"q"}]}]}"#;
    assert_eq!(String::from_utf8(bytes).unwrap(), expected);
}

#[test]
fn content_alone_is_read_as_string_or_list() {
    assert_eq!(decode_blocks(r#""t""#).unwrap(), [Part::text("t")]);
    assert_eq!(decode_blocks(r#"[{"type":"text","text":"t"}]"#).unwrap(), [Part::text("t")]);
    assert!(decode_blocks("3").is_err());
}

#[test]
fn a_lone_surrogate_becomes_a_replacement_character() {
    let raw = r#"[{"type":"text","text":"a\ud83d b\ude00\ud83d\ude00"}]"#;
    assert_eq!(decode_blocks(raw).unwrap(), [Part::text("a\u{FFFD} b\u{FFFD}😀")]);
}

#[test]
fn damaged_blocks_are_kept_whole() {
    for block in [
        r#"{"type":"text"}"#,
        r#"{"type":"tool_use","id":1}"#,
        "7",
        r#""s""#,
        r#"{"type":"image","source":"x"}"#,
    ] {
        let raw = format!("[{block}]");
        assert_eq!(
            decode_blocks(&raw).unwrap(),
            [Part::Opaque { dialect: Dialect::Anthropic, raw: block.into() }]
        );
    }
}

#[test]
fn nesting_of_any_depth_is_carried_or_refused() {
    let deep = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
    let input = format!(r#"{{"x":{deep}}}"#);
    let json = anthropic(&format!(
        r#"[{{"role":"user","content":"q"}},{{"role":"assistant","content":[{{"type":"tool_use","id":"a","name":"T","input":{input}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a"}}]}}]"#
    ));
    let request = decode(Dialect::Anthropic, json.as_bytes()).unwrap();
    let encoded = encode(Dialect::Anthropic, &request).unwrap().bytes;
    assert!(String::from_utf8(encoded.clone()).unwrap().contains(&input));
    assert_eq!(validate(Dialect::Anthropic, &encoded), []);
    for dialect in ALL {
        assert!(decode(dialect, deep.as_bytes()).is_err());
        assert!(!validate(dialect, deep.as_bytes()).is_empty());
    }
    let nested = |depth: usize| {
        let open = r#"{"type":"tool_result","call":"a","content":["#.repeat(depth);
        let close = "]}".repeat(depth);
        format!(r#"{{"messages":[{{"role":"tool","parts":[{open}{close}]}}]}}"#)
    };
    assert!(decode(Dialect::Neutral, nested(8).as_bytes()).is_ok());
    assert!(decode(Dialect::Neutral, nested(100_000).as_bytes()).is_err());
}

#[test]
fn errors_say_where() {
    let cases = [
        (&b"{"[..], "JSON"),
        (b"\xff", "utf-8"),
        (b"[]", "the request"),
        (b"{}", "messages"),
        (br#"{"messages":[{"role":"user","content":"a"},{"role":"owl","content":"b"}]}"#, "messages[1].role"),
        (br#"{"messages":[{"role":"user","content":7}]}"#, "messages[0].content"),
    ];
    for dialect in [Dialect::Anthropic, Dialect::OpenaiChat] {
        for (bytes, expected) in cases {
            let error = decode(dialect, bytes).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}

proptest! {
    #[test]
    fn any_anthropic_request_survives(json in providers::anthropic()) {
        survives(Dialect::Anthropic, &json);
        prop_assert_eq!(validate(Dialect::Anthropic, json.as_bytes()), []);
    }

    #[test]
    fn any_openai_request_survives(json in providers::openai()) {
        survives(Dialect::OpenaiChat, &json);
        prop_assert_eq!(validate(Dialect::OpenaiChat, json.as_bytes()), []);
    }

    #[test]
    fn any_responses_request_survives(json in newer::responses()) {
        survives(Dialect::OpenaiResponses, &json);
        prop_assert_eq!(validate(Dialect::OpenaiResponses, json.as_bytes()), []);
    }

    #[test]
    fn any_gemini_request_survives(json in newer::gemini()) {
        survives(Dialect::Gemini, &json);
        prop_assert_eq!(validate(Dialect::Gemini, json.as_bytes()), []);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200),
        providers::json(3).prop_map(String::into_bytes),
        providers::json(2).prop_map(|json| format!(r#"{{"messages":{json}}}"#).into_bytes()),
        providers::json(2).prop_map(|json| format!(r#"{{"model":"m","messages":[{{"role":"assistant","content":[{json}],"tool_calls":[{json}]}}]}}"#).into_bytes()),
        (providers::json(2), providers::json(1)).prop_map(|(one, two)| format!(r#"{{"input":[{one},{{"type":"function_call","call_id":{two},"name":"f","arguments":{one}}},{{"type":"reasoning","summary":[{two}]}},{{"role":"assistant","content":{one}}}]}}"#).into_bytes()),
        (providers::json(2), providers::json(1)).prop_map(|(one, two)| format!(r#"{{"contents":[{{"role":"model","parts":[{one},{{"functionCall":{two}}},{{"text":{one}}}]}},{{"parts":[{{"functionResponse":{{"name":"f","response":{two}}}}}]}}],"tools":[{one}]}}"#).into_bytes()),
        (providers::anthropic(), any::<prop::sample::Index>()).prop_map(|(json, cut)| json.as_bytes()[..cut.index(json.len())].to_vec()),
    ]) {
        for dialect in ALL {
            let _ = validate(dialect, &bytes);
            if let Ok(request) = decode(dialect, &bytes) {
                for target in ALL {
                    let encoded = encode(target, &request).unwrap();
                    let _ = validate(target, &encoded.bytes);
                    serde_json::from_slice::<&serde_json::value::RawValue>(&encoded.bytes).unwrap();
                }
            }
            if let Ok(text) = std::str::from_utf8(&bytes) {
                let _ = decode_message(dialect, text);
                let _ = decode_blocks(text);
                let _ = wunderblock_wire::gist("t", text);
            }
            if let Ok(strings) = wunderblock_wire::string_values(&bytes) {
                strings.for_each(drop);
            }
        }
    }
}
