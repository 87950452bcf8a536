//! A model's reply, and the state of a stream that is being read.

use super::fault::{ProviderError, ReplyFault, unreadable};
use super::sse::SseEvent;
use crate::extra::{self, KIND};
use crate::json::RawFields;
use wunderblock_core::event::UsageMeasured;
use wunderblock_core::message::{Body, Dialect, Message, Part, Role};

/// A model's reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelReply {
    /// Content in order: texts, thinking, tool calls, and parts without a neutral form. Also holds the provider's id,
    /// the model, and the provider's name for the stop reason.
    pub message: Message,
    /// Reason why the model stopped.
    pub stop: StopReason,
    /// Tokens that the provider reports for the request.
    pub usage: Option<UsageMeasured>,
    /// Fault of the reply. If there is a fault, the message holds everything that came before it.
    pub fault: Option<ReplyFault>,
    /// Descriptions of unknown content, at most [`MAX_ODD`].
    pub odd: Vec<String>,
}

/// Maximum number of unknown things that a reply describes.
pub const MAX_ODD: usize = 32;

/// Reason why a model stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StopReason {
    /// The answer was complete.
    End,
    /// The answer reached its maximum length.
    Length,
    /// The model wants tools to be called.
    Tools,
    /// The model wrote one of the request's stop sequences.
    Sequence,
    /// The model or a filter declined to answer.
    Refused,
    /// The context window was full.
    Window,
    /// The provider is still running its own tools. To continue, callers send the reply back.
    Paused,
    /// The reason is unknown. The message holds the provider's name for this reason.
    Other,
    /// The provider gave no reason.
    #[default]
    Unknown,
}

impl StopReason {
    pub(super) fn of(word: Option<&str>) -> Self {
        match word {
            None => Self::Unknown,
            Some("end_turn" | "stop" | "completed" | "STOP") => Self::End,
            Some("max_tokens" | "length" | "max_output_tokens" | "MAX_TOKENS") => Self::Length,
            Some("tool_use" | "tool_calls" | "function_call") => Self::Tools,
            Some("stop_sequence") => Self::Sequence,
            Some("refusal" | "content_filter") => Self::Refused,
            // Gemini gives a separate reason for each of its filters.
            Some(
                "SAFETY"
                | "RECITATION"
                | "LANGUAGE"
                | "BLOCKLIST"
                | "PROHIBITED_CONTENT"
                | "SPII"
                | "IMAGE_SAFETY"
                | "IMAGE_PROHIBITED_CONTENT"
                | "IMAGE_RECITATION"
                | "MODEL_ARMOR",
            ) => Self::Refused,
            Some("model_context_window_exceeded") => Self::Window,
            Some("pause_turn") => Self::Paused,
            Some(_) => Self::Other,
        }
    }
}

impl ModelReply {
    /// Creates a reply that consists of a fault only.
    #[must_use]
    pub fn fault(fault: ReplyFault) -> Self {
        Self {
            message: Message::new(Role::Assistant, Vec::new()),
            stop: StopReason::Unknown,
            usage: None,
            fault: Some(fault),
            odd: Vec::new(),
        }
    }

    /// Returns the joined texts of the reply, without thinking and refusals.
    #[must_use]
    pub fn text(&self) -> String {
        let texts =
            self.message.parts.iter().filter(|part| !is_refusal(part)).filter_map(|part| match part {
                Part::Text { text: Body::Inline(text), .. } => Some(text.as_str()),
                _ => None,
            });
        texts.collect()
    }

    /// Returns the text with which the model declined. Returns `None` if the model did not decline. The text is empty
    /// if only the stop reason shows the refusal.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        let words: String = self
            .message
            .parts
            .iter()
            .filter(|part| is_refusal(part))
            .flat_map(Part::bodies)
            .filter_map(Body::inline)
            .collect();
        (self.stop == StopReason::Refused || !words.is_empty()).then_some(words)
    }
}

