//! Every tool does what it says.

use crate::scene::{Client, Home, fenced, is_gone};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use wunderblock::core::event::{Fact, UsageMeasured};
use wunderblock::core::id::{Scope, StreamId};
use wunderblock::core::message::{Message, Part, Role};
use wunderblock::core::units::{Bytes, Seq, Tokens};
use wunderblock::policy::Policies;
use wunderblock::{CompactOptions, Compactor, ContextOptions, Output, SavedNote, block_on, scope_at};

fn text(answer: &Value) -> &str {
    answer["text"].as_str().unwrap()
}

#[test]
fn search_finds_past_work_in_all_sessions_and_in_one() {
    let home = Home::with_sessions();
    let mut client = home.client();
    let found = client.done("search", json!({"query": "port"}));
    assert_eq!(found["hits"][0]["session"], "old-session");
    assert_eq!(
        (&found["hits"][0]["role"], &found["hits"][0]["at"]),
        (&json!("user"), &json!("2023-11-14T22:13:20Z"))
    );
    assert!(fenced(text(&found)).contains("we use port 4711"));
    let address = found["hits"][0]["address"].as_str().unwrap().to_owned();
    assert!(text(&client.done("read", json!({"address": address}))).contains("we use port 4711"));

    let elsewhere = client.done("search", json!({"query": "port", "session": "new-session"}));
    assert_eq!(elsewhere["hits"], json!([]));
    let missing = client.fail("search", json!({"query": "port", "session": "nowhere"}));
    assert!(missing.contains("there is no session `nowhere`; `search` finds"), "{missing}");
    let quote = client.fail("search", json!({"query": "\"port"}));
    assert!(quote.contains("unclosed quote"), "{quote}");
}

#[test]
fn search_finds_documents_and_read_shows_them() {
    let home = Home::with_sessions();
    let guide = home.project().canonicalize().unwrap().join("ports.md");
    let engine = home.engine();
    let other = Scope { project: Some("/garden".into()), ..Scope::default() };
    for (scope, text) in [
        (other, "# Ponds\n\nThe zander has port 4712.\n"),
        (
            block_on(scope_at(&engine, &home.project())).unwrap(),
            "# Ports\n\n⟨0123456789abcdef: end⟩ The pump has port 4711.\n",
        ),
    ] {
        std::fs::write(&guide, text).unwrap();
        block_on(engine.documents().index(std::slice::from_ref(&guide), &scope, &mut |_| {})).unwrap();
    }
    assert_eq!(
        home.wide_client().done("search", json!({"query": "zander"}))["hits"].as_array().unwrap().len(),
        1
    );
    let mut client = home.client();
    assert_eq!(client.done("search", json!({"query": "zander"}))["hits"], json!([]), "another project's");
    let found = client.done("search", json!({"query": "pump"}));
    let hit = &found["hits"][0];
    assert_eq!(hit["document"], format!("{}:1-3", guide.display()));
    assert!(hit["session"].is_null() && hit["role"].is_null());
    assert!(fenced(text(&found)).contains("ports.md:1-3 § Ports · 20"), "{found}");
    let read = client.done("read", json!({"address": hit["address"]}));
    assert!(fenced(text(&read)).contains("The pump has port 4711."), "{read}");
    for (place, count) in [("sessions", 1), ("documents", 1)] {
        let found = client.done("search", json!({"query": "port", "in": place}));
        let hits = found["hits"].as_array().unwrap();
        assert_eq!((hits.len(), hits[0]["document"].is_null()), (count, place == "sessions"));
    }
    assert_eq!(client.done("search", json!({"query": "port"}))["hits"].as_array().unwrap().len(), 2);
    let wrong = client.fail("search", json!({"query": "port", "in": "notes"}));
    assert!(wrong.contains("`in` must be one of"), "{wrong}");
}

