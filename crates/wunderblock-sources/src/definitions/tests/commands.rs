//! Slash commands and skills of a prepared home, in the formats of all products.

use super::{Home, remarks, with_plugins};
use crate::definitions::{DefinitionCache, DefinitionQuery, Definitions, definitions};
use std::fs::write;
use std::path::Path;
use std::sync::Arc;
use wunderblock_core::delegate::command::{CommandDefinition, CommandKind};
use wunderblock_core::delegate::definition::Layer;
use wunderblock_core::delegate::registry::Found;

fn read(home: &Home) -> Arc<Definitions> {
    let query = DefinitionQuery { commands: true, ..home.query() };
    definitions(&query, &DefinitionCache::default())
}

fn one<'a>(found: &'a Definitions, product: &str, name: &str) -> &'a CommandDefinition {
    match found.commands.get(product).map(|registry| registry.find(name)) {
        Some(Found::One(one)) => one,
        other => panic!("{name} of {product}: {other:?}; {:?}", found.remarks),
    }
}

fn names(found: &Definitions, product: &str) -> String {
    let all = found.commands.get(product).into_iter().flat_map(|registry| registry.names());
    all.collect::<Vec<_>>().join(" ")
}

#[test]
fn every_field_of_a_skill_of_claude_code_has_its_place() {
    let text = "---\nname: deploy\ndescription: Deploys.\nwhen_to_use: after a review\nargument-hint: \"[stage]\"\n\
        arguments: stage region\ndisable-model-invocation: yes\nuser-invocable: 1\n\
        allowed-tools: Bash(git add *) Read, Grep\ndisallowed-tools: [Write]\nmodel: opus\neffort: high\n\
        context: fork\nagent: explore\nbackground: false\nhooks: {Stop: []}\npaths: 'src/**'\nfuture: 1\n---\n\nDeploy $stage.\n";
    let home = Home::new().with("garden/.claude/skills/d/SKILL.md", text);
    let found = read(&home);
    let got = one(&found, "claude-code", "deploy");
    assert_eq!(
        (got.kind, &*got.description, &*got.prompt),
        (CommandKind::Skill, "Deploys.", "Deploy $stage.")
    );
    assert_eq!(
        (got.argument_hint.as_deref(), got.arguments.join(",")),
        (Some("[stage]"), "stage,region".into())
    );
    assert_eq!((got.callers(), got.agent.as_deref()), ("user", Some("explore")));
    assert_eq!((got.model.as_deref(), got.effort.as_deref()), (Some("opus"), Some("high")));
    assert_eq!(got.tools.describe(), "Bash(git add *), Read, Grep except Write");
    let expected = [
        ("background", "false"),
        ("context", "fork"),
        ("hooks", "Stop: "),
        ("paths", "src/**"),
        ("when_to_use", "after a review"),
    ];
    let shown = got.fields.iter().map(|(name, value)| (&**name, &**value)).collect::<Vec<_>>();
    assert_eq!(shown, expected);
    assert_eq!(remarks(&found), ["unknown field `future`: it is ignored"]);
    // Without a context of its own, a skill names no delegate.
    let plain = "---\nagent: explore\nuser-invocable: false\nargument-hint: [a, b]\n---\n# How to test\nx\n";
    let found = read(&Home::new().with(".claude/skills/plain/SKILL.md", plain));
    let got = one(&found, "claude-code", "plain");
    assert_eq!((&*got.description, got.callers(), got.agent.as_deref()), ("How to test", "model", None));
    assert_eq!(got.argument_hint.as_deref(), Some("[a, b]"));
    let forked = "---\ncontext: fork\n---\nx\n";
    let found = read(&Home::new().with(".claude/skills/f/SKILL.md", forked));
    assert_eq!(one(&found, "claude-code", "f").agent.as_deref(), Some("general-purpose"));
}

