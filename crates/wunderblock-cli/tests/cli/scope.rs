//! Whose sessions each door shows. Every command, every tool, resource and prompt of the MCP server, and every answer of
//! the hook is in a table of this file: a new one fails the test until it is.

use crate::desk::{Desk, Done};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Remote of the project, as its clone names it.
const REMOTE: &str = "[remote \"origin\"]\n\turl = https://ann:key@Host.Example/ann/garden.git\n";

/// Sessions: name, tenant, user, folder. Each has its name in its words.
const SESSIONS: [(&str, &str, &str, &str); 6] = [
    ("own", "local", "ann", "garden"),
    ("clone", "local", "ann", "copy/src"),
    ("inner", "local", "ann", "garden/inner"),
    ("pond", "local", "ann", "pond"),
    ("prefix", "local", "anna", "garden"),
    ("tenant", "other", "ann", "garden"),
];

/// Sessions that an agent of `ann` in `garden` sees, and those that it does not.
const SEEN: [&str; 2] = ["own", "clone"];
const UNSEEN: [&str; 4] = ["inner", "pond", "prefix", "tenant"];

/// The word that only one session has.
fn word(name: &str) -> String {
    format!("zinnia{name}")
}

/// A transcript of Claude Code in a folder, with a long output of a tool.
fn transcript(name: &str, folder: &str) -> String {
    let now = jiff::Timestamp::now().to_string();
    let long = format!("output {} ", word(name)).repeat(400);
    let said = [
        ("user", json!(format!("Please water the {} in the greenhouse", word(name)))),
        (
            "assistant",
            json!([{ "type": "tool_use", "id": "t", "name": "Bash", "input": { "command": "water" } }]),
        ),
        ("user", json!([{ "type": "tool_result", "tool_use_id": "t", "content": long }])),
        (
            "assistant",
            json!([{ "type": "text", "text": format!("The {} of the greenhouse is watered.", word(name)) }]),
        ),
    ];
    // Words are rare only among many others.
    let rest = (0..60).map(|number| {
        (
            "user",
            json!(match number {
                0 => format!("What I know of the {} in the greenhouse", word(name)),
                _ => format!("Note {number} of {name}: shelf {} is dry", number * 7),
            }),
        )
    });
    let lines = rest.chain(said).enumerate().map(|(at, (role, content))| {
        let parent = at.checked_sub(1).map(|at| format!("{name}-{at}"));
        let record = json!({
            "type": role, "sessionId": format!("session-{name}"), "uuid": format!("{name}-{at}"), "parentUuid": parent,
            "cwd": folder, "timestamp": now, "isSidechain": false, "version": "2.0.0",
            "message": { "role": role, "content": content },
        });
        format!("{record}\n")
    });
    lines.collect()
}

fn desk() -> Desk {
    let desk = Desk::bare();
    desk.write("garden/.git/config", REMOTE);
    desk.write("garden/inner/.git/HEAD", "");
    desk.write("copy/.git/config", "[remote \"up\"]\n\turl = git@host.example:ann/garden\n");
    desk.write("copy/src/x", "");
    desk.write("pond/.git/HEAD", "");
    for (name, tenant, user, folder) in SESSIONS {
        let (file, folder) = (format!("{name}.jsonl"), desk.path(folder));
        desk.write(&file, transcript(name, &folder.to_string_lossy()));
        desk.run(&["import", &file, "--tenant", tenant, "--user", user, "-q"]).exits(0);
        let remembered = format!("the {} is remembered", word(name));
        let everybody = ["memory", "add", &remembered, "--everywhere", "--shared", "--tenant", tenant];
        desk.run(&everybody).exits(0);
    }
    desk
}

/// Runs a command in a folder of the desk, with this on its stdin.
fn run_in(desk: &Desk, folder: &str, args: &[&str], input: &str) -> Done {
    let program = ["\"$WB\""].into_iter().map(str::to_owned);
    let words = program.chain(args.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))));
    desk.write("in", input);
    desk.shell(&format!(
        "cd '{folder}' && {} <'{}'",
        words.collect::<Vec<_>>().join(" "),
        desk.path("in").display()
    ))
}

/// What the ledger calls a session and its long output.
struct Names {
    session: String,
    handle: String,
    body: String,
}

