use crate::transcript::{check, opaque_share, read};

#[test]
fn a_tree_of_version_3() {
    let text = concat!(
        r#"{"type":"session","version":3,"id":"p","timestamp":"2026-01-02T03:04:05Z","cwd":"/w"}"#,
        "\n",
        r#"{"type":"model_change","id":"1","parentId":null,"provider":"x","modelId":"m"}"#,
        "\n",
        r#"{"type":"message","id":"2","parentId":"1","message":{"role":"user","content":[{"type":"text","text":"go"},{"type":"image","data":"QQ==","mimeType":"image/png"}]}}"#,
        "\n",
        r#"{"type":"message","id":"3","parentId":"2","message":{"role":"assistant","model":"m","responseId":"r","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"s"},{"type":"toolCall","id":"k","name":"ls","arguments":{"n":1.0}}],"usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4},"stopReason":"toolUse"}}"#,
        "\n",
        r#"{"type":"message","id":"4","parentId":"k","message":{"role":"toolResult","toolCallId":"k","toolName":"ls","content":"a","isError":true}}"#,
        "\n",
        r#"{"type":"message","id":"5","parentId":"4","message":{"role":"assistant","content":[],"usage":{"input":0,"output":0},"stopReason":"aborted","errorMessage":"stopped"}}"#,
        "\n",
        r#"{"type":"message","id":"6","parentId":"2","message":{"role":"bashExecution","command":"make","output":"bad","exitCode":2}}"#,
        "\n",
        r#"{"type":"compaction","id":"7","parentId":"6","summary":"so far","firstKeptEntryId":"2","tokensBefore":99,"fromHook":false}"#,
        "\n",
        r#"{"type":"branch_summary","id":"8","parentId":"7","fromId":"5","summary":"elsewhere"}"#,
        "\n",
        r#"{"type":"custom","id":"9","parentId":"8","customType":"ui","data":{}}"#,
        "\n",
        r#"{"type":"custom_message","id":"10","parentId":"9","customType":"ctx","content":"note","display":false}"#,
        "\n",
        r#"{"type":"message","id":"11","parentId":"p","message":{"role":"user","content":"anew"}}"#,
        "\n",
        r#"{"type":"label","id":"12","parentId":"11","label":"x"}"#,
        "\n",
        r#"{"type":"new","id":"13","parentId":"12"}"#,
        "\n",
    );
    let records = read("session.jsonl", text);
    check(
        &records,
        r#"
        session opened(/w)
        model_change-
        message:user after 1: User(go | media image/png Base64 QQ==)
        message:assistant after 2: Assistant(thinks hm ~s | call k ls {"n":1.0}) + usage(r 1/3/4/2)
        message:toolResult Tool(result k failed a)
        message:assistant after 4: Assistant failed=stopped()
        message:bashExecution after 2: User injected=bash($ make/bad/(exit code 2))
        compaction after 6: compacted(before 2 "so far" - 99)
        branch_summary after 7: User injected=branch_summary(elsewhere)
        custom- after 8:
        custom_message after 9: User injected=custom_message:ctx(note)
        message:user root: User(anew)
        label- after 11:
        new? after 12:
        "#,
    );
    assert!(opaque_share(&records) < 0.05);
}

#[test]
fn version_1_is_in_order_and_counts_its_records() {
    let text = concat!(
        r#"{"type":"session","id":"p","timestamp":"2025-01-02T03:04:05Z","cwd":"/w"}"#,
        "\n",
        r#"{"type":"message","message":{"role":"user","content":"one"}}"#,
        "\n",
        r#"{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"two"}],"stopReason":"stop"}}"#,
        "\n",
        r#"{"type":"compaction","summary":"so far","firstKeptEntryIndex":2,"tokensBefore":9}"#,
        "\n",
    );
    let records = read("session.jsonl", text);
    check(
        &records,
        r#"
        session opened(/w)
        message:user User(one)
        message:assistant Assistant(two)
        compaction compacted(before entry-2 "so far" - 9)
        "#,
    );
    assert_eq!(records[2].id.as_deref(), Some("entry-2"));
}
