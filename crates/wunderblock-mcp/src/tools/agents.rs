//! `agents`: the types to which work can be handed, the model of each, and the rules that chose it.

use super::call::ToolCall;
use crate::answer::{ToolAnswer, ToolFailure};
use crate::ledger::{LedgerUse, ServedAgents};
use serde_json::{Value, json};
use std::fmt::Write;
use wunderblock::catalog::Catalog;
use wunderblock::definitions::{Definitions, definitions};
use wunderblock::{DelegateCall, Session};
use wunderblock_core::delegate::definition::AgentDefinition;
use wunderblock_core::delegate::filter::Conditions;
use wunderblock_core::delegate::listing::line;
use wunderblock_core::delegate::route::Route;
use wunderblock_core::fence;
use wunderblock_core::work::DelegateAtWork;

pub(super) async fn call(call: &ToolCall<'_>) -> Result<ToolAnswer, ToolFailure> {
    let served = &call.ledger.served.agents;
    let found = definitions(&served.query, &call.ledger.definitions);
    let session = parent(call).await?;
    let model = match &session {
        Some(session) => session.info().await?.model,
        None => None,
    };
    let router = Router { served, catalog: &call.ledger.served.config.catalog, parent: model.as_deref() };
    if let Some(name) = call.arguments.text("type") {
        return router.explain(&found, name);
    }
    let at_work = match &session {
        Some(session) => session.engine().agents().at_work(session).await?,
        None => Vec::new(),
    };
    Ok(router.list(&found, &at_work))
}

/// Returns the session that hands work over. `None` without a ledger.
async fn parent(call: &ToolCall<'_>) -> Result<Option<Session>, ToolFailure> {
    let named = call.arguments.text("session");
    let engine = match call.ledger.open(LedgerUse::Existing).await {
        Ok(engine) => engine,
        Err(_) if named.is_none() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    Ok(call.ledger.find_session(&engine, named).await?)
}

/// What decides the model of a delegate.
struct Router<'a> {
    served: &'a ServedAgents,
    catalog: &'a Catalog,
    parent: Option<&'a str>,
}

impl Router<'_> {
    fn route(&self, definition: &AgentDefinition) -> Option<Route> {
        let environment = self.served.environment.as_deref();
        let call = DelegateCall { parent: self.parent?, environment, ..DelegateCall::default() };
        Some(call.route(Some(definition), &self.served.rules, self.catalog))
    }

    fn list(&self, found: &Definitions, at_work: &[DelegateAtWork]) -> ToolAnswer {
        let (mut text, mut types) = (String::new(), Vec::new());
        for (product, registry) in found.shown() {
            let _ = writeln!(text, "{product}:");
            let (offered, _) = self.served.rules.offered(registry, &Conditions::default());
            for definition in offered.into_iter().filter(|one| !one.hidden) {
                let model = self.route(definition).map(|route| route.model);
                let model = model.as_deref().unwrap_or_else(|| definition.asked_model());
                let _ = writeln!(text, "{} → {model}", line(definition));
                types.push(json!({ "type": fence::plain(&definition.name), "product": product, "model": fence::plain(model) }));
            }
        }
        if !at_work.is_empty() {
            text.push_str("at work now, not to be started again:\n");
            at_work.iter().for_each(|one| text.push_str(&format!("{}\n", one.line())));
        }
        let facts = json!({
            "model": self.parent.map(fence::plain),
            "agents": types,
            "at_work": at_work.len(),
        });
        ToolAnswer::new(fence::data("agent types and their models", &text), facts)
    }

    fn explain(&self, found: &Definitions, name: &str) -> Result<ToolAnswer, ToolFailure> {
        let (product, _, definition) =
            found.agent(name).map_err(|error| ToolFailure::Door(fence::plain_line(&error.to_string())))?;
        let mut text = format!("{}\ndefined in {}\n", line(definition), definition.origin.place);
        let route = self.route(definition);
        let model =
            route.as_ref().map_or_else(|| definition.asked_model().into(), |route| route.model.clone());
        match &route {
            None => text.push_str("the parent's model is unknown: no session\n"),
            Some(route) => {
                let _ = writeln!(text, "model {model}, by the rule `{}`", route.rule.name());
                for step in &route.steps {
                    let asked = step.asked.as_deref().unwrap_or("not set");
                    let _ = writeln!(text, "  {}: {asked}: {}", step.rule.name(), step.outcome);
                }
                for notice in &route.notices {
                    let _ = writeln!(text, "notice: {notice}");
                }
            }
        }
        let one: Value = json!({ "type": fence::plain(&definition.name), "product": product, "model": fence::plain(&model) });
        let facts = json!({ "model": self.parent.map(fence::plain), "agents": [one] });
        Ok(ToolAnswer::new(fence::data("an agent type and its model", &text), facts))
    }
}