fn names(desk: &Desk, name: &str, tenant: &str) -> Names {
    let session = format!("session-{name}");
    let output = format!("output {}", word(name));
    let found = desk.run(&["--tenant", tenant, "grep", &output, "--session", &session, "--json"]).exits(0);
    let body = found.lines()[0]["handle"].as_str().expect("a body").to_owned();
    let search = json!({ "name": "search", "arguments": { "query": word(name), "session": session } });
    let wide = ["--tenant", tenant, "--reach", "tenant"];
    let answer = talk(desk, &wide, &[("tools/call", search)]).remove(0);
    let address = answer["result"]["structuredContent"]["hits"][0]["address"].as_str().expect("a hit");
    Names { session, handle: address[..19].to_owned(), body }
}

/// Sends requests to a server in `garden`, and returns the answers.
fn talk(desk: &Desk, options: &[&str], requests: &[(&str, Value)]) -> Vec<Value> {
    let info = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let requests = std::iter::once(&("initialize", info))
        .chain(requests)
        .enumerate()
        .map(|(id, (method, params))| {
            format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
        })
        .collect::<String>();
    let args: Vec<&str> = ["mcp"].into_iter().chain(options.iter().copied()).collect();
    let done = run_in(desk, "garden", &args, &requests).exits(0);
    let mut answers = done.lines();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    answers.into_iter().skip(1).collect()
}

/// Calls of an agent's tools that read, for one session.
fn tool_calls(names: &Names, name: &str) -> Vec<(&'static str, Value)> {
    let Names { session, handle, body } = names;
    let short = &body[..11];
    vec![
        ("search", json!({ "query": word(name) })),
        ("search", json!({ "query": word(name), "session": session, "newest": true })),
        ("search", json!({ "query": word(name), "exact": "text" })),
        ("search", json!({ "query": word(name), "exact": "regex", "session": session })),
        ("read", json!({ "address": session })),
        ("read", json!({ "address": handle })),
        ("read", json!({ "address": format!("{handle}#62-65") })),
        ("read", json!({ "address": body })),
        ("read", json!({ "address": short })),
        ("read", json!({ "address": format!("{body}#L1-1"), "query": word(name) })),
        ("explain", json!({ "session": session })),
        ("explain", json!({ "session": session, "find": word(name) })),
        ("agents", json!({ "session": session })),
        ("pin", json!({ "address": format!("{session}#62"), "action": "pin" })),
        ("note", json!({ "session": session, "text": "a note" })),
        ("run", json!({ "session": session, "command": "true" })),
    ]
}

/// Tools whose answers do not repeat the words of a session.
const SAY_NO_WORDS: [&str; 3] = ["agents", "note", "run"];

