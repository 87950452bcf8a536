//! Reads providers' replies, which are whole JSON bodies or streams of events, into one [`ModelReply`].
//!
//! A stream is assembled into the body that it represents, and this body is read like any other, so both forms of a
//! reply give the same result. Reading never fails: errors are part of the reply, along with the content that came
//! before them.

mod answer;
mod anthropic;
mod body;
mod fault;
mod fields;
mod gemini;
mod openai_chat;
mod openai_responses;
pub mod sse;

pub use answer::{MAX_ODD, ModelReply, StopReason};
pub use fault::{ProviderError, ReplyFault};

use answer::StreamState;
use sse::Events;
use wunderblock_core::message::Dialect;

/// A byte order mark in UTF-8.
const BOM: &[u8] = "\u{feff}".as_bytes();

/// Reads a whole body.
#[must_use]
pub fn decode_reply(dialect: Dialect, bytes: &[u8]) -> ModelReply {
    let read = match dialect {
        Dialect::Anthropic => anthropic::whole(bytes),
        Dialect::OpenaiChat => openai_chat::whole(bytes),
        Dialect::OpenaiResponses => openai_responses::whole(bytes),
        Dialect::Gemini => gemini::whole(bytes),
        Dialect::Neutral => Err(ReplyFault::Unsupported { dialect }),
    };
    read.unwrap_or_else(ModelReply::fault)
}

/// Reads a reply piece by piece: a stream, or a whole body from a server that does not stream.
///
/// The first character shows whether the reply is a stream or a body. A body begins with a brace, or with a bracket
/// if Gemini was not asked for events. An event never does.
#[derive(Debug)]
pub struct ReplyReader {
    dialect: Dialect,
    form: BodyForm,
    max: usize,
    seen: usize,
}

#[derive(Debug)]
enum BodyForm {
    /// Only white space has arrived.
    Open(Vec<u8>),
    Whole(Vec<u8>),
    Stream(Box<Stream>),
    TooLong(Box<BodyForm>),
}

#[derive(Debug)]
struct Stream {
    events: Events,
    assembly: Assembly,
    state: StreamState,
}

#[derive(Debug)]
enum Assembly {
    Anthropic(Box<anthropic::MessageAssembly>),
    OpenaiChat(Box<openai_chat::CompletionAssembly>),
    OpenaiResponses(Box<openai_responses::ResponseAssembly>),
    Gemini(Box<gemini::ContentAssembly>),
    Unsupported,
}

impl Assembly {
    fn take(&mut self, event: &sse::SseEvent, state: &mut StreamState) {
        match self {
            _ if state.is_done => {}
            Self::Anthropic(assembly) => assembly.take(event, state),
            Self::OpenaiChat(assembly) => assembly.take(event, state),
            Self::OpenaiResponses(assembly) => assembly.take(event, state),
            Self::Gemini(assembly) => assembly.take(event, state),
            Self::Unsupported => {}
        }
    }
}

impl ReplyReader {
    /// Creates a reader that reads at most `max` bytes of a reply.
    #[must_use]
    pub fn new(dialect: Dialect, max: usize) -> Self {
        Self { dialect, form: BodyForm::Open(Vec::new()), max, seen: 0 }
    }

    /// Reads a piece. If the reply is too long, exactly its first `max` bytes are read, however the reply is divided
    /// into pieces.
    pub fn push(&mut self, bytes: &[u8]) {
        let room = self.max.saturating_sub(self.seen);
        self.seen = self.seen.saturating_add(bytes.len());
        self.read(bytes.get(..room).unwrap_or(bytes));
        if bytes.len() > room && !matches!(self.form, BodyForm::TooLong(_)) {
            let read = std::mem::replace(&mut self.form, BodyForm::Open(Vec::new()));
            self.form = BodyForm::TooLong(Box::new(read));
        }
    }

