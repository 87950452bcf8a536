//! Tests of encoding neutral requests: bodies are valid, equal requests give equal bodies, and everything left out is
//! listed.

use crate::shared::requests::{Oddity, well_formed};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use wunderblock_core::budget::Reason;
use wunderblock_core::id::{CallId, Handle};
use wunderblock_core::message::{Body, Dialect, MediaForm, Message, MessageOrigin, Part, Role};
use wunderblock_core::request::{Request, Tool};
use wunderblock_core::units::{Bytes, Tokens};
use wunderblock_wire::{WireError, decode, encode, tool_name, validate};

const PROVIDERS: [Dialect; 4] =
    [Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini];

fn talk(messages: Vec<Message>) -> Request {
    Request { model: Some("m".into()), messages, ..Request::default() }
}

fn call(id: &str, input: &str) -> Part {
    Part::ToolCall { call: id.into(), name: "T".into(), input: input.into(), gist: None, extra: None }
}

fn result(id: &str, content: Vec<Part>) -> Part {
    Part::ToolResult { call: id.into(), content, failed: false, extra: None }
}

fn body(dialect: Dialect, request: &Request) -> String {
    String::from_utf8(encode(dialect, request).unwrap().bytes).unwrap()
}

#[test]
fn results_and_what_the_user_says_share_a_message() {
    let request = talk(vec![
        Message::text(Role::User, "q"),
        Message::new(Role::Assistant, vec![call("a", ""), call("b", "oops")]),
        Message::new(Role::Tool, vec![result("b", vec![Part::text("B")])]),
        Message::text(Role::User, "wait"),
        Message::new(Role::Tool, vec![result("a", vec![])]),
    ]);
    let anthropic = concat!(
        r#"{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"q"}]},"#,
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"T","input":{}},"#,
        r#"{"type":"tool_use","id":"b","name":"T","input":{"arguments":"oops"}}]},"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"B"},"#,
        r#"{"type":"tool_result","tool_use_id":"a"},{"type":"text","text":"wait"}]}]}"#,
    );
    assert_eq!(body(Dialect::Anthropic, &request), anthropic);
    let openai = concat!(
        r#"{"model":"m","messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":["#,
        r#"{"id":"a","type":"function","function":{"name":"T","arguments":""}},"#,
        r#"{"id":"b","type":"function","function":{"name":"T","arguments":"oops"}}]},"#,
        r#"{"role":"tool","tool_call_id":"b","content":"B"},{"role":"tool","tool_call_id":"a","content":""},"#,
        r#"{"role":"user","content":"wait"}]}"#,
    );
    assert_eq!(body(Dialect::OpenaiChat, &request), openai);
}

