//! Replies of Gemini. Sources: its API reference, "Generating content" and "GenerateContentResponse".
//!
//! Each event of a stream is a complete body that holds only the new content.

use super::answer::{ModelReply, StopReason, StreamState, named, note};
use super::body::{only, opened};
use super::fault::{ProviderError, ReplyFault, unreadable};
use super::fields::GrowingObject;
use super::sse;
use crate::json::{self, ObjectWriter, RawFields, list, text};
use serde_json::value::RawValue;
use wunderblock_core::message::{Message, Part, Role};

/// Reads a whole body, or the list of bodies that a stream becomes if no events were requested.
pub(super) fn whole(bytes: &[u8]) -> Result<ModelReply, ReplyFault> {
    let Some(bodies) = json::document(bytes).ok().and_then(list) else { return single(bytes) };
    let (mut assembly, mut state) = (ContentAssembly::default(), StreamState::default());
    for body in bodies {
        let data = body.get().to_owned();
        assembly.take(&sse::SseEvent { data, ..sse::SseEvent::default() }, &mut state);
    }
    Ok(assembly.finish(state))
}

fn single(bytes: &[u8]) -> Result<ModelReply, ReplyFault> {
    let fields = opened(bytes)?;
    let candidates = fields.get("candidates").and_then(list).unwrap_or_default();
    let blocked = fields.object("promptFeedback").and_then(|feedback| feedback.text("blockReason"));
    let candidate = candidates.first().and_then(|raw| RawFields::of(raw));
    if candidate.is_none() && blocked.is_none() {
        let refusal = ProviderError::of(&fields);
        return Err(refusal.map_or_else(|| unreadable("missing `candidates`"), ReplyFault::Provider));
    }
    let candidate = candidate.unwrap_or_default();
    // The content of a candidate that was stopped may be missing or have no parts.
    let content = candidate.object("content").filter(|content| content.get("parts").is_some());
    let mut message = match candidate.get("content").filter(|_| content.is_some()) {
        Some(raw) => said(raw)?,
        None => Message::new(Role::Assistant, Vec::new()),
    };
    let word = candidate.text("finishReason").or(blocked.clone());
    let calls = message.parts.iter().any(|part| matches!(part, Part::ToolCall { .. }));
    let stop = match StopReason::of(word.as_deref()) {
        _ if blocked.is_some() => StopReason::Refused,
        StopReason::End if calls => StopReason::Tools,
        stop => stop,
    };
    message.api_id = fields.text("responseId").map(String::into_boxed_str);
    message.model = fields.text("modelVersion").map(String::into_boxed_str);
    message.stop = word.map(String::into_boxed_str);
    let usage = fields.object("usageMetadata").map(|usage| crate::gemini::usage(&usage, &message));
    let mut odd = Vec::new();
    if candidates.len() > 1 {
        note(&mut odd, || format!("{} candidates, of which the first counts", candidates.len()));
    }
    Ok(ModelReply { message, stop, usage, fault: None, odd })
}

/// Reads the model's message. In a reply, a content without a role is the model's.
fn said(raw: &RawValue) -> Result<Message, ReplyFault> {
    let fields = RawFields::of(raw).unwrap_or_default();
    let content = ObjectWriter::default().text("role", "model");
    let fields = fields.rest();
    let content = content.unknown(fields.iter().map(|(name, raw)| (name.as_str(), raw.get()))).finish();
    only(crate::gemini::decode::single(&content).map_err(unreadable)?)
}

/// The body that is assembled from a stream's pieces.
#[derive(Debug, Default)]
pub(super) struct ContentAssembly {
    body: GrowingObject,
    candidate: GrowingObject,
    parts: Vec<StreamedPart>,
    has_candidate: bool,
    has_stopped: bool,
}

/// A complete part, or a text that may grow.
#[derive(Debug)]
enum StreamedPart {
    Text { text: String, is_thought: bool },
    Whole(String),
}

impl ContentAssembly {
    /// Takes one event.
    pub(super) fn take(&mut self, event: &sse::SseEvent, state: &mut StreamState) {
        let Some(mut fields) = state.chunk(event) else { return };
        let candidates = fields.take("candidates").and_then(list);
        if candidates.is_none() && fields.get("usageMetadata").or(fields.get("promptFeedback")).is_none() {
            let names = fields.names().next().unwrap_or_default().to_owned();
            return note(&mut state.odd, || format!("an event with {}", named(&names)));
        }
        let blocked = fields.object("promptFeedback").and_then(|feedback| feedback.text("blockReason"));
        self.has_stopped |= blocked.is_some();
        self.body.set_all(fields);
        for candidate in candidates.unwrap_or_default().into_iter().filter_map(RawFields::of) {
            self.candidate(candidate, &mut state.odd);
        }
    }

    fn candidate(&mut self, mut candidate: RawFields<'_>, odd: &mut Vec<String>) {
        let index = candidate.get("index").map_or("0", RawValue::get);
        if index != "0" {
            return note(odd, || format!("a piece of candidate {}", named(index)));
        }
        self.has_candidate = true;
        self.has_stopped |= candidate.text("finishReason").is_some();
        let content = candidate.take("content").and_then(RawFields::of).unwrap_or_default();
        self.candidate.set_all(candidate);
        for raw in content.get("parts").and_then(list).unwrap_or_default() {
            self.part(raw);
        }
    }

    /// Adds a part. A text joins the text before it, unless it has other fields: a signature stays with its part.
    fn part(&mut self, raw: &RawValue) {
        let fields = RawFields::of(raw).unwrap_or_default();
        let is_thought = fields.get("thought").is_some_and(|raw| raw.get() == "true");
        let plain = fields.get("text").and_then(text).filter(|_| fields.len() == 1 + usize::from(is_thought));
        match (plain, self.parts.last_mut()) {
            (Some(more), Some(StreamedPart::Text { text, is_thought: before })) if *before == is_thought => {
                text.push_str(&more);
            }
            (Some(text), _) if text.is_empty() => {}
            (Some(text), _) => self.parts.push(StreamedPart::Text { text, is_thought }),
            (None, _) => self.parts.push(StreamedPart::Whole(raw.get().to_owned())),
        }
    }

    /// Returns the assembled reply.
    pub(super) fn finish(self, state: StreamState) -> ModelReply {
        let Self { mut body, mut candidate, parts, has_candidate, has_stopped } = self;
        let missing = "missing candidate in the stream";
        if !has_candidate && !has_stopped {
            return state.finish(None, missing, false);
        }
        if has_candidate {
            let parts: Vec<String> = parts.into_iter().map(StreamedPart::finish).collect();
            let content = ObjectWriter::default().raw("parts", &json::array(&parts)).text("role", "model");
            candidate.replace("content", content.finish());
            body.replace("candidates", json::array(&[candidate.finish()]));
        }
        let ended = has_stopped || state.is_done;
        state.finish(Some(single(body.finish().as_bytes())), missing, ended)
    }
}

impl StreamedPart {
    fn finish(self) -> String {
        match self {
            Self::Whole(raw) => raw,
            Self::Text { text, is_thought } => {
                let object = ObjectWriter::default().text("text", &text);
                if is_thought { object.raw("thought", "true").finish() } else { object.finish() }
            }
        }
    }
}
