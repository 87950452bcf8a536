//! Attributes of events: by these, a store can filter events and describe sessions without reading their content.

use wunderblock_core::author::Authors;
use wunderblock_core::event::{DocumentIndexed, DocumentRemoved, DocumentSection, Fact};
use wunderblock_core::id::{EventId, LaneId};
use wunderblock_core::message::{MessageOrigin, Part, Role};
use wunderblock_core::units::Tokens;

/// Attributes by which events can be filtered, besides time and kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facets {
    /// Role of the sender; `None` for events outside the conversation.
    pub role: Option<Role>,
    /// Authors of a message in the user's role. The other roles state their authors.
    pub authors: Option<Authors>,
    /// Name of the tool that the event's first call invokes.
    pub tool: Option<Box<str>>,
    /// File that the event's first tool call refers to.
    pub path: Option<Box<str>>,
    /// Lane to which the event belongs.
    pub lane: Option<LaneId>,
    /// Whether the event replaces the earlier content of its stream, as a new version of a document does.
    pub begins: bool,
    /// What the event says about its whole session.
    pub session: Option<Box<SessionFacets>>,
}

/// What an event says about its whole session. A field that is `None` changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFacets {
    /// Title of the session; empty to remove the title.
    pub title: Option<Box<str>>,
    /// All tags of the session.
    pub tags: Option<Vec<Box<str>>>,
    /// Branch of the repository.
    pub branch: Option<Box<str>>,
    /// Name of the model that replied.
    pub model: Option<Box<str>>,
    /// Usage that a provider reported.
    pub usage: Option<EventUsage>,
}

/// Usage of one reply, as a provider reported it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventUsage {
    /// Identity of the reply within its stream. A later report with the same key replaces an earlier one.
    pub key: Box<str>,
    /// Name of the model, if known.
    pub model: Option<Box<str>>,
    /// Input tokens that were neither read from nor written to a cache.
    pub input: Tokens,
    /// Input tokens read from the cache.
    pub cache_read: Tokens,
    /// Input tokens written to the cache.
    pub cache_write: Tokens,
    /// Output tokens, including reasoning.
    pub output: Tokens,
}

/// Returns the attributes by which a fact can be filtered. Messages outside the conversation have no role.
pub(super) fn facets(id: &EventId, fact: &Fact) -> Facets {
    let session = session_facets(id, fact).map(Box::new);
    let Fact::MessageAppended(said) = fact else {
        let begins = matches!(fact, Fact::DocumentIndexed(_) | Fact::DocumentRemoved(_));
        let (lane, path) = (fact.lane().cloned(), document_path(fact));
        return Facets { lane, path, begins, session, ..Facets::default() };
    };
    let message = &said.message;
    let call = message.parts.iter().find_map(|part| match part {
        Part::ToolCall { name, input, .. } => Some((name.clone(), input.inline().and_then(path_of))),
        _ => None,
    });
    let (tool, path) = call.unzip();
    let role = (!matches!(message.standing, MessageOrigin::Aside(_))).then_some(message.role);
    let authors = message.authors.clone().filter(|_| role == Some(Role::User));
    Facets { role, authors, tool, path: path.flatten(), session, ..Facets::default() }
}

fn document_path(fact: &Fact) -> Option<Box<str>> {
    match fact {
        Fact::DocumentIndexed(DocumentIndexed { path, .. })
        | Fact::DocumentSection(DocumentSection { path, .. })
        | Fact::DocumentRemoved(DocumentRemoved { path }) => Some(path.clone()),
        _ => None,
    }
}

/// Returns what a fact says about its whole session.
fn session_facets(id: &EventId, fact: &Fact) -> Option<SessionFacets> {
    let nothing = SessionFacets::default();
    Some(match fact {
        Fact::SessionOpened(opened) => SessionFacets { branch: Some(opened.branch.clone()?), ..nothing },
        Fact::SessionDescribed(described) => {
            SessionFacets { title: described.title.clone(), tags: described.tags.clone(), ..nothing }
        }
        Fact::DocumentIndexed(document) => {
            SessionFacets { title: Some(document.title.clone()), tags: Some(Vec::new()), ..nothing }
        }
        Fact::DocumentRemoved(_) => {
            SessionFacets { tags: Some(vec![DocumentRemoved::TAG.into()]), ..nothing }
        }
        Fact::MessageAppended(said) => SessionFacets { model: Some(said.message.model.clone()?), ..nothing },
        Fact::UsageMeasured(usage) => SessionFacets {
            model: usage.model.clone(),
            usage: Some(EventUsage {
                key: usage.api_id.clone().unwrap_or_else(|| id.as_str().into()),
                model: usage.model.clone(),
                input: usage.input,
                cache_read: usage.cache_read,
                cache_write: usage.cache_write,
                output: usage.output,
            }),
            ..nothing
        },
        _ => return None,
    })
}

/// Returns the path argument of a tool call, under any of the names that agents use for it.
fn path_of(input: &str) -> Option<Box<str>> {
    #[derive(serde::Deserialize)]
    struct Input {
        #[serde(alias = "path", alias = "notebook_path", alias = "filePath", alias = "absolute_path")]
        file_path: Option<Box<str>>,
    }
    serde_json::from_str::<Input>(input).ok()?.file_path
}
