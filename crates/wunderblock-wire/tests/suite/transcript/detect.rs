use wunderblock_wire::transcript::{FileShape, Format, detect};

#[test]
fn formats_are_told_apart_by_their_first_bytes() {
    use Format::{Aider, ClaudeCode, Codex, Droid, JsonDocument, JsonLines, OpenaiChat, Pi, Qwen};
    let long = "x".repeat(70_000);
    let cut_claude =
        format!(r#"{{"parentUuid":null,"isSidechain":false,"type":"user","message":{{"content":"{long}"#);
    let cut_codex =
        format!(r#"{{"timestamp":"t","type":"session_meta","payload":{{"base_instructions":"{long}"#);
    let cut_chat =
        format!("[{{\"role\":\"user\",\"content\":\"a\"}},{{\"role\":\"user\",\"content\":\"{long}");
    for (name, head, expected) in [
        ("a.jsonl", r#"{"type":"user","uuid":"1","sessionId":"s","message":{"content":"x"}}"#, ClaudeCode),
        (
            "a.jsonl",
            "{\"type\":\"summary\",\"summary\":\"t\",\"leafUuid\":\"x\"}\n{\"type\":\"summary\",\"leafUuid\":\"x\"}\n",
            ClaudeCode,
        ),
        (
            "a.jsonl",
            "{\"parentUuid\":nul\n{\"parentUuid\":null,\"uuid\":\"1\",\"sessionId\":\"s\",\"type\":\"user\"}\n",
            ClaudeCode,
        ),
        ("a.jsonl", &cut_claude, ClaudeCode),
        ("a.jsonl", &cut_codex, Codex),
        ("a.jsonl", r#"{"timestamp":"t","type":"event_msg","payload":{}}"#, Codex),
        (
            "a.jsonl",
            "{\"id\":\"x\",\"timestamp\":\"t\",\"instructions\":null}\n{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"a\"}]}\n",
            Codex,
        ),
        ("a.jsonl", r#"{"type":"session","version":3,"id":"x","cwd":"/w"}"#, Pi),
        (
            "a.jsonl",
            "{\"type\":\"session_start\",\"id\":\"x\"}\n{\"type\":\"message\",\"id\":\"1\",\"parentId\":\"x\",\"message\":{\"role\":\"user\",\"content\":\"a\"}}\n",
            Droid,
        ),
        (
            "a.jsonl",
            "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\"}\n",
            OpenaiChat,
        ),
        (
            "a.jsonl",
            "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}\n{\"messages\":[{\"role\":\"user\",\"content\":\"b\"}]}\n",
            OpenaiChat,
        ),
        ("a.json", "{\n \"messages\": [{\"role\":\"user\",\"content\":\"a\"}]}", OpenaiChat),
        ("a.json", &cut_chat, OpenaiChat),
        ("a.json", "{\n \"history\": []}", JsonDocument),
        ("a.json", "{\"history\": []}", JsonDocument),
        ("a.jsonl", "{\"history\": []}", JsonLines),
        ("a.jsonl", "\u{feff}{\"a\":1}\n{\"a\":2}\n", JsonLines),
        (
            "a.jsonl",
            "{\"uuid\":\"1\",\"parentUuid\":null,\"sessionId\":\"s\",\"type\":\"user\",\"message\":{\"role\":\"user\",\"parts\":[]}}\n{\"a\":1}\n",
            Qwen,
        ),
        ("notes.md", "x\n# aider chat started at 2024-08-05 19:33:02\n", Aider),
        (".aider.chat.history.md", "#### hello\n", Aider),
    ] {
        assert_detected(name, head, expected);
    }
}

fn assert_detected(name: &str, head: &str, expected: Format) {
    let shown: String = head.chars().take(80).collect();
    assert_eq!(detect(name, head.as_bytes()), Ok(expected), "{name}: {shown}");
}

#[test]
fn sessions_of_copilot_and_gemini_cli_are_told_apart_from_other_json() {
    use Format::{Copilot, GeminiCli};
    for (name, head, expected) in [
        ("a.jsonl", r#"{"type":"session.start","data":{"sessionId":"s"},"id":"1","parentId":null}"#, Copilot),
        ("a.jsonl", r#"{"sessionId":"s","projectHash":"p","startTime":"t"}"#, GeminiCli),
        (
            "a.jsonl",
            "{\"$set\":{\"lastUpdated\":\"t\"}}\n{\"id\":\"1\",\"type\":\"gemini\",\"content\":\"a\"}\n",
            GeminiCli,
        ),
        ("a.json", "{\n \"sessionId\": \"s\",\n \"projectHash\": \"p\",\n \"messages\": []}", GeminiCli),
        ("a.json", "{\n \"history\": [{\"role\":\"user\",\"parts\":[{\"text\":\"a\"}]}]}", GeminiCli),
        ("a.json", "[\n {\"role\":\"model\",\"parts\":[{\"text\":\"a\"}]}]", GeminiCli),
    ] {
        assert_detected(name, head, expected);
    }
}

#[test]
fn requests_of_each_provider_are_told_apart_from_chats() {
    use Format::{Anthropic, Gemini, JsonDocument, OpenaiChat, OpenaiResponses};
    let long = "x".repeat(70_000);
    let cut = format!(
        r#"{{"request":{{"url":"u","body":{{"model":"claude-x","max_tokens":1,"messages":[{{"role":"user","content":"{long}"#
    );
    for (name, head, expected) in [
        ("a.jsonl", r#"{"system":"s","messages":[{"role":"user","content":"a"}]}"#, Anthropic),
        ("a.json", "{\n\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"system\":\"s\"}", Anthropic),
        ("a.jsonl", &cut, Anthropic),
        (
            "a.json",
            r#"[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t"}]}]"#,
            Anthropic,
        ),
        (
            "a.jsonl",
            "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\"}]}\n",
            Anthropic,
        ),
        (
            "a.jsonl",
            r#"{"model":"claude-x","messages":[{"role":"system","content":"a"}],"max_tokens":1}"#,
            OpenaiChat,
        ),
        (
            "a.jsonl",
            r#"{"model":"gpt-x","messages":[{"role":"user","content":"a"}],"max_tokens":1}"#,
            OpenaiChat,
        ),
        ("a.jsonl", r#"{"model":"m","instructions":"s","input":"a"}"#, OpenaiResponses),
        ("a.json", "{\n\"input\":[{\"type\":\"function_call_output\",\"call_id\":\"c\"}]}", OpenaiResponses),
        ("a.json", "{\n\"model\":\"m\",\"input\":\"embed this\"}", JsonDocument),
        ("a.jsonl", r#"{"req":{"contents":[{"role":"user","parts":[{"text":"a"}]}]}}"#, Gemini),
        ("a.json", "{\n\"response\":{\"candidates\":[{\"content\":{\"parts\":[]}}]}}", Gemini),
    ] {
        assert_detected(name, head, expected);
    }
}

#[test]
fn runs_of_benchmarks_are_told_apart_from_other_json() {
    use Format::{JsonDocument, SweAgent, TauBench};
    let long = "x".repeat(70_000);
    let cut = format!(
        "{{\n\"environment\": \"e\",\n\"trajectory\": [{{\"action\": \"a\", \"observation\": \"{long}"
    );
    for (name, head, expected) in [
        ("a.traj", &*cut.replace(&long, "o\"}]}"), SweAgent),
        ("a.json", "{\n\"history\": [{\"role\":\"system\",\"content\":\"a\",\"agent\":\"main\"}]}", SweAgent),
        ("a.traj", "{\n\"history\": [{\"role\":\"system\",\"text\":\"a\"}]}", JsonDocument),
        ("a.json", "[\n{\"task_id\": 1, \"reward\": 0.0, \"traj\": []}]", TauBench),
        ("a.jsonl", "{\"messages_display\":\"user: a\"}\n{\"messages_display\":\"user: b\"}\n", TauBench),
    ] {
        assert_detected(name, head, expected);
    }
}

#[test]
fn what_cannot_be_read_is_refused_with_what_it_is_and_what_is_missing() {
    for (name, head, found) in [
        ("a", &b""[..], "an empty file"),
        ("a", b" \n\t\n", "an empty file"),
        ("a", b"\xef\xbb\xbf", "an empty file"),
        ("a", b"\xff\xfe{\0\"\0", "UTF-16 text"),
        ("a", b"{\0\"\0a\0", "UTF-16 text"),
        ("a.jsonl", b"SQLite format 3\0 and so on", "an SQLite database"),
        ("a.gz", b"\x1f\x8b\x08\0\0\0", "a gzip archive"),
        ("a", b"\x01\x02\x03\x04", "binary data"),
        ("readme.md", b"# Title\n\nSome text.\n", "text that is not JSON"),
        ("code.py", b"x = [\n1,\n2,\n]\n{}\nprint(x)\nprint(x)\nprint(x)\n", "text that is not JSON"),
    ] {
        let refused = detect(name, head).unwrap_err();
        assert_eq!(refused.found, found, "{name}");
        assert!(!refused.missing.is_empty());
        assert_eq!(refused.to_string(), format!("unsupported file: {}; {}", refused.found, refused.missing));
    }
}

#[test]
fn chat_is_fed_by_lines_or_whole() {
    for (head, shape) in [
        ("{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"user\",\"content\":\"b\"}\n", FileShape::Lines),
        ("{\"messages\":[]}\n", FileShape::Document),
        ("{\n\"messages\":[]}\n", FileShape::Document),
        ("[{\"role\":\"user\"", FileShape::Document),
        ("{\"messages\":[{\"role\":\"user\",\"content\":\"cut", FileShape::Lines),
    ] {
        assert_eq!(Format::OpenaiChat.shape(head.as_bytes()), shape, "{head}");
    }
}

#[test]
fn names_go_both_ways_and_every_format_lists_what_it_reads() {
    for format in Format::ALL {
        assert_eq!(Format::from_name(format.name()), Some(format));
        assert!(!format.record_types().is_empty());
    }
    assert_eq!(Format::from_name("openclaw"), Some(Format::Pi));
    assert_eq!(Format::from_name("word"), None);
}
