//! OpenAI Responses: content that a request keeps, output of the encoder, and findings of the checker.

use crate::well_formed::round_trip::survives;
use wunderblock_core::budget::Reason;
use wunderblock_core::message::{Dialect, MediaForm, Message, Part, Role};
use wunderblock_core::request::{Request, Tool};
use wunderblock_wire::{decode, decode_message, encode, validate};

const OWN: Dialect = Dialect::OpenaiResponses;

fn body(request: &Request) -> String {
    String::from_utf8(encode(OWN, request).unwrap().bytes).unwrap()
}

fn talk(messages: Vec<Message>) -> Request {
    Request { model: Some("m".into()), messages, ..Request::default() }
}

fn rules(json: &str) -> Vec<&'static str> {
    validate(OWN, json.as_bytes()).into_iter().map(|violation| violation.rule).collect()
}

fn read(input: &str) -> Request {
    decode(OWN, format!(r#"{{"model":"m","input":[{input}]}}"#).as_bytes()).unwrap()
}

const USER: &str = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]}"#;
const SAYS: &str = r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}"#;
const THINKS: &str =
    r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"c2Vh"}"#;
const CALLS: &str = r#"{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"z\": 1e400}"}"#;
const DONE: &str = r#"{"type":"function_call_output","call_id":"c1","output":"r"}"#;

#[test]
fn every_feature_survives() {
    let cases = [
        USER.to_owned(),
        r#"{"role":"user","content":"hi"},{"role":"assistant","content":"ho"},{"role":"user","content":""}"#.to_owned(),
        format!("{USER},{THINKS},{CALLS},{DONE},{SAYS}"),
        format!(
            r#"{USER},{{"type":"reasoning","id":"rs_1","status":"completed","summary":[{{"type":"summary_text","text":"a\n\nb"}},{{"type":"summary_text","text":""}},{{"type":"summary_text","text":"é"}}],"encrypted_content":null,"content":[]}},{SAYS}"#
        ),
        format!(
            r#"{USER},{{"type":"reasoning","summary":[],"content":[{{"type":"reasoning_text","text":"open"}}],"new":1.50}},{SAYS}"#
        ),
        format!(
            r#"{USER},{{"type":"message","id":"msg_1","status":"completed","role":"assistant","phase":"commentary","content":[{{"type":"output_text","text":"a","annotations":[],"logprobs":[]}},{{"type":"refusal","refusal":"no"}}]}},{{"type":"message","id":"msg_2","role":"assistant","phase":"final_answer","content":[{{"type":"output_text","text":"b","annotations":[{{"type":"url_citation","url":"u"}}]}}]}},{SAYS},{CALLS},{SAYS},{DONE}"#
        ),
        format!(
            r#"{USER},{{"type":"custom_tool_call","id":"ctc_1","status":"completed","call_id":"c","name":"patch","input":"free\ntext"}},{{"type":"custom_tool_call_output","call_id":"c","output":[{{"type":"input_text","text":"t"}}]}}"#
        ),
        format!(
            r#"{USER},{CALLS},{{"type":"function_call_output","id":"fco_1","call_id":"c1","output":[{{"type":"input_image","image_url":"data:image/png;base64,aGk=","detail":"low"}},{{"type":"input_text","text":"t"}}]}}"#
        ),
        format!(r#"{USER},{CALLS},{{"type":"function_call_output","call_id":"c1","output":[]}}"#),
        r#"{"type":"message","role":"user","content":[{"type":"input_image","file_id":"file-1","detail":"auto"},{"type":"input_file","file_url":"https://x.example/a.pdf"},{"type":"input_file","file_id":"file-2"},{"type":"input_file","filename":"x.pdf","file_data":"data:application/pdf;base64,aGk="},{"type":"input_file","filename":"document.pdf","file_data":"data:application/pdf;base64,aGk="},{"type":"input_file","file_data":"data:application/pdf;base64,aGk="},{"type":"input_image","image_url":"https://x.example/i"},{"type":"input_image","image_url":"https://x.example/i","detail":null},{"type":"input_image","image_url":"data:image/png;base64,aGk=","detail":"original"}]}"#.to_owned(),
        format!(
            r#"{{"type":"compaction","id":"cmp_1","encrypted_content":"c2Vh"}},{USER},{{"type":"web_search_call","id":"ws_1","status":"completed"}},{{"type":"local_shell_call","call_id":"l","action":{{"type":"exec"}}}},{{"type":"local_shell_call_output","call_id":"l","output":"x"}},{{"type":"item_reference","id":"msg_9"}},{{"type":"compaction_trigger"}}"#
        ),
        r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"s"}]},{"role":"system","content":"t"},{"type":"message","role":"developer","content":[{"type":"input_text","text":"u"},{"type":"input_text","text":"v"}],"x":1},{"role":"user","content":"q"},{"role":"developer","content":"mid"}"#.to_owned(),
        r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"s"},{"type":"input_text","text":"t"}]},{"role":"user","content":"q"}"#.to_owned(),
    ];
    for input in cases {
        let json = format!(r#"{{"model":"m","input":[{input}]}}"#);
        survives(OWN, &json);
        assert_eq!(rules(&json), [""; 0], "{json}");
    }
}

