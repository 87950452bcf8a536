//! Slash commands and skills: their names and fields, product by product, and the definitions that they make.

use super::dialect::{OWNERS_ONLY, one_line};
use super::found::FoundDefinitions;
use super::places::DefinitionFile;
use super::read::{MAX_NAME, parse, slashed};
use super::value::{Fields, Value};
use crate::read_front_matter;
use std::path::Path;
use wunderblock_core::delegate::command::{CommandDefinition, CommandKind};
use wunderblock_core::delegate::tools::ToolPattern;

/// Type of the delegate that carries out a skill of Claude Code with a context of its own and no `agent`.
const DEFAULT_AGENT: &str = "general-purpose";

/// Fields whose meaning is the same in every product that has them.
const COMMON: [&str; 12] = [
    "name",
    "description",
    "argument-hint",
    "arguments",
    "disable-model-invocation",
    "user-invocable",
    "allowed-tools",
    "disallowed-tools",
    "model",
    "effort",
    "prompt",
    "template",
];

/// Fields of a command of Claude Code. A skill also has `name` and `paths`.
const CLAUDE: [&str; 19] = [
    "description",
    "when_to_use",
    "argument-hint",
    "arguments",
    "disable-model-invocation",
    "user-invocable",
    "allowed-tools",
    "disallowed-tools",
    "model",
    "effort",
    "context",
    "agent",
    "background",
    "hooks",
    "shell",
    "metadata",
    "license",
    "compatibility",
    "version",
];

/// Fields of a skill in the open format. Products that give one no meaning still accept it.
const SKILL: [&str; 5] = ["name", "description", "license", "compatibility", "metadata"];

fn knows(product: &str, kind: CommandKind, field: &str) -> bool {
    match (product, kind) {
        ("claude-code", CommandKind::Command) => CLAUDE.contains(&field),
        ("claude-code", CommandKind::Skill) => CLAUDE.contains(&field) || ["name", "paths"].contains(&field),
        ("gemini-cli", CommandKind::Command) => ["prompt", "description"].contains(&field),
        ("codex", CommandKind::Command) => ["description", "argument-hint"].contains(&field),
        ("opencode", CommandKind::Command) => {
            ["name", "template", "description", "agent", "model", "subtask"].contains(&field)
        }
        _ => SKILL.contains(&field),
    }
}

/// A command or a skill as read, before its fields have a meaning.
#[derive(Clone, Copy)]
struct RawCommand<'a> {
    kind: CommandKind,
    name: &'a str,
    fields: &'a Fields,
    /// Text after the front matter.
    body: &'a str,
}

/// Reads a file and adds its commands or its skill, and remarks on what does not count.
pub(super) fn read(
    file: &DefinitionFile,
    kind: CommandKind,
    plugin: Option<&str>,
    found: &mut FoundDefinitions,
) {
    found.inputs.note(&file.path);
    let has_folder = file.inner.parent().is_some_and(|folder| *folder != *Path::new(""));
    if kind == CommandKind::Skill && !has_folder && plugin.is_none() && &*file.origin.product != "gemini-cli"
    {
        return;
    }
    let parsed = file.read(&file.path).map_err(|why| (None, why)).and_then(|text| {
        let ending = file.path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if ending == "md" {
            return fronted(file, kind, &text, found);
        }
        parse(ending, &text).map(|fields| (fields, String::new()))
    });
    let (fields, body) = match parsed {
        Ok(parsed) => parsed,
        Err((line, why)) => return found.remark_line(&file.origin.place, line, why),
    };
    if file.key.is_empty() {
        let name = name(file, kind, plugin, &fields, found);
        return define(file, RawCommand { kind, name: &name, fields: &fields, body: &body }, found);
    }
    let Some(Value::Map(commands)) = fields.get(&file.key) else { return };
    for (name, value) in &commands.0 {
        if let Value::Map(fields) = value {
            let mut file = file.clone();
            file.origin.place = format!("{} [{name}]", file.origin.place).into();
            define(&file, RawCommand { kind, name, fields, body: "" }, found);
        }
    }
}

