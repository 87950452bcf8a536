//! What was said, in a form no provider owns.
//!
//! A [`Message`] is a list of [`Part`]s. What a provider adds that we have no word for travels along: unknown fields of
//! a known part in `extra`, unknown parts whole as [`Part::Opaque`]. Texts are [`Body`]s: the ledger moves long ones
//! into blobs and leaves a handle, so that a view of a long session stays small.

use crate::id::{CallId, Handle};
use crate::units::{Bytes, is_default};
use serde::{Deserialize, Serialize};

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The operator: system and developer messages.
    System,
    /// The person, and whatever a harness says in the person's place.
    User,
    /// The model.
    Assistant,
    /// A tool: messages of this role hold tool results.
    Tool,
}

impl Role {
    /// Its name, as records and most providers have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// Which provider's format something is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Our own form.
    Neutral,
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI chat completions.
    OpenaiChat,
    /// OpenAI responses.
    OpenaiResponses,
    /// Gemini `generateContent`.
    Gemini,
}

impl Dialect {
    /// Its name, as flags, reports and records have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Neutral => "neutral",
            Self::Anthropic => "anthropic",
            Self::OpenaiChat => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
            Self::Gemini => "gemini",
        }
    }
}

/// A text: here, or in a blob.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Body {
    /// The text itself.
    Inline(String),
    /// A text kept once in the ledger.
    Blob {
        /// How to read it back.
        blob: Handle,
        /// Its length in UTF-8.
        bytes: Bytes,
        /// How many lines it has: newlines, plus one for a last line without.
        lines: u64,
    },
}

impl Body {
    /// The length of the text in bytes.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        match self {
            Self::Inline(text) => Bytes(text.len() as u64),
            Self::Blob { bytes, .. } => *bytes,
        }
    }

    /// How many lines the text has.
    #[must_use]
    pub fn lines(&self) -> u64 {
        match self {
            Self::Inline(text) => count_lines(text),
            Self::Blob { lines, .. } => *lines,
        }
    }

    /// The text, if it is here and not in a blob.
    #[must_use]
    pub fn inline(&self) -> Option<&str> {
        match self {
            Self::Inline(text) => Some(text),
            Self::Blob { .. } => None,
        }
    }

    /// The handle, if the text is in a blob.
    #[must_use]
    pub fn handle(&self) -> Option<Handle> {
        match self {
            Self::Inline(_) => None,
            Self::Blob { blob, .. } => Some(*blob),
        }
    }
}

impl From<&str> for Body {
    fn from(text: &str) -> Self {
        Self::Inline(text.to_owned())
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Self::Inline(text)
    }
}

/// How many lines a text has: its newlines, plus one for a last line that has none. The empty text has none.
#[must_use]
pub fn count_lines(text: &str) -> u64 {
    let newlines = text.bytes().filter(|byte| *byte == b'\n').count() as u64;
    newlines + u64::from(!text.is_empty() && !text.ends_with('\n'))
}

/// Fields of a provider's object that we have no word for: the text of a JSON object, or nothing.
pub type Extra = Option<Box<str>>;

/// How a medium is carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaForm {
    /// The body is base64.
    Base64,
    /// The body is a URL (a `data:` URL is split into MIME type and base64 instead).
    Url,
    /// The body is a provider's file id.
    File,
}

/// One piece of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Plain text.
    Text {
        /// What it says.
        text: Body,
        /// Unknown fields of the provider's block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extra: Extra,
    },
    /// A model's reasoning. Text and signature go back exactly as they came, or not at all. An empty text with a signature
    /// is whole: the provider keeps the text to itself.
    Thinking {
        /// The reasoning.
        text: Body,
        /// The provider's signature over it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<Box<str>>,
        /// Unknown fields of the provider's block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extra: Extra,
    },
    /// A request to run a tool.
    ToolCall {
        /// Joins call and result.
        call: CallId,
        /// The tool.
        name: Box<str>,
        /// The arguments as the model wrote them: the text of a JSON object, digits and key order untouched.
        input: Body,
        /// The least that is needed to do it again, in one line: a command, a path and range, a URL.
        /// Derived when the event is recorded; never what identifies it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gist: Option<Box<str>>,
        /// Unknown fields of the provider's block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extra: Extra,
    },
    /// What a tool answered.
    ToolResult {
        /// Joins call and result.
        call: CallId,
        /// Text, media and opaque parts.
        content: Vec<Part>,
        /// The tool said it failed.
        #[serde(default, skip_serializing_if = "is_default")]
        failed: bool,
        /// Unknown fields of the provider's block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extra: Extra,
    },
    /// An image, a document, a sound.
    Media {
        /// Its MIME type; empty where the provider gave none.
        mime: Box<str>,
        /// How `body` is to be read.
        form: MediaForm,
        /// The data, URL or file id.
        body: Body,
        /// Unknown fields of the provider's block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extra: Extra,
    },
    /// A block we do not understand, carried verbatim, and sent only to the provider it came from.
    Opaque {
        /// Whose block it is.
        dialect: Dialect,
        /// The text of the JSON value.
        raw: Body,
    },
}

impl Part {
    /// Whether a request can hold a message of this part alone: thinking and blank text it cannot.
    #[must_use]
    pub fn speaks(&self) -> bool {
        match self {
            Self::Text { text, .. } => text.inline().is_none_or(|text| !text.trim().is_empty()),
            Self::Thinking { .. } => false,
            Self::ToolCall { .. } | Self::ToolResult { .. } | Self::Media { .. } | Self::Opaque { .. } => {
                true
            }
        }
    }