#[test]
fn an_agents_tools_see_its_own_project_and_user() {
    let desk = desk();
    let listed = talk(&desk, &["--user", "ann"], &[("tools/list", json!({}))]);
    let offered: BTreeSet<&str> = listed[0]["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let own = names(&desk, "own", "local");
    let known: BTreeSet<&str> = tool_calls(&own, "own").into_iter().map(|(tool, _)| tool).collect();
    assert_eq!(offered, known, "each tool is in the table of this test");
    for (name, tenant, ..) in SESSIONS {
        let calls = tool_calls(&names(&desk, name, tenant), name);
        let requests: Vec<(&str, Value)> = calls
            .iter()
            .map(|(tool, arguments)| ("tools/call", json!({ "name": tool, "arguments": arguments })))
            .collect();
        let answers = talk(&desk, &["--user", "ann"], &requests);
        for ((tool, arguments), answer) in calls.iter().zip(&answers) {
            let (result, about) = (&answer["result"], format!("{name} {tool} {arguments}: {answer}"));
            let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{about}"));
            // What was asked for is repeated in errors alone.
            let shows = text.contains(&format!("the {}", word(name)))
                || text.contains(&format!("output {}", word(name)));
            if SEEN.contains(&name) {
                assert_eq!(result["isError"], false, "{about}");
                assert!(shows || SAY_NO_WORDS.contains(tool), "{about}");
                continue;
            }
            assert!(!shows, "{about}");
            let found = [&result["structuredContent"]["hits"], &result["structuredContent"]["hits"]];
            let is_empty = found.iter().any(|list| **list == json!([]));
            assert!(is_empty && arguments["session"].is_null() || result["isError"] == true, "{about}");
            if is_empty {
                let told =
                    "Only sessions of the project host.example/ann/garden and of the user ann were searched";
                assert!(text.contains(told) || text.contains("the user ann and of the project"), "{about}");
            }
        }
    }
    // Unknown and unseen are the same words.
    let ask = |session: &str| {
        let call = json!({ "name": "read", "arguments": { "address": session } });
        let answer = talk(&desk, &["--user", "ann"], &[("tools/call", call)]).remove(0);
        answer["result"]["content"][0]["text"].as_str().unwrap().replace(session, "X")
    };
    assert_eq!(ask("session-pond"), ask("session-none"));
    assert_eq!(ask(&names(&desk, "pond", "local").body), ask("wb:0123456789abcdef"));
}

#[test]
fn resources_and_prompts_see_the_same() {
    let desk = desk();
    let lists =
        [("resources/templates/list", json!({})), ("prompts/list", json!({})), ("resources/list", json!({}))];
    let lists = talk(&desk, &["--user", "ann"], &lists);
    let names_of = |list: &Value, field: &str| -> BTreeSet<String> {
        list.as_array().unwrap().iter().map(|one| one[field].as_str().unwrap().to_owned()).collect()
    };
    let templates = [
        "wunderblock://read/{address}{?page}",
        "wunderblock://session/{id}{?page}",
        "wunderblock://context/{id}",
        "wunderblock://notes/{id}",
    ];
    assert_eq!(
        names_of(&lists[0]["result"]["resourceTemplates"], "uriTemplate"),
        templates.map(str::to_owned).into()
    );
    assert_eq!(
        names_of(&lists[1]["result"]["prompts"], "name"),
        ["continue", "decided"].map(str::to_owned).into()
    );
    let own = SEEN.map(|name| format!("wunderblock://session/session-{name}"));
    assert_eq!(names_of(&lists[2]["result"]["resources"], "uri"), own.into(), "{}", lists[2]);
    for (name, tenant, ..) in SESSIONS {
        let Names { session, body, .. } = names(&desk, name, tenant);
        let read = |uri: String| ("resources/read", json!({ "uri": uri }));
        let requests = [
            read(format!("wunderblock://read/{body}")),
            read(format!("wunderblock://session/{session}")),
            read(format!("wunderblock://context/{session}")),
            read(format!("wunderblock://notes/{session}")),
            ("prompts/get", json!({ "name": "continue", "arguments": { "session": session } })),
            ("prompts/get", json!({ "name": "decided", "arguments": { "topic": word(name) } })),
        ];
        let answers = talk(&desk, &["--user", "ann"], &requests);
        for ((_, request), answer) in requests.iter().zip(&answers) {
            let (text, about) = (answer.to_string(), format!("{name} {request}: {answer}"));
            let shows = text.contains(&format!("the {}", word(name)))
                || text.contains(&format!("output {}", word(name)));
            let has_no_words = request["uri"].as_str().is_some_and(|uri| uri.contains("/notes/"));
            assert_eq!(shows, SEEN.contains(&name) && !has_no_words, "{about}");
            let is_answer = answer["error"].is_null();
            assert_eq!(is_answer, SEEN.contains(&name) || request["name"] == "decided", "{about}");
        }
    }
}

#[test]
fn a_person_widens_what_an_agent_sees() {
    let desk = desk();
    let found = |options: &[&str]| -> BTreeSet<String> {
        let call = json!({ "name": "search", "arguments": { "query": "Please water", "exact": "text" } });
        let answer = talk(&desk, options, &[("tools/call", call)]).remove(0);
        let matches = answer["result"]["structuredContent"]["hits"].clone();
        matches
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["session"].as_str().unwrap()["session-".len()..].to_owned())
            .collect()
    };
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(found(&["--user", "ann"]), set(&["own", "clone"]));
    assert_eq!(found(&["--user", "an"]), set(&[]));
    assert_eq!(found(&[]), set(&[]), "without a user, only sessions without one");
    assert_eq!(found(&["--reach", "project"]), set(&["own", "clone", "prefix"]));
    assert_eq!(found(&["--reach", "tenant"]), set(&["own", "clone", "inner", "pond", "prefix"]));
    assert_eq!(found(&["--reach", "tenant", "--tenant", "other"]), set(&["tenant"]));
    desk.write("config/wunderblock/config.toml", "[scope]\nuser = \"anna\"\n");
    assert_eq!(found(&[]), set(&["prefix"]), "the user of the settings");
    desk.run(&["mcp", "--reach", "all"]).exits(2);
    desk.run(&["mcp", "--user", ""]).exits(2);
    // `init` writes the choice into the agent's settings, for the server and for the hook.
    for (options, server, hook) in [
        (&["init", "claude-code", "--yes"][..], "[\"mcp\"]", " hook claude-code --no-digest\""),
        (&["init", "claude-code", "--yes", "--reach", "tenant"], "\"--reach=tenant\"", "--reach=tenant\""),
        (&["init", "claude-code", "--yes", "--reach", "project"], "\"--reach=project\"", "--reach=project\""),
    ] {
        desk.write(".claude/settings.json", "{}\n");
        let said = desk.run(options).exits(0).err;
        assert!(said.contains("the agent sees past sessions of"), "{said}");
        let text = |file: &str| String::from_utf8(desk.bytes(file)).unwrap();
        assert!(text(".claude.json").contains(server), "{}", text(".claude.json"));
        assert!(text(".claude/settings.json").contains(hook), "{}", text(".claude/settings.json"));
        assert!(desk.run(&["doctor", "--agents"]).exits(0).out.contains("Claude Code  ✓ connected"));
    }
}

