//! Gemini `generateContent`.
//!
//! Two speakers take turns, system text is a separate field, and the kind of a part is the name of its one field.
//! Calls may have no ids. Calls without ids are paired with their results by an id made from the function's name. A
//! signature belongs to the part with which it was received, and is sent back with that part. Field names are written
//! in camel case. Snake case, which some clients use, is also read. Sources: the API's reference
//! (ai.google.dev/api/generate-content, /api/caching) and its pages on function calling and thought signatures.

pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod parts;
mod schema;

use crate::json::RawFields;
use wunderblock_core::event::UsageMeasured;
use wunderblock_core::message::Message;

/// Prefix of a model's name in this API.
const MODELS: &str = "models/";
/// Prefix of the id made for a call and its result if neither had an id.
const NAMELESS: &str = "function:";

/// Returns a field's name in camel case.
fn camel(name: &str) -> String {
    let mut pieces = name.split('_');
    let mut whole = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let mut chars = piece.chars();
        whole.extend(chars.next().map(|first| first.to_ascii_uppercase()));
        whole.push_str(chars.as_str());
    }
    whole
}

/// Returns whether the API accepts inline data of a type (see the API's pages on images, documents, audio and video).
fn takes(mime: &str) -> bool {
    const TYPES: [&str; 7] = [
        "image/png",
        "image/jpeg",
        "image/webp",
        "image/heic",
        "image/heif",
        "application/pdf",
        "text/plain",
    ];
    TYPES.contains(&mime) || mime.starts_with("audio/") || mime.starts_with("video/")
}

/// Returns the token usage in `usageMetadata`. The prompt count excludes prompts of the provider's own tools, and the
/// candidates' count excludes thoughts.
pub(crate) fn usage(usage: &RawFields<'_>, message: &Message) -> UsageMeasured {
    let prompt = usage.count("promptTokenCount").saturating_add(usage.count("toolUsePromptTokenCount"));
    let output = usage.count("candidatesTokenCount").saturating_add(usage.count("thoughtsTokenCount"));
    crate::openai_chat::usage(prompt, [usage.count("cachedContentTokenCount"), 0], output, message)
}
