//! OpenAI chat completions, and what servers compatible with it add.
//!
//! One list of messages; arguments are strings that may hold anything; tool results are messages of their own and carry
//! text only. Facts are of the chat completions reference (developers.openai.com/api/reference/chat); the field
//! `reasoning_content` (or `reasoning`) is of compatible servers.

pub(crate) mod decode;
pub(crate) mod encode;

use wunderblock_core::event::UsageMeasured;
use wunderblock_core::message::Message;

/// Image types the API takes (its page on vision).
pub(crate) const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];
/// The type of a file that is sent as data.
pub(crate) const PDF: &str = "application/pdf";
/// The name a file gets that has none.
pub(crate) const FILENAME: &str = "document.pdf";
/// Fields in which servers send a model's reasoning.
const REASONING: [&str; 2] = ["reasoning_content", "reasoning"];
/// What begins the id of a call made with the older `function_call`, which has none of its own.
const LEGACY: &str = "function:";

/// What a medium is, unless it says otherwise.
pub(crate) fn kind_for(mime: &str) -> &'static str {
    if mime.is_empty() || mime.starts_with("image/") {
        "image"
    } else if mime.starts_with("audio/") {
        "audio"
    } else {
        "document"
    }
}

/// What a call used. OpenAI's count of a prompt holds what the cache gave and what was written to it, where Anthropic's
/// `input_tokens` do not; the count of an answer holds reasoning.
pub(crate) fn usage(prompt: u64, [read, written]: [u64; 2], answer: u64, message: &Message) -> UsageMeasured {
    let fresh = prompt.saturating_sub(read.saturating_add(written));
    UsageMeasured::of(message, [fresh, read, written, answer])
}

/// Type and data of a base64 `data:` URL that is put together again from just these.
pub(crate) fn data_url(url: &str) -> Option<(&str, &str)> {
    let (mime, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    (!mime.is_empty() && !mime.contains([';', ','])).then_some((mime, data))
}
