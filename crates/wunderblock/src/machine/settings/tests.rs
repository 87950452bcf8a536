//! Settings files of many shapes: installing adds entries, and undoing restores every byte.

use super::{Document, ExistingFiles, Installation, SettingsChange, SettingsFormat, SettingsProblem, diff};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;
use wunderblock_wire::hook::HookAgent;
use wunderblock_wire::hook::HookAgent::{ClaudeCode, Codex, GeminiCli, OpenCode};

const PROGRAM: &str = "/opt/my tools/wunderblock";

fn home(base: &str) -> Option<PathBuf> {
    Some(PathBuf::from("/home/ann").join(base.strip_prefix("~/")?))
}

fn installation(agent: HookAgent, program: &str) -> Installation<'_> {
    Installation { agent, program, options: "", runs_commands: false, folder: &home }
}

fn existing(files: &[(&str, &str)]) -> ExistingFiles {
    files.iter().map(|(path, text)| (PathBuf::from(path), text.as_bytes().to_vec())).collect()
}

fn applied(mut files: ExistingFiles, changes: &[SettingsChange]) -> ExistingFiles {
    for change in changes {
        match &change.after {
            Some(bytes) => drop(files.insert(change.path.clone(), bytes.clone())),
            None => drop(files.remove(&change.path)),
        }
    }
    files
}

/// Returns files as texts, so that a failed comparison can be read.
fn shown(files: &ExistingFiles) -> Vec<(&PathBuf, std::borrow::Cow<'_, str>)> {
    files.iter().map(|(path, bytes)| (path, String::from_utf8_lossy(bytes))).collect()
}

fn text(files: &ExistingFiles, path: &str) -> String {
    String::from_utf8(files[&PathBuf::from(path)].clone()).unwrap()
}

const CLAUDE: &str = "/home/ann/.claude/settings.json";
const CLAUDE_STATE: &str = "/home/ann/.claude.json";
const CODEX: &str = "/home/ann/.codex/config.toml";
const CODEX_HOOKS: &str = "/home/ann/.codex/hooks.json";
const GEMINI: &str = "/home/ann/.gemini/settings.json";
const OPENCODE: &str = "/home/ann/.config/opencode/opencode.json";
const OPENCODE_COMMENTS: &str = "/home/ann/.config/opencode/opencode.jsonc";
const PLUGIN: &str = "/home/ann/.config/opencode/plugins/wunderblock.js";

/// JSON files. Those with `true` get their bytes back from a removal of the entries alone.
const JSON: &[(&str, bool)] = &[
    ("", false),
    ("\n", false),
    ("{}", true),
    ("{}\n", true),
    ("{ }", false),
    ("{\n}\n", false),
    ("{\n  \"model\": \"m\"\n}\n", true),
    ("{\n  \"model\": \"m\"\n}", true),
    ("\u{feff}{\n  \"model\": \"m\"\n}\n", true),
    ("{\r\n    \"model\": \"m\",\r\n    \"list\": [[1, 2], [3]]\r\n}\r\n", true),
    ("{\n\t\"model\": \"m\",\n\t\"number\": 1.50e3,\n\t\"deep\": {\n\t\t\"a\": null\n\t}\n}", true),
    (
        "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]\n      }\n    ]\n  }\n}\n",
        true,
    ),
    (
        "{\"model\":\"m\",\"hooks\":{\"SessionStart\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"a\"}]}]}}",
        false,
    ),
    (
        "{\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\", \"args\": []}\n  },\n  \"mcp\": {\n    \"o\": {\"type\": \"remote\"}\n  }\n}\n",
        true,
    ),
    (
        "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\n        \"matcher\": \"startup\",\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"echo wunderblock\"\n          }\n        ]\n      }\n    ]\n  },\n  \"é\": \"中文 \\u0041\"\n}\n",
        true,
    ),
];

const COMMENTED: &[(&str, bool)] = &[
    ("// settings\n{\n  // the model\n  \"model\": \"m\", // best\n  /* end */\n}\n", true),
    ("{\n  \"model\": \"m\",\n}\n", true),
    ("{\n  \"a\": [\n    1, // one\n    2,\n  ],\n}\n// end\n", true),
    ("{\r\n\t// c\r\n\t\"a\": 1\r\n}\r\n", true),
];

