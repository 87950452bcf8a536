//! What could come back: bodies the newest turn speaks of, and older entries that answer a query.

use super::load::{Loaded, Texts, spoken};
use super::need::needs_details;
use crate::engine::Engine;
use crate::error::Error;
use crate::gauge::Scales;
use crate::limits::RECALL_HITS;
use crate::search::{SearchOptions, SearchOrder};
use crate::store::{Answer, BodyCount, Query, codec};
use std::collections::{BTreeSet, HashMap};
use wunderblock_core::authority::Authority;
use wunderblock_core::event::Fact;
use wunderblock_core::fence::plain;
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::message::{Body, Message, Part};
use wunderblock_core::plan::Injection;
use wunderblock_core::section::Section;
use wunderblock_core::units::Seq;
use wunderblock_core::view::View;

/// Candidates, best first, with what is needed to weigh and show them.
#[derive(Default)]
pub(crate) struct Recalled {
    pub(crate) hits: Vec<Injection>,
    pub(crate) texts: Texts,
    pub(crate) counts: HashMap<Handle, BodyCount>,
}

impl Engine {
    pub(crate) async fn recall(
        &self,
        stream: &StreamId,
        loaded: &Loaded,
        (query, gauge): (Option<&str>, &Scales),
    ) -> Result<Recalled, Error> {
        let mut recalled = Recalled { texts: loaded.texts.clone(), ..Recalled::default() };
        let turn = newest(&loaded.view).into_iter().flat_map(spoken).filter_map(Body::handle);
        self.more_texts(&mut recalled.texts, turn.collect::<Vec<_>>()).await?;
        let words = turn_words(&loaded.view, &recalled.texts);
        // Whether the request shows a candidate anyway is for the plan to say: only it knows where the frontiers will be.
        for name in names(&words).into_iter().filter(|name| needs_details(&words, name)) {
            if let Some(hit) = mentioned(&loaded.view, &name) {
                recalled.hits.push(hit);
            } else if let Ok(handle) = name.parse::<Handle>() {
                recalled.hits.extend(self.named(handle, &mut recalled.texts).await?);
            }
        }
        if let Some(query) = query {
            recalled.hits.extend(self.answers(stream, query).await?);
        }
        recalled.hits.dedup_by(|a, b| a.body == b.body);
        // Those that come back are loaded with all else that is shown; here only what nobody has counted yet.
        let handles = recalled.hits.iter().filter_map(|hit| hit.body.handle());
        let handles: BTreeSet<Handle> = handles.filter(|handle| !gauge.knows(*handle)).collect();
        self.more_texts(&mut recalled.texts, handles.iter().copied()).await?;
        for handle in handles {
            if let Some(text) = recalled.texts.0.get(&handle) {
                recalled.counts.insert(handle, gauge.measure(text));
            }
        }
        Ok(recalled)
    }

    /// The body a handle in the newest turn names.
    async fn named(&self, handle: Handle, texts: &mut Texts) -> Result<Option<Injection>, Error> {
        let query = Query::Blobs { tenant: self.tenant.no, handles: vec![handle] };
        let Some(blob) = self.ask(query, Answer::blobs).await?.pop().flatten() else { return Ok(None) };
        let text = codec::unpack_text(&blob.data)?;
        let lines = wunderblock_core::message::count_lines(&text);
        texts.0.insert(handle, text);
        Ok(Some(Injection {
            section: Section::Recall,
            authority: Authority::Data,
            from_stream: None,
            from_seq: Seq::START,
            body: Body::Blob { blob: handle, bytes: blob.bytes, lines },
            what: handle.to_string().into(),
            why: "the newest turn names its handle".into(),
        }))
    }

    /// Older entries that answer a query, best first.
    async fn answers(&self, stream: &StreamId, query: &str) -> Result<Vec<Injection>, Error> {
        let options = SearchOptions {
            session: Some(stream.clone()),
            order: SearchOrder::Ranked,
            limit: RECALL_HITS,
            free_text: true,
        };
        let found = self.search(query, &options).await?;
        let seqs: Vec<Seq> = found.hits.iter().map(|hit| hit.seq).collect();
        let at = Query::At { tenant: self.tenant.no, stream: stream.clone(), seqs: seqs.clone() };
        let mut hits = Vec::new();
        for row in self.ask(at, Answer::events).await? {
            if let Some(Fact::MessageAppended(said)) = self.event(stream, &row)?.fact
                && said.message.standing.is_sendable()
                && let Some(body) = largest_text(&said.message)
            {
                hits.push(Injection {
                    section: Section::Recall,
                    authority: Authority::Data,
                    from_stream: None,
                    from_seq: row.seq,
                    body,
                    what: role_words(&said.message).into(),
                    why: format!(
                        "it answers the query `{}`",
                        plain(&query.chars().take(80).collect::<String>())
                    )
                    .into(),
                });
            }
        }
        Ok(hits)
    }
}

fn newest(view: &View) -> Option<&Message> {
    view.newest_user().and_then(|seq| view.entry(seq)).map(|entry| &entry.message)
}

fn turn_words(view: &View, texts: &Texts) -> String {
    let mut words = String::new();
    for part in newest(view).into_iter().flat_map(|said| &said.parts) {
        if let Part::Text { text, .. } = part {
            let text = text.inline().or_else(|| texts.0.get(&text.handle()?).map(String::as_str));
            words.push_str(text.unwrap_or_default());
            words.push('\n');
        }
    }
    words
}

/// Names of things that may have been read before: paths with a directory or an extension, URLs, handles.
fn names(words: &str) -> Vec<String> {
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

/// The newest result whose call speaks of `name`.
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

fn largest_text(said: &Message) -> Option<Body> {
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

fn role_words(said: &Message) -> &'static str {
    use wunderblock_core::message::Role;
    match said.role {
        Role::System => "a system message",
        Role::User => "a user's message",
        Role::Assistant => "an assistant's message",
        Role::Tool => "a tool's result",
    }
}
