//! Reads and writes requests in a provider's format.

use crate::extra;
use crate::outcome::{Encoded, WireError};
use crate::{anthropic, gemini, neutral, openai_chat, openai_responses};
use wunderblock_core::message::{Dialect, Message, Part};
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

/// Returns whether a request that we build in this dialect may contain a part. A provider receives only thinking that
/// it signed or encrypted itself. All other parts may be sent.
#[must_use]
pub fn takes_thinking(dialect: Dialect, part: &Part) -> bool {
    let Part::Thinking { signature, extra, .. } = part else { return true };
    let is_signed = signature.as_deref().is_some_and(|signature| !signature.is_empty());
    let opened = extra::open(extra, dialect);
    match dialect {
        Dialect::Neutral => true,
        // Thinking that does not name its dialect is Anthropic's.
        Dialect::Anthropic => is_signed && opened.is_ok_and(|opened| opened.is_own()),
        Dialect::OpenaiChat => false,
        Dialect::OpenaiResponses | Dialect::Gemini => {
            is_signed && opened.is_ok_and(|opened| opened.is_marked_own())
        }
    }
}
