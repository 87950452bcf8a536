//! Messages of a conversation, in a form that is independent of any provider.
//!
//! A [`Message`] is a list of [`Part`]s. Provider data without a counterpart here is kept: unknown fields of a known
//! part go into `extra`, and unknown parts are kept whole as [`Part::Opaque`]. Texts are [`Body`]s: the ledger moves
//! long texts into blobs and leaves a handle, so that the view of a long session stays small.

use crate::id::{CallId, Handle};
use crate::record::author::Authors;
use crate::units::{Bytes, is_default};
use serde::{Deserialize, Serialize};

/// Speaker of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The operator, in system and developer messages.
    System,
    /// The person, or another author in the person's place; see [`Author`](crate::record::author::Author).
    User,
    /// The model.
    Assistant,
    /// A tool: messages of this role hold tool results.
    Tool,
}

impl Role {
    /// Returns the name used in records and by most providers.
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

/// Format of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Our own format.
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
    /// Returns the name used in flags, reports and records.
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

/// A text, inline or in a blob.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Body {
    /// The text itself.
    Inline(String),
    /// A text stored once in the ledger.
    Blob {
        /// Handle by which the text can be read.
        blob: Handle,
        /// Length in bytes of UTF-8.
        bytes: Bytes,
        /// Number of lines: newlines, plus one for a last line without a newline.
        lines: u64,
    },
}

impl Body {
    /// Returns the length of the text in bytes.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        match self {
            Self::Inline(text) => Bytes(text.len() as u64),
            Self::Blob { bytes, .. } => *bytes,
        }
    }

    /// Returns the number of lines of the text.
    #[must_use]
    pub fn lines(&self) -> u64 {
        match self {
            Self::Inline(text) => count_lines(text),
            Self::Blob { lines, .. } => *lines,
        }
    }

    /// Returns the text if it is inline.
    #[must_use]
    pub fn inline(&self) -> Option<&str> {
        match self {
            Self::Inline(text) => Some(text),
            Self::Blob { .. } => None,
        }
    }

    /// Returns the handle if the text is in a blob.
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

/// Returns the number of lines of a text: its newlines, plus one for a last line without a newline; 0 for an empty
/// text.
#[must_use]
pub fn count_lines(text: &str) -> u64 {
    let newlines = text.bytes().filter(|byte| *byte == b'\n').count() as u64;
    newlines + u64::from(!text.is_empty() && !text.ends_with('\n'))
}

/// Unknown fields of a provider's object, as the text of a JSON object; `None` if all fields are known.
pub type Extra = Option<Box<str>>;

/// Form in which a medium is carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaForm {
    /// The body is base64.
    Base64,
    /// The body is a URL (a `data:` URL is split into a MIME type and base64 data instead).
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
        /// The text.
        text: Body,
        /// Unknown fields of the provider's block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extra: Extra,
    },
    /// Reasoning of a model. The text and the signature are sent back exactly as received, or not at all. An empty
    /// text with a signature is complete, since some providers withhold the text.
    Thinking {
        /// The reasoning.
        text: Body,
        /// The provider's signature over the reasoning.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<Box<str>>,
        /// Unknown fields of the provider's block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extra: Extra,
    },
    /// A request to run a tool.
    ToolCall {
        /// Id that joins a call and its result.
        call: CallId,
        /// Name of the tool.
        name: Box<str>,
        /// Arguments as the model wrote them: the text of a JSON object, with digits and key order unchanged.
        input: Body,
        /// Minimum information needed to repeat the call, in one line: for example, a command, a path and range, or a
        /// URL. Derived when the event is recorded, and never used to identify the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gist: Option<Box<str>>,
        /// Unknown fields of the provider's block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extra: Extra,
    },
    /// Result of a tool call.
    ToolResult {
        /// Id that joins a call and its result.
        call: CallId,
        /// Text, media and opaque parts.
        content: Vec<Part>,
        /// Whether the tool reported a failure.
        #[serde(default, skip_serializing_if = "is_default")]
        failed: bool,
        /// Unknown fields of the provider's block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extra: Extra,
    },
    /// An image, a document or a sound.
    Media {
        /// MIME type; empty if the provider gave none.
        mime: Box<str>,
        /// Form of `body`.
        form: MediaForm,
        /// Data, URL or file id of the medium.
        body: Body,
        /// Unknown fields of the provider's block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extra: Extra,
    },
    /// An unknown block, carried verbatim and sent only to the provider it came from.
    Opaque {
        /// Format the block is from.
        dialect: Dialect,
        /// The text of the JSON value.
        raw: Body,
    },
}

impl Part {
    /// Returns whether a request can hold a message that consists of this part alone. Thinking or blank text alone is
    /// not enough.
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

    /// Creates a text part.
    pub fn text(text: impl Into<Body>) -> Self {
        Self::Text { text: text.into(), extra: None }
    }

