//! Messages of claude.ai. A reply is one message with blocks, among them the calls of tools and their results.

use super::{ChatExport, injected};
use crate::transcript::parsing::blocks::Blocks;
use crate::transcript::parsing::object::Object;
use crate::transcript::parsing::time;
use crate::transcript::record::TranscriptRecord;
use serde_json::value::RawValue;
use wunderblock_core::message::{Dialect, Message, Part, Role};

/// Blocks that only the display of claude.ai needs.
const DISPLAY: [&str; 2] = ["token_budget", "flag"];

impl ChatExport {
    /// Reads a message of a conversation.
    pub(super) fn chat_message(&mut self, record: &mut TranscriptRecord, said: &Object<'_>, id: &str) {
        record.at = time::field(said, "created_at");
        let role = match said.text("sender").as_deref() {
            Some("human") => Role::User,
            Some("assistant") => Role::Assistant,
            _ => return record.set_opaque("a message of claude.ai without a known sender"),
        };
        record.kind = if role == Role::User { "human".into() } else { "assistant".into() };
        attached(record, said);
        let model = said.word("model").or_else(|| self.model.clone()).filter(|_| role == Role::Assistant);
        let mut blocks = Blocks::new(Dialect::Neutral, &mut self.pairing, id);
        let mut messages: Vec<(Role, Vec<Part>)> = Vec::new();
        for block in said.array("content").unwrap_or_default() {
            for part in parts_of(&mut blocks, block) {
                let speaker = if matches!(part, Part::ToolResult { .. }) { Role::Tool } else { role };
                match messages.last_mut().filter(|(last, _)| *last == speaker) {
                    Some((_, parts)) => parts.push(part),
                    None => messages.push((speaker, vec![part])),
                }
            }
        }
        if messages.is_empty() {
            let text = said.word("text");
            messages.extend(text.map(|text| (role, vec![Part::text(String::from(text))])));
        }
        let mut replies = 0;
        for (speaker, parts) in messages {
            let mut message = Message::new(speaker, parts);
            if speaker == Role::Assistant {
                message.api_id =
                    Some(if replies == 0 { id.into() } else { format!("{id}/{replies}").into() });
                message.model.clone_from(&model);
                replies += 1;
            }
            record.say(message);
        }
    }
}

/// Returns the parts of a block. Empty texts are not parts.
fn parts_of(blocks: &mut Blocks<'_>, block: &RawValue) -> Vec<Part> {
    let object = Object::of(block).unwrap_or_default();
    let kind = object.text("type").unwrap_or_default();
    if DISPLAY.contains(&&*kind) {
        return Vec::new();
    }
    if kind == "voice_note" {
        return object.word("text").map(|text| Part::text(String::from(text))).into_iter().collect();
    }
    let mut parts = blocks.content(Some(block));
    for part in &mut parts {
        if let Part::ToolResult { content, .. } = part {
            content.iter_mut().for_each(name_source);
        }
    }
    parts.retain(|part| !matches!(part, Part::Text { text, .. } if text.bytes().0 == 0));
    parts
}

/// Turns a block of a result that names a source, as those of searches do, into its text.
fn name_source(part: &mut Part) {
    let Part::Opaque { raw, .. } = &*part else { return };
    let text = raw.inline().and_then(|raw| {
        let block = Object::parse(raw).ok()?;
        let texts: Vec<Box<str>> =
            ["title", "url", "text"].iter().filter_map(|key| block.word(key)).collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    });
    if let Some(text) = text {
        *part = Part::text(text);
    }
}

/// Adds the texts of attachments and the names of files. The person attached them, but did not type them.
fn attached(record: &mut TranscriptRecord, said: &Object<'_>) {
    for key in ["attachments", "files"] {
        for file in said.array(key).unwrap_or_default().into_iter().filter_map(Object::of) {
            let name = file.word("file_name").or_else(|| file.word("file_uuid")).unwrap_or_default();
            let text = match file.word("extracted_content") {
                Some(text) => format!("⟨attached file {name}⟩\n{text}"),
                None => format!("⟨attached file {name}⟩"),
            };
            record.say(injected(text, "attachment"));
        }
    }
}
