//! A request in a provider's format, and back.

use crate::extra;
use crate::outcome::{Encoded, WireError};
use crate::{anthropic, gemini, neutral, openai_chat, openai_responses};
use wunderblock_core::message::{Dialect, Message, Part};
use wunderblock_core::request::Request;

/// Reads a request.
///
/// Blocks of unknown or damaged shape become opaque parts; unknown fields stay in `extra`.
///
/// # Errors
/// When the bytes are not JSON, have no list of messages, a message has no known role or its content is neither text
/// nor a list.
pub fn decode(dialect: Dialect, bytes: &[u8]) -> Result<Request, WireError> {
    match dialect {
        Dialect::Anthropic => anthropic::decode::request(bytes),
        Dialect::OpenaiChat => openai_chat::decode::request(bytes),
        Dialect::Neutral => neutral::decode(bytes),
        Dialect::OpenaiResponses => openai_responses::decode::request(bytes),
        Dialect::Gemini => gemini::decode::request(bytes),
    }
}

/// Writes a request. The same request gives the same bytes, and a request that another begins gives bytes that the
/// other's begin as far as its messages go.
///
/// # Errors
/// When a body is in a blob, or a text that has to be JSON (an opaque part, a schema, an extra) is not.
pub fn encode(dialect: Dialect, request: &Request) -> Result<Encoded, WireError> {
    match dialect {
        Dialect::Anthropic => anthropic::encode::request(request),
        Dialect::OpenaiChat => openai_chat::encode::request(request),
        Dialect::Neutral => neutral::encode(request),
        Dialect::OpenaiResponses => openai_responses::encode::request(request),
        Dialect::Gemini => gemini::encode::request(request),
    }
}

/// Reads one message object, of a request or of a reply. An Anthropic user message that holds tool results and more
/// gives several messages.
///
/// # Errors
/// As [`decode`].
pub fn decode_message(dialect: Dialect, raw_json: &str) -> Result<Vec<Message>, WireError> {
    match dialect {
        Dialect::Anthropic => anthropic::decode::single(raw_json),
        Dialect::OpenaiChat => openai_chat::decode::single(raw_json),
        Dialect::Neutral => neutral::decode_message(raw_json),
        Dialect::OpenaiResponses => openai_responses::decode::single(raw_json),
        Dialect::Gemini => gemini::decode::single(raw_json),
    }
}

/// Whether a request of ours in this dialect may hold a part, if it is thinking: what its provider signed or encrypted
/// goes back to it, and nothing else.
#[must_use]
pub fn takes_thinking(dialect: Dialect, part: &Part) -> bool {
    let Part::Thinking { signature, extra, .. } = part else { return true };
    let is_signed = signature.as_deref().is_some_and(|signature| !signature.is_empty());
    let opened = extra::open(extra, dialect);
    match dialect {
        Dialect::Neutral => true,
        // What says nothing of its origin is Anthropic's.
        Dialect::Anthropic => is_signed && opened.is_ok_and(|opened| opened.is_own()),
        Dialect::OpenaiChat => false,
        Dialect::OpenaiResponses | Dialect::Gemini => {
            is_signed && opened.is_ok_and(|opened| opened.is_marked_own())
        }
    }
}