#[test]
fn what_a_dialect_cannot_carry_is_reported() {
    let media = |mime: &str| Part::Media {
        mime: mime.into(),
        form: MediaForm::Base64,
        body: "aGk=".into(),
        extra: None,
    };
    let unsigned = Part::Thinking { text: "t".into(), signature: None, extra: None };
    let signed = Part::Thinking { text: "t".into(), signature: Some("s".into()), extra: None };
    let foreign = Part::Opaque { dialect: Dialect::Gemini, raw: "{}".into() };
    let marked = Part::Text { text: "t".into(), extra: Some(r#"{"wb:from":"openai-chat","z":1}"#.into()) };
    let cached =
        Part::Text { text: "t".into(), extra: Some(r#"{"wb:from":"anthropic","cache_control":{}}"#.into()) };
    let (user, assistant) = (Role::User, Role::Assistant);
    let cases = [
        (assistant, unsigned.clone(), Some(Reason::Unsigned), Some(Reason::Dialect)),
        (assistant, signed, None, Some(Reason::Dialect)),
        (user, foreign, Some(Reason::Dialect), Some(Reason::Dialect)),
        (user, media("video/mp4"), Some(Reason::Dialect), Some(Reason::Dialect)),
        (user, media("audio/wav"), Some(Reason::Dialect), None),
        (user, media("application/pdf"), None, None),
        (user, marked, Some(Reason::Dialect), None),
        (user, cached, None, Some(Reason::Dialect)),
        (user, Part::text(" \n"), Some(Reason::Empty), None),
        (user, unsigned, Some(Reason::Dialect), Some(Reason::Dialect)),
        (assistant, media("image/png"), Some(Reason::Dialect), Some(Reason::Dialect)),
    ];
    for (role, part, anthropic, openai) in cases {
        let what = format!("{part:?}");
        let mut messages = vec![Message::text(user, "q")];
        messages.push(Message::new(role, vec![Part::text("x"), part]));
        let request = talk(messages);
        for (dialect, expected) in [(Dialect::Anthropic, anthropic), (Dialect::OpenaiChat, openai)] {
            let dropped = encode(dialect, &request).unwrap().dropped;
            let found: Vec<_> = dropped.iter().map(|drop| (drop.message, drop.part, drop.reason)).collect();
            let expected: Vec<_> = expected.map(|reason| (Some(1), 1, reason)).into_iter().collect();
            assert_eq!(found, expected, "{dialect:?} {what}");
        }
    }
}

#[test]
fn a_medium_without_valid_data_is_left_out_and_named() {
    for (data, is_sent) in [
        ("aGk=", true),
        ("aGkh", true),
        ("aG\nkh", true),
        ("", false),
        ("aGk", false),
        ("a===", false),
        ("aG=h", false),
        ("a picture", false),
    ] {
        let picture =
            Part::Media { mime: "image/png".into(), form: MediaForm::Base64, body: data.into(), extra: None };
        let request = talk(vec![Message::new(Role::User, vec![Part::text("q"), picture])]);
        for dialect in PROVIDERS {
            let encoded = encode(dialect, &request).unwrap();
            let what: Vec<_> = encoded.dropped.iter().map(|drop| drop.what.to_string()).collect();
            assert_eq!(what.is_empty(), is_sent, "{dialect:?} {data}: {what:?}");
            assert!(is_sent || what[0].contains("without valid data"), "{what:?}");
        }
    }
}

#[test]
fn messages_that_are_never_sent_are_not() {
    let failed = Message::new(Role::Assistant, vec![call("a", "{}")])
        .standing(MessageOrigin::Failed("timeout".into()));
    let aside = Message::text(Role::User, "note").standing(MessageOrigin::Aside("a note".into()));
    let injected = Message::text(Role::User, "recalled").standing(MessageOrigin::Injected("recall".into()));
    let request = talk(vec![Message::text(Role::User, "q"), failed, aside, injected]);
    for dialect in PROVIDERS {
        let encoded = encode(dialect, &request).unwrap();
        let reasons: Vec<_> = encoded.dropped.iter().map(|drop| (drop.message, drop.reason)).collect();
        assert_eq!(reasons, [(Some(1), Reason::FailedTurn), (Some(2), Reason::Aside)]);
        let text = String::from_utf8(encoded.bytes).unwrap();
        assert!(text.contains("recalled") && !text.contains("note") && !text.contains("tool"), "{text}");
    }
}

#[test]
fn an_image_in_a_result_follows_in_a_message_that_names_the_call() {
    let image =
        Part::Media { mime: "image/png".into(), form: MediaForm::Base64, body: "aGk=".into(), extra: None };
    let request = talk(vec![
        Message::text(Role::User, "q"),
        Message::new(Role::Assistant, vec![call("a", "{}"), call("b", "{}")]),
        Message::new(
            Role::Tool,
            vec![result("a", vec![Part::text("see"), image]), result("b", vec![Part::text("B")])],
        ),
    ]);
    let text = body(Dialect::OpenaiChat, &request);
    let expected = concat!(
        r#"{"role":"tool","tool_call_id":"a","content":"see"},{"role":"tool","tool_call_id":"b","content":"B"},"#,
        r#"{"role":"user","content":[{"type":"text","text":"From the result of tool call a:"},"#,
        r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]}]}"#,
    );
    assert!(text.ends_with(expected), "{text}");
    assert_eq!(validate(Dialect::OpenaiChat, text.as_bytes()), []);
}

