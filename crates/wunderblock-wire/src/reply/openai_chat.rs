//! Replies of OpenAI chat completions and of compatible servers. Sources: the API reference, "Chat completions" and
//! "Streaming".

use super::answer::{ModelReply, StopReason, StreamState, named, note};
use super::body::{only, opened};
use super::fault::{ProviderError, ReplyFault, unreadable};
use super::fields::GrowingObject;
use super::sse;
use crate::json::{self, RawFields, is_null, list};
use serde_json::value::RawValue;
use std::collections::HashMap;

/// Reads a whole body.
pub(super) fn whole(bytes: &[u8]) -> Result<ModelReply, ReplyFault> {
    let fields = opened(bytes)?;
    let choices = fields.get("choices").and_then(list).unwrap_or_default();
    let Some(choice) = choices.first().and_then(|raw| RawFields::of(raw)) else {
        return Err(
            ProviderError::of(&fields).map_or_else(|| unreadable("missing `choices`"), ReplyFault::Provider)
        );
    };
    let raw = choice.get("message").ok_or_else(|| unreadable("missing `message` of a choice"))?;
    let mut message = only(crate::openai_chat::decode::single(raw.get()).map_err(unreadable)?)?;
    let word = choice.text("finish_reason");
    let stop = StopReason::of(word.as_deref());
    message.api_id = fields.text("id").map(String::into_boxed_str);
    message.model = fields.text("model").map(String::into_boxed_str);
    message.stop = word.map(String::into_boxed_str);
    let usage = fields.object("usage").map(|usage| {
        let details = usage.object("prompt_tokens_details").unwrap_or_default();
        let cache = ["cached_tokens", "cache_write_tokens"].map(|name| details.count(name));
        let (prompt, answer) = (usage.count("prompt_tokens"), usage.count("completion_tokens"));
        crate::openai_chat::usage(prompt, cache, answer, &message)
    });
    let mut odd = Vec::new();
    if choices.len() > 1 {
        note(&mut odd, || format!("{} choices, of which the first counts", choices.len()));
    }
    Ok(ModelReply { message, stop, usage, fault: None, odd })
}

/// The body that is assembled from a stream's chunks.
#[derive(Debug, Default)]
pub(super) struct CompletionAssembly {
    body: GrowingObject,
    message: GrowingObject,
    calls: Vec<StreamedCall>,
    /// Latest call for each index.
    by_index: HashMap<u64, usize>,
    /// Latest call of each id.
    by_id: HashMap<String, usize>,
    legacy: Option<StreamedCall>,
    reason: Option<String>,
    has_choice: bool,
}

/// A call that arrives in pieces.
#[derive(Debug, Default)]
struct StreamedCall {
    index: Option<u64>,
    has_id: bool,
    fields: GrowingObject,
    inner: GrowingObject,
}

impl CompletionAssembly {
    /// Takes a chunk.
    pub(super) fn take(&mut self, event: &sse::SseEvent, state: &mut StreamState) {
        let Some(mut fields) = state.chunk(event) else { return };
        let Some(choices) = fields.take("choices").and_then(list) else {
            let kind = fields.text("object").unwrap_or_default();
            return note(&mut state.odd, || format!("an event of unknown kind {}", named(&kind)));
        };
        // These fields are equal in all chunks, except for the usage, which only the last chunk has.
        self.body.set_all(fields);
        for choice in choices.into_iter().filter_map(RawFields::of) {
            self.choice(&choice, &mut state.odd);
        }
    }

    fn choice(&mut self, choice: &RawFields<'_>, odd: &mut Vec<String>) {
        let index = choice.get("index").map_or("0", RawValue::get);
        if index != "0" {
            return note(odd, || format!("a piece of choice {}", named(index)));
        }
        self.has_choice = true;
        if let Some(reason) = choice.text("finish_reason") {
            self.reason = Some(reason);
        }
        // A server that sends everything in one chunk may give the field the name that it has in a whole reply.
        let delta = choice.get("delta").or_else(|| choice.get("message"));
        let Some(mut delta) = delta.and_then(RawFields::of) else { return };
        for raw in delta.take("tool_calls").and_then(list).unwrap_or_default() {
            if let Some(call) = RawFields::of(raw) {
                self.call(call);
            }
        }
        if let Some(call) = delta.take("function_call").and_then(RawFields::of) {
            self.legacy.get_or_insert_default().named(call);
        }
        for (name, raw) in delta.rest() {
            match json::text(raw) {
                Some(more) if name != "role" => self.message.grow(&name, &more),
                _ => self.message.set(&name, raw),
            }
        }
    }

