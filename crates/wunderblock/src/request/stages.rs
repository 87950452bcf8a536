//! Results of the stages of a build. Each result owns the previous one, or the parts of it that are needed, so no
//! stage can be skipped.

use super::decision::Decision;
use super::measured;
use super::packer::Packer;
use crate::base::error::Error;
use crate::ledger::texts::Texts;
use crate::request::input::snapshot::Snapshot;
use crate::request::input::target::Target;
use crate::request::named::AskedFor;
use crate::request::named::unasked::UnaskedRecall;
use crate::rules::catalog::{Catalog, ModelRow};
use crate::rules::token_costs::TokenCosts;
use std::collections::BTreeMap;
use std::sync::Arc;
use wunderblock_core::budget::Budget;
use wunderblock_core::calibration::ModelCalibration;
use wunderblock_core::compose::{Composed, Offer};
use wunderblock_core::decision::Injection;
use wunderblock_core::event::{LaneTarget, NewEvent};
use wunderblock_core::id::{Handle, LaneId};
use wunderblock_core::plan::{Fixed, PlanInput, PlanRefusal};
use wunderblock_core::render;
use wunderblock_core::units::{Cost, Seq, Tokens};
use wunderblock_core::usage::{Anchor, Calibration, Overhead};
use wunderblock_core::view::View;
use wunderblock_store::{BodyCount, TallyRow};

/// Result of loading: a lane with all that its window can hold, and the target of its next request.
pub(crate) struct Loaded {
    pub(crate) snapshot: Snapshot,
    pub(crate) target: Target,
    /// Whether the lane begins again because it was last built for another model or window.
    pub(crate) resizes: bool,
}

/// Result of weighing: a cost model that knows every body of the view.
pub(crate) struct Weighed {
    pub(crate) snapshot: Snapshot,
    pub(crate) target: Target,
    pub(crate) costs: TokenCosts,
    /// Factor applied to our token counts.
    pub(crate) calibration: Option<Calibration>,
    /// Number of tokens that the session's own agent program added to its requests.
    pub(crate) overhead: Option<Overhead>,
    /// New counts of bodies that had no stored count.
    pub(crate) fresh: Vec<(Handle, BodyCount)>,
    /// See [`Loaded::resizes`].
    pub(crate) resizes: bool,
}

impl Weighed {
    /// Returns the latest size of the context by the provider's count, plus our estimate of later entries.
    pub(crate) fn anchor(&self, catalog: &Catalog) -> Option<Anchor> {
        measured::anchor(&self.snapshot, catalog, &self.target.model, &self.costs)
    }
}

/// Events that make a lane begin again, or that shorten texts. These events have been applied to the view, but have
/// not been recorded yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShorterTexts {
    /// Head of the ledger on which the events are based.
    pub(crate) through: Seq,
    /// Epoch of the snapshot from which the events were made.
    pub(crate) epoch: u64,
    /// Events to be appended, with full texts.
    pub(crate) events: Vec<NewEvent>,
}

impl ShorterTexts {
    pub(crate) fn of(head: Seq, epoch: u64, decision: Decision) -> Self {
        match decision.events.is_empty() {
            true => Self::default(),
            false => Self { through: head, epoch, events: decision.events },
        }
    }
}

/// Result of shortening: texts that are shown in a shorter form from this request on.
pub(crate) struct Shortened {
    pub(crate) lane: Weighed,
    pub(crate) shorter: ShorterTexts,
    /// Loaded texts that stay unchanged, and new texts.
    pub(crate) texts: Texts,
}

/// Result of gathering: candidates for recall, and the offer of the sources.
pub(crate) struct Gathered {
    pub(crate) lane: Weighed,
    pub(crate) shorter: ShorterTexts,
    pub(crate) texts: Texts,
    /// Candidates for recall, best first.
    pub(crate) hits: Vec<Injection>,
    pub(crate) offer: Offer,
    /// State of the work to be injected.
    pub(crate) state: Vec<Injection>,
    pub(crate) packer: Packer,
}

/// Result of planning: which sources take effect, and which entries are shown in which form.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) snapshot: Snapshot,
    pub(crate) target: Target,
    pub(crate) costs: TokenCosts,
    pub(crate) calibration: Option<Calibration>,
    pub(crate) overhead: Option<Overhead>,
    pub(crate) anchor: Option<Anchor>,
    pub(crate) fresh: Vec<(Handle, BodyCount)>,
    /// Shortened texts. The events of the shortened texts come first among the decision's events.
    pub(crate) shorter: ShorterTexts,
    pub(crate) composed: Composed,
    pub(crate) decision: Decision,
    pub(crate) texts: Texts,
    /// Texts that the newest turn asks for, once they have been looked for.
    pub(crate) asked: Vec<AskedFor>,
    /// What was recalled without being asked for, if something was searched for.
    pub(crate) unasked: Option<UnaskedRecall>,
}

impl Planned {
    /// Returns the latest ledger position on which the plan is based.
    pub(crate) fn through(&self) -> Seq {
        if self.shorter.events.is_empty() { self.snapshot.view.head() } else { self.shorter.through }
    }
}

/// Result of rendering.
pub(crate) struct Rendered {
    pub(crate) planned: Planned,
    pub(crate) rendered: render::RenderedRequest,
    pub(crate) tallies: BTreeMap<Seq, TallyRow>,
    /// Total cost of the request.
    pub(crate) total: Cost,
}

/// Reason why a build made no request.
pub(crate) enum Stopped {
    /// Even the smallest request exceeds the budget. The shortened texts are still valid.
    Refused { lane: LaneId, refusal: Box<PlanRefusal>, shorter: ShorterTexts },
    /// The build failed with an error.
    Failed(Error),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<Stopped> for Error {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Refused { refusal, .. } => Self::OverBudget(refusal),
            Stopped::Failed(error) => error,
        }
    }
}

/// State of a lane at the start of a compaction: its state for the next request, together with the other content of
/// that request.
#[derive(Clone)]
pub(crate) struct Bench {
    /// Epoch of the snapshot from which the bench was made.
    pub(crate) epoch: u64,
    pub(crate) view: Arc<View>,
    pub(crate) budget: Budget,
    /// Row of the request's model in the catalog.
    pub(crate) row: ModelRow,
    pub(crate) costs: TokenCosts,
    /// Correction applied to the costs.
    pub(crate) calibration: Option<ModelCalibration>,
    pub(crate) texts: Texts,
    /// Model and window of the lane.
    pub(crate) target: LaneTarget,
    /// Handle of the session.
    pub(crate) stream: Handle,
    /// Whether the lane begins with its next request.
    pub(crate) begins: bool,
    /// Shortened texts ([`ShorterTexts`]). Shortened texts are recorded before a compaction begins.
    pub(crate) shorter: ShorterTexts,
    pub(crate) fixed: Vec<Fixed>,
    pub(crate) must: Vec<Injection>,
    pub(crate) recall: Tokens,
    pub(crate) transcript: Tokens,
    /// First position from which the view is complete.
    pub(crate) floor: Seq,
}

impl Bench {
    /// Returns the input for a plan.
    pub(crate) fn ask(&self) -> PlanInput<'_> {
        PlanInput {
            view: &self.view,
            stream: self.stream,
            budget: self.budget,
            costs: &self.costs,
            bodies: &self.texts,
            fixed: &self.fixed,
            must: &self.must,
            hits: &[],
            recall: self.recall,
            transcript: self.transcript,
            floor: self.floor,
        }
    }
}
