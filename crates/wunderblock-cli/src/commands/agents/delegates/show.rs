//! `agents show`: one definition with all its fields.

use super::called;
use super::listing::clean_lines;
use crate::args::{Global, ShowAgent};
use crate::drawing::terminal::clean;
use crate::output::console::{print, print_report};
use crate::output::exit::{Exit, wrong};
use crate::resolve::definitions::{find, load};
use serde_json::{Value, json};
use std::process::ExitCode;
use wunderblock_core::delegate::definition::AgentDefinition;

pub(super) fn run(global: &Global, wanted: &ShowAgent) -> Exit {
    if wanted.name.starts_with('/') {
        return called::show(global, wanted);
    }
    if wanted.arguments.is_some() {
        let text = format!("only a command takes arguments; for a command, write `/{}`", clean(&wanted.name));
        return Err(wrong(text));
    }
    let found = load(&wanted.definitions)?;
    let (_, registry, definition) = find(&found, &wanted.name)?;
    let overrides: Vec<Box<str>> =
        registry.overridden(&wanted.name).map(|origin| origin.place.clone()).collect();
    if global.json {
        print_report(&report(definition, overrides))?;
    } else {
        print(&words(definition, &overrides))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns a definition as data.
pub(super) fn report(definition: &AgentDefinition, overrides: Vec<Box<str>>) -> Value {
    json!({
        "type": definition.name,
        "description": definition.description,
        "model": definition.asked_model(),
        "effort": definition.effort,
        "tools": definition.tools.describe(),
        "requires": definition.requires,
        "permissions": definition.permissions,
        "omits_instructions": definition.omits_instructions,
        "hidden": definition.hidden,
        "disabled": definition.disabled,
        "max_turns": definition.max_turns,
        "fields": definition.fields,
        "prompt": definition.prompt,
        "product": definition.origin.product,
        "layer": definition.origin.layer.name(),
        "place": definition.origin.place,
        "overrides": overrides,
    })
}

fn words(definition: &AgentDefinition, overrides: &[Box<str>]) -> String {
    let origin = &definition.origin;
    let mut rows: Vec<(&str, String)> = vec![
        ("type", definition.name.to_string()),
        ("when to use", definition.description.to_string()),
        ("model", definition.asked_model().to_owned()),
        ("tools", definition.tools.describe()),
    ];
    rows.extend(definition.effort.as_ref().map(|effort| ("effort", effort.to_string())));
    rows.extend(definition.max_turns.map(|turns| ("max. turns", turns.to_string())));
    if !definition.requires.is_empty() {
        rows.push(("requires", definition.requires.join(", ")));
    }
    let pairs = definition.permissions.iter().map(|(pattern, decision)| format!("{pattern}: {decision}"));
    if !definition.permissions.is_empty() {
        rows.push(("permissions", pairs.collect::<Vec<_>>().join(", ")));
    }
    if definition.omits_instructions {
        rows.push(("instructions", "left out".to_owned()));
    }
    if definition.disabled {
        rows.push(("disabled", "may not be used".to_owned()));
    }
    if definition.hidden {
        rows.push(("hidden", "not listed for a main agent".to_owned()));
    }
    rows.extend(definition.fields.iter().map(|(field, value)| (&**field, value.to_string())));
    rows.push(("from", format!("{}, {}", origin.layer.name(), origin.place)));
    rows.extend(overrides.iter().map(|place| ("overrides", place.to_string())));
    page(&rows, &definition.prompt)
}

/// Returns rows with a name and a value each, and a text under them.
pub(super) fn page(rows: &[(&str, String)], text: &str) -> String {
    let wide = rows.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let mut out: String =
        rows.iter().map(|(name, value)| format!("{name:wide$}  {}\n", clean(value))).collect();
    if !text.is_empty() {
        out.push('\n');
        out.push_str(&clean_lines(text));
    }
    out
}
