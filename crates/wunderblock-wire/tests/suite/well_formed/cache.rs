//! Tests of the places of cache marks, and of the part of a request that the next one repeats.

use crate::shared::providers;
use crate::shared::requests::{Oddity, well_formed};
use proptest::collection::vec;
use proptest::prelude::*;
use wunderblock_core::message::{Dialect, Message, Part, Role};
use wunderblock_core::request::{CachePoint, Request, Tool};
use wunderblock_core::units::Tokens;
use wunderblock_wire::{decode, encode, validate};

const MARK: &str = r#","cache_control":{"type":"ephemeral"}}"#;
const ALL: [Dialect; 5] =
    [Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini, Dialect::Neutral];

fn text(dialect: Dialect, request: &Request) -> String {
    String::from_utf8(encode(dialect, request).unwrap().bytes).unwrap()
}

fn tool(name: &str, extra: Option<&str>) -> Tool {
    let schema = r#"{"type":"object"}"#.into();
    Tool { name: name.into(), description: "".into(), schema, extra: extra.map(Into::into) }
}

fn thinking(text: &str) -> Part {
    Part::Thinking { text: text.into(), signature: Some("c2ln".into()), extra: None }
}

/// A conversation with one tool round, after a preamble in a separate message.
fn talk(cache: Vec<CachePoint>) -> Request {
    let call = Part::ToolCall {
        call: "a".into(),
        name: "T".into(),
        input: r#"{"cache_control":1}"#.into(),
        gist: None,
        extra: None,
    };
    let done =
        Part::ToolResult { call: "a".into(), content: vec![Part::text("r")], failed: false, extra: None };
    Request {
        model: Some("m".into()),
        max_output: Some(Tokens(9)),
        system: vec![Part::text("s1"), Part::text("s2")],
        tools: vec![tool("A", None), tool("T", None)],
        messages: vec![
            Message::new(Role::User, vec![Part::text("rules"), Part::text("memory")]),
            Message::text(Role::User, "q"),
            Message::new(Role::Assistant, vec![Part::text("hm"), call]),
            Message::new(Role::Tool, vec![done]),
            Message::new(Role::Assistant, vec![Part::text("so"), thinking("t")]),
            Message::text(Role::User, "go on"),
        ],
        cache: Some(cache),
        extra: None,
    }
}

