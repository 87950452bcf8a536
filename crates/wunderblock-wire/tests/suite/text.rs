//! Text read from bodies and inputs: string values, and the gist of a call.

use proptest::prelude::*;
use serde_json::Value;
use wunderblock_wire::{gist, string_values};

fn values(json: &str) -> Vec<String> {
    string_values(json.as_bytes()).unwrap().collect()
}

#[test]
fn media_data_is_not_text_and_all_other_values_are() {
    let cases: [(&str, &[&str]); 15] = [
        (
            r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}"#,
            &["image", "base64", "image/png"],
        ),
        (r#"{"source":{"data":"AAAA","type":"base64"}}"#, &["base64"]),
        (
            r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"words"}}"#,
            &["document", "text", "text/plain", "words"],
        ),
        (
            r#"{"type":"tool_use","input":{"source":{"type":"base64","data":"words"},"image_url":"data:x"}}"#,
            &["tool_use", "base64", "words", "data:x"],
        ),
        (r#"{"image_url":{"url":"data:image/png;base64,AAAA","detail":"low"}}"#, &["low"]),
        (r#"{"image_url":{"url":"https://x"}}"#, &["https://x"]),
        (
            r#"{"input_audio":{"data":"AAAA","format":"wav"},"file":{"file_data":"data:x","filename":"n"}}"#,
            &["wav", "n"],
        ),
        (
            r#"{"type":"media","mime":"image/png","form":"base64","body":"AAAA"}"#,
            &["media", "image/png", "base64"],
        ),
        (r#"{"type":"media","mime":"","form":"url","body":"https://x"}"#, &["media", "", "url", "https://x"]),
        (r#"{"type":"input_image","image_url":"data:image/png;base64,AAAA"}"#, &["input_image"]),
        (
            r#"{"type":"input_file","filename":"n","file_data":"data:application/pdf;base64,AAAA"}"#,
            &["input_file", "n"],
        ),
        (
            r#"{"model":"m","input":[{"role":"user","content":[{"type":"input_image","image_url":"data:x"}]}]}"#,
            &["m", "user", "input_image"],
        ),
        (r#"{"inlineData":{"mimeType":"image/png","data":"AAAA"}}"#, &["image/png"]),
        (r#"{"functionCall":{"name":"f","args":{"inlineData":{"data":"words"}}}}"#, &["f", "words"]),
        (r#"["a",{"k":["b\n\"\\",[],{}],"l":1e400},"\u00e9\ud800"]"#, &["a", "b\n\"\\", "é\u{FFFD}"]),
    ];
    for (json, expected) in cases {
        assert_eq!(values(json), expected, "{json}");
    }
    assert!(string_values(b"{").is_err());
    assert!(string_values(b"\xff").is_err());
    let deep = format!("{}\"x\"{}", "[".repeat(50_000), "]".repeat(50_000));
    assert_eq!(values(&deep), ["x"]);
}

fn walk(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
        Value::Object(fields) => fields.values().for_each(|value| walk(value, found)),
        _ => {}
    }
}

#[test]
fn a_gist_is_the_least_to_do_it_again() {
    let cases = [
        (r#"{"command":"cargo test -p x","timeout":5}"#, Some("cargo test -p x")),
        (r#"{"command":["bash","-lc","ls -l\ncat a"]}"#, Some("ls -l cat a")),
        (r#"{"cmd":["git","status"]}"#, Some("git status")),
        (r#"{"file_path":"/a/b.rs","offset":10,"limit":31}"#, Some("/a/b.rs:10-40")),
        (r#"{"path":"b.rs","start_line":3,"end_line":9}"#, Some("b.rs:3-9")),
        (r#"{"path":"b.rs","view_range":[10,40]}"#, Some("b.rs:10-40")),
        (r#"{"path":"b.rs","view_range":[10,-1]}"#, Some("b.rs:10-")),
        (r#"{"path":"b.rs","offset":7}"#, Some("b.rs:7-")),
        (r#"{"path":"b.rs","limit":20}"#, Some("b.rs:1-20")),
        (r#"{"file_path":"a.rs","old_string":"x","new_string":"y"}"#, Some("a.rs")),
        (r#"{"url":"https://x.example/","prompt":"what is it"}"#, Some("https://x.example/")),
        (r#"{"pattern":"fn main","path":"src"}"#, Some("fn main src")),
        (r#"{"notebook_path":"n.ipynb","cell":3}"#, Some("n.ipynb")),
        (
            r#"{"todo":["a"],"id":7,"deep":{"x":1},"ok":true,"why":"so","more":1}"#,
            Some("id=7 ok=true why=so"),
        ),
        ("{\"command\":\"a\\u0000\\u001b[31mb\\u202ec\"}", Some("a [31mbc")),
        (
            r#"{"input":"*** Begin Patch\n*** Update File: src/a.rs\n@@\n*** Add File: b.rs\n"}"#,
            Some("src/a.rs b.rs"),
        ),
        (r#"{"command":""}"#, Some("command=")),
        ("{}", None),
        ("[1]", None),
        ("not json", None),
        ("", None),
    ];
    for (input, expected) in cases {
        assert_eq!(gist("apply_patch", input).as_deref(), expected, "{input}");
    }
}

#[test]
fn a_long_argument_is_cut_to_one_line() {
    for piece in ["x", "é", "\\u00e9", "\\\\", "\\ud83d\\ude00", "\\n", "a\\\"b"] {
        for pad in 1..14 {
            let input =
                format!(r#"{{"command":"{}{}"}}"#, "p".repeat(pad), piece.repeat(400_000 / piece.len()));
            let line = gist("sh", &input).unwrap_or_else(|| panic!("{piece} {pad}"));
            assert!(line.chars().count() <= 200 && !line.contains('\n'), "{line}");
        }
    }
    let line = gist("read", &format!(r#"{{"path":"{}","offset":5,"limit":2}}"#, "d/".repeat(300))).unwrap();
    assert!(line.ends_with("…:5-6") && line.chars().count() == 200, "{line}");
}

proptest! {
    #[test]
    fn string_values_are_those_of_the_document(json in crate::shared::providers::json(4)) {
        let json = json.replace("1e400", "1");
        // Repeated field names would count once for serde_json and twice in a scan of the text. The generator makes
        // none.
        let mut expected = Vec::new();
        walk(&serde_json::from_str(&json).unwrap(), &mut expected);
        prop_assert_eq!(values(&json), expected);
    }

    #[test]
    fn a_gist_is_short_and_of_one_line(input in crate::shared::providers::object()) {
        if let Some(line) = gist("t", &input) {
            prop_assert!(!line.is_empty() && line.chars().count() <= 200 && !line.chars().any(char::is_control));
        }
    }
}
