//! `agents list`: the delegates by product, with totals by model.

use super::called;
use crate::args::{Global, ListAgents};
use crate::drawing::paint::Paint;
use crate::drawing::terminal::clean;
use crate::output::console::{print, print_report, say};
use crate::output::exit::Exit;
use crate::resolve::definitions::{load, offered, report_problems};
use crate::showing::table::listing;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::ExitCode;
use wunderblock_core::delegate::definition::AgentDefinition;
use wunderblock_settings::Settings;

/// Minimum number of columns for the purpose of a delegate.
const PURPOSE: usize = 20;

pub(super) fn run(global: &Global, settings: &Settings, wanted: &ListAgents) -> Exit {
    if wanted.commands {
        return called::list(global, &wanted.definitions);
    }
    let found = load(&wanted.definitions)?;
    report_problems(global, &found);
    let rules = settings.delegate_rules()?;
    let has_own = found.has_own();
    let mut out = String::new();
    for (product, registry) in found.shown() {
        let (free, withheld) = offered(registry, &rules, &wanted.conditions);
        if global.json {
            for definition in registry.in_force() {
                let why = withheld.iter().find(|(one, _)| one.name == definition.name);
                let overrides = registry.overridden(&definition.name).map(|origin| origin.place.clone());
                let mut report = super::show::report(definition, overrides.collect());
                if let (Some((_, why)), Value::Object(fields)) = (why, &mut report) {
                    fields.insert("withheld".to_owned(), json!(why.to_string()));
                }
                print_report(&report)?;
            }
            continue;
        }
        if has_own {
            out.push_str(&format!(
                "{}{}\n",
                if out.is_empty() { "" } else { "\n" },
                Paint::stdout().bold(product)
            ));
        }
        if !free.is_empty() {
            out.push_str(&table(&free));
            out.push_str(&format!("models: {}\n", census(&free)));
        }
        for (definition, why) in withheld {
            out.push_str(&format!("not offered: {}: {}\n", clean(&definition.name), clean(&why.to_string())));
        }
    }
    print(&out)?;
    if !has_own && !global.json {
        say(
            global,
            "only the built-in delegates; definitions are looked for in .claude/agents and others: `wunderblock help agents`",
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn table(definitions: &[&AgentDefinition]) -> String {
    let rows: Vec<[String; 4]> = definitions
        .iter()
        .map(|one| {
            let layer = one.origin.layer.name().to_owned();
            [clean(&one.name), clean(one.asked_model()), layer, clean(&one.description)]
        })
        .collect();
    listing(["type", "model", "layer", "when to use it"], &rows, &[], PURPOSE, Paint::stdout())
}

/// Returns the number of definitions by model, most first.
fn census(definitions: &[&AgentDefinition]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for definition in definitions {
        *counts.entry(definition.asked_model()).or_default() += 1;
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(model, count)| (std::cmp::Reverse(*count), *model));
    let counts = counts.into_iter().map(|(model, count)| format!("{} {count}", clean(model)));
    counts.collect::<Vec<_>>().join(" · ")
}
