//! Candidates for recall: bodies that the latest turn names, and older entries that match a query.

use crate::base::error::Error;
use crate::ledger::texts::Texts;
use crate::request::input::snapshot::{Snapshot, planned_texts, view_handles};
use crate::request::need::{Asking, Need};
use crate::request::steps::mention::needs_details;
use crate::rules::token_costs::TokenCosts;
use std::collections::BTreeSet;
use wunderblock_core::authority::Authority;
use wunderblock_core::fence::plain;
use wunderblock_core::id::{Handle, HandlePrefix};
use wunderblock_core::message::{Body, Message, Part, count_lines};
use wunderblock_core::plan::Injection;
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::section::Section;
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_core::view::View;

/// Texts that the caller wants in the request.
pub(in crate::request) struct Wanted<'a> {
    /// Query that ranks older messages.
    pub(in crate::request) query: Option<&'a str>,
    /// Texts of other sessions.
    pub(in crate::request) handed: Vec<Injection>,
}

/// Returns the candidates, best first: texts of other sessions, then those of this one. Adds to the cost model and the texts what is needed to weigh the candidates,
/// including the texts of the user's latest turn.
pub(in crate::request) async fn recall(
    snapshot: &Snapshot,
    wanted: &Wanted<'_>,
    costs: &TokenCosts,
    texts: &mut Texts,
    ask: &Asking,
) -> Result<Vec<Injection>, Error> {
    let view = &snapshot.view;
    ask.texts(texts, planned_texts(view)).await?;
    let words = turn_words(view, texts);
    let mut hits = wanted.handed.clone();
    // The plan checks whether the request already shows a candidate, because only the plan knows the frontiers.
    for name in names(&words).into_iter().filter(|name| needs_details(&words, name)) {
        if let Some(hit) = mentioned(view, &name) {
            hits.push(hit);
        } else if let Some(handle) = handle_in(view, &name) {
            hits.extend(named(handle, texts, ask).await?);
        }
    }
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

/// Returns the handle that a name spells in full, or the only handle in the view that begins with the name.
fn handle_in(view: &View, name: &str) -> Option<Handle> {
    let prefix: HandlePrefix = name.split('#').next()?.parse().ok()?;
    let within = |handle: &Handle| (prefix.first..=prefix.last).contains(handle);
    prefix.exact().or_else(|| {
        let found: BTreeSet<Handle> = view_handles(view).filter(within).collect();
        found.first().copied().filter(|_| found.len() == 1)
    })
}

/// Returns the body of a handle that the latest turn names.
async fn named(handle: Handle, texts: &mut Texts, ask: &Asking) -> Result<Option<Injection>, Error> {
    ask.texts(texts, [handle]).await?;
    let Some(text) = texts.text(handle) else { return Ok(None) };
    Ok(Some(Injection {
        section: Section::Recall,
        authority: Authority::Data,
        from_stream: None,
        from_seq: Seq::START,
        body: Body::Blob { blob: handle, bytes: Bytes(text.len() as u64), lines: count_lines(text) },
        what: handle.to_string().into(),
        why: "the newest turn names its handle".into(),
    }))
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
    })
}

fn newest(view: &View) -> Option<&Message> {
    view.newest_user().and_then(|seq| view.entry(seq)).map(|entry| &entry.message)
}

fn turn_words(view: &View, texts: &Texts) -> String {
    let mut words = String::new();
    for part in newest(view).into_iter().flat_map(|said| &said.parts) {
        if let Part::Text { text, .. } = part {
            words.push_str(texts.of(text).unwrap_or_default());
            words.push('\n');
        }
    }
    words
}

/// Returns at most 16 names of things that may have been read before. Names are paths with a directory or an
/// extension, URLs, and handles.
pub(crate) fn names(words: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let cut = |c: char| {
        c.is_whitespace()
            || matches!(c, '`' | '"' | '\'' | '(' | ')' | '<' | '>' | ',' | '，' | '。' | '「' | '」')
    };
    words
        .split(cut)
        .map(|word| word.trim_end_matches(['.', ':', ';', '!', '?']))
        .filter(|word| word.len() >= 4 && word.len() <= 400 && looks_like_a_name(word))
        .filter(|word| seen.insert((*word).to_owned()))
        .map(ToOwned::to_owned)
        .take(16)
        .collect()
}

fn looks_like_a_name(word: &str) -> bool {
    if word.contains("://") || word.starts_with("wb:") || word.trim_matches('/').contains('/') {
        return true;
    }
    let extension = word.rsplit_once('.').map(|(stem, end)| (stem.is_empty(), end));
    extension.is_some_and(|(bare, end)| {
        !bare && (1..=8).contains(&end.len()) && end.starts_with(|c: char| c.is_ascii_alphabetic())
    })
}

/// Returns the latest tool result whose call mentions `name`.
fn mentioned(view: &View, name: &str) -> Option<Injection> {
    for entry in view.entries().rev() {
        for part in &entry.message.parts {
            let Part::ToolResult { call, content, .. } = part else { continue };
            let Some(gist) = view.gist(call, entry.seq).filter(|gist| gist.contains(name)) else { continue };
            let body = content.iter().flat_map(Part::bodies).max_by_key(|body| body.bytes())?;
            return Some(Injection {
                section: Section::Recall,
                authority: Authority::Data,
                from_stream: None,
                from_seq: entry.seq,
                body: body.clone(),
                what: plain(gist).into(),
                why: format!("the newest turn speaks of {}", plain(name)).into(),
            });
        }
    }
    None
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