/// Adds a command of a plugin whose manifest gives it a name, and fields that override those of its text.
pub(super) fn add_listed(
    file: &DefinitionFile,
    name: &str,
    own: &Fields,
    text: &str,
    found: &mut FoundDefinitions,
) {
    let kind = CommandKind::Command;
    let Ok((mut fields, body)) = fronted(file, kind, text, found) else { return };
    for (listed, field) in [
        ("description", "description"),
        ("argumentHint", "argument-hint"),
        ("model", "model"),
        ("allowedTools", "allowed-tools"),
    ] {
        if let Some(value) = own.get(listed) {
            fields.0.retain(|(key, _)| key != field);
            fields.0.push((field.to_owned(), value.clone()));
        }
    }
    define(file, RawCommand { kind, name, fields: &fields, body: &body }, found);
}

/// Returns the fields of a text and the text after them. If its front matter cannot be read, Claude Code loads the text
/// without fields, and Gemini CLI reads the fields of a skill line by line; both with a remark.
fn fronted(
    file: &DefinitionFile,
    kind: CommandKind,
    text: &str,
    found: &mut FoundDefinitions,
) -> Result<(Fields, String), (Option<u64>, String)> {
    let (line, why) = match read_front_matter::<Fields>(text) {
        Ok((fields, body)) => return Ok((fields, body.to_owned())),
        Err(bad) => bad,
    };
    let by_line = match (&*file.origin.product, kind) {
        ("claude-code", _) => false,
        ("gemini-cli", CommandKind::Skill) => true,
        _ => return Err((Some(line), why)),
    };
    found.remark_line(&file.origin.place, Some(line), why);
    let closed = text.split_once('\n').and_then(|(_, rest)| rest.split_once("\n---"));
    let (front, body) = closed.unwrap_or(("", text));
    let fields = front.lines().filter(|_| by_line).filter_map(|line| line.split_once(':'));
    let fields = fields.map(|(key, value)| (key.trim().to_owned(), Value::Text(value.trim().to_owned())));
    Ok((Fields(fields.collect()), body.to_owned()))
}

/// Returns the name of a command or a skill, as the product forms it.
fn name(
    file: &DefinitionFile,
    kind: CommandKind,
    plugin: Option<&str>,
    fields: &Fields,
    found: &FoundDefinitions,
) -> String {
    let product = &*file.origin.product;
    let written = fields.text("name").map(|name| one_line(&name));
    let own = match (product, kind) {
        (_, CommandKind::Skill) => {
            let folder = file.inner.parent().and_then(Path::file_name);
            // The folder of a plugin that is one skill is named after its version.
            let folder = folder.map(|name| name.to_string_lossy().into_owned());
            let folder = folder.or_else(|| plugin.map(str::to_owned));
            let name = written.or(folder).unwrap_or_default();
            let replaced = |c: char| c.is_whitespace() || ":\\/<>*?\"".contains(c);
            if product == "gemini-cli" { name.replace(replaced, "-") } else { name }
        }
        ("opencode", _) => written.unwrap_or_else(|| slashed(&file.inner, "/")),
        ("codex", _) => format!("prompts:{}", slashed(&file.inner, "/")),
        _ => slashed(&file.inner, ":"),
    };
    match plugin {
        Some(plugin) if product == "claude-code" => format!("{plugin}:{own}"),
        // An extension gives way to a command of the person, the project or an earlier extension.
        Some(extension) if kind == CommandKind::Command && found.has_command(product, &own) => {
            format!("{extension}.{own}")
        }
        _ => own,
    }
}

fn define(file: &DefinitionFile, raw: RawCommand<'_>, found: &mut FoundDefinitions) {
    let RawCommand { kind, name, fields, .. } = raw;
    let product = &*file.origin.product;
    let place = &file.origin.place;
    let slash = name.contains('/') && (product, kind) != ("opencode", CommandKind::Command);
    if name.is_empty() || name.len() > MAX_NAME || slash || name.contains(char::is_control) {
        let detail =
            format!("invalid name `{}`: 1 to {MAX_NAME} bytes on one line, without a slash", one_line(name));
        return found.remark_line(place, None, detail);
    }
    let mut kept = Fields::default();
    for (field, value) in &fields.0 {
        if file.origin.layer.is_third_party() && OWNERS_ONLY.contains(&field.as_str()) {
            found.remark_line(place, None, format!("`{field}` is left out: a plugin may not set it"));
        } else if knows(product, kind, field) {
            kept.0.push((field.clone(), value.clone()));
        } else if kind == CommandKind::Command || !knows("claude-code", kind, field) {
            // Several products read the same skills, so the fields of Claude Code are not mistakes elsewhere.
            found.remark_line(place, None, format!("unknown field `{field}`: it is ignored"));
        }
    }
    match definition(file, RawCommand { fields: &kept, ..raw }, found) {
        Ok(command) => found.commands.push(command),
        Err(why) => found.remark_line(place, None, why.to_owned()),
    }
}

