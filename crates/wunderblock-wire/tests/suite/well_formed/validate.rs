//! Breaks every rule of the checker once, in an otherwise valid body.

use wunderblock_core::message::Dialect;
use wunderblock_wire::validate;

fn rules(dialect: Dialect, json: &str) -> Vec<&'static str> {
    validate(dialect, json.as_bytes()).into_iter().map(|violation| violation.rule).collect()
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table of cases, or one story")]
fn anthropic_bodies_that_the_api_refuses() {
    let user = r#"{"role":"user","content":"q"}"#;
    let use_a = r#"{"type":"tool_use","id":"a","name":"T","input":{}}"#;
    let done_a = r#"{"type":"tool_result","tool_use_id":"a","content":"r"}"#;
    let asks = |blocks: &str| format!(r#"{{"role":"assistant","content":[{blocks}]}}"#);
    let tells = |blocks: &str| format!(r#"{{"role":"user","content":[{blocks}]}}"#);
    let image = |source: &str| tells(&format!(r#"{{"type":"image","source":{source}}}"#));
    let text = r#"{"type":"text","text":"t"}"#;
    let marked = r#"{"type":"text","text":"t","cache_control":{"type":"ephemeral"}}"#;
    let cases: Vec<(String, &[&str])> = vec![
        (format!("{user},{},{}", asks(use_a), tells(done_a)), &[]),
        (format!("{user},{},{},{}", asks(use_a), tells(done_a), tells(text)), &[]),
        (String::new(), &["empty"]),
        (format!("{},{user}", asks(text)), &["first-role"]),
        (format!(r#"{{"role":"system","content":"s"}},{user}"#), &["first-role"]),
        (format!(r#"{user},{},{{"role":"system","content":"s"}},{user}"#, asks(text)), &["system-place"]),
        (r#"{"role":"tool","content":"x"}"#.to_owned(), &["role"]),
        (r#"{"role":"user"}"#.to_owned(), &["missing-field", "empty"]),
        (tells(""), &["empty"]),
        (tells(r#"{"type":"text","text":" "}"#), &["empty-text"]),
        (r#"{"role":"user","content":" "}"#.to_owned(), &["empty-text"]),
        (tells(r#"{"text":"t"}"#), &["missing-field"]),
        (tells("7"), &["shape"]),
        (format!("{user},{},{user}", asks(r#"{"type":"thinking","thinking":"t"}"#)), &["unsigned-thinking"]),
        (tells(r#"{"type":"thinking","thinking":"t","signature":"s"}"#), &["block-role"]),
        (format!("{user},{},{user}", asks(use_a)), &["unanswered-call"]),
        (format!("{user},{}", asks(use_a)), &["unanswered-call", "prefill"]),
        (format!("{user},{},{user},{}", asks(use_a), tells(done_a)), &["results-first"]),
        (format!("{user},{},{}", asks(use_a), tells(&format!("{text},{done_a}"))), &["results-first"]),
        (format!("{user},{},{}", asks(use_a), tells(&format!("{done_a},{done_a}"))), &["orphan-result"]),
        (tells(done_a), &["orphan-result"]),
        (format!("{user},{0},{1},{0},{1}", asks(use_a), tells(done_a)), &["duplicate-call"]),
        (
            format!(
                "{user},{},{}",
                asks(r#"{"type":"tool_use","id":"a b","name":"x.y","input":[]}"#),
                tells(r#"{"type":"tool_result","tool_use_id":"a b"}"#)
            ),
            &["missing-field", "tool-name", "call-id"],
        ),
        (
            format!(
                "{user},{},{}",
                asks(use_a),
                tells(&done_a.replace(r#""r""#, r#"[{"type":"text","text":""}]"#))
            ),
            &["empty-text"],
        ),
        (
            format!("{user},{},{}", asks(use_a), tells(&done_a.replace(r#""r""#, &format!("[{use_a}]")))),
            &["result-block"],
        ),
        (image(r#"{"type":"base64","media_type":"image/bmp","data":"x"}"#), &["media-type"]),
        (image(r#"{"type":"base64","media_type":"image/png","data":""}"#), &["missing-field"]),
        (image(r#"{"type":"text","media_type":"text/plain","data":"x"}"#), &["media-type"]),
        (image("3"), &["missing-field"]),
        (tells(&[marked; 4].join(",")), &[]),
        (tells(&[marked; 5].join(",")), &["cache-marks"]),
        (
            tells(r#"{"type":"text","text":"","cache_control":{"type":"ephemeral"}}"#),
            &["cache-place", "empty-text"],
        ),
        (
            format!(
                "{user},{},{user}",
                asks(
                    r#"{"type":"thinking","thinking":"t","signature":"s","cache_control":{"type":"ephemeral"}}"#
                )
            ),
            &["cache-place"],
        ),
        (format!(r#"{user},{{"role":"assistant","content":"so "}}"#), &["prefill", "trailing-space"]),
        (r#"{"role":"user","content":"\ud800"}"#.to_owned(), &["json", "empty"]),
    ];
    for (messages, expected) in cases {
        let json = format!(r#"{{"model":"m","max_tokens":9,"messages":[{messages}]}}"#);
        assert_eq!(rules(Dialect::Anthropic, &json), expected, "{messages}");
    }
}

#[test]
fn anthropic_requests_that_the_api_refuses() {
    let user = r#""messages":[{"role":"user","content":"q"}]"#;
    let loops = concat!(
        r#""messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"a","#,
        r#""name":"T","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]"#,
    );
    let head = r#""model":"m","max_tokens":9"#;
    let schema = r#""input_schema":{"type":"object"}"#;
    let cases: Vec<(String, &[&str])> = vec![
        (format!(r#""max_tokens":9,{user}"#), &["missing-field"]),
        (format!(r#""model":"m","max_tokens":0,{user}"#), &["missing-field"]),
        (head.to_owned(), &["missing-field"]),
        (format!(r#"{head},{user},"tools":[{{"name":"a b",{schema}}}]"#), &["tool-name"]),
        (format!(r#"{head},{user},"tools":[{{"name":"a","input_schema":[]}}]"#), &["tool-schema"]),
        (
            format!(r#"{head},{user},"tools":[{{"name":"a",{schema}}},{{"name":"a",{schema}}}]"#),
            &["duplicate-tool"],
        ),
        (format!(r#"{head},{user},"cache_control":{{"type":"ephemeral"}}"#), &[]),
        (
            format!(
                r#"{head},"messages":[{{"role":"user","content":[{}]}}],"cache_control":{{"type":"ephemeral"}}"#,
                [r#"{"type":"text","text":"t","cache_control":{"type":"ephemeral"}}"#; 4].join(",")
            ),
            &["cache-marks"],
        ),
        (format!(r#"{head},{user},"tools":7"#), &["shape"]),
        (format!(r#"{head},{user},"system":[{{"type":"text","text":""}}]"#), &["empty-text"]),
        (format!(r#"{head},{user},"system":3"#), &["shape"]),
        (format!(r#"{head},{loops},"thinking":{{"type":"enabled"}}"#), &["thinking-first"]),
        (format!(r#"{head},{loops},"thinking":{{"type":"adaptive"}}"#), &[]),
    ];
    for (fields, expected) in cases {
        assert_eq!(rules(Dialect::Anthropic, &format!("{{{fields}}}")), expected, "{fields}");
    }
    assert_eq!(rules(Dialect::Anthropic, "[]"), ["shape"]);
    assert_eq!(rules(Dialect::Anthropic, "{"), ["json"]);
}

#[test]
fn openai_bodies_that_the_api_refuses() {
    let user = r#"{"role":"user","content":"q"}"#;
    let call = |id: &str| {
        format!(r#"{{"id":"{id}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}"#)
    };
    let asks = |calls: &str| format!(r#"{{"role":"assistant","content":null,"tool_calls":[{calls}]}}"#);
    let done = |id: &str| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"r"}}"#);
    let tells = |part: &str| format!(r#"{{"role":"user","content":[{part}]}}"#);
    let long = "i".repeat(41);
    let cases: Vec<(String, &[&str])> = vec![
        (
            format!("{user},{},{},{}", asks(&format!("{},{}", call("a"), call("b"))), done("b"), done("a")),
            &[],
        ),
        (String::new(), &["empty"]),
        (r#"{"role":"owl","content":"x"}"#.to_owned(), &["role"]),
        (r#"{"role":"user"}"#.to_owned(), &["missing-field"]),
        (r#"{"role":"user","content":null}"#.to_owned(), &["missing-field"]),
        (tells(""), &["empty"]),
        (r#"{"role":"assistant","content":null}"#.to_owned(), &["empty"]),
        (asks(""), &["empty"]),
        (format!("{},{user}", asks(&call("a"))), &["unanswered-call"]),
        (asks(&call("a")), &["unanswered-call"]),
        (format!("{},{user},{}", asks(&call("a")), done("a")), &["unanswered-call", "orphan-result"]),
        (format!("{},{},{}", asks(&call("a")), done("a"), done("a")), &["orphan-result"]),
        (format!("{},{}", asks(&format!("{},{}", call("a"), call("a"))), done("a")), &["duplicate-call"]),
        (format!("{},{}", asks(&call(&long)), done(&long)), &["call-id"]),
        (format!("{},{}", asks(&call("a").replace(r#""{}""#, "{}")), done("a")), &["arguments"]),
        (format!("{},{}", asks(&call("a").replace(r#""f""#, r#""f g""#)), done("a")), &["tool-name"]),
        (format!("{},{}", asks(&call("a").replace("function", "x")), done("a")), &["missing-field"]),
        (tells(r#"{"type":"image_url","image_url":{"url":"data:image/bmp;base64,x"}}"#), &["media-type"]),
        (tells(r#"{"type":"image_url","image_url":"x"}"#), &["missing-field"]),
        (tells(r#"{"type":"input_audio","input_audio":{"data":"x","format":"ogg"}}"#), &["media-type"]),
        (tells(r#"{"type":"video","video":{}}"#), &["part-kind"]),
        (
            r#"{"role":"system","content":[{"type":"image_url","image_url":{"url":"https://x"}}]}"#
                .to_owned(),
            &["part-kind"],
        ),
        (r#"{"role":"function","name":"f","content":"r"}"#.to_owned(), &["orphan-result"]),
    ];
    for (messages, expected) in cases {
        let json = format!(r#"{{"model":"m","messages":[{messages}]}}"#);
        assert_eq!(rules(Dialect::OpenaiChat, &json), expected, "{messages}");
    }
    let tools = [
        (r#"{"type":"function","function":{"name":"f","parameters":[]}}"#, "tool-schema"),
        (r#"{"type":"function","function":{"name":"a.b"}}"#, "tool-name"),
        (r#"{"name":"f"}"#, "missing-field"),
    ];
    for (tool, expected) in tools {
        let json = format!(r#"{{"model":"m","messages":[{user}],"tools":[{tool}]}}"#);
        assert_eq!(rules(Dialect::OpenaiChat, &json), [expected], "{tool}");
    }
}
