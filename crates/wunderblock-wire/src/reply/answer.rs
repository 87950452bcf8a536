//! A reply and its parts.

use super::fault::{ProviderError, ReplyFault, unreadable};
use super::sse::SseEvent;
use crate::extra::{self, KIND};
use crate::json::RawFields;
use wunderblock_core::event::UsageMeasured;
use wunderblock_core::message::{Body, Dialect, Message, Part, Role};

/// A model's reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelReply {
    /// What it says: texts, thinking, calls of tools, and what we have no word for, in order; with the provider's id, the
    /// model and the provider's word for why it stopped.
    pub message: Message,
    /// Why it stopped.
    pub stop: StopReason,
    /// The tokens it reports, for one request.
    pub usage: Option<UsageMeasured>,
    /// What is wrong with it.
    pub fault: Option<ReplyFault>,
    /// What came that is not known, in words; of many, the first [`MAX_ODD`].
    pub odd: Vec<String>,
}

/// How many things that are not known a reply names.
pub const MAX_ODD: usize = 32;

/// Why a model stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StopReason {
    /// It had said what it wanted.
    End,
    /// At the most it was allowed to write.
    Length,
    /// To have tools called.
    Tools,
    /// At a sequence it was to stop at.
    Sequence,
    /// It, or a filter behind it, would not.
    Refused,
    /// At the end of its window.
    Window,
    /// In the middle of tools that the provider runs: to go on, it is sent again.
    Paused,
    /// A word that is not known; it is in the message.
    Other,
    /// It does not say.
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
            // Gemini names what its filters found.
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
    /// Nothing but what is wrong.
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

    /// Its texts, one after the other; thinking and words of refusal are none.
    #[must_use]
    pub fn text(&self) -> String {
        let texts =
            self.message.parts.iter().filter(|part| !is_refusal(part)).filter_map(|part| match part {
                Part::Text { text: Body::Inline(text), .. } => Some(text.as_str()),
                _ => None,
            });
        texts.collect()
    }

    /// The words with which the model declined; empty where it only stopped, `None` where it did not decline.
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

/// Whether a part is what the model said when it declined.
fn is_refusal(part: &Part) -> bool {
    let Part::Text { extra, .. } = part else { return false };
    let kind = [Dialect::OpenaiChat, Dialect::OpenaiResponses]
        .into_iter()
        .find_map(|dialect| extra::open(extra, dialect).ok()?.own_word(KIND));
    matches!(kind.as_deref(), Some("refusal" | "refusal_part"))
}

/// What is known of a stream beside what its events say.
#[derive(Debug, Default)]
pub(super) struct StreamState {
    /// Nothing after it is read.
    pub(super) is_done: bool,
    /// What the provider said when it gave up.
    pub(super) refusal: Option<ProviderError>,
    broken: Option<ReplyFault>,
    /// What came that is not known.
    pub(super) odd: Vec<String>,
}

impl StreamState {
    /// The provider gives up.
    pub(super) fn refuse(&mut self, refusal: ProviderError) {
        self.refusal = Some(refusal);
        self.is_done = true;
    }

    /// The fields of an event whose kind is its `type`. `[DONE]` is another dialect's end; some servers send it in these as
    /// well.
    pub(super) fn event<'e>(&mut self, event: &'e SseEvent) -> Option<RawFields<'e>> {
        let fields = RawFields::parse(&event.data).ok();
        if fields.is_none() && event.data.trim() == "[DONE]" {
            self.is_done = true;
        } else if fields.is_none() {
            self.unreadable(|| format!("an event {} that is no JSON object", named(&event.name)));
        }
        fields
    }

    /// The fields of a chunk that is a piece of the reply, in dialects whose end is `[DONE]`.
    pub(super) fn chunk<'e>(&mut self, event: &'e SseEvent) -> Option<RawFields<'e>> {
        let data = event.data.trim();
        if data == "[DONE]" {
            self.is_done = true;
            return None;
        }
        let Ok(fields) = RawFields::parse(data) else {
            self.unreadable(|| "an event that is no JSON object".to_owned());
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

    /// Notes an event that is no JSON object.
    pub(super) fn unreadable(&mut self, what: impl FnOnce() -> String) {
        note(&mut self.odd, what);
        self.broken.get_or_insert_with(|| unreadable("an event is no JSON object"));
    }

    /// The reply: what was read of the body that the stream stands for, `missing` where it stands for none. `ended` says
    /// that the model came to an end.
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
        let fault = reply.fault.or(fault).or((!ended).then_some(ReplyFault::Cut));
        ModelReply { fault, odd: self.odd, ..reply }
    }
}

/// Notes something that is not known.
pub(super) fn note(odd: &mut Vec<String>, what: impl FnOnce() -> String) {
    if odd.len() < MAX_ODD {
        odd.push(what());
    }
}

/// A word of the provider's as it may stand in a note.
pub(super) fn named(word: &str) -> String {
    let word: String = word.chars().filter(|c| !c.is_control()).take(60).collect();
    format!("`{word}`")
}
