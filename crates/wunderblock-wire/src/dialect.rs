//! Reads and writes requests in a provider's format.

use crate::extra;
use crate::outcome::{Encoded, WireError};
use crate::writing::{UNSENDABLE, known_fields};
use crate::{anthropic, gemini, neutral, openai_chat, openai_responses};
use std::borrow::Cow;
use wunderblock_core::budget::Reason;
use wunderblock_core::message::{Body, Dialect, Extra, MediaForm, Message, Part, Role};
use wunderblock_core::request::Request;

/// Reads a request.
///
/// Blocks of unknown or damaged shape become opaque parts. Unknown fields stay in `extra`.
///
/// # Errors
/// Returns an error if the bytes are not JSON, if the list of messages is missing, or if a message has an unknown
/// role or content that is neither text nor a list.
pub fn decode(dialect: Dialect, bytes: &[u8]) -> Result<Request, WireError> {
    match dialect {
        Dialect::Anthropic => anthropic::decode::request(bytes),
        Dialect::OpenaiChat => openai_chat::decode::request(bytes),
        Dialect::Neutral => neutral::decode(bytes),
        Dialect::OpenaiResponses => openai_responses::decode::request(bytes),
        Dialect::Gemini => gemini::decode::request(bytes),
    }
}

/// Writes a request. Equal requests give equal bytes. If one request is the beginning of another, their bytes agree
/// up to the end of the shared messages.
///
/// # Errors
/// Returns an error if a body is in a blob, or if a text that must be JSON (an opaque part, a schema, an extra) is
/// not JSON.
pub fn encode(dialect: Dialect, request: &Request) -> Result<Encoded, WireError> {
    match dialect {
        Dialect::Anthropic => anthropic::encode::request(request),
        Dialect::OpenaiChat => openai_chat::encode::request(request),
        Dialect::Neutral => neutral::encode(request),
        Dialect::OpenaiResponses => openai_responses::encode::request(request),
        Dialect::Gemini => gemini::encode::request(request),
    }
}

/// Reads one message object of a request or of a reply. For Anthropic and Gemini, a user message that contains tool
/// results and other content is split into several messages.
///
/// # Errors
/// Returns an error in the same cases as [`decode`].
pub fn decode_message(dialect: Dialect, raw_json: &str) -> Result<Vec<Message>, WireError> {
    match dialect {
        Dialect::Anthropic => anthropic::decode::single(raw_json),
        Dialect::OpenaiChat => openai_chat::decode::single(raw_json),
        Dialect::Neutral => neutral::decode_message(raw_json),
        Dialect::OpenaiResponses => openai_responses::decode::single(raw_json),
        Dialect::Gemini => gemini::decode::single(raw_json),
    }
}

/// Returns why a request that we build in this dialect leaves out a part of a message of this role, and what the part
/// is; `None` if the part is sent, as far as it shows by itself. The place of a part in a request may forbid it as well,
/// and so may data in a blob.
#[must_use]
pub fn refusal(dialect: Dialect, role: Role, part: &Part) -> Option<(Reason, Cow<'static, str>)> {
    match part {
        _ if dialect == Dialect::Neutral => None,
        Part::Thinking { .. } if dialect == Dialect::OpenaiChat || role != Role::Assistant => {
            Some((Reason::Dialect, "thinking".into()))
        }
        Part::Thinking { signature, extra, .. } => {
            // A thinking part may have an empty text, but not an empty signature.
            let is_signed = signature.as_deref().is_some_and(|signature| !signature.is_empty());
            let is_own = extra::open(extra, dialect).is_ok_and(|opened| {
                // Thinking that does not name its dialect is Anthropic's.
                if dialect == Dialect::Anthropic { opened.is_own() } else { opened.is_marked_own() }
            });
            (!is_signed || !is_own).then(|| (Reason::Unsigned, "thinking of another provider".into()))
        }
        Part::Opaque { dialect: own, .. } if *own != dialect => {
            Some((Reason::Dialect, "a block of another provider".into()))
        }
        Part::Opaque { raw: Body::Inline(raw), .. } => {
            let why = match dialect {
                Dialect::Anthropic => anthropic::blocks::broken(raw),
                Dialect::OpenaiResponses if role == Role::Assistant => openai_responses::order::broken(raw),
                Dialect::Gemini if role != Role::Tool => gemini::parts::broken(raw),
                _ => Some(UNSENDABLE),
            };
            why.map(|why| (Reason::Unsendable, why.into()))
        }
        Part::Media { mime, form, body, extra } => {
            let (mime, form, extra) = (mime.clone(), *form, extra.clone());
            refused_medium(dialect, role, Part::Media { mime, form, body: stand_in(form, body), extra })
        }
        Part::Text { .. } | Part::ToolCall { .. } | Part::ToolResult { .. } | Part::Opaque { .. } => None,
    }
}

/// Returns why a request leaves out a medium with its data inline: what the encoder says of it.
fn refused_medium(dialect: Dialect, role: Role, medium: Part) -> Option<(Reason, Cow<'static, str>)> {
    let messages = vec![Message::new(role, vec![medium])];
    let request = Request { messages, cache: Some(Vec::new()), ..Request::default() };
    let dropped = encode(dialect, &request).ok()?.dropped.into_iter().find(|dropped| dropped.whole)?;
    Some((dropped.reason, dropped.what.into()))
}

/// Returns the data of a medium, or short data of its form if it is in a blob. A URL that needs a blob is data.
fn stand_in(form: MediaForm, body: &Body) -> Body {
    match (body, form) {
        (Body::Inline(_), _) => body.clone(),
        (Body::Blob { .. }, MediaForm::Base64) => "AAAA".into(),
        (Body::Blob { .. }, MediaForm::Url) => "data:,".into(),
        (Body::Blob { .. }, MediaForm::File) => "file".into(),
    }
}

/// Returns the text of an extra's fields that a request in this dialect holds; `None` if it holds none of them.
#[must_use]
pub fn sent_fields(dialect: Dialect, extra: &Extra) -> Option<String> {
    if dialect == Dialect::Neutral {
        return extra.as_deref().map(str::to_owned);
    }
    let mut opened = extra::open(extra, dialect).ok()?;
    opened.keep_known(known_fields(dialect));
    opened.written()
}
