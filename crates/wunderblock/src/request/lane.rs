//! Which lane a build is for.
//!
//! A lane belongs to a model, a window and a policy, so that a request for one of them changes nothing for another. Callers
//! who name a lane mean that lane; for all others the session's latest lane for the same three goes on, else a new one
//! begins.

use super::options::ContextOptions;
use super::target::{SessionModel, Target};
use crate::catalog::Catalog;
use crate::error::Error;
use std::sync::Arc;
use wunderblock_core::event::{ContextBuilt, LaneTarget};
use wunderblock_core::id::LaneId;

/// Characters of a model's name that a lane is named by.
const NAME_CHARS: usize = 64;

/// The lane a build is for.
#[derive(Clone, Debug)]
pub(crate) enum LaneChoice {
    /// This one, whatever it was built for last.
    Named(LaneId),
    /// The one for what is asked.
    Fitting(LaneQuery),
}

/// What the lane is to fit.
#[derive(Clone, Debug)]
pub(crate) struct LaneQuery {
    catalog: Catalog,
    options: Arc<ContextOptions>,
}

impl LaneChoice {
    /// The lane that options mean.
    pub(crate) fn of(options: &Arc<ContextOptions>, catalog: &Catalog) -> Self {
        match &options.lane {
            Some(lane) => Self::Named(lane.clone()),
            None => Self::Fitting(LaneQuery { catalog: catalog.clone(), options: Arc::clone(options) }),
        }
    }
}

impl LaneQuery {
    /// Of the lanes that have built, each with its latest request and the latest first, the one for what is asked; a new
    /// one if none is.
    pub(crate) fn choose(&self, said: &SessionModel<'_>, lanes: &[ContextBuilt]) -> Result<LaneId, Error> {
        let named = Target::name(&self.options, said);
        let window = Target::window(&self.catalog, &self.options, said).0;
        let target = LaneTarget { model: named.into(), window };
        let policy = self.options.policy();
        let is_for = |built: &&ContextBuilt| {
            target_of(built) == target && built.policy.as_deref().is_none_or(|of| of == policy)
        };
        if let Some(built) = lanes.iter().find(is_for) {
            return Ok(built.lane.clone());
        }
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

/// What a request was built for.
pub(crate) fn target_of(built: &ContextBuilt) -> LaneTarget {
    LaneTarget { model: built.model.clone(), window: built.budget.window }
}
