//! Gemini `generateContent`.
//!
//! Two speakers take turns, system text stands apart, and a part is what its one field says. The API's calls may come
//! without ids: what they are paired by then is made from the name. A signature stands on the part it was given for and
//! goes back with it. Names of fields are written in camel case; in snake case, as some clients have them, they are read as well.
//! Facts are of the API's reference (ai.google.dev/api/generate-content, /api/caching) and its pages on function calling
//! and thought signatures.

pub(crate) mod decode;
pub(crate) mod encode;
mod parts;
mod schema;

/// What the name of a model begins with in this API.
const MODELS: &str = "models/";
/// What begins the id of a call that came without one, or of its result.
const NAMELESS: &str = "function:";

/// A field's name in camel case.
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

/// Whether the API takes data of a type inline (its pages on images, documents, audio and video).
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
