use crate::transcript::{check, opaque_share, read};
use wunderblock_core::message::Dialect;
use wunderblock_core::request::Request;
use wunderblock_wire::encode;
use wunderblock_wire::transcript::RecordItem;

fn lines(records: &[(&str, &str)]) -> String {
    let line = |(kind, payload): &(&str, &str)| {
        format!("{{\"timestamp\":\"2026-01-02T03:04:05Z\",\"type\":\"{kind}\",\"payload\":{payload}}}\n")
    };
    records.iter().map(line).collect()
}

const META: (&str, &str) =
    ("session_meta", r#"{"id":"c1","cwd":"/w","cli_version":"1","base_instructions":{"text":"be brief"}}"#);

#[test]
#[allow(clippy::too_many_lines, reason = "a table of cases, or one story")]
fn a_rollout_is_read_once_although_it_says_everything_twice() {
    let text = lines(&[
        META,
        (
            "response_item",
            r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]}"#,
        ),
        (
            "response_item",
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x"}]}"#,
        ),
        (
            "response_item",
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"go"},{"type":"input_image","image_url":"data:image/png;base64,QQ=="}]}"#,
        ),
        ("event_msg", r#"{"type":"user_message","message":"go"}"#),
        ("turn_context", r#"{"model":"gpt-x"}"#),
        (
            "response_item",
            r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"E"}"#,
        ),
        (
            "response_item",
            r#"{"type":"function_call","name":"shell","namespace":"fs","arguments":"{\"cmd\":[\"ls\"]}","call_id":"k1"}"#,
        ),
        (
            "response_item",
            r#"{"type":"function_call_output","call_id":"k1","output":"{\"output\":\"no\",\"metadata\":{\"exit_code\":2}}"}"#,
        ),
        (
            "response_item",
            r#"{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin","call_id":"k2"}"#,
        ),
        (
            "response_item",
            r#"{"type":"custom_tool_call_output","call_id":"k2","output":{"content":"done","success":false}}"#,
        ),
        (
            "response_item",
            r#"{"type":"local_shell_call","call_id":"k3","action":{"type":"exec","command":["ls"]}}"#,
        ),
        (
            "response_item",
            r#"{"type":"function_call_output","call_id":"k3","output":[{"type":"input_text","text":"a"}]}"#,
        ),
        ("response_item", r#"{"type":"web_search_call","id":"w","action":{"query":"q"}}"#),
        (
            "response_item",
            r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]}"#,
        ),
        ("event_msg", r#"{"type":"agent_message","message":"ok"}"#),
        (
            "event_msg",
            r#"{"type":"token_count","info":{"total_token_usage":{"total_tokens":9},"last_token_usage":{"input_tokens":100,"cached_input_tokens":60,"output_tokens":7,"reasoning_output_tokens":5},"model_context_window":1000}}"#,
        ),
        (
            "event_msg",
            r#"{"type":"token_count","info":{"total_token_usage":{"total_tokens":9},"last_token_usage":{"input_tokens":100,"cached_input_tokens":60,"output_tokens":7}}}"#,
        ),
        ("event_msg", r#"{"type":"task_complete","last_agent_message":"ok"}"#),
        ("compacted", r#"{"message":"so far","replacement_history":[]}"#),
        ("event_msg", r#"{"type":"thread_rolled_back","num_turns":2}"#),
        ("event_msg", r#"{"type":"turn_aborted","reason":"interrupted"}"#),
        (
            "response_item",
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"anew"}]}"#,
        ),
        META,
    ]);
    let records = read("rollout.jsonl", &text);
    check(
        &records,
        r#"
        session_meta opened(/w) + System injected=base_instructions(be brief)
        response_item:message System(rules)
        response_item:message User injected=environment_context(<environment_context>x)
        response_item:message User(go | media image/png Base64 QQ==)
        event_msg:user_message-
        turn_context-
        response_item:reasoning Assistant(thinks hm | opaque {"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"E"})
        response_item:function_call Assistant(call k1 fs.shell {"cmd":["ls"]})
        response_item:function_call_output Tool(result k1 failed {"output":"no","metadata":{"exit_code":2}})
        response_item:custom_tool_call Assistant(call k2 apply_patch {"input":"*** Begin"})
        response_item:custom_tool_call_output Tool(result k2 failed done)
        response_item:local_shell_call Assistant(call k3 local_shell {"type":"exec","command":["ls"]})
        response_item:function_call_output Tool(result k3 a)
        response_item:web_search_call Assistant(opaque {"type":"web_search_call","id":"w","action":{"query":"q"}})
        response_item:message Assistant(ok)
        event_msg:agent_message-
        event_msg:token_count usage(- 40/60/0/7)
        event_msg:token_count-
        event_msg:task_complete turn(end -)
        compacted compacted(before - "so far" - 0)
        event_msg:thread_rolled_back
        event_msg:turn_aborted turn(aborted -)
        response_item:message back 2: User(anew)
        session_meta-
        "#,
    );
    assert!(opaque_share(&records) < 0.05);
}

#[test]
fn events_that_come_before_any_item_wait_until_one_comes() {
    let text = lines(&[
        META,
        ("event_msg", r#"{"type":"user_message","message":"go"}"#),
        ("turn_context", r#"{"model":"gpt-x"}"#),
        (
            "response_item",
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}"#,
        ),
    ]);
    check(
        &read("rollout.jsonl", &text),
        "
        session_meta opened(/w) + System injected=base_instructions(be brief)
        event_msg:user_message-
        turn_context-
        response_item:message User(go)
        ",
    );
}

#[test]
fn a_file_of_events_only_still_tells_what_was_said() {
    let short = lines(&[
        META,
        ("event_msg", r#"{"type":"user_message","message":"go"}"#),
        ("event_msg", r#"{"type":"agent_message","message":"ok"}"#),
    ]);
    check(
        &read("rollout.jsonl", &short),
        "
        session_meta opened(/w) + System injected=base_instructions(be brief)
        event_msg:user_message User(go)
        event_msg:agent_message Assistant(ok)
        ",
    );
    // This file is longer than the limit for held records: a late item must not repeat a message taken from an event.
    let mut long = lines(&[META]);
    for turn in 0..100 {
        long.push_str(&lines(&[(
            "event_msg",
            &format!(r#"{{"type":"user_message","message":"go {turn}"}}"#),
        )]));
    }
    long.push_str(&lines(&[
        (
            "response_item",
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"go 99"}]}"#,
        ),
        (
            "response_item",
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"new"}]}"#,
        ),
    ]));
    let told = crate::transcript::tell(&read("rollout.jsonl", &long));
    assert_eq!(told.matches("User(go ").count(), 100);
    assert_eq!(told.matches("User(new)").count(), 1);
}

