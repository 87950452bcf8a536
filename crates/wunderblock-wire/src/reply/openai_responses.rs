//! Replies of OpenAI Responses. Sources: the API reference, "Responses" and "Streaming events".

use super::answer::{ModelReply, StopReason, StreamState, named, note};
use super::body::opened;
use super::fault::{ProviderError, ReplyFault, unreadable};
use super::fields::GrowingObject;
use super::sse;
use crate::json::{self, ObjectWriter, RawFields, list};
use std::collections::BTreeMap;
use wunderblock_core::message::Part;

/// Reads a whole body.
pub(super) fn whole(bytes: &[u8]) -> Result<ModelReply, ReplyFault> {
    let fields = opened(bytes)?;
    let failed = ProviderError::of(&fields).map(ReplyFault::Provider);
    let Some(items) = fields.get("output").and_then(list) else {
        return Err(failed.unwrap_or_else(|| unreadable("missing `output`")));
    };
    let mut message = crate::openai_responses::decode::output(&items).map_err(unreadable)?;
    let details = fields.object("incomplete_details");
    let word = details.and_then(|details| details.text("reason")).or_else(|| fields.text("status"));
    let calls = message.parts.iter().any(|part| match part {
        Part::ToolCall { .. } => true,
        Part::Opaque { raw, .. } => raw.inline().is_some_and(crate::openai_responses::is_asked),
        _ => false,
    });
    let stop = match StopReason::of(word.as_deref()) {
        StopReason::End if calls => StopReason::Tools,
        stop => stop,
    };
    message.api_id = fields.text("id").map(String::into_boxed_str);
    message.model = fields.text("model").map(String::into_boxed_str);
    message.stop = word.map(String::into_boxed_str);
    let usage = fields.object("usage").map(|usage| {
        let details = usage.object("input_tokens_details").unwrap_or_default();
        let cache = ["cached_tokens", "cache_write_tokens"].map(|name| details.count(name));
        let (input, output) = (usage.count("input_tokens"), usage.count("output_tokens"));
        crate::openai_chat::usage(input, cache, output, &message)
    });
    Ok(ModelReply { message, stop, usage, fault: failed, odd: Vec::new() })
}

/// The response that is assembled from a stream's events.
#[derive(Debug, Default)]
pub(super) struct ResponseAssembly {
    body: GrowingObject,
    items: BTreeMap<u64, StreamedItem>,
    has_ended: bool,
}

/// An item that arrives in pieces.
#[derive(Debug, Default)]
struct StreamedItem {
    fields: GrowingObject,
    /// Whether the item arrived whole. If so, the pieces of the item are ignored.
    is_whole: bool,
    /// Texts with their types, keyed by the name of their list and their index in that list.
    texts: BTreeMap<(&'static str, u64), (&'static str, String)>,
}

impl ResponseAssembly {
    /// Takes an event. The kind of an event is the `type` in its data, which the event's name only repeats.
    pub(super) fn take(&mut self, event: &sse::SseEvent, state: &mut StreamState) {
        let Some(fields) = state.event(event) else { return };
        let kind = fields.text("type").unwrap_or_default();
        match kind.strip_prefix("response.").unwrap_or(&kind) {
            "created" | "in_progress" | "queued" => self.response(&fields),
            "completed" | "incomplete" | "failed" => {
                self.response(&fields);
                self.has_ended = true;
                state.is_done = true;
            }
            "output_item.added" => self.item(&fields, false),
            "output_item.done" => self.item(&fields, true),
            kind if kind.ends_with(".delta") => self.delta(kind, &fields, state),
            // The content of these events has already arrived in pieces, or will arrive with the whole item.
            kind if is_progress(kind) => {}
            _ => {
                if let Some(refusal) = refusal(&kind, &fields) {
                    state.refuse(refusal);
                } else {
                    note(&mut state.odd, || format!("an event of unknown kind {}", named(&kind)));
                }
            }
        }
    }

    fn response(&mut self, fields: &RawFields<'_>) {
        if let Some(response) = fields.object("response") {
            self.body.set_all(response);
        }
    }

