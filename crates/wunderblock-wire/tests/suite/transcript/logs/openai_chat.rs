use crate::transcript::{check, opaque_share, read};

#[test]
fn one_message_a_line() {
    let text = concat!(
        r#"{"role":"developer","content":"rules"}"#,
        "\n",
        r#"{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"https://x/y.png","detail":"high"}}],"name":"ann"}"#,
        "\n",
        r#"{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"k1","type":"function","function":{"name":"f","arguments":"{\"n\":1.0}"}},{"id":"k2","type":"custom","custom":{"name":"g","input":"raw"}}]}"#,
        "\n",
        r#"{"role":"tool","tool_call_id":"k1","content":"one"}"#,
        "\n",
        r#"{"role":"assistant","content":"","function_call":{"name":"h","arguments":""}}"#,
        "\n",
        r#"{"role":"function","name":"h","content":"two"}"#,
        "\n",
        r#"{"role":"assistant","content":"done","finish_reason":"stop"}"#,
        "\n",
    );
    let records = read("chat.jsonl", text);
    check(
        &records,
        r#"
        developer opened() + System(rules)
        user User(see | media  Url https://x/y.png)
        assistant Assistant(thinks hm | call k1 f {"n":1.0} | call k2 g {"input":"raw"})
        tool Tool(result k1 one)
        assistant Assistant(call call-456 h {})
        function Tool(result call-456 two)
        assistant Assistant(done)
        "#,
    );
    assert!(opaque_share(&records) < 0.05);
}

#[test]
fn one_conversation_a_line() {
    let text = concat!(
        r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}],"id":1}"#,
        "\n",
        "\n",
        r#"{"request":{"messages":[{"role":"user","content":"c"}]},"response":{"id":"r","model":"m","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"d"}}],"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}}"#,
        "\n",
    );
    check(
        &read("chat.jsonl", text),
        "
        document- [line-1]
        user [line-1] opened() + User(a)
        assistant [line-1] Assistant(b)
        document- [line-1]
        document- [line-3]
        user [line-3] opened() + User(c)
        document- [line-3]
        choice [line-3] Assistant(d) + usage(r 6/4/0/2)
        document- [line-3]
        ",
    );
}

#[test]
fn one_document() {
    for text in [
        "[\n  {\"role\": \"user\", \"content\": \"a\"},\n  {\"role\": \"assistant\", \"content\": \"b\"}\n]\n",
        "{\"model\": \"m\",\n \"messages\": [{\"role\": \"user\", \"content\": \"a\"},\n {\"role\": \"assistant\", \"content\": \"b\"}]}",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"content\":\"b\"}]}",
    ] {
        check(
            &read("chat.json", text),
            "
            document-
            user opened() + User(a)
            assistant Assistant(b)
            document-
            ",
        );
    }
}

#[test]
fn a_byte_order_mark_shifts_no_span() {
    let text = "\u{feff}{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}\n{\"messages\":[]}\n";
    let records = read("chat.jsonl", text);
    assert_eq!(
        &text[records[1].offset as usize..][..records[1].len as usize],
        "{\"role\":\"user\",\"content\":\"a\"}"
    );
}

/// In its logs, SWE-agent gives the user's role to its shell output and to a demonstration before the task.
#[test]
fn what_an_environment_shows_nobody_said() {
    let said = |role: &str, text: &str| format!("{{\"role\":\"{role}\",\"content\":\"{text}\"}}\n");
    let text = [
        "{\"role\":\"user\",\"is_demo\":true,\"content\":\"shown\"}\n".to_owned(),
        said("user", "the task\\nbash-$"),
        said("assistant", "create a.py"),
        said("user", "[File: a.py]\\n(Open file: a.py)\\nbash-$ "),
        said("user", "what does bash-$ mean?"),
    ];
    check(
        &read("chat.jsonl", &text.concat()),
        "
        user opened() + User injected=demonstration(shown)
        user User(the task/bash-$)
        assistant Assistant(create a.py)
        user User injected=environment([File: a.py]/(Open file: a.py)/bash-$ )
        user User(what does bash-$ mean?)
        ",
    );
}
