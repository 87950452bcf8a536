//! Generators of valid requests as clients of the providers write them.

use proptest::collection::vec;
use proptest::prelude::*;

pub(crate) fn quote(text: &str) -> String {
    serde_json::to_string(text).expect("a string")
}

/// Generates any text, including control characters, quotes and wide characters.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z ]{0,12}", "\\PC{0,8}", "[\\x00-\\x1f\"\\\\/é😀\u{202e}]{0,5}"]
}

/// Generates a non-empty text.
pub(crate) fn words() -> impl Strategy<Value = String> {
    (text(), "[a-z0-9é]").prop_map(|(text, end)| text + &end)
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("1e400".to_owned()),
        Just("12345678901234567890123".to_owned()),
        Just("0.10".to_owned()),
        Just("-0".to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
    ]
}

/// Generates the text of a JSON value.
pub(crate) fn json(depth: u32) -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        number(),
        text().prop_map(|text| quote(&text)),
        prop_oneof![Just("null"), Just("true"), Just("false")].prop_map(str::to_owned),
    ];
    leaf.prop_recursive(depth, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|items| format!("[ {}]", items.join(","))),
            object_of(inner)
        ]
    })
    .boxed()
}

fn object_of(value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let name = prop_oneof!["[a-z]{1,5}", "wb:[a-z=]{0,5}", "\\PC{0,3}"];
    proptest::collection::btree_map(name, value, 0..4).prop_map(|fields| {
        // The fields are reversed, so that their order differs from the sorted order.
        let fields: Vec<String> =
            fields.iter().rev().map(|(name, raw)| format!("{}: {raw}", quote(name))).collect();
        format!("{{{}}}", fields.join(" ,"))
    })
}

/// Generates the text of a JSON object.
pub(crate) fn object() -> BoxedStrategy<String> {
    object_of(json(2)).boxed()
}

