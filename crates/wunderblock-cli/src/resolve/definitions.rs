//! The definitions that a command asks for, what is wrong with them, and which of them may be used.

use crate::args::{ConditionArgs, DefinitionArgs, Global};
use crate::drawing::columns::plural;
use crate::drawing::terminal::clean;
use crate::output::console::say;
use crate::output::exit::{FAILED, Failure, wrong};
use std::collections::BTreeMap;
use std::sync::Arc;
use wunderblock::definitions::{
    DefinitionCache, DefinitionQuery, Definitions, DelegateRules, InForce, LookupError, definitions,
};
use wunderblock_core::delegate::command::CommandDefinition;
use wunderblock_core::delegate::definition::{AgentDefinition, Definition};
use wunderblock_core::delegate::filter::{Conditions, Withheld};
use wunderblock_core::delegate::registry::Registry;
use wunderblock_settings::{definition_query, working_folder};

/// Reads the definitions of delegates that count in the working folder.
pub(crate) fn load(wanted: &DefinitionArgs) -> Result<Arc<Definitions>, Failure> {
    let query = definition_query(&wanted.choice(), &working_folder()?)?;
    Ok(definitions(&query, &DefinitionCache::default()))
}

/// Reads the definitions of delegates, commands and skills that count in the working folder.
pub(crate) fn load_commands(wanted: &DefinitionArgs) -> Result<Arc<Definitions>, Failure> {
    let query = definition_query(&wanted.choice(), &working_folder()?)?;
    Ok(definitions(&DefinitionQuery { commands: true, ..query }, &DefinitionCache::default()))
}

/// Reports definitions in conflict, and files and fields that do not count.
pub(crate) fn report_problems(global: &Global, found: &Definitions) {
    report_conflicts(global, &found.products);
    report_conflicts(global, &found.commands);
    if !global.verbose && !found.remarks.is_empty() {
        let count = plural(found.remarks.len() as u64, "remark", "remarks");
        return say(global, &format!("{count} on files and fields that do not count; -v shows them"));
    }
    for remark in &found.remarks {
        let line = remark.line.map(|line| format!(", line {line}")).unwrap_or_default();
        say(global, &format!("{}{line}: {}", clean(&remark.place), clean(&remark.detail)));
    }
}

fn report_conflicts<T: Definition>(global: &Global, products: &BTreeMap<Box<str>, Registry<T>>) {
    for (product, registry) in products {
        for conflict in registry.conflicts() {
            let name = conflict.first().map(|one| clean(one.name())).unwrap_or_default();
            let places: String =
                conflict.iter().map(|one| format!("\n  {}", clean(&one.origin().place))).collect();
            say(
                global,
                &format!("error: {product}: two definitions of `{name}`, none of which counts:{places}"),
            );
        }
    }
}

/// Returns the definition in force of a type of delegates.
pub(crate) fn find<'a>(found: &'a Definitions, name: &str) -> Result<InForce<'a, AgentDefinition>, Failure> {
    found.agent(name).map_err(|error| unknown(&error))
}

/// Returns the definition in force of a command or a skill. The name may begin with a slash.
pub(crate) fn find_command<'a>(
    found: &'a Definitions,
    name: &str,
) -> Result<InForce<'a, CommandDefinition>, Failure> {
    found.command(name).map_err(|error| unknown(&error))
}

fn unknown(error: &LookupError) -> Failure {
    let text = clean(&error.to_string());
    match error {
        LookupError::Products(..) => wrong(format!("{text} with --product")),
        _ => Failure::Door(FAILED, text),
    }
}

/// Returns the definitions that may be used, and the others with the reason.
pub(crate) fn offered<'a>(
    registry: &'a Registry,
    rules: &DelegateRules,
    wanted: &ConditionArgs,
) -> (Vec<&'a AgentDefinition>, Vec<(&'a AgentDefinition, Withheld)>) {
    let servers: Vec<Box<str>> = wanted.server.iter().map(|name| name.as_str().into()).collect();
    let tools: Vec<&str> = wanted.tool.iter().map(String::as_str).collect();
    let conditions = Conditions {
        servers: (!servers.is_empty()).then_some(&servers),
        tools: (!tools.is_empty()).then_some(&tools),
        ..Conditions::default()
    };
    rules.offered(registry, &conditions)
}
