//! Hooks of agents: what is read of an event, and what an agent gets as an answer.

use proptest::prelude::*;
use serde_json::{Value, json};
use wunderblock_core::event::SubagentOutcome;
use wunderblock_core::units::Millis;
use wunderblock_wire::hook::{
    CompactTrigger, Delegation, HookAgent, HookAnswer, HookCall, HookEvent, SessionSource, ToolOutcome,
    TurnStop, UsedTool, delegates, delegation, outcome,
};

use HookAgent::{ClaudeCode, Codex, GeminiCli, OpenCode};

fn decode(agent: HookAgent, text: &str) -> HookCall<'_> {
    HookCall::decode(agent, text).unwrap()
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn tool<'a>(id: &str, name: &str, input: &'a str) -> UsedTool<'a> {
    UsedTool { id: some(id), name: name.to_owned(), input: Some(input) }
}

#[test]
fn the_fields_of_every_event_are_read() {
    let call = decode(
        ClaudeCode,
        r#"{"session_id":"s1","transcript_path":"/home/ann/.claude/projects/-a b/s1.jsonl","cwd":"/a b",
            "hook_event_name":"PreToolUse","prompt_id":"p1","agent_id":"a7","agent_type":"Explore",
            "tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1","effort":{"level":"high"}}"#,
    );
    assert_eq!(call.session, some("s1"));
    assert_eq!(call.transcript, Some("/home/ann/.claude/projects/-a b/s1.jsonl".into()));
    assert_eq!(call.cwd, Some("/a b".into()));
    assert_eq!(call.turn, some("p1"));
    assert_eq!(call.name, "PreToolUse");
    assert_eq!(
        call.inside,
        Some(Delegation { id: some("a7"), kind: some("Explore"), ..Delegation::default() })
    );
    let call = decode(
        Codex,
        r#"{"session_id":"s","transcript_path":null,"cwd":"","hook_event_name":"Stop","model":"m","turn_id":"7"}"#,
    );
    assert_eq!((call.transcript, call.cwd, call.inside), (None, None, None));
    assert_eq!((call.model, call.turn), (some("m"), some("7")));
    let call =
        decode(GeminiCli, r#"{"hook_event_name":"AfterAgent","timestamp":"2026-11-27T10:00:00.000Z"}"#);
    assert_eq!(call.time, some("2026-11-27T10:00:00.000Z"));
}