/// Generates unknown fields that follow the known ones.
pub(crate) fn more() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => Just(String::new()),
        1 => ("unknown_[a-z]{1,4}", json(2)).prop_map(|(name, raw)| format!(r#","{name}":{raw}"#)),
        1 => ("wb:[a-z=:]{0,6}", json(1)).prop_map(|(name, raw)| format!(r#","{name}":{raw}"#)),
    ]
}

fn block(known: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (known, more()).prop_map(|(known, more)| format!("{{{known}{more}}}"))
}

fn text_block() -> impl Strategy<Value = String> {
    block(words().prop_map(|text| format!(r#""type":"text","text":{}"#, quote(&text))))
}

fn media_block() -> impl Strategy<Value = String> {
    let source = prop_oneof![
        "image/(png|jpeg|gif|webp)"
            .prop_map(|mime| format!(r#""type":"base64","media_type":"{mime}","data":"aGk=""#)),
        "[a-z]{1,9}".prop_map(|path| format!(r#""type":"url","url":"https://x.example/{path}""#)),
        "[a-z]{1,9}".prop_map(|id| format!(r#""type":"file","file_id":"file_{id}""#)),
    ];
    let image =
        (source, more()).prop_map(|(source, more)| format!(r#""type":"image","source":{{{source}{more}}}"#));
    let document = (words(), more()).prop_map(|(text, more)| {
        let text = quote(&text);
        format!(
            r#""type":"document","source":{{"type":"text","media_type":"text/plain","data":{text}{more}}}"#
        )
    });
    block(prop_oneof![image, document])
}

fn unknown_block() -> impl Strategy<Value = String> {
    block(("u_[a-z]{1,6}", object()).prop_map(|(kind, raw)| format!(r#""type":"{kind}","payload":{raw}"#)))
}

/// One round of the conversation: user messages, the assistant's messages and calls, and results.
#[derive(Clone, Debug)]
struct Round {
    said: Vec<String>,
    plain: Option<String>,
    spoken: Vec<String>,
    calls: Vec<(String, String)>,
    results: Vec<String>,
}

fn spoken() -> impl Strategy<Value = String> {
    let thinking = block((text(), "[a-zA-Z0-9+/=]{1,20}").prop_map(|(text, signature)| {
        format!(r#""type":"thinking","thinking":{},"signature":"{signature}""#, quote(&text))
    }));
    prop_oneof![thinking, text_block(), unknown_block()]
}

fn result_content() -> impl Strategy<Value = String> {
    let filled = block(
        prop_oneof![text(), words()]
            .prop_filter("not empty", |text| !text.is_empty())
            .prop_map(|text| format!(r#""type":"text","text":{}"#, quote(&text))),
    );
    prop_oneof![
        text().prop_map(|text| format!(r#","content":{}"#, quote(&text))),
        vec(prop_oneof![filled, media_block(), unknown_block()], 0..3)
            .prop_map(|blocks| format!(r#","content":[{}]"#, blocks.join(","))),
        Just(r#","content":null"#.to_owned()),
        Just(String::new()),
        Just(r#","content":"e","is_error":true"#.to_owned()),
        Just(r#","content":"e","is_error":false"#.to_owned()),
    ]
}

fn round() -> impl Strategy<Value = Round> {
    (
        vec(prop_oneof![text_block(), media_block(), unknown_block()], 1..3),
        proptest::option::of(words()),
        vec(spoken(), 1..4),
        vec(("[a-zA-Z0-9_-]{1,12}", object()), 0..4),
        vec(result_content(), 4),
    )
        .prop_map(|(said, plain, spoken, calls, results)| Round { said, plain, spoken, calls, results })
}

/// Generates a valid Anthropic request.
pub(crate) fn anthropic() -> impl Strategy<Value = String> {
    (vec(round(), 1..4), more(), any::<bool>()).prop_map(|(rounds, more, reverse)| {
        let mut messages = Vec::new();
        let mut results: Vec<String> = Vec::new();
        for (at, round) in rounds.iter().enumerate() {
            let content = match &round.plain {
                Some(text) if results.is_empty() => quote(text),
                _ => format!(
                    "[{}]",
                    results.drain(..).chain(round.said.iter().cloned()).collect::<Vec<_>>().join(",")
                ),
            };
            messages.push(format!(r#"{{"role":"user","content":{content}}}"#));
            let mut blocks = round.spoken.clone();
            for (number, (name, input)) in round.calls.iter().enumerate() {
                let id = format!("toolu_{at}_{number}");
                blocks.insert(
                    0,
                    format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}"#),
                );
                results.push(format!(
                    r#"{{"type":"tool_result","tool_use_id":"{id}"{}}}"#,
                    round.results[number]
                ));
            }
            if reverse {
                blocks.reverse();
            }
            messages.push(format!(r#"{{"role":"assistant","content":[{}]}}"#, blocks.join(",")));
        }
        results.push(r#"{"type":"text","text":"last"}"#.to_owned());
        messages.push(format!(r#"{{"role":"user","content":[{}]}}"#, results.join(",")));
        format!(r#"{{"max_tokens":7,"messages":[{}],"model":"m"{more}}}"#, messages.join(", "))
    })
}

fn part() -> impl Strategy<Value = String> {
    let image = ("(low|high)", "[a-z]{1,5}").prop_map(|(detail, path)| {
        format!(r#""type":"image_url","image_url":{{"url":"https://x.example/{path}","detail":"{detail}"}}"#)
    });
    let data = Just(r#""type":"image_url","image_url":{"url":"data:image/gif;base64,aGk="}"#.to_owned());
    prop_oneof![text_block(), block(image), block(data)]
}

fn openai_content() -> impl Strategy<Value = String> {
    prop_oneof![
        text().prop_map(|text| quote(&text)),
        vec(part(), 1..4).prop_map(|parts| format!("[{}]", parts.join(",")))
    ]
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        text().prop_map(|text| quote(&text)),
        vec(text_block(), 1..3).prop_map(|parts| format!("[{}]", parts.join(",")))
    ]
}

/// Generates a valid OpenAI chat request.
pub(crate) fn openai() -> impl Strategy<Value = String> {
    let system = (prop_oneof![Just("system"), Just("developer")], texts(), more())
        .prop_map(|(role, content, more)| format!(r#"{{"role":"{role}","content":{content}{more}}}"#))
        .boxed();
    let user = (openai_content(), more())
        .prop_map(|(content, more)| format!(r#"{{"role":"user","content":{content}{more}}}"#));
    let call = ("[a-zA-Z0-9_-]{1,12}", prop_oneof![text(), object()], more(), more());
    let answer = (prop_oneof![texts(), Just("null".to_owned())], vec((call, texts(), more()), 0..4), more());
    let answer = answer.prop_map(|(mut content, calls, more)| {
        if calls.is_empty() && content == "null" {
            content = "\"\"".to_owned();
        }
        let (mut made, mut results) = (Vec::new(), Vec::new());
        for (at, ((name, arguments, inner, outer), result, more)) in calls.into_iter().enumerate() {
            let arguments = quote(&arguments);
            made.push(format!(
                r#"{{"id":"call_{at}","type":"function","function":{{"name":"{name}","arguments":{arguments}{inner}}}{outer}}}"#
            ));
            results.insert(0, format!(r#"{{"role":"tool","tool_call_id":"call_{at}","content":{result}{more}}}"#));
        }
        let made = if made.is_empty() { String::new() } else { format!(r#","tool_calls":[{}]"#, made.join(",")) };
        results.insert(0, format!(r#"{{"role":"assistant","content":{content}{made}{more}}}"#));
        results.join(",")
    });
    let turns = vec(prop_oneof![2 => user, 3 => answer, 1 => system.clone()], 1..6);
    (vec(system, 0..3), turns, more()).prop_map(|(system, turns, more)| {
        let messages: Vec<String> = system.into_iter().chain(turns).collect();
        format!(r#"{{"messages":[{}],"model":"m"{more}}}"#, messages.join(","))
    })
}
