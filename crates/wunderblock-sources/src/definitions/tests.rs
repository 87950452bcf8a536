//! Definitions of a prepared home, in the formats of all products.

use super::{
    DefinitionCache, DefinitionQuery, Definitions, DelegateRules, EnvironmentPosition, definitions,
    model_table,
};
use crate::places::Places;
use std::collections::BTreeMap;
use std::fs::{create_dir_all, write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;
use wunderblock_core::delegate::definition::{AgentDefinition, Layer};
use wunderblock_core::delegate::registry::{Found, Registry};

mod commands;

/// A home directory with a project, for one test.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        create_dir_all(home.path("garden/.git")).unwrap();
        create_dir_all(home.path("garden/src/deep")).unwrap();
        home
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn with(self, path: &str, text: &str) -> Self {
        let path = self.path(path);
        create_dir_all(path.parent().unwrap()).unwrap();
        write(path, text).unwrap();
        self
    }

    fn query(&self) -> DefinitionQuery {
        let places = Places { home: self.path(""), ..Places::default() };
        let (system, folder) = (self.path("etc"), self.path("garden/src/deep"));
        DefinitionQuery { places, system, folder, ..DefinitionQuery::default() }
    }

    fn read(&self) -> Arc<Definitions> {
        definitions(&self.query(), &DefinitionCache::default())
    }
}

fn one<'a>(found: &'a Definitions, product: &str, name: &str) -> &'a AgentDefinition {
    match found.products[product].find(name) {
        Found::One(one) => one,
        other => panic!("{name} of {product}: {other:?}; {:?}", found.remarks),
    }
}

fn remarks(found: &Definitions) -> Vec<&str> {
    found.remarks.iter().map(|remark| remark.detail.as_str()).collect()
}

fn fields(definition: &AgentDefinition) -> BTreeMap<&str, &str> {
    definition.fields.iter().map(|(name, value)| (&**name, &**value)).collect()
}

fn permissions(definition: &AgentDefinition) -> String {
    let pairs = definition.permissions.iter().map(|(pattern, decision)| format!("{pattern}: {decision}"));
    pairs.collect::<Vec<_>>().join("; ")
}

fn agent(name: &str, more: &str) -> String {
    format!("---\nname: {name}\ndescription: Does things.\n{more}---\nYou are {name}.\n")
}

#[test]
fn every_field_of_claude_code_has_its_place() {
    let text = "---\nname: reviewer\ndescription: |\n  Reviews code.\n  Carefully.\ntools: Read, Bash(git log:*, git diff:*), Grep\n\
        disallowedTools: [Write, mcp__db]\nmodel: opus\neffort: high\npermissionMode: plan\nmaxTurns: '7'\n\
        requiredMcpServers: [github]\nomitClaudeMd: true\ncolor: red\nskills: [lint, test]\nmemory: project\n\
        mcpServers: [slack, {db: {command: x}}]\nfuture: 1\n---\n\n# You review\n\ncode.\n";
    let home = Home::new().with("garden/.claude/agents/team/r.md", text);
    let found = home.read();
    let got = one(&found, "claude-code", "reviewer");
    assert_eq!(&*got.description, "Reviews code. Carefully.");
    assert_eq!(&*got.prompt, "# You review\n\ncode.");
    assert_eq!((got.asked_model(), got.effort.as_deref(), got.max_turns), ("opus", Some("high"), Some(7)));
    assert_eq!(got.tools.describe(), "Read, Bash(git log:*, git diff:*), Grep except Write, mcp__db");
    assert_eq!((got.requires.join(","), got.omits_instructions), ("github".to_owned(), true));
    assert_eq!(permissions(got), "permissionMode: plan");
    let expected = [
        ("color", "red"),
        ("mcpServers", "slack, db: command: x"),
        ("memory", "project"),
        ("skills", "lint, test"),
    ];
    assert_eq!(fields(got), expected.into());
    assert_eq!((got.origin.layer, got.origin.distance), (Layer::Project, 2));
    assert_eq!(remarks(&found), ["unknown field `future`: it is ignored"]);
}

#[test]
fn a_field_of_tools_that_is_empty_or_a_map_allows_nothing() {
    for (text, expected) in [
        ("", "all tools"),
        ("tools:\n", "none"),
        ("tools: []\n", "none"),
        ("tools: ''\n", "none"),
        ("tools: {Read: true}\n", "none"),
        ("tools: '*'\n", "all tools"),
        ("tools: [Read, '*']\n", "all tools"),
    ] {
        let home = Home::new().with(".claude/agents/a.md", &agent("a", text));
        assert_eq!(one(&home.read(), "claude-code", "a").tools.describe(), expected, "{text:?}");
    }
}

