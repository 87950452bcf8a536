//! What providers answer: whole JSON bodies and streams of events, to one [`Reply`].
//!
//! A stream is put together to the body it stands for, and that is read as any other: both forms of a reply give the
//! same. Reading never fails: what went wrong is in the reply, beside what had come until then.

mod anthropic;
mod fault;
mod fields;
mod openai_chat;
pub mod sse;

pub use fault::{Fault, Refusal};

use crate::json;
use sse::Events;
use wunderblock_core::event::UsageMeasured;
use wunderblock_core::message::{Body, Dialect, Message, Part, Role};

/// A model's reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// What it says: texts, thinking, calls of tools, and what we have no word for, in order; with the provider's id, the
    /// model and the provider's word for why it stopped.
    pub message: Message,
    /// Why it stopped.
    pub stop: Stop,
    /// The tokens it reports, for one request.
    pub usage: Option<UsageMeasured>,
    /// What is wrong with it.
    pub fault: Option<Fault>,
    /// What came that is not known, in words; of many, the first [`MAX_ODD`].
    pub odd: Vec<String>,
}

/// How many things that are not known a reply names.
pub const MAX_ODD: usize = 32;

/// A byte order mark in UTF-8.
const BOM: &[u8] = "\u{feff}".as_bytes();

/// Why a model stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stop {
    /// It had said what it wanted.
    End,
    /// At the most it was allowed to write.
    Length,
    /// To have tools called.
    Tools,
    /// At a sequence it was to stop at.
    Sequence,
    /// It, or a filter behind it, would not.
    Refused,
    /// At the end of its window.
    Window,
    /// In the middle of tools that the provider runs: to go on, it is sent again.
    Paused,
    /// A word that is not known; it is in the message.
    Other,
    /// It does not say.
    #[default]
    Unknown,
}

impl Stop {
    fn of(word: Option<&str>) -> Self {
        match word {
            None => Self::Unknown,
            Some("end_turn" | "stop") => Self::End,
            Some("max_tokens" | "length") => Self::Length,
            Some("tool_use" | "tool_calls" | "function_call") => Self::Tools,
            Some("stop_sequence") => Self::Sequence,
            Some("refusal" | "content_filter") => Self::Refused,
            Some("model_context_window_exceeded") => Self::Window,
            Some("pause_turn") => Self::Paused,
            Some(_) => Self::Other,
        }
    }
}

impl Reply {
    /// Nothing but what is wrong.
    #[must_use]
    pub fn fault(fault: Fault) -> Self {
        Self {
            message: Message::new(Role::Assistant, Vec::new()),
            stop: Stop::Unknown,
            usage: None,
            fault: Some(fault),
            odd: Vec::new(),
        }
    }

    /// Its texts, one after the other; thinking and words of refusal are none.
    #[must_use]
    pub fn text(&self) -> String {
        let texts =
            self.message.parts.iter().filter(|part| !openai_chat::is_refusal(part)).filter_map(|part| {
                match part {
                    Part::Text { text: Body::Inline(text), .. } => Some(text.as_str()),
                    _ => None,
                }
            });
        texts.collect()
    }

    /// The words with which the model declined; empty where it only stopped, `None` where it did not decline.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        let words: String = self
            .message
            .parts
            .iter()
            .filter(|part| openai_chat::is_refusal(part))
            .flat_map(Part::bodies)
            .filter_map(Body::inline)
            .collect();
        (self.stop == Stop::Refused || !words.is_empty()).then_some(words)
    }
}

/// Reads a whole body.
#[must_use]
pub fn decode_reply(dialect: Dialect, bytes: &[u8]) -> Reply {
    let read = match dialect {
        Dialect::Anthropic => anthropic::whole(bytes),
        Dialect::OpenaiChat => openai_chat::whole(bytes),
        Dialect::Neutral | Dialect::OpenaiResponses | Dialect::Gemini => Err(Fault::Unsupported { dialect }),
    };
    read.unwrap_or_else(Reply::fault)
}

/// A reply that is being read, piece by piece: a stream, or a whole body from a server that does not stream. Which of the
/// two it is, its first byte says: a body begins with a brace, an event never does.
#[derive(Debug)]
pub struct Reading {
    dialect: Dialect,
    form: Form,
    most: usize,
    seen: usize,
}

#[derive(Debug)]
enum Form {
    /// Only blanks so far.
    Open(Vec<u8>),
    Whole(Vec<u8>),
    Stream(Box<Stream>),
    TooLong(Box<Form>),
}

#[derive(Debug)]
struct Stream {
    events: Events,
    assembly: Assembly,
}

#[derive(Debug)]
enum Assembly {
    Anthropic(Box<anthropic::Assembly>),
    OpenaiChat(Box<openai_chat::Assembly>),
    Unsupported,
}

impl Assembly {
    fn take(&mut self, event: &sse::Event) {
        match self {
            Self::Anthropic(assembly) => assembly.take(event),
            Self::OpenaiChat(assembly) => assembly.take(event),
            Self::Unsupported => {}
        }
    }
}

impl Reading {
    /// Nothing read yet; of a reply, at most so many bytes are.
    #[must_use]
    pub fn new(dialect: Dialect, most: usize) -> Self {
        Self { dialect, form: Form::Open(Vec::new()), most, seen: 0 }
    }

