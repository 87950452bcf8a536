//! Guarantees that hold for any file content.

use super::{check_order, check_spans, feed, read_as};
use proptest::prelude::*;
use wunderblock_wire::transcript::{FileShape, Format, RecordStatus, TranscriptReader, detect};

/// Keys and values that the readers look up, so that random objects reach their branches.
const KEYS: [&str; 72] = [
    "composer",
    "bubble",
    "bubbleId",
    "toolFormerData",
    "sessionID",
    "messageID",
    "state",
    "status",
    "removed",
    "tail_start_id",
    "type",
    "role",
    "content",
    "message",
    "uuid",
    "parentUuid",
    "sessionId",
    "isSidechain",
    "agentId",
    "payload",
    "id",
    "parentId",
    "text",
    "messages",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "usage",
    "attachment",
    "subtype",
    "isMeta",
    "isCompactSummary",
    "logicalParentUuid",
    "timestamp",
    "output",
    "call_id",
    "parts",
    "data",
    "toolUseResult",
    "compactMetadata",
    "preservedMessages",
    "uuids",
    "info",
    "last_token_usage",
    "input_tokens",
    "num_turns",
    "summary",
    "choices",
    "response",
    "finish_reason",
    "input",
    "tool_use_id",
    "prompt",
    "toolCalls",
    "tokens",
    "$set",
    "$rewindTo",
    "projectHash",
    "functionCall",
    "request",
    "body",
    "contents",
    "candidates",
    "instructions",
    "previous_response_id",
    "error",
    "history",
    "trajectory",
    "observation",
    "traj",
    "mapping",
];
const WORDS: [&str; 35] = [
    "user",
    "assistant",
    "gemini",
    "system",
    "tool",
    "attachment",
    "compact_boundary",
    "tool_use",
    "tool_result",
    "text",
    "thinking",
    "response_item",
    "event_msg",
    "session_meta",
    "compacted",
    "message",
    "function_call",
    "reasoning",
    "user_message",
    "agent_message",
    "thread_rolled_back",
    "token_count",
    "session",
    "toolResult",
    "compaction",
    "a",
    "b",
    "c",
    "{\"x\":1}",
    "",
    "2026-01-02T03:04:05Z",
    "queued_command",
    "image",
    "custom_message",
    "summary",
];

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => prop::sample::select(&WORDS[..]).prop_map(|word| serde_json::Value::from(word).to_string()),
        1 => Just("null".to_owned()),
        1 => Just("true".to_owned()),
        1 => any::<i64>().prop_map(|number| number.to_string()),
        1 => Just("123456789012345678901234567890".to_owned()),
        1 => any::<String>().prop_map(|text| serde_json::Value::from(text).to_string()),
        1 => Just("\"\\ud83d\"".to_owned()),
    ];
    leaf.prop_recursive(4, 40, 8, |inner| {
        let field = (prop::sample::select(&KEYS[..]), inner.clone());
        let object = prop::collection::vec(field, 0..8).prop_map(|fields| {
            let fields: Vec<String> =
                fields.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
            format!("{{{}}}", fields.join(","))
        });
        let array = prop::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(",")));
        prop_oneof![3 => object, 1 => array]
    })
}

/// Generates a conversation in one value, with other content around it.
fn conversation() -> impl Strategy<Value = String> {
    let message = (prop::sample::select(&["user", "assistant", "tool", "nobody"][..]), json())
        .prop_map(|(role, content)| format!("{{\"role\":\"{role}\",\"content\":{content}}}"));
    (prop::collection::vec(message, 1..5), any::<bool>(), json()).prop_map(|(messages, bare, around)| {
        let list = format!("[{}]", messages.join(" , "));
        if bare { list } else { format!("{{\"before\":1,\"messages\":{list},\"after\":{around}}}") }
    })
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let markdown = prop::sample::select(
        &["#### ask", "####", "> out", ">", "reply", "", "  ", "# aider chat started at 2024-08-05 19:33:02"]
            [..],
    );
    prop_oneof![
        8 => json().prop_map(String::into_bytes),
        2 => conversation().prop_map(String::into_bytes),
        1 => (json(), json()).prop_map(|(one, two)| format!("{one}{two}").into_bytes()),
        1 => (json(), 0_usize..40).prop_map(|(text, cut)| text.into_bytes().into_iter().take(cut).collect()),
        1 => prop::collection::vec(any::<u8>(), 0..40).prop_map(|bytes| bytes.into_iter().filter(|b| *b != b'\n').collect()),
        3 => markdown.prop_map(|line| line.as_bytes().to_vec()),
    ]
}