/// Options of the hook, each of which decides what it answers.
const HOOK_OPTIONS: [&str; 5] = ["--digest", "--no-digest", "--recall", "--reach", "--run-commands"];

#[test]
fn a_hook_hands_back_only_what_its_agent_may_see() {
    let desk = desk();
    desk.run(&["doctor", "--rebuild"]).exits(0);
    let help = desk.run(&["hook", "--help"]).exits(0).out;
    let options: BTreeSet<&str> = help
        .split_whitespace()
        .map(|word| word.trim_end_matches(|c: char| "[=,.".contains(c)))
        .map(|word| word.split(['[', '=']).next().unwrap())
        .filter(|word| word.starts_with("--") && *word != "--help")
        .collect();
    let known: BTreeSet<&str> = HOOK_OPTIONS.into_iter().chain(["--json", "--db"]).collect();
    assert!(options.is_subset(&known), "each option is in the table of this test: {options:?}");
    desk.write("config/wunderblock/config.toml", "[scope]\nuser = \"ann\"\n");
    let asked = |folder: &str, event: Value, options: &[&str]| {
        let input = json!({ "session_id": "new", "transcript_path": desk.path("new.jsonl"), "cwd": desk.path(folder) });
        let (mut input, event) = (input.as_object().unwrap().clone(), event.as_object().unwrap().clone());
        input.extend(event);
        desk.hook("claude-code", &input.into(), options).map(|answer| answer.to_string()).unwrap_or_default()
    };
    let start = || json!({ "hook_event_name": "SessionStart", "source": "startup" });
    let prompt = |name: &str| {
        let text = format!("What about the {} in the greenhouse, is it watered?", word(name));
        json!({ "hook_event_name": "UserPromptSubmit", "prompt": text })
    };
    let digest = asked("garden", start(), &["--digest"]);
    for (name, is_seen) in SEEN.map(|name| (name, true)).into_iter().chain(UNSEEN.map(|name| (name, false))) {
        assert_eq!(digest.contains(&word(name)), is_seen, "{name}: {digest}");
        let recalled = asked("garden", prompt(name), &["--recall"]);
        assert_eq!(recalled.contains(&format!("the {}", word(name))), is_seen, "{name}: {recalled}");
    }
    let wide = asked("garden", start(), &["--digest", "--reach=project"]);
    assert!(wide.contains(&word("prefix")) && !wide.contains(&word("pond")), "{wide}");
    let all = asked("garden", prompt("pond"), &["--recall", "--reach=tenant"]);
    assert!(all.contains(&word("pond")), "{all}");
    assert!(!asked("garden", prompt("tenant"), &["--recall", "--reach=tenant"]).contains(&word("tenant")));
    // A recap is of the session itself.
    let resumed = json!({ "hook_event_name": "SessionStart", "source": "resume", "transcript_path": desk.path("own.jsonl") });
    let recap = asked("garden", resumed, &[]);
    assert!(recap.contains(&word("own")) && !recap.contains(&word("clone")), "{recap}");
}