    /// Adds a piece of a call. The piece belongs to the call with the same index, unless the piece has another id,
    /// because some servers give all calls the same index or none.
    fn call(&mut self, mut fields: RawFields<'_>) {
        let index = fields.take("index").and_then(|raw| raw.get().parse::<u64>().ok());
        let id = fields.text("id").filter(|id| !id.is_empty());
        let at = self.place(index, id);
        let Some(call) = self.calls.get_mut(at) else { return };
        for kind in ["function", "custom"] {
            if let Some(inner) = fields.take(kind).filter(|raw| !is_null(raw)).and_then(RawFields::of) {
                call.named(inner);
            }
        }
        for (name, raw) in fields.rest() {
            if json::text(raw).as_deref() != Some("") {
                call.fields.set(&name, raw);
            }
        }
    }

    fn place(&mut self, index: Option<u64>, id: Option<String>) -> usize {
        let newest = match index {
            Some(index) => self.by_index.get(&index).copied(),
            None => self.calls.len().checked_sub(1),
        };
        let agrees = |at: &usize| {
            index.is_none()
                || self.calls.get(*at).is_some_and(|call| call.index.is_none() || call.index == index)
        };
        let nameless = |at: &usize| self.calls.get(*at).is_some_and(|call| !call.has_id);
        let found = match &id {
            // An id selects the call with that id, unless the indexes differ. Otherwise, the id selects the latest
            // call, if that call has no id yet.
            Some(id) => self.by_id.get(id).copied().filter(agrees).or(newest.filter(nameless)),
            None => newest,
        };
        let at = found.unwrap_or(self.calls.len());
        if found.is_none() {
            self.calls.push(StreamedCall { index, ..StreamedCall::default() });
        }
        if let Some(call) = self.calls.get_mut(at) {
            call.has_id |= id.is_some();
        }
        self.by_index.extend(index.map(|index| (index, at)));
        self.by_id.extend(id.map(|id| (id, at)));
        at
    }

    /// Returns the assembled reply.
    pub(super) fn finish(self, state: StreamState) -> ModelReply {
        let Self { mut body, mut message, calls, legacy, reason, has_choice, .. } = self;
        let missing = "missing choice in the stream";
        if !has_choice {
            return state.finish(None, missing, false);
        }
        if !calls.is_empty() {
            let calls: Vec<String> = calls.into_iter().map(StreamedCall::finish).collect();
            message.replace("tool_calls", json::array(&calls));
        }
        if let Some(call) = legacy {
            message.replace("function_call", call.inner.finish());
        }
        message.replace("role", json::quote("assistant"));
        let ended = reason.is_some() || state.is_done;
        let reason = reason.map_or_else(|| "null".to_owned(), |reason| json::quote(&reason));
        let choice =
            json::ObjectWriter::default().raw("message", &message.finish()).raw("finish_reason", &reason);
        body.replace("choices", json::array(&[choice.finish()]));
        state.finish(Some(whole(body.finish().as_bytes())), missing, ended)
    }
}

impl StreamedCall {
    /// Adds name and arguments. A name always arrives whole, and some servers send it with each piece.
    fn named(&mut self, inner: RawFields<'_>) {
        for (name, raw) in inner.rest() {
            match (name.as_str(), json::text(raw)) {
                ("arguments" | "input", Some(more)) => self.inner.grow(&name, &more),
                ("arguments" | "input", None) if !is_null(raw) => self.inner.grow(&name, raw.get()),
                (_, Some(text)) if text.is_empty() => {}
                _ => self.inner.set(&name, raw),
            }
        }
    }

    fn finish(self) -> String {
        let Self { mut fields, inner, .. } = self;
        let kind = fields.text("type").unwrap_or_else(|| "function".to_owned());
        fields.replace("type", json::quote(&kind));
        if inner.text("name").is_none() {
            // A call without a name cannot be built, so its pieces stay unchanged.
            fields.replace("function", inner.finish());
        } else {
            fields.replace(&kind, inner.finish());
        }
        fields.finish()
    }
}
