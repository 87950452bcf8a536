use crate::transcript::{check, opaque_share, read};

const HEADER: &str =
    r#"{"sessionId":"s","projectHash":"p","startTime":"2026-01-02T03:04:05Z","kind":"main"}"#;

fn lines(lines: &[&str]) -> String {
    std::iter::once(&HEADER).chain(lines).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_message_that_grows_is_read_once() {
    let text = lines(&[
        r#"{"id":"u","timestamp":"2026-01-02T03:04:06Z","type":"user","content":[{"text":"list"}]}"#,
        r#"{"$set":{"lastUpdated":"2026-01-02T03:04:07Z"}}"#,
        r#"{"id":"g","type":"gemini","content":"sure","thoughts":[{"subject":"plan","description":"use ls"}],"model":"m"}"#,
        r#"{"$set":{"lastUpdated":"2026-01-02T03:04:08Z"}}"#,
        r#"{"id":"g","type":"gemini","content":"sure","thoughts":[{"subject":"plan","description":"use ls"}],"model":"m","tokens":{"input":10,"output":2,"cached":4,"thoughts":3,"tool":0,"total":15}}"#,
        r#"{"id":"g","type":"gemini","content":"sure","model":"m","tokens":{"input":10,"output":2,"cached":4,"thoughts":3},"toolCalls":[{"id":"a","name":"ls","args":{"d":1},"status":"executing"}]}"#,
        r#"{"id":"g","type":"gemini","content":"sure","model":"m","tokens":{"input":10},"toolCalls":[{"id":"a","name":"ls","args":{"d":1},"status":"success","result":[{"functionResponse":{"id":"a","name":"ls","response":{"output":"x y"}}}]},{"id":"b","name":"rm","args":{},"status":"error","result":[{"functionResponse":{"id":"b","response":{"error":"no"}}},{"inlineData":{"mimeType":"image/png","data":"QQ=="}}]}]}"#,
        r#"{"id":"g","type":"gemini","content":"sure","model":"m","tokens":{"input":10},"toolCalls":[{"id":"a","name":"ls","args":{"d":1},"result":[]},{"id":"b","name":"rm","args":{},"result":[]}]}"#,
        r#"{"id":"i","type":"info","content":"Update available"}"#,
        r#"{"id":"e","type":"error","content":"[API Error: quota]"}"#,
        r#"{"id":"h","type":"gemini","content":"","thoughts":[{"description":"again"}],"toolCalls":[{"name":"pwd","args":{},"result":"/w"}]}"#,
        r#"{"id":"h","type":"gemini","content":"","thoughts":[{"description":"again"}],"toolCalls":[{"name":"pwd","args":{},"result":"/w"}]}"#,
    ]);
    let records = read("session-1.jsonl", &text);
    check(
        &records,
        r#"
        session-
        user opened() + User(list)
        $set-
        gemini Assistant(thinks plan: use ls | sure)
        $set-
        gemini usage(g 6/4/0/5)
        gemini Assistant(call a ls {"d":1})
        gemini Assistant(call b rm {}) + Tool(result a x y | result b failed {"error":"no"} media image/png Base64 QQ==)
        gemini-
        info-
        error turn(error -)
        gemini Assistant(thinks again | call call-h-0 pwd {}) + Tool(result call-h-0 /w)
        gemini-
        "#,
    );
    let ids: Vec<_> = records.iter().filter_map(|record| record.id.as_deref()).collect();
    assert_eq!(ids, ["u", "g", "g/usage", "g/a", "g/a/result", "i", "e", "h"]);
}

#[test]
fn a_rewind_goes_back_before_a_prompt() {
    let text = lines(&[
        r#"{"id":"1","type":"user","content":"one"}"#,
        r#"{"id":"2","type":"gemini","content":"first"}"#,
        r#"{"id":"3","type":"user","content":"two"}"#,
        r#"{"id":"4","type":"gemini","content":"second"}"#,
        r#"{"id":"5","type":"user","content":"three"}"#,
        r#"{"$rewindTo":"5"}"#,
        r#"{"$rewindTo":"3"}"#,
        r#"{"$set":{"lastUpdated":"2026-01-02T03:04:07Z"}}"#,
        r#"{"id":"6","type":"user","content":"instead"}"#,
        r#"{"$rewindTo":"2"}"#,
        r#"{"$rewindTo":"unknown"}"#,
        r#"{"id":"7","type":"user","content":"anew"}"#,
    ]);
    check(
        &read("session-1.jsonl", &text),
        r#"
        session-
        user opened() + User(one)
        gemini Assistant(first)
        user User(two)
        gemini Assistant(second)
        user User(three)
        $rewindTo
        $rewindTo
        $set-
        user back 2: User(instead)
        $rewindTo?
        $rewindTo
        user root: User(anew)
        "#,
    );
}

#[test]
fn a_compressed_conversation_is_a_compaction() {
    let text = lines(&[
        r#"{"id":"1","type":"user","content":"one"}"#,
        r#"{"id":"2","type":"gemini","content":"first"}"#,
        r#"{"id":"3","type":"user","content":"two"}"#,
        r#"{"$set":{"messages":[{"id":"s","type":"user","content":[{"text":"so far"}]},{"id":"t","type":"gemini","content":"Got it."},{"id":"3","type":"user","content":"two"}],"lastUpdated":"2026-01-02T03:04:07Z"}}"#,
        r#"{"$set":{"messages":[{"id":"s","type":"user","content":[{"text":"so far"}]},{"id":"3","type":"user","content":"masked"}]}}"#,
        r#"{"$set":{"messages":[{"id":"x","type":"user","content":"?"}]}}"#,
        r#"{"id":"4","type":"gemini","content":"second"}"#,
        r#"{"id":"4","type":"gemini","content":"rewritten"}"#,
        r#"{"id":"9","new":true}"#,
    ]);
    check(
        &read("session-1.jsonl", &text),
        r#"
        session-
        user opened() + User(one)
        gemini Assistant(first)
        user User(two)
        $set compacted(before 3 "so far" - 0)
        $set-
        $set?
        gemini Assistant(second)
        gemini?
        ?
        "#,
    );
}

/// A session as version 0.61.0 writes it: its context, a call, a prompt, a compression that keeps that prompt under
/// another id, and one that keeps nothing.
#[test]
fn a_session_with_its_context_and_compressions() {
    let context = r#"{"id":"c","timestamp":"2026-01-02T03:04:05Z","type":"user","content":[{"text":"<session_context>\nSet up.\n- **Workspace Directories:**\n  - /home/ann/garden\n- **Directory Structure:**\n</session_context>"}]}"#;
    let set = |messages: &[&str]| format!(r#"{{"$set":{{"messages":[{}]}}}}"#, messages.join(","));
    let summary = |id: &str| {
        format!(
            r#"{{"id":"{id}","type":"user","content":[{{"text":"<state_snapshot>shut it</state_snapshot>"}}]}}"#
        )
    };
    let ack = |id: &str| format!(r#"{{"id":"{id}","type":"gemini","content":[{{"text":"Got it."}}]}}"#);
    let result = r#"{"functionResponse":{"id":"a","name":"ls","response":{"output":"gate"}}}"#;
    let text = lines(&[
        &set(&[context]),
        r#"{"id":"1","type":"user","content":[{"text":"Is the gate open?"}]}"#,
        r#"{"id":"2","type":"gemini","content":"","tokens":{"input":9,"output":1}}"#,
        &format!(
            r#"{{"id":"2","type":"gemini","content":"","tokens":{{"input":9,"output":1}},"toolCalls":[{{"id":"a","name":"ls","args":{{}},"result":[{result}]}}]}}"#
        ),
        &format!(r#"{{"id":"3","type":"user","content":[{result}]}}"#),
        r#"{"id":"4","type":"gemini","content":"Yes."}"#,
        r#"{"id":"5","type":"user","content":[{"text":"And the hinge?"}]}"#,
        r#"{"id":"6","type":"gemini","content":"Loose."}"#,
        &set(&[context]),
        &set(&[
            context,
            &summary("s"),
            &ack("t"),
            r#"{"id":"u","type":"user","content":[{"text":"And the hinge?"}]}"#,
            r#"{"id":"v","type":"gemini","content":[{"text":"Loose."}]}"#,
        ]),
        &set(&[context, &summary("s"), &ack("t")]),
        r#"{"id":"7","type":"user","content":[{"text":"Paint it."}]}"#,
        &set(&[context, &summary("w"), &ack("x")]),
        &set(&[context, r#"{"id":"y","type":"user","content":[{"text":"Paint it."}]}"#]),
        r#"{"id":"8","type":"user","content":[{"functionResponse":{"id":"b","response":{"output":"late"}}}]}"#,
    ]);
    let records = read("session-1.jsonl", &text);
    check(
        &records,
        r#"
        session-
        $set opened(/home/ann/garden) + User injected=session_context(<session_context>/Set up./- **Workspace Directories:**/  - /home/ann/garden/- **Directory Structure:**/</session_context>)
        user User(Is the gate open?)
        gemini usage(2 9/0/0/1)
        gemini Assistant(call a ls {}) + Tool(result a gate)
        user-
        gemini Assistant(Yes.)
        user User(And the hinge?)
        gemini Assistant(Loose.)
        $set-
        $set compacted(before 5 "<state_snapshot>shut it</state_snapshot>" - 0)
        $set-
        user User(Paint it.)
        $set compacted(before - "<state_snapshot>shut it</state_snapshot>" - 0)
        $set-
        user Tool(result b late)
        "#,
    );
}

#[test]
fn a_session_in_one_document() {
    let text = r#"{
  "sessionId": "s",
  "projectHash": "p",
  "startTime": "2026-01-02T03:04:05Z",
  "messages": [
    {"id": "1", "timestamp": "2026-01-02T03:04:06Z", "type": "user", "content": "go"},
    {"id": "2", "type": "gemini", "content": "", "tokens": {"input": 5, "output": 1},
     "toolCalls": [{"id": "k", "name": "ls", "args": {}, "result": [{"functionResponse": {"id": "k", "response": {"output": "x"}}}]}]},
    {"id": "3", "type": "model", "parts": [{"text": "done"}]}
  ]
}"#;
    let records = read("session-1.json", text);
    check(
        &records,
        r#"
        document-
        user opened() + User(go)
        gemini Assistant(call k ls {}) + usage(2 5/0/0/1) + Tool(result k x)
        model Assistant(done)
        document-
        "#,
    );
    assert!(opaque_share(&records) < 0.05);
}

#[test]
fn a_saved_chat_has_contents_of_requests() {
    let text = r#"{"history": [
  {"role": "user", "parts": [{"text": "go"}]},
  {"role": "model", "parts": [{"text": "hm", "thought": true}, {"functionCall": {"name": "ls", "args": {"d": 1}}}]},
  {"role": "user", "parts": [{"functionResponse": {"name": "ls", "response": {"output": "x"}}}]},
  {"role": "model", "parts": [{"text": "done"}]}
], "authType": "key"}"#;
    let records = read("checkpoint-a.json", text);
    check(
        &records,
        r#"
        document-
        user (saved) opened() + User(go)
        model (saved) Assistant(thinks hm | call call-3 ls {"d": 1})
        user (saved) Tool(result call-3 x)
        model (saved) Assistant(done)
        document-
        "#,
    );
    assert!(opaque_share(&records) < 0.05);
}
