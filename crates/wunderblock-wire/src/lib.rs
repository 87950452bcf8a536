//! Provider dialects and agents' transcript formats: bytes to messages and back.
//!
//! A *dialect* is a provider's request format. [`decode`] reads one into the neutral
//! [`Request`](wunderblock_core::request::Request), [`encode`] writes one and says what it had to leave out. What comes
//! from a provider and goes back to it is unchanged in meaning: unknown fields and blocks, numbers and key order of tool
//! inputs, signatures. [`validate`](validate::validate) checks a body against what the providers refuse, and shares no
//! code with the encoders. [`decode_reply`] and [`ReplyReader`] read what a provider answers, whole and as a stream. No I/O, no decisions.

pub mod anthropic;
mod call_id;
mod dialect;
mod extra;
pub mod gemini;
pub mod gist;
mod json;
mod live;
pub mod neutral;
pub mod openai_chat;
pub mod openai_responses;
mod outcome;
pub mod reply;
pub mod strings;
pub mod transcript;
mod turns;
pub mod validate;
mod writing;

pub use anthropic::cache::{continues, without_marks};
pub use anthropic::decode::decode_blocks;
pub use call_id::tool_name;
pub use dialect::{decode, decode_message, encode, takes_thinking};
pub use gist::gist;
pub use live::{LiveError, LiveLine, decode_line};
pub use outcome::{Dropped, Encoded, WireError};
pub use reply::{ModelReply, ProviderError, ReplyFault, ReplyReader, StopReason, decode_reply};
pub use strings::string_values;
pub use validate::{Violation, validate};