const TOML: &[(&str, bool)] = &[
    ("", true),
    ("model = \"m\"\n", true),
    ("model = \"m\"", true),
    ("# only a comment\n", true),
    ("\u{feff}model = \"m\"\n", true),
    (
        "model = 'm' # best\r\n\r\n[mcp_servers.other]\r\ncommand = \"x\"  # why\r\nargs = [ \"a\",\r\n  \"b\" ]\r\n",
        true,
    ),
    ("[mcp_servers.other]\ncommand = \"x\"\n\n[profiles.p]\nmodel = \"m\"\n# end\n", true),
    ("mcp_servers = { other = { command = \"x\" } }\n", true),
    ("[mcp_servers]\nother = { command = \"x\" }\n", true),
    (
        "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"say done\"\n\n[hooks.state.\"a:b\"]\ntrusted_hash = \"1\"\n",
        true,
    ),
    ("[hooks]\nStop = [{ hooks = [{ type = \"command\", command = \"say done\" }] }]\n", true),
    ("a = 1\r\nb = 2\n\n\n[x] # mixed\r\ny.z = 0x1F\nd = 2026-11-27T10:00:00Z\n", true),
    ("text = \"\"\"\r\na\r\n\r\nb\"\"\"\r\n[t]\r\nu = 1\r\n", true),
];

/// Checks that an installation is found, complete, repeatable and reversible.
fn check(agent: HookAgent, files: &[(&str, &str)], is_exact: bool) {
    let before = existing(files);
    let ours = installation(agent, PROGRAM);
    let written = ours.install(&before).unwrap();
    assert!(!written.is_empty(), "{files:?}");
    let after = applied(before.clone(), &written);
    for change in &written {
        let after = String::from_utf8_lossy(change.after.as_deref().unwrap()).into_owned();
        assert!(after.contains(PROGRAM), "{after}");
        assert!(ours.files().contains(&change.path));
        assert!(!diff(change).is_empty());
        if let Some(before) = &change.before {
            assert_eq!(after.starts_with('\u{feff}'), before.starts_with("\u{feff}".as_bytes()));
        }
    }
    assert_eq!(ours.install(&after).unwrap(), [], "{files:?}");

    let undone = applied(after.clone(), &ours.undo(&after, &written).unwrap());
    assert_eq!(shown(&undone), shown(&before), "{files:?}");

    // Without the backup, every value stays, and in most files every byte.
    let removed = applied(after.clone(), &ours.undo(&after, &[]).unwrap());
    for (path, bytes) in &before {
        let now = &removed[path];
        let is_kept = if is_exact { now == bytes } else { value(path, now) == value(path, bytes) };
        assert!(is_kept, "{}\n{}", String::from_utf8_lossy(bytes), String::from_utf8_lossy(now));
    }
    assert_eq!(ours.undo(&removed, &written).unwrap(), []);

    // An older installation elsewhere is replaced, at the same places.
    let older = installation(agent, "/usr/local/bin/wunderblock");
    let old = applied(before.clone(), &older.install(&before).unwrap());
    let moved = ours.install(&old).unwrap();
    assert_eq!(shown(&applied(old.clone(), &moved)), shown(&after), "{files:?}");
}

fn value(path: &std::path::Path, bytes: &[u8]) -> Value {
    let format = match path.extension().unwrap().to_str() {
        Some("toml") => SettingsFormat::Toml,
        _ => SettingsFormat::JsonWithComments,
    };
    Document::read(format, bytes).unwrap().get(&[]).unwrap().clone()
}

