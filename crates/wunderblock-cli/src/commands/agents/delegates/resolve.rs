//! `agents resolve`: the model of a delegate, with the rule that decided.

use crate::args::{Global, ResolveAgent};
use crate::drawing::terminal::clean;
use crate::output::console::{print, print_report, say};
use crate::output::exit::{Exit, FAILED, Failure, wrong};
use crate::resolve::definitions::{find, find_command, load, load_commands};
use crate::resolve::lookup::lookup;
use serde_json::{Value, json};
use std::process::ExitCode;
use wunderblock::definitions::{Definitions, DelegateRules};
use wunderblock::{DelegateCall, Session};
use wunderblock_core::delegate::command::CommandDefinition;
use wunderblock_core::delegate::definition::AgentDefinition;
use wunderblock_core::delegate::filter::Conditions;
use wunderblock_core::delegate::route::{Route, RouteStep};
use wunderblock_settings::{Settings, delegate_model};

/// Type of a delegate for which none was named.
const DEFAULT: &str = "general-purpose";

pub(super) async fn run(global: &Global, settings: &Settings, wanted: &ResolveAgent) -> Exit {
    let found = if wanted.command.is_some() { load_commands } else { load }(&wanted.definitions)?;
    let command = wanted.command.as_deref().map(|name| find_command(&found, name)).transpose()?;
    let command = command.map(|(_, _, command)| command);
    let definition = delegate(&found, wanted.kind.as_deref(), command)?;
    let rules = settings.delegate_rules()?;
    permitted(definition, &rules)?;
    let session = session(global, settings, wanted).await?;
    let parent = match (&wanted.parent_model, &session) {
        (Some(model), _) => model.clone(),
        (None, Some(session)) => latest_model(session).await?,
        (None, None) => String::new(),
    };
    if parent.trim().is_empty() {
        return Err(wrong("the id of the parent's model is empty".to_owned()));
    }
    let environment = delegate_model();
    let call = DelegateCall {
        parent: &parent,
        model: command.and_then(|command| command.model.as_deref()).or(wanted.model.as_deref()),
        environment: environment.as_deref(),
        plan: wanted.plan,
        utility: wanted.utility,
        context: wanted.context,
    };
    let got = call.route(Some(definition), &rules, settings.catalog());
    let effort = command.and_then(|command| command.effort.as_deref()).or(definition.effort.as_deref());
    let recorded = match &session {
        Some(session) if wanted.record => {
            Some(session.engine().agents().record_route(session, &call, definition, &got).await?)
        }
        _ => None,
    };
    if global.json {
        print_report(&report(&definition.name, &got, effort))?;
        return Ok(ExitCode::SUCCESS);
    }
    print(&if wanted.explain {
        explained(&parent, &got, effort)
    } else {
        format!("{}\n", clean(&got.model))
    })?;
    for notice in &got.notices {
        say(global, &format!("notice: {}", clean(&notice.to_string())));
    }
    if let (Some(seq), Some(session)) = (recorded, &session) {
        say(global, &format!("recorded as {}#{seq}", clean(session.id().as_str())));
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses a type that the rules deny.
pub(super) fn permitted(definition: &AgentDefinition, rules: &DelegateRules) -> Result<(), Failure> {
    rules.permits(definition, &Conditions::default()).map_err(|why| {
        let text = format!("Agent type '{}' may not be used: {why}", definition.name);
        Failure::Door(FAILED, text)
    })
}

/// Returns the definition of the type that was named, else of the type that carries out the command.
fn delegate<'a>(
    found: &'a Definitions,
    kind: Option<&str>,
    command: Option<&CommandDefinition>,
) -> Result<&'a AgentDefinition, Failure> {
    let of_command = command.and_then(|command| command.agent.as_deref());
    let name = kind.or(of_command).unwrap_or(DEFAULT);
    // `Explore` and `Plan` of Claude Code have small letters among the built-in types here.
    let small = |error| find(found, &name.to_lowercase()).ok().filter(|_| kind.is_none()).ok_or(error);
    find(found, name).or_else(small).map(|(_, _, definition)| definition)
}

async fn session(
    global: &Global,
    settings: &Settings,
    wanted: &ResolveAgent,
) -> Result<Option<Session>, Failure> {
    let Some(name) = &wanted.session else { return Ok(None) };
    let engine = if wanted.record { settings.write().await? } else { settings.read_only().await? };
    Ok(Some(lookup(global).known(&engine, name).await?))
}

/// Returns the model of the latest reply of a session.
pub(super) async fn latest_model(session: &Session) -> Result<String, Failure> {
    let model = session.info().await?.model;
    let why =
        || Failure::Door(FAILED, "no reply of the session names a model; give --parent-model".to_owned());
    model.map(Into::into).ok_or_else(why)
}

fn explained(parent: &str, got: &Route, effort: Option<&str>) -> String {
    let mut out = format!("{}\n\nparent         {}\n", clean(&got.model), clean(parent));
    out.extend(effort.map(|effort| format!("effort         {}\n", clean(effort))));
    for step in &got.steps {
        let mark = if step.rule == got.rule { '▸' } else { ' ' };
        let asked = step.asked.as_deref().unwrap_or("—");
        out.push_str(&format!(
            "{mark} {:11}  {:28}  {}\n",
            step.rule.name(),
            clean(asked),
            clean(&step.outcome.to_string())
        ));
    }
    out
}

fn report(name: &str, got: &Route, effort: Option<&str>) -> Value {
    let rule = |step: &RouteStep| json!({ "rule": step.rule.name(), "asked": step.asked, "outcome": step.outcome.to_string() });
    json!({
        "type": name,
        "model": got.model,
        "effort": effort,
        "rule": got.rule.name(),
        "rules": got.steps.iter().map(rule).collect::<Vec<_>>(),
        "notices": got.notices.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
