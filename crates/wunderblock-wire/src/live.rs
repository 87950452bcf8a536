//! Lines of the live door: each is an event as it is exported, or a message in a provider's form with our envelope.
//!
//! The envelope (`id`, `at`, `author`, `session`) is not part of the message, because the same message sent at another time is
//! a retry, and providers refuse unknown fields. If a line has the message under `message`, that object is kept
//! whole, whatever the names of its fields are.

use crate::extra;
use crate::json::{self, RawFields, list, text};
use crate::outcome::WireError;
use serde_json::value::RawValue;
use wunderblock_core::author::{self, Author};
use wunderblock_core::event::{Fact, MessageAppended};
use wunderblock_core::message::Dialect;
use wunderblock_core::units::Millis;

/// Values of the field `author`.
const AUTHOR: &str = "one of person, harness, hook, peer, model, tool";

/// Returns whether a type is that of an OpenAI Responses item without a role.
fn is_item(kind: &str) -> bool {
    const OTHERS: [&str; 5] =
        ["reasoning", "compaction", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response"];
    kind.ends_with("_call") || kind.ends_with("_output") || OTHERS.contains(&kind)
}

/// Content of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveLine {
    /// Caller's idempotency key.
    pub id: Option<String>,
    /// Time of the event, if the caller gave one.
    pub at: Option<Millis>,
    /// Event that the line records.
    pub fact: Fact,
    /// Number of lone surrogates in the line, such as `\ud800` without the other half. They have no UTF-8 form, so
    /// U+FFFD replaces each in every text.
    pub lone_surrogates: usize,
}

/// Reason why a line is not an event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LiveError {
    /// The line is not UTF-8.
    #[error("the line is not UTF-8")]
    Encoding,
    /// The line does not begin like a JSON object.
    #[error("the line is not a JSON object")]
    NotAnObject,
    /// The line begins like a JSON object but is not valid JSON.
    #[error("the line is not a JSON object: {0}")]
    Json(String),
    /// A field of the envelope has the wrong type.
    #[error("`{0}` must be {1}")]
    Field(&'static str, &'static str),
    /// The line names a kind of event, but its fields do not fit that kind.
    #[error("invalid event: {0}")]
    Event(String),
    /// The line is the remainder of an erased event.
    #[error("the event was erased: it has no content to append")]
    Erased,
    /// The line is neither an event nor a message.
    #[error("unknown kind of line: expected an event with `kind` or a message with `role`")]
    Neither,
    /// The line contains tool results and other content, which are separate messages.
    #[error(
        "the line holds several messages (tool results and other content): write each on a separate line"
    )]
    Several,
    /// The decoder of the message's dialect rejects the message.
    #[error(transparent)]
    Message(#[from] WireError),
}

/// Reads one line.
///
/// # Errors
/// Returns an error if the line is neither an event nor a message.
pub fn decode_line(line: &[u8]) -> Result<LiveLine, LiveError> {
    let whole = std::str::from_utf8(line).map_err(|_| LiveError::Encoding)?.trim();
    if !whole.starts_with('{') {
        return Err(LiveError::NotAnObject);
    }
    let fields = RawFields::parse(whole).map_err(|error| LiveError::Json(error.to_string()))?;
    let id = field(&fields, "id", "a string", text)?;
    let lone_surrogates = json::lone_surrogates(whole);
    // Two ids that differ in a lone surrogate only would become one.
    if fields.get("id").is_some_and(|raw| json::lone_surrogates(raw.get()) > 0) {
        return Err(LiveError::Field("id", "without lone surrogates such as \\ud800"));
    }
    let at = field(&fields, "at", "a whole number of milliseconds", |raw| raw.get().parse().ok())?;
    let at = at.map(Millis);
    // Some providers have an object of this name in their messages.
    let author = match fields.text("author") {
        Some(name) => Some(Author::named(&name).ok_or(LiveError::Field("author", AUTHOR))?),
        None => None,
    };
    if field(&fields, "kind", "a string", text)?.is_some() {
        if fields.get("erased").is_some_and(|raw| raw.get() == "true") {
            return Err(LiveError::Erased);
        }
        let mut fact = serde_json::from_str(whole).map_err(|error| LiveError::Event(error.to_string()))?;
        settle(&mut fact, author);
        return Ok(LiveLine { id, at, fact, lone_surrogates });
    }
    let mut fact = match fields.get("message").filter(|raw| json::is_object(raw)) {
        Some(inner) => {
            let message = RawFields::of(inner).ok_or(LiveError::Neither)?;
            appended(inner.get(), dialect(&message)?)?
        }
        None => {
            let dialect = dialect(&fields)?;
            appended(&without_envelope(fields, whole, dialect), dialect)?
        }
    };
    settle(&mut fact, author);
    Ok(LiveLine { id, at, fact, lone_surrogates })
}

