//! `agents resolve`: the model of a delegate, with the rule that decided.

use super::defined::{find, load};
use crate::args::{Global, ResolveAgent};
use crate::console::{print, print_report, say};
use crate::exit::Exit;
use crate::settings::Settings;
use crate::terminal::clean;
use serde_json::{Value, json};
use std::process::ExitCode;
use wunderblock::definitions::EnvironmentPosition;
use wunderblock_core::delegate::route::{Route, RouteQuestion, RouteStep, RuleOutcome, route};

/// Variable with the model of all delegates, as in Claude Code.
const VARIABLE: &str = "CLAUDE_CODE_SUBAGENT_MODEL";
/// Type of a delegate for which none was named.
const DEFAULT: &str = "general-purpose";

pub(super) fn run(global: &Global, settings: &Settings, wanted: &ResolveAgent) -> Exit {
    let found = load(&wanted.definitions)?;
    let name = wanted.kind.as_deref().unwrap_or(DEFAULT);
    let (_, _, definition) = find(&found, name)?;
    let rules = settings.delegate_rules()?;
    let environment = std::env::var(VARIABLE).ok();
    let switches = rules.switches();
    let question = RouteQuestion {
        parent: &wanted.parent_model,
        policy: rules.policy.as_deref(),
        environment: environment.as_deref(),
        environment_is_default: rules.environment == EnvironmentPosition::Default,
        call: wanted.model.as_deref(),
        definition: definition.model.as_deref(),
        default: rules.default.as_deref(),
        utility: rules.utility.as_deref().filter(|_| wanted.utility),
        plan: wanted.plan,
        context: wanted.context,
        switches: &switches,
        permitted: rules.permitted.as_deref(),
    };
    let table = rules.models();
    let catalog = settings.catalog();
    let got = route(&question, &table, |model| {
        let found = catalog.lookup(model);
        found.known.then_some(found.row.window.0)
    });
    if global.json {
        print_report(&report(name, &got))?;
    } else {
        print(&if wanted.explain {
            explained(&wanted.parent_model, &got)
        } else {
            format!("{}\n", clean(&got.model))
        })?;
        for notice in &got.notices {
            say(global, &format!("notice: {}", clean(&notice.to_string())));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn outcome(step: &RouteStep) -> String {
    match &step.outcome {
        RuleOutcome::Unset => "not set".to_owned(),
        RuleOutcome::Weaker => "a stronger rule decided".to_owned(),
        RuleOutcome::Unknown => "no id is known at the parent's provider".to_owned(),
        RuleOutcome::Decided(named) => format!("{} ({})", named.id, named.why.text()),
    }
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
            clean(&outcome(step))
        ));
    }
    out
}

fn report(name: &str, got: &Route) -> Value {
    let rule =
        |step: &RouteStep| json!({ "rule": step.rule.name(), "asked": step.asked, "outcome": outcome(step) });
    json!({
        "type": name,
        "model": got.model,
        "rule": got.rule.name(),
        "rules": got.steps.iter().map(rule).collect::<Vec<_>>(),
        "notices": got.notices.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