#[test]
fn events_of_claude_code_are_known() {
    let input = r#"{"command":"ls"}"#;
    let agent = Delegation { id: some("a"), kind: some("Explore"), ..Delegation::default() };
    let cases: [(&str, HookEvent<'_>); 13] = [
        (r#""SessionStart","source":"compact""#, HookEvent::SessionStart(SessionSource::Compact)),
        (r#""SessionStart","source":"night""#, HookEvent::SessionStart(SessionSource::Other("night".into()))),
        (r#""UserPromptSubmit","prompt":"fix \u00e9 \ud800""#, HookEvent::Prompt("fix é \u{FFFD}".into())),
        (
            r#""PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t","tool_response":{"stdout":"a"},"duration_ms":41.6"#,
            HookEvent::ToolEnd(
                tool("t", "Bash", input),
                ToolOutcome {
                    output: Some(r#"{"stdout":"a"}"#),
                    duration: Some(Millis(42)),
                    ..ToolOutcome::default()
                },
            ),
        ),
        (
            r#""PostToolUseFailure","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t","error":"exit 1","is_interrupt":true"#,
            HookEvent::ToolEnd(
                tool("t", "Bash", input),
                ToolOutcome { error: some("exit 1"), interrupted: true, ..ToolOutcome::default() },
            ),
        ),
        (
            r#""PermissionDenied","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t","reason":"no""#,
            HookEvent::PermissionDenied(tool("t", "Bash", input), some("no")),
        ),
        (
            r#""PreCompact","trigger":"manual","custom_instructions":"keep names""#,
            HookEvent::BeforeCompaction(CompactTrigger::Manual, some("keep names")),
        ),
        (
            r#""PostCompact","trigger":"auto","compact_summary":"All done.""#,
            HookEvent::AfterCompaction(CompactTrigger::Auto, some("All done.")),
        ),
        (r#""Stop","last_assistant_message":"Done.""#, HookEvent::TurnEnd(TurnStop::Finished, some("Done."))),
        (
            r#""StopFailure","error":"rate_limit","error_details":"wait""#,
            HookEvent::TurnEnd(TurnStop::Failed("rate_limit: wait".into()), None),
        ),
        (r#""SubagentStart","agent_id":"a","agent_type":"Explore""#, HookEvent::SubagentStart(agent.clone())),
        (
            r#""SubagentStop","agent_id":"a","agent_type":"Explore","agent_transcript_path":"/t/a.jsonl","last_assistant_message":"Found.""#,
            HookEvent::SubagentEnd(Delegation {
                transcript: Some("/t/a.jsonl".into()),
                message: some("Found."),
                ..agent
            }),
        ),
        (r#""SessionEnd","reason":"logout""#, HookEvent::SessionEnd(some("logout"))),
    ];
    for (fields, expected) in cases {
        let text = format!(r#"{{"session_id":"s","hook_event_name":{fields}}}"#);
        assert_eq!(decode(ClaudeCode, &text).event, expected, "{text}");
        // Codex has the same names, without some of the fields.
        assert_eq!(decode(Codex, &text).event, expected, "{text}");
    }
}

#[test]
fn events_of_other_agents_are_known() {
    let cases: [(HookAgent, &str, HookEvent<'_>); 12] = [
        (Codex, r#"{"hook_event_name":"Interrupt"}"#, HookEvent::TurnEnd(TurnStop::Interrupted, None)),
        (
            Codex,
            r#"{"type":"agent-turn-complete","thread-id":"s","last-assistant-message":"Done."}"#,
            HookEvent::TurnEnd(TurnStop::Finished, some("Done.")),
        ),
        (GeminiCli, r#"{"hook_event_name":"BeforeAgent","prompt":"fix"}"#, HookEvent::Prompt("fix".into())),
        (
            GeminiCli,
            r#"{"hook_event_name":"AfterTool","tool_name":"read_file","tool_input":{},"tool_response":{"llmContent":"a","error":{"message":"gone","type":"x"}}}"#,
            HookEvent::ToolEnd(
                UsedTool { id: None, name: "read_file".into(), input: Some("{}") },
                ToolOutcome {
                    output: Some(r#"{"llmContent":"a","error":{"message":"gone","type":"x"}}"#),
                    error: some("gone"),
                    ..ToolOutcome::default()
                },
            ),
        ),
        (
            GeminiCli,
            r#"{"hook_event_name":"PreCompress","trigger":"auto"}"#,
            HookEvent::BeforeCompaction(CompactTrigger::Auto, None),
        ),
        (
            GeminiCli,
            r#"{"hook_event_name":"AfterAgent","prompt_response":"Done."}"#,
            HookEvent::TurnEnd(TurnStop::Finished, some("Done.")),
        ),
        (GeminiCli, r#"{"hook_event_name":"BeforeModel","llm_request":{}}"#, HookEvent::Other),
        (
            OpenCode,
            r#"{"hook_event_name":"session.created","session_id":"s"}"#,
            HookEvent::SessionStart(SessionSource::Startup),
        ),
        (
            OpenCode,
            r#"{"hook_event_name":"session.created","session_id":"s","agent_id":"c","agent_type":"general"}"#,
            HookEvent::SubagentStart(Delegation {
                id: some("c"),
                kind: some("general"),
                ..Delegation::default()
            }),
        ),
        (
            OpenCode,
            r#"{"hook_event_name":"permission.replied","response":"reject","tool_name":"bash","tool_use_id":"t"}"#,
            HookEvent::PermissionDenied(UsedTool { id: some("t"), name: "bash".into(), input: None }, None),
        ),
        (OpenCode, r#"{"hook_event_name":"permission.replied","response":"once"}"#, HookEvent::Other),
        (
            OpenCode,
            r#"{"hook_event_name":"session.compacted"}"#,
            HookEvent::AfterCompaction(CompactTrigger::Other(String::new()), None),
        ),
    ];
    for (agent, text, expected) in cases {
        assert_eq!(decode(agent, text).event, expected, "{text}");
    }
    let begins = |flag: &str| {
        decode(OpenCode, &format!(r#"{{"hook_event_name":"chat.message","begins":{flag}}}"#)).begins
    };
    assert!(begins("true") && !begins("false") && !begins("\"true\""));
    assert_eq!(decode(Codex, r#"{"type":"agent-turn-complete","thread-id":"s"}"#).session, some("s"));
}

#[test]
fn a_delegation_has_the_type_the_model_and_the_task() {
    let whole = Delegation {
        kind: some("Explore"),
        model: some("small"),
        prompt: some("Find it."),
        ..Delegation::default()
    };
    let claude = r#"{"hook_event_name":"PreToolUse","tool_name":"Agent","tool_input":{"subagent_type":"Explore","model":"small","prompt":"Find it."}}"#;
    assert_eq!(decode(ClaudeCode, claude).delegation(), Some(whole.clone()));
    let codex = r#"{"hook_event_name":"PreToolUse","tool_name":"spawn_agent","tool_input":{"agent_type":"Explore","model":"small","message":"Find it."}}"#;
    assert_eq!(decode(Codex, codex).delegation(), Some(whole.clone()));
    let gemini = r#"{"hook_event_name":"AfterTool","tool_name":"invoke_agent","tool_input":{"agent_name":"Explore","prompt":"Find it."}}"#;
    assert_eq!(decode(GeminiCli, gemini).delegation(), Some(Delegation { model: None, ..whole.clone() }));
    let broken = r#"{"hook_event_name":"PreToolUse","tool_name":"Task","tool_input":[1]}"#;
    assert_eq!(decode(ClaudeCode, broken).delegation(), Some(Delegation::default()));
    let other = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"prompt":"x"}}"#;
    assert_eq!(decode(ClaudeCode, other).delegation(), None);
}

/// Returns the answer of an agent to an event of this name, as JSON.
fn answered(agent: HookAgent, name: &str, context: Option<&str>, input: Option<&str>) -> Option<Value> {
    let text = json!({ "hook_event_name": name }).to_string();
    let answer = HookAnswer { context: context.map(str::to_owned), input: input.map(str::to_owned) };
    decode(agent, &text).answer(&answer).map(|json| serde_json::from_str(&json).unwrap())
}

#[test]
fn context_is_answered_where_the_agent_takes_it_in() {
    let taken: [(HookAgent, &[&str], &[&str]); 4] = [
        (
            ClaudeCode,
            &[
                "SessionStart",
                "UserPromptSubmit",
                "PreToolUse",
                "PostToolUse",
                "PostToolUseFailure",
                "SubagentStart",
            ],
            &[
                "Stop",
                "SubagentStop",
                "PreCompact",
                "PostCompact",
                "SessionEnd",
                "PermissionDenied",
                "New",
                "",
            ],
        ),
        (
            Codex,
            &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart"],
            &[
                "Stop",
                "SubagentStop",
                "PreCompact",
                "PostCompact",
                "SessionEnd",
                "PermissionRequest",
                "Interrupt",
            ],
        ),
        (
            GeminiCli,
            &["SessionStart", "BeforeAgent", "AfterTool"],
            &["BeforeTool", "AfterAgent", "PreCompress", "SessionEnd", "BeforeModel", "Notification"],
        ),
        (
            OpenCode,
            &["chat.message", "tool.execute.after", "experimental.session.compacting"],
            &["session.created", "session.compacted", "session.idle", "tool.execute.before"],
        ),
    ];
    for (agent, events, others) in taken {
        for event in events {
            let expected =
                json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": "a \"b\"\n"}});
            assert_eq!(answered(agent, event, Some("a \"b\"\n"), None), Some(expected), "{event}");
            assert_eq!(answered(agent, event, Some(" \n"), None), None, "{event}");
        }
        for event in others {
            assert_eq!(answered(agent, event, Some("a"), None), None, "{event}");
        }
    }
}

#[test]
fn a_new_input_is_answered_before_the_tool_runs() {
    let input = r#"{"command":"wunderblock run -- ls"}"#;
    let written = json!({"command": "wunderblock run -- ls"});
    let cases = [
        (ClaudeCode, "PreToolUse", json!({"hookEventName": "PreToolUse", "updatedInput": written})),
        (
            Codex,
            "PreToolUse",
            json!({"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": written}),
        ),
        (GeminiCli, "BeforeTool", json!({"hookEventName": "BeforeTool", "tool_input": written})),
        (
            OpenCode,
            "tool.execute.before",
            json!({"hookEventName": "tool.execute.before", "updatedInput": written}),
        ),
    ];
    for (agent, event, expected) in cases {
        let expected = Some(json!({ "hookSpecificOutput": expected }));
        assert_eq!(answered(agent, event, None, Some(input)), expected);
        for invalid in ["ls", "[1]", "\"ls\"", ""] {
            assert_eq!(answered(agent, event, None, Some(invalid)), None, "{invalid}");
        }
        assert_eq!(answered(agent, "SessionStart", None, Some(input)), None);
    }
    // A decision comes only with the input that needs it.
    let context = answered(Codex, "PreToolUse", Some("a"), None).unwrap();
    assert_eq!(context["hookSpecificOutput"].get("permissionDecision"), None);
}

#[test]
fn large_outputs_are_borrowed_and_broken_bytes_are_replaced() {
    let output = "\\u00e9x".repeat(1 << 20);
    let mut bytes = br#"{"hook_event_name":"PostToolUse","tool_response":""#.to_vec();
    bytes.extend_from_slice(output.as_bytes());
    bytes.extend_from_slice(b"\xff\xfe\"}");
    let text = String::from_utf8_lossy(&bytes);
    let call = decode(ClaudeCode, &text);
    let HookEvent::ToolEnd(_, outcome) = &call.event else { panic!("{:?}", call.event) };
    let found = outcome.output.unwrap();
    assert_eq!(found.len(), output.len() + "\"\u{FFFD}\u{FFFD}\"".len());
    assert!(text.as_bytes().as_ptr_range().contains(&found.as_ptr()));
}

#[test]
fn only_an_object_is_a_call() {
    for text in ["", " ", "[]", "1", "\"a\"", "null", "{", "{}x", "{\"a\":1", "\u{0}", "{'a':1}"] {
        for agent in HookAgent::ALL {
            assert!(HookCall::decode(agent, text).is_err(), "{text}");
        }
    }
    assert_eq!(decode(Codex, "\u{feff}{} \n").event, HookEvent::Other);
    let deep = format!("{{\"tool_input\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(decode(ClaudeCode, &deep).event, HookEvent::Other);
}

#[test]
fn agents_have_names() {
    for agent in HookAgent::ALL {
        assert_eq!(HookAgent::from_name(agent.name()), Some(agent));
    }
    assert_eq!(HookAgent::from_name("Codex"), None);
}

/// Values of any type, in fields that are read.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        prop::sample::select(vec!["compact", "auto", "reject", "Agent", "/a/b", "7"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((field(), inner), 0..6).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

fn field() -> impl Strategy<Value = String> {
    const KNOWN: &[&str] = &[
        "session_id",
        "transcript_path",
        "cwd",
        "model",
        "prompt",
        "source",
        "trigger",
        "reason",
        "error",
        "tool_name",
        "tool_input",
        "tool_response",
        "tool_use_id",
        "duration_ms",
        "is_interrupt",
        "agent_id",
        "agent_type",
        "compact_summary",
        "error_details",
        "type",
        "message",
        "subagent_type",
    ];
    prop_oneof![prop::sample::select(KNOWN).prop_map(str::to_owned), "\\PC{0,6}"]
}

fn event_name() -> impl Strategy<Value = String> {
    const KNOWN: &[&str] = &[
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PreCompact",
        "PostCompact",
        "Stop",
        "StopFailure",
        "SubagentStart",
        "SubagentStop",
        "SessionEnd",
        "BeforeAgent",
        "AfterTool",
        "PermissionDenied",
        "Interrupt",
        "session.created",
        "chat.message",
        "permission.replied",
        "tool.execute.after",
    ];
    prop_oneof![prop::sample::select(KNOWN).prop_map(str::to_owned), "\\PC{0,6}"]
}

proptest! {
    #[test]
    fn any_object_is_a_call_and_its_answer_is_json(
        name in event_name(),
        fields in prop::collection::vec((field(), value()), 0..12),
        context in "\\PC{0,20}",
    ) {
        let mut object: serde_json::Map<String, Value> = fields.into_iter().collect();
        object.insert("hook_event_name".to_owned(), name.clone().into());
        let text = Value::from(object).to_string();
        for agent in HookAgent::ALL {
            let call = HookCall::decode(agent, &text).unwrap();
            prop_assert!(name.is_empty() || call.name == name);
            let _ = call.delegation();
            let answer = HookAnswer { context: Some(context.clone()), input: some("{}") };
            if let Some(json) = call.answer(&answer) {
                let json: Value = serde_json::from_str(&json).unwrap();
                prop_assert_eq!(&json["hookSpecificOutput"]["hookEventName"], &Value::from(name.clone()));
            }
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        for agent in HookAgent::ALL {
            let is_object = serde_json::from_str::<serde_json::Map<String, Value>>(&text).is_ok();
            let call = HookCall::decode(agent, &text);
            prop_assert!(call.is_ok() || !is_object);
        }
    }
}

#[test]
fn tools_that_delegate_are_known_in_transcripts_of_every_agent() {
    let kind = |tool: &str, input: &str| delegation(tool, input).map(|work| work.kind.unwrap_or_default());
    for (tool, field) in [
        ("Task", "subagent_type"),
        ("Agent", "subagent_type"),
        ("spawn_agent", "agent_type"),
        ("invoke_agent", "agent_name"),
        // OpenCode and Copilot CLI
        ("task", "subagent_type"),
        ("task", "agent_type"),
    ] {
        assert_eq!(kind(tool, &format!(r#"{{"{field}":"explore"}}"#)).as_deref(), Some("explore"), "{tool}");
        assert_eq!(kind(tool, "{broken").as_deref(), Some(""), "{tool}");
    }
    assert_eq!(delegation("Bash", r#"{"subagent_type":"x"}"#), None);
    assert!(delegates("task") && !delegates("Bash"));
    let is_launch = |tool: &str, text: &str| outcome(tool, text, false).is_none();
    assert!(is_launch("Agent", "Async agent launched successfully.\nagentId: 1"));
    assert_eq!(outcome("Agent", "Async agent launched", true), Some(SubagentOutcome::Failed));
    assert_eq!(
        outcome("Task", "[Request interrupted by user for tool use]", true),
        Some(SubagentOutcome::Stopped)
    );
    assert_eq!(outcome("Task", "[Request interrupted by user", false), Some(SubagentOutcome::Done));
    assert!(
        is_launch("spawn_agent", r#"{"agent_id":"1"}"#)
            && !is_launch("spawn_agent", "spawn failed: no slots")
    );
    assert!(
        is_launch("task", "Agent started in background with agent_id: a.") && !is_launch("task", "found it")
    );
    assert!(!is_launch("Bash", "Async agent launched"));
}
