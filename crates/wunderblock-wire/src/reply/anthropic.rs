//! Replies of Anthropic Messages. Sources: the API reference and its page "Streaming messages".

use super::answer::{ModelReply, StopReason, StreamState, named, note};
use super::body::{only, opened};
use super::fault::{ProviderError, ReplyFault, unreadable};
use super::fields::GrowingObject;
use super::sse;
use crate::anthropic::USAGE;
use crate::json::{self, RawFields};
use std::collections::BTreeMap;
use wunderblock_core::event::UsageMeasured;
use wunderblock_core::message::Message;

/// Reads a whole body.
pub(super) fn whole(bytes: &[u8]) -> Result<ModelReply, ReplyFault> {
    let fields = opened(bytes)?;
    if fields.text("type").as_deref() == Some("error") || fields.get("content").is_none() {
        return Err(
            ProviderError::of(&fields).map_or_else(|| unreadable("missing `content`"), ReplyFault::Provider)
        );
    }
    let text = std::str::from_utf8(bytes).map_err(unreadable)?;
    let message = only(crate::anthropic::decode::single(text).map_err(unreadable)?)?;
    let word = fields.text("stop_reason");
    let usage = fields.object("usage");
    let usage = usage.map(|usage| UsageMeasured::of(&message, USAGE.map(|name| usage.count(name))));
    let stop = StopReason::of(word.as_deref());
    let message = Message { stop: word.map(String::into_boxed_str), ..message };
    Ok(ModelReply { message, stop, usage, fault: None, odd: Vec::new() })
}

/// The message that is assembled from a stream's events.
#[derive(Debug, Default)]
pub(super) struct MessageAssembly {
    message: GrowingObject,
    usage: GrowingObject,
    blocks: BTreeMap<u64, StreamedBlock>,
    has_stopped: bool,
}

#[derive(Debug, Default)]
struct StreamedBlock {
    fields: GrowingObject,
    /// The part of a call's input that has arrived in pieces.
    input: String,
}

impl MessageAssembly {
    /// Takes an event. The kind of an event is the `type` in its data, which the event's name only repeats.
    pub(super) fn take(&mut self, event: &sse::SseEvent, state: &mut StreamState) {
        let Some(fields) = state.event(event) else { return };
        match fields.text("type").as_deref() {
            Some("message_start") => self.start(&fields),
            Some("content_block_start") => self.block(&fields),
            Some("content_block_delta") => self.delta(&fields, &mut state.odd),
            Some("message_delta") => self.end(&fields),
            Some("message_stop") => state.is_done = true,
            Some("content_block_stop" | "ping") => {}
            kind => {
                if let Some(refusal) = ProviderError::of(&fields) {
                    state.refuse(refusal);
                } else {
                    let kind = kind.unwrap_or_default();
                    note(&mut state.odd, || format!("an event of unknown kind {}", named(kind)));
                }
            }
        }
    }

    fn start(&mut self, fields: &RawFields<'_>) {
        let Some(mut message) = fields.object("message") else { return };
        if let Some(usage) = message.object("usage") {
            self.usage.set_all(usage);
        }
        // Normally this list is empty. Some servers send blocks in this list, and those blocks are part of the reply.
        let begun = message.get("content").and_then(json::list).unwrap_or_default();
        for (at, raw) in (0..).zip(begun) {
            self.blocks.entry(at).or_default().fields.set_all(RawFields::of(raw).unwrap_or_default());
        }
        if let Some(content) = message.take("content") {
            // Sets the field now to fix its position in the object. The final content replaces this value.
            self.message.set("content", content);
        }
        self.message.set_all(message);
    }

    fn block(&mut self, fields: &RawFields<'_>) {
        let at = index(fields);
        let Some(block) = fields.object("content_block") else { return };
        self.blocks.entry(at).or_default().fields.set_all(block);
    }

    fn delta(&mut self, fields: &RawFields<'_>, odd: &mut Vec<String>) {
        let Some(delta) = fields.object("delta") else { return };
        let kind = delta.text("type").unwrap_or_default();
        let (name, of) = match kind.as_str() {
            "text_delta" => ("text", "text"),
            "thinking_delta" => ("thinking", "thinking"),
            "signature_delta" => ("signature", "thinking"),
            "input_json_delta" => ("partial_json", "tool_use"),
            "citations_delta" => ("citation", "text"),
            _ => return note(odd, || format!("a delta of unknown kind {}", named(&kind))),
        };
        let block = self.blocks.entry(index(fields)).or_default();
        if block.fields.is_empty() {
            // The start of the block is missing or comes later.
            block.fields.replace("type", json::quote(of));
        }
        if kind == "citations_delta" {
            if let Some(citation) = delta.get(name) {
                block.fields.add("citations", citation.get());
            }
            return;
        }
        let Some(more) = delta.text(name) else { return };
        if kind == "input_json_delta" {
            block.input.push_str(&more);
        } else {
            block.fields.grow(name, &more);
        }
    }

    fn end(&mut self, fields: &RawFields<'_>) {
        if let Some(delta) = fields.object("delta") {
            self.has_stopped |= delta.text("stop_reason").is_some();
            self.message.set_all(delta);
        }
        // These counts cover the whole reply, so they replace the earlier ones.
        if let Some(usage) = fields.object("usage") {
            self.usage.set_all(usage);
        }
    }

    /// Returns the assembled reply.
    pub(super) fn finish(self, mut state: StreamState) -> ModelReply {
        let Self { mut message, usage, blocks, has_stopped } = self;
        let missing = "missing message in the stream";
        if message.is_empty() && blocks.is_empty() {
            return state.finish(None, missing, false);
        }
        let blocks: Vec<String> = blocks.into_values().map(|block| block.finish(&mut state.odd)).collect();
        message.replace("content", json::array(&blocks));
        message.replace("role", json::quote("assistant"));
        message.replace("type", json::quote("message"));
        if !usage.is_empty() {
            message.replace("usage", usage.finish());
        }
        let ended = has_stopped || (state.is_done && state.refusal.is_none());
        state.finish(Some(whole(message.finish().as_bytes())), missing, ended)
    }
}

impl StreamedBlock {
    fn finish(self, odd: &mut Vec<String>) -> String {
        let Self { mut fields, input } = self;
        if !input.is_empty() {
            let json = match json::raw(&input) {
                Ok(raw) => raw.get().to_owned(),
                Err(_) => {
                    note(odd, || "the input of a call is not JSON".to_owned());
                    json::quote(&input)
                }
            };
            fields.replace("input", json);
        }
        fields.finish()
    }
}

fn index(fields: &RawFields<'_>) -> u64 {
    fields.count("index")
}
