//! Compaction policies: when, what is protected, in which steps, into which form. Data, read from TOML; it decides nothing
//! by itself. [`crate::compact`] reads it, and the engine disposes: pinned entries, the user's newest request, open
//! calls and the operator's words stay under any policy.

mod check;
mod limits;
mod permille;
mod protect;
mod reduce;
mod step;
mod template;
mod trigger;

pub use check::{PolicyFault, Severity};
pub use limits::{CompactionLimits, Meanwhile};
pub use permille::Permille;
pub use protect::{CutPoint, Protect, Split};
pub use reduce::{FLOOR as REDUCE_FLOOR, LEAST as REDUCE_LEAST, Reduce, ReductionLevel, TextKind};
pub use step::{Action, Division, DropOrder, chunk_tokens};
pub use template::{Fill, Summary, SummaryFormat, Template, TemplateSection};
pub use trigger::{Boundary, FractionBase, TriggerLevel, Triggers};

use crate::units::Tokens;
use serde::{Deserialize, Serialize};

/// A policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// What it is called.
    pub name: Box<str>,
    /// What it does, in a sentence.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub about: Box<str>,
    /// When it compacts.
    #[serde(default)]
    pub trigger: Triggers,
    /// What no step touches.
    #[serde(default)]
    pub protect: Protect,
    /// Where what is kept may begin.
    #[serde(default)]
    pub split: Split,
    /// Which output of tools enters shorter in the first place.
    #[serde(default)]
    pub reduce: Reduce,
    /// What it does, cheapest first. The deterministic last resort follows by itself.
    #[serde(default, rename = "step", skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Action>,
    /// What its summaries look like, and who writes them.
    #[serde(default)]
    pub summary: Summary,
    /// When it stops trying.
    #[serde(default)]
    pub limits: CompactionLimits,
}

/// When summaries are archived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchiveSizes {
    /// While the summaries together take no more than this, none is archived.
    pub above: Tokens,
    /// The newest stay, up to this.
    pub keep: Tokens,
    /// Maximum of the catalogue.
    pub catalogue: Tokens,
}

impl Policy {
    /// The policy that never compacts: what does not fit is left out by the plan alone.
    #[must_use]
    pub fn never() -> Self {
        Self {
            name: "off".into(),
            about: "never compacts; what does not fit is left out, oldest first".into(),
            trigger: Triggers::default(),
            protect: Protect::default(),
            split: Split::default(),
            reduce: Reduce::default(),
            steps: Vec::new(),
            summary: Summary::default(),
            limits: CompactionLimits::default(),
        }
    }

    /// Whether it never compacts by itself nor when asked.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether it divides a conversation by tasks.
    #[must_use]
    pub fn goes_by_tasks(&self) -> bool {
        self.steps.iter().any(|action| matches!(action, Action::Summarise { by: Division::Task, .. }))
    }

    /// Tokens of a chunk in a window, where chunks are summarised before the level.
    #[must_use]
    pub fn chunk_ahead(&self, window: Tokens) -> Option<Tokens> {
        self.steps.iter().find_map(|action| match *action {
            Action::Summarise { ahead: true, chunk, chunk_share, .. } => {
                Some(match (chunk, chunk_share.of(window)) {
                    (chunk, Tokens::ZERO) => chunk,
                    (Tokens::ZERO, share) => share,
                    (chunk, share) => chunk.min(share),
                })
            }
            _ => None,
        })
    }

    /// Sizes of its archive, where it has one; `whole` is what parts are parts of.
    #[must_use]
    pub fn archive(&self, whole: Tokens) -> Option<ArchiveSizes> {
        let part = |part: Permille, most: Tokens| match (part.of(whole), most) {
            (part, Tokens::ZERO) => part,
            (part, most) => part.min(most),
        };
        self.steps.iter().find_map(|action| match *action {
            Action::Archive { above, above_tokens, keep, keep_tokens, catalogue_tokens, .. } => {
                let (above, keep) = (part(above, above_tokens), part(keep, keep_tokens));
                Some(ArchiveSizes { above, keep, catalogue: catalogue_tokens.min(above) })
            }
            _ => None,
        })
    }

    /// Whether its summaries of messages are catalogues.
    #[must_use]
    pub fn catalogues(&self) -> bool {
        self.steps.iter().any(|action| matches!(action, Action::Summarise { catalogue: true, .. }))
    }

    /// Whether it makes summaries.
    #[must_use]
    pub fn summarises(&self) -> bool {
        self.steps.iter().any(|action| {
            matches!(action, Action::Summarise { .. } | Action::Condense { .. } | Action::Archive { .. })
        })
    }
}