#[test]
fn the_closest_folder_of_the_project_counts_then_the_user() {
    let home = Home::new()
        .with("garden/.claude/agents/a.md", &agent("a", "model: opus\n"))
        .with("garden/src/.claude/agents/a.md", &agent("a", "model: sonnet\n"))
        .with(".claude/agents/a.md", &agent("a", "model: haiku\n"))
        .with(".claude/agents/explore.md", &agent("explore", "model: haiku\n"));
    let found = home.read();
    assert_eq!(one(&found, "claude-code", "a").asked_model(), "sonnet");
    let weaker: Vec<Layer> =
        found.products["claude-code"].overridden("a").map(|origin| origin.layer).collect();
    assert_eq!(weaker, [Layer::Project, Layer::User]);
    assert_eq!(one(&found, "claude-code", "explore").origin.layer, Layer::User);
    assert_eq!(one(&found, "codex", "explore").origin.layer, Layer::BuiltIn);
    let mut query = home.query();
    query.given.push(home.path("given.json"));
    write(home.path("given.json"), r#"{"a": {"description": "Given.", "prompt": "P", "tools": ["Read"]}}"#)
        .unwrap();
    let given = definitions(&query, &DefinitionCache::default());
    assert_eq!(one(&given, "claude-code", "a").origin.layer, Layer::Flag);
    assert_eq!(&*one(&given, "claude-code", "a").prompt, "P");
    let home = home.with("etc/claude-code/.claude/agents/a.md", &agent("a", "model: opus\n"));
    assert_eq!(
        one(&definitions(&query, &DefinitionCache::default()), "claude-code", "a").origin.layer,
        Layer::Policy
    );
    drop(home);
}

#[test]
fn two_files_with_one_name_are_a_conflict_with_both_paths() {
    let home = Home::new()
        .with(".claude/agents/x/a.md", &agent("a", ""))
        .with(".claude/agents/y/a.md", &agent("a", ""))
        .with(".codex/agents/a.toml", "name = \"a\"\ndescription = \"A\"\ndeveloper_instructions = \"I\"\n");
    let found = home.read();
    let Found::Several(several) = found.products["claude-code"].find("a") else { panic!("a conflict") };
    let places: Vec<&Path> = several.iter().map(|one| Path::new(&*one.origin.place)).collect();
    assert_eq!(places, [home.path(".claude/agents/x/a.md"), home.path(".claude/agents/y/a.md")]);
    assert_eq!(&*one(&found, "codex", "a").prompt, "I");
}

#[test]
fn codex_gemini_and_opencode_are_mapped() {
    let home = Home::new()
        .with(
            ".codex/config.toml",
            "model = \"gpt-5.6\"\n[agents]\nmax_depth = 2\n[agents.writer]\ndescription = \"Writes.\"\nconfig_file = \"agents/w.toml\"\n",
        )
        .with(
            ".codex/agents/w.toml",
            "name = \"scribe\"\ndescription = \"Writes docs.\"\ndeveloper_instructions = \"Write.\"\nmodel_reasoning_effort = \"high\"\nsandbox_mode = \"read-only\"\n",
        )
        .with(
            "garden/.gemini/agents/look.md",
            "---\nname: look\ndescription: Looks.\ntools: [read_file, 'mcp_git_*']\nmax_turns: 9\nbad: 1\n---\nLook.\n",
        )
        .with("garden/.gemini/agents/_draft.md", "---\nname: draft\n---\n")
        .with(
            ".config/opencode/agents/team/rev.md",
            "---\ndescription: Reviews.\nmode: subagent\nmodel: anthropic/claude-sonnet-5\ntools: {write: false, read: true}\npermission: {edit: deny, bash: {'*': ask}}\nsteps: 4\n---\nReview.\n",
        )
        .with("garden/opencode.json", "{ // comment\n \"agent\": {\"plan\": {\"disable\": true}}}");
    let found = home.read();
    let scribe = one(&found, "codex", "scribe");
    assert_eq!(
        (&*scribe.description, &*scribe.prompt, scribe.effort.as_deref()),
        ("Writes docs.", "Write.", Some("high"))
    );
    assert_eq!(permissions(scribe), "sandbox_mode: read-only");
    let look = one(&found, "gemini-cli", "look");
    assert_eq!((look.tools.describe(), look.max_turns), ("read_file, mcp__git__*".to_owned(), Some(9)));
    let rev = one(&found, "opencode", "team/rev");
    assert_eq!(
        (rev.tools.describe(), rev.max_turns, rev.hidden),
        ("all tools except write".to_owned(), Some(4), false)
    );
    // In the order of the file, because the last rule that matches counts.
    assert_eq!(permissions(rev), "edit: deny; bash: *: ask");
    assert!(one(&found, "opencode", "plan").disabled && one(&found, "opencode", "plan").prompt.is_empty());
    assert_eq!(remarks(&found), ["unknown field `bad`: the product rejects the file"]);
}

/// Writes two plugins of one marketplace, as Claude Code installs them.
fn with_plugins(home: Home, enabled: &str) -> Home {
    let folder = home.path(".claude/plugins/cache/m");
    let list = format!(
        r#"{{"version": 2, "plugins": {{"dev@m": [{{"scope": "user", "installPath": "{0}/dev/1"}}], "kit@m": [{{"scope": "project", "projectPath": "/elsewhere", "installPath": "{0}/no"}}, {{"scope": "user", "installPath": "{0}/kit/2"}}]}}}}"#,
        folder.display()
    );
    home.with(".claude/plugins/installed_plugins.json", &list)
        .with(".claude/settings.json", &format!(r#"{{"enabledPlugins": {enabled}}}"#))
        .with(".claude/plugins/cache/m/dev/1/agents/code/reviewer.md", &agent("reviewer", "model: sonnet\nhooks: {}\npermissionMode: plan\nmcpServers: [x]\n"))
        .with(".claude/plugins/cache/m/dev/1/agents/plain.md", "No front matter.")
        .with(".claude/plugins/cache/m/kit/2/.claude-plugin/plugin.json", r#"{"name": "kit", "agents": ["./a.md", "../../../../../out.md"], "dependencies": ["dev", "gone", {"name": "far", "marketplace": "n"}]}"#)
        .with(".claude/plugins/cache/m/kit/2/a.md", &agent("reviewer", "model: opus\n"))
        .with(".claude/plugins/cache/m/kit/2/agents/not-listed.md", &agent("b", ""))
        .with("out.md", &agent("out", ""))
}

#[test]
fn enabled_plugins_have_names_with_the_plugin_and_may_not_set_hooks_or_permissions() {
    let home = with_plugins(Home::new(), r#"{"dev@m": true, "kit@m": true}"#);
    let found = home.read();
    let reviewer = one(&found, "claude-code", "dev:code:reviewer");
    assert_eq!((reviewer.asked_model(), reviewer.origin.layer), ("sonnet", Layer::Plugin));
    assert!(reviewer.permissions.is_empty() && reviewer.fields.is_empty());
    assert_eq!(one(&found, "claude-code", "kit:reviewer").asked_model(), "opus");
    assert_eq!(&*one(&found, "claude-code", "dev:plain").description, "Agent of a plugin.");
    assert_eq!(found.products["claude-code"].find("kit:b"), Found::Nothing);
    let said = remarks(&found).join("\n");
    for part in [
        "the plugin kit@m needs gone@m, which is not enabled",
        "the plugin kit@m needs far@n, which is not enabled",
        "`hooks` is left out: a plugin may not set it",
        "`permissionMode` is left out: a plugin may not set it",
        "`mcpServers` is left out: a plugin may not set it",
        "../../../../../out.md, which is not a file in it",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("needs dev@m"), "{said}");
    let managed =
        home.with("etc/claude-code/managed-settings.json", r#"{"enabledPlugins": {"dev@m": false}}"#);
    assert_eq!(managed.read().products["claude-code"].find("dev:plain"), Found::Nothing);
    let extension = Home::new()
        .with(".gemini/extensions/e/gemini-extension.json", "{}")
        .with(
            ".gemini/extensions/e/agents/x.md",
            "---\nname: x\ndescription: X.\nmcp_servers: {s: {command: c}}\n---\nX.\n",
        )
        .read();
    assert!(one(&extension, "gemini-cli", "x").fields.is_empty());
    assert_eq!(remarks(&extension), ["`mcp_servers` is left out: a plugin may not set it"]);
    let off = with_plugins(Home::new(), r#"{"dev@m": true, "kit@m": false}"#);
    assert_eq!(off.read().products["claude-code"].find("kit:reviewer"), Found::Nothing);
}

#[test]
fn what_cannot_be_read_is_a_remark_and_nothing_else() {
    let home = Home::new()
        .with(".claude/agents/good.md", &agent("good", ""))
        .with(".claude/agents/README.md", "# How we name agents\n")
        .with(".claude/agents/open.md", "---\nname: open\n")
        .with(".claude/agents/yaml.md", "---\nname: [\n---\n")
        .with(".claude/agents/none.md", "---\nname: none\n---\nNothing says when.\n")
        .with(".claude/agents/colon.md", &agent("a:b", ""))
        .with(".claude/agents/list.md", "---\n- a\n---\n")
        .with(".codex/agents/bad.toml", "name = \n")
        .with(".config/opencode/opencode.json", "[1]")
        .with(".claude/plugins/installed_plugins.json", "{");
    write(home.path(".claude/agents/bytes.md"), b"---\nname: \xff\n---\n").unwrap();
    write(home.path(".claude/agents/long.md"), "x".repeat(9 << 20)).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(home.path(".claude"), home.path(".claude/agents/loop")).unwrap();
    let found = home.read();
    let names = |registry: &Registry| {
        let own = registry.in_force().filter(|one| one.origin.layer != Layer::BuiltIn);
        own.map(|one| one.name.to_string()).collect::<Vec<_>>().join(" ")
    };
    let all: Vec<String> = found.products.values().map(names).collect();
    assert_eq!(all, ["good", "", "", ""], "{:?}", found.remarks);
    let places: Vec<String> = found
        .remarks
        .iter()
        .map(|remark| Path::new(&*remark.place).file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    for name in [
        "open.md",
        "yaml.md",
        "none.md",
        "colon.md",
        "list.md",
        "bad.toml",
        "opencode.json",
        "installed_plugins.json",
        "bytes.md",
        "long.md",
    ] {
        assert!(places.iter().any(|place| place == name), "{name}: {:?}", found.remarks);
    }
    assert_eq!(found.remarks.len(), 10, "{:?}", found.remarks);
}

#[test]
fn the_files_of_this_module_are_readable() {
    let found = Home::new().read();
    let names: Vec<&str> = found.products["claude-code"].names().collect();
    assert_eq!(names, ["explore", "general-purpose", "plan"]);
    assert!(one(&found, "claude-code", "plan").omits_instructions);
    assert_eq!(found.remarks, []);
    let table = model_table();
    for family in &table.families {
        for id in family
            .versions
            .iter()
            .flat_map(|version| [Some(&version.id), version.bedrock.as_ref(), version.vertex.as_ref()])
            .flatten()
        {
            assert_eq!(table.family_of(id).map(|own| &own.name), Some(&family.name), "{id}");
        }
    }
}

#[test]
fn the_guide_has_every_rule() {
    let guide = include_str!("../../../../docs/delegates.md");
    let block = guide.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let rules = DelegateRules::parse(block).unwrap();
    let switches = rules.switches();
    assert_eq!((switches.len(), switches[0].plan, switches[1].above), (2, true, Some(200_000)));
    assert_eq!(rules.models().named("FAST", "claude-opus-5-5").unwrap().id, "claude-haiku-5-5".into());
    let unset = DelegateRules::parse("").unwrap();
    assert_eq!((unset.environment, unset.permitted.is_none()), (EnvironmentPosition::Default, true));
    let error = DelegateRules::parse("other = 1").unwrap_err().to_string();
    for key in error.split('`').skip(3).step_by(2) {
        assert!(block.contains(&format!("{key} = ")), "{key} is missing in the guide");
    }
    assert!(error.contains("switches"), "{error}");
}

#[test]
fn a_reading_is_repeated_only_if_something_changed() {
    let home = with_plugins(Home::new(), r#"{"dev@m": true}"#)
        .with(".claude/agents/a.md", &agent("a", "model: opus\n"))
        .with(".codex/config.toml", "[agents.w]\ndescription = \"W\"\nconfig_file = \"w.toml\"\n")
        .with(".codex/w.toml", "developer_instructions = \"one\"\n");
    let (cache, query) = (DefinitionCache::default(), home.query());
    // What has just been written is not kept, because it could change again within the same tick of the clock.
    assert!(!Arc::ptr_eq(&definitions(&query, &cache), &definitions(&query, &cache)));
    let age_all = || {
        let mut folders = vec![home.path("")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap().flatten() {
                folders.extend(entry.file_type().unwrap().is_dir().then(|| entry.path()));
                let file = std::fs::File::open(entry.path()).unwrap();
                file.set_modified(SystemTime::now() - Duration::from_secs(9)).unwrap();
            }
        }
    };
    let change = |path: &str, text: &str| write(home.path(path), text).unwrap();
    for (path, text) in [
        (".claude/agents/a.md", agent("a", "model: haiku\n")),
        (".claude/agents/new.md", agent("new", "")),
        (".codex/w.toml", "developer_instructions = \"two!\"\n".to_owned()),
        (".claude/settings.json", r#"{"enabledPlugins": {}}"#.to_owned()),
        ("garden/opencode.json", r#"{"agent": {"o": {"description": "O", "prompt": "P"}}}"#.to_owned()),
    ] {
        age_all();
        let before = definitions(&query, &cache);
        assert!(Arc::ptr_eq(&before, &definitions(&query, &cache)), "{path}: nothing changed");
        change(path, &text);
        assert_ne!(definitions(&query, &cache).products, before.products, "{path} changed");
    }
}

/// Links of a project lead to files of the person, or to the whole machine; links of the person lead where they want.
#[cfg(unix)]
#[test]
fn a_link_of_a_project_counts_only_inside_the_project() {
    use std::os::unix::fs::symlink;
    let command = "---\ndescription: Says hello.\n---\nhello\n";
    let home = Home::new()
        .with("private/note.md", &agent("note", ""))
        .with("private/key.md", "-----BEGIN KEY-----\n")
        .with("private/run/SKILL.md", "---\nname: run\ndescription: Runs.\n---\nrun\n")
        .with("private/role.toml", "developer_instructions = \"of the person\"\n")
        .with("garden/shared/plum.md", &agent("plum", ""))
        .with("garden/shared/hello.md", command)
        .with("garden/.codex/config.toml", "[agents.role]\ndescription = \"R\"\nconfig_file = \"../../private/role.toml\"\n[agents.own]\ndescription = \"O\"\nconfig_file = \"own.toml\"\n")
        .with("garden/.codex/own.toml", "developer_instructions = \"of the project\"\n");
    for folder in [
        "garden/.claude/agents",
        "garden/.claude/commands",
        "garden/.claude/skills",
        ".claude",
        "garden/.gemini",
    ] {
        create_dir_all(home.path(folder)).unwrap();
    }
    let link = |to: &str, at: &str| symlink(home.path(to), home.path(at)).unwrap();
    link("private/note.md", "garden/.claude/agents/note.md");
    link("private", "garden/.claude/agents/all");
    symlink("/", home.path("garden/.claude/agents/root")).unwrap();
    link("private/key.md", "garden/.claude/commands/leak.md");
    link("private/run", "garden/.claude/skills/run");
    link("private", "garden/.gemini/agents");
    link("garden/shared/plum.md", "garden/.claude/agents/plum.md");
    link("garden/shared", "garden/.claude/commands/shared");
    link("private", ".claude/agents");
    let query = DefinitionQuery { commands: true, ..home.query() };
    let found = definitions(&query, &DefinitionCache::default());
    let of = |layer: Layer, product: &str| {
        let own = found.products[product].in_force().filter(|one| one.origin.layer == layer);
        own.map(|one| one.name.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(of(Layer::Project, "claude-code"), "plum");
    assert_eq!(of(Layer::User, "claude-code"), "note run", "{:?}", found.remarks);
    assert_eq!(of(Layer::Project, "gemini-cli"), "");
    assert_eq!(of(Layer::Project, "codex"), "own");
    let commands: Vec<&str> = found.commands["claude-code"].in_force().map(|one| &*one.name).collect();
    assert_eq!(commands, ["shared:hello", "shared:plum"], "{:?}", found.remarks);
    let told: Vec<&str> = found
        .remarks
        .iter()
        .filter(|one| one.detail.contains("outside of the project"))
        .map(|one| &*one.place)
        .collect();
    for place in ["note.md", "all", "root", "leak.md", "skills/run", ".gemini/agents", "role.toml"] {
        assert!(told.iter().any(|told| told.ends_with(place)), "{place}: {told:?}");
    }
}
