//! Selects the lane of a build.
//!
//! A lane belongs to a model, a window and a policy, so that a request for one combination does not affect the lane
//! of another. Callers may name a lane. If no lane is named, the session's latest lane for the same model, window and
//! policy continues, or a new lane begins.

use crate::base::error::Error;
use crate::request::input::options::ContextOptions;
use crate::request::input::target::{SessionModel, Target};
use crate::rules::catalog::Catalog;
use std::sync::Arc;
use wunderblock_core::event::{ContextBuilt, LaneTarget};
use wunderblock_core::id::LaneId;

/// Maximum number of characters from a model's name in the name of a lane.
const NAME_CHARS: usize = 64;

/// Lane of a build.
#[derive(Clone, Debug)]
pub(crate) enum LaneChoice {
    /// The lane with this id, regardless of what it was last built for.
    Named(LaneId),
    /// The lane that fits the options.
    Fitting(LaneQuery),
}

/// Options that a lane must fit.
#[derive(Clone, Debug)]
pub(crate) struct LaneQuery {
    catalog: Catalog,
    options: Arc<ContextOptions>,
}

impl LaneChoice {
    /// Returns the lane that the options select.
    pub(crate) fn of(options: &Arc<ContextOptions>, catalog: &Catalog) -> Self {
        match &options.lane {
            Some(lane) => Self::Named(lane.clone()),
            None => Self::Fitting(LaneQuery { catalog: catalog.clone(), options: Arc::clone(options) }),
        }
    }
}

impl LaneQuery {
    /// Chooses the lane for the options. `lanes` holds the latest request of each lane, latest first. Returns the id
    /// of a new lane if none fits.
    pub(crate) fn choose(&self, said: &SessionModel<'_>, lanes: &[ContextBuilt]) -> Result<LaneId, Error> {
        let named = Target::name(&self.options, said);
        let window = Target::window(&self.catalog, &self.options, said).0;
        let target = LaneTarget { model: named.into(), window };
        let policy = self.options.policy();
        let is_for = |built: &&ContextBuilt| {
            // Records from earlier versions name no policy, so they fit any policy.
            target_of(built) == target && built.policy.as_deref().is_none_or(|of| of == policy)
        };
        if let Some(built) = lanes.iter().find(is_for) {
            return Ok(built.lane.clone());
        }
        // The first lane is the main lane. Later lanes are named after their model and window and, if that name is
        // taken, also after their policy and finally by a number.
        let is_free = |lane: &LaneId| !lanes.iter().any(|built| built.lane == *lane);
        if is_free(&LaneId::main()) {
            return Ok(LaneId::main());
        }
        let model: String = named.chars().filter(|char| !char.is_control()).take(NAME_CHARS).collect();
        let plain = format!("{model}@{window}");
        let full = format!("{plain}+{policy}");
        let more = (2..).map(|number| format!("{full}.{number}"));
        let mut names = [plain, full.clone()].into_iter().chain(more).map(LaneId::new);
        let free = names.find(|name| name.as_ref().map_or(true, is_free));
        Ok(free.transpose()?.unwrap_or_default())
    }
}

/// Returns the model and window that a request was built for.
pub(crate) fn target_of(built: &ContextBuilt) -> LaneTarget {
    LaneTarget { model: built.model.clone(), window: built.budget.window }
}