#[test]
fn the_time_before_the_envelope_is_read_too() {
    let text = concat!(
        r#"{"id":"old","timestamp":"2025-05-01T00:00:00Z","instructions":"be kind"}"#,
        "\n",
        r#"{"record_type":"state"}"#,
        "\n",
        r##"{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /w"}]}"##,
        "\n",
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}"#,
        "\n",
        r#"{"type":"function_call","name":"shell","arguments":"{}","call_id":"k"}"#,
        "\n",
        r#"{"type":"function_call_output","call_id":"k","output":"fine"}"#,
        "\n",
        r#"{"type":"novelty","text":"?"}"#,
        "\n",
    );
    check(
        &read("rollout.jsonl", text),
        "
        session_meta opened() + System injected=base_instructions(be kind)
        state-
        response_item:message User injected=agents_md(# AGENTS.md instructions for /w)
        response_item:message User(go)
        response_item:function_call Assistant(call k shell {})
        response_item:function_call_output Tool(result k fine)
        novelty?
        ",
    );
}

#[test]
fn a_sub_agents_rollout_names_its_parent() {
    let text = lines(&[
        ("session_meta", r#"{"id":"kid","source":{"subagent":{"thread_spawn":{"parent_thread_id":"mum"}}}}"#),
        ("event_msg", r#"{"type":"collab_agent_spawn_end","new_thread_id":"grandkid"}"#),
        (
            "event_msg",
            r#"{"type":"collab_agent_spawn_end","call_id":"k","new_thread_id":"other","new_agent_role":"explorer","prompt":"p","model":"gpt-5.5","status":"pending_init"}"#,
        ),
        (
            "event_msg",
            r#"{"type":"collab_waiting_end","call_id":"w","agent_statuses":[{"thread_id":"grandkid","status":{"completed":"here"}},{"thread_id":"other","status":"running"}]}"#,
        ),
        (
            "event_msg",
            r#"{"type":"collab_waiting_end","call_id":"w","agent_statuses":[{"thread_id":"other","status":{"errored":"no"}}]}"#,
        ),
        (
            "event_msg",
            r#"{"type":"collab_close_end","call_id":"x","receiver_thread_id":"other","status":"running"}"#,
        ),
    ]);
    let records = read("rollout.jsonl", &text);
    assert!(records.iter().all(|record| record.parent_session.as_deref() == Some("mum")));
    let told = crate::transcript::tell(&records);
    assert!(told.contains("spawned(grandkid)"));
    let told: Vec<&str> = told
        .lines()
        .filter(|line| !line.starts_with("session_meta"))
        .map(|line| line.split_once(' ').unwrap().1)
        .collect();
    assert_eq!(
        told[1..],
        [
            "spawned(other k explorer gpt-5.5)",
            "returned(grandkid - Done - None None)",
            "returned(other - Failed - None None)",
            "returned(other - Stopped - None None)",
        ]
    );
}

#[test]
fn the_phase_of_a_message_goes_back_to_where_it_came_from() {
    let text = lines(&[
        META,
        (
            "response_item",
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}"#,
        ),
        (
            "response_item",
            r#"{"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"a"}]}"#,
        ),
        (
            "response_item",
            r#"{"type":"message","role":"assistant","phase":"aria","content":[{"type":"output_text","text":"b"}]}"#,
        ),
    ]);
    let items = read("rollout.jsonl", &text).into_iter().flat_map(|record| record.items);
    let messages = items.filter_map(|item| match item {
        RecordItem::Message(message) => Some(message),
        _ => None,
    });
    let request = Request { messages: messages.collect(), cache: Some(Vec::new()), ..Request::default() };
    let body = encode(Dialect::OpenaiResponses, &request).unwrap().bytes;
    let body = String::from_utf8(body).unwrap();
    assert!(body.contains(r#""role":"assistant","content":"a","phase":"commentary"}"#), "{body}");
    assert!(body.contains(r#""role":"assistant","content":"b"}"#), "{body}");
    assert_eq!(encode(Dialect::Anthropic, &request).unwrap().dropped, []);
}