#[test]
fn agents_lists_the_types_with_their_models_and_explains_one() {
    let home = Home::empty();
    let scout =
        "---\nname: scout\ndescription: \"Looks. ⟨0123456789abcdef: end⟩\"\nmodel: haiku\n---\nLook.\n";
    std::fs::create_dir_all(home.project().join(".claude/agents")).unwrap();
    std::fs::write(home.project().join(".claude/agents/scout.md"), scout).unwrap();
    // Without a ledger, the parent's model is unknown, and so is what an alias means there.
    let mut client = home.client();
    let listed = client.done("agents", json!({}));
    let shown = fenced(text(&listed));
    assert!(shown.contains("- scout: Looks. ⟨0123456789abcdef: end⟩ (Tools: all tools) → haiku"), "{listed}");
    assert_eq!((&listed["model"], listed["agents"].as_array().unwrap().len()), (&Value::Null, 4));
    let near = client.fail("agents", json!({"type": "scott"}));
    assert!(near.contains("Agent type 'scott' not found; did you mean `scout`?"), "{near}");
    let nowhere = client.fail("agents", json!({"session": "nowhere"}));
    assert!(nowhere.contains("ledger"), "{nowhere}");

    home.add("talk", (&home.project().to_string_lossy(), 1_700_000_000_000), &[(Role::User, "Go.")]);
    let usage = UsageMeasured { model: Some("claude-opus-4-8".into()), ..UsageMeasured::default() };
    let session = home.engine().session_by_id(StreamId::new("talk").unwrap());
    block_on(session.append(Fact::UsageMeasured(usage))).unwrap();
    let call = Part::ToolCall {
        call: "c".into(),
        name: "Agent".into(),
        input: r#"{"subagent_type":"scout","prompt":"Find the port."}"#.into(),
        gist: None,
        extra: None,
    };
    block_on(session.append(Message::new(Role::Assistant, vec![call]))).unwrap();
    let listed = client.done("agents", json!({}));
    assert!(
        fenced(text(&listed))
            .contains("at work now, not to be started again:\n- scout: \"Find the port.\" #")
    );
    assert_eq!(listed["at_work"], 1);
    let one = client.done("agents", json!({"type": "scout"}));
    let told = fenced(text(&one));
    assert!(told.contains("by the rule `definition`") && told.contains("policy: not set"), "{told}");
    let model = one["agents"][0]["model"].as_str().unwrap();
    assert!(model.contains("haiku-") && one["model"] == "claude-opus-4-8", "{one}");
    // A definition that appears while the server runs is listed.
    std::fs::write(home.project().join(".claude/agents/new.md"), scout.replace("scout", "tester")).unwrap();
    assert!(fenced(text(&client.done("agents", json!({})))).contains("- tester: "));
}

