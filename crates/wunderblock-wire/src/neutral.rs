//! Neutral form: a request as JSON, with embedded JSON kept as strings. Reading and writing are exact inverses.

use crate::outcome::{Encoded, WireError};
use wunderblock_core::message::Message;
use wunderblock_core::request::Request;

fn unreadable(error: &serde_json::Error) -> WireError {
    WireError::Json { reason: error.to_string() }
}

/// Reads a request.
///
/// # Errors
/// Returns an error if the bytes are not a request in this form, or are nested deeper than 127 levels.
pub fn decode(bytes: &[u8]) -> Result<Request, WireError> {
    serde_json::from_slice(bytes).map_err(|error| unreadable(&error))
}

/// Reads one message.
///
/// # Errors
/// Returns an error in the same cases as [`decode`].
pub fn decode_message(raw_json: &str) -> Result<Vec<Message>, WireError> {
    serde_json::from_str(raw_json).map(|message| vec![message]).map_err(|error| unreadable(&error))
}

/// Writes a request. Nothing is dropped. Bodies in blobs remain handles.
///
/// # Errors
/// Never fails for a request that can exist. The signature matches that of the other dialects.
pub fn encode(request: &Request) -> Result<Encoded, WireError> {
    let bytes = serde_json::to_vec(request).map_err(|error| unreadable(&error))?;
    // The bytes after the last message are the same as in a request without messages.
    let rest = Request { cache: request.cache.clone(), extra: request.extra.clone(), ..Request::default() };
    let rest = serde_json::to_vec(&rest).map_err(|error| unreadable(&error))?;
    let stem = bytes.len() - rest.len() + r#"{"messages":["#.len();
    let blocks = request.messages.iter().map(|message| message.parts.len() as u64).sum();
    Ok(Encoded { bytes, stem, blocks, asked: stem, starts: Vec::new(), dropped: Vec::new() })
}
