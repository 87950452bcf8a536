//! Model requests in a provider-neutral form: `render` makes them, and the dialects encode them.

use crate::record::message::{Extra, Message, Part};
use crate::units::Tokens;
use serde::{Deserialize, Serialize};

/// A tool the model may call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Name of the tool.
    pub name: Box<str>,
    /// Description of the tool.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub description: Box<str>,
    /// Text of the JSON Schema of the tool's input.
    pub schema: Box<str>,
    /// Unknown fields of the provider's tool object, or the whole object for a tool that has no form here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Extra,
}

/// Place up to which a provider may cache the beginning of a request. Only providers that require cache marks use
/// this place; the others cache automatically or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CachePoint {
    /// After the last tool.
    Tools,
    /// After the system text.
    System,
    /// After the first message, which holds the preamble.
    Preamble,
    /// After a later block, counted over all blocks of all messages: the end of the previous request, if more blocks
    /// have been added since than a provider looks back over.
    Block(usize),
    /// At the end of the request.
    End,
}

/// A request: everything that a model is sent, before it is encoded for a provider. All bodies are inline.
///
/// Message roles are `User`, `Assistant` and `Tool`. A `Tool` message holds tool results only, and follows the
/// `Assistant` message that made the calls. Text that a system message puts between turns keeps the role `System`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The model's name, as the provider knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Box<str>>,
    /// Maximum number of tokens in the model's reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<Tokens>,
    /// System text, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub system: Vec<Part>,
    /// Tools, sorted by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
    /// The conversation.
    pub messages: Vec<Message>,
    /// Places up to which to cache, in order. With a list, even an empty one, the request is written so that later
    /// additions change no earlier byte. Without a list, texts keep their original form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Vec<CachePoint>>,
    /// Unknown fields of the provider's request (sampling parameters, metadata): the text of a JSON object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Extra,
}
