//! Results of reading and writing a request: bytes, dropped parts, errors.

use wunderblock_core::budget::Reason;

/// Error from reading or writing a request, with the place where it occurred.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The input is not JSON, not UTF-8, or nested deeper than can be read.
    #[error("invalid JSON: {reason}")]
    Json {
        /// The parser's message, with line and column.
        reason: String,
    },
    /// The input is JSON, but does not have the dialect's shape.
    #[error("{path} must be {expected}")]
    Shape {
        /// Path of the value, for example `messages[3].role`.
        path: String,
        /// Expected type or values.
        expected: &'static str,
    },
    /// A body is still in a blob. Callers have to load bodies before they encode a request.
    #[error("cannot encode the request: the body `{handle}` is in a blob; load the body first")]
    NotInline {
        /// Handle of the body.
        handle: wunderblock_core::id::Handle,
    },
    /// An `extra` is not the text of a JSON object.
    #[error("invalid `extra`: expected the text of a JSON object: {reason}")]
    Extra {
        /// The parser's message.
        reason: String,
    },
    /// An opaque part or a tool's schema is not JSON.
    #[error("{what} must be the text of a JSON value: {reason}")]
    Raw {
        /// Kind of the text that is not JSON.
        what: String,
        /// The parser's message.
        reason: String,
    },
}

impl WireError {
    pub(crate) fn shape(path: &str, expected: &'static str) -> Self {
        Self::Shape { path: path.to_owned(), expected }
    }
}

/// An encoded request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// Body to send, as JSON. Equal requests give equal bytes.
    pub bytes: Vec<u8>,
    /// Number of leading bytes that the next request of the same conversation repeats, whatever happens before that
    /// request.
    ///
    /// For Anthropic and Gemini, the bytes are counted up to the end of the last content block, because more blocks
    /// may join its message. Content written as a string is not counted, because it becomes a list of blocks when
    /// more content joins it. For OpenAI chat, OpenAI Responses and neutral, the bytes are counted up to the end of
    /// the last message or item. The number is valid under three conditions. Every call in this request has its
    /// result in the request, because a later result would be written before the messages that separate it from its
    /// call. The request asks for no mark on a numbered block, because the next request would ask for the mark
    /// elsewhere. No later call has the very id that was made for a call whose own id the provider refuses.
    pub stem: usize,
    /// Number of pieces in which the conversation was written. For Anthropic, the pieces are the content blocks of
    /// all messages, and a string counts as one block. For [`CachePoint::Block`], the last block has the number
    /// `blocks - 1`. OpenAI chat: messages. OpenAI Responses: items. For Gemini and neutral, the pieces are parts.
    ///
    /// [`CachePoint::Block`]: wunderblock_core::request::CachePoint::Block
    pub blocks: u64,
    /// Number of bytes up to the end of the last message. A reply to the request is bound to these bytes.
    pub asked: usize,
    /// Indexes of the messages with thinking, each with the offset, in `bytes`, of the encoded message that contains
    /// the thinking.
    pub starts: Vec<(usize, usize)>,
    /// Content of the request that is missing from the body.
    pub dropped: Vec<Dropped>,
}

/// Content that is in a request but not in its encoded form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Index of the message; `None` for the request itself, its system text and its tools, and for a part that was left
    /// out before the request was encoded.
    pub message: Option<usize>,
    /// Index of the part in the message, of the system part, or of the tool.
    pub part: usize,
    /// Why the content was left out: `Dialect`, `Unsigned`, `Empty`, `Unsendable`, or, for messages that are never
    /// sent, `FailedTurn` and `Aside`.
    pub reason: Reason,
    /// Description for people.
    pub what: String,
    /// Whether the whole part was left out. Otherwise, only some of the part or of its message was left out, and the
    /// rest is sent.
    pub whole: bool,
}
