//! `agents resolve`: the model of a delegate, with the rule that decided.

use super::defined::{find, load};
use crate::args::{Global, ResolveAgent};
use crate::console::{print, print_report, say};
use crate::exit::{Exit, FAILED, Failure, wrong};
use crate::lookup::known_session;
use crate::settings::Settings;
use crate::terminal::clean;
use serde_json::{Value, json};
use std::process::ExitCode;
use wunderblock::definitions::DelegateRules;
use wunderblock::{DelegateCall, Session};
use wunderblock_core::delegate::definition::AgentDefinition;
use wunderblock_core::delegate::filter::{Conditions, check};
use wunderblock_core::delegate::route::{Route, RouteStep};

/// Variable with the model of all delegates, as in Claude Code.
const VARIABLE: &str = "CLAUDE_CODE_SUBAGENT_MODEL";
/// Type of a delegate for which none was named.
const DEFAULT: &str = "general-purpose";

pub(super) async fn run(global: &Global, settings: &Settings, wanted: &ResolveAgent) -> Exit {
    let found = load(&wanted.definitions)?;
    let (_, _, definition) = find(&found, wanted.kind.as_deref().unwrap_or(DEFAULT))?;
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
    let environment = environment();
    let call = DelegateCall {
        parent: &parent,
        model: wanted.model.as_deref(),
        environment: environment.as_deref(),
        plan: wanted.plan,
        utility: wanted.utility,
        context: wanted.context,
    };
    let got = call.route(definition, &rules, settings.catalog());
    let recorded = match &session {
        Some(session) if wanted.record => Some(call.record(session, definition, &got).await?),
        _ => None,
    };
    if global.json {
        print_report(&report(&definition.name, &got))?;
        return Ok(ExitCode::SUCCESS);
    }
    print(&if wanted.explain { explained(&parent, &got) } else { format!("{}\n", clean(&got.model)) })?;
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
    let rules =
        Conditions { denied: &rules.denied, allowed: rules.allowed.as_deref(), ..Conditions::default() };
    check(definition, &rules).map_err(|why| {
        let text = format!("Agent type '{}' may not be used: {why}", definition.name);
        Failure::Door(FAILED, text)
    })
}

/// Returns the value of the environment variable with the model of delegates.
pub(super) fn environment() -> Option<String> {
    std::env::var(VARIABLE).ok()
}

async fn session(
    global: &Global,
    settings: &Settings,
    wanted: &ResolveAgent,
) -> Result<Option<Session>, Failure> {
    let Some(name) = &wanted.session else { return Ok(None) };
    let engine = if wanted.record { settings.write().await? } else { settings.read_only().await? };
    Ok(Some(known_session(&engine, global, name).await?))
}

/// Returns the model of the latest reply of a session.
pub(super) async fn latest_model(session: &Session) -> Result<String, Failure> {
    let model = session.info().await?.model;
    let why =
        || Failure::Door(FAILED, "no reply of the session names a model; give --parent-model".to_owned());
    model.map(Into::into).ok_or_else(why)
}

fn explained(parent: &str, got: &Route) -> String {
    let mut out = format!("{}\n\nparent         {}\n", clean(&got.model), clean(parent));
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

fn report(name: &str, got: &Route) -> Value {
    let rule = |step: &RouteStep| json!({ "rule": step.rule.name(), "asked": step.asked, "outcome": step.outcome.to_string() });
    json!({
        "type": name,
        "model": got.model,
        "rule": got.rule.name(),
        "rules": got.steps.iter().map(rule).collect::<Vec<_>>(),
        "notices": got.notices.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