    fn read(&mut self, bytes: &[u8]) {
        match &mut self.form {
            BodyForm::Whole(body) => body.extend_from_slice(bytes),
            BodyForm::Stream(stream) => stream.push(bytes),
            BodyForm::TooLong(_) => {}
            BodyForm::Open(begun) => {
                let had = begun.len();
                begun.extend_from_slice(bytes);
                // The byte order mark may still be incomplete.
                if begun.len() < BOM.len() && BOM.starts_with(begun) {
                    return;
                }
                // Everything before the new bytes is white space.
                let new = if had < BOM.len() { begun.strip_prefix(BOM).unwrap_or(begun) } else { bytes };
                if let Some(first) = new.trim_ascii_start().first() {
                    let is_body = matches!(first, b'{' | b'[');
                    let begun = std::mem::take(begun);
                    self.begin(is_body, begun);
                }
            }
        }
    }

    fn begin(&mut self, is_body: bool, begun: Vec<u8>) {
        self.form = if is_body {
            BodyForm::Whole(begun)
        } else {
            let assembly = match self.dialect {
                Dialect::Anthropic => Assembly::Anthropic(Box::default()),
                Dialect::OpenaiChat => Assembly::OpenaiChat(Box::default()),
                Dialect::OpenaiResponses => Assembly::OpenaiResponses(Box::default()),
                Dialect::Gemini => Assembly::Gemini(Box::default()),
                Dialect::Neutral => Assembly::Unsupported,
            };
            let (events, state) = (Events::new(self.max), StreamState::default());
            let mut stream = Box::new(Stream { events, assembly, state });
            stream.push(&begun);
            BodyForm::Stream(stream)
        };
    }

    /// Returns the number of bytes received.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.seen
    }

    /// Returns whether the reply is complete. Later bytes are ignored.
    #[must_use]
    pub fn is_done(&self) -> bool {
        match &self.form {
            BodyForm::Stream(stream) => stream.state.is_done,
            BodyForm::TooLong(_) => true,
            BodyForm::Open(_) | BodyForm::Whole(_) => false,
        }
    }

    /// Returns the reply when there are no more bytes to read.
    #[must_use]
    pub fn finish(self) -> ModelReply {
        let Self { dialect, form, max, .. } = self;
        match form {
            BodyForm::Open(_) => {
                ModelReply::fault(ReplyFault::Unreadable { reason: "it is empty".to_owned() })
            }
            BodyForm::Whole(body) => {
                let body = body.strip_prefix(BOM).unwrap_or(&body);
                decode_reply(dialect, body)
            }
            BodyForm::Stream(stream) => stream.finish(dialect, max),
            BodyForm::TooLong(read) => {
                let fault = ReplyFault::TooLong { max };
                match *read {
                    BodyForm::Stream(stream) => {
                        ModelReply { fault: Some(fault), ..stream.finish(dialect, max) }
                    }
                    // A truncated body is not valid JSON.
                    BodyForm::Open(_) | BodyForm::Whole(_) | BodyForm::TooLong(_) => ModelReply::fault(fault),
                }
            }
        }
    }
}

impl Stream {
    fn push(&mut self, bytes: &[u8]) {
        for event in self.events.push(bytes) {
            self.assembly.take(&event, &mut self.state);
        }
    }

    fn finish(self, dialect: Dialect, max: usize) -> ModelReply {
        let Self { events, mut assembly, mut state } = self;
        let is_over = events.is_over();
        if let Some(last) = events.finish() {
            assembly.take(&last, &mut state);
        }
        let mut reply = match assembly {
            Assembly::Anthropic(assembly) => assembly.finish(state),
            Assembly::OpenaiChat(assembly) => assembly.finish(state),
            Assembly::OpenaiResponses(assembly) => assembly.finish(state),
            Assembly::Gemini(assembly) => assembly.finish(state),
            Assembly::Unsupported => ModelReply::fault(ReplyFault::Unsupported { dialect }),
        };
        if is_over {
            reply.fault = Some(ReplyFault::TooLong { max });
        }
        reply
    }
}