/// Returns whether a part is the text of a refusal.
fn is_refusal(part: &Part) -> bool {
    let Part::Text { extra, .. } = part else { return false };
    let kind = [Dialect::OpenaiChat, Dialect::OpenaiResponses]
        .into_iter()
        .find_map(|dialect| extra::open(extra, dialect).ok()?.own_word(KIND));
    matches!(kind.as_deref(), Some("refusal" | "refusal_part"))
}

/// State of a stream, apart from the content that its events carry.
#[derive(Debug, Default)]
pub(super) struct StreamState {
    /// Whether the stream has ended. Later events are ignored.
    pub(super) is_done: bool,
    /// Error that the provider sent when it gave up.
    pub(super) refusal: Option<ProviderError>,
    broken: Option<ReplyFault>,
    /// Descriptions of unknown events.
    pub(super) odd: Vec<String>,
}

impl StreamState {
    /// Records the provider's error and ends the stream.
    pub(super) fn refuse(&mut self, refusal: ProviderError) {
        self.refusal = Some(refusal);
        self.is_done = true;
    }

    /// Returns the fields of an event whose kind is its `type`. `[DONE]` also ends the stream, because some servers
    /// send this end marker of another dialect.
    pub(super) fn event<'e>(&mut self, event: &'e SseEvent) -> Option<RawFields<'e>> {
        let fields = RawFields::parse(&event.data).ok();
        if fields.is_none() && event.data.trim() == "[DONE]" {
            self.is_done = true;
        } else if fields.is_none() {
            self.unreadable(|| format!("an event {} that is not a JSON object", named(&event.name)));
        }
        fields
    }

    /// Returns the fields of a chunk of the reply, in dialects that end with `[DONE]`.
    pub(super) fn chunk<'e>(&mut self, event: &'e SseEvent) -> Option<RawFields<'e>> {
        let data = event.data.trim();
        if data == "[DONE]" {
            self.is_done = true;
            return None;
        }
        let Ok(fields) = RawFields::parse(data) else {
            self.unreadable(|| "an event that is not a JSON object".to_owned());
            return None;
        };
        match ProviderError::of(&fields) {
            Some(refusal) => {
                self.refuse(refusal);
                None
            }
            None => Some(fields),
        }
    }

    /// Records an event that is not a JSON object.
    pub(super) fn unreadable(&mut self, what: impl FnOnce() -> String) {
        note(&mut self.odd, what);
        self.broken.get_or_insert_with(|| unreadable("an event is not a JSON object"));
    }

    /// Returns the reply. `read` is the result of reading the assembled body. If there was no body, `missing`
    /// describes the problem. `ended` indicates whether the model finished.
    pub(super) fn finish(
        self,
        read: Option<Result<ModelReply, ReplyFault>>,
        missing: &str,
        ended: bool,
    ) -> ModelReply {
        let fault = self.refusal.map(ReplyFault::Provider).or(self.broken);
        let Some(read) = read else {
            let fault = fault.unwrap_or_else(|| unreadable(missing));
            return ModelReply { odd: self.odd, ..ModelReply::fault(fault) };
        };
        let reply = read.unwrap_or_else(ModelReply::fault);
        // A fault of the body takes precedence over a fault of the stream, and a missing end counts only if there is
        // no other fault.
        let fault = reply.fault.or(fault).or((!ended).then_some(ReplyFault::Cut));
        ModelReply { fault, odd: self.odd, ..reply }
    }
}

/// Adds a description of something unknown, up to the limit.
pub(super) fn note(odd: &mut Vec<String>, what: impl FnOnce() -> String) {
    if odd.len() < MAX_ODD {
        odd.push(what());
    }
}

/// Quotes a name from the provider for a description, without control characters and at most 60 characters long.
pub(super) fn named(word: &str) -> String {
    let word: String = word.chars().filter(|c| !c.is_control()).take(60).collect();
    format!("`{word}`")
}