/// Returns the definition that known fields make.
fn definition(
    file: &DefinitionFile,
    RawCommand { kind, name, fields, body }: RawCommand<'_>,
    found: &mut FoundDefinitions,
) -> Result<CommandDefinition, &'static str> {
    let product = &*file.origin.product;
    let is_claude = product == "claude-code";
    let text = |field: &str| fields.text(field).map(|text| one_line(&text));
    let flag = |field: &str| fields.get(field).and_then(Value::switch);
    let words = |field: &str| fields.get(field).map(Value::words).unwrap_or_default();
    let prompt = fields.text("prompt").or_else(|| fields.text("template"));
    let prompt = prompt.unwrap_or_else(|| body.trim().to_owned());
    if prompt.is_empty() && !is_claude {
        return Err("has no text");
    }
    let mut command = CommandDefinition::new(kind, name, &prompt, file.origin.clone());
    let first_line = || {
        let line = prompt.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        one_line(line.trim_start_matches('#'))
    };
    command.description = match text("description") {
        Some(description) => description.into(),
        None if is_claude || kind == CommandKind::Command => first_line().into(),
        None => return Err("has no `description`: nothing says when to use it"),
    };
    command.argument_hint = match fields.get("argument-hint") {
        // `[issue]` is a list of YAML, and is meant as it is written.
        Some(list @ Value::List(_)) => Some(format!("[{}]", list.shown()).into()),
        _ => text("argument-hint").map(Into::into),
    };
    command.arguments = words("arguments").into_iter().map(Into::into).collect();
    command.model = text("model").map(Into::into);
    command.effort = text("effort").map(Into::into);
    let patterns = |field: &str| words(field).iter().map(|name| ToolPattern::parse(name)).collect();
    command.tools.allow = fields.get("allowed-tools").map(|_| patterns("allowed-tools"));
    command.tools.deny = patterns("disallowed-tools");
    command.for_user = flag("user-invocable").unwrap_or(true);
    command.for_model = (is_claude || kind == CommandKind::Skill)
        && !flag("disable-model-invocation").unwrap_or(false)
        && !(product == "codex" && forbids_implicit_use(file, found));
    command.agent = match product {
        "claude-code" if text("context").as_deref() == Some("fork") => {
            Some(text("agent").unwrap_or_else(|| DEFAULT_AGENT.to_owned()).into())
        }
        "opencode" if flag("subtask") != Some(false) => text("agent").map(Into::into),
        _ => None,
    };
    let is_used = |field: &str| COMMON.contains(&field) || field == "agent" && command.agent.is_some();
    let others = fields.0.iter().filter(|(field, _)| !is_used(field));
    command.fields = others.map(|(field, value)| (field.as_str().into(), value.shown().into())).collect();
    command.preference = file.preference;
    Ok(command)
}

/// Returns whether the file beside a skill of Codex says that a model may not call it by itself.
fn forbids_implicit_use(file: &DefinitionFile, found: &mut FoundDefinitions) -> bool {
    let path = file.path.with_file_name("agents").join("openai.yaml");
    found.inputs.note(&path);
    if !path.is_file() {
        return false;
    }
    let text = file.read(&path).map_err(|why| (1, why));
    let fields = text.and_then(|text| {
        let fronted = format!("---\n{text}\n---\n");
        read_front_matter::<Fields>(&fronted).map(|(fields, _)| fields)
    });
    match fields {
        Ok(fields) => match fields.get("policy") {
            Some(Value::Map(policy)) => policy.flag("allow_implicit_invocation") == Some(false),
            _ => false,
        },
        Err((line, why)) => {
            // The line of `---` was added.
            found.remark_line(&path.to_string_lossy(), Some(line.saturating_sub(1)), why);
            false
        }
    }
}