#[test]
fn the_rest_of_a_request_survives() {
    let rest = [
        r#""input":"hi""#,
        r#""input":"hi","instructions":"be brief","max_output_tokens":9"#,
        r#""input":"","instructions":"","tools":[]"#,
        r#""input":[{"role":"developer","content":"s"},{"role":"user","content":"q"}],"instructions":"be brief""#,
        r#""input":"q","store":false,"include":["reasoning.encrypted_content"],"reasoning":{"effort":"high","context":"all_turns"},"stream":true,"temperature":0.10,"text":{"format":{"type":"text"}},"previous_response_id":"resp_1""#,
        r#""input":"q","tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object"},"strict":true},{"type":"function","name":"g","parameters":null},{"type":"function","name":"h","strict":false},{"type":"function","name":"j","parameters":{"type":"object"},"strict":false},{"type":"function","name":"i","strict":false,"defer_loading":true},{"type":"custom","name":"patch","format":{"type":"grammar"}},{"type":"web_search"}],"tool_choice":"auto""#,
    ];
    for rest in rest {
        let json = format!(r#"{{"model":"m",{rest}}}"#);
        survives(OWN, &json);
        assert_eq!(rules(&json), [""; 0], "{json}");
    }
}

#[test]
fn what_the_model_says_between_others_is_one_message() {
    let request = read(&format!("{USER},{THINKS},{SAYS},{CALLS},{DONE},{SAYS}"));
    let roles: Vec<Role> = request.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool, Role::Assistant]);
    let [Part::Thinking { text, signature, .. }, Part::Text { .. }, Part::ToolCall { call, input, .. }] =
        request.messages[1].parts.as_slice()
    else {
        panic!("{:?}", request.messages[1])
    };
    assert_eq!((text.inline(), signature.as_deref()), (Some("hm"), Some("c2Vh")));
    assert_eq!((call.as_str(), input.inline()), ("c1", Some(r#"{"z": 1e400}"#)));
    let one = decode_message(OWN, CALLS).unwrap();
    assert_eq!(one.iter().map(|message| message.role).collect::<Vec<_>>(), [Role::Assistant]);
}

#[test]
fn a_neutral_request_becomes_items() {
    let call =
        Part::ToolCall { call: "a".into(), name: "T".into(), input: "{}".into(), gist: None, extra: None };
    let image =
        Part::Media { mime: "image/png".into(), form: MediaForm::Base64, body: "aGk=".into(), extra: None };
    let told = Part::ToolResult {
        call: "a".into(),
        content: vec![Part::text("see"), image],
        failed: true,
        extra: None,
    };
    let tool = Tool {
        name: "T".into(),
        description: "d".into(),
        schema: r#"{"type":"object"}"#.into(),
        extra: None,
    };
    let request = Request {
        system: vec![Part::text("be brief")],
        tools: vec![tool],
        ..talk(vec![
            Message::user("q"),
            Message::new(Role::Assistant, vec![Part::text("x"), call]),
            Message::new(Role::Tool, vec![told]),
            Message::system("now"),
        ])
    };
    let expected = concat!(
        r#"{"model":"m","tools":[{"type":"function","name":"T","description":"d","parameters":{"type":"object"},"strict":false}],"#,
        r#""instructions":"be brief","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]},"#,
        r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"}]},"#,
        r#"{"type":"function_call","call_id":"a","name":"T","arguments":"{}"},"#,
        r#"{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"see"},"#,
        r#"{"type":"input_image","image_url":"data:image/png;base64,aGk=","detail":"auto"}]},"#,
        r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"now"}]}]}"#,
    );
    let encoded = encode(OWN, &request).unwrap();
    assert_eq!(String::from_utf8(encoded.bytes).unwrap(), expected);
    let lost: Vec<&str> = encoded.dropped.iter().map(|drop| drop.what.as_str()).collect();
    assert_eq!(lost, ["the mark that the tool failed"]);
}

