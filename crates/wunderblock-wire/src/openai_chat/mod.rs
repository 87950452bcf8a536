//! OpenAI chat completions, with the additions of compatible servers.
//!
//! A request is one list of messages. Arguments are strings with any content. Tool results are separate messages and
//! contain text only. Sources: the chat completions reference (developers.openai.com/api/reference/chat) and, for the
//! field `reasoning_content` (or `reasoning`), compatible servers.

pub(crate) mod decode;
pub(crate) mod encode;

use wunderblock_core::event::UsageMeasured;
use wunderblock_core::message::Message;

/// Image types that the API accepts (see the API's page on vision).
pub(crate) const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];
/// Type of the files that may be sent as data.
pub(crate) const PDF: &str = "application/pdf";
/// Name given to a file without a name.
pub(crate) const FILENAME: &str = "document.pdf";
/// Fields in which servers send a model's reasoning.
const REASONING: [&str; 2] = ["reasoning_content", "reasoning"];
/// Prefix of the id made for a call in the older `function_call`, which has no id.
const LEGACY: &str = "function:";

/// Returns the kind of a medium whose original kind is not recorded.
pub(crate) fn kind_for(mime: &str) -> &'static str {
    if mime.is_empty() || mime.starts_with("image/") {
        "image"
    } else if mime.starts_with("audio/") {
        "audio"
    } else {
        "document"
    }
}

/// Returns the token usage of a call. OpenAI's prompt count includes cache reads and writes, unlike Anthropic's
/// `input_tokens`. Its answer count includes reasoning.
pub(crate) fn usage(prompt: u64, [read, written]: [u64; 2], answer: u64, message: &Message) -> UsageMeasured {
    let fresh = prompt.saturating_sub(read.saturating_add(written));
    UsageMeasured::of(message, [fresh, read, written, answer])
}

/// Returns the type and the data of a base64 `data:` URL. Returns `None` if the URL could not be rebuilt from the
/// type and the data.
pub(crate) fn data_url(url: &str) -> Option<(&str, &str)> {
    let (mime, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    (!mime.is_empty() && !mime.contains([';', ','])).then_some((mime, data))
}
