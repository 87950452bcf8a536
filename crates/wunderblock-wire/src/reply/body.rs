//! Helpers for reading a whole body.

use super::fault::{ReplyFault, unreadable};
use crate::json;
use wunderblock_core::message::Message;

/// Returns the single message of a reply.
pub(super) fn only(messages: Vec<Message>) -> Result<Message, ReplyFault> {
    messages.into_iter().next().ok_or_else(|| unreadable("missing message"))
}

/// Returns the fields of a document that is an object.
pub(super) fn opened(bytes: &[u8]) -> Result<json::RawFields<'_>, ReplyFault> {
    let document = json::document(bytes).map_err(unreadable)?;
    json::RawFields::of(document).ok_or_else(|| unreadable("expected a JSON object"))
}