    /// Reads a piece. Of what is too long, exactly the first bytes up to the limit count, however they come.
    pub fn push(&mut self, bytes: &[u8]) {
        let room = self.most.saturating_sub(self.seen);
        self.seen = self.seen.saturating_add(bytes.len());
        self.read(bytes.get(..room).unwrap_or(bytes));
        if bytes.len() > room && !matches!(self.form, Form::TooLong(_)) {
            let read = std::mem::replace(&mut self.form, Form::Open(Vec::new()));
            self.form = Form::TooLong(Box::new(read));
        }
    }

    fn read(&mut self, bytes: &[u8]) {
        match &mut self.form {
            Form::Whole(body) => body.extend_from_slice(bytes),
            Form::Stream(stream) => stream.push(bytes),
            Form::TooLong(_) => {}
            Form::Open(begun) => {
                let had = begun.len();
                begun.extend_from_slice(bytes);
                // A byte order mark may have come in part.
                if begun.len() < BOM.len() && BOM.starts_with(begun) {
                    return;
                }
                // What was there before is blank.
                let new = if had < BOM.len() { begun.strip_prefix(BOM).unwrap_or(begun) } else { bytes };
                if let Some(first) = new.trim_ascii_start().first() {
                    let is_body = *first == b'{';
                    let begun = std::mem::take(begun);
                    self.begin(is_body, begun);
                }
            }
        }
    }

    fn begin(&mut self, is_body: bool, begun: Vec<u8>) {
        self.form = if is_body {
            Form::Whole(begun)
        } else {
            let assembly = match self.dialect {
                Dialect::Anthropic => Assembly::Anthropic(Box::default()),
                Dialect::OpenaiChat => Assembly::OpenaiChat(Box::default()),
                _ => Assembly::Unsupported,
            };
            let mut stream = Box::new(Stream { events: Events::new(self.most), assembly });
            stream.push(&begun);
            Form::Stream(stream)
        };
    }

    /// Bytes read so far.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.seen
    }

    /// Whether all has come that will: nothing after it is read.
    #[must_use]
    pub fn is_done(&self) -> bool {
        match &self.form {
            Form::Stream(stream) => match &stream.assembly {
                Assembly::Anthropic(assembly) => assembly.is_done(),
                Assembly::OpenaiChat(assembly) => assembly.is_done(),
                Assembly::Unsupported => false,
            },
            Form::TooLong(_) => true,
            Form::Open(_) | Form::Whole(_) => false,
        }
    }

    /// The reply, once no more will come.
    #[must_use]
    pub fn finish(self) -> Reply {
        let Self { dialect, form, most, .. } = self;
        match form {
            Form::Open(_) => Reply::fault(Fault::Unreadable { reason: "nothing came".to_owned() }),
            Form::Whole(body) => {
                let body = body.strip_prefix(BOM).unwrap_or(&body);
                decode_reply(dialect, body)
            }
            Form::Stream(stream) => stream.finish(dialect, most),
            Form::TooLong(read) => {
                let fault = Fault::TooLong { most };
                match *read {
                    Form::Stream(stream) => Reply { fault: Some(fault), ..stream.finish(dialect, most) },
                    // A body that is cut is no JSON.
                    Form::Open(_) | Form::Whole(_) | Form::TooLong(_) => Reply::fault(fault),
                }
            }
        }
    }
}

impl Stream {
    fn push(&mut self, bytes: &[u8]) {
        for event in self.events.push(bytes) {
            self.assembly.take(&event);
        }
    }

    fn finish(self, dialect: Dialect, most: usize) -> Reply {
        let Self { events, mut assembly } = self;
        let is_over = events.is_over();
        if let Some(last) = events.finish() {
            assembly.take(&last);
        }
        let mut reply = match assembly {
            Assembly::Anthropic(assembly) => assembly.finish(),
            Assembly::OpenaiChat(assembly) => assembly.finish(),
            Assembly::Unsupported => Reply::fault(Fault::Unsupported { dialect }),
        };
        if is_over {
            reply.fault = Some(Fault::TooLong { most });
        }
        reply
    }
}

/// Notes something that is not known.
fn note(odd: &mut Vec<String>, what: impl FnOnce() -> String) {
    if odd.len() < MAX_ODD {
        odd.push(what());
    }
}

/// A word of the provider's as it may stand in a note.
fn named(word: &str) -> String {
    let word: String = word.chars().filter(|c| !c.is_control()).take(60).collect();
    format!("`{word}`")
}

/// A text that a provider says is JSON, and is not, at a fault's length.
fn unreadable(reason: impl std::fmt::Display) -> Fault {
    Fault::Unreadable { reason: reason.to_string().chars().take(300).collect() }
}

/// The one message of a reply.
fn only(messages: Vec<Message>) -> Result<Message, Fault> {
    messages.into_iter().next().ok_or_else(|| unreadable("no message in it"))
}

/// A document's fields.
fn opened(bytes: &[u8]) -> Result<json::Fields<'_>, Fault> {
    let document = json::document(bytes).map_err(unreadable)?;
    json::Fields::of(document).ok_or_else(|| unreadable("it is no object"))
}