#[test]
fn a_system_message_between_turns_is_the_users_for_anthropic() {
    let request = talk(vec![Message::text(Role::User, "q"), Message::text(Role::System, "be brief")]);
    let text = body(Dialect::Anthropic, &request);
    assert!(text.contains(r#"{"type":"text","text":"<system>\nbe brief\n</system>"}"#), "{text}");
    assert!(body(Dialect::OpenaiChat, &request).contains(r#"{"role":"system","content":"be brief"}"#));
}

#[test]
fn reasoning_goes_back_only_to_where_it_came_from() {
    let json = r#"{"model":"m","messages":[{"role":"user","content":"q"},{"role":"assistant","reasoning_content":"hmm","content":"a"},{"role":"user","content":"r"}]}"#;
    let request = decode(Dialect::OpenaiChat, json.as_bytes()).unwrap();
    assert!(body(Dialect::OpenaiChat, &request).contains(r#""reasoning_content":"hmm""#));
    let anthropic = encode(Dialect::Anthropic, &request).unwrap();
    assert_eq!(anthropic.dropped.iter().map(|drop| drop.reason).collect::<Vec<_>>(), [Reason::Unsigned]);
}

#[test]
fn a_legacy_function_call_reaches_anthropic_paired() {
    let json = r#"{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"r"},{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"s"}]}"#;
    let request = decode(Dialect::OpenaiChat, json.as_bytes()).unwrap();
    assert_eq!(validate(Dialect::Anthropic, &encode(Dialect::Anthropic, &request).unwrap().bytes), []);
}

#[test]
fn ids_never_collide_even_when_someone_tries() {
    let bad = "has space";
    let find = |text: &str| text.split('"').find(|piece| piece.starts_with("wb_")).unwrap().to_owned();
    let alone = talk(vec![
        Message::text(Role::User, "q"),
        Message::new(Role::Assistant, vec![call(bad, "{}")]),
        Message::new(Role::Tool, vec![result(bad, vec![])]),
    ]);
    let taken = find(&body(Dialect::Anthropic, &alone));
    let both = talk(vec![
        Message::text(Role::User, "q"),
        Message::new(Role::Assistant, vec![call(bad, "{}"), call(&taken, "{}")]),
        Message::new(Role::Tool, vec![result(&taken, vec![]), result(bad, vec![])]),
    ]);
    let both = Request { max_output: Some(Tokens(9)), ..both };
    assert_eq!(validate(Dialect::Anthropic, body(Dialect::Anthropic, &both).as_bytes()), []);
}

#[test]
fn bodies_in_blobs_and_texts_that_are_not_json_are_refused() {
    let blob = Body::Blob { blob: Handle(1), bytes: Bytes(3), lines: 1 };
    let cases = [
        talk(vec![Message::new(Role::User, vec![Part::Text { text: blob, extra: None }])]),
        talk(vec![Message::new(Role::User, vec![Part::Text { text: "t".into(), extra: Some("[]".into()) }])]),
        Request {
            tools: vec![Tool { name: "T".into(), description: "".into(), schema: "{".into(), extra: None }],
            ..talk(vec![])
        },
    ];
    for request in cases {
        for dialect in PROVIDERS {
            let error = encode(dialect, &request).unwrap_err();
            let typed = matches!(
                error,
                WireError::NotInline { .. } | WireError::Extra { .. } | WireError::Raw { .. }
            );
            assert!(typed, "{error}");
        }
    }
}

#[test]
fn tool_names_are_told_apart() {
    assert_eq!(tool_name(Dialect::OpenaiChat, "read_file"), "read_file");
    let (a, b) = (tool_name(Dialect::OpenaiChat, "mcp.a"), tool_name(Dialect::OpenaiChat, "mcp/a"));
    assert!(a.starts_with("mcp_a_") && b.starts_with("mcp_a_") && a != b, "{a} {b}");
    let long = "x".repeat(100);
    assert_eq!(tool_name(Dialect::Anthropic, &long), long);
    assert!(tool_name(Dialect::OpenaiChat, &long).len() <= 64);
}

/// Returns, for each id, the positions of the call and its result, found by a plain text search.
fn pairs(dialect: Dialect, bytes: &[u8]) -> BTreeMap<String, (usize, usize)> {
    let text = std::str::from_utf8(bytes).unwrap();
    let marks = match dialect {
        Dialect::Anthropic => [r#""type":"tool_use","id":""#, r#""tool_use_id":""#],
        Dialect::OpenaiResponses => {
            [r#""type":"function_call","call_id":""#, r#""type":"function_call_output","call_id":""#]
        }
        Dialect::Gemini => [r#""functionCall":{"id":""#, r#""functionResponse":{"id":""#],
        _ => [r#"{"id":""#, r#""tool_call_id":""#],
    };
    let mut found: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (side, mark) in marks.iter().enumerate() {
        for (at, _) in text.match_indices(mark) {
            let id = text[at + mark.len()..].split('"').next().unwrap().to_owned();
            let counts = found.entry(id).or_default();
            if side == 0 { counts.0 += 1 } else { counts.1 += 1 }
        }
    }
    found
}

/// Makes the ids of a request distinct, and valid for all providers.
fn distinct(mut request: Request) -> Request {
    let mut names: BTreeMap<CallId, usize> = BTreeMap::new();
    for (at, message) in request.messages.iter_mut().enumerate() {
        if message.role == Role::Assistant {
            names.clear();
        }
        let mut used = BTreeSet::new();
        message.parts.retain(|part| match part {
            Part::ToolCall { call, .. } | Part::ToolResult { call, .. } => used.insert(call.clone()),
            _ => true,
        });
        for part in &mut message.parts {
            if let Part::ToolCall { call, .. } | Part::ToolResult { call, .. } = part {
                let next = names.len();
                let number = *names.entry(call.clone()).or_insert(next);
                let turn = if message.role == Role::Tool { at - 1 } else { at };
                *call = CallId::from(format!("id-{turn}-{number}"));
            }
        }
    }
    request
}

proptest! {
    #[test]
    fn well_formed_requests_give_valid_bodies(request in well_formed(Oddity::Odd)) {
        for dialect in PROVIDERS {
            let encoded = encode(dialect, &request).unwrap();
            let shown = String::from_utf8_lossy(&encoded.bytes).into_owned();
            prop_assert_eq!(validate(dialect, &encoded.bytes), [], "{:?} {}", dialect, shown);
            prop_assert_eq!(&encode(dialect, &request).unwrap(), &encoded);
            let calls = request.messages.iter().flat_map(Message::calls).count();
            let pairs = pairs(dialect, &encoded.bytes);
            prop_assert!(pairs.values().all(|(calls, results)| calls == results), "{:?}", pairs);
            let written: usize = pairs.values().map(|(calls, _)| calls).sum();
            prop_assert!(written >= calls, "a call is missing: {} of {}", written, calls);
        }
    }

    #[test]
    fn what_a_dialect_carries_comes_back(request in well_formed(Oddity::Plain)) {
        let request = distinct(request);
        for dialect in PROVIDERS {
            let encoded = encode(dialect, &request).unwrap();
            prop_assert_eq!(&encoded.dropped, &[]);
            prop_assert_eq!(&decode(dialect, &encoded.bytes).unwrap(), &request, "{:?}", dialect);
        }
    }

    #[test]
    fn the_neutral_form_is_an_exact_inverse(request in well_formed(Oddity::Odd)) {
        let encoded = encode(Dialect::Neutral, &request).unwrap();
        prop_assert_eq!(&decode(Dialect::Neutral, &encoded.bytes).unwrap(), &request);
        prop_assert_eq!(encode(Dialect::Neutral, &request).unwrap().bytes, encoded.bytes.clone());
        prop_assert_eq!(validate(Dialect::Neutral, &encoded.bytes), []);
    }

    #[test]
    fn a_longer_conversation_only_appends(request in well_formed(Oddity::Odd)) {
        let mut longer = request.clone();
        longer.messages.push(Message::text(Role::Assistant, "ok"));
        longer.messages.push(Message::text(Role::User, "next"));
        for dialect in PROVIDERS {
            let (before, after) = (encode(dialect, &request).unwrap(), body(dialect, &longer));
            let kept = std::str::from_utf8(&before.bytes[..before.stem]).unwrap();
            prop_assert!(after.starts_with(kept), "{:?}\n{}\n{}", dialect, kept, after);
        }
    }

    #[test]
    fn a_request_crosses_from_one_provider_to_the_other(
        anthropic in crate::shared::providers::anthropic(),
        openai in crate::shared::providers::openai(),
        responses in crate::shared::newer::responses(),
        gemini in crate::shared::newer::gemini(),
        to in prop::sample::select(&PROVIDERS[..]),
    ) {
        for (from, json) in PROVIDERS.into_iter().zip([anthropic, openai, responses, gemini]) {
            if from == to {
                continue;
            }
            let mut request = decode(from, json.as_bytes()).unwrap();
            request.max_output = Some(Tokens(9));
            request.model = Some("m".into());
            request.messages.push(Message::text(Role::User, "last"));
            let encoded = encode(to, &request).unwrap();
            let shown = String::from_utf8_lossy(&encoded.bytes);
            prop_assert_eq!(validate(to, &encoded.bytes), [], "{}", shown);
            prop_assert!(!shown.contains(r#""unknown_"#), "a foreign field went along: {}", shown);
            prop_assert!(!shown.contains(r#""wb:from"#), "our own words went along: {}", shown);
        }
    }
}

/// Returns a request that we build. The encoders leave out content that the provider would refuse.
fn made(messages: Vec<Message>) -> Request {
    Request { cache: Some(Vec::new()), max_output: Some(Tokens(9)), ..talk(messages) }
}

fn opaque(dialect: Dialect, raw: &str) -> Part {
    Part::Opaque { dialect, raw: raw.into() }
}

#[test]
fn blocks_that_are_not_whole_are_left_out_and_listed() {
    let anthropic = [
        r#"{"type":"text","content":"odd"}"#,
        r#"{"type":"image"}"#,
        r#"{"type":"tool_use","name":"x"}"#,
        r#"{"type":"compaction","content":"what was","signature":"s"}"#,
        "7",
    ];
    let openai =
        [r#"{"type":"text","content":"odd"}"#, r#"{"type":"image_url"}"#, r#"{"type":"video","video":{}}"#];
    for (dialect, broken) in [(Dialect::Anthropic, &anthropic[..]), (Dialect::OpenaiChat, &openai)] {
        for raw in broken {
            let user = Message::new(Role::User, vec![opaque(dialect, raw), Part::text("q")]);
            let told = result("a", vec![opaque(dialect, raw), Part::text("r")]);
            let request = made(vec![
                user,
                Message::new(Role::Assistant, vec![call("a", "{}")]),
                Message::new(Role::Tool, vec![told]),
            ]);
            let encoded = encode(dialect, &request).unwrap();
            assert_eq!(validate(dialect, &encoded.bytes), [], "{raw}");
            let found: Vec<_> =
                encoded.dropped.iter().map(|drop| (drop.message, drop.reason, drop.whole)).collect();
            let unsendable = Reason::Unsendable;
            assert_eq!(found, [(Some(0), unsendable, true), (Some(2), unsendable, false)], "{raw}");
            let read = Request { cache: None, ..request };
            assert!(
                encode(dialect, &read).unwrap().dropped.is_empty(),
                "what was read is written as it came: {raw}"
            );
        }
    }
}

#[test]
fn what_a_server_did_goes_back_in_pairs() {
    let block = |raw: &str| opaque(Dialect::Anthropic, raw);
    let used = |id: &str| {
        block(&format!(r#"{{"type":"server_tool_use","id":"{id}","name":"web_search","input":{{}}}}"#))
    };
    let found = |id: &str| {
        block(&format!(r#"{{"type":"web_search_tool_result","tool_use_id":"{id}","content":[]}}"#))
    };
    let said = |parts: Vec<Part>| Message::new(Role::Assistant, parts);
    let user = || Message::text(Role::User, "q");
    // Each case has the messages, and the number of server blocks that are written.
    let cases = [
        (vec![user(), said(vec![used("s"), found("s"), Part::text("a")]), user()], 2),
        // A paused turn continues in the next reply.
        (
            vec![
                user(),
                said(vec![Part::text("a"), used("s")]),
                said(vec![found("s"), Part::text("b")]),
                user(),
            ],
            2,
        ),
        (vec![user(), said(vec![Part::text("a"), used("s")])], 1),
        (vec![user(), said(vec![Part::text("a"), used("s")]), user()], 0),
        (vec![user(), said(vec![found("s"), Part::text("a")]), user()], 0),
        (
            vec![
                user(),
                said(vec![used("s"), Part::text("a")]),
                user(),
                said(vec![found("s"), Part::text("b")]),
            ],
            0,
        ),
    ];
    for (messages, count) in cases {
        let encoded = encode(Dialect::Anthropic, &made(messages)).unwrap();
        let text = String::from_utf8(encoded.bytes).unwrap();
        assert_eq!(text.matches(r#""s""#).count(), count, "{text}");
        assert!(encoded.dropped.iter().all(|drop| drop.whole && drop.reason == Reason::Unsendable));
    }
}

#[test]
fn thinking_of_which_only_the_signature_is_left_goes_back_as_it_came() {
    let json = concat!(
        r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},"#,
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"c2ln"},"#,
        r#"{"type":"redacted_thinking","data":"ZGF0YQ=="},{"type":"text","text":"a"}]}]}"#,
    );
    let mut request = decode(Dialect::Anthropic, json.as_bytes()).unwrap();
    request.cache = Some(Vec::new());
    let encoded = encode(Dialect::Anthropic, &request).unwrap();
    assert_eq!(encoded.dropped, []);
    assert_eq!(String::from_utf8(encoded.bytes.clone()).unwrap(), json);
    let (asked, start) = (&encoded.bytes[..encoded.asked], encoded.starts[0].1);
    assert!(asked.ends_with(br#""text":"a"}]}"#));
    assert!(encoded.bytes[start..].starts_with(br#"{"role":"assistant""#));
}

#[test]
fn nothing_of_our_envelope_reaches_a_provider() {
    let extra =
        Some(r#"{"wb:from":"openai-chat","id":"m3","at":1700000000000,"session":"s","name":"bash"}"#.into());
    let told = Part::ToolResult { call: "a".into(), content: vec![Part::text("r")], failed: false, extra };
    let request = made(vec![
        Message::text(Role::User, "q"),
        Message::new(Role::Assistant, vec![call("a", "{}")]),
        Message::new(Role::Tool, vec![told]),
    ]);
    let text = body(Dialect::OpenaiChat, &request);
    assert!(text.contains(r#"{"role":"tool","tool_call_id":"a","content":"r","name":"bash"}"#), "{text}");
}

#[test]
fn a_field_that_an_extra_has_twice_is_listed() {
    let doubled = Message { extra: Some(r#"{"x":1,"x":2}"#.into()), ..Message::text(Role::User, "q") };
    let dropped = encode(Dialect::Anthropic, &talk(vec![doubled])).unwrap().dropped;
    assert_eq!(
        dropped.iter().map(|drop| drop.what.as_str()).collect::<Vec<_>>(),
        ["the field x: the turn has another already"]
    );
}

#[test]
fn fields_of_unknown_origin_go_along_only_where_the_provider_has_them() {
    let extra: Option<Box<str>> = Some(r#"{"citations":[],"tool_name":"Bash"}"#.into());
    let request = made(vec![Message::new(Role::User, vec![Part::Text { text: "q".into(), extra }])]);
    for (dialect, written, lost) in [
        (
            Dialect::Anthropic,
            r#"{"type":"text","text":"q","citations":[]}"#,
            "fields that no request has: tool_name",
        ),
        (Dialect::OpenaiChat, r#""content":"q""#, "fields that no request has: citations, tool_name"),
    ] {
        let encoded = encode(dialect, &request).unwrap();
        assert_eq!(encoded.dropped.iter().map(|drop| drop.what.as_str()).collect::<Vec<_>>(), [lost]);
        let text = String::from_utf8(encoded.bytes).unwrap();
        assert!(text.contains(written), "{text}");
    }
}