#[test]
fn installing_and_undoing_restores_every_byte() {
    for agent in HookAgent::ALL {
        check(agent, &[], false);
    }
    for (json, is_exact) in JSON {
        check(ClaudeCode, &[(CLAUDE, json), (CLAUDE_STATE, json)], *is_exact);
        check(Codex, &[(CODEX_HOOKS, json)], *is_exact);
        check(GeminiCli, &[(GEMINI, json)], *is_exact);
        check(OpenCode, &[(OPENCODE, json)], *is_exact);
    }
    for (json, is_exact) in COMMENTED {
        check(GeminiCli, &[(GEMINI, json)], *is_exact);
        check(OpenCode, &[(OPENCODE, json)], *is_exact);
        check(OpenCode, &[(OPENCODE_COMMENTS, json)], *is_exact);
    }
    for (toml, is_exact) in TOML {
        check(Codex, &[(CODEX, toml)], *is_exact);
        check(Codex, &[(CODEX, toml), (CODEX_HOOKS, "{}\n")], *is_exact);
    }
}

#[test]
fn an_installation_is_written_as_a_person_would() {
    let before = existing(&[(CLAUDE, "{\n    \"model\": \"m\"\n}\n")]);
    let after = applied(before.clone(), &installation(ClaudeCode, PROGRAM).install(&before).unwrap());
    let settings = text(&after, CLAUDE);
    let start = "{\n    \"model\": \"m\",\n    \"hooks\": {\n        \"SessionStart\": [\n            {\n                \"hooks\": [\n                    {\n                        \"type\": \"command\",\n                        \"command\": \"'/opt/my tools/wunderblock' hook claude-code\",\n                        \"timeout\": 10\n                    }\n                ]\n            }\n        ],\n";
    assert!(settings.starts_with(start), "{settings}");
    let server = "{\n  \"mcpServers\": {\n    \"wunderblock\": {\n      \"type\": \"stdio\",\n      \"command\": \"/opt/my tools/wunderblock\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n";
    assert_eq!(text(&after, CLAUDE_STATE), server);

    let before = existing(&[(CODEX, "model = \"m\"\n")]);
    let after = applied(before.clone(), &installation(Codex, "/bin/wunderblock").install(&before).unwrap());
    let settings = text(&after, CODEX);
    let start = "model = \"m\"\n\n[[hooks.SessionStart]]\n\n[[hooks.SessionStart.hooks]]\ntype = \"command\"\ncommand = \"/bin/wunderblock hook codex\"\ntimeout = 10\n\n[[hooks.UserPromptSubmit]]\n";
    assert!(settings.starts_with(start), "{settings}");
    let end = "\n[mcp_servers.wunderblock]\ncommand = \"/bin/wunderblock\"\nargs = [\"mcp\"]\n";
    assert!(settings.ends_with(end), "{settings}");
    assert!(!after.contains_key(&PathBuf::from(CODEX_HOOKS)));
}

#[test]
fn commands_run_through_the_program_only_on_request() {
    let matcher = |runs_commands: bool, agent, path: &str, event: &str| {
        let ours = Installation { runs_commands, ..installation(agent, PROGRAM) };
        let after = applied(ExistingFiles::new(), &ours.install(&ExistingFiles::new()).unwrap());
        let value = value(&PathBuf::from(path), &after[&PathBuf::from(path)]);
        value["hooks"].get(event).map(|groups| groups[0]["matcher"].clone())
    };
    assert_eq!(matcher(false, ClaudeCode, CLAUDE, "PreToolUse"), Some("Agent|Task".into()));
    assert_eq!(matcher(true, ClaudeCode, CLAUDE, "PreToolUse"), Some("Agent|Task|Bash".into()));
    assert_eq!(matcher(false, Codex, CODEX, "PreToolUse"), None);
    assert_eq!(matcher(true, Codex, CODEX, "PreToolUse"), Some("^Bash$".into()));
    // Installing again without the option removes what only the option needs.
    let running = Installation { runs_commands: true, ..installation(Codex, PROGRAM) };
    let with = applied(ExistingFiles::new(), &running.install(&ExistingFiles::new()).unwrap());
    let without = applied(with.clone(), &installation(Codex, PROGRAM).install(&with).unwrap());
    assert_eq!(
        without,
        applied(ExistingFiles::new(), &installation(Codex, PROGRAM).install(&ExistingFiles::new()).unwrap())
    );
}