/// Commands that read sessions, with the arguments that show the words of one.
fn reading(names: &Names, name: &str) -> Vec<(&'static str, Vec<String>)> {
    let Names { session, handle, body } = names;
    let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    vec![
        ("sessions", list(&["-v"])),
        ("sessions", list(&["--session", session, "-v"])),
        ("show", list(&[session, "-v"])),
        ("search", list(&[&word(name)])),
        ("grep", list(&[&word(name)])),
        ("read", list(&[body])),
        ("read", list(&[&format!("{handle}#62-65")])),
        ("expand", list(&[&format!("{handle}#61-65")])),
        ("describe", list(&[session])),
        ("export", list(&[session])),
        ("export", list(&[session, "--original"])),
        ("context", list(&[session, "--out", "-"])),
        ("explain", list(&[session, "--find", &word(name)])),
        ("replay", list(&[session])),
        ("diff", list(&[session, "1", "9"])),
        ("simulate", list(&[session])),
        ("compact", list(&[session, "--dry-run"])),
        ("undo", list(&[session])),
        ("pin", list(&[&format!("{session}#62")])),
        ("unpin", list(&[&format!("{session}#62")])),
        ("hide", list(&[&format!("{session}#62")])),
        ("unhide", list(&[&format!("{session}#62")])),
        ("status", list(&[session])),
        ("cost", list(&[session])),
        ("memory", list(&["list", "--everywhere", "--shared"])),
        ("gain", list(&[])),
        ("agents", list(&["tree", session])),
        ("erase", list(&[session])),
        ("doctor", list(&[])),
        ("eval", list(&["sessions"])),
    ]
}

/// Commands that show nothing of a ledger: they write, or serve other doors that are tested by themselves.
const NOT_READING: [&str; 17] = [
    "import",
    "index",
    "unindex",
    "append",
    "init",
    "wrap",
    "hook",
    "mcp",
    "run",
    "reduce",
    "backup",
    "restore",
    "help",
    "completions",
    "man",
    "on-terminal",
    "guarded",
];

/// Commands that read, and show numbers and states instead of words.
const NO_WORDS: [&str; 15] = [
    "replay", "diff", "simulate", "undo", "unpin", "unhide", "status", "cost", "gain", "agents", "doctor",
    "describe", "eval", "compact", "erase",
];

#[test]
fn a_command_sees_its_tenant_and_no_other() {
    let desk = desk();
    let script = desk.run(&["completions", "bash"]).exits(0).out;
    let commands: BTreeSet<&str> = script
        .lines()
        .filter_map(|line| line.trim().strip_prefix("wunderblock,")?.strip_suffix(')'))
        .collect();
    let own = names(&desk, "own", "local");
    let table: BTreeSet<&str> =
        reading(&own, "own").iter().map(|(command, _)| *command).chain(NOT_READING).collect();
    let missing: Vec<_> = commands.difference(&table).collect();
    assert!(
        commands.len() > 30 && missing.is_empty(),
        "each command is in a table of this test: {missing:?}"
    );
    for (name, tenant, ..) in SESSIONS {
        let other = if tenant == "local" { "other" } else { "local" };
        for (command, args) in reading(&names(&desk, name, tenant), name) {
            let run = |tenant: &str| {
                let args: Vec<&str> = ["--tenant", tenant, command]
                    .into_iter()
                    .chain(args.iter().map(String::as_str))
                    .collect();
                let done = desk.run(&args);
                let about = format!("{tenant}: {command} {args:?}: {done:?}");
                let text = format!("{}{}", done.out, done.err);
                let shows = ["the ", "output "]
                    .iter()
                    .any(|before| text.contains(&format!("{before}{}", word(name))));
                (shows, about)
            };
            let (shows, about) = run(tenant);
            assert!(shows || NO_WORDS.contains(&command), "{about}");
            let (shows, about) = run(other);
            assert!(!shows, "{about}");
        }
    }
}