/// Settles the author that the line states.
fn settle(fact: &mut Fact, author: Option<Author>) {
    if let (Fact::MessageAppended(said), Some(author)) = (fact, author) {
        author::settle(&mut said.message, Some(author));
    }
}

/// Reads a field that may be missing or `null`.
fn field<T>(
    fields: &RawFields<'_>,
    name: &'static str,
    expected: &'static str,
    read: impl FnOnce(&RawValue) -> Option<T>,
) -> Result<Option<T>, LiveError> {
    match fields.get(name).filter(|raw| !json::is_null(raw)) {
        Some(raw) => read(raw).map(Some).ok_or(LiveError::Field(name, expected)),
        None => Ok(None),
    }
}

/// Returns the message without the fields of the envelope. The `id` of a whole Anthropic reply stays in the message,
/// because reported usage refers to the reply by that id.
fn without_envelope(mut fields: RawFields<'_>, whole: &str, dialect: Dialect) -> String {
    let is_providers = dialect == Dialect::Anthropic && (is_reply(&fields) || fields.get("usage").is_some());
    let names_author = fields.text("author").map(|_| "author");
    let ours = ["at", "session"].into_iter().chain(names_author).chain((!is_providers).then_some("id"));
    let taken = ours.filter(|name| fields.take(name).is_some()).count();
    if taken == 0 {
        return whole.to_owned();
    }
    extra::object(fields.rest()).unwrap_or_else(|| "{}".to_owned())
}

fn appended(message: &str, dialect: Dialect) -> Result<Fact, LiveError> {
    let mut messages = crate::decode_message(dialect, message)?;
    match (messages.pop(), messages.is_empty()) {
        (Some(message), true) => {
            Ok(Fact::MessageAppended(MessageAppended { message: author::settled(message) }))
        }
        _ => Err(LiveError::Several),
    }
}

fn is_reply(message: &RawFields<'_>) -> bool {
    message.text("type").as_deref() == Some("message") && message.text("role").as_deref() == Some("assistant")
}

/// Returns the dialect of a message. Some block types, and replies with a `type`, exist in one dialect only. Gemini
/// parts have no type, but parts of the neutral form have one.
fn dialect(message: &RawFields<'_>) -> Result<Dialect, LiveError> {
    let Some(role) = message.get("role") else {
        let is_item = message.text("type").is_some_and(|kind| is_item(&kind));
        return if is_item { Ok(Dialect::OpenaiResponses) } else { Err(LiveError::Neither) };
    };
    if let Some(parts) = message.get("parts") {
        let first = list(parts).and_then(|parts| RawFields::of(parts.first()?));
        let is_typed = first.is_none_or(|part| part.get("type").is_some());
        let is_gemini = text(role).is_some_and(|role| role == "model" || role == "function") || !is_typed;
        return Ok(if is_gemini { Dialect::Gemini } else { Dialect::Neutral });
    }
    let blocks = message.get("content").and_then(list).unwrap_or_default();
    let kinds = blocks.into_iter().filter_map(RawFields::of).filter_map(|block| block.text("type"));
    let of_blocks = kinds.into_iter().find_map(|kind| match kind.as_str() {
        "tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "image" | "document" => {
            Some(Dialect::Anthropic)
        }
        "input_text" | "output_text" | "input_image" | "input_file" => Some(Dialect::OpenaiResponses),
        // Chat completions also have a block with this name, but their messages have no type.
        "refusal" if is_reply(message) => Some(Dialect::OpenaiResponses),
        _ => None,
    });
    if message.get("phase").is_some() {
        return Ok(Dialect::OpenaiResponses);
    }
    let whole = if is_reply(message) { Dialect::Anthropic } else { Dialect::OpenaiChat };
    Ok(of_blocks.unwrap_or(whole))
}
