use crate::transcript::{check, opaque_share, read};

fn composer(more: &str) -> String {
    format!(
        r#"{{"composer":{{"composerId":"c1","name":"Beds","createdAt":1767323045000,"modelConfig":{{"modelName":"m"}},"workspaceIdentifier":{{"uri":{{"fsPath":"/srv/garden"}}}},"fullConversationHeadersOnly":[{{"bubbleId":"b1","type":1}},{{"bubbleId":"b2","type":2}}]{more}}}}}"#
    )
}

const PROMPT: &str =
    r#"{"bubble":{"bubbleId":"b1","type":1,"text":"water","createdAt":"2026-01-02T03:04:05Z"}}"#;

fn tool(status: &str, more: &str) -> String {
    format!(
        r#"{{"bubble":{{"bubbleId":"b3","type":2,"text":"","toolFormerData":{{"name":"run","toolCallId":"t","rawArgs":"{{\"c\":1}}","status":"{status}"{more}}}}}}}"#
    )
}

const REPLY: &str = r#"{"bubble":{"bubbleId":"b2","type":2,"text":"sure","thinking":{"text":"hm","signature":"s"},"tokenCount":{"inputTokens":9,"outputTokens":2}}}"#;

fn lines(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_conversation_is_read_from_its_bubbles_as_it_grows() {
    let text = lines(&[
        &composer(r#","status":"generating""#),
        PROMPT,
        &REPLY.replace("sure", "su"),
        &composer(r#","status":"completed""#),
        REPLY,
        &tool("running", ""),
        &tool("completed", r#","result":"{\"out\":\"wet\"}""#),
        &tool("completed", r#","result":"{\"out\":\"wet\"}""#),
        r#"{"removed":"b1"}"#,
        &PROMPT.replace("b1", "b4").replace("water", "mow"),
        r#"{"bubble":{"bubbleId":"b5","type":7}}"#,
    ]);
    let records = read("c1", &text);
    check(
        &records,
        r#"
        composer opened(/srv/garden) + fact(session.described)
        user User(water)
        assistant-
        composer-
        assistant Assistant(thinks hm ~s | sure) + usage(b2 9/0/0/2)
        assistant Assistant(call t run {"c":1})
        assistant-
        tool result Tool(result t {"out":"wet"})
        assistant-
        removed
        user back 1: User(mow)
        bubble?
        "#,
    );
    assert!(opaque_share(&records) < 0.05);
}