#[test]
fn a_file_that_exists_is_preferred() {
    let ours = installation(OpenCode, PROGRAM);
    let changed = |files: &[(&str, &str)]| -> Vec<PathBuf> {
        ours.install(&existing(files)).unwrap().into_iter().map(|change| change.path).collect()
    };
    assert_eq!(changed(&[]), [OPENCODE, PLUGIN].map(PathBuf::from));
    assert_eq!(changed(&[(OPENCODE_COMMENTS, "{}")]), [OPENCODE_COMMENTS, PLUGIN].map(PathBuf::from));
    // Hooks in a file that is not preferred any more would run twice.
    let codex = installation(Codex, PROGRAM);
    let mut files = applied(ExistingFiles::new(), &codex.install(&ExistingFiles::new()).unwrap());
    files.insert(CODEX_HOOKS.into(), b"{}".to_vec());
    let moved = applied(files.clone(), &codex.install(&files).unwrap());
    assert!(!text(&moved, CODEX).contains("hooks") && text(&moved, CODEX).contains("mcp_servers"));
    assert!(text(&moved, CODEX_HOOKS).contains(PROGRAM));
    let folder = |base: &str| (base == "$CODEX_HOME").then(|| PathBuf::from("/srv/codex home"));
    let moved = Installation { folder: &folder, ..installation(Codex, PROGRAM) };
    assert_eq!(
        moved.files(),
        ["/srv/codex home/config.toml", "/srv/codex home/hooks.json"].map(PathBuf::from)
    );
}

#[test]
fn a_handler_of_ours_in_a_group_of_others_is_found() {
    let group = json!({"matcher": "a", "hooks": [
        {"type": "command", "command": "say done"},
        {"type": "command", "command": "/x/wunderblock hook claude-code --quiet"},
        {"type": "command", "command": "wunderblock hook codex"},
        {"type": "command", "command": "wunderblock import"},
        {"type": "command", "command": "wunderblock hook claude-code && say done"},
        {"type": "http", "url": "http://localhost"},
    ]});
    let settings = json!({"hooks": {"Stop": [group, {"hooks": []}, "odd"]}}).to_string();
    let before = existing(&[(CLAUDE, &settings)]);
    let after = applied(before.clone(), &installation(ClaudeCode, PROGRAM).install(&before).unwrap());
    let stop = value(&PathBuf::from(CLAUDE), &after[&PathBuf::from(CLAUDE)])["hooks"]["Stop"].clone();
    assert_eq!(stop[0]["hooks"].as_array().unwrap().len(), 5, "{stop}");
    assert_eq!(stop.as_array().unwrap().len(), 4, "{stop}");
    assert_eq!(stop[3]["hooks"][0]["command"], "'/opt/my tools/wunderblock' hook claude-code");
}

#[test]
fn a_changed_file_loses_only_our_entries() {
    let before = existing(&[(CLAUDE, "{\n  \"model\": \"m\"\n}\n"), (CODEX, "model = \"m\"\n")]);
    for (agent, path, added, expected) in [
        (ClaudeCode, CLAUDE, ("\"m\"", "\"other\""), "{\n  \"model\": \"other\"\n}\n"),
        (Codex, CODEX, ("\"m\"\n", "\"m\"\r\n# mine\n"), "model = \"m\"\r\n# mine\n"),
    ] {
        let ours = installation(agent, PROGRAM);
        let written = ours.install(&before).unwrap();
        let mut after = applied(before.clone(), &written);
        let edited = text(&after, path).replacen(added.0, added.1, 1);
        after.insert(path.into(), edited.into_bytes());
        let undone = applied(after.clone(), &ours.undo(&after, &written).unwrap());
        assert_eq!(text(&undone, path), expected);
    }
}

#[test]
fn one_backup_covers_two_installations() {
    let before = existing(&[(CLAUDE, "{ }")]);
    let first = installation(ClaudeCode, "/old/wunderblock").install(&before).unwrap();
    let between = applied(before.clone(), &first);
    let ours = installation(ClaudeCode, PROGRAM);
    let second = ours.install(&between).unwrap();
    let after = applied(between, &second);
    let kept: Vec<SettingsChange> =
        second.iter().zip(&first).map(|(second, first)| second.clone().following(first)).collect();
    assert_eq!(applied(after.clone(), &ours.undo(&after, &kept).unwrap()), before);
    // With the second backup alone, the entries of the first installation do not return.
    let undone = applied(after.clone(), &ours.undo(&after, &second).unwrap());
    assert_eq!(value(&PathBuf::from(CLAUDE), &undone[&PathBuf::from(CLAUDE)]), json!({}));
}

