//! What is recorded of compactions. Data only, since events hold it; [`crate::compact`] decides.

use crate::calibration::ModelCalibration;
use crate::id::LaneId;
use crate::message::Body;
use crate::policy::Permille;
use crate::units::{Seq, Tokens, is_default};
use serde::{Deserialize, Serialize};

/// A node of the summary graph. See [`crate::event::Fact::SessionCompacted`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCompacted {
    /// First position summarised.
    pub from_seq: Seq,
    /// Last position summarised.
    pub to_seq: Seq,
    /// The lane that adopted it; `None` for a boundary some other program set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<LaneId>,
    /// Who wrote it: `extractive`, a model, a command, some other program.
    pub producer: Box<str>,
    /// The summary, where it is known as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Body>,
    /// What set it off, in the producer's word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Box<str>>,
    /// Tokens of what it stands for, as the producer counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_before: Option<Tokens>,
    /// Its own tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_after: Option<Tokens>,
    /// 0 for a summary of events; of summaries, one more than the highest of theirs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub level: u32,
    /// The summaries it was made from, by the positions of their events, ascending; none for one of events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Seq>,
    /// The policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Box<str>>,
    /// The first 16 hexadecimal digits of BLAKE3 over the template or prompt it was made by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Box<str>>,
    /// What it should look at most, in the words of whoever asked. Never a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focus: Focus,
    /// How it came about; none where that was not recorded, or some other program made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manner: Option<Manner>,
    /// What was found when it was checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<SummaryCheck>,
    /// What was refused before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<Rejection>,
    /// What making it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<SummarySpend>,
}

impl SessionCompacted {
    /// The word in `trigger` of a summary made before the level at which it takes effect.
    pub const AHEAD: &'static str = "ahead";

    /// Whether it was made before the level at which it takes effect.
    #[must_use]
    pub fn is_ahead(&self) -> bool {
        self.level == 0 && self.trigger.as_deref() == Some(Self::AHEAD)
    }
}

impl SessionCompacted {
    /// A node of which nothing is known but its range and who made it.
    pub fn new(from_seq: Seq, to_seq: Seq, producer: impl Into<Box<str>>) -> Self {
        Self { from_seq, to_seq, producer: producer.into(), ..Self::default() }
    }
}

/// How a summary came about: lossless-claw's levels, from the best to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Manner {
    /// As it was asked for.
    Normal,
    /// By a second try that aimed lower.
    Aggressive,
    /// Mechanically, because nothing of what the summariser wrote could be taken.
    Fallback,
    /// Mechanically, and cut to its cap.
    Capped,
}

impl Manner {
    /// Its word in records.
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

/// What a person asked a summary to look at.
pub type Focus = Option<Box<str>>;

/// What was found when a summary was checked against what it stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryCheck {
    /// Which part of the paths, identifiers, numbers and quotations it names stand in its range.
    pub grounded: Permille,
    /// How many of those its range demands it has.
    pub kept: u32,
    /// How many its range demands.
    pub demanded: u32,
    /// Which part of the mechanical questions about its range it answers, itself or by a handle it shows.
    pub answered: Permille,
    /// What its range demands and it does not have, the gravest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostFact>,
    /// How many of its lines nothing in its range says; they are marked in its text.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unfound: u32,
}

/// Something a summary should say and does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostFact {
    /// What it is.
    pub kind: FactKind,
    /// Where it stands.
    pub at: Seq,
}

/// What a summary has to say, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactKind {
    /// The first request: the task.
    Request,
    /// A standing rule.
    Rule,
    /// An error that is open.
    Error,
    /// What is still to be done.
    Todo,
    /// A decision.
    Decision,
    /// What became of a file last.
    File,
    /// A name in the newest request.
    Name,
}

impl FactKind {
    /// Its words, with their article.
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
    /// Whether the task itself is lost: however much else is right, its reader does not know what for.
    #[must_use]
    pub fn is_task_lost(&self) -> bool {
        self.lost.iter().any(|lost| lost.kind == FactKind::Request)
    }
}

/// A summary that was not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// Who wrote it.
    pub producer: Box<str>,
    /// Why it was not taken.
    pub why: Box<str>,
}

/// What a model's work on a summary cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummarySpend {
    /// The model.
    pub model: Box<str>,
    /// How often it was called.
    pub calls: u32,
    /// Tokens it was given, as it reported; our count where it did not.
    pub input: Tokens,
    /// Tokens it wrote.
    pub output: Tokens,
    /// Millionths of a US dollar, by the catalog's prices; none where they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micro_dollars: Option<u64>,
}

/// What a policy did in one step of a lane. See [`crate::event::ViewTrimmed`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionOutcome {
    /// The policy.
    pub policy: Box<str>,
    /// What set it off: `soft`, `hard`, `manual`, `overflow`.
    pub level: Box<str>,
    /// That in words.
    pub trigger: Box<str>,
    /// What the request took before.
    pub tokens_before: Tokens,
    /// What it takes now.
    pub tokens_after: Tokens,
    /// The steps that were taken, in order.
    pub rungs: Vec<RungTaken>,
    /// What the summaries should look at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focus: Focus,
    /// What it was counted with: the replies that was learned from may have left the view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<ModelCalibration>,
}

// serde asks for functions that take references.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_none(tokens: &Tokens) -> bool {
    *tokens == Tokens::ZERO
}

/// A step of a ladder, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RungTaken {
    /// Its name, as in the policy.
    pub rung: Box<str>,
    /// Whether what it did was taken.
    pub taken: bool,
    /// The tokens it saved, or would have saved.
    pub saved: Tokens,
    /// The tokens it added: what has room is shown again.
    #[serde(default, skip_serializing_if = "is_none")]
    pub added: Tokens,
    /// Why it was not taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Box<str>>,
}

/// See [`crate::event::Fact::CompactionRejected`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionRejected {
    /// Which consumer's view.
    pub lane: LaneId,
    /// The policy.
    pub policy: Box<str>,
    /// What set it off.
    pub trigger: Box<str>,
    /// Why nothing was changed: `no_progress`, `vetoed`, `overtaken`, `summary_refused`.
    pub outcome: Box<str>,
    /// That in words.
    pub why: Box<str>,
    /// What the request takes.
    pub tokens: Tokens,
    /// How many in a row came to nothing, this one included if it [counts](Self::counts).
    pub round: u32,
    /// What was tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rungs: Vec<RungTaken>,
    /// Summaries that were refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<Rejection>,
    /// What was spent all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<SummarySpend>,
}

impl CompactionRejected {
    /// Whether it says that compacting the lane comes to nothing. That somebody said no, or that another was first, says
    /// nothing of it.
    #[must_use]
    pub fn counts(&self) -> bool {
        !matches!(&*self.outcome, "vetoed" | "overtaken")
    }
}

/// See [`crate::event::Fact::CompactionUndone`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionUndone {
    /// Which consumer's view.
    pub lane: LaneId,
    /// The position of the `view.trimmed` that recorded the compaction.
    pub compaction: Seq,
}
