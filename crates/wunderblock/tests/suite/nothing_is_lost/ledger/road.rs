//! Complete imports: every format, files that grow and change, and malformed files.

use crate::scene::*;
use futures_executor::block_on;
use std::path::Path;
use wunderblock::{Engine, Error, GrepOptions, Imported, Session, Slice};
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::message::Dialect;
use wunderblock_core::units::Seq;
use wunderblock_testkit::generate::claude_code_lines;
use wunderblock_wire::transcript::Format;

/// Returns a Claude Code record with a type, an id, a parent and further fields.
fn claude(kind: &str, id: &str, parent: Option<&str>, fields: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"sessionId":"claude-1","type":"{kind}","uuid":"{id}","timestamp":"2026-03-04T05:06:07.000Z",{fields}}}"#
    ) + "\n"
}

fn user(id: &str, parent: Option<&str>, text: &str) -> String {
    claude("user", id, parent, &format!(r#""message":{{"role":"user","content":"{text}"}}"#))
}

fn reply(id: &str, parent: &str, (api, blocks): (&str, &str)) -> String {
    let usage = r#"{"input_tokens":3,"output_tokens":9}"#;
    let message = format!(
        r#"{{"id":"{api}","model":"claude-sonnet-4-5","role":"assistant","content":[{blocks}],"usage":{usage}}}"#
    );
    claude("assistant", id, Some(parent), &format!(r#""message":{message}"#))
}

fn words(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}"}}"#)
}

fn tool(id: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":"ls {id}"}}}}"#)
}

fn answer(id: &str, parent: &str, (call, text): (&str, &str)) -> String {
    let block = format!(r#"{{"type":"tool_result","tool_use_id":"{call}","content":"{text}"}}"#);
    claude("user", id, Some(parent), &format!(r#""message":{{"role":"user","content":[{block}]}}"#))
}

/// Checks what is true after every import: the file can be returned byte for byte, importing it again changes
/// nothing, `doctor` finds no problem, and every session builds a valid request.
fn holds(engine: &Engine, path: &Path, imported: &Imported) {
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(imported.bytes, bytes.len() as u64);
    for id in &imported.sessions {
        let session = engine.session_by_id(id.clone());
        assert!(original(&session) == bytes, "{id}: the original differs");
        let before = exported(&session);
        for dialect in crate::scene::DIALECTS {
            let options = wunderblock::ContextOptions { dialect: Some(dialect), ..window(32_000) };
            block_on(session.explain(&options)).unwrap_or_else(|error| panic!("{id}: {error}"));
        }
        assert_eq!(exported(&session), before, "explaining records nothing");
    }
    let before: Vec<String> = all(engine).iter().map(exported).collect();
    let again = import(engine, path);
    assert!(again.unchanged && again.appended == 0, "{again:?}");
    assert_eq!(all(engine).iter().map(exported).collect::<Vec<_>>(), before);
    catch_up(engine);
    assert_eq!(problems(engine), [""; 0]);
}

fn all(engine: &Engine) -> Vec<Session> {
    let streams = block_on(engine.streams("", 1_000)).unwrap();
    streams.into_iter().map(|info| engine.session_by_id(info.id)).collect()
}

fn sessions(imported: &Imported) -> Vec<&str> {
    imported.sessions.iter().map(|id| id.as_str()).collect()
}

/// Returns a session with a reply that spans several records, parallel calls, rewinds and a new beginning.
pub(crate) fn rewound() -> String {
    [
        user("u1", None, "one"),
        reply("a1", "u1", ("m1", r#"{"type":"thinking","thinking":"hm","signature":"sig"}"#)),
        reply("a2", "a1", ("m1", &words("first"))),
        reply("a3", "a2", ("m1", &tool("c1"))),
        reply("a4", "a3", ("m1", &tool("c2"))),
        answer("r1", "a3", ("c1", "out 1")),
        answer("r2", "a4", ("c2", "out 2")),
        reply("a5", "r2", ("m2", &words("done"))),
        user("u2", Some("a5"), "two"),
        reply("a6", "u2", ("m3", &words("second"))),
        user("u3", Some("a5"), "two again"),
        reply("a7", "u3", ("m4", &words("another"))),
        user("u4", Some("a6"), "three, on the first branch"),
        user("u5", None, "one again"),
    ]
    .concat()
}

#[test]
fn a_claude_code_session_with_rewinds_is_a_family_of_branches() {
    let home = Home::new();
    let engine = home.engine();
    let path = home.file("session.jsonl", rewound());
    let imported = import(&engine, &path);
    assert_eq!(imported.format, Format::ClaudeCode);
    assert_eq!(sessions(&imported), ["claude-1~3"]);
    assert_eq!((imported.broken, imported.opaque_bytes, imported.records), (0, 0, 14));
    let shared = [
        "user: one",
        "assistant: (hm)",
        "assistant: first",
        "assistant: Bash#c1",
        "assistant: Bash#c2",
        "tool: #c1 = out 1",
        "tool: #c2 = out 2",
        "assistant: done",
    ];
    let with = |more: &[&'static str]| [&shared[..], more].concat();
    assert_eq!(
        transcript(&session(&engine, "claude-1~1")),
        with(&["user: two", "assistant: second", "user: three, on the first branch"])
    );
    assert_eq!(transcript(&session(&engine, "claude-1~2")), with(&["user: two again", "assistant: another"]));
    assert_eq!(transcript(&session(&engine, "claude-1~3")), ["user: one again"]);
    assert_eq!(session(&engine, "claude-1").id().as_str(), "claude-1~3", "a file's id is its newest branch");
    assert_eq!(session(&engine, "claud").id().as_str(), "claude-1~3", "a beginning of it, too");
    let usages = events(&session(&engine, "claude-1~1"));
    let usages = usages.iter().filter(|event| matches!(event.fact, Some(Fact::UsageMeasured(_)))).count();
    assert_eq!(usages, 3, "usage counts once a reply");
    holds(&engine, &path, &imported);
    let request = built(&session(&engine, "claude-1~1"), &window(32_000));
    let decoded = wunderblock_wire::decode(Dialect::Anthropic, &request.draft.body).unwrap();
    let roles: Vec<_> = decoded.messages.iter().map(|message| format!("{:?}", message.role)).collect();
    assert_eq!(roles, ["User", "Assistant", "Tool", "Assistant", "User", "Assistant", "User"]);
}

#[test]
fn sub_agents_and_compactions_of_claude_code() {
    let home = Home::new();
    let engine = home.engine();
    let side = |id: &str, parent: &str| {
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":true,"sessionId":"claude-1","agentId":"7","type":"user","uuid":"{id}","message":{{"role":"user","content":"{id}"}}}}"#
        ) + "\n"
    };
    let boundary = r#""subtype":"compact_boundary","logicalParentUuid":"a1","compactMetadata":{"trigger":"auto","preTokens":77}"#;
    let summary = r#""isCompactSummary":true,"isVisibleInTranscriptOnly":true,"message":{"role":"user","content":"so far"}"#;
    let text = [
        user("u1", None, "one"),
        side("x1", "null"),
        side("x2", "\"x1\""),
        reply("a1", "u1", ("m1", &words("first"))),
        claude("system", "b1", None, boundary),
        claude("user", "s1", Some("b1"), summary),
        user("u2", Some("s1"), "two"),
    ]
    .concat();
    let path = home.file("session.jsonl", &text);
    let imported = import(&engine, &path);
    assert_eq!(imported.sessions.len(), 2);
    assert_eq!(imported.sessions[0].as_str(), "claude-1");
    let side = engine.session_by_id(imported.sessions[1].clone());
    assert_eq!(transcript(&side), ["user: x1", "user: x2"]);
    let parent = block_on(side.info()).unwrap().parent;
    assert_eq!(parent.map(|id| id.to_string()).as_deref(), Some("claude-1"));
    let main = session(&engine, "claude-1");
    assert_eq!(transcript(&main), ["user: one", "assistant: first", "user: two"]);
    let node = events(&main).into_iter().find_map(|event| match event.fact {
        Some(Fact::SessionCompacted(made)) => Some(made),
        _ => None,
    });
    let node = node.unwrap();
    assert_eq!((node.lane, node.summary.as_ref().and_then(|it| it.inline())), (None, Some("so far")));
    assert_eq!(node.trigger.as_deref(), Some("auto"));
    let covered = &events(&main)[node.from_seq.0 as usize - 1..node.to_seq.0 as usize];
    assert!(covered.iter().all(|event| event.seq <= Seq(4)) && covered.len() >= 3);
    let request = built(&main, &window(32_000));
    assert!(String::from_utf8(request.draft.body).unwrap().contains("first"), "its boundary is not our view");
    holds(&engine, &path, &imported);
}

#[test]
fn codex_rolls_back() {
    let home = Home::new();
    let engine = home.engine();
    let line = |kind: &str, payload: &str| {
        format!("{{\"timestamp\":\"2026-01-02T03:04:05Z\",\"type\":\"{kind}\",\"payload\":{payload}}}\n")
    };
    let said = |role: &str, text: &str| {
        let kind = if role == "user" { "input_text" } else { "output_text" };
        line(
            "response_item",
            &format!(
                r#"{{"type":"message","role":"{role}","content":[{{"type":"{kind}","text":"{text}"}}]}}"#
            ),
        )
    };
    let text = [
        line("session_meta", r#"{"id":"codex-1","cwd":"/w"}"#),
        said("user", "one"),
        line("event_msg", r#"{"type":"user_message","message":"one"}"#),
        line("turn_context", r#"{"model":"gpt-5"}"#),
        line(
            "response_item",
            r#"{"type":"function_call","name":"shell","arguments":"{\"cmd\":[\"ls\"]}","call_id":"k1"}"#,
        ),
        line("response_item", r#"{"type":"function_call_output","call_id":"k1","output":"a file"}"#),
        said("assistant", "first"),
        said("user", "two"),
        said("assistant", "second"),
        line("event_msg", r#"{"type":"thread_rolled_back","num_turns":1}"#),
        said("user", "two, otherwise"),
        said("assistant", "better"),
    ]
    .concat();
    let path = home.file("rollout-1.jsonl", &text);
    let imported = import(&engine, &path);
    assert_eq!(sessions(&imported), ["codex-1~2"]);
    let shared = ["user: one", "assistant: shell#k1", "tool: #k1 = a file", "assistant: first"];
    assert_eq!(
        transcript(&session(&engine, "codex-1")),
        [&shared[..], &["user: two, otherwise", "assistant: better"]].concat()
    );
    assert_eq!(
        transcript(&session(&engine, "codex-1~1")),
        [&shared[..], &["user: two", "assistant: second"]].concat()
    );
    holds(&engine, &path, &imported);
    let request = built(&session(&engine, "codex-1"), &window(16_000));
    assert_eq!((request.draft.model.as_str(), request.draft.dialect), ("gpt-5", Dialect::OpenaiChat));
}

#[test]
fn a_compaction_that_kept_all_messages_replaces_only_the_opening() {
    let home = Home::new();
    let engine = home.engine();
    let text = [
        r#"{"type":"session","version":3,"id":"pi-1","cwd":"/w"}"#,
        r#"{"type":"model_change","id":"0","parentId":null,"provider":"p","modelId":"m"}"#,
        r#"{"type":"message","id":"1","parentId":"0","message":{"role":"user","content":"go"}}"#,
        r#"{"type":"compaction","id":"2","parentId":"1","summary":"nothing yet","firstKeptEntryId":"0","tokensBefore":9}"#,
        r#"{"type":"message","id":"3","parentId":"2","message":{"role":"user","content":"on"}}"#,
    ]
    .join("\n");
    let path = home.file("pi.jsonl", text);
    let imported = import(&engine, &path);
    let session = session(&engine, "pi-1");
    assert_eq!(transcript(&session), ["user: go", "user: on"]);
    let ranges: Vec<_> = events(&session)
        .into_iter()
        .filter_map(|event| match event.fact {
            Some(Fact::SessionCompacted(made)) => Some((made.from_seq, made.to_seq)),
            _ => None,
        })
        .collect();
    assert_eq!(ranges, [(Seq(1), Seq(1))]);
    holds(&engine, &path, &imported);
}

#[test]
fn a_session_of_gemini_cli_is_the_same_read_line_by_line_or_at_once() {
    let lines = [
        r#"{"sessionId":"gemini-1","projectHash":"p","startTime":"2026-01-02T03:04:05Z"}"#,
        r#"{"id":"1","type":"user","content":[{"text":"list"}]}"#,
        r#"{"$set":{"lastUpdated":"2026-01-02T03:04:06Z"}}"#,
        r#"{"id":"2","type":"gemini","content":"sure","model":"m"}"#,
        r#"{"id":"2","type":"gemini","content":"sure","model":"m","tokens":{"input":9,"output":1}}"#,
        r#"{"id":"2","type":"gemini","content":"sure","toolCalls":[{"id":"k","name":"ls","args":{}}]}"#,
        r#"{"id":"2","type":"gemini","content":"sure","toolCalls":[{"id":"k","name":"ls","args":{},"result":"x"}]}"#,
        r#"{"id":"3","type":"user","content":"more"}"#,
        r#"{"id":"4","type":"gemini","content":"no"}"#,
        r#"{"$rewindTo":"3"}"#,
        r#"{"id":"5","type":"user","content":"this"}"#,
        r#"{"$set":{"messages":[{"id":"s","type":"user","content":"so far"},{"id":"5","type":"user","content":"this"}]}}"#,
        r#"{"id":"6","type":"gemini","content":"yes"}"#,
    ];
    let shared = ["user: list", "assistant: sure", "assistant: ls#k", "tool: #k = x"];
    let (first, second) = (["user: more", "assistant: no"], ["user: this", "assistant: yes"]);
    let mut told = Vec::new();
    for at_once in [true, false] {
        let home = Home::new();
        let engine = home.engine();
        let path = home.path("session-1.jsonl");
        let from = if at_once { lines.len() } else { 1 };
        for len in from..=lines.len() {
            let text: String = lines[..len].iter().map(|line| format!("{line}\n")).collect();
            let imported = import(&engine, &home.file("session-1.jsonl", text));
            assert_eq!(imported.format, Format::GeminiCli);
            if at_once {
                holds(&engine, &path, &imported);
            }
        }
        assert_eq!(transcript(&session(&engine, "gemini-1~1")), [&shared[..], &first[..]].concat());
        assert_eq!(transcript(&session(&engine, "gemini-1~2")), [&shared[..], &second[..]].concat());
        let facts = events(&session(&engine, "gemini-1~2")).into_iter().map(|event| (event.seq, event.fact));
        told.push(facts.collect::<Vec<_>>());
    }
    assert_eq!(told[0], told[1]);
}

#[test]
fn pi_chats_aider_and_unknown_lines() {
    let pi = [
        r#"{"type":"session","version":3,"id":"pi-1","cwd":"/w"}"#,
        r#"{"type":"message","id":"2","parentId":"pi-1","message":{"role":"user","content":"go"}}"#,
        r#"{"type":"message","id":"3","parentId":"2","message":{"role":"assistant","content":[{"type":"toolCall","id":"k","name":"ls","arguments":{}}]}}"#,
        r#"{"type":"message","id":"4","parentId":"3","message":{"role":"toolResult","toolCallId":"k","content":"a"}}"#,
        r#"{"type":"message","id":"5","parentId":"2","message":{"role":"user","content":"no, this"}}"#,
    ]
    .join("\n");
    let chat = r#"[{"role":"system","content":"rules"},{"role":"user","content":"a"},
        {"role":"assistant","content":null,"tool_calls":[{"id":"k1","type":"function","function":{"name":"f","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"k1","content":"one"},{"role":"assistant","content":"b"}]"#;
    let aider = "# aider chat started at 2024-08-05 19:33:02\n\n#### add a test\n\nSure.\n\n#### thanks\n\nWelcome.\n";
    let unknown =
        "{\"speaker\":\"human\",\"text\":\"a\"}\n{\"speaker\":\"bot\",\"text\":\"b\"}\n{\"beat\":7}\n";
    let table: [(&str, &str, Format, &[&str]); 4] = [
        ("pi.jsonl", &pi, Format::Pi, &["user: go", "user: no, this"]),
        (
            "chat.json",
            chat,
            Format::OpenaiChat,
            &["system: rules", "user: a", "assistant: f#k1", "tool: #k1 = one", "assistant: b"],
        ),
        (
            ".aider.chat.history.md",
            aider,
            Format::Aider,
            &["user: add a test", "assistant: Sure.", "user: thanks", "assistant: Welcome."],
        ),
        ("log.jsonl", unknown, Format::JsonLines, &["user: a", "assistant: b", "~user: ?{\"beat\":7}"]),
    ];
    for (name, text, format, expected) in table {
        let home = Home::new();
        let engine = home.engine();
        let path = home.file(name, text);
        let imported = import(&engine, &path);
        assert_eq!(imported.format, format, "{name}");
        assert_eq!(transcript(&engine.session_by_id(imported.sessions[0].clone())), expected, "{name}");
        holds(&engine, &path, &imported);
    }
}

#[test]
fn several_files_with_the_same_names_inside_stay_apart() {
    let home = Home::new();
    let engine = home.engine();
    let path = home.file("a.jsonl", user("u1", None, "one"));
    let first = import(&engine, &path);
    // Another conversation under the same id.
    let copy = home.file("b.jsonl", user("u2", None, "two"));
    let second = import(&engine, &copy);
    assert_ne!(first.sessions, second.sessions);
    let error = block_on(engine.find_session("claude-1@")).map(|found| found.id().clone());
    assert_eq!(error.unwrap(), second.sessions[0]);
    assert_eq!(session(&engine, "claude-1").id(), &first.sessions[0]);
    for (path, imported) in [(&path, &first), (&copy, &second)] {
        holds(&engine, path, imported);
    }
    // Two chats without any ids.
    for name in ["one/chat.json", "two/chat.json"] {
        let chat = format!(r#"{{"messages":[{{"role":"user","content":"{name}"}}]}}"#);
        std::fs::create_dir_all(home.path(name).parent().unwrap()).unwrap();
        let path = home.file(name, chat);
        holds(&engine, &path, &import(&engine, &path));
    }
    assert_eq!(all(&engine).len(), 4);
}

#[test]
fn a_file_that_grows_adds_what_is_new() {
    let home = Home::new();
    let engine = home.engine();
    let lines: Vec<String> = claude_code_lines(400, 5).map(|line| line + "\n").collect();
    let mut total = 0;
    for end in [3, 4, 50, 51, 52, lines.len()] {
        let path = home.file("grows.jsonl", lines[..end].concat());
        let imported = import(&engine, &path);
        assert_eq!(imported.duplicates, 0, "what was there before is not read again");
        total += imported.appended;
        holds(&engine, &path, &imported);
    }
    let fresh = Home::new();
    let other = fresh.engine();
    let path = fresh.file("grows.jsonl", lines.concat());
    let at_once = import(&other, &path);
    assert_eq!(transcript(&all(&engine)[0]), transcript(&all(&other)[0]));
    assert_eq!(at_once.appended, total);
}

#[test]
fn a_line_that_is_still_being_written_waits() {
    let home = Home::new();
    let engine = home.engine();
    let (first, second) = (user("u1", None, "one"), reply("a1", "u1", ("m1", &words("first, in full"))));
    for cut in [1, 40, second.len() / 2, second.len() - 2] {
        let path = home.file("live.jsonl", format!("{first}{}", &second[..cut]));
        let imported = import(&engine, &path);
        assert_eq!(imported.broken, 0);
        assert_eq!(imported.warnings.len(), 1, "{:?}", imported.warnings);
        assert!(
            imported.warnings[0].contains(":2: the file ends within a record"),
            "{:?}",
            imported.warnings
        );
        assert_eq!(transcript(&session(&engine, "claude-1")), ["user: one"], "{cut}");
        holds(&engine, &path, &imported);
    }
    // A complete record is read, whether or not its line has ended.
    for text in [second.trim_end(), &second] {
        let path = home.file("live.jsonl", format!("{first}{text}"));
        let imported = import(&engine, &path);
        assert_eq!(imported.warnings, [""; 0]);
        assert_eq!(transcript(&session(&engine, "claude-1")), ["user: one", "assistant: first, in full"]);
        holds(&engine, &path, &imported);
    }
}

#[test]
fn a_file_that_was_rewritten_is_another_revision() {
    let home = Home::new();
    let engine = home.engine();
    let versions = [
        [user("u1", None, "one"), reply("a1", "u1", ("m1", &words("first"))), user("u2", Some("a1"), "two")]
            .concat(),
        // The file begins differently, so the records after its beginning move.
        [user("u0", None, "zero"), user("u1", Some("u0"), "one"), reply("a1", "u1", ("m1", &words("first")))]
            .concat(),
        // The same id occurs with different words, and then with different words again.
        [user("u1", None, "another one"), user("u2", Some("u1"), "two")].concat(),
        [user("u1", None, "a third one"), user("u2", Some("u1"), "two")].concat(),
        // A rewind where the earlier versions had none, and then a rewind at another place.
        [user("u1", None, "one"), user("u2", Some("u1"), "two"), user("u3", Some("u1"), "three")].concat(),
        [
            user("u1", None, "one"),
            user("u2", Some("u1"), "two"),
            user("u3", Some("u2"), "three"),
            user("u4", Some("u2"), "four"),
        ]
        .concat(),
        String::from(
            "{\"sessionId\":\"claude-1\",\"type\":\"summary\",\"summary\":\"short\",\"leafUuid\":\"x\"}\n",
        ),
        user("u1", None, "one"),
    ];
    for (number, text) in versions.iter().enumerate() {
        let path = home.file("rewritten.jsonl", text);
        let imported = import(&engine, &path);
        assert!(!imported.unchanged, "{number}");
        if let Some(id) = imported.sessions.first() {
            assert_eq!(original(&engine.session_by_id(id.clone())), text.as_bytes(), "{number}");
        }
        catch_up(&engine);
        assert_eq!(problems(&engine), [""; 0], "{number}");
    }
    let said: String = all(&engine).iter().flat_map(transcript).collect();
    for words in ["zero", "another one", "a third one", "first", "three", "four"] {
        assert!(said.contains(words), "{words} is still there");
    }
    // Importing each version again, in any order, adds nothing.
    let before: Vec<_> = all(&engine).iter().map(exported).collect();
    for text in versions.iter().rev() {
        let imported = import(&engine, &home.file("rewritten.jsonl", text));
        assert_eq!(imported.appended, 0, "{imported:?}");
    }
    assert_eq!(all(&engine).iter().map(exported).collect::<Vec<_>>(), before);
}

#[test]
fn records_nobody_can_read_are_kept_and_told() {
    let home = Home::new();
    let engine = home.engine();
    let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    let text = [
        user("u1", None, "one"),
        "{\"parentUuid\": this is no JSON\n".to_owned(),
        "\n".to_owned(),
        format!("{{\"type\":\"new-kind\",\"uuid\":\"n\",\"parentUuid\":\"u1\",\"sessionId\":\"claude-1\",\"nested\":{deep}}}\n"),
        reply("a1", "u1", ("m1", r#"{"type":"tool_use","id":"c","name":"f","input":{"n":9007199254740993,"x":1e400,"y":-0.0}}"#)),
        answer("r1", "a1", ("c", "late")),
    ]
    .concat()
    .replace("late", "a\\u0000b \\u001b[31m red \\ud800 end");
    let path = home.file("bad.jsonl", text);
    let imported = import(&engine, &path);
    assert_eq!(imported.broken, 2);
    assert_eq!(imported.warnings.len(), 2, "{:?}", imported.warnings);
    assert!(imported.warnings[0].contains("bad.jsonl:2: kept as it is"), "{:?}", imported.warnings);
    assert!(imported.warnings[1].contains("bad.jsonl:4: kept as it is"), "{:?}", imported.warnings);
    holds(&engine, &path, &imported);
    let session = session(&engine, "claude-1");
    assert!(exported(&session).contains(r#"{\"n\":9007199254740993,\"x\":1e400,\"y\":-0.0}"#));
    let body = String::from_utf8(built(&session, &window(32_000)).draft.body).unwrap();
    assert!(body.contains("9007199254740993") && body.contains("1e400") && !body.contains("no JSON"));
    let mut found = Vec::new();
    let mut look = |one: wunderblock::Match| {
        found.push((one.seq, one.text));
        std::ops::ControlFlow::Continue(())
    };
    block_on(engine.recall().grep("this is no JSON", &GrepOptions::default(), &mut look)).unwrap();
    assert_eq!(found.len(), 1, "what cannot be read can be found");
}

#[test]
fn calls_results_and_clocks_in_any_order() {
    let home = Home::new();
    let engine = home.engine();
    let later = |line: String, time: &str| line.replace("2026-03-04T05:06:07.000Z", time);
    let text = [
        user("u1", None, "one"),
        answer("r0", "u1", ("c1", "before its call")),
        reply("a1", "r0", ("m1", &format!("{},{}", tool("c1"), tool("c2")))),
        answer("r9", "a1", ("nobody", "without a call")),
        answer("r2", "r9", ("c2", "in time")),
        answer("r3", "r2", ("c2", "once more")),
        later(reply("a2", "r3", ("m2", &tool("c3"))), "2020-01-01T00:00:00.000Z"),
        later(user("u2", Some("a2"), "two"), "not a time"),
        user("u2", Some("u2"), "the same id, other words"),
    ]
    .concat();
    let path = home.file("odd.jsonl", text);
    let imported = import(&engine, &path);
    assert!(imported.warnings.iter().any(|it| it.contains("both are kept")), "{:?}", imported.warnings);
    holds(&engine, &path, &imported);
    let session = session(&engine, "claude-1");
    let said = transcript(&session);
    assert_eq!(said.iter().filter(|line| line.starts_with("user: ")).count(), 3, "{said:#?}");
    let info = block_on(session.info()).unwrap();
    assert_eq!(info.updated_at, events(&session)[1].at, "an earlier time does not make a session older");
    for dialect in crate::scene::DIALECTS {
        let request =
            built(&session, &wunderblock::ContextOptions { dialect: Some(dialect), ..window(32_000) });
        let body = String::from_utf8(request.draft.body).unwrap();
        assert!(body.contains("before its call") && body.contains("in time"), "{body}");
        assert!(!body.contains("without a call") && !body.contains("once more"), "{body}");
        let reasons: Vec<String> =
            request.draft.report.left_out.iter().map(|run| format!("{:?}", run.reason)).collect();
        assert!(reasons.contains(&"OrphanResult".to_owned()), "{reasons:?}");
        assert!(reasons.contains(&"DuplicateResult".to_owned()), "{reasons:?}");
    }
}

fn refusal(engine: &Engine, path: &Path) -> String {
    let error = block_on(engine.import(path, None, &mut |_, _| {})).unwrap_err();
    assert!(matches!(error, Error::Import { .. } | Error::File { .. }), "{error:?}");
    error.to_string()
}

#[test]
fn files_other_than_transcripts_are_refused() {
    let home = Home::new();
    let engine = home.engine();
    let utf16: Vec<u8> = "\u{feff}{\"role\":\"user\"}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let noise: Vec<u8> = (0..64u8).flat_map(|n| *blake3::hash(&[n]).as_bytes()).collect();
    let big = home.path("big.json");
    let file = std::fs::File::create(&big).unwrap();
    std::io::Write::write_all(
        &mut &file,
        format!("{{\n\"messages\":[\n{{\"role\":\"user\",\"content\":\"{}\"}},\n", "a ".repeat(40_000))
            .as_bytes(),
    )
    .unwrap();
    file.set_len(65 << 20).unwrap();
    let table = [
        (home.file("empty.jsonl", ""), "empty"),
        (home.file("blank.jsonl", "\n \n"), "empty"),
        (home.folder.path().to_owned(), "not a file"),
        (home.file("noise.jsonl", noise), "binary"),
        (home.file("wide.jsonl", utf16), "UTF-16"),
        (home.file("notes.txt", "Some notes.\nMore of them.\n"), "not JSON"),
        (home.path("none.jsonl"), "no such file"),
        (big, "documents are read whole"),
    ];
    for (path, expected) in table {
        let said = refusal(&engine, &path);
        assert!(said.contains(expected), "{}: {said}", path.display());
        assert!(said.contains(path.file_name().unwrap().to_str().unwrap()), "{said}");
    }
    assert_eq!(all(&engine).len(), 0);
    assert_eq!(problems(&engine), [""; 0]);
}

#[test]
fn byte_order_marks_long_lines_and_line_ends() {
    let long = "wide ".repeat(2 << 20);
    let table = [
        ("bom.jsonl", format!("\u{feff}{}", user("u1", None, "one"))),
        (
            "crlf.jsonl",
            [user("u1", None, "one"), user("u2", Some("u1"), "two")].concat().replace('\n', "\r\n"),
        ),
        ("long.jsonl", [user("u1", None, &long), user("u2", Some("u1"), "after it")].concat()),
        ("one.jsonl", user("u1", None, "one").trim_end().to_owned()),
    ];
    for (name, text) in table {
        let home = Home::new();
        let engine = home.engine();
        let path = home.file(name, text);
        let imported = import(&engine, &path);
        assert_eq!((imported.broken, imported.warnings.len()), (0, 0), "{name}: {:?}", imported.warnings);
        assert!(imported.appended >= 2, "{name}");
        holds(&engine, &path, &imported);
        if name == "long.jsonl" {
            let session = session(&engine, "claude-1");
            let all: Vec<Event> = events(&session);
            let body =
                all.iter().filter_map(|event| event.fact.as_ref()).flat_map(Fact::bodies).next().unwrap();
            let handle = body.handle().unwrap().to_string();
            assert!(read(&engine, &handle, &Slice::All) == long.as_bytes());
        }
    }
}

#[test]
fn the_engine_reads_nothing_into_a_session_that_lives() {
    let home = Home::new();
    let engine = home.engine();
    append(
        &engine,
        "claude-1",
        vec![said("live", wunderblock_core::message::Role::User, "I was here first")],
    );
    let path = home.file("a.jsonl", user("u1", None, "one"));
    let imported = import(&engine, &path);
    assert_eq!(transcript(&session(&engine, "claude-1")), ["user: I was here first"]);
    holds(&engine, &path, &imported);
}