#[test]
fn names_have_the_folders_as_each_product_writes_them() {
    let home = Home::new()
        .with("garden/.claude/commands/frontend/component.md", "---\nname: other\n---\nMake $ARGUMENTS.\n")
        .with(".claude/skills/tidy/SKILL.md", "Tidy up.")
        .with(".claude/skills/tidy/reference/SKILL.md", "Not a skill.")
        .with(".claude/skills/SKILL.md", "Not a skill either.")
        .with(".gemini/commands/git/commit.toml", "prompt = \"Commit {{args}}.\"\n")
        .with("garden/.gemini/skills/look/SKILL.md", "---\nname: Look: here\ndescription: a: b\n---\nLook.\n")
        .with(".codex/prompts/draft.md", "---\ndescription: Drafts.\nargument-hint: FILE=\n---\nDraft $FILE.\n")
        .with(".codex/prompts/deep/not.md", "Not a prompt.")
        .with(".agents/skills/shared/SKILL.md", "---\nname: shared\ndescription: Shared.\nlicense: MIT\n---\nDo.\n")
        .with(".agents/skills/shared/agents/openai.yaml", "policy:\n  allow_implicit_invocation: false\n")
        .with("garden/.opencode/command/team/check.md", "---\nagent: plan\nmodel: a/b\n---\nCheck $1.\n")
        .with(
            "garden/opencode.json",
            r#"{"command": {"run": {"template": "Run.", "agent": "plan", "subtask": false}, "none": {"description": "x"}}}"#,
        );
    let found = read(&home);
    assert_eq!(names(&found, "claude-code"), "frontend:component tidy");
    assert_eq!(names(&found, "gemini-cli"), "Look--here git:commit shared");
    assert_eq!(names(&found, "codex"), "prompts:draft shared");
    assert_eq!(names(&found, "opencode"), "run shared team/check");
    assert_eq!(&*one(&found, "gemini-cli", "Look--here").description, "a: b");
    assert_eq!(&*one(&found, "gemini-cli", "git:commit").description, "Commit {{args}}.");
    assert_eq!(one(&found, "gemini-cli", "git:commit").callers(), "user");
    assert_eq!(one(&found, "codex", "shared").callers(), "user");
    assert_eq!(one(&found, "gemini-cli", "shared").callers(), "user, model");
    let check = one(&found, "opencode", "team/check");
    assert_eq!((check.agent.as_deref(), check.model.as_deref()), (Some("plan"), Some("a/b")));
    let run = one(&found, "opencode", "run");
    let shown: Vec<&str> = run.fields.keys().map(|field| &**field).collect();
    assert_eq!((run.agent.as_deref(), shown), (None, vec!["agent", "subtask"]));
    let said = remarks(&found).join("\n");
    for part in [
        "unknown field `name`: it is ignored",
        "has no text",
        "has no `description`: nothing says when to use it",
        "front matter is not what it should be",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(home.read().commands.len(), 0, "a query that does not ask for commands reads none");
}

#[test]
fn a_skill_of_a_person_overrides_the_project_in_claude_code_only() {
    let skill = "---\nname: a\ndescription: A.\n---\nA.\n";
    let home = Home::new()
        .with("garden/.claude/commands/a.md", "Command of the project.")
        .with(".claude/commands/a.md", "Command of the person.")
        .with("garden/.claude/skills/a/SKILL.md", skill)
        .with("garden/src/.claude/skills/a/SKILL.md", skill)
        .with("garden/.gemini/skills/a/SKILL.md", skill)
        .with("garden/.agents/skills/a/SKILL.md", skill)
        .with(".gemini/skills/a/SKILL.md", skill)
        .with(".gemini/commands/a.toml", "prompt = \"Command of the person.\"");
    let found = read(&home);
    let order = |product: &str| {
        let origins = found.commands[product].overridden("a");
        let own = std::iter::once(&one(&found, product, "a").origin);
        let short = |place: &str| Path::new(place).strip_prefix(home.path("")).unwrap().display().to_string();
        own.chain(origins).map(|origin| short(&origin.place)).collect::<Vec<_>>()
    };
    // The person's command is the strongest of the commands, and any skill is stronger.
    assert_eq!(
        order("claude-code"),
        [
            "garden/src/.claude/skills/a/SKILL.md",
            "garden/.claude/skills/a/SKILL.md",
            ".claude/commands/a.md",
            "garden/.claude/commands/a.md",
        ]
    );
    assert_eq!(
        order("gemini-cli"),
        [
            ".gemini/commands/a.toml",
            "garden/.agents/skills/a/SKILL.md",
            "garden/.gemini/skills/a/SKILL.md",
            ".gemini/skills/a/SKILL.md",
        ]
    );
    let home = home
        .with(".claude/skills/a/SKILL.md", skill)
        .with("etc/claude-code/.claude/skills/b/SKILL.md", "B.")
        .with(".claude/skills/b/SKILL.md", "B.")
        .with(".claude/commands/x/c.md", "C.")
        .with("garden/.claude/commands/x/c.md", "C.")
        .with(".claude/skills/d/SKILL.md", skill);
    let found = read(&home);
    assert_eq!(one(&found, "claude-code", "b").origin.layer, Layer::Policy);
    assert_eq!(one(&found, "claude-code", "x:c").origin.layer, Layer::User);
    let Found::Several(several) = found.commands["claude-code"].find("a") else { panic!("a conflict") };
    assert_eq!(several.len(), 2, "two skills of the person are named `a`");
}

#[test]
fn commands_and_skills_of_plugins_have_its_name_and_may_not_set_hooks() {
    let kit = ".claude/plugins/cache/m/kit/2";
    let home = with_plugins(Home::new(), r#"{"dev@m": true, "kit@m": true}"#)
        .with(".claude/plugins/cache/m/dev/1/commands/db/dump.md", "---\nhooks: {}\nmodel: haiku\n---\nDump.\n")
        .with(".claude/plugins/cache/m/dev/1/SKILL.md", "Whole plugin.")
        .with(&format!("{kit}/skills/one/SKILL.md"), "One.")
        .with(&format!("{kit}/more/two/SKILL.md"), "---\nname: second\n---\nTwo.\n")
        .with(&format!("{kit}/commands/unlisted.md"), "No.")
        .with(&format!("{kit}/c/file.md"), "---\nmodel: opus\ndescription: Old.\n---\nText $0.\n")
        .with(
            &format!("{kit}/.claude-plugin/plugin.json"),
            r#"{"name": "kit", "skills": ["./more", "./skills"], "commands": {
                "go": {"source": "./c/file.md", "description": "New.", "argumentHint": "WHAT", "allowedTools": ["Read"]},
                "say": {"content": "Say it."}, "out": {"source": "../../out.md"}}}"#,
        );
    let found = read(&home);
    assert_eq!(names(&found, "claude-code"), "dev:db:dump dev:dev kit:go kit:one kit:say kit:second");
    let dump = one(&found, "claude-code", "dev:db:dump");
    assert_eq!(
        (dump.model.as_deref(), dump.fields.len(), dump.origin.layer),
        (Some("haiku"), 0, Layer::Plugin)
    );
    let go = one(&found, "claude-code", "kit:go");
    assert_eq!((&*go.description, &*go.prompt, go.model.as_deref()), ("New.", "Text $0.", Some("opus")));
    assert_eq!((go.argument_hint.as_deref(), go.tools.describe()), (Some("WHAT"), "Read".to_owned()));
    let said = remarks(&found).join("\n");
    assert!(said.contains("`hooks` is left out: a plugin may not set it"), "{said}");
    assert!(said.contains("the manifest of kit names ../../out.md, which is not a file in it"), "{said}");
    let home = Home::new()
        .with(".gemini/commands/deploy.toml", "prompt = \"Mine.\"")
        .with(".gemini/extensions/e/gemini-extension.json", r#"{"name": "gcp"}"#)
        .with(".gemini/extensions/e/commands/deploy.toml", "prompt = \"Theirs.\"")
        .with(".gemini/extensions/e/commands/git/push.toml", "prompt = \"Push.\"")
        .with(".gemini/extensions/e/skills/s/SKILL.md", "---\nname: s\ndescription: S.\n---\nS.\n");
    let found = read(&home);
    assert_eq!(names(&found, "gemini-cli"), "deploy gcp.deploy git:push s");
    assert_eq!(&*one(&found, "gemini-cli", "deploy").prompt, "Mine.");
}

#[test]
fn bad_commands_are_remarks_and_the_others_count() {
    let home = Home::new()
        .with(".claude/commands/good.md", "Good.")
        .with(".claude/commands/修复.md", "---\ndescription: 修复错误\n---\n修复 $0\n")
        .with(".claude/commands/yaml.md", "---\nmodel: [\nx: 1\n---\nStill loaded.\n")
        .with(".claude/skills/slash/SKILL.md", "---\nname: a/b\n---\nx\n")
        .with(".claude/skills/long/SKILL.md", &format!("---\nname: {}\n---\nx\n", "n".repeat(300)))
        .with(".gemini/commands/toml.toml", "\nprompt = \n")
        .with(".gemini/commands/empty.toml", "description = \"x\"\n")
        .with(".codex/skills/nothing/SKILL.md", "---\nname: nothing\n---\nx\n")
        .with(".codex/skills/side/SKILL.md", "---\nname: side\ndescription: S.\n---\nx\n")
        .with(".codex/skills/side/agents/openai.yaml", "policy: {\n")
        .with("garden/opencode.json", "{\"command\": [1]}");
    write(home.path(".claude/commands/large.md"), "x".repeat(10 << 20)).unwrap();
    #[cfg(unix)]
    for folder in [".claude/commands", ".claude/skills"] {
        std::os::unix::fs::symlink(home.path(folder), home.path(&format!("{folder}/loop"))).unwrap();
    }
    let found = read(&home);
    assert_eq!(names(&found, "claude-code"), "good yaml 修复");
    assert_eq!(&*one(&found, "claude-code", "yaml").prompt, "Still loaded.");
    assert_eq!(one(&found, "claude-code", "yaml").model, None);
    assert_eq!((names(&found, "gemini-cli"), names(&found, "codex")), (String::new(), "side".to_owned()));
    let places: Vec<(String, Option<u64>)> = found
        .remarks
        .iter()
        .map(|remark| {
            let path = Path::new(&*remark.place).strip_prefix(home.path("")).unwrap();
            (path.display().to_string().replace('\\', "/"), remark.line)
        })
        .collect();
    for (place, line) in [
        (".claude/commands/large.md", None),
        (".claude/commands/yaml.md", Some(2)),
        (".claude/skills/slash/SKILL.md", None),
        (".claude/skills/long/SKILL.md", None),
        (".gemini/commands/toml.toml", Some(2)),
        (".gemini/commands/empty.toml", None),
        (".codex/skills/nothing/SKILL.md", None),
        (".codex/skills/side/agents/openai.yaml", Some(1)),
    ] {
        assert!(places.contains(&(place.to_owned(), line)), "{place}: {:?}", found.remarks);
    }
}

#[test]
fn a_changed_command_is_read_again() {
    let home = Home::new().with(".claude/commands/a.md", "A.");
    let query = DefinitionQuery { commands: true, ..home.query() };
    let cache = DefinitionCache::default();
    let before = definitions(&query, &cache);
    write(home.path(".claude/commands/a.md"), "Another.").unwrap();
    assert_eq!(&*one(&definitions(&query, &cache), "claude-code", "a").prompt, "Another.");
    assert_eq!(&*one(&before, "claude-code", "a").prompt, "A.");
}