#[test]
fn a_persons_filters_are_exact_and_say_which_matches_nothing() {
    let desk = desk();
    let listed = |folder: &str, options: &[&str]| -> Vec<String> {
        let args: Vec<&str> = ["sessions", "--json"].into_iter().chain(options.iter().copied()).collect();
        let done = run_in(&desk, folder, &args, "").exits(0);
        let mut names: Vec<String> = done
            .lines()
            .iter()
            .map(|one| one["session"].as_str().unwrap()["session-".len()..].to_owned())
            .collect();
        names.sort();
        names
    };
    let garden = desk.path("garden");
    let garden = garden.to_str().unwrap();
    let of_remote = ["clone", "own", "prefix"];
    for (folder, options, expected) in [
        (".", &[][..], &["clone", "inner", "own", "pond", "prefix"][..]),
        ("garden", &["--project", "."], &["clone", "inner", "own", "prefix"]),
        ("copy/src", &["--project", "."], &of_remote),
        (".", &["--project", "host.example/ann/garden"], &of_remote),
        ("pond", &["--project", "garden"], &of_remote),
        ("pond", &["--project", "copy"], &["clone"]),
        ("garden/inner", &["--project", "."], &["inner"]),
        (".", &["--user", "ann"], &["clone", "inner", "own", "pond"]),
        (".", &["--user", "anna"], &["prefix"]),
        (".", &["--session", "session-own"], &["own"]),
        (".", &["--agent", "claude-code", "--user", "anna"], &["prefix"]),
        (".", &["--project", "pond", "--since", "1d"], &["pond"]),
    ] {
        let expected: Vec<String> = expected.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(listed(folder, options), expected, "{folder} {options:?}");
    }
    assert!(listed(".", &["--project", garden]).contains(&"own".to_owned()));
    for (options, told) in [
        (&["--project", "gar"][..], "there is no session of the project `gar`"),
        (&["--user", "an"], "there is no session of the user `an`"),
        (&["--user", "ann", "--agent", "codex"], "there is no session of the agent `codex`"),
        (&["--run", "r"], "there is no session of the run `r`"),
        (&["--tag", "t"], "there is no session with the tag `t`"),
        (&["--since", "2999-01-01"], "there is no session with a message since `2999-01-01`"),
        (
            &["--project", "pond", "--user", "anna"],
            "there is no session of the project `pond`, of the user `anna`, although some pass each of these alone",
        ),
    ] {
        for command in [&["sessions"][..], &["search", "greenhouse"], &["grep", "greenhouse"]] {
            let args: Vec<&str> = command.iter().chain(options).copied().collect();
            let done = desk.run(&args);
            assert!(done.err.contains(told) && done.out.is_empty(), "{args:?}: {done:?}");
        }
    }
    for (options, is_found) in
        [(&["--user", "anna"][..], true), (&["--user", "ann"], false), (&["--project", "garden"], true)]
    {
        for command in ["search", "grep"] {
            let args: Vec<&str> =
                [command, "zinniaprefix"].into_iter().chain(options.iter().copied()).collect();
            assert_eq!(desk.run(&args).code == 0, is_found, "{args:?}");
        }
    }
}

#[test]
fn what_is_appended_and_what_a_command_writes_belong_to_the_folder_and_the_user() {
    let desk = desk();
    let line = "{\"role\":\"user\",\"content\":\"the zinniaappended\"}\n";
    run_in(&desk, "garden", &["append", "mine", "--user", "ann"], line).exits(0);
    let keep = ["run", "--", "sh", "-c", "seq 1 4000; echo the zinniaprinted"];
    desk.write("config/wunderblock/config.toml", "[scope]\nuser = \"ann\"\n");
    run_in(&desk, "copy", &keep, "").exits(0);
    run_in(&desk, "pond", &["run", "--", "sh", "-c", "seq 1 4000; echo the zinniahidden"], "").exits(0);
    let requests = ["zinniaappended", "zinniaprinted", "zinniahidden"].map(|word| {
        ("tools/call", json!({ "name": "search", "arguments": { "query": word, "exact": "text" } }))
    });
    let answers = talk(&desk, &[], &requests);
    let count = |at: usize| answers[at]["result"]["structuredContent"]["hits"].as_array().unwrap().len();
    assert!(count(0) == 1 && count(1) >= 1 && count(2) == 0, "{answers:?}");
    // Equal bytes that are kept as they are belong to each project that wrote them.
    let binary = ["run", "--", "sh", "-c", "printf '\\377\\376'; head -c 9000000 /dev/zero"];
    for folder in ["garden", "pond"] {
        run_in(&desk, folder, &binary, "");
    }
    let kept = desk.run(&["sessions", "--json"]).exits(0);
    let projects: BTreeSet<String> = kept
        .lines()
        .iter()
        .filter(|one| one["session"].as_str().unwrap().contains("-run-"))
        .map(|one| one["project"].as_str().unwrap().rsplit('/').next().unwrap().to_owned())
        .collect();
    assert_eq!(projects, ["garden", "pond"].map(str::to_owned).into(), "{}", kept.out);
}