#[test]
fn reasoning_goes_back_only_sealed_and_only_to_where_it_came_from() {
    let mut request = read(&format!("{USER},{THINKS},{SAYS}"));
    for (dialect, reason) in [
        (Dialect::Anthropic, Reason::Unsigned),
        (Dialect::OpenaiChat, Reason::Dialect),
        (Dialect::Gemini, Reason::Unsigned),
    ] {
        let dropped = encode(dialect, &request).unwrap().dropped;
        assert_eq!(dropped.iter().map(|drop| drop.reason).collect::<Vec<_>>(), [reason], "{dialect:?}");
    }
    request.cache = Some(Vec::new());
    assert!(body(&request).contains(r#""encrypted_content":"c2Vh""#));
    let open = THINKS.replace(r#","encrypted_content":"c2Vh""#, "");
    let mut request = read(&format!("{USER},{open},{SAYS}"));
    assert!(body(&request).contains(r#""text":"hm""#));
    request.cache = Some(Vec::new());
    let encoded = encode(OWN, &request).unwrap();
    assert!(!String::from_utf8(encoded.bytes).unwrap().contains("hm"));
    assert_eq!(encoded.dropped.iter().map(|drop| drop.reason).collect::<Vec<_>>(), [Reason::Unsigned]);
    let foreign = Part::Thinking { text: "t".into(), signature: Some("s".into()), extra: None };
    let request =
        talk(vec![Message::user("q"), Message::new(Role::Assistant, vec![foreign, Part::text("a")])]);
    assert_eq!(encode(OWN, &request).unwrap().dropped[0].reason, Reason::Unsigned);
}

#[test]
fn a_request_of_ours_has_nothing_that_would_be_refused() {
    let shell = r#"{"type":"local_shell_call","call_id":"l","action":{}}"#;
    let shell_output = r#"{"type":"local_shell_call_output","call_id":"l","output":"x"}"#;
    let says = SAYS.replace(r#""role""#, r#""id":"msg_1","phase":"final_answer","role""#);
    let cases = [
        (format!("{USER},{THINKS},{USER}"), "reasoning without what it led to"),
        (format!("{USER},{THINKS},{CALLS},{DONE},{THINKS},{USER}"), "reasoning without what it led to"),
        (format!("{USER},{shell},{SAYS},{USER}"), "a call without its output"),
        (format!("{USER},{shell_output},{SAYS},{USER}"), "an output without its call"),
        (
            format!(r#"{{"type":"compaction","encrypted_content":"e"}},{USER}"#),
            "the provider's own compaction: what it stands for is in the ledger",
        ),
        (
            format!(r#"{USER},{{"type":"tool_search_call","call_id":null,"execution":"local"}},{SAYS}"#),
            "a search for tools of a kind that the API does not have",
        ),
        (
            format!(r#"{USER},{{"type":"item_reference","id":"msg_9"}},{SAYS}"#),
            "a reference to what only the provider keeps",
        ),
        (
            format!(
                r#"{USER},{{"type":"mcp_approval_response","approval_request_id":"r","approve":true}},{SAYS}"#
            ),
            "an output without its call",
        ),
        (format!(r#"{USER},{{"type":"function_call"}},{SAYS}"#), "an item that is not whole"),
        (
            r#"{"role":"user","content":[{"type":"video"},{"type":"input_text","text":"q"}]}"#.to_owned(),
            "a part of content of no kind that a message can hold, or not a whole one",
        ),
    ];
    for (input, why) in cases {
        let request = Request { cache: Some(Vec::new()), ..read(&input) };
        let encoded = encode(OWN, &request).unwrap();
        let found: Vec<_> = encoded.dropped.iter().map(|drop| (drop.reason, drop.what.as_str())).collect();
        assert_eq!(found, [(Reason::Unsendable, why)], "{input}");
        assert_eq!(rules(std::str::from_utf8(&encoded.bytes).unwrap()), [""; 0], "{input}");
    }
    let request = read(&format!("{USER},{shell},{shell_output},{THINKS},{says},{USER}"));
    let made = Request { cache: Some(Vec::new()), ..request };
    let written = body(&made);
    assert!(written.contains("final_answer") && !written.contains("msg_1"), "{written}");
    assert!(written.contains("local_shell_call_output") && written.contains("c2Vh"), "{written}");
}

#[test]
fn in_a_request_of_ours_text_of_the_model_is_a_string() {
    let said = r#"{"type":"message","id":"msg_1","status":"completed","role":"assistant","phase":"commentary","x":1,"content":[{"type":"output_text","text":"a","annotations":[{"type":"url_citation"}]},{"type":"refusal","refusal":"no"}]}"#;
    let request = Request { cache: Some(Vec::new()), ..read(&format!("{USER},{said},{SAYS}")) };
    let encoded = encode(OWN, &request).unwrap();
    let expected = concat!(
        r#""input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]},"#,
        r#"{"type":"message","role":"assistant","content":"a","phase":"commentary","x":1},"#,
        r#"{"type":"message","role":"assistant","content":"no","phase":"commentary"},"#,
        r#"{"type":"message","role":"assistant","content":"a"}]"#,
    );
    let written = String::from_utf8(encoded.bytes).unwrap();
    assert!(written.contains(expected), "{written}");
    let lost: Vec<_> = encoded.dropped.iter().map(|drop| (drop.what.as_str(), drop.whole)).collect();
    let of_answers = ("fields that only an answer has: annotations", false);
    assert_eq!(lost, [of_answers, ("the mark that the model declined", false)]);
}

#[test]
fn in_a_request_of_ours_items_have_no_books() {
    let sealed = r#"{"type":"reasoning","id":"rs_1","summary":[],"content":null,"encrypted_content":"c2Vh","internal_chat_message_metadata_passthrough":{"turn_id":"t"},"metadata":{}}"#;
    let search = r#"{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q","url":null},"x":null}"#;
    let opaque = |raw: &str| Part::Opaque { dialect: OWN, raw: raw.into() };
    let said = Message::new(Role::Assistant, vec![opaque(sealed), opaque(search), Part::text("a")]);
    let request = talk(vec![Message::user("q"), said]);
    assert!(body(&request).contains(sealed) && body(&request).contains(search));
    let encoded = encode(OWN, &Request { cache: Some(Vec::new()), ..request }).unwrap();
    let expected = concat!(
        r#"{"type":"reasoning","summary":[],"encrypted_content":"c2Vh"},"#,
        r#"{"type":"web_search_call","status":"completed","action":{"type":"search","query":"q"}},"#,
        r#"{"type":"message","role":"assistant","content":"a"}"#,
    );
    let written = String::from_utf8(encoded.bytes).unwrap();
    assert!(written.contains(expected), "{written}");
    assert_eq!(encoded.dropped, []);
}

#[test]
fn a_field_that_says_nothing_of_its_origin_goes_only_where_it_is_known() {
    let call = Part::ToolCall {
        call: "c".into(),
        name: "T".into(),
        input: "{}".into(),
        gist: None,
        extra: Some(r#"{"caller":{"type":"assistant"},"namespace":"n"}"#.into()),
    };
    let said = Message::new(Role::Assistant, vec![call]);
    let request = talk(vec![Message::user("q"), said, Message::tool_result("c", "r")]);
    let encoded = encode(OWN, &Request { cache: Some(Vec::new()), ..request }).unwrap();
    let written = String::from_utf8(encoded.bytes).unwrap();
    assert!(written.contains(r#""namespace":"n""#) && !written.contains("caller"), "{written}");
    assert_eq!(encoded.dropped[0].what, "fields that no request has: caller");
}

#[test]
fn items_that_go_through_are_paired_by_what_names_them() {
    let whole = [
        r#"{"type":"program","id":"p","call_id":"c","code":"1","fingerprint":"f"},{"type":"program_output","id":"o","call_id":"c","result":"1","status":"completed"}"#,
        r#"{"type":"program","id":"p","call_id":"c","code":"1","fingerprint":"f"}"#,
        r#"{"type":"local_shell_call","call_id":"l","action":{},"status":"completed"},{"type":"local_shell_call_output","id":"l","output":"x"}"#,
        r#"{"type":"mcp_approval_request","id":"r","name":"n","arguments":"{}","server_label":"s"},{"type":"mcp_approval_response","approval_request_id":"r","approve":true}"#,
        r#"{"type":"tool_search_call","call_id":null,"arguments":{}},{"type":"tool_search_output","call_id":null,"tools":[]}"#,
    ];
    for items in whole {
        let request = Request { cache: Some(Vec::new()), ..read(&format!("{USER},{items},{SAYS},{USER}")) };
        let encoded = encode(OWN, &request).unwrap();
        assert_eq!(encoded.dropped, [], "{items}");
        assert_eq!(rules(std::str::from_utf8(&encoded.bytes).unwrap()), [""; 0], "{items}");
    }
    let tools = r#"{"type":"additional_tools","role":"developer","tools":[]}"#;
    let request = Request { cache: Some(Vec::new()), ..read(&format!("{USER},{THINKS},{tools},{USER}")) };
    assert_eq!(encode(OWN, &request).unwrap().dropped[0].what, "reasoning without what it led to");
}

#[test]
fn a_tool_without_a_schema_takes_no_arguments() {
    let tool = Tool { name: "T".into(), description: "".into(), schema: "".into(), extra: None };
    let written = body(&Request { tools: vec![tool], ..talk(vec![Message::user("q")]) });
    let expected =
        r#"{"type":"function","name":"T","parameters":{"type":"object","properties":{}},"strict":false}"#;
    assert!(written.contains(expected), "{written}");
}

#[test]
fn a_custom_call_of_chat_completions_stays_one() {
    let json = r#"{"model":"m","messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"custom","custom":{"name":"x","input":"free"}}]},{"role":"tool","tool_call_id":"c","content":"ok"}]}"#;
    let written = body(&decode(Dialect::OpenaiChat, json.as_bytes()).unwrap());
    assert!(
        written.contains(r#"{"type":"custom_tool_call","call_id":"c","name":"x","input":"free"}"#),
        "{written}"
    );
    assert!(
        written.contains(r#"{"type":"custom_tool_call_output","call_id":"c","output":"ok"}"#),
        "{written}"
    );
}

#[test]
fn bodies_that_the_api_refuses() {
    let long = "i".repeat(65);
    let part = |part: &str| format!(r#"{{"role":"user","content":[{part}]}}"#);
    let cases: Vec<(String, &[&str])> = vec![
        (format!("{USER},{THINKS},{CALLS},{USER},{DONE},{SAYS}"), &[]),
        (String::new(), &["empty"]),
        ("7".to_owned(), &["shape"]),
        ("{}".to_owned(), &["missing-field"]),
        (r#"{"role":"owl","content":"x"}"#.to_owned(), &["role"]),
        (r#"{"role":"user"}"#.to_owned(), &["missing-field"]),
        (part(r#"{"type":"output_text","text":"t"}"#), &["part-kind"]),
        (part(r#"{"type":"input_text"}"#), &["missing-field"]),
        (part(r#"{"type":"input_image","image_url":"data:image/bmp;base64,x"}"#), &["media-type"]),
        (part(r#"{"type":"input_file"}"#), &["missing-field"]),
        (r#"{"role":"user","content":"\ud800"}"#.to_owned(), &["json"]),
        (format!("{USER},{CALLS}"), &["unanswered-call"]),
        (format!("{USER},{DONE}"), &["orphan-result"]),
        (format!("{USER},{DONE},{CALLS}"), &["orphan-result", "unanswered-call"]),
        (format!("{USER},{CALLS},{DONE},{DONE}"), &["orphan-result"]),
        (format!("{USER},{CALLS},{DONE},{CALLS},{DONE}"), &["duplicate-call"]),
        (
            format!("{USER},{CALLS},{}", DONE.replace("function_call_output", "custom_tool_call_output")),
            &["orphan-result", "unanswered-call"],
        ),
        (format!("{USER},{},{}", CALLS.replace("c1", &long), DONE.replace("c1", &long)), &["call-id"]),
        (format!("{USER},{},{DONE}", CALLS.replace(r#""f""#, r#""f g""#)), &["tool-name"]),
        (format!("{USER},{},{DONE}", CALLS.replace("arguments", "args")), &["arguments"]),
        (format!("{USER},{THINKS}"), &["orphan-reasoning"]),
        (format!("{USER},{THINKS},{USER}"), &["orphan-reasoning"]),
        (format!("{USER},{CALLS},{THINKS},{DONE}"), &["orphan-reasoning"]),
        (format!(r#"{USER},{{"type":"reasoning"}},{SAYS}"#), &["missing-field"]),
        (format!(r#"{{"type":"compaction"}},{USER}"#), &["missing-field"]),
        (format!(r#"{{"type":"compaction_trigger"}},{USER}"#), &["trigger-place"]),
        (format!("{USER},{}", SAYS.replace(r#""role""#, &format!(r#""id":"{long}","role""#))), &["item-id"]),
    ];
    for (input, expected) in cases {
        assert_eq!(rules(&format!(r#"{{"model":"m","input":[{input}]}}"#)), expected, "{input}");
    }
    let whole = [
        (r#"{"input":"q"}"#, "missing-field"),
        (r#"{"model":"m"}"#, "missing-field"),
        (r#"{"model":"m","input":7}"#, "missing-field"),
        (r#"{"model":"m","input":"q","tools":7}"#, "shape"),
        (r#"{"model":"m","input":"q","tools":[{"name":"f"}]}"#, "missing-field"),
        (r#"{"model":"m","input":"q","tools":[{"type":"function","name":"a.b"}]}"#, "tool-name"),
        (
            r#"{"model":"m","input":"q","tools":[{"type":"function","name":"f","parameters":[]}]}"#,
            "tool-schema",
        ),
        ("[]", "shape"),
        ("{", "json"),
    ];
    for (json, expected) in whole {
        assert_eq!(rules(json), [expected], "{json}");
    }
    let continued = format!(r#"{{"model":"m","previous_response_id":"r","input":[{DONE}]}}"#);
    assert_eq!(rules(&continued), [""; 0]);
}

#[test]
fn errors_say_where() {
    let cases = [
        ("{", "JSON"),
        ("[]", "the request"),
        ("{}", "input"),
        (r#"{"input":7}"#, "input"),
        (r#"{"input":[7]}"#, "input[0]"),
        (r#"{"input":[{"role":"user","content":"a"},{"role":"owl","content":"b"}]}"#, "input[1].role"),
        (r#"{"input":[{"role":"user","content":7}]}"#, "input[0].content"),
    ];
    for (json, expected) in cases {
        let error = decode(OWN, json.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
