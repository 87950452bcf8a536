use crate::transcript::{check, opaque_share, read};
use std::fmt::Write as _;
use wunderblock_core::event::Fact;
use wunderblock_core::message::Part;
use wunderblock_wire::transcript::{RecordItem, RecordStatus, TranscriptRecord};

/// Builds a file record by record.
#[derive(Default)]
struct File {
    text: String,
}

impl File {
    /// Adds a record of the tree: type, id, parent (`null` or an id), other fields.
    fn add(mut self, kind: &str, id: &str, parent: &str, fields: &str) -> Self {
        let parent = if parent == "null" { parent.to_owned() } else { format!("\"{parent}\"") };
        let more = if fields.is_empty() { String::new() } else { format!(",{fields}") };
        writeln!(
            self.text,
            r#"{{"parentUuid":{parent},"isSidechain":false,"cwd":"/w","sessionId":"s","version":"2","type":"{kind}","uuid":"{id}","timestamp":"2026-01-02T03:04:05.678Z"{more}}}"#
        )
        .unwrap();
        self
    }

    fn user(self, id: &str, parent: &str, text: &str) -> Self {
        self.add("user", id, parent, &format!(r#""message":{{"role":"user","content":"{text}"}}"#))
    }

    fn assistant(self, id: &str, parent: &str, (api, blocks): (&str, &str)) -> Self {
        let usage = r#"{"input_tokens":3,"cache_read_input_tokens":2,"cache_creation_input_tokens":1,"output_tokens":9}"#;
        let message = format!(
            r#"{{"id":"{api}","model":"m","role":"assistant","content":[{blocks}],"usage":{usage}}}"#
        );
        self.add("assistant", id, parent, &format!(r#""message":{message}"#))
    }

    fn result(self, id: &str, parent: &str, call: &str) -> Self {
        let block = format!(r#"{{"type":"tool_result","tool_use_id":"{call}","content":"out"}}"#);
        self.add(
            "user",
            id,
            parent,
            &format!(r#""toolUseResult":{{}},"message":{{"role":"user","content":[{block}]}}"#),
        )
    }

    fn line(mut self, line: &str) -> Self {
        self.text.push_str(line);
        self.text.push('\n');
        self
    }

    fn read(&self) -> Vec<TranscriptRecord> {
        read("session.jsonl", &self.text)
    }
}

const TEXT: &str = r#"{"type":"text","text":"hi"}"#;

fn call(id: &str) -> String {
    format!(
        r#"{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":"ls","n":90071992547409931}}}}"#
    )
}

#[test]
fn one_reply_over_several_lines_keeps_its_id_and_its_usage_counts_once() {
    let file = File::default()
        .user("u1", "null", "go")
        .assistant("a1", "u1", ("m1", r#"{"type":"thinking","thinking":"hm","signature":"sig"}"#))
        .assistant("a2", "a1", ("m1", TEXT))
        .assistant("a3", "a2", ("m1", &call("c1")))
        .result("r1", "a3", "c1");
    let records = file.read();
    check(
        &records,
        r#"
        user opened(/w) + User(go)
        assistant after u1: Assistant(thinks hm ~sig) + usage(m1 3/2/1/9)
        assistant after a1: Assistant(hi)
        assistant after a2: Assistant(call c1 Bash {"command":"ls","n":90071992547409931})
        user after a3: Tool(result c1 out)
        "#,
    );
    assert_eq!(records[0].at.map(|at| at.0), Some(1_767_323_045_678));
    for record in &records[1..4] {
        let RecordItem::Message(message) = &record.items[0] else { panic!("{record:?}") };
        assert_eq!((message.api_id.as_deref(), message.model.as_deref()), (Some("m1"), Some("m")));
    }
    assert!(opaque_share(&records) < 0.05);
}

#[test]
fn parallel_calls_make_no_branches() {
    let file = File::default()
        .user("u1", "null", "go")
        .assistant("a1", "u1", ("m1", &call("c1")))
        .assistant("a2", "a1", ("m1", &call("c2")))
        .result("r1", "a1", "c1")
        .result("r2", "a2", "c2")
        .assistant("a3", "r2", ("m2", TEXT));
    let branches: Vec<_> = file.read().iter().map(|record| format!("{:?}", record.place)).collect();
    assert_eq!(branches, ["Next", "After(\"u1\")", "After(\"a1\")", "Next", "Next", "After(\"r2\")"]);
}

#[test]
fn rewinds_branch_and_a_new_beginning_is_a_root() {
    let file = File::default()
        .user("u1", "null", "one")
        .assistant("a1", "u1", ("m1", TEXT))
        .user("u2", "a1", "two")
        .user("u3", "a1", "two again")
        .user("u4", "null", "one again")
        .user("u5", "not in this file", "three");
    check(
        &file.read(),
        "
        user opened(/w) + User(one)
        assistant after u1: Assistant(hi) + usage(m1 3/2/1/9)
        user after a1: User(two)
        user after a1: User(two again)
        user root: User(one again)
        user User(three)
        ",
    );
}

#[test]
fn records_that_never_name_a_parent_are_in_order() {
    let file = File::default()
        .user("u1", "null", "one")
        .assistant("a1", "null", ("m1", TEXT))
        .user("u2", "null", "two");
    assert!(file.read().iter().all(|record| record.place == wunderblock_wire::transcript::RecordPlace::Next));
}

#[test]
fn a_compaction_takes_its_summary_from_the_record_that_follows() {
    let meta = r#""subtype":"compact_boundary","logicalParentUuid":"a1","compactMetadata":{"trigger":"auto","preTokens":77,"preservedMessages":{"uuids":["u1","a1"]}}"#;
    let summary = r#""isCompactSummary":true,"isVisibleInTranscriptOnly":true,"message":{"role":"user","content":"so far"}"#;
    let file = File::default()
        .user("u1", "null", "one")
        .assistant("a1", "u1", ("m1", TEXT))
        .add("system", "b1", "null", meta)
        .add("user", "s1", "b1", summary)
        .user("u2", "a1", "goes on at the head")
        .add(
            "system",
            "b2",
            "null",
            r#""subtype":"compact_boundary","logicalParentUuid":"u2","compactMetadata":{"trigger":"manual"}"#,
        )
        .user("u3", "b2", "no summary came");
    check(
        &file.read(),
        r#"
        user opened(/w) + User(one)
        assistant after u1: Assistant(hi) + usage(m1 3/2/1/9)
        system:compact_boundary after a1:
        user after b1: compacted(before u1 "so far" auto 77)
        user User(goes on at the head)
        system:compact_boundary after u2:
        user after b2: compacted(before - "" manual 0) + User(no summary came)
        "#,
    );
}

#[test]
fn sub_agents_are_sessions_of_their_own() {
    let side = |id: &str, parent: &str, more: &str| {
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":true,"sessionId":"s","type":"user","uuid":"{id}"{more},"message":{{"role":"user","content":"{id}"}}}}"#
        )
    };
    let file = File::default()
        .user("u1", "null", "one")
        .line(&side("x1", "null", ""))
        .line(&side("x2", "\"x1\"", ""))
        .line(&side("y1", "null", r#","agentId":"7""#))
        .add("user", "u2", "u1", r#""toolUseResult":{"agentId":"7"},"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"done"}]}"#);
    let records = file.read();
    check(
        &records,
        "
        user opened(/w) + User(one)
        user [sidechain-x1] opened() + User(x1)
        user [sidechain-x1] after x1: User(x2)
        user [agent-7] opened() + User(y1)
        user after u1: Tool(result c done) + spawned(agent-7 c)
        ",
    );
    assert!(records[1..4].iter().all(|record| record.parent_session.as_deref() == Some("s")));

    let own = read("agent-7.jsonl", &side("y1", "null", r#","agentId":"7""#));
    assert_eq!((own[0].session.as_deref(), own[0].parent_session.as_deref()), (None, Some("s")));
}

#[test]
fn what_is_reported_about_a_sub_agent_follows_the_message() {
    let result = |id: &str, before: &str, told: &str, call: &str| {
        let message = format!(
            r#""toolUseResult":{told},"message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{call}","content":"x"}}]}}"#
        );
        (id.to_owned(), before.to_owned(), message)
    };
    let note = |summary: &str, status: &str, task: &str, result: &str| {
        let text = format!(
            "<task-notification>\\n<task-id>{task}</task-id>\\n<tool-use-id>c2</tool-use-id>\\n<status>{status}</status>\\n<summary>{summary}</summary>\\n<result>{result}</result>\\n<usage><total_tokens>90</total_tokens><duration_ms>7</duration_ms></usage>\\n</task-notification>"
        );
        format!(r#""message":{{"role":"user","content":"{text}"}}"#)
    };
    let done = r#"{"status":"completed","agentId":"1","agentType":"Explore","resolvedModel":"m-1","totalDurationMs":72000,"totalTokens":24100,"prompt":"p","content":[]}"#;
    let launched = r#"{"isAsync":true,"status":"async_launched","agentId":"2","resolvedModel":"m-1"}"#;
    let early = r#"{"agentId":"3","totalDurationMs":5,"wasInterrupted":true}"#;
    let records =
        [result("u1", "u0", done, "c1"), result("u2", "u1", launched, "c2"), result("u3", "u2", early, "c3")];
    let file = records.iter().fold(File::default().user("u0", "null", "go"), |file, (id, before, more)| {
        file.add("user", id, before, more)
    });
    let file = file
        // The result is the sub-agent's text, whatever it contains.
        .add(
            "user",
            "u4",
            "u3",
            &note(
                "Agent \\\"look\\\" completed",
                "completed",
                "2",
                "<status>failed</status><total_tokens>1</total_tokens>",
            ),
        )
        .add("user", "u5", "u4", &note("Agent \\\"look\\\" was stopped", "killed", "2", "half"))
        .add("user", "u6", "u5", &note("Background command \\\"ls\\\" completed", "completed", "b1", "x"));
    let told = crate::transcript::tell(&file.read());
    let told: Vec<&str> = told.lines().map(|line| line.rsplit(") + ").next().unwrap_or_default()).collect();
    let told: Vec<&str> = told.into_iter().filter(|line| line.contains("agent-")).collect();
    assert_eq!(
        told,
        [
            "returned(agent-1 c1 Done m-1 Some(24100) Some(72000))",
            "spawned(agent-2 c2)",
            "returned(agent-3 c3 Stopped - None Some(5))",
            "returned(agent-2 c2 Done - Some(90) Some(7))",
            "returned(agent-2 c2 Stopped - Some(90) Some(7))",
        ]
    );
    let told = crate::transcript::tell(&file.read());
    assert!(told.contains("Tool(result c1 x) + spawned(agent-1 c1 Explore) + returned(agent-1"), "{told}");
    assert!(!told.contains("agent-b1"), "a command is not an agent: {told}");
}

#[test]
fn two_sessions_in_one_file_stay_apart_unless_one_goes_on_from_the_other() {
    let other = |id: &str, parent: &str| {
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"sessionId":"t","type":"user","uuid":"{id}","message":{{"role":"user","content":"{id}"}}}}"#
        )
    };
    let file = File::default()
        .user("u1", "null", "one")
        .line(&other("t1", "null"))
        .line(&other("t2", "\"t1\""))
        .line(&other("u2", "\"u1\""));
    check(
        &file.read(),
        "
        user opened(/w) + User(one)
        user [t] opened() + User(t1)
        user [t] after t1: User(t2)
        user after u1: User(u2)
        ",
    );
}

#[test]
fn what_the_harness_wrote_is_not_said() {
    let meta = r#""isMeta":true,"message":{"role":"user","content":"note"}"#;
    let aside = r#""isVisibleInTranscriptOnly":true,"message":{"role":"user","content":"shown"}"#;
    let error = r#""isApiErrorMessage":true,"message":{"id":"e","model":"<synthetic>","content":[{"type":"text","text":"Prompt is too long"}]}"#;
    let file = File::default()
        .add("user", "1", "null", meta)
        .add("user", "2", "1", aside)
        .user("3", "2", "<local-command-stdout>x</local-command-stdout>")
        .add("assistant", "4", "3", error)
        .add("attachment", "5", "4", r#""attachment":{"type":"file","filename":"a.rs","content":{"type":"text","file":{"filePath":"a.rs","content":"fn a"}}}"#)
        .add("attachment", "6", "5", r#""attachment":{"type":"todo_reminder","content":[{"content":"do it","status":"open"}]}"#)
        .add("attachment", "7", "6", r#""attachment":{"type":"auto_mode"}"#)
        .add("system", "8", "7", r#""subtype":"turn_duration","durationMs":5"#)
        .line(r#"{"type":"summary","summary":"title","leafUuid":"x"}"#)
        .line(r#"{"type":"file-history-snapshot","messageId":"1","snapshot":{}}"#);
    check(
        &file.read(),
        "
        user opened(/w) + User injected=meta(note)
        user after 1: User aside=visible in the transcript only(shown)
        user after 2: User injected=local-command-stdout(<local-command-stdout>x</local-command-stdout>)
        assistant after 3: Assistant failed=api_error(Prompt is too long) + turn(error context_overflow)
        attachment:file after 4: User injected=attachment:file(a.rs/fn a)
        attachment:todo_reminder after 5: User injected=attachment:todo_reminder(do it/open)
        attachment:auto_mode- after 6:
        system:turn_duration after 7: turn(end -)
        summary-
        file-history-snapshot-
        ",
    );
}

/// As version 2.1.332 writes them between the messages of a turn.
#[test]
fn records_of_requests_are_beside_the_conversation() {
    let file = File::default()
        .line(r#"{"type":"queue-operation","operation":"enqueue","sessionId":"s","content":"hello"}"#)
        .user("a", "null", "hello")
        .add("attachment", "b", "a", r#""attachment":{"type":"date","date":"2026-01-02"},"rendered":[{"content":"Today is the second."}],"renderedRole":"system""#)
        .line(r#"{"type":"api-request-blob","sessionId":"s","hash":"h","message":{"role":"user","content":[{"type":"text","text":"all of it"}]}}"#)
        .line(r#"{"type":"nova","sessionId":"s","message":{"role":"user","content":"of a later version"}}"#)
        .assistant("c", "b", ("m1", TEXT));
    let records = file.read();
    let said: Vec<&str> = records
        .iter()
        .flat_map(|record| &record.items)
        .filter_map(|item| match item {
            RecordItem::Message(message) => match message.parts.as_slice() {
                [Part::Text { text, .. }] => text.inline(),
                _ => None,
            },
            _ => None,
        })
        .collect();
    assert_eq!(said, ["hello", "Today is the second.", "hi"]);
    assert_eq!(records[3].kept, RecordStatus::Bookkeeping);
    assert!(matches!(&records[4].kept, RecordStatus::Opaque { why } if why.contains("`nova`")));
}

#[test]
fn calls_and_results_of_the_early_form_are_paired_by_order() {
    let records = read(
        "old.jsonl",
        concat!(
            r#"{"type":"user","sessionId":"s","uuid":"u","message":{"role":"user","content":"x"}}"#,
            "\n",
            r#"{"type":"tool_use","sessionId":"s","name":"bash","input":{"a":1},"uuid":"t1"}"#,
            "\n",
            r#"{"type":"tool_use","sessionId":"s","name":"bash","input":{"a":2},"uuid":"t2"}"#,
            "\n",
            r#"{"type":"tool_result","sessionId":"s","output":"one","uuid":"r1"}"#,
            "\n",
            r#"{"type":"tool_result","sessionId":"s","output":"two","uuid":"r2"}"#,
            "\n",
        ),
    );
    check(
        &records,
        r#"
        user opened() + User(x)
        tool_use Assistant(call call-t1 bash {"a":1})
        tool_use Assistant(call call-t2 bash {"a":2})
        tool_result Tool(result call-t1 one)
        tool_result Tool(result call-t2 two)
        "#,
    );
}

#[test]
fn unknown_blocks_and_fields_travel_along() {
    let blocks = r#"{"type":"redacted_thinking","data":"zz"},{"type":"text","text":"t","citations":[1.50]}"#;
    let records = File::default().user("u", "null", "x").assistant("a", "u", ("m", blocks)).read();
    let RecordItem::Message(message) = &records[1].items[0] else { panic!() };
    let Part::Thinking { text, signature, .. } = &message.parts[0] else { panic!() };
    assert_eq!(
        (text.inline(), signature.as_deref()),
        (Some(""), Some("zz")),
        "all of it is in the signature"
    );
    let Part::Text { extra, .. } = &message.parts[1] else { panic!() };
    assert_eq!(extra.as_deref(), Some(r#"{"citations":[1.50]}"#));
}

#[test]
fn a_broken_line_between_a_record_and_its_child_does_not_part_them() {
    let file = File::default()
        .user("u1", "null", "go")
        .line(&"\0".repeat(40))
        .assistant("a1", "u1", ("m1", TEXT))
        .user("u2", "a1", "on");
    check(
        &file.read(),
        "
        user opened(/w) + User(go)
        broken!
        assistant after u1: Assistant(hi) + usage(m1 3/2/1/9)
        user after a1: User(on)
        ",
    );
}

#[test]
fn a_broken_line_costs_only_itself() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let file = File::default()
        .line("{\"type\":\"user\",\"uuid\":\"u0")
        .user("u1", "null", "one")
        .line(&format!(r#"{{"type":"user","uuid":"d","sessionId":"s","message":{deep}}}"#))
        .line(r#"{"type":"mode","sessionId":"s"}{"type":"mode","sessionId":"s"}trash"#)
        .user("u2", "u1", "two");
    let records = file.read();
    check(
        &records,
        "
        broken!
        user opened(/w) + User(one)
        broken!
        mode-
        mode-
        broken!
        user after u1: User(two)
        ",
    );
    assert!(matches!(&records[2].kept, RecordStatus::Broken { why } if why.contains("nested deeper")));
}

#[test]
fn a_title_belongs_to_its_session_even_if_it_is_given_before_the_first_message() {
    let title = r#"{"type":"custom-title","customTitle":"The  parser\n","sessionId":"s"}"#;
    let user = r#"{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"hi"}}"#;
    for file in [format!("{title}\n{user}\n"), format!("{user}\n{title}\n")] {
        let records = read("s.jsonl", &file);
        let items: Vec<&RecordItem> = records.iter().flat_map(|record| &record.items).collect();
        assert!(matches!(items[0], RecordItem::Opened(_)), "{items:?}");
        let titles = items.iter().filter_map(|item| match item {
            RecordItem::Fact(fact) => match fact.as_ref() {
                Fact::SessionDescribed(described) => described.title.as_deref(),
                _ => None,
            },
            _ => None,
        });
        assert_eq!(titles.collect::<Vec<_>>(), ["The parser"]);
    }
}