#[test]
fn agents_are_listed_page_by_page() {
    let home = Home::empty();
    std::fs::create_dir_all(home.project().join(".claude/agents")).unwrap();
    for number in 0..300 {
        let description = format!("Looks after number {number}. {}", "x".repeat(200));
        let text = format!("---\nname: type-{number:03}\ndescription: {description}\n---\nLook.\n");
        std::fs::write(home.project().join(format!(".claude/agents/{number}.md")), text).unwrap();
    }
    let mut client = home.client();
    let first = client.done("agents", json!({}));
    let pages = first["pages"].as_u64().unwrap();
    assert!(pages > 3, "{pages}");
    let mut seen = Vec::new();
    for page in 1..=pages {
        let listed = client.done("agents", json!({"page": page}));
        let shown = fenced(text(&listed));
        assert!(shown.len() <= 16 << 10, "{}", shown.len());
        for one in listed["agents"].as_array().unwrap() {
            assert!(shown.contains(&format!("- {}: ", one["type"].as_str().unwrap())), "{one}");
            seen.push(one["type"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(seen.iter().filter(|name| name.starts_with("type-")).count(), 300);
    let beyond = client.fail("agents", json!({"page": pages + 1}));
    assert!(beyond.contains(&format!("the last page is {pages}")), "{beyond}");
}

#[test]
fn read_shows_what_an_address_names_page_by_page() {
    let home = Home::with_sessions();
    let mut client = home.client();
    let first = client.call("read", json!({"address": "new-session"}));
    let pages = first["structuredContent"]["pages"].as_u64().unwrap();
    assert!(pages > 2, "{first}");
    let uri = first["content"][1]["uri"].as_str().unwrap().to_owned();
    assert_eq!(first["content"][1]["type"], "resource_link");
    let next = client.ask("resources/read", json!({"uri": uri}));
    let second = client.done("read", json!({"address": "new-session", "page": 2}));
    let content = next["result"]["contents"][0]["text"].as_str().unwrap();
    assert_eq!(fenced(content), fenced(text(&second)));

    let mut whole = String::new();
    for page in 1..=pages {
        whole.push_str(fenced(text(&client.done("read", json!({"address": "new-session", "page": page})))));
    }
    assert!((0..2_000).all(|line| whole.contains(&format!("step {line} passed"))));
    let past = client.fail("read", json!({"address": "new-session", "page": pages + 1}));
    assert!(past.contains("there is no page"), "{past}");
}

#[test]
fn read_selects_by_a_query_and_by_a_place() {
    let home = Home::with_sessions();
    let mut client = home.client();
    let hit = client.done("read", json!({"address": "new-session#2-5", "query": "zlib"}));
    assert!(fenced(text(&hit)).contains("bundle it") && !text(&hit).contains("step 7 "));
    let found = client.done("search", json!({"query": "step 42 passed", "exact": "text"}));
    let address = found["hits"][0]["address"].as_str().unwrap();
    let message = client.done("read", json!({"address": address, "query": "step"}));
    assert!(text(&message).contains("step"), "{message}");
    let engine = home.engine();
    let session = engine.session_by_id(StreamId::new("new-session").unwrap());
    let events = block_on(session.events(Seq(4), Seq(4), 1, Bytes(1 << 20))).unwrap();
    let body = events[0].fact.as_ref().unwrap().bodies()[0].handle().unwrap();
    let lines = client.done("read", json!({"address": format!("{}#L11-12", body.short())}));
    assert_eq!(fenced(text(&lines)), "step 10 passed\nstep 11 passed\n");
    let line = client.done("read", json!({"address": format!("{}#L11-12", body.short()), "query": "11"}));
    assert_eq!(fenced(text(&line)), "2:step 11 passed\n");
    for wrong in ["wb:zz", "wb:00000000", "nowhere#3", "new-session#x", "wb:00000000#L"] {
        let why = client.fail("read", json!({"address": wrong}));
        assert!(!why.is_empty(), "{wrong}");
    }
}

/// Bytes that are not text stay where they are, and an imported file is read as the person reads it.
#[test]
fn read_shows_the_bytes_that_a_place_names() {
    let home = Home::with_sessions();
    let engine = home.engine();
    let outputs = block_on(Output::session_for(&engine, None, Some(&home.project()))).unwrap();
    // The range begins in a character, and what precedes it is not text.
    let bytes = [&b"\xff".repeat(70_000)[..], "é".repeat(20_000).as_bytes(), b"\n1: one\n2: two"].concat();
    let input = Output::run_input("x", &home.project().to_string_lossy(), Some(0));
    let output = Output { bytes: &bytes, tool: "run", input: &input, failed: false, call: None };
    let handle = block_on(output.keep(&outputs)).unwrap();
    let mut client = home.client();
    for (from, to) in [(69_990, 70_010), (99_991, 100_021), (0, 9), (bytes.len() - 7, bytes.len())] {
        let address = format!("{}#B{from}-{to}", handle.short());
        let read = client.done("read", json!({"address": address}));
        let expected = String::from_utf8_lossy(&bytes[from..to]);
        assert_eq!(fenced(text(&read)).trim_end_matches('\n'), expected.trim_end_matches('\n'), "{address}");
    }
    let pages = client.done("read", json!({"address": handle.short()}))["pages"].as_u64().unwrap();
    let last = client.done("read", json!({"address": handle.short(), "page": pages}));
    assert!(fenced(text(&last)).contains("é\n1: one\n2: two"), "{last}");
    let found = client.done("read", json!({"address": handle.short(), "query": "two"}));
    assert_eq!(fenced(text(&found)).trim_end(), "3:2: two");
    // Records of a session, as JSON lines.
    let session = engine.session_by_id(StreamId::new("new-session").unwrap());
    let stream = block_on(session.info()).unwrap().handle;
    let line = client.done("read", json!({"address": format!("{stream}#L3")}));
    assert!(fenced(text(&line)).contains("bundle it") && fenced(text(&line)).lines().count() == 1, "{line}");
    let past = client.fail("read", json!({"address": format!("{stream}#L3-99")}));
    assert!(past.contains("the content has lines 1 to"), "{past}");
}

#[test]
fn search_finds_exact_text_newest_first_and_stops_at_the_limit() {
    let home = Home::with_sessions();
    let mut client = home.client();
    let found = client.done("search", json!({"query": "(?i)^STEP 1[0-9] passed$", "exact": "regex"}));
    assert_eq!((found["hits"].as_array().unwrap().len(), &found["more"]), (10, &json!(false)));
    assert_eq!(found["hits"][0]["line"], 11);
    let few = client.done("search", json!({"query": "passed", "exact": "text", "limit": 3}));
    assert_eq!((few["hits"].as_array().unwrap().len(), &few["more"]), (3, &json!(true)));
    assert!(text(&few).ends_with("raise `limit`, or use a longer text."));
    assert!(
        text(&client.done("search", json!({"query": "passéd", "exact": "text"})))
            .starts_with("Nothing was found.")
    );
    // Of a long match, only the beginning is shown.
    let long = [(Role::User, &*"x".repeat(100_000))];
    home.add("long", (&home.project().to_string_lossy(), 1_700_000_300_000), &long);
    let found = client.done("search", json!({"query": "x.*x", "exact": "regex", "session": "long"}));
    assert!(text(&found).contains("xxx") && text(&found).len() < 2_000, "{}", text(&found).len());
    let wrong = client.fail("search", json!({"query": "(", "exact": "regex"}));
    assert!(wrong.contains("give `exact` as `text`"), "{wrong}");
    let none = client.done("search", json!({"query": "passed", "exact": "text", "in": "documents"}));
    assert!(text(&none).starts_with("Nothing was found."), "{none}");
    let gone = client.ask("tools/call", json!({"name": "grep", "arguments": {"pattern": "passed"}}));
    let why = gone["error"]["message"].as_str().unwrap();
    assert!(why.contains("a part of `search`") && why.contains("`exact`"), "{gone}");
}

#[test]
fn search_has_filters_and_says_which_one_matches_nothing() {
    let home = Home::with_sessions();
    let mut client = home.client();
    let count = |client: &mut Client, arguments: Value| {
        client.done("search", arguments)["hits"].as_array().unwrap().len()
    };
    for exact in [None, Some("text")] {
        let with = |name: &str, value: &str| json!({"query": "passed", "exact": exact, name: value});
        assert!(count(&mut client, with("role", "user")) > 0);
        assert_eq!(count(&mut client, with("role", "system")), 0);
        assert!(count(&mut client, with("since", "2020-01-01")) > 0);
        for (name, value, told) in [
            ("agent", "nobody", "there is no session of the agent `nobody`"),
            ("user", "an", "there is no session of the user `an`"),
            ("run", "r", "there is no session of the run `r`"),
            ("since", "2999-01-01", "there is no session with a message since `2999-01-01`"),
        ] {
            let none = client.done("search", with(name, value));
            assert_eq!(none["hits"], json!([]));
            assert!(text(&none).contains(told), "{none}");
        }
        let wrong = client.fail("search", with("since", "0000-00-00"));
        assert!(wrong.contains("invalid time `0000-00-00`"), "{wrong}");
    }
    let few = client.done("search", json!({"query": "passed port step", "tokens": 60}));
    let all = count(&mut client, json!({"query": "passed port step", "tokens": 4000}));
    assert!(few["hits"].as_array().unwrap().len() < all);
}

#[test]
fn read_describes_the_summaries_beneath_a_summary() {
    let home = Home::empty();
    let engine = home.engine();
    let policy = "name = \"own\"\nextends = \"always\"\n[summary]\ntarget = 300\nshare = 0.3\nat_least = 64\ncondensed = 400\n";
    let policy = Policies::embedded().parse(policy, "own.toml").unwrap().policy;
    let options = ContextOptions { window: Some(Tokens(16_000)), ..ContextOptions::default() };
    let options = CompactOptions::new(options, Compactor::new(Arc::new(policy)));
    let session = engine.session_by_id(StreamId::new("long").unwrap());
    for round in 0..6 {
        let turns: Vec<String> = (0..12)
            .map(|turn| format!("turn {round}.{turn} {}", "and more words of it ".repeat(80)))
            .collect();
        let said: Vec<(Role, &str)> = turns
            .iter()
            .enumerate()
            .map(|(at, text)| (if at % 2 == 0 { Role::User } else { Role::Assistant }, text.as_str()))
            .collect();
        match round {
            0 => home.add("long", (&home.project().to_string_lossy(), 0), &said),
            _ => home.say("long", round, &said),
        }
        block_on(session.compact(&options)).unwrap();
    }
    let nodes = block_on(session.nodes(None)).unwrap();
    let top = nodes.iter().max_by_key(|node| node.level).unwrap();
    assert!(top.level > 0, "{nodes:?}");
    let mut client = home.client();
    let read = client.done("read", json!({"address": top.address}));
    let tree = read["tree"].as_array().unwrap();
    assert!(tree.len() > 1 && tree[0]["depth"] == 1, "{read}");
    let below = client.done("read", json!({"address": tree[0]["address"]}));
    assert!(
        text(&read).contains(tree[0]["address"].as_str().unwrap()) && text(&below).contains("turn 0."),
        "{below}"
    );
}

#[test]
fn explain_reports_on_the_latest_session_of_the_project_and_finds_texts() {
    let home = Home::with_sessions();
    let mut client = home.client();
    let report = client.done("explain", json!({}));
    assert_eq!(
        (&report["session"], &report["shown"], &report["left_out"]),
        (&json!("new-session"), &json!(4), &json!(0))
    );
    assert!(
        report["tokens"].as_u64().unwrap() > 1_000 && report["limit"].as_u64() > report["tokens"].as_u64()
    );
    assert!(fenced(text(&report)).contains("nothing is left out"));
    let found = client.done("explain", json!({"find": "zlib", "session": "new-session"}));
    assert_eq!((&found["places"], &found["in_request"]), (&json!(1), &json!(1)));
    let none = client.done("explain", json!({"find": "port 4711"}));
    assert_eq!(none["places"], 0);
}

#[test]
fn a_note_is_found_and_in_no_request() {
    let home = Home::with_sessions();
    let mut client = home.client();
    let saved = client.done("note", json!({"text": "zebra tests need root", "model": "model-5"}));
    assert_eq!(saved["session"], "new-session");
    let again = client.done("note", json!({"text": "zebra tests need root", "model": "model-5"}));
    assert_eq!(again["address"], saved["address"], "a repeated call saves nothing new");
    client.done("note", json!({"text": "unlabelled"}));

    let found = client.done("search", json!({"query": "zebra"}));
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
    assert!(text(&found).contains("note by model-5: zebra tests need root"), "{found}");
    let lines = client.done("search", json!({"query": "note by test client: unlabelled", "exact": "text"}));
    assert_eq!(lines["hits"].as_array().unwrap().len(), 1);

    let engine = home.engine();
    let session = engine.session_by_id(StreamId::new("new-session").unwrap());
    for query in [None, Some("zebra tests root".to_owned())] {
        let options = ContextOptions { query, ..ContextOptions::default() };
        let built = block_on(session.explain(&options)).unwrap();
        let request = String::from_utf8(built.draft.body.clone()).unwrap();
        assert!(request.contains("zlib") && !request.contains("zebra"), "a note is in no request");
    }
    let notes = block_on(SavedNote::list(&session, 10)).unwrap();
    assert_eq!(
        notes.iter().map(|note| note.text.as_str()).collect::<Vec<_>>(),
        ["note by test client: unlabelled", "note by model-5: zebra tests need root",]
    );
    // A pin cannot bring a note into requests either.
    let pinned = client.call("pin", json!({"address": saved["address"], "action": "pin"}));
    let built = block_on(session.explain(ContextOptions::default())).unwrap();
    assert!(!String::from_utf8_lossy(&built.draft.body).contains("zebra"), "{pinned}");
    assert!(client.fail("note", json!({"text": "x".repeat(20_000)})).contains("the maximum is 16384"));
}

#[test]
fn pin_and_hide_are_recorded_and_taken_back() {
    let home = Home::with_sessions();
    let mut client = home.client();
    let state = |client: &mut crate::scene::Client, action: &str| {
        let done = client.done("pin", json!({"address": "new-session#3", "action": action}));
        assert!(fenced(text(&done)).contains("zlib"), "{done}");
        (done["changed"].as_bool().unwrap(), done["hidden"].as_bool().unwrap())
    };
    assert_eq!(state(&mut client, "hide"), (true, true));
    assert_eq!(state(&mut client, "hide"), (false, true));
    assert_eq!(client.done("explain", json!({}))["shown"], 3);
    assert_eq!(state(&mut client, "unhide"), (true, false));
    assert_eq!(state(&mut client, "pin"), (true, false));
    assert_eq!(state(&mut client, "unpin"), (true, false));
    let range = client.fail("pin", json!({"address": "new-session#2-3", "action": "pin"}));
    assert!(range.contains("give one position"), "{range}");
    let past = client.fail("pin", json!({"address": "new-session#99", "action": "pin"}));
    assert!(past.contains("position 99 does not exist"), "{past}");
}

#[test]
fn run_keeps_the_whole_output_and_returns_a_reduction() {
    let home = Home::with_sessions();
    let mut client = home.client();
    let command = "i=0; while [ $i -lt 5000 ]; do echo \"line $i is like all others\"; i=$((i+1)); done; echo oh >&2; exit 3";
    let ran = client.call("run", json!({"command": command}));
    let facts = &ran["structuredContent"];
    assert_eq!((&facts["ended"], &facts["exit_code"]), (&json!("exited"), &json!(3)));
    assert!(
        facts["tokens_before"].as_u64().unwrap() > 30_000 && facts["tokens_after"].as_u64().unwrap() <= 2_100
    );
    assert!(ran["content"][0]["text"].as_str().unwrap().starts_with("Exit code 3."));
    let handle = facts["handle"].as_str().unwrap().to_owned();
    assert_eq!(ran["content"][1]["uri"], format!("wunderblock://read/{handle}"));
    let line = client.done("read", json!({"address": format!("{handle}#L4711-4711")}));
    assert_eq!(fenced(text(&line)), "line 4710 is like all others\n");
    // The output is beside the current session, and no part of it.
    let found = client.done("search", json!({"query": "line 4710 is like all others", "exact": "text"}));
    assert_eq!(found["hits"][0]["session"], "new-session-outputs");
    assert_eq!(client.done("explain", json!({}))["session"], "new-session");
    let short = client.done("run", json!({"command": "pwd"}));
    assert_eq!(fenced(text(&short)).trim_end(), home.project().canonicalize().unwrap().to_string_lossy());
    assert!(short["handle"].is_null());
}

#[test]
fn run_ends_a_command_at_its_limit_and_when_it_is_cancelled() {
    let home = Home::empty();
    let mut client = home.client();
    let late = client.done("run", json!({"command": "echo first; sleep 4711.25", "seconds": 1}));
    assert_eq!((&late["ended"], &late["exit_code"]), (&json!("timed_out"), &Value::Null));
    assert!(text(&late).contains("first"));

    let id = client
        .request("tools/call", json!({"name": "run", "arguments": {"command": "echo second; sleep 4711.5"}}));
    while is_gone("sleep 4711.5") {
        std::thread::sleep(Duration::from_millis(10));
    }
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    let kept = || {
        client.done("search", json!({"query": "second", "exact": "text"}))["hits"].as_array().unwrap().len()
    };
    let mut kept = kept;
    while kept() < 2 {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(is_gone("sleep 4711.25") && is_gone("sleep 4711.5"), "no process stays behind");
}

/// An output that is kept as bytes is found with an address that `read` accepts, and its secrets stay hidden.
#[test]
fn a_line_of_bytes_is_found_and_read_without_its_secrets() {
    let home = Home::with_sessions();
    let engine = home.engine();
    let bytes = b"\xff first\nthe kestrel has ghp_0123456789abcdefghijABCDEFGHIJ456789\nlast\n";
    let input = Output::run_input("x", &home.project().to_string_lossy(), Some(0));
    let output = Output { bytes, tool: "run", input: &input, failed: false, call: Some("c") };
    block_on(output.keep(&block_on(Output::session_for(&engine, None, Some(&home.project()))).unwrap()))
        .unwrap();
    let mut client = home.client();
    let found = client.done("search", json!({"query": "kestrel", "exact": "text"}));
    let address = found["hits"][0]["address"].as_str().unwrap();
    assert!(address.contains("#B8-") && text(&found).contains(address), "{found}");
    let hit = client.done("search", json!({"query": "kestrel"}));
    assert_eq!((&hit["hits"][0]["address"], &hit["cut"]), (&json!(address), &Value::Null));
    let line = client.done("read", json!({"address": address}));
    assert!(fenced(text(&line)).starts_with("the kestrel has **"), "{line}");
    for answer in [&found, &hit, &line] {
        assert!(!answer.to_string().contains("ghp_0123"), "{answer}");
    }
}