    fn item(&mut self, fields: &RawFields<'_>, is_whole: bool) {
        let Some(new) = fields.object("item") else { return };
        let item = self.items.entry(fields.count("output_index")).or_default();
        if is_whole {
            item.fields = GrowingObject::default();
        }
        item.is_whole |= is_whole;
        item.fields.set_all(new);
    }

    fn delta(&mut self, kind: &str, fields: &RawFields<'_>, state: &mut StreamState) {
        let (list, of) = match kind {
            "output_text.delta" => ("content", "output_text"),
            "refusal.delta" => ("content", "refusal"),
            "reasoning_text.delta" => ("content", "reasoning_text"),
            "reasoning_summary_text.delta" => ("summary", "summary_text"),
            "function_call_arguments.delta" => ("arguments", ""),
            "custom_tool_call_input.delta" => ("input", ""),
            // These are pieces of the provider's own tool calls. Their items arrive whole.
            kind if kind.contains("_call") => return,
            _ => return note(&mut state.odd, || format!("a delta of unknown kind {}", named(kind))),
        };
        let Some(more) = fields.text("delta") else { return };
        let item = self.items.entry(fields.count("output_index")).or_default();
        if of.is_empty() {
            item.fields.grow(list, &more);
            return;
        }
        if item.fields.is_empty() {
            // The start of the item is missing.
            let kind = if list == "summary" || of == "reasoning_text" { "reasoning" } else { "message" };
            item.fields.replace("type", json::quote(kind));
            item.fields.replace("role", json::quote("assistant"));
        }
        let place = fields.count(if list == "summary" { "summary_index" } else { "content_index" });
        item.texts.entry((list, place)).or_insert_with(|| (of, String::new())).1.push_str(&more);
    }

    /// Returns the assembled reply.
    pub(super) fn finish(self, state: StreamState) -> ModelReply {
        let Self { mut body, items, has_ended } = self;
        let missing = "missing response in the stream";
        if body.is_empty() && items.is_empty() {
            return state.finish(None, missing, false);
        }
        if !items.is_empty() {
            let items: Vec<String> = items.into_values().map(StreamedItem::finish).collect();
            body.replace("output", json::array(&items));
        }
        let ended = has_ended || (state.is_done && state.refusal.is_none());
        state.finish(Some(whole(body.finish().as_bytes())), missing, ended)
    }
}

impl StreamedItem {
    fn finish(self) -> String {
        let Self { mut fields, is_whole, texts } = self;
        if is_whole {
            return fields.finish();
        }
        // Encrypted reasoning may be truncated until the item is whole.
        fields.remove("encrypted_content");
        for name in ["content", "summary"] {
            let pieces: Vec<String> = texts
                .iter()
                .filter(|((list, _), _)| *list == name)
                .map(|(_, (kind, text))| {
                    let field = if *kind == "refusal" { "refusal" } else { "text" };
                    ObjectWriter::typed(kind).text(field, text).finish()
                })
                .collect();
            if !pieces.is_empty() {
                fields.replace(name, json::array(&pieces));
            }
        }
        fields.finish()
    }
}

/// Returns whether an event only reports progress.
fn is_progress(kind: &str) -> bool {
    let steps = [
        ".added",
        ".done",
        ".in_progress",
        ".completed",
        ".failed",
        ".searching",
        ".interpreting",
        ".generating",
        ".compacting",
    ];
    kind == "keepalive" || steps.iter().any(|step| kind.ends_with(step)) || kind.contains("partial_image")
}

/// Returns the error that an event reports. The fields of an `error` event are at the same level as its type.
fn refusal(kind: &str, fields: &RawFields<'_>) -> Option<ProviderError> {
    ProviderError::of(fields).or_else(|| {
        let kind = fields.text("code").filter(|_| kind == "error");
        let message = fields.text("message")?;
        Some(ProviderError { kind: kind.unwrap_or_default(), message, ..ProviderError::default() })
    })
}
