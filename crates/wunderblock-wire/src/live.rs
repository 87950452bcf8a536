//! A line of the live door: an event as it is exported, or a message in a provider's form with an envelope of ours.
//!
//! The envelope (`id`, `at`, `session`) is no part of the message. Sending the same words again at another time is a
//! retry, and providers refuse fields they do not know. A line whose message stands under `message` keeps that object
//! whole, whatever its fields are called.

use crate::extra;
use crate::json::{self, RawFields, list, text};
use crate::outcome::WireError;
use wunderblock_core::event::{Fact, MessageAppended};
use wunderblock_core::message::Dialect;
use wunderblock_core::typed;
use wunderblock_core::units::Millis;

/// Whether a type is that of an item of OpenAI responses that has no role.
fn is_item(kind: &str) -> bool {
    const OTHERS: [&str; 5] =
        ["reasoning", "compaction", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response"];
    kind.ends_with("_call") || kind.ends_with("_output") || OTHERS.contains(&kind)
}

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveLine {
    /// The caller's idempotency key, if it gave one.
    pub id: Option<String>,
    /// When it happened, if the caller said.
    pub at: Option<Millis>,
    /// What happened.
    pub fact: Fact,
}

/// Why a line is not an event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LiveError {
    /// Not UTF-8.
    #[error("the line is not UTF-8")]
    Encoding,
    /// JSON of another kind.
    #[error("the line is not a JSON object")]
    NotAnObject,
    /// Not JSON.
    #[error("the line is not a JSON object: {0}")]
    Json(String),
    /// A field of the envelope has the wrong type.
    #[error("`{0}` should be {1}")]
    Field(&'static str, &'static str),
    /// A kind is named, but the fields are not that kind's.
    #[error("not an event: {0}")]
    Event(String),
    /// The remains of an erased event.
    #[error("the event was erased: there is nothing left of it to append")]
    Erased,
    /// Neither form.
    #[error("neither an event (no `kind`) nor a message (no `role`)")]
    Neither,
    /// Results and words in one object.
    #[error("the line holds several messages (results and words): give each a line of its own")]
    Several,
    /// A message that the dialect's decoder refuses.
    #[error(transparent)]
    Message(#[from] WireError),
}

/// Reads one line.
///
/// # Errors
/// When it is neither an event nor a message.
pub fn decode_line(line: &[u8]) -> Result<LiveLine, LiveError> {
    let whole = std::str::from_utf8(line).map_err(|_| LiveError::Encoding)?.trim();
    if !whole.starts_with('{') {
        return Err(LiveError::NotAnObject);
    }
    let fields = RawFields::parse(whole).map_err(|error| LiveError::Json(error.to_string()))?;
    let id = field(&fields, "id", "a string", text)?;
    let at = field(&fields, "at", "a whole number of milliseconds", |raw| raw.get().parse().ok())?;
    let at = at.map(Millis);
    if field(&fields, "kind", "a string", text)?.is_some() {
        if fields.get("erased").is_some_and(|raw| raw.get() == "true") {
            return Err(LiveError::Erased);
        }
        let fact = serde_json::from_str(whole).map_err(|error| LiveError::Event(error.to_string()))?;
        return Ok(LiveLine { id, at, fact });
    }
    let fact = match fields.get("message").filter(|raw| json::is_object(raw)) {
        Some(inner) => {
            let message = RawFields::of(inner).ok_or(LiveError::Neither)?;
            appended(inner.get(), dialect(&message)?)?
        }
        None => {
            let dialect = dialect(&fields)?;
            appended(&without_envelope(fields, whole, dialect), dialect)?
        }
    };
    Ok(LiveLine { id, at, fact })
}

/// A field that may be missing or `null`.
fn field<T>(
    fields: &RawFields<'_>,
    name: &'static str,
    expected: &'static str,
    read: impl FnOnce(&serde_json::value::RawValue) -> Option<T>,
) -> Result<Option<T>, LiveError> {
    match fields.get(name).filter(|raw| !json::is_null(raw)) {
        Some(raw) => read(raw).map(Some).ok_or(LiveError::Field(name, expected)),
        None => Ok(None),
    }
}

/// The message without the fields that are ours. The `id` of a whole reply of Anthropic's is the provider's as well:
/// usage that is reported for the reply names it.
fn without_envelope(mut fields: RawFields<'_>, whole: &str, dialect: Dialect) -> String {
    let is_providers = dialect == Dialect::Anthropic && (is_reply(&fields) || fields.get("usage").is_some());
    let ours = ["at", "session"].into_iter().chain((!is_providers).then_some("id"));
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
            Ok(Fact::MessageAppended(MessageAppended { message: typed::settled(message) }))
        }
        _ => Err(LiveError::Several),
    }
}

fn is_reply(message: &RawFields<'_>) -> bool {
    message.text("type").as_deref() == Some("message") && message.text("role").as_deref() == Some("assistant")
}

/// The dialect a message is written in. Only one has blocks of these types, and replies that say what they are; parts of
/// Gemini's have no type, ours do.
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
        // Chat completions have a block of this name, in messages that do not say what they are.
        "refusal" if is_reply(message) => Some(Dialect::OpenaiResponses),
        _ => None,
    });
    if message.get("phase").is_some() {
        return Ok(Dialect::OpenaiResponses);
    }
    let whole = if is_reply(message) { Dialect::Anthropic } else { Dialect::OpenaiChat };
    Ok(of_blocks.unwrap_or(whole))
}
