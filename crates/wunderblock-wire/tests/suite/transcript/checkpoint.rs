//! A reader that was stopped and restored reads the same records as one that was never stopped.

use super::promises;
use proptest::prelude::*;
use proptest::sample::Index;
use std::collections::HashMap;
use wunderblock_wire::transcript::{Checkpoint, Format, TranscriptReader, TranscriptRecord};

/// A line of a file: its offset, its number, and its bytes without the line end.
type Line<'t> = (u64, u64, &'t [u8]);

fn lines(text: &[u8]) -> Vec<Line<'_>> {
    let mut offset = 0;
    let lines = text.split_inclusive(|byte| *byte == b'\n').enumerate().map(|(index, line)| {
        let begin = offset;
        offset += line.len() as u64;
        (begin, index as u64 + 1, line.strip_suffix(b"\n").unwrap_or(line))
    });
    lines.collect()
}

/// Result of reading a file from its beginning.
struct Whole {
    /// Records, grouped by the line that produced them. The last entry has the records that the end of the file
    /// produced.
    records: Vec<Vec<TranscriptRecord>>,
    /// Checkpoint before each line, and after the last line.
    checkpoints: Vec<Option<Checkpoint>>,
}

fn read_whole(format: Format, name: &str, lines: &[Line<'_>]) -> Whole {
    let mut reader = TranscriptReader::new(format, name);
    let mut whole = Whole { records: Vec::new(), checkpoints: vec![reader.checkpoint()] };
    for (offset, number, bytes) in lines {
        assert_eq!(reader.unknown(bytes), [], "nothing is unknown to a reader that began at the beginning");
        whole.records.push(reader.line(*offset, *number, bytes));
        whole.checkpoints.push(reader.checkpoint());
    }
    whole.records.push(reader.finish());
    assert_eq!(reader.checkpoint(), None, "there is nothing to go on with after the end");
    whole
}

/// Stops the reader at the end of every line and continues from that line.
pub(super) fn check_splits(format: Format, name: &str, text: &[u8]) {
    let lines = lines(text);
    let whole = read_whole(format, name, &lines);
    let first = whole.checkpoints.first().cloned().flatten().unwrap();
    assert_eq!((first.resume, first.resume_line), (None, None));
    for (split, checkpoint) in whole.checkpoints.iter().enumerate() {
        // If no checkpoint is possible, an earlier one is used, or the first one if necessary.
        if let Some(checkpoint) = checkpoint {
            check_split(format, name, (&lines, split), &whole, checkpoint);
        }
    }
}

fn check_split(
    format: Format,
    name: &str,
    (lines, split): (&[Line<'_>], usize),
    whole: &Whole,
    checkpoint: &Checkpoint,
) {
    let mut reader = TranscriptReader::restore(format, name, &checkpoint.state).unwrap();
    let go_on = match (checkpoint.resume, checkpoint.resume_line) {
        (Some(offset), Some(line)) => {
            let found = lines.iter().position(|(begin, number, _)| (*begin, *number) == (offset, line));
            found.filter(|found| *found < split).unwrap()
        }
        (None, None) => split,
        _ => panic!("half a place to go on from: {checkpoint:?}"),
    };
    let mut records: Vec<TranscriptRecord> = whole.records[..split].concat();
    assert!(records.iter().all(|record| checkpoint.resume.is_none_or(|resume| record.offset < resume)));
    let ledger: HashMap<Box<str>, Option<Box<str>>> =
        records.iter().filter_map(|record| Some((record.id.clone()?, record.session.clone()))).collect();
    for (index, (offset, number, bytes)) in lines.iter().enumerate().skip(go_on) {
        for id in reader.unknown(bytes) {
            if let Some(session) = ledger.get(&id) {
                reader.remind(&id, session.as_deref());
                assert!(!reader.unknown(bytes).contains(&id), "{id} was told and is still unknown");
            }
        }
        records.extend(reader.line(*offset, *number, bytes));
        if index >= split {
            assert_eq!(reader.checkpoint(), whole.checkpoints[index + 1], "state after line {number}");
        }
    }
    records.extend(reader.finish());
    let expected = whole.records.concat();
    for (record, expected) in records.iter().zip(&expected) {
        assert_eq!(record, expected, "split after line {split} of {format:?}");
    }
    assert_eq!(records.len(), expected.len(), "split after line {split} of {format:?}");
}

/// One step of a generated file: numbers from which its format makes a line.
#[derive(Clone, Debug)]
struct Step {
    kind: usize,
    id: usize,
    parent: Index,
    flags: [bool; 4],
    pick: usize,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let flag = || prop::bool::weighted(0.25);
    let step = (0_usize..64, 0_usize..40, any::<Index>(), [flag(), flag(), flag(), flag()], any::<usize>())
        .prop_map(|(kind, id, parent, flags, pick)| Step { kind, id, parent, flags, pick });
    prop::collection::vec(step, 1..14)
}

fn pick<'w>(words: &[&'w str], at: usize) -> &'w str {
    words[at % words.len()]
}

