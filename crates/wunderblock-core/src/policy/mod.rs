//! Compaction policies: when to compact, what to protect, which steps to take, and the form of summaries. A policy is
//! data read from TOML, and makes no decision itself: [`crate::compact`] reads it. Pinned entries, the user's newest
//! request, open calls and the operator's words stay under any policy.

mod check;
mod limits;
mod optional;
mod permille;
mod protect;
mod reduce;
mod step;
mod template;
mod trigger;

pub use check::{PolicyFault, Severity};
pub use limits::{CompactionLimits, Meanwhile};
pub use optional::Optional;
pub use permille::Permille;
pub use protect::{CutPoint, Protect, Split};
pub use reduce::{FLOOR as REDUCE_FLOOR, KindName, LEAST as REDUCE_LEAST, Reduce, ReductionLevel};
pub use step::{Action, Division, DropOrder, chunk_tokens};
pub use template::{Fill, Summary, SummaryFormat, Template, TemplateSection};
pub use trigger::{Boundary, FractionBase, TriggerLevel, Triggers};

use crate::units::Tokens;
use serde::{Deserialize, Serialize};

/// A compaction policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Name of the policy.
    pub name: Box<str>,
    /// Description of the policy, in one sentence.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub about: Box<str>,
    /// Conditions under which the policy compacts.
    #[serde(default)]
    pub trigger: Triggers,
    /// Content that no step touches.
    #[serde(default)]
    pub protect: Protect,
    /// Places at which the kept part may begin.
    #[serde(default)]
    pub split: Split,
    /// Tool output that enters requests in a shorter form.
    #[serde(default)]
    pub reduce: Reduce,
    /// Steps, cheapest first. If these steps are not enough, the plan is the deterministic last resort.
    #[serde(default, rename = "step", skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Action>,
    /// Form of the summaries, and who writes them.
    #[serde(default)]
    pub summary: Summary,
    /// Limits at which the policy stops trying.
    #[serde(default)]
    pub limits: CompactionLimits,
}

/// Sizes that decide when summaries are archived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchiveSizes {
    /// No summary is archived while the summaries together take no more than this number of tokens.
    pub above: Tokens,
    /// Maximum number of tokens in the newest summaries, which are not archived.
    pub keep: Tokens,
    /// Maximum number of tokens in the catalogue.
    pub catalogue: Tokens,
}

impl Policy {
    /// Returns the policy that never compacts. Content that does not fit is left out by the plan alone.
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

    /// Returns whether the policy never compacts, not even on request.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns whether the policy divides a conversation by tasks.
    #[must_use]
    pub fn goes_by_tasks(&self) -> bool {
        self.steps.iter().any(|action| matches!(action, Action::Summarise { by: Division::Task, .. }))
    }

    /// Returns the number of tokens in a chunk for a given window; `None` if no chunks are summarised before the
    /// level is reached.
    #[must_use]
    pub fn chunk_ahead(&self, window: Tokens) -> Option<Tokens> {
        self.steps.iter().find_map(|action| match *action {
            Action::Summarise { ahead: true, chunk, chunk_share, .. } => {
                [chunk, chunk_share.of(window)].into_iter().filter_map(Optional::get).min()
            }
            _ => None,
        })
    }

    /// Returns the sizes of the policy's archive, if it has one. `whole` is the number of tokens to which the
    /// archive's fractions refer.
    #[must_use]
    pub fn archive(&self, whole: Tokens) -> Option<ArchiveSizes> {
        self.steps.iter().find_map(|action| match *action {
            Action::Archive { above, above_tokens, keep, keep_tokens, catalogue_tokens, .. } => {
                let (above, keep) = (above_tokens.cap(above.of(whole)), keep_tokens.cap(keep.of(whole)));
                Some(ArchiveSizes { above, keep, catalogue: catalogue_tokens.min(above) })
            }
            _ => None,
        })
    }

    /// Returns whether the policy's summaries of messages are catalogues.
    #[must_use]
    pub fn catalogues(&self) -> bool {
        self.steps.iter().any(|action| matches!(action, Action::Summarise { catalogue: true, .. }))
    }

    /// Returns whether everything that leaves a request is covered by a summary. A policy whose product drops all but a
    /// number of messages leaves a mark of them, as the product does.
    #[must_use]
    pub fn covers(&self) -> bool {
        let keeps = |action: &Action| matches!(action, Action::Drop { keep, .. } if keep.get().is_some());
        !self.is_off() && !self.steps.iter().any(keeps)
    }

    /// Returns whether the policy makes summaries.
    #[must_use]
    pub fn summarises(&self) -> bool {
        self.steps.iter().any(|action| {
            matches!(action, Action::Summarise { .. } | Action::Condense { .. } | Action::Archive { .. })
        })
    }
}