#[test]
fn what_cannot_be_changed_is_an_error_with_its_place() {
    let problem = |agent, path: &str, text: &str| {
        let error = installation(agent, PROGRAM).install(&existing(&[(path, text)])).unwrap_err();
        assert_eq!(error.path, PathBuf::from(path));
        error.to_string().strip_prefix(&format!("cannot change `{path}`: ")).unwrap().to_owned()
    };
    for (agent, path, text, expected) in [
        (ClaudeCode, CLAUDE, "{\n  \"a\": \n}", "line 3: "),
        (ClaudeCode, CLAUDE, "{\n  // no comments\n}", "line 2: "),
        (ClaudeCode, CLAUDE, "{\"a\": 1,}", "line 1: "),
        (GeminiCli, GEMINI, "{\n  \"a\": 1\n  \"b\": 2\n}", "line 2: "),
        (ClaudeCode, CLAUDE, "\n[]", "line 2: `settings` must be an object"),
        (ClaudeCode, CLAUDE, "{\n  \"hooks\": []\n}", "line 2: `hooks` must be an object"),
        (
            ClaudeCode,
            CLAUDE,
            "{\n  \"hooks\": {\n    \"Stop\": {}\n  }\n}",
            "line 3: `hooks.Stop` must be a list",
        ),
        (Codex, CODEX, "a = 1\nb = \n", "line 2: "),
        (Codex, CODEX, "a = 1\nhooks = 2\n", "line 2: `hooks` must be an object"),
        (Codex, CODEX, "mcp_servers = 1\n", "line 1: `mcp_servers` must be an object"),
        (Codex, CODEX, "[hooks]\nStop = 1\n", "line 2: `hooks.Stop` must be a list"),
        (
            ClaudeCode,
            CLAUDE_STATE,
            "{\"mcpServers\": {\"wunderblock\": {\"command\": \"x\"}}}",
            "`mcpServers.wunderblock` exists",
        ),
        (OpenCode, PLUGIN, "export const A = 1\n", "`wunderblock.js` exists"),
        (ClaudeCode, CLAUDE, "{\"hooks\": {}, \"hooks\": {}}", "`hooks.SessionStart` cannot be changed"),
        (ClaudeCode, CLAUDE, "{\"hooks\": 1, \"hooks\": {}}", "`hooks.SessionStart` cannot be changed"),
        (Codex, CODEX, "[hooks]\n[hooks]\n", "line 2: "),
    ] {
        let found = problem(agent, path, text);
        assert!(found.starts_with(expected), "{found}");
    }
    let broken = ExistingFiles::from([(PathBuf::from(CLAUDE), b"{\"a\": \"\xff\"}".to_vec())]);
    let error = installation(ClaudeCode, PROGRAM).install(&broken).unwrap_err();
    assert_eq!(error.problem, SettingsProblem::NotText);
    // A file without our name need not be readable to be left alone.
    assert_eq!(installation(ClaudeCode, PROGRAM).undo(&broken, &[]), Ok(Vec::new()));
    let unreadable = existing(&[(CLAUDE, "{ \"wunderblock\" ")]);
    assert!(installation(ClaudeCode, PROGRAM).undo(&unreadable, &[]).is_err());
}

#[test]
fn the_plugin_contains_the_program() {
    let program = "/a \"b\"\\c\n/wunderblock";
    let written = installation(OpenCode, program).install(&ExistingFiles::new()).unwrap();
    let after = applied(ExistingFiles::new(), &written);
    let plugin = text(&after, PLUGIN);
    assert!(plugin.contains("\nconst PROGRAM = \"/a \\\"b\\\"\\\\c\\n/wunderblock\"\n"), "{plugin}");
    assert!(plugin.contains("\nconst RUNS_COMMANDS = false\n"), "{plugin}");
    let undone = installation(OpenCode, PROGRAM).undo(&after, &[]).unwrap();
    assert!(undone.iter().any(|change| change.path.ends_with("wunderblock.js") && change.after.is_none()));
}