/// Returns the texts of the objects that carry a mark: each text runs from the last known beginning of an object to
/// the mark. In these bodies, this object is the one that carries the mark.
fn marked(body: &str) -> Vec<String> {
    body.match_indices(MARK)
        .map(|(at, _)| {
            let before = &body[..at];
            let kinds = [r#"{"name":"#, r#"{"type":"text""#, r#"{"type":"tool_"#, r#"{"type":"thinking""#];
            let from = kinds.iter().filter_map(|kind| before.rfind(kind)).max().unwrap();
            before[from..].to_owned()
        })
        .collect()
}

#[test]
fn each_point_marks_its_place_and_nothing_else() {
    use CachePoint::{Block, End, Preamble, System, Tools};
    let none = text(Dialect::Anthropic, &talk(vec![End])).replace(MARK, "}");
    let a = r#"{"name":"T","input_schema":{"type":"object"}"#;
    let cases: [(CachePoint, &str); 11] = [
        (Tools, a),
        (System, r#"{"type":"text","text":"s2""#),
        (Preamble, r#"{"type":"text","text":"memory""#),
        (Block(0), r#"{"type":"text","text":"rules""#),
        (Block(2), r#"{"type":"text","text":"q""#),
        (Block(4), r#"{"type":"tool_use","id":"a","name":"T","input":{"cache_control":1}"#),
        (Block(5), r#"{"type":"tool_result","tool_use_id":"a","content":"r""#),
        (Block(6), r#"{"type":"text","text":"so""#),
        (Block(7), r#"{"type":"text","text":"so""#),
        (Block(8), r#"{"type":"text","text":"go on""#),
        (Block(99), r#"{"type":"text","text":"go on""#),
    ];
    for (point, expected) in cases {
        let body = text(Dialect::Anthropic, &talk(vec![point]));
        assert_eq!(marked(&body), [expected], "{point:?}");
        assert_eq!(body.replace(MARK, "}"), none, "{point:?}");
        assert_eq!(validate(Dialect::Anthropic, body.as_bytes()), []);
    }
    let body = text(Dialect::Anthropic, &talk(vec![End]));
    assert!(body.ends_with(r#"}]}],"cache_control":{"type":"ephemeral"}}"#), "{body}");
    assert_eq!(body.matches("ephemeral").count(), 1);
    let body = text(Dialect::Anthropic, &talk(vec![Tools, System, Preamble, End]));
    assert_eq!(body.matches("ephemeral").count(), 4);
    assert_eq!(validate(Dialect::Anthropic, body.as_bytes()), []);
    // Two points at the same place give one mark.
    let body = text(Dialect::Anthropic, &talk(vec![Preamble, Block(1), Block(6), Block(7)]));
    assert_eq!(body.matches("ephemeral").count(), 2);
}

#[test]
fn the_first_messages_mark_stays_on_what_it_said_itself() {
    let mut request = talk(vec![CachePoint::Preamble]);
    request.messages[0].parts = vec![Part::text("rules")];
    let body = text(Dialect::Anthropic, &request);
    let expected =
        r#"[{"type":"text","text":"rules","cache_control":{"type":"ephemeral"}},{"type":"text","text":"q"}]"#;
    assert!(body.contains(expected), "{body}");
    // No part of the first message can carry a mark, so the request has no mark.
    request.messages = vec![
        Message::new(Role::Assistant, vec![thinking("t")]),
        Message::text(Role::Assistant, "a"),
        Message::text(Role::User, "q"),
    ];
    let body = text(Dialect::Anthropic, &request);
    assert!(!body.contains("cache_control"), "{body}");
    assert!(body.contains(r#""content":[{"type":"text","text":"(The conversation"#), "{body}");
}

#[test]
fn a_tool_that_is_loaded_later_bears_no_mark() {
    let mut request = talk(vec![CachePoint::Tools]);
    request.tools.push(tool("Z", Some(r#"{"defer_loading":true}"#)));
    let body = text(Dialect::Anthropic, &request);
    assert_eq!(marked(&body), [r#"{"name":"T","input_schema":{"type":"object"}"#]);
}

#[test]
fn the_plan_replaces_imported_cache_marks_without_reporting_a_loss() {
    let json = concat!(
        r#"{"model":"m","max_tokens":9,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"1h"}}],"#,
        r#""tools":[{"name":"T","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}},"#,
        r#"{"type":"web_search_20250305","name":"web_search","cache_control":{"type":"ephemeral"}}],"messages":["#,
        r#"{"role":"user","content":[{"type":"search_result","source":"x","title":"t","content":[{"type":"text","text":"c","cache_control":null}],"cache_control":{"type":"ephemeral"}},"#,
        r#"{"type":"image","source":{"type":"url","url":"https://x.example/a"},"cache_control":{"type":"ephemeral"}}]},"#,
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"T","input":{"cache_control":1},"cache_control":{"type":"ephemeral"}}]},"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"r","cache_control":{"type":"ephemeral"}},{"type":"u","cache_control":{}}]}]},"#,
        r#"{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"n","input":{"cache_control":2},"cache_control":{}},{"type":"n_tool_result","tool_use_id":"s","content":[]}]},"#,
        r#"{"role":"user","content":"q"}],"cache_control":{"type":"ephemeral"},"stream":true}"#,
    );
    let mut request = decode(Dialect::Anthropic, json.as_bytes()).unwrap();
    assert_eq!(text(Dialect::Anthropic, &request).matches("cache_control").count(), 13, "as it came");
    request.cache = Some(vec![CachePoint::System, CachePoint::End]);
    let encoded = encode(Dialect::Anthropic, &request).unwrap();
    let body = String::from_utf8(encoded.bytes).unwrap();
    assert_eq!(encoded.dropped, []);
    assert_eq!(body.matches(r#""cache_control":{"type":"ephemeral"}"#).count(), 2, "{body}");
    assert_eq!(body.matches("cache_control").count(), 4, "the inputs of tools stay: {body}");
    assert!(body.ends_with(r#""cache_control":{"type":"ephemeral"},"stream":true}"#), "{body}");
    assert!(body.contains(r#"{"type":"text","text":"q"}"#) && !body.contains(r#""content":"q""#), "{body}");
}

#[test]
fn nothing_is_a_string_that_could_grow() {
    let json = r#"{"model":"m","max_tokens":9,"system":"s","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"user","content":"r"}]}"#;
    let mut request = decode(Dialect::Anthropic, json.as_bytes()).unwrap();
    let before = encode(Dialect::Anthropic, &request).unwrap();
    assert!(before.bytes.starts_with(
        br#"{"model":"m","max_tokens":9,"system":"s","messages":[{"role":"user","content":"q"}"#
    ));
    assert_eq!((before.blocks, &before.bytes[before.stem..]), (3, br#""r"}]}"#.as_slice()));
    request.cache = Some(vec![CachePoint::System]);
    let body = text(Dialect::Anthropic, &request);
    let expected = concat!(
        r#"{"model":"m","max_tokens":9,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"#,
        r#""messages":[{"role":"user","content":[{"type":"text","text":"q"}]},"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"a"}]},"#,
        r#"{"role":"user","content":[{"type":"text","text":"r"}]}]}"#
    );
    assert_eq!(body, expected);
}

#[test]
fn a_request_without_messages_has_a_stem() {
    let request = Request { messages: Vec::new(), ..talk(vec![CachePoint::End]) };
    let ends = [
        (Dialect::Anthropic, r#""messages":["#, 0),
        (
            Dialect::OpenaiChat,
            r#"{"role":"system","content":[{"type":"text","text":"s1"},{"type":"text","text":"s2"}]}"#,
            1,
        ),
        (Dialect::OpenaiResponses, r#"{"type":"input_text","text":"s2"}]}"#, 1),
        (Dialect::Gemini, r#""contents":["#, 0),
        (Dialect::Neutral, r#""messages":["#, 0),
    ];
    for (dialect, end, blocks) in ends {
        let encoded = encode(dialect, &request).unwrap();
        let stem = std::str::from_utf8(&encoded.bytes[..encoded.stem]).unwrap();
        assert!(stem.ends_with(end), "{stem}");
        assert_eq!(encoded.blocks, blocks);
    }
}

fn points() -> impl Strategy<Value = Vec<CachePoint>> {
    let point = prop_oneof![
        Just(CachePoint::Tools),
        Just(CachePoint::System),
        Just(CachePoint::Preamble),
        Just(CachePoint::End)
    ];
    vec(point, 0..4)
}

/// Returns the lengths of the conversation at which every call has its result.
fn closed(messages: &[Message]) -> Vec<usize> {
    let mut open = 0_usize;
    let mut ends = vec![0];
    for (at, message) in messages.iter().enumerate() {
        open += message.calls().count();
        open -= message.results().count();
        if open == 0 {
            ends.push(at + 1);
        }
    }
    ends
}

/// Asserts that each prefix of the conversation is repeated by each longer one.
fn repeats(request: &Request) -> Result<(), TestCaseError> {
    let ends = closed(&request.messages);
    for dialect in ALL {
        let bodies: Vec<_> = ends
            .iter()
            .map(|end| {
                let messages = request.messages[..*end].to_vec();
                // A request that is too short for the cache requests no mark at its end.
                let mut cache = request.cache.clone().unwrap_or_default();
                cache.retain(|point| *point != CachePoint::End || *end > 2);
                encode(dialect, &Request { messages, cache: Some(cache), ..request.clone() }).unwrap()
            })
            .collect();
        for pair in bodies.windows(2) {
            let (before, after) = (&pair[0], &pair[1]);
            let shown = format!(
                "{dialect:?}\n{}\n{}",
                String::from_utf8_lossy(&before.bytes),
                String::from_utf8_lossy(&after.bytes)
            );
            prop_assert!(after.bytes.get(..before.stem) == before.bytes.get(..before.stem), "{}", shown);
            prop_assert!(before.stem <= after.stem && before.blocks <= after.blocks, "{}", shown);
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_stem_is_repeated_by_what_follows(request in well_formed(Oddity::Odd), cache in points()) {
        repeats(&Request { cache: Some(cache), ..request })?;
    }

    #[test]
    fn a_stem_of_an_imported_conversation_is_repeated(json in providers::anthropic(), cache in points()) {
        let request = decode(Dialect::Anthropic, json.as_bytes()).unwrap();
        repeats(&Request { cache: Some(cache), ..request })?;
    }

    #[test]
    fn marks_are_valid_wherever_they_are_asked_for(
        request in well_formed(Oddity::Odd),
        places in vec(0_usize..40, 0..3),
        head in points(),
    ) {
        let mut cache: Vec<CachePoint> = places.into_iter().map(CachePoint::Block).collect();
        cache.extend(head);
        cache.sort();
        cache.dedup();
        cache.truncate(4);
        let with = Request { cache: Some(cache.clone()), ..request };
        let encoded = encode(Dialect::Anthropic, &with).unwrap();
        let shown = String::from_utf8_lossy(&encoded.bytes).into_owned();
        prop_assert_eq!(validate(Dialect::Anthropic, &encoded.bytes), [], "{:?} {}", cache, shown);
        let messages = shown.split_once("\"messages\":").unwrap().1;
        prop_assume!(!cache.is_empty());
        prop_assert!(!messages.contains(r#"user","content":""#) && !messages.contains(r#"assistant","content":""#));
    }
}
