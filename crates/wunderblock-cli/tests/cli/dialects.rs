//! Tests of a session in the format of each provider: imported, appended, built, explained, exported, summarised.

use crate::desk::Desk;
use serde_json::{Value, json};
use wunderblock_core::message::Dialect;
use wunderblock_testkit::server::{Behaviour, ScriptedProvider};
use wunderblock_wire::validate;

const ALL: [Dialect; 4] =
    [Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini];

/// Builds a request in a dialect. Returns the request and its report.
fn request(dialect: Dialect, desk: &Desk, command: &[&str]) -> (Value, Value) {
    let args = [command, &["--to", dialect.name(), "--out", "request.json", "--json"]].concat();
    let report = desk.run(&args).exits(0).json();
    let body = desk.bytes("request.json");
    // The rule `prefill` applies to a session that ends with the model's words, and the report says so.
    let ends_with_reply = report["ends_with_reply"] == true;
    let found = validate(dialect, &body).into_iter();
    let found = found.filter(|found| !(ends_with_reply && found.rule == "prefill"));
    assert_eq!(found.collect::<Vec<_>>(), [], "{dialect:?}");
    assert_eq!(report["digest"], blake3::hash(&body).to_hex().as_str());
    (serde_json::from_slice(&body).unwrap(), report)
}

#[test]
fn the_example_session_is_built_explained_and_exported_in_each_format() {
    let desk = Desk::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/session.jsonl");
    let session = desk.run(&["import", example, "--json", "-q"]).exits(0).lines();
    let session = session.iter().find_map(|line| line["sessions"][0].as_str()).unwrap().to_owned();
    for dialect in ALL {
        for window in ["16000", "64000"] {
            let options = ["--to", dialect.name(), "--window", window];
            let explained = desk.run(&[&["explain", &session, "--json"], &options[..]].concat()).exits(0);
            let built = ["context", &session, "--window", window];
            let (_, report) = request(dialect, &desk, &built);
            assert_eq!(explained.json()["digest"], report["digest"], "what is explained is what is built");
            let of = |name: &str| report[name].as_u64().unwrap();
            assert!(of("total_tokens") <= of("window") && of("total_tokens") > of("window") / 3, "{report}");
        }
        let whole = desk.run_bytes(&["export", &session, "--to", dialect.name()]);
        // The rule `prefill` applies because the session ends with the model's words.
        let found = validate(dialect, &whole.stdout).into_iter().filter(|found| found.rule != "prefill");
        assert_eq!(found.collect::<Vec<_>>(), [], "{dialect:?}");
    }
}

/// The exact lines that clients of the two newer formats would append.
fn told() -> String {
    let lines = [
        json!({ "role": "user", "content": [{ "type": "input_text", "text": "look around" }] }),
        json!({ "type": "reasoning", "summary": [], "encrypted_content": "c2Vh" }),
        json!({ "type": "message", "role": "assistant", "phase": "commentary",
            "content": [{ "type": "output_text", "text": "looking", "annotations": [] }] }),
        json!({ "type": "function_call", "call_id": "call_1", "name": "ls", "arguments": "{}" }),
        json!({ "type": "function_call_output", "call_id": "call_1", "output": "a.txt" }),
        json!({ "role": "model", "parts": [
            { "functionCall": { "name": "cat", "args": { "path": "a.txt" } }, "thoughtSignature": "c2ln" }] }),
        json!({ "role": "user", "parts": [
            { "functionResponse": { "name": "cat", "response": { "error": "no such file" } } }] }),
        json!({ "role": "user", "content": "go on" }),
    ];
    let line = |(at, line): (usize, &Value)| {
        let mut line = line.clone();
        line["id"] = json!(format!("m{at}"));
        line["at"] = json!(1_772_357_000_000_u64 + at as u64);
        format!("{line}\n")
    };
    lines.iter().enumerate().map(line).collect()
}

#[test]
fn what_a_provider_encrypted_or_signed_goes_back_to_it_alone() {
    let desk = Desk::new();
    desk.feed(&["append", "live"], &told()).exits(0);
    let body = |dialect| request(dialect, &desk, &["context", "live"]).0;
    let responses = body(Dialect::OpenaiResponses);
    let items: Vec<&Value> = responses["input"].as_array().unwrap().iter().collect();
    assert_eq!(items[1], &json!({ "type": "reasoning", "summary": [], "encrypted_content": "c2Vh" }));
    let said = json!({ "type": "message", "role": "assistant", "content": "looking", "phase": "commentary" });
    assert_eq!(items[2], &said);
    let gemini = body(Dialect::Gemini);
    let call =
        json!({ "functionCall": { "name": "cat", "args": { "path": "a.txt" } }, "thoughtSignature": "c2ln" });
    assert_eq!(gemini["contents"][3]["parts"][0], call);
    let result = json!({ "functionResponse": { "name": "cat", "response": { "error": "no such file" } } });
    assert_eq!(gemini["contents"][4]["parts"][0], result);
    for (dialect, foreign) in [
        (Dialect::OpenaiResponses, "c2ln"),
        (Dialect::Gemini, "c2Vh"),
        (Dialect::Anthropic, "c2Vh"),
        (Dialect::OpenaiChat, "c2Vh"),
    ] {
        assert!(!body(dialect).to_string().contains(foreign), "{dialect:?}");
    }
}

#[test]
fn models_are_asked_for_summaries_in_their_own_format() {
    let own = crate::compaction::desk();
    let compact = crate::compaction::with(&["compact", "work", "--json"], &[]);
    let text = own.run(&compact).exits(0).json()["summaries"][0]["text"].as_str().unwrap().to_owned();
    for (model, dialect, variable, path) in [
        ("gpt-5.1-codex", Dialect::OpenaiResponses, "OPENAI_API_KEY", "/v1/responses"),
        (
            "gemini-2.5-pro",
            Dialect::Gemini,
            "GEMINI_API_KEY",
            "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
        ),
    ] {
        let provider = ScriptedProvider::start([Behaviour::Good(text.clone())]).unwrap();
        let desk = crate::compaction::desk();
        desk.write("told.toml", format!("[compaction]\nbase_url = \"{}\"\n", provider.url(dialect)));
        let more = ["--summarizer", model, "--config", "told.toml"];
        let mut command = desk.command(&crate::compaction::with(&["compact", "work", "--json"], &more));
        let output = command.env(variable, "a-key").output().unwrap();
        let done: Value = serde_json::from_slice(&output.stdout).unwrap();
        let requests = provider.requests();
        assert_eq!(requests[0].path, path);
        assert!(requests[0].headers.iter().any(|(_, value)| value.contains("a-key")));
        assert_eq!(validate(dialect, &requests[0].body), []);
        assert_eq!(done["summaries"][0]["producer"], model, "{done}");
    }
}
