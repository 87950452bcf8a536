use crate::transcript::{check, opaque_share, read};

#[test]
fn each_run_is_a_session_named_after_its_task_and_trial() {
    let text = r#"[
 {"task_id": 3, "reward": 1.0, "info": {"task": {"instruction": "cancel"}}, "traj": [
   {"role": "system", "content": "policy"},
   {"role": "user", "content": "cancel it"},
   {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "cancel", "arguments": "{\"id\": 1}"}}]},
   {"role": "tool", "tool_call_id": "c1", "name": "cancel", "content": "done"}], "trial": 0},
 {"task_id": 3, "reward": 0.0, "traj": [{"role": "user", "content": "again"}], "trial": 1},
 {"task_id": 3, "reward": 0.0, "traj": [{"role": "user", "content": "and again"}], "trial": 1}
]"#;
    let records = read("results.json", text);
    check(
        &records,
        r#"
        document- [task-3-trial-0]
        document- [task-3-trial-0]
        system [task-3-trial-0] opened() + System(policy)
        user [task-3-trial-0] User(cancel it)
        assistant [task-3-trial-0] Assistant(call c1 cancel {"id": 1})
        tool [task-3-trial-0] Tool(result c1 done)
        document- [task-3-trial-0]
        document- [task-3-trial-1]
        user [task-3-trial-1] opened() + User(again)
        document- [task-3-trial-1]
        document- [task-3-trial-1-2]
        user [task-3-trial-1-2] opened() + User(and again)
        document- [task-3-trial-1-2]
        document- [task-3-trial-0]
        "#,
    );
    assert!(opaque_share(&records) < 0.05);
}

#[test]
fn example_dialogues_are_told_by_their_speakers() {
    let text = concat!(
        r#"{"messages_display":"user: cancel it\nassistant: None\ntool: done\nassistant: It is cancelled.\nGood bye."}"#,
        "\n",
        r#"{"messages_display":"user: hi"}"#,
        "\n",
        r#"{"messages_display":""}"#,
        "\n",
    );
    check(
        &read("few_shot.jsonl", text),
        "
        messages_display [line-1] opened() + User(cancel it) + Assistant aside=nothing was said(None) + User injected=tool output(done) + Assistant(It is cancelled./Good bye.)
        messages_display [line-2] opened() + User(hi)
        messages_display? [line-3]
        ",
    );
}