pub(super) fn file() -> impl Strategy<Value = Vec<u8>> {
    let end = prop::sample::select(&["\n", "\r\n", "\n\n", " \n", "\x0c\n"][..]);
    (prop::collection::vec((line(), end), 0..24), any::<bool>(), any::<bool>()).prop_map(
        |(lines, bom, ended)| {
            let mut bytes: Vec<u8> = if bom { b"\xef\xbb\xbf".to_vec() } else { Vec::new() };
            for (line, end) in lines {
                bytes.extend(line);
                bytes.extend(end.as_bytes());
            }
            if !ended {
                while bytes.last().is_some_and(|byte| byte.is_ascii_whitespace()) {
                    bytes.pop();
                }
            }
            bytes
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn any_file_is_covered_by_its_records_in_any_format(bytes in file()) {
        for format in Format::ALL {
            for shape in [FileShape::Lines, FileShape::Document] {
                let mut reader = TranscriptReader::new(format, "x.jsonl");
                let mut records = feed(&mut reader, shape, &bytes);
                records.extend(reader.finish());
                check_spans(&bytes, &records);
                check_order(format, &records);
                for record in &records {
                    if matches!(record.kept, RecordStatus::Bookkeeping | RecordStatus::Broken { .. }) {
                        prop_assert!(record.items.is_empty(), "{record:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn detection_never_fails_badly(bytes in prop_oneof![file(), prop::collection::vec(any::<u8>(), 0..200)], cut in 0_usize..200) {
        for head in [&bytes[..], &bytes[..cut.min(bytes.len())]] {
            if let Ok(format) = detect("x", head) {
                let _known = format.shape(head);
            }
        }
    }

    /// The records of a file's lines do not change when the file grows. Only the records returned at the end of the
    /// file may change: an unfinished aider block, and Codex events before the first item.
    #[test]
    fn a_file_that_grew_says_the_same_of_what_it_had(bytes in file(), at in any::<prop::sample::Index>()) {
        let ends: Vec<usize> = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
        prop_assume!(!ends.is_empty());
        let (before, _) = bytes.split_at(*at.get(&ends));
        for format in Format::ALL {
            let mut reader = TranscriptReader::new(format, "x.jsonl");
            let early = feed(&mut reader, FileShape::Lines, before);
            let at_end = reader.finish();
            let mut reader = TranscriptReader::new(format, "x.jsonl");
            let mut whole = feed(&mut reader, FileShape::Lines, &bytes);
            whole.extend(reader.finish());
            prop_assert_eq!(&whole[..early.len()], &early[..], "{:?}", format);
            if !matches!(format, Format::Aider | Format::Codex) {
                prop_assert_eq!(at_end, []);
            }
        }
    }
}

#[test]
fn a_line_of_ten_megabytes_is_one_record() {
    let text = format!(
        r#"{{"parentUuid":null,"type":"user","uuid":"u","sessionId":"s","message":{{"role":"user","content":"{}"}}}}"#,
        "a b\\n".repeat(2_000_000)
    );
    let records = read_as(Format::ClaudeCode, "s.jsonl", text.as_bytes());
    assert_eq!((records.len(), records[0].len), (1, text.len() as u64));
    assert_eq!(records[0].kept, RecordStatus::Understood);
}
