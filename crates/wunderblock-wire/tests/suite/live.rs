//! Lines of the live door: fields of the envelope, and fields of the message.

use wunderblock_core::event::Fact;
use wunderblock_core::message::{Dialect, Message, Part, Role};
use wunderblock_core::request::Request;
use wunderblock_wire::{LiveError, LiveLine, decode_line, encode};

fn read(line: &str) -> LiveLine {
    decode_line(line.as_bytes()).unwrap_or_else(|error| panic!("{error}: {line}"))
}

fn message(line: &str) -> Message {
    match read(line).fact {
        Fact::MessageAppended(said) => said.message,
        other => panic!("{other:?}"),
    }
}

fn sent(messages: Vec<Message>) -> String {
    let request = Request { messages, ..Request::default() };
    String::from_utf8(encode(Dialect::OpenaiChat, &request).unwrap().bytes).unwrap()
}

#[test]
fn the_envelope_is_not_part_of_the_message() {
    let bare = [
        r#"{"role":"user","content":"pay 5"}"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"Bash","arguments":"{}"}}]}"#,
        r#"{"role":"tool","tool_call_id":"c1","content":"Cargo.toml"}"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"x"}]}"#,
        r#"{"role":"tool","tool_call_id":"c1","content":"x","cache":true}"#,
    ];
    for text in bare {
        let said = message(text);
        for envelope in [
            r#"{"id":"m1","#,
            r#"{"id":"m1","at":1700000000000,"#,
            r#"{"session":"s","at":1700000000999,"id":"m2","#,
        ] {
            let line = text.replacen('{', envelope, 1);
            let read = read(&line);
            assert!(read.id.is_some(), "{line}");
            assert_eq!(message(&line), said, "{line}");
        }
    }
    assert_eq!(read(r#"{"id":"m1","at":17,"role":"user","content":"x"}"#).at.unwrap().0, 17);
    let tool =
        message(r#"{"id":"m3","at":17,"session":"s","role":"tool","tool_call_id":"c1","content":"x"}"#);
    let call = message(bare[1]);
    let body = sent(vec![call, tool]);
    assert!(body.contains(r#"{"role":"tool","tool_call_id":"c1","content":"x"}"#), "{body}");
}

#[test]
fn what_is_the_providers_own_stays() {
    let reply = r#"{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":4}}"#;
    let said = message(reply);
    assert_eq!(said.api_id.as_deref(), Some("msg_1"));
    assert_eq!(read(reply).id.as_deref(), Some("msg_1"));
    assert_eq!(
        message(&reply.replacen('{', r#"{"at":5,"#, 1)),
        said,
        "a retry at another time says the same"
    );
    // An object under `message` is kept whole.
    let inner = r#"{"id":"k","at":3,"message":{"id":"theirs","at":"noon","role":"tool","tool_call_id":"c","content":"x"}}"#;
    let said = format!("{:?}", message(inner));
    assert!(said.contains("theirs") && said.contains("noon"), "{said}");
    let inner = format!(r#"{{"id":"k","message":{reply}}}"#);
    assert_eq!(message(&inner).api_id.as_deref(), Some("msg_1"));
    assert_eq!(read(&inner).id.as_deref(), Some("k"));
}

#[test]
fn lines_of_the_newer_dialects_are_told_apart() {
    let call = message(r#"{"id":"m1","type":"function_call","call_id":"c","name":"f","arguments":"{}"}"#);
    assert_eq!(call.calls().next().unwrap().as_str(), "c");
    let said =
        message(r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}"#);
    assert_eq!(said, Message::assistant("a"));
    assert_eq!(message(r#"{"role":"user","content":[{"type":"input_text","text":"q"}]}"#).parts.len(), 1);
    for line in [
        r#"{"type":"reasoning","summary":[],"encrypted_content":"c2Vh"}"#,
        r#"{"type":"web_search_call","status":"completed"}"#,
        r#"{"type":"message","role":"assistant","content":"a","phase":"final_answer"}"#,
        r#"{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"no"}]}"#,
    ] {
        let said = format!("{:?}", message(line));
        assert!(said.contains("openai-responses") || said.contains("OpenaiResponses"), "{said}");
    }
    let answer = message(
        r#"{"role":"user","parts":[{"functionResponse":{"id":"c","name":"f","response":{"output":"r"}}}]}"#,
    );
    assert_eq!(answer.role, Role::Tool);
    assert_eq!(message(r#"{"role":"model","parts":[{"text":"a"}]}"#), Message::assistant("a"));
    assert_eq!(message(r#"{"role":"user","parts":[{"type":"text","text":"q"}]}"#), Message::user("q"));
}

#[test]
fn an_invalid_line_says_why() {
    let table = [
        ("[1]", LiveError::NotAnObject),
        (r#"{"id":1,"role":"user","content":"x"}"#, LiveError::Field("id", "a string")),
        (
            r#"{"id":"a\ud800","role":"user","content":"x"}"#,
            LiveError::Field("id", "without lone surrogates such as \\ud800"),
        ),
        (
            r#"{"at":"noon","role":"user","content":"x"}"#,
            LiveError::Field("at", "a whole number of milliseconds"),
        ),
        (r#"{"content":"x"}"#, LiveError::Neither),
        (r#"{"kind":"session.opened","erased":true}"#, LiveError::Erased),
        (
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"x"},{"type":"text","text":"and"}]}"#,
            LiveError::Several,
        ),
    ];
    for (line, why) in table {
        assert_eq!(decode_line(line.as_bytes()), Err(why), "{line}");
    }
    assert_eq!(decode_line(b"{\"role\":\"\xff\"}"), Err(LiveError::Encoding));
    assert!(matches!(decode_line(br#"{"role":"user""#), Err(LiveError::Json(_))));
    assert!(matches!(decode_line(br#"{"kind":"no.such.kind"}"#), Err(LiveError::Event(_))));
    assert!(matches!(decode_line(br#"{"role":"emperor","content":"x"}"#), Err(LiveError::Message(_))));
    assert_eq!(message(r#"{"role":"user","content":"x","id":null,"at":null,"kind":null}"#).role, Role::User);
}

/// What a text loses on its way into UTF-8 is counted; what it keeps is not.
#[test]
fn lone_surrogates_are_counted() {
    let table = [
        (r#""plain \u00e9 \\ud800 \n""#, 0),
        (r#""\ud83d\ude00 \uD83D\uDE00""#, 0),
        (r#""\ud83d""#, 1),
        (r#""\ude00 \ud83d x""#, 2),
        (r#""\ud83d\ud83d\ude00""#, 1),
        (r#""\ud83d\u0041\ude00""#, 2),
        (r#""\ude00\ud83d\\""#, 2),
    ];
    for (content, count) in table {
        let line = read(&format!(r#"{{"role":"user","content":{content}}}"#));
        assert_eq!(line.lone_surrogates, count, "{content}");
        let Fact::MessageAppended(said) = line.fact else { panic!("a message") };
        let [Part::Text { text, .. }] = said.message.parts.as_slice() else { panic!("a text") };
        assert_eq!(text.inline().unwrap().matches('\u{fffd}').count(), count, "{content}");
    }
    assert_eq!(
        read(r#"{"role":"user","content":"x","k\udc00":"\ud800"}"#).lone_surrogates,
        2,
        "in names, too"
    );
}
