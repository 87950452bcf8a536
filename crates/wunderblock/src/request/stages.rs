//! What stands after each stage of a build. Each owns the one before it, or what is needed of it; none can be skipped.

use super::decision::Decision;
use super::measured;
use super::packer::Packer;
use super::snapshot::Snapshot;
use super::target::Target;
use crate::catalog::{Catalog, ModelRow};
use crate::error::Error;
use crate::store::{BodyCount, TallyRow};
use crate::texts::Texts;
use crate::token_costs::TokenCosts;
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

/// A lane with all that its window can hold, and what its next request is for.
pub(crate) struct Loaded {
    pub(crate) snapshot: Snapshot,
    pub(crate) target: Target,
    /// Whether the lane begins again, since it was last built for another model or window.
    pub(crate) resizes: bool,
}

/// … with a cost model that knows every body of the view.
pub(crate) struct Weighed {
    pub(crate) snapshot: Snapshot,
    pub(crate) target: Target,
    pub(crate) costs: TokenCosts,
    /// What our counts are multiplied by.
    pub(crate) calibration: Option<Calibration>,
    /// What the program that made the session's requests added to them.
    pub(crate) overhead: Option<Overhead>,
    /// Bodies nobody had counted before.
    pub(crate) fresh: Vec<(Handle, BodyCount)>,
    /// See [`Loaded::resizes`].
    pub(crate) resizes: bool,
}

impl Weighed {
    /// What the provider counted last, and what has come since.
    pub(crate) fn anchor(&self, catalog: &Catalog) -> Option<Anchor> {
        measured::anchor(&self.snapshot, catalog, &self.target.model, &self.costs)
    }
}

/// That the lane begins again, and what enters a request shorter: applied to the view, not recorded yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShorterTexts {
    /// The head of the ledger it was made from.
    pub(crate) through: Seq,
    /// What is to be appended, texts in full.
    pub(crate) events: Vec<NewEvent>,
}

impl ShorterTexts {
    pub(crate) fn of(head: Seq, decision: Decision) -> Self {
        match decision.events.is_empty() {
            true => Self::default(),
            false => Self { through: head, events: decision.events },
        }
    }
}

/// … with what enters shorter from this request on.
pub(crate) struct Shortened {
    pub(crate) lane: Weighed,
    pub(crate) shorter: ShorterTexts,
    /// Texts that were loaded and stay as they are, and those that are new.
    pub(crate) texts: Texts,
}

/// … with what could come back, and what the sources offer.
pub(crate) struct Gathered {
    pub(crate) lane: Weighed,
    pub(crate) shorter: ShorterTexts,
    pub(crate) texts: Texts,
    /// What could come back, best first.
    pub(crate) hits: Vec<Injection>,
    pub(crate) offer: Offer,
    /// What is to be said of the state of the work.
    pub(crate) state: Vec<Injection>,
    pub(crate) packer: Packer,
}

/// … with what was decided: which sources hold, what goes in, in which form.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) snapshot: Snapshot,
    pub(crate) target: Target,
    pub(crate) costs: TokenCosts,
    pub(crate) calibration: Option<Calibration>,
    pub(crate) overhead: Option<Overhead>,
    pub(crate) anchor: Option<Anchor>,
    pub(crate) fresh: Vec<(Handle, BodyCount)>,
    /// What enters the request shorter; its events are the first of the decision's.
    pub(crate) shorter: ShorterTexts,
    pub(crate) composed: Composed,
    pub(crate) decision: Decision,
    pub(crate) texts: Texts,
}

impl Planned {
    /// The newest position of the ledger that went into it.
    pub(crate) fn through(&self) -> Seq {
        if self.shorter.events.is_empty() { self.snapshot.view.head() } else { self.shorter.through }
    }
}

/// … rendered.
pub(crate) struct Rendered {
    pub(crate) planned: Planned,
    pub(crate) rendered: render::RenderedRequest,
    pub(crate) tallies: BTreeMap<Seq, TallyRow>,
    /// What the request takes.
    pub(crate) total: Cost,
}

/// Why there is no request.
pub(crate) enum Stopped {
    /// Even the least does not fit. What would have entered shorter is known all the same.
    Refused { lane: LaneId, refusal: Box<PlanRefusal>, shorter: ShorterTexts },
    /// Something failed.
    Failed(Error),
}

/// What enters shorter by a build, whether or not a request came of it; none where the build failed.
pub(crate) fn shorter_of<'d, T>(
    drafted: &'d Result<T, Stopped>,
    planned: impl FnOnce(&'d T) -> &'d Planned,
) -> Option<&'d ShorterTexts> {
    match drafted {
        Ok(draft) => Some(&planned(draft).shorter),
        Err(Stopped::Refused { shorter, .. }) => Some(shorter),
        Err(Stopped::Failed(_)) => None,
    }
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

/// A lane as a compaction finds it: as its next request would, with what that request holds beside the conversation.
#[derive(Clone)]
pub(crate) struct Bench {
    pub(crate) view: Arc<View>,
    pub(crate) budget: Budget,
    /// The model it is for.
    pub(crate) row: ModelRow,
    pub(crate) costs: TokenCosts,
    /// What the costs were corrected by.
    pub(crate) calibration: Option<ModelCalibration>,
    pub(crate) texts: Texts,
    /// Whether the lane begins.
    pub(crate) begins: bool,
    /// What the lane is for.
    pub(crate) target: LaneTarget,
    /// The session's own handle.
    pub(crate) stream: Handle,
    /// See [`ShorterTexts`]: recorded before a compaction begins.
    pub(crate) shorter: ShorterTexts,
    pub(crate) fixed: Vec<Fixed>,
    pub(crate) must: Vec<Injection>,
    pub(crate) recall: Tokens,
    pub(crate) transcript: Tokens,
    /// The first position of which everything is in the view.
    pub(crate) floor: Seq,
}

impl Bench {
    /// The question a plan would be asked.
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
