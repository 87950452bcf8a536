//! Records of compactions. This module contains only data, since events hold it; [`crate::compact`] makes the
//! decisions.

use crate::id::LaneId;
use crate::policy::Permille;
use crate::record::calibration::ModelCalibration;
use crate::record::message::Body;
use crate::units::{Seq, Tokens, is_default};
use serde::{Deserialize, Serialize};

/// Node of the summary graph. See [`crate::record::event::Fact::SessionCompacted`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCompacted {
    /// First position summarised.
    pub from_seq: Seq,
    /// Last position summarised.
    pub to_seq: Seq,
    /// Lane that adopted the node; `None` for a boundary that another program set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<LaneId>,
    /// Producer of the summary: `extractive`, a model, a command, or another program.
    pub producer: Box<str>,
    /// The summary, if it is known as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Body>,
    /// Items that the summary consists of, for a summary of summaries; `None` if our extractor did not write the text.
    /// No request, search or account shows them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Body>,
    /// Cause, in the producer's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Box<str>>,
    /// Tokens in the content that the node covers, as the producer counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_before: Option<Tokens>,
    /// Tokens in the summary itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_after: Option<Tokens>,
    /// Level: 0 for a summary of events, otherwise one more than the highest level of its sources.
    #[serde(default, skip_serializing_if = "is_default")]
    pub level: u32,
    /// Summaries from which the node was made, by the positions of their events, ascending; empty for a summary of
    /// events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Seq>,
    /// Name of the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Box<str>>,
    /// First 16 hexadecimal digits of the BLAKE3 hash of the template or prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Box<str>>,
    /// Topic to focus on, in the caller's words. Never a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focus: Focus,
    /// Manner in which the summary was made; `None` if it was not recorded, or another program made the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manner: Option<Manner>,
    /// Result of the check of the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<SummaryCheck>,
    /// Summaries that were rejected before this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<Rejection>,
    /// Cost of making the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<SummarySpend>,
}

impl SessionCompacted {
    /// Value of `trigger` for a summary made before the level at which it takes effect.
    pub const AHEAD: &'static str = "ahead";

    /// Returns whether the summary was made before the level at which it takes effect.
    #[must_use]
    pub fn is_ahead(&self) -> bool {
        self.level == 0 && self.trigger.as_deref() == Some(Self::AHEAD)
    }
}

impl SessionCompacted {
    /// Creates a node of which only the range and the producer are known.
    pub fn new(from_seq: Seq, to_seq: Seq, producer: impl Into<Box<str>>) -> Self {
        Self { from_seq, to_seq, producer: producer.into(), ..Self::default() }
    }
}

/// Manner in which a summary was made: the levels of lossless-claw, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Manner {
    /// As requested.
    Normal,
    /// By a second attempt with a lower target.
    Aggressive,
    /// Mechanically, because no text of the summariser was acceptable.
    Fallback,
    /// Mechanically, and cut to the maximum length.
    Capped,
}

impl Manner {
    /// Returns the word used in records.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Aggressive => "aggressive",
            Self::Fallback => "fallback",
            Self::Capped => "capped",
        }
    }
}

/// Topic that a person asked a summary to focus on.
pub type Focus = Option<Box<str>>;

/// Result of checking a summary against the content it covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryCheck {
    /// Fraction of the paths, identifiers, numbers and quotations in the summary that occur in its range.
    pub grounded: Permille,
    /// Number of demanded facts that the summary states.
    pub kept: u32,
    /// Number of facts that its range demands.
    pub demanded: u32,
    /// Fraction of mechanical questions about its range that the summary answers, directly or through a handle that
    /// it shows.
    pub answered: Permille,
    /// Demanded facts that the summary lacks, the most serious first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostFact>,
    /// Number of lines that nothing in the range supports. These lines are marked in the text of the summary.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unfound: u32,
}

/// A fact that a summary should state but does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostFact {
    /// Kind of the fact.
    pub kind: FactKind,
    /// Position of the fact.
    pub at: Seq,
}

/// Kinds of facts that a summary must state, the most serious first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactKind {
    /// The first request, which is the task.
    Request,
    /// A standing rule.
    Rule,
    /// An open error.
    Error,
    /// Work still to be done.
    Todo,
    /// A decision.
    Decision,
    /// The last state of a file.
    File,
    /// A name in the newest request.
    Name,
}

