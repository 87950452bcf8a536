//! `agents`: what is defined in a prepared home, and which model each delegate gets.

use crate::desk::Desk;

/// A home with a user's definitions and a plugin, as in the article on three files of one name.
fn home() -> Desk {
    let desk = Desk::bare();
    let list = format!(
        r#"{{"version": 2, "plugins": {{"feature-dev@m": [{{"scope": "user", "installPath": "{}"}}]}}}}"#,
        desk.path("plugin").display()
    );
    desk.write(".claude/plugins/installed_plugins.json", list);
    desk.write(".claude/settings.json", r#"{"enabledPlugins": {"feature-dev@m": true}}"#);
    desk.write(
        "plugin/agents/code-reviewer.md",
        "---\nname: code-reviewer\ndescription: Reviews code for bugs and style.\ntools: Glob, Grep, Read\nmodel: sonnet\nhooks: {}\n---\nYou review code.\n",
    );
    desk.write(
        ".claude/agents/explore.md",
        "---\nname: explore\ndescription: My explorer.\nmodel: haiku\nrequiredMcpServers: [index]\n---\nLook.\n",
    );
    desk
}

#[test]
fn delegates_are_listed_and_shown() {
    let desk = home();
    let list = desk.run(&["agents", "list"]).exits(0);
    insta::assert_snapshot!("agents_list", desk.settled(&(list.out + &list.err)));
    let shown = desk.run(&["agents", "show", "feature-dev:code-reviewer"]).exits(0);
    insta::assert_snapshot!("agents_show", desk.settled(&(shown.out + &shown.err)));
    let json = desk.run(&["agents", "show", "explore", "--json"]).exits(0).json();
    assert_eq!((json["layer"].as_str(), json["overrides"][0].as_str()), (Some("user"), Some("built-in")));
    let offered = desk.run(&["agents", "list", "--server", "other"]).exits(0);
    assert!(offered.out.contains("not offered: explore: MCP server not connected: index"), "{}", offered.out);
    let settings =
        r#"{"enabledPlugins": {"feature-dev@m": true}, "permissions": {"deny": ["Bash", "Agent(Plan)"]}}"#;
    desk.write(".claude/settings.json", settings);
    let denied = desk.run(&["agents", "list"]).exits(0);
    assert!(denied.out.contains("not offered: plan: denied by `Agent(Plan)`"), "{}", denied.out);
    let refused =
        desk.run(&["agents", "resolve", "--type", "plan", "--parent-model", "claude-opus-4-8"]).exits(1);
    assert!(refused.err.contains("may not be used: denied by `Agent(Plan)`"), "{}", refused.err);
    desk.write(".claude/agents/second.md", "---\nname: Explore\ndescription: Another.\n---\nLook.\n");
    let case = desk.run(&["agents", "list", "-v"]).exits(0);
    assert!(case.err.contains("`explore` and `Explore` differ only in case: both count"), "{}", case.err);
    desk.write("config.toml", "agents = \"agents.toml\"\n");
    desk.write("agents.toml", "denied = [\"*\"]\n");
    let nothing = desk.run(&["agents", "list", "--config", "config.toml"]).exits(0);
    assert!(!nothing.out.contains("models:") && nothing.out.contains("denied by `*`"), "{}", nothing.out);
    desk.write("agents.toml", "denied = [\"feature-dev:*\"]\n");
    let denied = desk.run(&["agents", "list", "--config", "config.toml"]).exits(0);
    assert!(
        denied.out.contains("not offered: feature-dev:code-reviewer: denied by `feature-dev:*`"),
        "{}",
        denied.out
    );
}

/// Adds commands and skills of a person, a project and a plugin.
fn with_commands(desk: &Desk) {
    desk.write(
        ".claude/commands/db/dump.md",
        "---\nargument-hint: TABLE\nmodel: haiku\neffort: low\nallowed-tools: Bash(pg_dump *) Read\ndisallowed-tools: Write\n---\nDump $0.\n",
    );
    desk.write(
        ".claude/skills/deploy/SKILL.md",
        "---\nname: deploy\ndescription: Deploys a stage.\narguments: stage\ndisable-model-invocation: true\nmodel: opus\neffort: high\ncontext: fork\nagent: Explore\n---\nDeploy $stage:\n!`git log $stage`\nRules are in @docs/rules.md.\n",
    );
    desk.write("plugin/commands/review.md", "Review the change.");
    desk.write(
        ".gemini/commands/git/commit.toml",
        "prompt = \"Commit: {{args}}\"\ndescription = \"Commits.\"\n",
    );
}

#[test]
fn commands_and_skills_are_listed_and_shown() {
    let desk = home();
    let none = desk.run(&["agents", "list", "--commands", "--product", "codex"]).exits(0);
    assert!(none.out.is_empty() && none.err.contains("no commands or skills"), "{}", none.err);
    with_commands(&desk);
    let list = desk.run(&["agents", "list", "--commands"]).exits(0);
    insta::assert_snapshot!("agents_list_commands", desk.settled(&(list.out + &list.err)));
    let dump = desk.run(&["agents", "show", "/db:dump"]).exits(0);
    let deploy = desk.run(&["agents", "show", "/deploy"]).exits(0);
    insta::assert_snapshot!("agents_show_command", desk.settled(&(dump.out + "\n" + &deploy.out)));
    let lines =
        desk.run(&["agents", "list", "--commands", "--product", "gemini-cli", "--json"]).exits(0).lines();
    let fields = ["name", "kind", "description", "layer"].map(|field| lines[0][field].as_str().unwrap());
    assert_eq!((fields, lines.len()), (["git:commit", "command", "Commits.", "user"], 1));
    assert_eq!((lines[0]["for_user"].as_bool(), lines[0]["for_model"].as_bool()), (Some(true), Some(false)));
    let agents = desk.run(&["agents", "list"]).exits(0);
    assert!(!agents.out.contains("deploy"), "{}", agents.out);
    desk.run(&["agents", "list", "--commands", "--tool", "Read"]).exits(2);
}

#[test]
fn a_command_is_shown_with_its_arguments_and_what_its_product_would_run() {
    let desk = home();
    with_commands(&desk);
    let ask = ["agents", "show", "/deploy", "--product", "claude-code", "--arguments", "'eu west' now"];
    let done = desk.run(&ask).exits(0);
    assert_eq!(done.out, "Deploy eu west:\n!`git log eu west`\nRules are in @docs/rules.md.\n");
    assert_eq!(
        done.err,
        "left as written: claude-code runs !`git log eu west`\nleft as written: claude-code inserts the file @docs/rules.md\n"
    );
    let report = desk.run(&[&ask[..], &["--json"]].concat()).exits(0).json();
    assert_eq!(report["left"][1], serde_json::json!({ "part": "file", "text": "@docs/rules.md" }));
    let commit = desk.run(&["agents", "show", "/git:commit", "--arguments", "-m x"]).exits(0);
    assert_eq!(commit.out, "Commit: -m x\n");
    for (name, code, expected) in [
        ("/review", 1, "command '/review' not found; did you mean `/feature-dev:review`?"),
        ("/deploys", 1, "command '/deploys' not found; did you mean `/deploy`?"),
        ("/zzz", 1, "command '/zzz' not found\n"),
        ("explore", 2, "only a command takes arguments; for a command, write `/explore`"),
    ] {
        let done = desk.run(&["agents", "show", name, "--arguments", "x"]).exits(code);
        assert!(done.err.contains(expected), "{}", done.err);
    }
}

#[test]
fn the_model_of_a_command_takes_the_place_of_that_of_the_call() {
    let desk = home();
    with_commands(&desk);
    let resolve = |more: &[&str]| {
        let args = ["agents", "resolve", "--parent-model", "claude-sonnet-4-5-20250929"];
        desk.run(&[&args[..], more].concat())
    };
    let dump = resolve(&["--command", "/db:dump", "--json"]).exits(0).json();
    let fields = ["type", "model", "rule", "effort"].map(|field| dump[field].as_str().unwrap());
    assert_eq!(fields, ["general-purpose", "claude-haiku-5-5", "call", "low"]);
    // The skill names a delegate, and the definition of the person names another model.
    let deploy = resolve(&["--command", "/deploy", "--explain"]).exits(0);
    assert!(deploy.out.starts_with("claude-opus-5-5\n") && deploy.out.contains("\neffort         high\n"));
    assert!(deploy.out.contains("definition   haiku"), "{}", deploy.out);
    let named = resolve(&["--command", "deploy", "--type", "plan", "--json"]).exits(0).json();
    assert_eq!((named["type"].as_str(), named["effort"].as_str()), (Some("plan"), Some("high")));
    let unknown = resolve(&["--command", "/nothing"]).exits(1);
    assert!(unknown.err.contains("command '/nothing' not found"), "{}", unknown.err);
    resolve(&["--command", "/deploy", "--model", "opus"]).exits(2);
}

#[test]
fn an_unknown_type_is_said_with_the_nearest_ones() {
    let desk = home();
    for (name, expected) in [
        ("code-reviewer", "Agent type 'code-reviewer' not found; did you mean `feature-dev:code-reviewer`?"),
        ("Explore", "Agent type 'Explore' not found; did you mean `explore`?"),
        ("zzz", "Agent type 'zzz' not found\n"),
    ] {
        let done = desk.run(&["agents", "show", name]).exits(1);
        assert!(done.err.contains(expected), "{}", done.err);
    }
    desk.write(
        ".codex/agents/e.toml",
        "name = \"explore\"\ndescription = \"E\"\ndeveloper_instructions = \"I\"\n",
    );
    let several = desk.run(&["agents", "show", "explore"]).exits(2);
    assert!(several.err.contains("choose one with --product"), "{}", several.err);
    desk.write(".claude/agents/again.md", "---\nname: explore\ndescription: Another.\n---\n");
    let twice = desk.run(&["agents", "show", "explore", "--product", "claude-code"]).exits(1);
    assert!(twice.err.contains("explore.md") && twice.err.contains("again.md"), "{}", twice.err);
}

#[test]
fn a_route_says_every_rule() {
    let desk = home();
    let ask = |more: &[&str]| {
        let mut args = vec!["agents", "resolve", "--type", "feature-dev:code-reviewer", "--parent-model"];
        args.extend(more);
        desk.run(&args).exits(0)
    };
    let plain = ask(&["us.anthropic.claude-opus-4-8"]);
    assert_eq!(plain.out, "us.anthropic.claude-sonnet-4-5-20250929-v1:0\n");
    desk.write("config.toml", "agents = \"agents.toml\"\n");
    desk.write("agents.toml", "permitted = [\"opus\"]\nswitches = [{ plan = true, to = \"large\" }]\n");
    let explained = ask(&["claude-opus-5-5", "--model", "haiku", "--explain", "--config", "config.toml"]);
    insta::assert_snapshot!("agents_resolve", explained.out + &explained.err);
    let report = ask(&["claude-opus-5-5", "--json"]).json();
    assert_eq!(
        (report["rule"].as_str(), report["rules"].as_array().map(Vec::len)),
        (Some("definition"), Some(7))
    );
    desk.write("agents.toml", "denied = [\"feature-dev:*\"]\n");
    let ask_denied = ["agents", "resolve", "--type", "feature-dev:code-reviewer", "--parent-model", "x"];
    let denied = desk.run(&[&ask_denied[..], &["--config", "config.toml"]].concat()).exits(1);
    assert!(denied.err.contains("may not be used: denied by `feature-dev:*`"), "{}", denied.err);
    desk.run(&["agents", "resolve"]).exits(2);
    desk.run(&["agents", "resolve", "--parent-model", ""]).exits(2);
    desk.write("agents.toml", "environment = \"first\"\n");
    desk.run(&["agents", "list", "--config", "config.toml"]).exits(2);
}

#[test]
fn a_listing_says_what_changed_since_an_earlier_one() {
    let desk = home();
    let before = desk.run(&["agents", "listing", "--product", "claude-code"]).exits(0);
    assert!(before.out.contains(
        "- feature-dev:code-reviewer: Reviews code for bugs and style. (Tools: Glob, Grep, Read)\n"
    ));
    desk.write("before.txt", &before.out);
    let same = desk.run(&["agents", "listing", "--product", "claude-code", "--since", "before.txt"]).exits(0);
    assert_eq!((same.out.as_str(), same.err.contains("nothing changed")), ("", true));
    std::fs::remove_file(desk.path(".claude/settings.json")).unwrap();
    let after =
        desk.run(&["agents", "listing", "--product", "claude-code", "--since", "before.txt"]).exits(0);
    assert_eq!(after.out, "No longer available: feature-dev:code-reviewer\n");
}

#[test]
fn a_request_lists_the_agent_types_and_says_changes_at_its_end() {
    let desk = home();
    desk.feed(&["append", "talk"], "{\"role\":\"user\",\"content\":\"Which parser is faulty?\"}\n").exits(0);
    let build = |more: &[&str]| {
        let args = ["context", "talk", "--agents", "claude-code", "--window", "32000", "--out", "-"];
        desk.run(&[&args[..], more].concat()).exits(0).out
    };
    let first = build(&[]);
    assert!(first.contains("- feature-dev:code-reviewer: Reviews code"), "{first}");
    desk.write(".claude/agents/tester.md", "---\nname: tester\ndescription: Tests.\n---\nTest.\n");
    let second = build(&[]);
    let common = first.bytes().zip(second.bytes()).take_while(|(a, b)| a == b).count();
    assert!(first.len() - common < 100, "the request only grows at its end: {common} of {}", first.len());
    assert!(second.contains("New agent types:\\n- tester: Tests."), "{second}");
    assert_eq!(build(&[]), second, "a change is said once");
    let report = desk.run(&["explain", "talk", "--agents", "claude-code", "--window", "32000", "--json"]);
    let report = report.exits(0).json();
    let listed = report["blocks"].as_array().unwrap().iter().filter(|block| block["section"] == "agents");
    assert_eq!(listed.count(), 4);
    let told = report["entries"].as_array().unwrap().iter().any(|entry| {
        entry["section"] == "agents" && entry["what"].as_str().is_some_and(|what| what.contains("changes"))
    });
    assert!(told, "{report}");
    let unknown = desk.run(&["context", "talk", "--agents", "nobody"]).exits(2);
    assert!(unknown.err.contains("unknown product `nobody`; known are claude-code"), "{}", unknown.err);
}

#[test]
fn the_context_of_a_delegate_is_reported_with_the_cost_of_the_other_modes() {
    let desk = Desk::new();
    desk.run(&["import", "session.jsonl"]).exits(0);
    let ask = |more: &[&str]| {
        let args =
            ["agents", "context", "--session", "7d1f0c52", "--goal", "Check the tests of src/parser.rs."];
        desk.run(&[&args[..], more].concat())
    };
    let slice = ask(&["explore", "--mode", "fork", "--budget", "20000", "--levels", "0"]).exits(0);
    insta::assert_snapshot!("agents_context", desk.settled(&(slice.out + &slice.err)));
    let fork = ask(&["--mode", "fork", "--json"]).exits(0).json();
    let (same, all) = (fork["shared_bytes"].as_u64().unwrap(), fork["parent_bytes"].as_u64().unwrap());
    assert!(same * 100 >= all * 99, "{same} of {all}");
    assert_eq!((fork["mode"].as_str(), fork["prices"].as_array().unwrap().len()), (Some("fork"), 2));
    let request = ask(&["--mode", "summary", "--out", "-"]).exits(0);
    assert!(request.out.starts_with('{') && request.out.contains("summary of positions"), "{}", request.out);
    assert!(request.err.contains("handed over"), "{}", request.err);
    // A copy keeps its parent's model, unless the call or the policy names another.
    let asked = ask(&["--mode", "fork", "--model", "haiku", "--json"]).exits(0).json();
    assert!(asked["not_a_fork"][0].as_str().unwrap().starts_with("its model is claude-haiku-"), "{asked}");
    desk.write("config.toml", "agents = \"agents.toml\"\n");
    desk.write("agents.toml", "policy = \"opus\"\ndefault = \"haiku\"\n");
    let forced = ask(&["--mode", "fork", "--json", "--config", "config.toml"]).exits(0).json();
    assert!(forced["not_a_fork"][0].as_str().unwrap().starts_with("its model is claude-opus-"), "{forced}");
    desk.write("agents.toml", "default = \"haiku\"\n");
    let kept = ask(&["--mode", "fork", "--json", "--config", "config.toml"]).exits(0).json();
    assert_eq!(kept["mode"], "fork");
    for (args, expected) in [
        (&["nobody"][..], "Agent type 'nobody' not found"),
        (&["--at", "9999"], "invalid positions 9999–9999"),
        (&["--at", "x"], "invalid range `x`"),
        (&["--until", "soon"], "invalid time `soon`"),
        (&["--until", "2001-01-01T00:00:00Z"], "the deadline has passed"),
        (&["--schema", "nosuch.json"], "nosuch.json"),
        (&["--budget", "0"], "no tokens left"),
    ] {
        let slice = [&["--mode", "slice"][..], args].concat();
        let done = ask(&slice);
        assert!(done.err.contains(expected), "{args:?}: {}", done.err);
    }
    let empty = desk.run(&["agents", "context", "--session", "7d1f0c52", "--goal", " "]).exits(2);
    assert!(empty.err.contains("the brief has no goal"), "{}", empty.err);
}

#[test]
fn a_route_is_kept_in_the_session_of_the_parent() {
    let desk = Desk::with_session();
    let args = ["agents", "resolve", "--type", "plan", "--session", "7d1f0c52"];
    let model = desk.run(&args).exits(0).out;
    let recorded = desk.run(&[&args[..], &["--record"]].concat()).exits(0);
    assert_eq!(recorded.out, model);
    assert!(recorded.err.contains("recorded as 7d1f0c52"), "{}", recorded.err);
    let events = desk.run(&["export", "7d1f0c52"]).exits(0).lines();
    let route = events.iter().find(|event| event["kind"] == "route.chosen").expect("the route");
    let fields =
        ["agent", "parent", "asked", "chosen", "why"].map(|field| route[field].as_str().unwrap_or_default());
    let model = model.trim();
    assert_eq!(fields, ["plan", model, "inherit", model, "inherit"]);
    assert_eq!(route["layers"].as_array().map(Vec::len), Some(7));
    desk.run(&["agents", "resolve", "--record", "--parent-model", "x"]).exits(2);
}

#[test]
fn a_tree_tells_what_became_of_delegates_of_the_live_door() {
    let desk = Desk::bare();
    let lines = [
        r#"{"role":"user","content":"go"}"#,
        r#"{"kind":"subagent.spawned","session":"one","agent":"explore","model":"sonnet","prompt":"Look around.","mode":"fresh"}"#,
        r#"{"kind":"subagent.spawned","session":"two","agent":"plan"}"#,
        r#"{"kind":"subagent.spawned","session":"three","agent":"plan"}"#,
        r#"{"kind":"subagent.returned","session":"one","outcome":"done","result":"Nothing.","model":"claude-opus-4-8","tokens":12,"millis":3000}"#,
        r#"{"kind":"subagent.returned","session":"three","outcome":"failed"}"#,
    ];
    desk.feed(&["append", "main"], &lines.map(|line| format!("{line}\n")).concat()).exits(0);
    // The session of a delegate need not name its parent.
    desk.feed(&["append", "two"], "{\"role\":\"user\",\"content\":\"Plan it.\"}\n").exits(0);
    let nodes = desk.run(&["agents", "tree", "main", "--json"]).exits(0).lines();
    let told: Vec<[&str; 4]> = nodes[1..]
        .iter()
        .map(|node| {
            ["session", "type", "outcome", "task"].map(|field| node[field].as_str().unwrap_or_default())
        })
        .collect();
    assert_eq!(
        told,
        [
            ["one", "explore", "done", "Look around."],
            ["two", "plan", "in flight", "Plan it."],
            ["three", "plan", "failed", ""],
        ]
    );
    assert_eq!(nodes[1]["mismatch"]["expected"], "sonnet");
    assert_eq!(nodes[1]["result"]["text"], "Nothing.");
    let address = nodes[1]["result"]["address"].as_str().unwrap_or_default();
    assert!(desk.run(&["read", address]).exits(0).out.contains("Nothing."), "{address}");
    desk.feed(&["append", "main"], "{\"kind\":\"session.closed\"}\n").exits(0);
    let closed = desk.run(&["agents", "tree", "main", "--json"]).exits(0).lines();
    assert_eq!(closed[2]["outcome"], "unknown", "no delegate goes on after its parent's session");
}

#[test]
fn the_model_that_answered_is_compared_with_the_recorded_route() {
    let desk = Desk::bare();
    desk.feed(&["append", "main"], "{\"role\":\"user\",\"content\":\"go\"}\n").exits(0);
    let model = ["--parent-model", "claude-opus-4-8", "--session", "main", "--record"];
    for kind in ["plan", "explore"] {
        desk.run(&[&["agents", "resolve", "--type", kind], &model[..]].concat()).exits(0);
    }
    let lines = [
        r#"{"kind":"subagent.spawned","session":"one","agent":"plan"}"#,
        r#"{"kind":"subagent.returned","session":"one","outcome":"done","model":"claude-opus-4-8"}"#,
        r#"{"kind":"subagent.spawned","session":"two","agent":"Explore"}"#,
        r#"{"kind":"subagent.returned","session":"two","outcome":"done","model":"gpt-5-mini"}"#,
    ];
    desk.feed(&["append", "main"], &lines.map(|line| format!("{line}\n")).concat()).exits(0);
    let nodes = desk.run(&["agents", "tree", "main", "--json"]).exits(0).lines();
    assert_eq!(nodes[1]["chosen"], "claude-opus-4-8");
    assert_eq!(nodes[1]["mismatch"], serde_json::Value::Null);
    let expected = nodes[2]["chosen"].as_str().unwrap_or_default();
    let table = desk.run(&["agents", "tree", "main"]).exits(0).out;
    assert!(table.contains(&format!("the route chose {expected}, but gpt-5-mini answered")), "{table}");
}

#[test]
fn a_tree_draws_the_delegates_of_every_level() {
    let desk = Desk::bare();
    for (name, parent) in [
        ("main", None),
        ("first", Some("main")),
        ("inner", Some("first")),
        ("second", Some("main")),
        ("last", Some("second")),
    ] {
        let open = serde_json::json!({ "kind": "session.opened", "parent": parent });
        let said = serde_json::json!({ "role": "user", "content": format!("Task of {name}") });
        desk.feed(&["append", name], &format!("{open}\n{said}\n")).exits(0);
    }
    let tree = desk.run(&["agents", "tree", "main"]).exits(0);
    let lines: Vec<&str> =
        tree.out.lines().map(|line| line.split("  —").next().unwrap_or(line).trim_end()).collect();
    assert_eq!(lines[1..], ["main", "├─ first", "│  └─ inner", "└─ second", "   └─ last"], "{}", tree.out);
    assert!(tree.out.contains("Task of inner"), "{}", tree.out);
    let nodes = desk.run(&["agents", "tree", "main", "--json"]).exits(0).lines();
    let depths: Vec<u64> = nodes.iter().filter_map(|node| node["depth"].as_u64()).collect();
    assert_eq!(depths, [0, 1, 2, 1, 2]);
    let alone = desk.run(&["agents", "tree", "inner"]).exits(0);
    assert!(alone.err.contains("the session has no delegates"), "{}", alone.err);
    desk.run(&["agents", "tree", "nobody"]).exits(2);
}
