//! Ids made from the content of a conversation.
//!
//! The id of a message is a hash of the message and of all messages before it, so equal ids mean equal conversations.
//! Only content that every client repeats counts. A client may drop reasoning, spaces at the end of a reply, ids of
//! calls and cache marks; it may write a text as a string or as a list of blocks, and a call's input with other
//! spaces.

use super::seen::hash;
use serde_json::Value;
use wunderblock_core::message::{Body, Message, Part};

/// Returns the id as text.
pub(in crate::transcript) fn name(id: u64) -> Box<str> {
    format!("{id:016x}").into()
}

/// Returns the id of the conversation that `messages` continue. `before` is the id of the conversation before them,
/// or 0. `unread` is the text of content that has no neutral form, otherwise it is empty.
pub(in crate::transcript) fn next(before: u64, messages: &[Message], unread: &str) -> u64 {
    let mut texts = vec![String::from(name(before)), unread.to_owned()];
    for message in messages {
        texts.push(format!("{:?}", message.role));
        message.parts.iter().for_each(|part| add(part, &mut texts));
    }
    hash(texts.iter().map(String::as_str))
}

fn add(part: &Part, texts: &mut Vec<String>) {
    match part {
        Part::Text { text, .. } => {
            let text = inline(text).trim_end();
            if !text.is_empty() {
                texts.extend(["text".to_owned(), text.to_owned()]);
            }
        }
        Part::Thinking { .. } => {}
        Part::ToolCall { name, input, .. } => {
            texts.extend(["call".to_owned(), name.to_string(), settled(inline(input))]);
        }
        Part::ToolResult { content, .. } => {
            texts.push("result".to_owned());
            content.iter().for_each(|part| add(part, texts));
            texts.push("end".to_owned());
        }
        Part::Media { body, .. } => texts.extend(["media".to_owned(), inline(body).to_owned()]),
        Part::Opaque { raw, .. } => texts.extend(["opaque".to_owned(), settled(inline(raw))]),
    }
}

fn inline(body: &Body) -> &str {
    body.inline().unwrap_or_default()
}

/// Returns JSON without cache marks and without differences in spacing, escapes and the order of keys.
fn settled(text: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    if let Value::Object(fields) = &mut value {
        fields.remove("cache_control");
    }
    value.sort_all_objects();
    value.to_string()
}
