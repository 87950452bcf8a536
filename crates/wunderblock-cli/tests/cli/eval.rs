//! Tests of `eval`: what is asked, what is measured, and what is refused.

use crate::desk::Desk;
use serde_json::json;

fn locomo() -> String {
    let turn =
        |id: &str, speaker: &str, text: &str| json!({ "speaker": speaker, "dia_id": id, "text": text });
    json!([{
        "sample_id": "pump",
        "conversation": {
            "speaker_a": "Ann", "speaker_b": "Bo",
            "session_1_date_time": "1:56 pm on 8 May, 2031",
            "session_1": [turn("D1:1", "Ann", "The pump in the cellar leaks."), turn("D1:2", "Bo", "I will bring a new gasket.")],
            "session_2_date_time": "9:10 am on 2 June, 2031",
            "session_2": [turn("D2:1", "Ann", "The gasket fits; the cellar is dry."), turn("D2:2", "Bo", "Then we can store the apples.")],
        },
        "qa": [
            { "question": "What leaks in the cellar?", "answer": "the pump", "evidence": ["D1:1"], "category": 4 },
            { "question": "Is the cellar dry?", "answer": "yes", "evidence": ["D2:1; D9:9"], "category": 2 },
            { "question": "What colour is the pump?", "adversarial_answer": "red", "evidence": [], "category": 5 },
        ],
    }])
    .to_string()
}

#[test]
fn questions_about_a_conversation_are_measured() {
    let desk = Desk::bare();
    desk.write("sets/pump.json", locomo());
    desk.write("sets/README.md", "not a set");
    let done = desk.run(&["eval", "locomo", "--data", "sets", "--json"]).exits(0);
    let report = done.json();
    for (field, value) in [("recall_at_5", 1.0), ("recall_at_50", 1.0), ("mrr", 1.0), ("ndcg_at_10", 1.0)] {
        assert_eq!(report[field], value, "{field}: {report}");
    }
    assert_eq!((&report["questions"], &report["recall_at_tokens"]["512"]), (&json!(2), &json!(1.0)));
    assert_eq!(report["categories"]["temporal"]["questions"], 1);
    let table = desk.run(&["eval", "locomo", "--data", "sets/pump.json"]).exits(0);
    assert!(table.out.contains("single-hop") && table.out.contains("95 % interval"), "{}", table.out);
    assert!(table.err.contains("1 reference to evidence without such a turn"), "{}", table.err);
    assert!(!desk.path("ledger.db").exists(), "the ledger of the person is not touched");
}

#[test]
fn questions_are_made_from_the_sessions_of_the_ledger() {
    let desk = Desk::with_session();
    let args = ["eval", "sessions", "--each", "20", "--json"];
    let report = desk.run(&args).exits(0).json();
    let same = desk.run(&args).exits(0).json();
    assert!(report["questions"].as_u64() > Some(0), "{report}");
    assert_eq!(report["categories"], same["categories"], "the same seed asks the same questions");
    let empty = Desk::bare();
    empty.feed(&["append", "s"], "{\"role\":\"user\",\"content\":\"hi\"}\n").exits(0);
    let done = empty.run(&["eval", "sessions"]).exits(2);
    assert!(done.err.contains("too little text"), "{}", done.err);
}

#[test]
fn a_set_that_cannot_be_read_is_refused_with_the_reason() {
    let desk = Desk::bare();
    desk.write("empty/README.md", "nothing");
    desk.write("broken/a.json", "[{");
    desk.write("other/a.json", "{\"chat\": []}");
    desk.write("silent/a.json", "[{\"conversation\": {\"session_1\": []}, \"qa\": []}]");
    for (data, reason) in [
        ("nowhere", "nowhere"),
        ("empty", "no JSON file"),
        ("broken", "a does not have the shape of LoCoMo"),
        ("other", "conversation"),
        ("silent", "no questions"),
    ] {
        let done = desk.run(&["eval", "locomo", "--data", data]).exits(2);
        assert!(done.err.contains(reason), "{data}: {}", done.err);
    }
}
