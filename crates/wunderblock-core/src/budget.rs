//! How much fits, and the account of what was used.

use crate::id::Handle;
use crate::reduction::ShownShorter;
use crate::section::Section;
use crate::units::{Bytes, Cost, Seq, Tokens};
use serde::{Deserialize, Serialize};

/// Who said how large the window is. Earlier beats later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowSource {
    /// The caller.
    Declared,
    /// The provider, in an answer or a transcript.
    Provider,
    /// Our catalog.
    Catalog,
    /// Nobody: the conservative default.
    Default,
}

/// How sure a count is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// Counted with the model's own vocabulary.
    Exact,
    /// Taken from a provider's usage record.
    Measured,
    /// Scaled from another vocabulary by factors checked against recorded usage.
    Estimated,
    /// Scaled by factors that no recorded usage has confirmed.
    Unverified,
}

/// What a request may take up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// The model's context window.
    pub window: Tokens,
    /// Who said so.
    pub window_source: WindowSource,
    /// Kept free for the answer.
    pub reserve: Tokens,
    /// Kept free because counts of this model are estimates.
    pub margin: Tokens,
    /// Kept free for what the program that sends the request adds to it: its own system prompt and tools.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub added: Tokens,
    /// The largest encoded request the provider takes.
    pub max_bytes: Bytes,
}

fn is_nothing(tokens: &Tokens) -> bool {
    *tokens == Tokens::ZERO
}

impl Budget {
    /// What sections may use: window − reserve − margin − what is added, and the byte limit.
    #[must_use]
    pub const fn limit(&self) -> Cost {
        let kept = self.window.saturating_sub(self.reserve).saturating_sub(self.margin);
        Cost { tokens: kept.saturating_sub(self.added), bytes: self.max_bytes }
    }
}

/// In which form an entry is in the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Treatment {
    /// Word for word.
    Verbatim,
    /// Head and tail of a text that alone exceeds the window; flagged.
    Clipped,
    /// Some of its texts in a shorter form that is recorded, or as a reference to where they stand.
    Reduced,
    /// Large bodies replaced by one line with a handle.
    Stub,
    /// Not there.
    LeftOut,
}

impl Treatment {
    /// Its word.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Verbatim => "verbatim",
            Self::Clipped => "clipped",
            Self::Reduced => "shortened",
            Self::Stub => "stub",
            Self::LeftOut => "left out",
        }
    }
}

/// Why something is not in the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// No room: older than everything that fits.
    Budget,
    /// It went at an earlier step, and a request only grows until the next. It may have room now.
    Stepped,
    /// A summary stands for it.
    Summarised,
    /// A policy left it out: it says nothing, or says again what was said.
    Curated,
    /// The turn failed or was broken off.
    FailedTurn,
    /// Recorded beside the conversation, never meant for a model.
    Aside,
    /// Nothing in it.
    Empty,
    /// A tool result whose call is not known.
    OrphanResult,
    /// A call in it waits for its result, and nothing has come after it.
    Waiting,
    /// Another result for the same call is in the request.
    DuplicateResult,
    /// The target dialect has no form for it.
    Dialect,
    /// Thinking without the signature its provider demands.
    Unsigned,
    /// Thinking of a turn that is shown as a stub.
    OldThinking,
    /// Thinking that was written behind another beginning than the request has: its provider refuses it there.
    Unbound,
    /// A block that its provider would refuse: of a broken shape, or one half of a pair.
    Unsendable,
    /// A person or program hid it.
    Hidden,
    /// Erased on request.
    Erased,
}

impl Reason {
    /// In words.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Budget => "no room",
            Self::Stepped => "left out at a step",
            Self::Summarised => "a summary stands for it",
            Self::Curated => "left out by the policy",
            Self::FailedTurn => "a failed turn",
            Self::Aside => "beside the conversation",
            Self::Empty => "nothing in it",
            Self::OrphanResult => "a result without a call",
            Self::Waiting => "waits for a result",
            Self::DuplicateResult => "a second result for a call",
            Self::Dialect => "the format has no place for it",
            Self::Unsigned => "thinking without a signature",
            Self::OldThinking => "thinking of an old turn",
            Self::Unbound => "thinking out of its place",
            Self::Unsendable => "the provider would refuse it",
            Self::Hidden => "hidden",
            Self::Erased => "erased",
        }
    }
}

/// A run of entries that are not in the request, and how to read them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// First position of the run.
    pub from_seq: Seq,
    /// Last position of the run.
    pub to_seq: Seq,
    /// How many entries (or parts of entries) it is.
    pub count: u64,
    /// Their tokens.
    pub tokens: Tokens,
    /// Whether `tokens` is counted or estimated from sizes.
    pub certainty: Certainty,
    /// Why.
    pub reason: Reason,
    /// Where the step is recorded that left them out, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Seq>,
    /// What `read` takes to give them back: a handle, with a range of positions.
    pub handle: String,
}

impl LeftOut {
    /// Why, in words.
    #[must_use]
    pub fn why(&self) -> String {
        match self.step {
            Some(step) => format!("left out at the step of #{step}"),
            None => self.reason.label().to_owned(),
        }
    }
}

/// What one section takes up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectionLine {
    /// The section.
    pub name: Section,
    /// Its tokens.
    pub tokens: Tokens,
    /// Its bytes.
    pub bytes: Bytes,
    /// How many entries it holds.
    pub entries: u64,
}

/// What one entry takes up, and as what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryLine {
    /// Its position; none for text that no event holds, such as the mark of a gap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
    /// Where it is.
    pub section: Section,
    /// In which form.
    pub treatment: Treatment,
    /// Its tokens.
    pub tokens: Tokens,
    /// In a few words.
    pub what: String,
    /// The handle of its largest body, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle: Option<Handle>,
    /// The parts of it that are shown shorter: as what, how much shorter, what was lost, and what reads the whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reduced: Vec<ShownShorter>,
}

/// The account of one request: every token belongs to a section and a source, and what is missing is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetReport {
    /// The model's window.
    pub window: Tokens,
    /// Who said so.
    pub window_source: WindowSource,
    /// Kept free for the answer.
    pub reserve: Tokens,
    /// Kept free because counts are estimates.
    pub margin: Tokens,
    /// Kept free for what the program that sends the request adds to it.
    #[serde(skip_serializing_if = "is_nothing")]
    pub added: Tokens,
    /// What the sections may use.
    pub limit: Tokens,
    /// What they use. Equal to the sum of `sections`.
    pub total_tokens: Tokens,
    /// The request's maximum size, by section and entry; the exact one is the length of its body.
    pub total_bytes: Bytes,
    /// How sure the token counts are.
    pub certainty: Certainty,
    /// By section, in order; empty sections are not listed.
    pub sections: Vec<SectionLine>,
    /// By entry, in the order of the request.
    pub entries: Vec<EntryLine>,
    /// What is not there.
    pub left_out: Vec<LeftOut>,
}
