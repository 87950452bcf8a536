use crate::transcript::{check, opaque_share, read};
use wunderblock_wire::transcript::TranscriptRecord;

const SESSION: &str = r#"{"info":{"id":"ses_1","projectID":"p","directory":"/srv/garden","title":"New session - 2026-01-02","version":"1.2.0","time":{"created":1767323045000,"updated":1767323045000}}}"#;
const PROMPT: &str = r#"{"parts":[{"id":"prt_1","type":"text","text":"water the beds"},{"id":"prt_2","type":"text","text":"Read of beds.txt","synthetic":true},{"id":"prt_3","type":"file","mime":"image/png","url":"data:image/png;base64,QQ=="},{"id":"prt_4","type":"file","mime":"text/plain","url":"file:///srv/garden/beds.txt"}],"info":{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":1767323046000},"agent":"build","model":{"providerID":"anthropic","modelID":"m"}}}"#;

fn lines(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Returns the line of a reply: its parts, and the fields that follow those that every reply has.
fn reply(id: &str, parts: &[&str], more: &str) -> String {
    let (parts, time) = (parts.join(","), r#""time":{"created":1767323047000}"#);
    format!(
        r#"{{"parts":[{parts}],"info":{{"id":"{id}","sessionID":"ses_1","role":"assistant",{time},"modelID":"m"{more}}}}}"#
    )
}

fn ids(records: &[TranscriptRecord]) -> Vec<&str> {
    records.iter().filter_map(|record| record.id.as_deref()).collect()
}

const THOUGHT: &str =
    r#"{"id":"prt_5","type":"reasoning","text":"use the hose","metadata":{"anthropic":{"signature":"sig"}}}"#;
const TEXT: &str = r#"{"id":"prt_6","type":"text","text":"I open the tap."}"#;
const RUNNING: &str = r#"{"id":"prt_7","type":"tool","callID":"c1","tool":"bash","state":{"status":"running","input":{"command":"open"}}}"#;
const DONE: &str = r#"{"id":"prt_7","type":"tool","callID":"c1","tool":"bash","state":{"status":"completed","input":{"command":"open"},"output":"opened","title":"t","metadata":{},"time":{"start":1767323048000,"end":1767323049000}}}"#;
const FAILED: &str = r#"{"id":"prt_8","type":"tool","callID":"c2","tool":"task","state":{"status":"error","input":{"prompt":"p"},"error":"no hose","metadata":{"sessionId":"ses_2"}}}"#;
const STEP: &str = r#"{"id":"prt_9","type":"step-finish","reason":"stop","cost":0.01,"tokens":{"input":10,"output":2,"reasoning":3,"cache":{"read":4,"write":5}}}"#;
const ENDED: &str = r#","finish":"stop","cost":0.01,"tokens":{"input":10,"output":2,"reasoning":3,"cache":{"read":4,"write":5}}"#;

#[test]
fn a_session_is_read_from_its_members() {
    let reply = reply("msg_2", &[THOUGHT, TEXT, DONE, FAILED, STEP], ENDED);
    let records = read("ses_1", &lines(&[SESSION, PROMPT, &reply]));
    check(
        &records,
        r#"
        session opened(/srv/garden)
        text User(water the beds)
        text User injected=synthetic(Read of beds.txt)
        file User(media image/png Base64 QQ==)
        reasoning Assistant(thinks use the hose ~sig)
        text Assistant(I open the tap.)
        tool Assistant(call c1 bash {"command":"open"})
        tool result Tool(result c1 opened)
        tool Assistant(call c2 task {"prompt":"p"})
        tool result Tool(result c2 failed no hose) + spawned(ses_2 c2) + returned(ses_2 c2 Failed - None None)
        step-finish usage(msg_2 10/4/5/5)
        "#,
    );
    assert_eq!(opaque_share(&records), 0.0);
}

#[test]
fn a_task_is_the_start_and_the_end_of_a_sub_agent() {
    let task = r#"{"id":"prt_8","type":"tool","callID":"c2","tool":"task","state":{"status":"completed","input":{"prompt":"p","subagent_type":"explore"},"output":"o","metadata":{"sessionId":"ses_2","model":{"providerID":"anthropic","modelID":"n"}},"time":{"start":1767323048000,"end":1767323049500}}}"#;
    let aborted = FAILED.replace("no hose", "Tool execution aborted").replace("prt_8", "prt_88");
    let told = crate::transcript::tell(&read("ses_1", &lines(&[&reply("msg_2", &[task, &aborted], ENDED)])));
    assert!(told.contains("spawned(ses_2 c2 explore) + returned(ses_2 c2 Done n None Some(1500))"), "{told}");
    assert!(told.contains("returned(ses_2 c2 Stopped - None None)"), "{told}");
}

#[test]
fn a_session_has_the_same_records_however_often_it_was_read_while_it_grew() {
    let typing = r#"{"id":"prt_6","type":"text","text":"I op"}"#;
    let titled = SESSION.replace("New session - 2026-01-02", "Watering");
    let whole = reply("msg_2", &[THOUGHT, TEXT, DONE, STEP], ENDED);
    let grown = read(
        "ses_1",
        &lines(&[
            SESSION,
            PROMPT,
            &reply("msg_2", &[THOUGHT, typing], ""),
            &titled,
            &reply("msg_2", &[THOUGHT, TEXT, RUNNING], ""),
            PROMPT,
            &reply("msg_2", &[THOUGHT, TEXT, DONE], ""),
            &whole,
            &whole,
        ]),
    );
    let once = read("ses_1", &lines(&[&titled, PROMPT, &whole]));
    let content = |records: &[TranscriptRecord]| {
        let mut all: Vec<_> = records
            .iter()
            .filter_map(|record| Some((record.id.clone()?, format!("{:?}", record.items.last()))))
            .collect();
        all.sort();
        all
    };
    assert_eq!(content(&grown), content(&once));
    assert_eq!(
        ids(&once)[1..],
        ["prt_1", "prt_2", "prt_3", "prt_5", "prt_6", "prt_7", "prt_7/result", "prt_9"]
    );
}

#[test]
fn usage_is_that_of_the_message_only_if_no_step_has_any() {
    let second = STEP.replace("prt_9", "prt_99");
    let steps = reply("msg_2", &[STEP, TEXT, &second], ENDED);
    let none = reply("msg_3", &[&TEXT.replace("prt_6", "prt_66")], ENDED);
    check(
        &read("ses_1", &lines(&[&steps, &none])),
        r#"
        step-finish opened() + usage(msg_2 10/4/5/5)
        text Assistant(I open the tap.)
        step-finish usage(msg_2/1 10/4/5/5)
        text Assistant(I open the tap.)
        assistant usage(msg_3 10/4/5/5)
        "#,
    );
}

#[test]
fn a_compaction_keeps_the_latest_messages_that_it_names() {
    let begun = r#"{"parts":[{"id":"prt_20","type":"compaction","auto":true,"tail_start_id":"msg_1"}],"info":{"id":"msg_5","sessionID":"ses_1","role":"user","time":{"created":1767323047000}}}"#;
    let summary = reply("msg_6", &[&TEXT.replace("prt_6", "prt_21")], &format!(r#","summary":true{ENDED}"#));
    let failed = reply(
        "msg_7",
        &[],
        r#","summary":true,"error":{"name":"MessageAbortedError","data":{"message":"stop"}}"#,
    );
    check(
        &read("ses_1", &lines(&[SESSION, PROMPT, begun, &summary, begun, &failed])),
        r#"
        session opened(/srv/garden)
        text User(water the beds)
        text User injected=synthetic(Read of beds.txt)
        file User(media image/png Base64 QQ==)
        repeated-
        assistant usage(msg_6 10/4/5/5) + compacted(before prt_1 "I open the tap." auto 19)
        repeated-
        assistant turn(aborted MessageAbortedError)
        "#,
    );
}

#[test]
fn a_removed_prompt_is_a_rewind() {
    let prompt = |number: u8, text: &str| {
        format!(
            r#"{{"parts":[{{"id":"prt_{number}a","type":"text","text":"{text}"}},{{"id":"prt_{number}b","type":"text","text":"more"}}],"info":{{"id":"msg_{number}","sessionID":"ses_1","role":"user"}}}}"#
        )
    };
    let text = [
        SESSION,
        &prompt(1, "one"),
        &prompt(2, "two"),
        &reply("msg_3", &[TEXT], r#","finish":"stop""#),
        r#"{"removed":"msg_2"}"#,
        r#"{"removed":"msg_3"}"#,
        &prompt(4, "instead"),
    ];
    check(
        &read("ses_1", &lines(&text)),
        r#"
        session opened(/srv/garden)
        text User(one)
        text User(more)
        text User(two)
        text User(more)
        text Assistant(I open the tap.)
        removed
        removed-
        text back 2: User(instead)
        text User(more)
        "#,
    );
}

#[test]
fn an_export_is_read_like_the_members() {
    let text = format!(
        "{{\n  \"info\": {},\n  \"messages\": [\n    {{\n      \"info\": {{\"id\": \"msg_2\", \"sessionID\": \"ses_1\", \"role\": \"assistant\"}},\n      \"parts\": [\n        {TEXT},\n        {DONE}\n      ]\n    }},\n    7\n  ]\n}}\n",
        SESSION.strip_prefix(r#"{"info":"#).unwrap().strip_suffix('}').unwrap()
    );
    check(
        &read("export.json", &text),
        r#"
        document-
        session opened(/srv/garden)
        document-
        text Assistant(I open the tap.)
        tool Assistant(call c1 bash {"command":"open"})
        tool result Tool(result c1 opened)
        element?
        document-
        "#,
    );
}

#[test]
fn unknown_parts_keep_their_text_and_strange_members_are_reported() {
    let part = r#"{"id":"prt_1","type":"poem","text":"a rose"}"#;
    check(
        &read("ses_1", &lines(&[SESSION, &reply("msg_2", &[part, "7"], ""), r#"{"x":1}"#, "{"])),
        r#"
        session opened(/srv/garden)
        poem? Assistant(a rose)
        part?
        record?
        broken!
        "#,
    );
    let alone = DONE.replace(r#""type""#, r#""messageID":"msg_2","sessionID":"ses_1","type""#);
    check(
        &read("prt_7.json", &alone),
        r#"
        tool opened() + Assistant(call c1 bash {"command":"open"})
        tool result Tool(result c1 opened)
        "#,
    );
}
