//! Anthropic Messages.
//!
//! System text stands apart, a user message carries tool results before anything else, and thinking goes back only
//! with its signature. Facts are of the Messages API reference (platform.claude.com/docs/en/api/messages) and its pages
//! on tool use, extended thinking, vision, PDF support and mid-conversation system messages.

mod blocks;
pub(crate) mod cache;
pub mod decode;
pub(crate) mod encode;

/// Image types the API takes (its page on vision).
const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];
/// The one type a base64 document may have (its page on PDF support).
const PDF: &str = "application/pdf";

/// The counts of a usage: input, read from the cache, written to it, output.
pub(crate) const USAGE: [&str; 4] =
    ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"];

/// The block a medium is written as, unless it says otherwise.
fn block_for(mime: &str) -> &'static str {
    if mime == PDF { "document" } else { "image" }
}
