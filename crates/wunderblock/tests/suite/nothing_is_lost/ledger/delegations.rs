//! Work that a session handed to delegates: read from transcripts, linked with the delegates' sessions.

use crate::scene::{Home, append, event, events, import, said, session, stream};
use futures_executor::block_on;
use wunderblock::{Delegation, DelegationOutcome, Engine};
use wunderblock_core::event::{Fact, SubagentOutcome, SubagentReturned, SubagentSpawned};
use wunderblock_core::id::CallId;
use wunderblock_core::message::Role;

/// Returns a record of Claude Code after the one before it.
fn record(kind: &str, (id, before): (&str, &str), more: &str) -> String {
    format!(
        r#"{{"parentUuid":"{before}","isSidechain":false,"cwd":"/w","sessionId":"main","version":"2","type":"{kind}","uuid":"{id}","timestamp":"2026-01-02T03:04:05.678Z",{more}}}"#
    ) + "\n"
}

fn called(at: (&str, &str), call: &str, input: &str) -> String {
    let more = format!(
        r#""message":{{"id":"m-{call}","role":"assistant","model":"claude-opus-4-8","content":[{{"type":"tool_use","id":"{call}","name":"Agent","input":{input}}}]}}"#
    );
    record("assistant", at, &more)
}

fn answered(at: (&str, &str), call: &str, (report, text): (&str, &str)) -> String {
    let report = if report.is_empty() { String::new() } else { format!(r#""toolUseResult":{report},"#) };
    let failed = text.starts_with("Error");
    let more = format!(
        r#"{report}"message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{call}","is_error":{failed},"content":"{text}"}}]}}"#
    );
    record("user", at, &more)
}

/// Returns a side chain: the session of a delegate in the file of its parent.
fn side(id: &str, agent: &str, text: &str) -> String {
    format!(
        r#"{{"parentUuid":null,"isSidechain":true,"sessionId":"main","agentId":"{agent}","type":"user","uuid":"{id}","message":{{"role":"user","content":"{text}"}}}}"#
    ) + "\n"
}

fn of_main(engine: &Engine) -> Vec<Delegation> {
    block_on(engine.agents().delegations(&session(engine, "main"))).unwrap()
}

#[test]
fn each_call_has_what_became_of_it() {
    const LAUNCH: &str = "Async agent launched successfully.\\nagentId: 2";
    let note = "<task-notification>\\n<task-id>2</task-id>\\n<tool-use-id>c2</tool-use-id>\\n<status>completed</status>\\n<summary>Agent \\\"a\\\" completed</summary>\\n<result>All of it.</result>\\n<usage><total_tokens>5</total_tokens></usage></task-notification>";
    let begun = [
        record("user", ("u0", ""), r#""message":{"role":"user","content":"go"}"#),
        called(("a1", "u0"), "c1", r#"{"subagent_type":"Explore","model":"haiku","prompt":"Look."}"#),
        side("s1", "9", "Find the other."),
        answered(("u1", "a1"), "c1", (r#"{"status":"completed","agentId":"1","totalTokens":9,"totalDurationMs":7,"resolvedModel":"claude-haiku-4-5"}"#, "Seen.")),
        called(("a2", "u1"), "c2", r#"{"subagent_type":"Plan","prompt":"Plan.","run_in_background":true}"#),
        answered(("u2", "a2"), "c2", (r#"{"isAsync":true,"status":"async_launched","agentId":"2"}"#, LAUNCH)),
        called(("a3", "u2"), "c3", r#"{"subagent_type":"none","prompt":"X."}"#),
        answered(("u3", "a3"), "c3", ("", "Error: Agent type 'none' not found")),
        // An early version reports no session: the task leads to it.
        called(("a4", "u3"), "c4", r#"{"prompt":"Find the other."}"#),
        answered(("u4", "a4"), "c4", ("", "Found.")),
        called(("a5", "u4"), "c5", r#"{"subagent_type":"Explore","prompt":"Wait."}"#),
    ]
    .concat();
    let home = Home::new();
    let path = home.file("main.jsonl", &begun);
    let engine = home.engine();
    import(&engine, &path);
    let told = |engine: &Engine| -> Vec<String> {
        let tell = |one: Delegation| {
            let session = one.session.as_ref().map_or("-", |session| session.as_str()).to_owned();
            let result = one.result.map(|result| result.text).unwrap_or_default();
            let agent = one.agent.as_deref().unwrap_or("-").to_owned();
            format!(
                "{} {agent} {session} {}: {}",
                one.call.unwrap().0,
                one.outcome.name(),
                result.lines().next().unwrap_or_default()
            )
        };
        of_main(engine).into_iter().map(tell).collect()
    };
    assert_eq!(
        told(&engine),
        [
            "c1 Explore agent-1 done: Seen.",
            "c2 Plan agent-2 in flight: ",
            "c3 none - failed: Error: Agent type 'none' not found",
            "c4 - agent-9 done: Found.",
            "c5 Explore - in flight: ",
        ]
    );
    let first = &of_main(&engine)[0];
    assert_eq!((first.tokens.map(|tokens| tokens.0), first.millis), (Some(9), Some(7)));
    assert_eq!((first.asked.as_deref(), first.model.as_deref()), (Some("haiku"), Some("claude-haiku-4-5")));
    assert_eq!(first.prompt.as_ref().map(|prompt| prompt.text.as_str()), Some("Look."));

    let more = record("user", ("u5", "a5"), &format!(r#""message":{{"role":"user","content":"{note}"}}"#));
    std::fs::write(&path, format!("{begun}{more}")).unwrap();
    import(&engine, &path);
    assert_eq!(told(&engine)[1], "c2 Plan agent-2 done: All of it.");
    let nodes = block_on(engine.agents().tree(&session(&engine, "main"))).unwrap();
    let recorded: Vec<(bool, usize)> = nodes.iter().map(|node| (node.info.is_some(), node.depth)).collect();
    assert_eq!(
        recorded.iter().filter(|(is_recorded, _)| *is_recorded).count(),
        2,
        "the session and its side chain"
    );
    assert_eq!((recorded.len(), recorded[0]), (6, (true, 0)));
}

#[test]
fn a_file_that_an_earlier_version_read_gains_only_what_it_did_not_take_in() {
    let text = [
        record("user", ("u0", ""), r#""message":{"role":"user","content":"go"}"#),
        called(("a1", "u0"), "c1", r#"{"subagent_type":"Explore","prompt":"Look."}"#),
        answered(
            ("u1", "a1"),
            "c1",
            (r#"{"status":"completed","agentId":"1","agentType":"Explore"}"#, "Seen."),
        ),
        record("user", ("u2", "u1"), r#""message":{"role":"user","content":"go on"}"#),
    ]
    .concat();
    let (old, new) = (Home::new(), Home::new());
    let engine = new.engine();
    import(&engine, &new.file("main.jsonl", &text));
    let whole = events(&session(&engine, "main"));
    // An earlier version stored the start without its call, and no end.
    let earlier = old.engine();
    for known in &whole {
        let fact = match known.fact.clone().unwrap() {
            Fact::SubagentReturned(_) => continue,
            Fact::SubagentSpawned(spawned) => Fact::SubagentSpawned(SubagentSpawned::new(spawned.session)),
            fact => fact,
        };
        append(&earlier, "main", vec![event(known.id.as_str(), fact)]);
    }
    let bare = of_main(&earlier);
    assert_eq!(bare.len(), 1, "{bare:?}");
    assert_eq!(bare[0].outcome, DelegationOutcome::Done, "the result of the call tells it");
    assert_eq!(bare[0].session, Some(stream("agent-1")), "the start directly follows the result");
    let done = import(&earlier, &old.file("main.jsonl", &text));
    assert_eq!((done.appended, done.warnings.len()), (1, 0), "{:?}", done.warnings);
    let ids = |engine: &Engine| {
        let mut ids: Vec<String> =
            events(&session(engine, "main")).iter().map(|event| event.id.as_str().to_owned()).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&earlier), ids(&engine), "no branch, no second start");
    assert_eq!(of_main(&earlier).len(), 1);
}

#[test]
fn a_report_is_matched_whatever_comes_first() {
    let call = CallId("c".into());
    let bare = SubagentSpawned { agent: Some("plan".into()), ..SubagentSpawned::new(stream("kid")) };
    let spawned = Fact::SubagentSpawned(bare.clone());
    let known = Fact::SubagentSpawned(SubagentSpawned { call: Some(call.clone()), ..bare });
    let ended = SubagentReturned::new(stream("kid"), SubagentOutcome::Stopped);
    let returned = Fact::SubagentReturned(ended.clone());
    let result = Fact::SubagentReturned(SubagentReturned { result: Some("r".repeat(5_000).into()), ..ended });
    let orders: [&[&Fact]; 4] = [
        &[&spawned, &known, &returned],
        &[&known, &returned, &spawned],
        &[&returned, &known],
        &[&spawned, &result],
    ];
    for (number, order) in orders.iter().enumerate() {
        let home = Home::new();
        let engine = home.engine();
        let facts = order.iter().enumerate().map(|(at, fact)| event(&at.to_string(), (*fact).clone()));
        append(&engine, "main", [said("s", Role::User, "go")].into_iter().chain(facts).collect());
        let found = of_main(&engine);
        assert_eq!(found.len(), 1, "{number}: {found:?}");
        let one = &found[0];
        assert_eq!(
            (one.outcome, one.agent.as_deref()),
            (DelegationOutcome::Stopped, Some("plan")),
            "{number}"
        );
        if let Some(result) = &one.result {
            assert_eq!((result.text.len(), result.bytes.0), (1 << 10, 5_000), "bounded, with its length");
            let read = crate::scene::read(&engine, &result.address, &wunderblock::Slice::default());
            assert!(String::from_utf8_lossy(&read).contains(&"r".repeat(5_000)), "{}", result.address);
        }
    }
}
