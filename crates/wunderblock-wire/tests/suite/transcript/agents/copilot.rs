use crate::transcript::{check, read};

#[test]
fn a_session_with_a_sub_agent_and_a_rewind() {
    let lines = [
        r#"{"type":"session.start","data":{"sessionId":"s","copilotVersion":"1.0.77","selectedModel":"m","context":{"cwd":"/w"}},"id":"1","timestamp":"2026-01-02T03:04:05Z","parentId":null}"#,
        r#"{"type":"session.info","data":{"infoType":"folder_trust","message":"trusted"},"id":"2","parentId":"1"}"#,
        r#"{"type":"system.message","data":{"content":"be brief","role":"system"},"id":"3","parentId":"2"}"#,
        r#"{"type":"user.message","data":{"content":"list","transformedContent":"<now>noon</now>\n\nlist\n\n<todo/>"},"id":"4","parentId":"3"}"#,
        r#"{"type":"assistant.turn_start","data":{"turnId":"0"},"id":"5","parentId":"4"}"#,
        r#"{"type":"assistant.reasoning","data":{"reasoningId":"r","content":"use ls"},"id":"6","parentId":"5"}"#,
        r#"{"type":"assistant.message","data":{"messageId":"a","content":"sure","reasoningText":"use ls","reasoningOpaque":"xyz","toolRequests":[{"toolCallId":"k","name":"bash","arguments":"{\"d\":1}","type":"function"},{"toolCallId":"t","name":"task","arguments":{}}],"outputTokens":12},"id":"7","parentId":"6"}"#,
        r#"{"type":"tool.execution_start","data":{"toolCallId":"k","toolName":"bash","arguments":{"d":1}},"id":"8","parentId":"7"}"#,
        r#"{"type":"subagent.started","data":{"toolCallId":"t","agentName":"explore"},"id":"9","parentId":"8"}"#,
        r#"{"type":"assistant.message","data":{"parentToolCallId":"t","messageId":"b","model":"n","content":"inside","toolRequests":[]},"id":"10","parentId":"9"}"#,
        r#"{"type":"tool.execution_complete","data":{"parentToolCallId":"t","toolCallId":"z","success":true,"result":{"content":"deep"}},"id":"11","parentId":"10"}"#,
        r#"{"type":"tool.execution_complete","data":{"toolCallId":"k","success":true,"result":{"content":"x y","detailedContent":"x\ny"}},"id":"12","parentId":"11"}"#,
        r#"{"type":"tool.execution_complete","data":{"toolCallId":"t","success":false,"error":{"message":"no"}},"id":"13","parentId":"12"}"#,
        r#"{"type":"subagent.failed","data":{"toolCallId":"t","agentName":"explore","error":"no","model":"n","totalTokens":9,"durationMs":8},"id":"13b","parentId":"13"}"#,
        r#"{"type":"subagent.completed","data":{"toolCallId":"t","agentName":"explore"},"id":"13c","parentId":"13b"}"#,
        r#"{"type":"assistant.message","data":{"messageId":"c","content":"done","toolRequests":[],"reasoningText":"fine"},"id":"14","parentId":"13"}"#,
        r#"{"type":"session.snapshot_rewind","data":{"upToEventId":"4","eventsRemoved":11},"id":"15","parentId":"14"}"#,
        r#"{"type":"session.model_change","data":{"newModel":"n"},"id":"16","parentId":"15"}"#,
        r#"{"type":"user.message","data":{"content":"instead","transformedContent":"other"},"id":"17","parentId":"16"}"#,
        r#"{"type":"abort","data":{"reason":"user"},"id":"18","parentId":"17"}"#,
        r#"{"type":"session.error","data":{"errorType":"query","message":"bad"},"id":"19","parentId":"18"}"#,
        r#"{"type":"session.compaction_start","data":{},"id":"20","parentId":"19"}"#,
        r#"{"type":"session.compaction_complete","data":{"success":true,"summaryContent":"so far","preCompactionTokens":99},"id":"21","parentId":"20"}"#,
        r#"{"type":"session.compaction_complete","data":{"success":false,"error":"busy"},"id":"22","parentId":"21"}"#,
        r#"{"type":"session.snapshot_rewind","data":{"upToEventId":"18"},"id":"23","parentId":"22"}"#,
        r#"{"type":"novelty","data":{"role":"user","content":"new"},"id":"24","parentId":"23"}"#,
    ];
    let records = read("events.jsonl", &lines.join("\n"));
    check(
        &records,
        r#"
        session.start opened(/w)
        session.info-
        system.message System injected=system.message(be brief)
        user.message User injected=transformedContent(<now>noon</now>/<todo/>) + User(list)
        assistant.turn_start-
        assistant.reasoning Assistant(thinks use ls)
        assistant.message Assistant(thinks  ~xyz | sure | call k bash {"d":1} | call t task {})
        tool.execution_start-
        subagent.started spawned(agent-t t explore)
        assistant.message [agent-t] opened() + Assistant(inside)
        tool.execution_complete [agent-t] Tool(result z deep)
        tool.execution_complete Tool(result k x y)
        tool.execution_complete Tool(result t failed no)
        subagent.failed returned(agent-t t Failed n Some(9) Some(8))
        subagent.completed returned(agent-t t Done - None None)
        assistant.message Assistant(thinks fine | done)
        session.snapshot_rewind
        session.model_change-
        user.message back 1: User injected=transformedContent(other) + User(instead)
        abort turn(aborted -)
        session.error turn(error query)
        session.compaction_start-
        session.compaction_complete compacted(before - "so far" - 99)
        session.compaction_complete-
        session.snapshot_rewind?
        novelty? User(new)
        "#,
    );
}
