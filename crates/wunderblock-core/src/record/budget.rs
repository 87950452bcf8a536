//! Budget of a request, and the report of what was used.

use crate::id::Handle;
use crate::record::reduction::ShownShorter;
use crate::source::section::Section;
use crate::units::{Bytes, Cost, Seq, Tokens};
use serde::{Deserialize, Serialize};

/// Source of the window size. Earlier variants take precedence over later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowSource {
    /// Declared by the caller.
    Declared,
    /// Reported by the provider, in a reply or a transcript.
    Provider,
    /// Taken from our catalog.
    Catalog,
    /// Unknown: the conservative default applies.
    Default,
}

/// Certainty of a count. Later variants are less certain.
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

/// Limits on the size of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// The model's context window, in tokens.
    pub window: Tokens,
    /// Source of the window size.
    pub window_source: WindowSource,
    /// Tokens kept free for the reply.
    pub reserve: Tokens,
    /// Tokens kept free because counts for this model are estimates.
    pub margin: Tokens,
    /// Tokens kept free for what the sending program adds to the request: its own system prompt and tools.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub added: Tokens,
    /// Maximum size of an encoded request that the provider accepts, in bytes.
    pub max_bytes: Bytes,
}

fn is_nothing(tokens: &Tokens) -> bool {
    *tokens == Tokens::ZERO
}

impl Budget {
    /// Returns the limits that apply to all sections together: window − reserve − margin − added tokens, and the byte
    /// limit.
    #[must_use]
    pub const fn limit(&self) -> Cost {
        let kept = self.window.saturating_sub(self.reserve).saturating_sub(self.margin);
        Cost { tokens: kept.saturating_sub(self.added), bytes: self.max_bytes }
    }
}

/// Form of an entry in the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Treatment {
    /// Word for word.
    Verbatim,
    /// Head and tail of a text that exceeds the window by itself, or the beginning of a preamble text that was cut.
    Clipped,
    /// Some texts in a recorded shorter form, or as a reference to the same text elsewhere in the request.
    Reduced,
    /// Large bodies each replaced by one line with a handle.
    Stub,
    /// Left out of the request.
    LeftOut,
}

impl Treatment {
    /// Returns the treatment in words.
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

/// Reason why something is not in the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// No room: everything that fits is newer.
    Budget,
    /// Left out at an earlier step. A request only grows until the next step, so the entry stays out even if it would
    /// fit now.
    Stepped,
    /// Covered by a summary.
    Summarised,
    /// Left out by a policy, because it has no content or repeats earlier text.
    Curated,
    /// Part of a turn that failed or was broken off.
    FailedTurn,
    /// Recorded alongside the conversation, and never meant for a model.
    Aside,
    /// Without content.
    Empty,
    /// Tool result whose call is unknown.
    OrphanResult,
    /// Part of an exchange that nothing follows yet and in which a call waits for its result.
    Waiting,
    /// Result of a call for which the request has another result.
    DuplicateResult,
    /// Not expressible in the target dialect.
    Dialect,
    /// Thinking without the signature that its provider requires.
    Unsigned,
    /// Thinking of a turn that is shown as a stub.
    OldThinking,
    /// Thinking that followed a different beginning than that of the request, so its provider would reject it.
    Unbound,
    /// Block that its provider would reject: malformed, or one half of a pair.
    Unsendable,
    /// Text of the operator that the request shows elsewhere, in the same or in a later version.
    Repeated,
    /// Hidden by a person or a program.
    Hidden,
    /// Erased on request.
    Erased,
}

impl Reason {
    /// Returns the reason in words.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Budget => "no room",
            Self::Stepped => "left out at a step",
            Self::Summarised => "a summary replaces it",
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
            Self::Repeated => "shown elsewhere",
            Self::Hidden => "hidden",
            Self::Erased => "erased",
        }
    }
}

/// Messages that neither the request nor a summary in it tells of, for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Uncovered {
    /// Reason why the messages were left out.
    pub reason: Reason,
    /// Number of messages.
    pub count: u64,
    /// Tokens of the messages.
    pub tokens: Tokens,
}

/// Run of entries left out of the request, with the handle that reads them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// First position of the run.
    pub from_seq: Seq,
    /// Last position of the run.
    pub to_seq: Seq,
    /// Number of entries, or of parts of entries, in the run.
    pub count: u64,
    /// Tokens of these entries.
    pub tokens: Tokens,
    /// Certainty of `tokens`: counted, or estimated from sizes.
    pub certainty: Certainty,
    /// Reason why the run was left out.
    pub reason: Reason,
    /// Position of the recorded step that left the run out; `None` if no step did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Seq>,
    /// Position that shows a [repeated](Reason::Repeated) text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown_at: Option<Seq>,
    /// Argument for `read` that returns the entries: a handle with a range of positions.
    pub handle: String,
}

impl LeftOut {
    /// Returns the reason in words, with the step, or the position that shows the text, if it is known.
    #[must_use]
    pub fn why(&self) -> String {
        match (self.step, self.shown_at) {
            (Some(step), _) => format!("left out at the step of #{step}"),
            (None, Some(seq)) => format!("shown at #{seq}"),
            (None, None) => self.reason.label().to_owned(),
        }
    }
}

/// Usage of one section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectionLine {
    /// Name of the section.
    pub name: Section,
    /// Tokens of the section.
    pub tokens: Tokens,
    /// Bytes of the section.
    pub bytes: Bytes,
    /// Number of entries in the section.
    pub entries: u64,
}

/// Usage of one entry, and its form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryLine {
    /// Position of the entry; `None` for text that no event holds, such as the mark of a gap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
    /// Section under which the entry is counted.
    pub section: Section,
    /// Form in which the entry is shown.
    pub treatment: Treatment,
    /// Tokens of the entry.
    pub tokens: Tokens,
    /// Short description of the entry.
    pub what: String,
    /// Handle of its largest body; `None` if no body has a handle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle: Option<Handle>,
    /// Parts shown in a shorter form: the form, the saving, the loss, and the handle that reads the whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reduced: Vec<ShownShorter>,
}

/// Report on one request: each token is assigned to a section and a source, and all omissions are listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetReport {
    /// The model's context window, in tokens.
    pub window: Tokens,
    /// Source of the window size.
    pub window_source: WindowSource,
    /// Tokens kept free for the reply.
    pub reserve: Tokens,
    /// Tokens kept free because counts are estimates.
    pub margin: Tokens,
    /// Tokens kept free for what the sending program adds to the request.
    #[serde(skip_serializing_if = "is_nothing")]
    pub added: Tokens,
    /// Tokens the sections may use.
    pub limit: Tokens,
    /// Tokens the sections use: the sum of `sections`.
    pub total_tokens: Tokens,
    /// Upper bound on the bytes of the request, by section and entry. The exact size is the length of the encoded
    /// body.
    pub total_bytes: Bytes,
    /// Certainty of the token counts.
    pub certainty: Certainty,
    /// Usage by section, in order; empty sections are not listed.
    pub sections: Vec<SectionLine>,
    /// Usage by entry, in the order of the request.
    pub entries: Vec<EntryLine>,
    /// Runs of entries left out of the request.
    pub left_out: Vec<LeftOut>,
}