#[test]
fn a_diff_shows_lines_with_their_place() {
    let change = |before: Option<&str>, after: Option<&str>| {
        let bytes = |text: &str| text.as_bytes().to_vec();
        diff(&SettingsChange { path: "/a b".into(), before: before.map(bytes), after: after.map(bytes) })
    };
    assert_eq!(change(Some("a\nb\n"), Some("a\nc\n")), "--- /a b\n+++ /a b\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
    assert_eq!(change(None, Some("a\n")), "--- /dev/null\n+++ /a b\n@@ -0,0 +1 @@\n+a\n");
    assert_eq!(
        change(Some("a"), None),
        "--- /a b\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n\\ No newline at end of file\n"
    );
    assert_eq!(change(Some("a"), Some("a")), "");
}

#[test]
fn entries_of_any_settings_are_edited() {
    let toml = "a = 1\n";
    let json = "{\"a\": 1}";
    for (format, text) in [(SettingsFormat::Toml, toml), (SettingsFormat::Json, json)] {
        let mut document = Document::read(format, text.as_bytes()).unwrap();
        let server = json!({"command": "x", "args": ["a", 1, true], "env": {"K": "v"}});
        document.set(&["servers", "mine"], &server).unwrap();
        assert_eq!(document.get(&["servers", "mine"]), Some(&server));
        let again = document.bytes();
        document.set(&["servers", "mine"], &server).unwrap();
        assert_eq!(document.bytes(), again);
        document.set(&["servers", "mine", "env"], &json!({})).unwrap();
        assert!(document.set(&["a", "b"], &server).is_err());
        document.unset(&["servers", "mine"]).unwrap();
        document.unset(&["servers", "mine"]).unwrap();
        assert_eq!(document.get(&[]), Some(&json!({"a": 1})));
    }
}

/// Settings of any shape, as JSON.
fn settings() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i32>().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
        Just(Value::from("wunderblock hook claude-code")),
    ];
    let key = prop_oneof![
        prop::sample::select(vec!["hooks", "Stop", "SessionStart", "mcpServers", "wunderblock", "command"])
            .prop_map(str::to_owned),
        "\\PC{0,4}",
    ];
    let value = leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..4).prop_map(|fields| fields.into_iter().collect()),
        ]
    });
    prop::collection::vec(("\\PC{0,4}|hooks|mcpServers", value), 0..4)
        .prop_map(|fields| fields.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_settings_are_installed_and_restored_or_refused(settings in settings(), is_pretty in any::<bool>()) {
        let text = if is_pretty { serde_json::to_string_pretty(&settings).unwrap() } else { settings.to_string() };
        let before = existing(&[(GEMINI, &text)]);
        let ours = installation(GeminiCli, PROGRAM);
        if let Ok(written) = ours.install(&before) {
            let after = applied(before.clone(), &written);
            prop_assert_eq!(ours.install(&after).unwrap(), []);
            let undone = applied(after.clone(), &ours.undo(&after, &written).unwrap());
            prop_assert_eq!(value(&PathBuf::from(GEMINI), &undone[&PathBuf::from(GEMINI)]), settings);
        }
    }

    #[test]
    fn any_text_is_edited_or_refused(text in "[\\[\\]{}:,\"a1 \n\r=/#.-]{0,30}") {
        for format in [SettingsFormat::Json, SettingsFormat::JsonWithComments, SettingsFormat::Toml] {
            if let Ok(mut document) = Document::read(format, text.as_bytes()) {
                prop_assert_eq!(document.bytes(), text.as_bytes());
                let mine = json!({"command": "x"});
                if document.set(&["mine", "x"], &mine).is_ok() {
                    prop_assert_eq!(document.get(&["mine", "x"]), Some(&mine));
                }
            }
        }
    }
}
