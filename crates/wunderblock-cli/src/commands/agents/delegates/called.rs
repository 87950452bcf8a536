//! Slash commands and skills: `agents list --commands` and `agents show /NAME`.

use super::listing::clean_lines;
use super::show::page;
use crate::args::{DefinitionArgs, Global, ShowAgent};
use crate::drawing::paint::Paint;
use crate::drawing::terminal::clean;
use crate::output::console::{print, print_report, say};
use crate::output::exit::Exit;
use crate::resolve::definitions::{find_command, load_commands, report_problems};
use crate::showing::table::listing;
use serde_json::{Value, json};
use std::process::ExitCode;
use wunderblock_core::delegate::command::CommandDefinition;
use wunderblock_core::delegate::expand::{ExpandedCommand, expand};
use wunderblock_core::delegate::tools::ToolRules;

/// Minimum number of columns for the description of a command.
const DESCRIPTION: usize = 20;

/// Lists the commands and skills by product.
pub(super) fn list(global: &Global, wanted: &DefinitionArgs) -> Exit {
    let found = load_commands(wanted)?;
    report_problems(global, &found);
    let mut out = String::new();
    for (product, registry) in &found.commands {
        if global.json {
            for command in registry.in_force() {
                let overrides = registry.overridden(&command.name).map(|origin| origin.place.clone());
                print_report(&report(command, overrides.collect()))?;
            }
            continue;
        }
        let gap = if out.is_empty() { "" } else { "\n" };
        out.push_str(&format!("{gap}{}\n", Paint::stdout().bold(product)));
        let row = |one: &CommandDefinition| {
            let model = one.model.as_deref().unwrap_or("—");
            let (name, layer) = (format!("/{}", clean(&one.name)), one.origin.layer.name().to_owned());
            [name, clean(model), one.callers().to_owned(), layer, clean(&one.description)]
        };
        let rows: Vec<[String; 5]> = registry.in_force().map(row).collect();
        let heads = ["name", "model", "called by", "layer", "description"];
        out.push_str(&listing(heads, &rows, &[], DESCRIPTION, Paint::stdout()));
    }
    print(&out)?;
    if found.commands.is_empty() && !global.json {
        say(
            global,
            "no commands or skills; they are looked for in .claude/commands, .claude/skills and others",
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows a command or a skill, or its text with arguments.
pub(super) fn show(global: &Global, wanted: &ShowAgent) -> Exit {
    let found = load_commands(&wanted.definitions)?;
    let (product, registry, command) = find_command(&found, &wanted.name)?;
    let overrides: Vec<Box<str>> =
        registry.overridden(&command.name).map(|origin| origin.place.clone()).collect();
    let Some(arguments) = &wanted.arguments else {
        if global.json {
            print_report(&report(command, overrides))?;
        } else {
            print(&words(command, &overrides))?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    let expanded = expand(command, arguments);
    if global.json {
        print_report(&expanded_report(command, &expanded))?;
        return Ok(ExitCode::SUCCESS);
    }
    print(&clean_lines(&expanded.text))?;
    for (part, text) in &expanded.left {
        let shown: Vec<String> = text.lines().map(clean).collect();
        say(global, &format!("left as written: {product} {} {}", part.action(), shown.join(" ↵ ")));
    }
    Ok(ExitCode::SUCCESS)
}

fn report(command: &CommandDefinition, overrides: Vec<Box<str>>) -> Value {
    json!({
        "name": command.name,
        "kind": command.kind.name(),
        "description": command.description,
        "argument_hint": command.argument_hint,
        "arguments": command.arguments,
        "model": command.model,
        "effort": command.effort,
        "allowed_tools": allowed(&command.tools),
        "denied_tools": denied(&command.tools),
        "for_user": command.for_user,
        "for_model": command.for_model,
        "agent": command.agent,
        "fields": command.fields,
        "prompt": command.prompt,
        "product": command.origin.product,
        "layer": command.origin.layer.name(),
        "place": command.origin.place,
        "overrides": overrides,
    })
}

fn expanded_report(command: &CommandDefinition, expanded: &ExpandedCommand) -> Value {
    let left = expanded.left.iter().map(|(part, text)| json!({ "part": part.name(), "text": text }));
    json!({ "name": command.name, "text": expanded.text, "left": left.collect::<Vec<_>>() })
}

fn allowed(tools: &ToolRules) -> Option<Vec<String>> {
    tools.allow.as_ref().map(|rules| rules.iter().map(ToString::to_string).collect())
}

fn denied(tools: &ToolRules) -> Vec<String> {
    tools.deny.iter().map(ToString::to_string).collect()
}

fn words(command: &CommandDefinition, overrides: &[Box<str>]) -> String {
    let origin = &command.origin;
    let hint = command.argument_hint.as_ref().map(|hint| format!(" {hint}")).unwrap_or_default();
    let mut rows: Vec<(&str, String)> = vec![
        (command.kind.name(), format!("/{}{hint}", command.name)),
        ("description", command.description.to_string()),
        ("called by", command.callers().to_owned()),
    ];
    let texts = [("carried out by", &command.agent), ("model", &command.model), ("effort", &command.effort)];
    rows.extend(texts.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?.to_string()))));
    if !command.arguments.is_empty() {
        rows.push(("arguments", command.arguments.join(", ")));
    }
    rows.extend(allowed(&command.tools).map(|tools| ("allowed tools", tools.join(", "))));
    if !command.tools.deny.is_empty() {
        rows.push(("denied tools", denied(&command.tools).join(", ")));
    }
    rows.extend(command.fields.iter().map(|(field, value)| (&**field, value.to_string())));
    rows.push(("from", format!("{}, {}", origin.layer.name(), origin.place)));
    rows.extend(overrides.iter().map(|place| ("overrides", place.to_string())));
    page(&rows, &command.prompt)
}
