//! Candidates for recall: older entries that match a query, and texts of other sessions.

use crate::base::error::Error;
use crate::ledger::texts::Texts;
use crate::request::input::snapshot::{Snapshot, planned_texts};
use crate::request::need::{Asking, Need};
use crate::rules::token_costs::TokenCosts;
use std::collections::BTreeSet;
use wunderblock_core::authority::Authority;
use wunderblock_core::fence::plain;
use wunderblock_core::id::Handle;
use wunderblock_core::message::{Body, Message, Part};
use wunderblock_core::plan::Injection;
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::section::Section;
use wunderblock_core::units::Seq;

/// Texts that the caller wants in the request.
pub(in crate::request) struct Wanted<'a> {
    /// Query that ranks older messages.
    pub(in crate::request) query: Option<&'a str>,
    /// Texts of other sessions.
    pub(in crate::request) handed: Vec<Injection>,
}

/// Returns the candidates, best first: texts of other sessions, then those of this one. Adds to the cost model and the
/// texts what is needed to plan and to weigh the candidates.
pub(in crate::request) async fn recall(
    snapshot: &Snapshot,
    wanted: &Wanted<'_>,
    costs: &TokenCosts,
    texts: &mut Texts,
    ask: &Asking,
) -> Result<Vec<Injection>, Error> {
    let view = &snapshot.view;
    ask.texts(texts, planned_texts(view)).await?;
    let mut hits = wanted.handed.clone();
    if let Some(query) = wanted.query {
        let query = query.to_owned();
        hits.extend(ask.ask(|reply| Need::Search(query, reply)).await?);
    }
    // A hidden entry is recalled only by its handle.
    hits.retain(|hit| hit.from_stream.is_some() || !view.hidden().contains(&hit.from_seq));
    hits.dedup_by(|a, b| a.body == b.body);
    // Recalled texts are loaded later with all other shown texts; at this point, only texts without a count are
    // needed.
    let handles = hits.iter().filter_map(|hit| hit.body.handle());
    let handles: BTreeSet<Handle> = handles.filter(|handle| !costs.knows(*handle)).collect();
    ask.texts(texts, handles.iter().copied()).await?;
    for handle in handles {
        if let Some(text) = texts.text(handle) {
            costs.learn(handle, costs.measure(text));
        }
    }
    Ok(hits)
}

/// Returns an older message that matches a query, as a candidate.
pub(crate) fn answer(query: &str, seq: Seq, said: &Message) -> Option<Injection> {
    Some(Injection {
        section: Section::Recall,
        authority: Authority::Data,
        from_stream: None,
        from_seq: seq,
        body: largest_text(said).filter(|_| said.standing.is_sendable())?,
        what: role_words(said).into(),
        why: format!("it answers the query `{}`", plain(&query.chars().take(80).collect::<String>())).into(),
        part_of: None,
    })
}

pub(crate) fn largest_text(said: &Message) -> Option<Body> {
    let texts = said.parts.iter().filter_map(|part| match part {
        Part::Text { text, .. } => Some(text),
        Part::ToolResult { content, .. } => content.iter().find_map(|inner| match inner {
            Part::Text { text, .. } => Some(text),
            _ => None,
        }),
        _ => None,
    });
    texts.max_by_key(|body| body.bytes()).cloned()
}

pub(crate) fn role_words(said: &Message) -> &'static str {
    use wunderblock_core::message::Role;
    match said.role {
        Role::System => "a system message",
        Role::User => "a user's message",
        Role::Assistant => "an assistant's message",
        Role::Tool => "a tool's result",
    }
}
