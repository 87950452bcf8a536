//! Reading a whole body.

use super::fault::{ReplyFault, unreadable};
use crate::json;
use wunderblock_core::message::Message;

/// The one message of a reply.
pub(super) fn only(messages: Vec<Message>) -> Result<Message, ReplyFault> {
    messages.into_iter().next().ok_or_else(|| unreadable("no message in it"))
}

/// A document's fields.
pub(super) fn opened(bytes: &[u8]) -> Result<json::RawFields<'_>, ReplyFault> {
    let document = json::document(bytes).map_err(unreadable)?;
    json::RawFields::of(document).ok_or_else(|| unreadable("it is no object"))
}
