//! Sessions of the agents that write one event per line.

use crate::transcript::checkpoint::check_splits;
use crate::transcript::{check, opaque_share, read};
use proptest::prelude::*;
use wunderblock_wire::transcript::{Format, detect};

fn check_understood(format: Format, lines: &[&str], expected: &str) {
    let text = lines.join("\n");
    assert_eq!(detect("a.jsonl", text.as_bytes()), Ok(format));
    let records = read("a.jsonl", &text);
    check(&records, expected);
    assert!(opaque_share(&records) < 0.05);
}

#[test]
fn sessions_of_droid_are_a_tree() {
    check_understood(
        Format::Droid,
        &[
            r#"{"type":"session_start","id":"s1","title":"t","cwd":"/w","version":"0.81.0"}"#,
            r#"{"type":"message","id":"m1","parentId":"s1","message":{"role":"user","content":[{"type":"text","text":"go"}]}}"#,
            r#"{"type":"message","id":"m2","parentId":"m1","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Execute","input":{"command":"ls"}}]}}"#,
            r#"{"type":"message","id":"m3","parentId":"m2","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"}]}}"#,
            r#"{"type":"message","id":"m4","parentId":"m1","message":{"role":"assistant","content":"no"}}"#,
        ],
        r#"
        session_start opened(/w)
        message User(go)
        message Assistant(call t1 Execute {"command":"ls"})
        message Tool(result t1 a)
        message after m1: Assistant(no)
        "#,
    );
}

