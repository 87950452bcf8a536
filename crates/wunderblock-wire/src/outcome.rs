//! What reading and writing a request come to: bytes, what was dropped, or why not.

use wunderblock_core::budget::Reason;

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

impl WireError {
    pub(crate) fn shape(path: &str, expected: &'static str) -> Self {
        Self::Shape { path: path.to_owned(), expected }
    }
}

/// An encoded request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// The body to send: JSON, the same bytes for the same request.
    pub bytes: Vec<u8>,
    /// How many of its first bytes the next request of the same conversation repeats, whatever is said until then.
    ///
    /// Anthropic and Gemini: up to the end of the last content block, since more blocks may join the message it stands in;
    /// content written as a string is not counted, because it becomes a list of blocks then. OpenAI chat, OpenAI responses
    /// and neutral: up to the end of the last message or item. Holds if every call of this request has its result in it (else the result is written
    /// before what was said meanwhile), no mark on a numbered block is asked for (it is asked for elsewhere next time),
    /// and no later call has the very id that was made up for one the provider refuses.
    pub stem: usize,
    /// How many pieces the conversation was written as. Anthropic: content blocks over all messages, content that is a
    /// string being one; the last has the number `blocks - 1` for [`CachePoint::Block`]. OpenAI chat: messages.
    /// OpenAI responses: items. Gemini and neutral: parts.
    ///
    /// [`CachePoint::Block`]: wunderblock_core::request::CachePoint::Block
    pub blocks: u64,
    /// How many of the first bytes stand up to the end of the last message: what a reply to the request is written behind.
    pub asked: usize,
    /// Of messages with thinking in them, by index: where in `bytes` the one begins that they were written as.
    pub starts: Vec<(usize, usize)>,
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
    /// `Dialect`, `Unsigned`, `Empty`, `Unsendable`; `FailedTurn` and `Aside` for messages that are never sent.
    pub reason: Reason,
    /// What it was, for people.
    pub what: String,
    /// Whether it is the part itself; otherwise something of it, or of its message, while the rest is sent.
    pub whole: bool,
}
