//! Gemini: content that a request keeps, output of the encoder, and findings of the checker.

use crate::well_formed::round_trip::survives;
use wunderblock_core::budget::Reason;
use wunderblock_core::message::{Dialect, MediaForm, Message, Part, Role};
use wunderblock_core::request::{Request, Tool};
use wunderblock_core::units::Tokens;
use wunderblock_wire::{decode, decode_message, encode, tool_name, validate};

const OWN: Dialect = Dialect::Gemini;

fn body(request: &Request) -> String {
    String::from_utf8(encode(OWN, request).unwrap().bytes).unwrap()
}

fn talk(messages: Vec<Message>) -> Request {
    Request { model: Some("m".into()), messages, ..Request::default() }
}

fn rules(json: &str) -> Vec<&'static str> {
    validate(OWN, json.as_bytes()).into_iter().map(|violation| violation.rule).collect()
}

fn read(contents: &str) -> Request {
    decode(OWN, format!(r#"{{"contents":[{contents}]}}"#).as_bytes()).unwrap()
}

fn user(parts: &str) -> String {
    format!(r#"{{"role":"user","parts":[{parts}]}}"#)
}

fn model(parts: &str) -> String {
    format!(r#"{{"role":"model","parts":[{parts}]}}"#)
}

const TEXT: &str = r#"{"text":"t"}"#;
const CALL: &str = r#"{"functionCall":{"name":"f","args":{"z": 1e400}},"thoughtSignature":"c2ln"}"#;
const DONE: &str = r#"{"functionResponse":{"name":"f","response":{"output":"r"}}}"#;

#[test]
fn every_feature_survives() {
    let cases = [
        user(TEXT),
        r#"{"parts":[{"text":"t"}]}"#.to_owned(),
        format!("{},{},{},{}", user(TEXT), model(CALL), user(DONE), model(TEXT)),
        format!(
            "{},{},{}",
            user(TEXT),
            model(&format!("{TEXT},{CALL},{}", CALL.replace(r#","thoughtSignature":"c2ln""#, ""))),
            user(&format!("{DONE},{DONE},{TEXT}"))
        ),
        format!(
            r#"{},{},{{"role":"function","parts":[{{"functionResponse":{{"id":"x","name":"f","response":{{"output":""}},"scheduling":"SILENT"}},"new":1.50}}]}}"#,
            user(TEXT),
            model(r#"{"functionCall":{"id":"x","name":"f","partial":false}}"#)
        ),
        format!(
            "{},{},{}",
            user(TEXT),
            model(&[CALL; 4].join(",")),
            user(
                r#"{"functionResponse":{"name":"f","response":{"error":"no"}}},{"functionResponse":{"name":"f","response":{"a": [1.0],"output":"x"}}},{"functionResponse":{"name":"f","response":{}}},{"functionResponse":{"name":"f","response":{"output":"see"},"parts":[{"inlineData":{"mimeType":"image/png","data":"aGk=","displayName":"i"}}]}}"#
            )
        ),
        format!(
            "{},{}",
            user(TEXT),
            model(
                r#"{"text":"hm","thought":true},{"text":"hm","thought":true,"thoughtSignature":"c2ln"},{"text":"","thoughtSignature":"c2ln"},{"text":"a","thoughtSignature":"c2ln"},{"executableCode":{"language":"PYTHON","code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}},{"inlineData":{"mimeType":"image/png","data":"aGk="}}"#
            )
        ),
        user(
            r#"{"inlineData":{"mimeType":"image/gif","data":"aGk="}},{"inlineData":{"mimeType":"audio/wav","data":"aGk=","displayName":"d"},"mediaResolution":{"level":"LOW"}},{"fileData":{"mimeType":"video/mp4","fileUri":"https://generativelanguage.googleapis.com/v1beta/files/x"},"videoMetadata":{"fps":1.0}},{"fileData":{"fileUri":"gs://b/x"}},{"fileData":{"mimeType":"application/pdf","fileUri":"https://x.example/a.pdf"}},{"text":"t","wb:from":"me"}"#,
        ),
    ];
    for contents in cases {
        let json = format!(r#"{{"contents":[{contents}]}}"#);
        survives(OWN, &json);
        assert_eq!(rules(&json), [""; 0], "{json}");
    }
}

#[test]
fn the_rest_of_a_request_survives() {
    let rest = [
        r#""model":"models/gemini-2.5-pro","systemInstruction":{"parts":[{"text":"be brief"},{"text":"b"}]}"#,
        r#""model":"tunedModels/x","systemInstruction":{"role":"system","parts":[{"text":"be brief"}]}"#,
        r#""generationConfig":{"maxOutputTokens":9,"temperature":0.10,"thinkingConfig":{"includeThoughts":true}}"#,
        r#""generationConfig":{"maxOutputTokens":9}"#,
        r#""generationConfig":{"topK":1}"#,
        r#""tools":[{"functionDeclarations":[{"name":"f","description":"d","parametersJsonSchema":{"type":"object"}},{"name":"g","description":"","parameters":{"type":"object"},"response":{"type":"STRING"}},{"name":"h","parameters":{"type":"OBJECT","properties":{"type":{"type":"STRING","enum":["STRING"]}},"required":["type"]}}]},{"googleSearch":{}}],"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}"#,
        r#""tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"f"}]},{"codeExecution":{}}],"safetySettings":[],"cachedContent":"cachedContents/x""#,
    ];
    for rest in rest {
        let json = format!(r#"{{{rest},"contents":[{}]}}"#, user(TEXT));
        survives(OWN, &json);
        assert_eq!(rules(&json), [""; 0], "{json}");
    }
}

#[test]
fn only_addresses_at_the_providers_host_are_its_own_files() {
    for (uri, form) in [
        ("https://generativelanguage.googleapis.com/v1beta/files/x", MediaForm::File),
        ("gs://b/x", MediaForm::File),
        ("https://x.example/?from=storage.googleapis.com", MediaForm::Url),
        ("https://notgoogleapis.com/a.pdf", MediaForm::Url),
    ] {
        let message =
            decode_message(OWN, &user(&format!(r#"{{"fileData":{{"fileUri":"{uri}"}}}}"#))).unwrap();
        assert!(matches!(&message[0].parts[..], [Part::Media { form: read, .. }] if *read == form), "{uri}");
    }
}

#[test]
fn schemas_in_capitals_reach_other_dialects_in_small_letters() {
    let tools = r#"[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT","properties":{"a":{"type":"ARRAY","items":{"type":"STRING"}}}}}]}]"#;
    let json = format!(r#"{{"tools":{tools},"contents":[{}]}}"#, user(TEXT));
    let request = decode(OWN, json.as_bytes()).unwrap();
    let expected = r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}"#;
    assert_eq!(&*request.tools[0].schema, expected);
}

#[test]
fn calls_without_ids_are_paired_by_name_and_order() {
    let contents = format!(
        "{},{},{}",
        user(TEXT),
        model(&format!("{CALL},{},{CALL}", CALL.replace(r#""f""#, r#""g""#))),
        user(&format!("{DONE},{},{DONE}", DONE.replace(r#""f""#, r#""g""#)))
    );
    let request = read(&contents);
    let calls: Vec<&str> = request.messages[1].calls().map(|call| call.as_str()).collect();
    let results: Vec<&str> = request.messages[2].results().map(|call| call.as_str()).collect();
    assert_eq!(calls, ["function:f", "function:g", "function:f:2"]);
    assert_eq!(results, calls);
    let anthropic = Request { max_output: Some(Tokens(9)), model: Some("m".into()), ..request };
    let encoded = encode(Dialect::Anthropic, &anthropic).unwrap();
    assert_eq!(validate(Dialect::Anthropic, &encoded.bytes), []);
    let alone = decode_message(OWN, &user(DONE)).unwrap();
    assert_eq!(alone[0].results().next().unwrap().as_str(), "function:f");
    assert!(body(&talk(alone)).contains(r#"{"functionResponse":{"response":{"output":"r"},"name":"f"}}"#));
}

#[test]
fn a_neutral_request_becomes_contents() {
    let call = |id: &str, input: &str| Part::ToolCall {
        call: id.into(),
        name: "T".into(),
        input: input.into(),
        gist: None,
        extra: None,
    };
    let image =
        Part::Media { mime: "image/png".into(), form: MediaForm::Base64, body: "aGk=".into(), extra: None };
    let told = |id: &str, content, failed| Part::ToolResult { call: id.into(), content, failed, extra: None };
    let tool = Tool {
        name: "T".into(),
        description: "d".into(),
        schema: r#"{"type":"object"}"#.into(),
        extra: None,
    };
    let request = Request {
        system: vec![Part::text("be brief")],
        max_output: Some(Tokens(9)),
        tools: vec![tool],
        extra: Some(r#"{"generationConfig":{"topK":1}}"#.into()),
        ..talk(vec![
            Message::user("q"),
            Message::new(Role::Assistant, vec![call("a", "{}"), call("b", "oops")]),
            Message::new(Role::Tool, vec![told("b", vec![Part::text("see"), image], true)]),
            Message::system("wait"),
            Message::new(Role::Tool, vec![told("a", vec![], false)]),
        ])
    };
    let expected = concat!(
        r#"{"model":"models/m","tools":[{"functionDeclarations":[{"name":"T","description":"d","parametersJsonSchema":{"type":"object"}}]}],"#,
        r#""systemInstruction":{"parts":[{"text":"be brief"}]},"contents":[{"role":"user","parts":[{"text":"q"}]},"#,
        r#"{"role":"model","parts":[{"functionCall":{"id":"a","name":"T","args":{}}},"#,
        r#"{"functionCall":{"id":"b","name":"T","args":{"arguments":"oops"}}}]},"#,
        r#"{"role":"user","parts":[{"functionResponse":{"id":"b","name":"T","response":{"error":"see"}}},"#,
        r#"{"functionResponse":{"id":"a","name":"T","response":{"output":""}}},"#,
        r#"{"text":"From the result of tool call b:"},{"inlineData":{"mimeType":"image/png","data":"aGk="}},"#,
        r#"{"text":"<system>\nwait\n</system>"}]}],"generationConfig":{"maxOutputTokens":9,"topK":1}}"#,
    );
    let encoded = encode(OWN, &request).unwrap();
    assert_eq!(encoded.dropped, []);
    assert_eq!(String::from_utf8(encoded.bytes).unwrap(), expected);
    assert_eq!(rules(expected), [""; 0]);
}

#[test]
fn calls_of_other_models_get_the_documented_stand_in_where_the_model_wants_one() {
    let made = |model: &str| {
        let calls = |id: &str| Message::tool_call(id, "T", "{}");
        let both = vec![
            Message::user("q"),
            Message { parts: [calls("a").parts, calls("b").parts].concat(), ..calls("a") },
            Message::tool_result("a", "A"),
            Message::tool_result("b", "B"),
            calls("c"),
            Message::tool_result("c", "C"),
        ];
        body(&Request { model: Some(model.into()), ..talk(both) })
    };
    for (name, expected) in [
        ("gemini-2.5-pro", 0),
        ("gemini-3-flash", 2),
        ("models/gemini-3.1-pro", 2),
        ("gemini-pro-latest", 2),
        ("gemini-exp", 0),
    ] {
        let written = made(name);
        assert_eq!(written.matches("skip_thought_signature_validator").count(), expected, "{written}");
        assert_eq!(rules(&written), [""; 0], "{written}");
    }
    let request = read(&format!("{},{},{}", user(TEXT), model(CALL), user(DONE)));
    let written = body(&Request { model: Some("gemini-3-pro".into()), ..request });
    assert!(!written.contains("skip_thought") && written.contains("c2ln"), "{written}");
}

#[test]
fn names_in_snake_case_are_read_as_those_in_camel_case() {
    let snake = r#"{"system_instruction":{"parts":[{"text":"s"}]},"tools":[{"function_declarations":[{"name":"f","parameters_json_schema":{"type":"object"}}]}],"generation_config":{"max_output_tokens":9,"top_k":1},"contents":[{"role":"user","parts":[{"inline_data":{"mime_type":"image/png","data":"aGk="}},{"file_data":{"file_uri":"gs://b/x"}},{"text":"t","inline_data":null}]},{"role":"model","parts":[{"function_call":{"name":"f","args":{"snake_case":1}},"thought_signature":"c2ln","text":null},{"executable_code":{"language":"PYTHON","code":"1"}}]},{"role":"user","parts":[{"function_response":{"name":"f","response":{"output":"r"}}}]}]}"#;
    let mut camel = snake.replace(r#","inline_data":null"#, "").replace(r#","text":null"#, "");
    for (from, to) in [
        ("system_instruction", "systemInstruction"),
        ("function_declarations", "functionDeclarations"),
        ("parameters_json_schema", "parametersJsonSchema"),
        ("generation_config", "generationConfig"),
        ("max_output_tokens", "maxOutputTokens"),
        ("inline_data", "inlineData"),
        ("mime_type", "mimeType"),
        ("file_data", "fileData"),
        ("file_uri", "fileUri"),
        ("function_call", "functionCall"),
        ("thought_signature", "thoughtSignature"),
        ("executable_code", "executableCode"),
        ("function_response", "functionResponse"),
    ] {
        camel = camel.replace(from, to);
    }
    assert_eq!(decode(OWN, snake.as_bytes()), decode(OWN, camel.as_bytes()));
    survives(OWN, &camel);
}

#[test]
fn in_a_request_of_ours_all_that_the_model_does_not_say_is_one_turn() {
    let contents = format!(
        r#"{{"parts":[{TEXT}]}},{},{{"role":"function","parts":[{DONE}]}},{}"#,
        model(CALL),
        user(TEXT)
    );
    let request = Request { cache: Some(Vec::new()), ..read(&contents) };
    let written = body(&request);
    let expected = format!("{},{},{}", user(TEXT), model(CALL), user(&format!("{DONE},{TEXT}")));
    assert_eq!(decode(OWN, written.as_bytes()).unwrap(), read(&expected));
}

#[test]
fn what_cannot_be_sent_is_listed() {
    let media = |mime: &str, form, body: &str| Part::Media {
        mime: mime.into(),
        form,
        body: body.into(),
        extra: None,
    };
    let signed = Part::Thinking { text: "t".into(), signature: Some("s".into()), extra: None };
    let cases = [
        (Role::Assistant, signed, Some(Reason::Unsigned)),
        (Role::User, Part::text(""), Some(Reason::Empty)),
        (Role::User, media("image/svg+xml", MediaForm::Base64, "aGk="), Some(Reason::Dialect)),
        (Role::User, media("video/mp4", MediaForm::Base64, "aGk="), None),
        (Role::User, media("", MediaForm::Url, "https://x.example/i"), None),
        (Role::User, media("", MediaForm::File, "file_1"), Some(Reason::Dialect)),
        (Role::User, Part::Opaque { dialect: Dialect::Anthropic, raw: "{}".into() }, Some(Reason::Dialect)),
        (Role::User, Part::Opaque { dialect: OWN, raw: r#"{"text":7}"#.into() }, Some(Reason::Unsendable)),
    ];
    for (role, part, expected) in cases {
        let what = format!("{part:?}");
        let request = Request {
            cache: Some(Vec::new()),
            ..talk(vec![Message::user("q"), Message::new(role, vec![Part::text("x"), part])])
        };
        let dropped = encode(OWN, &request).unwrap().dropped;
        let found: Vec<_> = dropped.iter().map(|drop| (drop.message, drop.part, drop.reason)).collect();
        let expected: Vec<_> = expected.map(|reason| (Some(1), 1, reason)).into_iter().collect();
        assert_eq!(found, expected, "{what}");
    }
    let thoughts = model(r#"{"text":"hm","thought":true},{"text":"a"}"#);
    let request = Request { cache: Some(Vec::new()), ..read(&format!("{},{thoughts}", user(TEXT))) };
    assert_eq!(encode(OWN, &request).unwrap().dropped[0].reason, Reason::Unsigned);
}

#[test]
fn names_begin_with_a_letter() {
    for name in ["9lives", "-x", "", "a b", &"x".repeat(80)] {
        let fit = tool_name(OWN, name);
        assert!(fit.len() <= 64 && fit.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'), "{fit}");
    }
    assert_eq!(tool_name(OWN, "read_file"), "read_file");
}

#[test]
fn bodies_that_the_api_refuses() {
    let named = |text: &str, id: &str| text.replace(r#"{"name""#, &format!(r#"{{"id":"{id}","name""#));
    let cases: Vec<(String, &[&str])> = vec![
        (format!("{},{},{},{}", user(TEXT), model(CALL), user(DONE), model(TEXT)), &[]),
        (String::new(), &["empty"]),
        ("7".to_owned(), &["shape"]),
        (user(""), &["empty"]),
        (user("7"), &["shape"]),
        (user("{}"), &["part-kind"]),
        (user(r#"{"text":"a","inlineData":{}}"#), &["part-kind"]),
        (user(r#"{"text":""}"#), &["empty-text"]),
        (user(r#"{"text":7}"#), &["shape"]),
        (user(r#"{"text":"\ud800"}"#), &["shape"]),
        (user(r#"{"inlineData":{"mimeType":"image/png"}}"#), &["missing-field"]),
        (user(r#"{"fileData":{}}"#), &["missing-field"]),
        (r#"{"role":"owl","parts":[{"text":"t"}]}"#.to_owned(), &["role"]),
        (model(TEXT), &["first-role"]),
        (format!("{},{}", user(TEXT), user(TEXT)), &[]),
        (format!("{},{},{},{}", user(TEXT), model(CALL), user(DONE), user(DONE)), &["response-count"]),
        (
            user(r#"{"text":null,"functionCall":null,"inlineData":{"mimeType":"image/png","data":"aGk="}}"#),
            &[],
        ),
        (format!("{},{},{}", user(TEXT), model(TEXT), model(TEXT)), &["alternation"]),
        (format!("{},{}", user(TEXT), model(CALL)), &["unanswered-call"]),
        (format!("{},{},{}", user(TEXT), model(CALL), user(TEXT)), &["response-count"]),
        (format!("{},{},{}", user(TEXT), model(&[CALL; 2].join(",")), user(DONE)), &["response-count"]),
        (user(DONE), &["response-count"]),
        (
            format!("{},{},{}", user(TEXT), model(CALL), user(&DONE.replace(r#""f""#, r#""g""#))),
            &["orphan-result"],
        ),
        (
            format!("{},{},{}", user(TEXT), model(&named(CALL, "a")), user(&named(DONE, "b"))),
            &["orphan-result"],
        ),
        (format!("{},{},{}", user(TEXT), model(&named(CALL, "a")), user(&named(DONE, "a"))), &[]),
        (user(CALL), &["part-role", "unanswered-call"]),
        (
            format!(
                "{},{},{}",
                user(TEXT),
                model(&CALL.replace(r#""f""#, r#""1f""#)),
                user(&DONE.replace(r#""f""#, r#""1f""#))
            ),
            &["tool-name", "tool-name"],
        ),
        (
            format!("{},{},{}", user(TEXT), model(&CALL.replace(r#"{"z": 1e400}"#, "7")), user(DONE)),
            &["arguments"],
        ),
        (
            format!("{},{},{}", user(TEXT), model(CALL), user(&DONE.replace(r#"{"output":"r"}"#, "7"))),
            &["missing-field"],
        ),
    ];
    for (contents, expected) in cases {
        assert_eq!(rules(&format!(r#"{{"contents":[{contents}]}}"#)), expected, "{contents}");
    }
}

#[test]
fn newer_models_want_the_first_call_of_each_step_signed() {
    let unsigned = CALL.replace(r#","thoughtSignature":"c2ln""#, "");
    let loops = [
        format!("{},{},{}", user(TEXT), model(&unsigned), user(DONE)),
        format!("{},{},{},{},{}", user(TEXT), model(CALL), user(DONE), model(&unsigned), user(DONE)),
        format!("{},{},{},{},{}", user(TEXT), model(&unsigned), user(DONE), model(CALL), user(DONE)),
        format!("{},{},{}", user(TEXT), model(&format!("{unsigned},{CALL}")), user(&[DONE; 2].join(","))),
    ];
    let late = format!("{},{}", loops[0], user(TEXT));
    let signed =
        format!("{},{},{}", user(TEXT), model(&format!("{CALL},{unsigned}")), user(&[DONE; 2].join(",")));
    for (name, is_strict) in [
        ("gemini-2.5-pro", false),
        ("gemini-3-pro", true),
        ("gemini-flash-latest", true),
        ("gemma-3-27b-it", false),
    ] {
        let rules =
            |contents: &str| rules(&format!(r#"{{"model":"models/{name}","contents":[{contents}]}}"#));
        for contents in &loops {
            let expected = if is_strict { vec!["missing-signature"] } else { Vec::new() };
            assert_eq!(rules(contents), expected, "{name} {contents}");
        }
        assert_eq!([rules(&late), rules(&signed)].concat(), [""; 0], "{name}");
    }
}

#[test]
fn what_stands_beside_the_contents_is_checked() {
    let function = |fields: &str| format!(r#""tools":[{{"functionDeclarations":[{{{fields}}}]}}]"#);
    let rest = [
        (function(r#""name":"a b""#), "tool-name"),
        (function(r#""name":"f","parameters":[]"#), "tool-schema"),
        (function(r#""name":"f","parameters":{},"parametersJsonSchema":{}"#), "tool-schema"),
        (function(r#""name":"f"},{"name":"f""#), "duplicate-tool"),
        (r#""tools":7"#.to_owned(), "shape"),
        (r#""systemInstruction":{"parts":[]}"#.to_owned(), "empty"),
        (r#""generationConfig":{"maxOutputTokens":0}"#.to_owned(), "limit"),
        (r#""generationConfig":7"#.to_owned(), "shape"),
    ];
    for (fields, expected) in rest {
        assert_eq!(rules(&format!(r#"{{{fields},"contents":[{}]}}"#, user(TEXT))), [expected], "{fields}");
    }
    assert_eq!(rules("[]"), ["shape"]);
    assert_eq!(rules("{"), ["json"]);
    assert_eq!(rules("{}"), ["missing-field"]);
}

#[test]
fn errors_say_where() {
    let cases = [
        ("{", "JSON"),
        ("[]", "the request"),
        ("{}", "contents"),
        (r#"{"contents":[7]}"#, "contents[0]"),
        (r#"{"contents":[{"role":"owl","parts":[]}]}"#, "contents[0].role"),
        (r#"{"contents":[{"role":"user","parts":7}]}"#, "contents[0].parts"),
    ];
    for (json, expected) in cases {
        let error = decode(OWN, json.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