    /// Returns whether the part is reasoning of a model.
    #[must_use]
    pub const fn is_thinking(&self) -> bool {
        matches!(self, Self::Thinking { .. })
    }

    /// Returns the bodies of the part, in order; for a tool result, the bodies of its content.
    pub fn bodies(&self) -> Vec<&Body> {
        self.leaves().into_iter().map(|(_, body)| body).collect()
    }

    /// Returns the parts that directly hold bodies, with these bodies, in order; for a tool result, the parts of its
    /// content.
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

    /// Returns whether the body is the data of a medium. The data of a medium is never counted: it is not part of the
    /// text of a request, although the same characters elsewhere may be.
    #[must_use]
    pub fn is_data(&self) -> bool {
        matches!(self, Self::Media { form: MediaForm::Base64, .. })
    }

    /// Returns the bodies of the part, so that they can be moved into blobs or back.
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

/// Origin of a message, which decides whether the message can enter a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageOrigin {
    /// Said in the conversation.
    #[default]
    Said,
    /// Inserted by a harness or by us rather than written by the person: for example, attachments, reminders and
    /// recalled bodies. Names what was put in.
    Injected(Box<str>),
    /// Part of a turn that failed or was broken off. The message is kept but never sent, and its calls claim no ids.
    Failed(Box<str>),
    /// Recorded, but not part of any request. Gives the reason.
    Aside(Box<str>),
}

impl MessageOrigin {
    /// Returns whether a model may see the message.
    #[must_use]
    pub fn is_sendable(&self) -> bool {
        matches!(self, Self::Said | Self::Injected(_))
    }
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Speaker of the message.
    pub role: Role,
    /// Parts of the message, in order.
    pub parts: Vec<Part>,
    /// Origin of the message.
    #[serde(default, skip_serializing_if = "is_default")]
    pub standing: MessageOrigin,
    /// Provider's id of the reply. Records with the same id are parts of one reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_id: Option<Box<str>>,
    /// Model that wrote the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Box<str>>,
    /// Reason why the model stopped, in the provider's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Box<str>>,
    /// Unknown fields of the provider's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Extra,
    /// Authors of the texts; `None` until they are settled. Not part of the content: derived from the raw record, and
    /// kept beside the event.
    #[serde(skip)]
    pub authors: Option<Authors>,
}

impl Message {
    /// Creates a conversation message for which only the parts are known.
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
            authors: None,
        }
    }

    /// Creates a message that consists of one text.
    pub fn text(role: Role, text: impl Into<Body>) -> Self {
        Self::new(role, vec![Part::text(text)])
    }

    /// Creates a user message.
    pub fn user(text: impl Into<Body>) -> Self {
        Self::text(Role::User, text)
    }

    /// Creates a model reply.
    pub fn assistant(text: impl Into<Body>) -> Self {
        Self::text(Role::Assistant, text)
    }

    /// Creates an operator message.
    pub fn system(text: impl Into<Body>) -> Self {
        Self::text(Role::System, text)
    }

    /// Creates a model reply that calls a tool; `input` is the JSON of its arguments.
    pub fn tool_call(call: impl Into<CallId>, name: &str, input: impl Into<Body>) -> Self {
        let (call, name, input) = (call.into(), name.into(), input.into());
        Self::new(Role::Assistant, vec![Part::ToolCall { call, name, input, gist: None, extra: None }])
    }

    /// Creates the message with the result of a tool call.
    pub fn tool_result(call: impl Into<CallId>, text: impl Into<Body>) -> Self {
        let content = vec![Part::text(text)];
        Self::new(
            Role::Tool,
            vec![Part::ToolResult { call: call.into(), content, failed: false, extra: None }],
        )
    }

    /// Returns the same message with a different origin.
    #[must_use]
    pub fn standing(self, standing: MessageOrigin) -> Self {
        Self { standing, ..self }
    }

    /// Returns the ids of the tool calls in the message, in order.
    pub fn calls(&self) -> impl Iterator<Item = &CallId> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolCall { call, .. } => Some(call),
            _ => None,
        })
    }

    /// Returns the ids of the tool results in the message, in order.
    pub fn results(&self) -> impl Iterator<Item = &CallId> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolResult { call, .. } => Some(call),
            _ => None,
        })
    }

    /// Returns the speaker's own parts: all except tool results, which are shown with their calls.
    pub fn own_parts(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| !matches!(part, Part::ToolResult { .. }))
    }

    /// Returns whether the message is a turn in the user's place: said in the user's role, with content other than
    /// tool results. See [`Message::is_persons`] for whether the person wrote it.
    #[must_use]
    pub fn is_user_turn(&self) -> bool {
        self.role == Role::User && self.standing == MessageOrigin::Said && self.own_parts().any(Part::speaks)
    }
}
