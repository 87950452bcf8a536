//! Delegation: work that a session handed to a delegate, and what became of it.

pub mod fold;
pub mod link;

use wunderblock_core::delegate::model::{ModelTable, NameReason};
use wunderblock_core::event::SubagentOutcome;
use wunderblock_core::id::{CallId, StreamId};
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};

/// Maximum number of bytes of a task or a result in a [`Delegation`].
const TEXT_MAX: usize = 1 << 10;

/// Work that a session handed to a delegate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delegation {
    /// Position of the call, or of the report of the start or the end.
    pub at: Seq,
    /// Time of the event at that position.
    pub began: Millis,
    /// Call of a tool by which the delegate was started, if it is known.
    pub call: Option<CallId>,
    /// Type of the delegate, if it is known.
    pub agent: Option<Box<str>>,
    /// Model that was asked for, as written.
    pub asked: Option<Box<str>>,
    /// Model that `route.chosen` recorded for the delegate.
    pub chosen: Option<Box<str>>,
    /// Model of the reply that made the call.
    pub parent_model: Option<Box<str>>,
    /// Task of the delegate.
    pub prompt: Option<DelegateText>,
    /// How the delegate's context was made, if it is known.
    pub mode: Option<Box<str>>,
    /// Session of the delegate, if it is known. The ledger may lack it.
    pub session: Option<StreamId>,
    /// What became of the work.
    pub outcome: DelegationOutcome,
    /// Result of the work.
    pub result: Option<DelegateText>,
    /// Model that did the work, as the parent's session reports it.
    pub model: Option<Box<str>>,
    /// Tokens that the work took, as reported.
    pub tokens: Option<Tokens>,
    /// Duration of the work in milliseconds, as reported.
    pub millis: Option<u64>,
}

/// What became of the work of a delegate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DelegationOutcome {
    /// Neither a result nor an end was recorded, and the parent's session is open.
    #[default]
    InFlight,
    /// The delegate finished its work.
    Done,
    /// An error ended the work.
    Failed,
    /// The user or the parent ended the work.
    Stopped,
    /// The parent's session ended first, or does not report what became of the work.
    Unknown,
}

impl DelegationOutcome {
    /// Returns the outcome in words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::InFlight => "in flight",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::Unknown => "unknown",
        }
    }
}

impl From<SubagentOutcome> for DelegationOutcome {
    fn from(outcome: SubagentOutcome) -> Self {
        match outcome {
            SubagentOutcome::Done => Self::Done,
            SubagentOutcome::Failed => Self::Failed,
            SubagentOutcome::Stopped => Self::Stopped,
        }
    }
}

/// Beginning of a text, and the address at which the whole text can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DelegateText {
    /// Beginning of the text, at most 1 KiB.
    pub text: String,
    /// Length of the whole text.
    pub bytes: Bytes,
    /// Address of the event that contains the text.
    pub address: String,
}

impl DelegateText {
    /// Cuts a text to the length that a delegation holds. `address` is the place of the whole text.
    #[must_use]
    pub fn new(text: &str, address: String) -> Self {
        let head = text.get(..text.floor_char_boundary(TEXT_MAX)).unwrap_or_default();
        Self { text: head.to_owned(), bytes: Bytes(text.len() as u64), address }
    }
}

/// Difference between the model that a delegate should have had and the one that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelMismatch {
    /// Model that was asked for, as written, or that the route had chosen.
    pub expected: Box<str>,
    /// Whether a recorded route had chosen the model.
    pub is_routed: bool,
    /// Model that answered.
    pub answered: Box<str>,
}

impl Delegation {
    /// Returns the mismatch between the chosen or requested model and the one that answered. `None` if they agree, and
    /// if nothing can be said: nobody named a model, the name is unknown, or no reply names its model.
    #[must_use]
    pub fn mismatch(&self, answered: Option<&str>, models: &ModelTable) -> Option<ModelMismatch> {
        let answered = answered.or(self.model.as_deref())?;
        let of = |expected: &str, is_routed| ModelMismatch {
            expected: expected.into(),
            is_routed,
            answered: answered.into(),
        };
        if let Some(chosen) = &self.chosen {
            return (!is_same(chosen, answered)).then(|| of(chosen, true));
        }
        let asked = self.asked.as_deref()?;
        let named = models.named(asked, self.parent_model.as_deref().unwrap_or_default())?;
        let agrees = match named.why {
            NameReason::SameFamily | NameReason::Newest => {
                let family = models.family_of(answered)?;
                models.family_of(&named.id).is_none_or(|wanted| wanted.name == family.name)
            }
            // Any other word is an id, or an alias that only its agent knows.
            _ if models.family_of(&named.id).is_none() => return None,
            _ => is_same(&named.id, answered),
        };
        (!agrees).then(|| of(asked, false))
    }
}

/// Returns whether two ids mean the same version of a model. Providers add regions before an id, and dates after it.
fn is_same(a: &str, b: &str) -> bool {
    let plain = |id: &str| id.to_lowercase().split('[').next().unwrap_or_default().replace('@', "-");
    let (a, b) = (plain(a), plain(b));
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let Some((before, after)) = long.split_once(&short).filter(|_| !short.is_empty()) else { return false };
    let digits = after.trim_start_matches('-').chars().take_while(char::is_ascii_digit).count();
    let is_dated = digits >= 6 || after.is_empty() || after.starts_with("-v") || after.starts_with("-latest");
    (before.is_empty() || before.ends_with(['.', '/'])) && is_dated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_one_version_are_the_same_at_every_provider() {
        let same = [
            ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929"),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5-20250929"),
            ("anthropic/claude-sonnet-4-5", "claude-sonnet-4-5"),
            ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5-20250929"),
            ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5"),
        ];
        let differ =
            [("claude-opus-4", "claude-opus-4-5"), ("gpt-5", "gpt-5-mini"), ("", "gpt-5"), ("a-b", "xa-b")];
        assert!(same.iter().all(|(a, b)| is_same(a, b) && is_same(b, a)));
        assert!(differ.iter().all(|(a, b)| !is_same(a, b) && !is_same(b, a)));
    }
}