#[test]
fn a_stream_of_droid_has_calls_and_results_beside_messages() {
    check_understood(
        Format::Droid,
        &[
            r#"{"type":"system","subtype":"init","sessionId":"s1","model":"m","cwd":"/w","tools":[],"id":"sys1"}"#,
            r#"{"type":"message","sessionId":"s1","role":"user","text":"<system-reminder>\nx\n</system-reminder>\n\nlist","id":"m1"}"#,
            r#"{"type":"tool_call","sessionId":"s1","id":"c1","toolName":"Execute","parameters":{"command":"ls"}}"#,
            r#"{"type":"tool_result","sessionId":"s1","id":"c1","isError":true,"value":"no such file"}"#,
            r#"{"type":"completion","sessionId":"s1","finalText":"Done","usage":{"input_tokens":10,"output_tokens":5},"id":"end"}"#,
            r#"{"type":"error","source":"cli","message":"not signed in","session_id":"s1"}"#,
        ],
        r#"
        system:init opened(/w)
        message User(<system-reminder>/x/</system-reminder>//list)
        tool_call Assistant(call c1 Execute {"command":"ls"})
        tool_result Tool(result c1 failed no such file)
        completion Assistant(Done) + usage(- 10/0/0/5)
        error turn(error cli)
        "#,
    );
}

#[test]
fn chats_of_grok_are_told_with_their_reasoning() {
    check_understood(
        Format::Grok,
        &[
            r#"{"type":"system","content":"rules"}"#,
            r#"{"type":"user","content":[{"type":"text","text":"where we are"}],"synthetic_reason":"environment_context"}"#,
            r#"{"type":"user","content":[{"type":"text","text":"read it"}],"prompt_index":0}"#,
            r#"{"type":"reasoning","id":"r1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"e"}"#,
            r#"{"type":"assistant","content":"I read.","tool_calls":[{"id":"c1","name":"read_file","arguments":"{\"path\":\"a\"}"}],"model_id":"grok-x"}"#,
            r#"{"type":"tool_result","tool_call_id":"c1","content":"text"}"#,
            r#"{"type":"backend_tool_call","kind":{"tool_type":"web_search"}}"#,
        ],
        r#"
        system opened() + System(rules)
        user User injected=environment_context(where we are)
        user User(read it)
        reasoning Assistant(thinks hm)
        assistant Assistant(I read. | call c1 read_file {"path":"a"})
        tool_result Tool(result c1 text)
        backend_tool_call-
        "#,
    );
}

#[test]
fn the_pieces_of_a_step_of_kimi_are_one_reply() {
    let lines = [
        r#"{"type":"metadata","protocol_version":"1.4","created_at":1785612803281}"#,
        r#"{"type":"config.update","systemPrompt":"rules","time":1785612803281}"#,
        r#"{"type":"config.update","systemPrompt":"rules","modelAlias":"kimi-x","time":1785612803282}"#,
        r#"{"type":"turn.prompt","input":[{"type":"text","text":"hi"}],"origin":{"kind":"user"}}"#,
        r#"{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"hi"}],"toolCalls":[],"origin":{"kind":"user"}}}"#,
        r#"{"type":"context.append_message","message":{"role":"user","content":"by the program","origin":{"kind":"system_trigger"}}}"#,
        r#"{"type":"context.append_loop_event","event":{"type":"content.part","stepUuid":"s1","part":{"type":"think","think":"hm"}}}"#,
        r#"{"type":"context.append_loop_event","event":{"type":"tool.call","stepUuid":"s1","toolCallId":"c1","name":"Bash","args":{"command":"ls"}}}"#,
        r#"{"type":"context.append_loop_event","event":{"type":"tool.result","toolCallId":"c1","result":{"output":"a"}}}"#,
        r#"{"type":"context.append_loop_event","event":{"type":"step.end","uuid":"s1","usage":{"inputOther":9,"output":4,"inputCacheRead":8,"inputCacheCreation":1}}}"#,
        r#"{"type":"usage.record","usage":{"inputOther":9}}"#,
        r#"{"type":"context.apply_compaction","summary":"so far","tokensBefore":15912}"#,
    ];
    check_understood(
        Format::Kimi,
        &lines,
        r#"
        metadata opened()
        config.update System(rules)
        config.update-
        turn.prompt-
        context.append_message User(hi)
        context.append_message User injected=system_trigger(by the program)
        context.append_loop_event:content.part Assistant(thinks hm)
        context.append_loop_event:tool.call Assistant(call c1 Bash {"command":"ls"})
        context.append_loop_event:tool.result Tool(result c1 a)
        context.append_loop_event:step.end usage(s1 9/8/1/4)
        usage.record-
        context.apply_compaction compacted(before - "so far" - 15912)
        "#,
    );
}

#[test]
fn sessions_of_qwen_are_a_tree_whose_records_may_share_an_id() {
    check_understood(
        Format::Qwen,
        &[
            r#"{"uuid":"1","parentUuid":null,"sessionId":"s","type":"user","cwd":"/w","version":"0.21","systemPayload":{"displayText":"look"},"message":{"role":"user","parts":[{"text":"look"},{"text":"<hook>added</hook>"}]}}"#,
            r#"{"uuid":"2","parentUuid":"1","sessionId":"s","type":"assistant","message":{"role":"model","parts":[{"text":"no","thought":true}]}}"#,
            r#"{"uuid":"2","parentUuid":"1","sessionId":"s","type":"assistant","model":"q","usageMetadata":{"promptTokenCount":12,"cachedContentTokenCount":2,"candidatesTokenCount":4},"message":{"role":"model","parts":[{"functionCall":{"id":"c1","name":"read","args":{}}}]}}"#,
            r#"{"uuid":"3","parentUuid":"2","sessionId":"s","type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"read","response":{"output":"text"}}}]}}"#,
            r#"{"uuid":"4","parentUuid":"1","sessionId":"s","type":"system","subtype":"rewind","systemPayload":{"targetUuid":"1"}}"#,
            r#"{"uuid":"5","parentUuid":"4","sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"then this"}]}}"#,
        ],
        r#"
        user opened(/w) + User injected=context(<hook>added</hook>) + User(look)
        assistant Assistant(thinks no)
        assistant Assistant(call c1 read {}) + usage(- 10/2/0/4)
        tool_result Tool(result c1 text)
        system:rewind- after 1:
        user after 4: User(then this)
        "#,
    );
}

#[test]
fn results_of_antigravity_are_paired_by_order() {
    check_understood(
        Format::Antigravity,
        &[
            r#"{"step_index":0,"source":"USER_EXPLICIT","type":"USER_INPUT","status":"DONE","created_at":"2026-06-26T21:16:16Z","content":"<USER_REQUEST>\nList.\n</USER_REQUEST>\n<SETTINGS>x</SETTINGS>"}"#,
            r#"{"step_index":1,"source":"SYSTEM","type":"CONVERSATION_HISTORY","status":"DONE"}"#,
            r#"{"step_index":2,"source":"MODEL","type":"PLANNER_RESPONSE","status":"DONE","thinking":"hm","tool_calls":[{"name":"list_dir","args":{"path":"/r"}}]}"#,
            r#"{"step_index":3,"source":"MODEL","type":"LIST_DIRECTORY","status":"DONE","content":"a"}"#,
            r#"{"step_index":4,"source":"SYSTEM","type":"CHECKPOINT","status":"DONE","content":"so far"}"#,
            r#"{"step_index":5,"source":"SYSTEM","type":"SYSTEM_MESSAGE","status":"DONE","content":"note"}"#,
            r#"{"step_index":6,"source":"MODEL","type":"PLANNER_RESPONSE","status":"DONE","content":"One file."}"#,
        ],
        r#"
        USER_INPUT opened() + User injected=context(<SETTINGS>x</SETTINGS>) + User(List.)
        CONVERSATION_HISTORY-
        PLANNER_RESPONSE Assistant(thinks hm | call call-3 list_dir {"path":"/r"})
        LIST_DIRECTORY Tool(result call-3 a)
        CHECKPOINT compacted(before - "so far" - 0)
        SYSTEM_MESSAGE User injected=system_message(note)
        PLANNER_RESPONSE Assistant(One file.)
        "#,
    );
}

fn event_line((kind, id, parent): (usize, usize, usize)) -> String {
    let content =
        format!(r#""content":[{{"type":"text","text":"word {id}"}}],"parts":[{{"text":"word {id}"}}]"#);
    let tree = format!(r#""id":"i{id}","uuid":"i{id}","parentId":"i{parent}","parentUuid":"i{parent}""#);
    let kinds = [
        "user",
        "assistant",
        "tool_result",
        "message",
        "session_start",
        "system",
        "PLANNER_RESPONSE",
        "novelty",
    ];
    let kind = kinds[kind % kinds.len()];
    let calls = r#""tool_calls":[{"name":"ls","args":{}}],"toolName":"ls""#;
    format!(
        r#"{{"type":"{kind}",{tree},"sessionId":"s{}",{calls},"message":{{"role":"user",{content}}},{content}}}"#,
        parent / 4
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn sessions_go_on_where_they_stopped(steps in prop::collection::vec((0_usize..16, 0_usize..6, 0_usize..6), 1..12)) {
        let text: Vec<String> = steps.into_iter().map(event_line).collect();
        for format in [Format::Droid, Format::Grok, Format::Kimi, Format::Qwen, Format::Antigravity] {
            check_splits(format, "s.jsonl", text.join("\n").as_bytes());
        }
    }
}
