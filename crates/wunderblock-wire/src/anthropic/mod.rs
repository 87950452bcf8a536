//! Anthropic Messages.
//!
//! System text is a separate field, tool results come first in a user message, and thinking is sent back only with
//! its signature. Sources: the Messages API reference (platform.claude.com/docs/en/api/messages) and its pages on
//! tool use, extended thinking, vision, PDF support and mid-conversation system messages.

pub(crate) mod blocks;
pub(crate) mod cache;
pub mod decode;
pub(crate) mod encode;

/// Image types that the API accepts (see the API's page on vision).
const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];
/// The only type of a base64 document that the API accepts (see the API's page on PDF support).
const PDF: &str = "application/pdf";

/// Fields with the token counts of a usage object: input, cache reads, cache writes, and output.
pub(crate) const USAGE: [&str; 4] =
    ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"];

/// Returns the block type for a medium whose original type is not recorded.
fn block_for(mime: &str) -> &'static str {
    if mime == PDF { "document" } else { "image" }
}
