//! A model request in neutral form: what `render` makes and the dialects encode.

use crate::message::{Extra, Message, Part};
use crate::units::Tokens;
use serde::{Deserialize, Serialize};

/// A tool the model may call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: Box<str>,
    /// What it does.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub description: Box<str>,
    /// The text of the JSON Schema of its input.
    pub schema: Box<str>,
    /// Unknown fields of the provider's tool object; for a tool we have no form for, the whole object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Extra,
}

/// Where a provider that wants to be told may cache a request's beginning up to. A provider that finds out by itself, or
/// has no cache, takes no notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CachePoint {
    /// After the last tool.
    Tools,
    /// After the system text.
    System,
    /// After the first message, which holds what stands before the conversation.
    Preamble,
    /// After a block further on, counted over all blocks of all messages: the end of the request before, where more
    /// blocks have been added since than a provider looks back.
    Block(usize),
    /// At the end.
    End,
}

/// A request: everything a model is sent, before any provider's format. All bodies are inline.
///
/// Message roles are `User`, `Assistant` and `Tool`; a `Tool` message holds tool results only and follows the
/// `Assistant` message that made the calls. Text a system message puts between turns keeps role `System`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The model's name, as the provider knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Box<str>>,
    /// The most the model may answer.
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
    /// Where to cache up to, in order. With a list, an empty one too, the request is written so that what is added to it
    /// later changes no byte before; without, texts keep the form they came in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Vec<CachePoint>>,
    /// Unknown fields of the provider's request (sampling parameters, metadata): the text of a JSON object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Extra,
}
