//! Converts bytes to messages and back, for provider dialects and agents' transcript formats.
//!
//! A *dialect* is a provider's request format. [`decode`] reads it into the neutral
//! [`Request`](wunderblock_core::request::Request). [`encode`] writes it and lists what it had to leave out. Data
//! that comes from a provider and goes back to it keeps its meaning, including unknown fields and blocks, the numbers
//! and key order of tool inputs, and signatures. [`validate`](validate::validate) checks a body against the rules of
//! the providers, and shares no code with the encoders. [`decode_reply`] and [`ReplyReader`] read a provider's reply,
//! whole or as a stream. [`hook`] reads the inputs of agents' hooks and writes their answers. The crate does no I/O and
//! makes no decisions.

pub mod anthropic;
mod call_id;
pub mod delegation;
mod dialect;
mod extra;
pub mod gemini;
pub mod gist;
pub mod hook;
mod json;
mod live;
pub mod neutral;
pub mod openai_chat;
pub mod openai_responses;
mod outcome;
mod prompt;
pub mod reply;
pub mod strings;
pub mod transcript;
mod turns;
pub mod validate;
mod writing;

pub use anthropic::cache::{continues, without_marks};
pub use anthropic::decode::decode_blocks;
pub use call_id::tool_name;
pub use dialect::{decode, decode_message, encode, refusal, sent_fields};
pub use gist::gist;
pub use live::{LiveError, LiveLine, decode_line};
pub use outcome::{Dropped, Encoded, WireError};
pub use prompt::{PromptBreak, PromptPart, first_break, request_at};
pub use reply::{ModelReply, ProviderError, ReplyFault, ReplyReader, StopReason, decode_reply};
pub use strings::string_values;
pub use validate::{Violation, validate};
