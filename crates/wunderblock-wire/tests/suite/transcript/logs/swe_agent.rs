use crate::transcript::{check, opaque_share, read};
use wunderblock_wire::transcript::{Format, detect};

/// Returns a run with these messages, written like SWE-agent writes it: the steps first.
fn run(history: &[&str], info: &str) -> String {
    format!(
        "{{\n \"environment\": \"main\",\n \"trajectory\": [{{\"action\": \"ls\", \"observation\": \"a\", \"response\": \"x\"}}],\n \"history\": [\n  {}\n ],\n \"info\": {info}\n}}",
        history.join(",\n  ")
    )
}

const SYSTEM: &str = r#"{"role":"system","content":"rules","agent":"primary"}"#;
const DEMO: &str = r#"{"role":"user","content":"a demonstration","agent":"primary","is_demo":true}"#;
const TASK: &str = r#"{"role":"user","content":"fix it\nbash-$","agent":"primary"}"#;
const LOOK: &str = r#"{"role":"assistant","content":"I look.\n```\nls -a\n```","thought":"I look.\n","action":"ls -a\n","agent":"primary"}"#;
const SHOWN: &str = r#"{"role":"user","content":"a.py\nbash-$","agent":"primary"}"#;

#[test]
fn a_command_in_a_reply_is_a_call_and_the_output_its_result() {
    let retry =
        r#"{"role":"assistant","content":"no command","thought":"no command","action":"","agent":"primary"}"#;
    let refused = r#"{"role":"user","content":"your output was not formatted correctly","agent":"primary"}"#;
    let element = r#"{"role":"assistant","content":"Now.\n<command>\nsubmit\n</command>","action":"submit","agent":"primary"}"#;
    let text = run(
        &[SYSTEM, DEMO, TASK, LOOK, SHOWN, retry, refused, element],
        r#"{"exit_status":"submitted","model_stats":{"tokens_sent":5}}"#,
    );
    let records = read("run.traj", &text);
    check(
        &records,
        r#"
        document-
        system opened() + System(rules)
        demonstration User injected=demonstration(a demonstration)
        user User(fix it/bash-$)
        assistant Assistant(I look. | call action-1 bash {"command":"ls -a\n"})
        user Tool(result action-1 a.py/bash-$)
        assistant Assistant(no command)
        user User injected=environment(your output was not formatted correctly)
        assistant Assistant(Now. | call action-3 bash {"command":"submit"})
        document-
        info turn(submitted -)
        document-
        "#,
    );
    assert!(opaque_share(&records) < 0.05);
}

#[test]
fn functions_that_the_model_called_are_paired_by_their_ids() {
    let text = r#"{"history": [
        {"role":"system","content":"rules","agent":"main","message_type":"system_prompt"},
        {"role":"user","content":[{"type":"text","text":"fix it"}],"agent":"main","message_type":"observation"},
        {"role":"assistant","content":"I look.","thought":"I look.","action":"ls","agent":"main","tool_calls":[{"function":{"name":"bash","arguments":"{\"command\":\"ls\"}"},"id":"c1","type":"function"}],"message_type":"action"},
        {"role":"tool","content":"a.py","agent":"main","message_type":"observation","tool_call_ids":["c1"]},
        {"role":"user","content":"out of turn","agent":"main","message_type":"observation"}]}"#;
    check(
        &read("run.traj", text),
        r#"
        document-
        system opened() + System(rules)
        user User(fix it)
        assistant Assistant(I look. | call c1 bash {"command":"ls"})
        tool Tool(result c1 a.py)
        user User injected=environment(out of turn)
        document-
        "#,
    );
}

#[test]
fn a_run_without_history_is_read_from_its_steps() {
    let text = r#"{"trajectory": [{"action": "ls\n", "observation": "a.py", "response": "I look.\n```\nls\n```", "thought": "I look."}], "history": [], "info": {}}"#;
    assert_eq!(detect("run.json", text.as_bytes()), Ok(Format::SweAgent));
    check(
        &read("run.json", text),
        r#"
        document-
        step opened() + Assistant(I look. | call action-1 bash {"command":"ls\n"}) + Tool(result action-1 a.py)
        document-
        "#,
    );
}

#[test]
fn ids_stay_when_the_file_is_written_again_with_more_steps() {
    let ids = |history: &[&str], info: &str| {
        let records = read("run.traj", &run(history, info));
        records.into_iter().filter_map(|record| record.id).collect::<Vec<_>>()
    };
    let early = ids(&[SYSTEM, TASK, LOOK], "{}");
    let late = ids(&[SYSTEM, TASK, LOOK, SHOWN, LOOK], r#"{"exit_status":"submitted"}"#);
    assert_eq!(early[..], late[..3]);
    assert_eq!(late.len(), 6);
    // Another run of the same task is another session.
    let other = LOOK.replace("I look.", "I search.");
    assert!(ids(&[SYSTEM, TASK, &other], "{}").iter().all(|id| !late.contains(id)));
}