/// Returns the id of an earlier step's record, an unused id, or sometimes the record's own id.
fn earlier(steps: &[Step], index: usize) -> String {
    let step = &steps[index];
    match index {
        0 => "nobody".to_owned(),
        _ if step.pick.is_multiple_of(11) => "nobody".to_owned(),
        // The parent is mostly the previous record, as in real files.
        _ if !step.pick.is_multiple_of(3) => format!("i{}", steps[index - 1].id),
        _ => format!("i{}", steps[step.parent.index(index + 1)].id),
    }
}

/// Breaks a line in ways that may occur in any format.
fn disturbed(line: String, step: &Step) -> String {
    match step.kind {
        60 => "\0\0\0\0".to_owned(),
        61 => line.chars().take(line.len() / 2).collect(),
        62 => format!("{line} {line}"),
        63 => format!("\n{line}"),
        _ => line,
    }
}

fn file(steps: &[Step], line: impl Fn(&[Step], usize) -> String) -> String {
    let lines = (0..steps.len()).map(|index| disturbed(line(steps, index), &steps[index]) + "\n");
    lines.collect()
}

fn claude_line(steps: &[Step], index: usize) -> String {
    let step = &steps[index];
    let mut fields = vec![format!(r#""uuid":"i{}""#, step.id)];
    let key = pick(&["parentUuid", "parentUuid", "parentUuid", "p\\u0061rentUuid"], step.pick / 5);
    let parent = earlier(steps, index);
    match step.kind % 8 {
        0 => fields.push(r#""parentUuid":null"#.to_owned()),
        1 => {}
        2 => fields.push(format!(r#""parentUuid":null,"logicalParentUuid":"{parent}""#)),
        3 => fields.push(format!(r#""{key}" : "{}""#, parent.replace('i', "\\u0069"))),
        _ => fields.push(format!(r#""{key}":"{parent}""#)),
    }
    if step.flags[0] {
        fields.push(r#""isSidechain":true"#.to_owned());
    }
    if step.flags[1] {
        fields.push(format!(r#""agentId":"{}""#, pick(&["x", "y"], step.pick)));
    }
    if !step.flags[2] {
        let session = pick(&["s", "s", "s", "t"], step.pick / 7);
        fields.push(format!(r#""sessionId":"{session}""#));
    }
    let api = pick(&["m1", "m2"], step.pick / 2);
    let said = |block: &str| {
        format!(
            r#""message":{{"role":"x","id":"{api}","content":[{block}],"usage":{{"input_tokens":{}}}}}"#,
            step.pick % 3
        )
    };
    let (kind, more) = match step.kind / 8 {
        0 | 1 => ("user", r#""message":{"role":"user","content":"hi"}"#.to_owned()),
        2 => ("assistant", said(r#"{"type":"text","text":"yes"}"#)),
        3 => ("assistant", said(r#"{"type":"tool_use","name":"Bash","input":{}}"#)),
        4 => ("user", said(r#"{"type":"tool_result","content":"out"}"#)),
        5 => (
            "system",
            format!(
                r#""subtype":"compact_boundary","compactMetadata":{{"trigger":"auto","preservedSegment":{{"headUuid":"{parent}"}}}}"#
            ),
        ),
        6 if step.flags[3] => {
            ("user", r#""isCompactSummary":true,"message":{"content":"all of it"}"#.to_owned())
        }
        6 => ("progress", r#""data":{"parentUuid":"i1"}"#.to_owned()),
        _ => ("novelty", format!(r#""role":"user","text":"new","id":"i{}""#, step.id)),
    };
    if kind == "novelty" && step.flags[3] {
        fields.remove(0);
    }
    format!(r#"{{"type":"{kind}",{},{more}}}"#, fields.join(","))
}

fn pi_line(steps: &[Step], index: usize) -> String {
    let step = &steps[index];
    if step.kind >= 56 && index < 2 {
        let version = pick(&["", r#","version":1"#, r#","version":3"#], step.pick);
        return format!(r#"{{"type":"session","id":"s"{version},"cwd":"/w"}}"#);
    }
    let mut fields = Vec::new();
    if !step.flags[0] {
        fields.push(format!(r#""id":"i{}""#, step.id));
    }
    let parent = earlier(steps, index);
    match step.kind % 8 {
        0 => fields.push(r#""parentId":null"#.to_owned()),
        1 => {}
        2 => fields.push(r#""parentId":"s""#.to_owned()),
        3 => fields.push(format!(r#""p\u0061rentId":"{parent}""#)),
        _ => fields.push(format!(r#""parentId":"{parent}""#)),
    }
    fields.push(match step.kind / 8 {
        0 | 1 => r#""type":"message","message":{"role":"user","content":"hi"}"#.to_owned(),
        2 => r#""type":"message","message":{"role":"assistant","content":[{"type":"toolCall","name":"ls"}],"usage":{"input":3}}"#.to_owned(),
        3 => r#""type":"message","message":{"role":"toolResult","content":"out"}"#.to_owned(),
        4 => format!(r#""type":"compaction","summary":"all of it","firstKeptEntryId":"{parent}""#),
        5 => r#""type":"model_change""#.to_owned(),
        _ => format!(r#""type":"novelty","role":"user","text":"new","uuid":"i{}""#, step.id),
    });
    format!("{{{}}}", fields.join(","))
}

fn gemini_line(steps: &[Step], index: usize) -> String {
    let step = &steps[index];
    if index == 0 && step.flags[0] {
        return r#"{"sessionId":"s","projectHash":"p","startTime":"2026-01-02T03:04:05Z"}"#.to_owned();
    }
    let earlier = earlier(steps, index);
    let text = pick(&["", "one", "two"], step.pick);
    let result = if step.flags[1] { r#","result":[{"text":"out"}]"# } else { "" };
    match step.kind / 8 {
        0 => format!(r#"{{"$rewindTo":"{earlier}"}}"#),
        1 => format!(
            r#"{{"$set":{{"messages":[{{"id":"n{index}","type":"user","content":"{text}"}},{{"id":"{earlier}","type":"user","content":""}}]}}}}"#
        ),
        2 => r#"{"$set":{"lastUpdated":"2026-01-02T03:04:05Z"}}"#.to_owned(),
        3 | 4 => format!(r#"{{"id":"i{}","type":"user","content":[{{"text":"{text}"}}]}}"#, step.id),
        5 => format!(r#"{{"id":"{earlier}","type":"gemini","content":"{text}","tokens":{{"input":3}}}}"#),
        6 => {
            format!(r#"{{"role":"model","parts":[{{"text":"{text}"}},{{"functionCall":{{"name":"ls"}}}}]}}"#)
        }
        _ => format!(
            r#"{{"id":"i{}","type":"gemini","content":"{text}","toolCalls":[{{"id":"c","name":"ls"{result}}}]}}"#,
            step.id
        ),
    }
}

fn copilot_line(steps: &[Step], index: usize) -> String {
    let step = &steps[index];
    let text = pick(&["", "one", "two"], step.pick);
    let (kind, data) = match step.kind / 6 {
        0 => ("session.start", format!(r#""sessionId":"{text}","selectedModel":"m""#)),
        1 => ("session.snapshot_rewind", format!(r#""upToEventId":"{}""#, earlier(steps, index))),
        2 | 3 => ("user.message", format!(r#""content":"{text}","transformedContent":"now: {text}""#)),
        4 => ("assistant.reasoning", format!(r#""content":"{text}""#)),
        5 | 6 => (
            "assistant.message",
            format!(r#""content":"{text}","reasoningText":"{text}","toolRequests":[{{"name":"ls"}}]"#),
        ),
        7 => ("tool.execution_complete", format!(r#""success":false,"error":{{"message":"{text}"}}"#)),
        8 => ("subagent.started", format!(r#""toolCallId":"{text}""#)),
        9 => ("session.compaction_complete", format!(r#""success":true,"summaryContent":"{text}""#)),
        _ => ("novelty", format!(r#""role":"user","content":"{text}""#)),
    };
    let agent = if step.flags[0] { r#","parentToolCallId":"one""# } else { "" };
    format!(r#"{{"type":"{kind}","data":{{{data}{agent}}},"id":"i{}","parentId":null}}"#, step.id)
}

fn codex_line(steps: &[Step], index: usize) -> String {
    let step = &steps[index];
    let text = pick(&["one", "two"], step.pick);
    let (kind, payload) = match step.kind / 4 {
        0 => ("session_meta", format!(r#"{{"id":"{text}","base_instructions":{{"text":"be {text}"}}}}"#)),
        1 => ("turn_context", format!(r#"{{"model":"{text}"}}"#)),
        2 | 3 => ("event_msg", format!(r#"{{"type":"user_message","message":"{text}"}}"#)),
        4 | 5 => ("event_msg", format!(r#"{{"type":"agent_message","message":"{text}"}}"#)),
        6 => ("event_msg", format!(r#"{{"type":"thread_rolled_back","num_turns":{}}}"#, step.pick % 3)),
        7 => (
            "event_msg",
            format!(
                r#"{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{}}},"last_token_usage":{{"input_tokens":5}}}}}}"#,
                step.pick % 2
            ),
        ),
        8 => ("compacted", format!(r#"{{"message":"{text}"}}"#)),
        9 | 10 => (
            "response_item",
            format!(
                r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#
            ),
        ),
        11 => ("response_item", r#"{"type":"tool_call","name":"shell"}"#.to_owned()),
        12 => ("response_item", r#"{"type":"tool_result","output":"out"}"#.to_owned()),
        13 => ("novelty", r#"{"role":"user","text":"new"}"#.to_owned()),
        _ => ("event_msg", r#"{"type":"task_complete"}"#.to_owned()),
    };
    // A flag of the first step turns all items into events, because a file with events alone is read differently.
    let kind = if steps[0].flags[0] && kind == "response_item" { "event_msg" } else { kind };
    format!(r#"{{"timestamp":"2026-01-02T03:04:05Z","type":"{kind}","payload":{payload}}}"#)
}

fn chat_line(steps: &[Step], index: usize) -> String {
    let step = &steps[index];
    let role = pick(&["user", "assistant", "tool", "function", "nobody"], step.pick);
    let call = r#","tool_calls":[{"function":{"name":"ls","arguments":"{}"}}]"#;
    let calls = if role == "assistant" { call } else { "" };
    let message = format!(r#"{{"role":"{role}","content":"word {}"{calls}}}"#, step.id);
    match step.kind / 8 {
        0 => format!("[{message},{message}]"),
        1 => format!(r#"{{"messages":[{message}],"more":1}}"#),
        _ => message,
    }
}

fn aider_line(steps: &[Step], index: usize) -> String {
    let step = &steps[index];
    let lines = [
        "#### ask",
        "#### more",
        "####",
        "> out",
        ">",
        "reply",
        "",
        "  ",
        "# aider chat started at 2024-08-05 19:33:02",
    ];
    pick(&lines, step.pick).to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn sessions_of_claude_code_go_on_where_they_stopped(steps in steps(), agent in any::<bool>()) {
        let name = if agent { "agent-x.jsonl" } else { "s.jsonl" };
        check_splits(Format::ClaudeCode, name, file(&steps, claude_line).as_bytes());
    }

    #[test]
    fn sessions_of_pi_go_on_where_they_stopped(steps in steps()) {
        check_splits(Format::Pi, "s.jsonl", file(&steps, pi_line).as_bytes());
    }

    #[test]
    fn sessions_of_gemini_cli_go_on_where_they_stopped(steps in steps()) {
        check_splits(Format::GeminiCli, "s.jsonl", file(&steps, gemini_line).as_bytes());
    }

    #[test]
    fn sessions_of_copilot_go_on_where_they_stopped(steps in steps()) {
        check_splits(Format::Copilot, "events.jsonl", file(&steps, copilot_line).as_bytes());
    }

    #[test]
    fn rollouts_go_on_where_they_stopped(steps in steps()) {
        check_splits(Format::Codex, "s.jsonl", file(&steps, codex_line).as_bytes());
    }

    #[test]
    fn chats_and_unknown_lines_go_on_where_they_stopped(steps in steps()) {
        for format in [Format::OpenaiChat, Format::JsonLines, Format::JsonDocument] {
            check_splits(format, "s.jsonl", file(&steps, chat_line).as_bytes());
        }
    }

    #[test]
    fn histories_of_aider_go_on_where_they_stopped(steps in steps()) {
        check_splits(Format::Aider, "s.md", file(&steps, aider_line).as_bytes());
    }

    #[test]
    fn a_damaged_state_is_refused(steps in steps(), at in any::<Index>(), to in any::<u8>()) {
        for format in Format::ALL {
            let mut reader = TranscriptReader::new(format, "s.jsonl");
            let text = file(&steps, claude_line);
            for (offset, number, bytes) in lines(text.as_bytes()) {
                reader.line(offset, number, bytes);
            }
            let Some(Checkpoint { mut state, .. }) = reader.checkpoint() else { continue };
            let at = at.index(state.len());
            prop_assert!(TranscriptReader::restore(format, "s.jsonl", &state[..at]).is_none(), "cut at {at}");
            let same = state[at] == to;
            state[at] = to;
            prop_assert_eq!(TranscriptReader::restore(format, "s.jsonl", &state).is_some(), same, "byte {}", at);
        }
    }

    #[test]
    fn arbitrary_bytes_are_rejected_as_a_state(bytes in prop_oneof![prop::collection::vec(any::<u8>(), 0..200), promises::file()]) {
        for format in Format::ALL {
            prop_assert!(TranscriptReader::restore(format, "s.jsonl", &bytes).is_none());
            let mut reader = TranscriptReader::restore(format, "s.jsonl", &TranscriptReader::new(format, "s.jsonl").checkpoint().unwrap().state).unwrap();
            let _ids = reader.unknown(&bytes);
            reader.remind(&String::from_utf8_lossy(&bytes), Some("nobody"));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn any_file_goes_on_where_it_stopped_in_any_format(bytes in promises::file()) {
        for format in Format::ALL {
            check_splits(format, "s.jsonl", &bytes);
        }
    }
}

#[test]
fn a_state_serves_its_format_and_its_file_only() {
    let state = |format, name| TranscriptReader::new(format, name).checkpoint().unwrap().state;
    for format in Format::ALL {
        for other in Format::ALL {
            let restored = TranscriptReader::restore(other, "s.jsonl", &state(format, "s.jsonl"));
            assert_eq!(restored.map(|reader| reader.format()), (format == other).then_some(format));
        }
    }
    let side = state(Format::ClaudeCode, "agent-x.jsonl");
    assert!(TranscriptReader::restore(Format::ClaudeCode, "agent-x.jsonl", &side).is_some());
    assert!(TranscriptReader::restore(Format::ClaudeCode, "renamed.jsonl", &side).is_none());
    let later = String::from_utf8(side).unwrap().replace("\"version\":1", "\"version\":2");
    assert!(TranscriptReader::restore(Format::ClaudeCode, "agent-x.jsonl", later.as_bytes()).is_none());
}

#[test]
fn what_a_line_refers_to_is_asked_for_once_and_by_the_reader_that_went_on_only() {
    let line = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"user","uuid":"{id}","sessionId":"s","parentUuid":"{parent}","message":{{"content":"x"}}}}"#
        )
    };
    let mut reader = TranscriptReader::new(Format::ClaudeCode, "s.jsonl");
    assert_eq!(reader.unknown(line("b", "a").as_bytes()), []);
    reader.line(0, 1, line("b", "a").as_bytes());
    let mut reader =
        TranscriptReader::restore(Format::ClaudeCode, "s.jsonl", &reader.checkpoint().unwrap().state)
            .unwrap();
    let next = line("c", "b");
    assert_eq!(reader.unknown(next.as_bytes()), ["b".into()]);
    reader.remind("b", None);
    assert_eq!(reader.unknown(next.as_bytes()), []);
    reader.line(200, 2, next.as_bytes());
    assert_eq!(reader.unknown(line("d", "c").as_bytes()), []);
    // A field of a nested object is not a reference. A key may be written with escapes.
    let inside = r#"{"type":"user","uuid":"e","parentUuid":"c","toolUseResult":{"parentUuid":"zz"}}"#;
    assert_eq!(reader.unknown(inside.as_bytes()), []);
    let escaped = r#"{"type":"user","uuid":"e","parent\u0055uid":"z\u007a"}"#;
    assert_eq!(reader.unknown(escaped.as_bytes()), ["zz".into()]);
    assert_eq!(reader.unknown(b"{\"parentUuid\":\"zz"), []);
    // An id that ends with a backslash is not the beginning of an id with an escaped quotation mark.
    reader.line(400, 3, line("f\\\\", "c").as_bytes());
    assert_eq!(reader.unknown(line("g", "f\\\\").as_bytes()), []);
    assert_eq!(reader.unknown(line("g", "f\\\"x").as_bytes()), ["f\"x".into()]);
}

#[test]
fn a_reader_of_codex_that_holds_records_back_gives_no_checkpoint() {
    let event = br#"{"type":"event_msg","payload":{"type":"user_message","message":"hi"}}"#;
    let item = br#"{"type":"response_item","payload":{"type":"message","role":"user","content":"hi"}}"#;
    let mut reader = TranscriptReader::new(Format::Codex, "s.jsonl");
    assert!(reader.checkpoint().is_some());
    assert_eq!(reader.line(0, 1, event), []);
    assert_eq!(reader.checkpoint(), None);
    assert_eq!(reader.line(100, 2, item).len(), 2);
    assert!(reader.checkpoint().is_some());
}

#[test]
fn a_history_goes_on_at_its_open_block() {
    let mut reader = TranscriptReader::new(Format::Aider, "s.md");
    let text = b"# aider chat started at 2024-08-05 19:33:02\n#### ask\n> out\n> more\n";
    for (offset, number, bytes) in lines(text) {
        reader.line(offset, number, bytes);
    }
    let checkpoint = reader.checkpoint().unwrap();
    assert_eq!((checkpoint.resume, checkpoint.resume_line), (Some(53), Some(3)));
    assert_eq!(reader.finish()[0].offset, 53);
}

#[test]
fn a_state_is_small_however_long_the_file_and_refused_where_it_would_not_be() {
    let mut reader = TranscriptReader::new(Format::ClaudeCode, "s.jsonl");
    let said = |id: u64, kind: &str, parent: &str| {
        format!(
            r#"{{"type":"{kind}","uuid":"i{id}","sessionId":"s","parentUuid":"i{parent}","message":{{"id":"m{parent}","content":"{}"}}}}"#,
            "word ".repeat(20)
        )
    };
    for id in 0..20_000_u64 {
        let kind = if id % 4 == 0 { "user" } else { "assistant" };
        reader.line(id * 300, id + 1, said(id, kind, &id.saturating_sub(1).to_string()).as_bytes());
    }
    assert!(reader.checkpoint().unwrap().state.len() < 1024);
    // This reply has too many records for a checkpoint: storing them costs more than reading them again.
    for id in 0..60_000_u64 {
        reader.line(id * 300, id + 1, said(id + 1_000_000, "assistant", "1").as_bytes());
    }
    assert_eq!(reader.checkpoint(), None);
}