    /// A text part.
    pub fn text(text: impl Into<Body>) -> Self {
        Self::Text { text: text.into(), extra: None }
    }

    /// Whether it is a model's reasoning.
    #[must_use]
    pub const fn is_thinking(&self) -> bool {
        matches!(self, Self::Thinking { .. })
    }

    /// The part's bodies, in order; a tool result has those of its content.
    pub fn bodies(&self) -> Vec<&Body> {
        self.leaves().into_iter().map(|(_, body)| body).collect()
    }

    /// The parts that hold bodies themselves, with their bodies, in order: of a tool result those of its content.
    pub fn leaves(&self) -> Vec<(&Self, &Body)> {
        match self {
            Self::Text { text: body, .. }
            | Self::Thinking { text: body, .. }
            | Self::ToolCall { input: body, .. }
            | Self::Media { body, .. }
            | Self::Opaque { raw: body, .. } => vec![(self, body)],
            Self::ToolResult { content, .. } => content.iter().flat_map(Self::leaves).collect(),
        }
    }

    /// Whether its body is a medium's data. That is never counted: it is no text of a request, and the same letters
    /// elsewhere may be.
    #[must_use]
    pub fn is_data(&self) -> bool {
        matches!(self, Self::Media { form: MediaForm::Base64, .. })
    }

    /// The part's bodies, to be moved into blobs or back.
    pub fn bodies_mut(&mut self) -> Vec<&mut Body> {
        match self {
            Self::Text { text: body, .. }
            | Self::Thinking { text: body, .. }
            | Self::ToolCall { input: body, .. }
            | Self::Media { body, .. }
            | Self::Opaque { raw: body, .. } => vec![body],
            Self::ToolResult { content, .. } => content.iter_mut().flat_map(Self::bodies_mut).collect(),
        }
    }
}

/// Whether, and as what, a message can enter a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageOrigin {
    /// Said in the conversation.
    #[default]
    Said,
    /// Put in by a harness or by us, not said by the person: attachments, reminders, recalled bodies. Says what it is.
    Injected(Box<str>),
    /// A turn that failed or was broken off. Kept, never sent, and its calls claim no ids.
    Failed(Box<str>),
    /// Recorded, not part of any request. Says why.
    Aside(Box<str>),
}

impl MessageOrigin {
    /// Whether the model may see it at all.
    #[must_use]
    pub fn is_sendable(&self) -> bool {
        matches!(self, Self::Said | Self::Injected(_))
    }
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub parts: Vec<Part>,
    /// Whether it counts as said.
    #[serde(default, skip_serializing_if = "is_default")]
    pub standing: MessageOrigin,
    /// The provider's id of the reply. Records with the same id are pieces of one message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_id: Option<Box<str>>,
    /// The model that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Box<str>>,
    /// Why the model stopped, in the provider's word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Box<str>>,
    /// Unknown fields of the provider's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Extra,
}

impl Message {
    /// A message as said, with nothing known beyond its parts.
    #[must_use]
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        Self {
            role,
            parts,
            standing: MessageOrigin::Said,
            api_id: None,
            model: None,
            stop: None,
            extra: None,
        }
    }

    /// A message of one text.
    pub fn text(role: Role, text: impl Into<Body>) -> Self {
        Self::new(role, vec![Part::text(text)])
    }

    /// A message of the user.
    pub fn user(text: impl Into<Body>) -> Self {
        Self::text(Role::User, text)
    }

    /// A reply of the model.
    pub fn assistant(text: impl Into<Body>) -> Self {
        Self::text(Role::Assistant, text)
    }

    /// The operator's words.
    pub fn system(text: impl Into<Body>) -> Self {
        Self::text(Role::System, text)
    }

    /// A reply of the model that calls a tool; `input` is the JSON of its arguments.
    pub fn tool_call(call: impl Into<CallId>, name: &str, input: impl Into<Body>) -> Self {
        let (call, name, input) = (call.into(), name.into(), input.into());
        Self::new(Role::Assistant, vec![Part::ToolCall { call, name, input, gist: None, extra: None }])
    }

    /// What a tool answered to a call.
    pub fn tool_result(call: impl Into<CallId>, text: impl Into<Body>) -> Self {
        let content = vec![Part::text(text)];
        Self::new(
            Role::Tool,
            vec![Part::ToolResult { call: call.into(), content, failed: false, extra: None }],
        )
    }

    /// The same message with another standing.
    #[must_use]
    pub fn standing(self, standing: MessageOrigin) -> Self {
        Self { standing, ..self }
    }

    /// The ids of the tool calls made here, in order.
    pub fn calls(&self) -> impl Iterator<Item = &CallId> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolCall { call, .. } => Some(call),
            _ => None,
        })
    }

    /// The ids of the tool results given here, in order.
    pub fn results(&self) -> impl Iterator<Item = &CallId> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolResult { call, .. } => Some(call),
            _ => None,
        })
    }

    /// The parts the speaker says: all but tool results, which stand with their calls.
    pub fn own_parts(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| !matches!(part, Part::ToolResult { .. }))
    }

    /// Whether this is a person's own turn: said by the user, and not only tool results or nothing at all.
    #[must_use]
    pub fn is_user_turn(&self) -> bool {
        self.role == Role::User && self.standing == MessageOrigin::Said && self.own_parts().any(Part::speaks)
    }
}