impl FactKind {
    /// Returns the kind in words, with an article.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Request => "the first request",
            Self::Rule => "a rule",
            Self::Error => "an open error",
            Self::Todo => "an open task",
            Self::Decision => "a decision",
            Self::File => "a file",
            Self::Name => "a name",
        }
    }
}

impl SummaryCheck {
    /// Returns whether the task itself is lost. Without the task, a reader does not know the purpose of the rest.
    #[must_use]
    pub fn is_task_lost(&self) -> bool {
        self.lost.iter().any(|lost| lost.kind == FactKind::Request)
    }
}

/// A rejected summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// Producer of the summary.
    pub producer: Box<str>,
    /// Reason for the rejection.
    pub why: Box<str>,
}

/// Cost of a model's work on a summary.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummarySpend {
    /// Name of the model.
    pub model: Box<str>,
    /// Number of calls.
    pub calls: u32,
    /// Input tokens as the model reported them; our count if it reported none.
    pub input: Tokens,
    /// Output tokens.
    pub output: Tokens,
    /// Price in millionths of a US dollar, from the catalog; `None` if the price is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micro_dollars: Option<u64>,
}

/// Changes that a policy made in one step of a lane. See [`crate::record::event::ViewTrimmed`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionOutcome {
    /// Name of the policy.
    pub policy: Box<str>,
    /// Urgency of the compaction (`soft`, `hard`, `overflow`, `cold`, `manual`), or `sweep`.
    pub level: Box<str>,
    /// Cause, in words.
    pub trigger: Box<str>,
    /// Tokens in the request before the step.
    pub tokens_before: Tokens,
    /// Tokens in the request after the step.
    pub tokens_after: Tokens,
    /// Rungs of the ladder that were tried, in order.
    pub rungs: Vec<RungTaken>,
    /// Topic that the summaries should focus on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focus: Focus,
    /// Calibration of the counts, recorded because the replies it was learned from may have left the view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<ModelCalibration>,
}

// serde requires functions that take references.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_none(tokens: &Tokens) -> bool {
    *tokens == Tokens::ZERO
}

/// A rung of a ladder that was tried, with its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RungTaken {
    /// Name of the rung, as in the policy.
    pub rung: Box<str>,
    /// Whether the result of the rung was taken.
    pub taken: bool,
    /// Tokens that the rung saved, or would have saved.
    pub saved: Tokens,
    /// Tokens that the rung added by showing again content that fits.
    #[serde(default, skip_serializing_if = "is_none")]
    pub added: Tokens,
    /// Reason why the result was not taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Box<str>>,
}

/// Fields of [`crate::record::event::Fact::CompactionRejected`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionRejected {
    /// Lane that was to be compacted.
    pub lane: LaneId,
    /// Name of the policy.
    pub policy: Box<str>,
    /// Cause of the compaction.
    pub trigger: Box<str>,
    /// Reason why nothing was changed: `no_progress`, `vetoed`, `overtaken`, `summary_refused`.
    pub outcome: Box<str>,
    /// The reason in words.
    pub why: Box<str>,
    /// Tokens of the request.
    pub tokens: Tokens,
    /// Number of consecutive compactions without a result, including this one if it [counts](Self::counts).
    pub round: u32,
    /// Rungs of the ladder that were tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rungs: Vec<RungTaken>,
    /// Summaries that were rejected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<Rejection>,
    /// Cost of the summaries that were not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<SummarySpend>,
}

impl CompactionRejected {
    /// Returns whether the outcome shows that compacting the lane is futile. A veto, or a competing compaction that
    /// finished first, does not show that compacting the lane is futile.
    #[must_use]
    pub fn counts(&self) -> bool {
        !matches!(&*self.outcome, "vetoed" | "overtaken")
    }
}

/// Fields of [`crate::record::event::Fact::CompactionUndone`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionUndone {
    /// Lane whose compaction was undone.
    pub lane: LaneId,
    /// Position of the `view.trimmed` event that recorded the compaction.
    pub compaction: Seq,
}
