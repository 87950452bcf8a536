//! `agents`: the types to which work can be handed, the model of each, and the rules that chose it.

use super::call::ToolCall;
use crate::answer::{ToolAnswer, ToolFailure};
use crate::ledger::{LedgerUse, ServedAgents};
use serde_json::{Value, json};
use std::fmt::Write;
use wunderblock::catalog::Catalog;
use wunderblock::definitions::{Definitions, definitions};
use wunderblock::{DelegateCall, PAGE_BYTES, ReadPage, Session};
use wunderblock_core::delegate::definition::AgentDefinition;
use wunderblock_core::delegate::filter::Conditions;
use wunderblock_core::delegate::listing::line;
use wunderblock_core::delegate::route::Route;
use wunderblock_core::work::DelegateAtWork;
use wunderblock_core::{fence, stub};

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
        return router.explain(&found, name)?.answer(call);
    }
    let at_work = match &session {
        Some(session) => session.engine().agents().at_work(session).await?,
        None => Vec::new(),
    };
    router.list(&found, &at_work).answer(call)
}

/// Lines about agents, and the fields beside them.
struct Listing {
    label: &'static str,
    /// Lines, each with the facts about the type that it names.
    lines: Vec<(String, Option<Value>)>,
    /// Fields of every page.
    facts: Value,
}

impl Listing {
    /// Returns the page that a call asks for. A page has the size of a page of `read`, and at least one line.
    fn answer(self, call: &ToolCall<'_>) -> Result<ToolAnswer, ToolFailure> {
        let max = usize::try_from(PAGE_BYTES).unwrap_or(usize::MAX);
        let mut pages: Vec<(String, Vec<Value>)> = vec![Default::default()];
        for (line, fact) in self.lines {
            let line = format!("{}\n", stub::head(&line, max));
            if pages.last().is_some_and(|(text, _)| !text.is_empty() && text.len() + line.len() > max) {
                pages.push(Default::default());
            }
            if let Some((text, facts)) = pages.last_mut() {
                text.push_str(&line);
                facts.extend(fact);
            }
        }
        let (page, count) = (call.arguments.number("page").unwrap_or(1), pages.len() as u64);
        let wanted = page.checked_sub(1).and_then(|page| usize::try_from(page).ok());
        let Some((text, types)) = wanted.and_then(|page| pages.into_iter().nth(page)) else {
            return Err(ToolFailure::Door(format!("there is no page {page}: the last page is {count}")));
        };
        let found = ReadPage { address: self.label.to_owned(), text, page, pages: count, more: None };
        let mut answer = ToolAnswer::new(super::page(&found, |next| format!("`page` {next}")), self.facts);
        answer.facts.extend([
            ("agents".to_owned(), types.into()),
            ("page".to_owned(), page.into()),
            ("pages".to_owned(), count.into()),
        ]);
        Ok(answer)
    }
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

    fn list(&self, found: &Definitions, at_work: &[DelegateAtWork]) -> Listing {
        let mut lines = Vec::new();
        for (product, registry) in found.shown() {
            lines.push((format!("{product}:"), None));
            let (offered, _) = self.served.rules.offered(registry, &Conditions::default());
            for definition in offered.into_iter().filter(|one| !one.hidden) {
                let model = self.route(definition).map(|route| route.model);
                let model = model.as_deref().unwrap_or_else(|| definition.asked_model());
                let fact = json!({ "type": fence::plain(&definition.name), "product": product, "model": fence::plain(model) });
                lines.push((format!("{} → {model}", line(definition)), Some(fact)));
            }
        }
        if !at_work.is_empty() {
            lines.push(("at work now, not to be started again:".to_owned(), None));
            lines.extend(at_work.iter().map(|one| (one.line(), None)));
        }
        let facts = json!({ "model": self.parent.map(fence::plain), "at_work": at_work.len() });
        Listing { label: "agent types and their models", lines, facts }
    }

    fn explain(&self, found: &Definitions, name: &str) -> Result<Listing, ToolFailure> {
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
        let mut lines: Vec<_> = text.lines().map(|line| (line.to_owned(), None)).collect();
        if let Some((_, fact)) = lines.first_mut() {
            *fact = Some(one);
        }
        let facts = json!({ "model": self.parent.map(fence::plain) });
        Ok(Listing { label: "an agent type and its model", lines, facts })
    }
}
