//! A request in a provider's format, and back.

use crate::{anthropic, neutral, openai_chat};
use wunderblock_core::budget::Reason;
use wunderblock_core::message::{Dialect, Message};
use wunderblock_core::request::Request;

/// What cannot be read or written, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// Not JSON, not UTF-8, or nested deeper than can be read.
    #[error("not readable as JSON: {reason}")]
    Json {
        /// What the parser says, with line and column.
        reason: String,
    },
    /// JSON, but not of the dialect's shape.
    #[error("{path} should be {expected}")]
    Shape {
        /// Where: `messages[3].role`.
        path: String,
        /// What belongs there.
        expected: &'static str,
    },
    /// No encoder and decoder for this dialect.
    #[error("requests in the {} form can be neither read nor written; supported are anthropic, openai-chat and neutral", slug(*dialect))]
    Unsupported {
        /// Which one was asked for.
        dialect: Dialect,
    },
    /// A body is still in a blob: it has to be read back before a request is encoded.
    #[error("the body {handle} has to be inline before a request is encoded")]
    NotInline {
        /// The body's handle.
        handle: wunderblock_core::id::Handle,
    },
    /// An `extra` is not the text of a JSON object.
    #[error("an extra has to be the text of a JSON object: {reason}")]
    Extra {
        /// What the parser says.
        reason: String,
    },
    /// An opaque part or a tool's schema is not JSON.
    #[error("{what} has to be the text of a JSON value: {reason}")]
    Raw {
        /// What it is.
        what: String,
        /// What the parser says.
        reason: String,
    },
}

/// An encoded request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// The body to send: JSON, the same bytes for the same request.
    pub bytes: Vec<u8>,
    /// What the request holds and the body does not.
    pub dropped: Vec<Dropped>,
}

/// Something that is in a request and not in its encoded form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Index of the message; `None` for the request itself, its system text and its tools.
    pub message: Option<usize>,
    /// Index of the part in the message (or of the system part or tool).
    pub part: usize,
    /// `Dialect`, `Unsigned`, `Empty`; `FailedTurn` and `Aside` for messages that are never sent.
    pub reason: Reason,
    /// What it was, for people.
    pub what: String,
}

/// A dialect's name, as on the command line.
pub(crate) fn slug(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Neutral => "neutral",
        Dialect::Anthropic => "anthropic",
        Dialect::OpenaiChat => "openai-chat",
        Dialect::OpenaiResponses => "openai-responses",
        Dialect::Gemini => "gemini",
    }
}

/// Reads a request.
///
/// Blocks of unknown or damaged shape become opaque parts; unknown fields stay in `extra`.
///
/// # Errors
/// When the bytes are not JSON, have no list of messages, a message has no known role or its content is neither text
/// nor a list; when the dialect is not supported.
pub fn decode(dialect: Dialect, bytes: &[u8]) -> Result<Request, WireError> {
    match dialect {
        Dialect::Anthropic => anthropic::decode::request(bytes),
        Dialect::OpenaiChat => openai_chat::decode::request(bytes),
        Dialect::Neutral => neutral::decode(bytes),
        Dialect::OpenaiResponses | Dialect::Gemini => Err(WireError::Unsupported { dialect }),
    }
}

/// Writes a request. The same request gives the same bytes, and a request that another begins gives bytes that the
/// other's begin as far as its messages go.
///
/// # Errors
/// When a body is in a blob, or a text that has to be JSON (an opaque part, a schema, an extra) is not; when the
/// dialect is not supported.
pub fn encode(dialect: Dialect, request: &Request) -> Result<Encoded, WireError> {
    match dialect {
        Dialect::Anthropic => anthropic::encode::request(request),
        Dialect::OpenaiChat => openai_chat::encode::request(request),
        Dialect::Neutral => neutral::encode(request),
        Dialect::OpenaiResponses | Dialect::Gemini => Err(WireError::Unsupported { dialect }),
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
        Dialect::OpenaiResponses | Dialect::Gemini => Err(WireError::Unsupported { dialect }),
    }
}
