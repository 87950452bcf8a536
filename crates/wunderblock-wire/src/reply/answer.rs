//! A reply and its parts.

use super::fault::ReplyFault;
use crate::extra::{self, KIND};
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
            Some("end_turn" | "stop") => Self::End,
            Some("max_tokens" | "length") => Self::Length,
            Some("tool_use" | "tool_calls" | "function_call") => Self::Tools,
            Some("stop_sequence") => Self::Sequence,
            Some("refusal" | "content_filter") => Self::Refused,
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
    let kind = extra::open(extra, Dialect::OpenaiChat).ok().and_then(|opened| opened.own_word(KIND));
    matches!(kind.as_deref(), Some("refusal" | "refusal_part"))
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
