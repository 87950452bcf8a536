//! Latest requests of a session's lanes, and the choice of a lane if no lane is named.

use super::run_build;
use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::ledger::reading::query_batch::{EVERY, NEWEST, marked};
use crate::ledger::reading::stored::decode_event;
use crate::ledger::session::Session;
use crate::request::build::Build;
use crate::request::input::options::ContextOptions;
use crate::rules::policy::Policies;
use wunderblock_core::budget::{Budget, WindowSource};
use wunderblock_core::event::Fact;
use wunderblock_core::id::LaneId;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_store::{Answer, Marked};

/// Settings of a lane's latest request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneBuilt {
    /// Id of the lane.
    pub lane: LaneId,
    /// Name of the model.
    pub model: String,
    /// Budget of the request.
    pub budget: Budget,
    /// Name of the policy that compacts the lane. `None` in records from versions in which a lane did not depend on
    /// its policy.
    pub policy: Option<String>,
    /// Position at which the request is recorded.
    pub at: Seq,
}

impl LaneBuilt {
    /// Returns the options of the lane's next request. Unset options keep their values from the lane's latest
    /// request.
    #[must_use]
    pub fn resume(&self, options: ContextOptions) -> ContextOptions {
        let declared = self.budget.window_source == WindowSource::Declared;
        ContextOptions {
            lane: Some(self.lane.clone()),
            model: options.model.or_else(|| Some(self.model.clone())),
            window: options.window.or(declared.then_some(self.budget.window)),
            reserve: options.reserve.or(Some(self.budget.reserve)),
            harness: options.harness || self.budget.added > Tokens::ZERO,
            ..options
        }
    }

    /// Returns the options of the session's next request. Unless they name a lane, a model or a window, the request
    /// continues the lane of the session's latest request, with the lane's own policy if it is a preset.
    ///
    /// # Errors
    /// Returns an error if the ledger cannot be read.
    pub fn continued<'a>(session: &'a Session, mut options: ContextOptions) -> BoxFuture<'a, ContextOptions> {
        Box::pin(async move {
            if options.lane.is_some() || options.model.is_some() || options.window.is_some() {
                return Ok(options);
            }
            let last = built_lanes(session).await?.into_iter().next();
            let Some(last) = last else { return Ok(options) };
            let preset = last.policy.as_deref().and_then(|name| Policies::embedded().preset(name));
            if let Some((compactor, policy)) = options.compactor.as_mut().zip(preset) {
                compactor.policy = policy;
            }
            Ok(last.resume(options))
        })
    }

    /// Returns whether the lane was built for the model and the window that the options name, if any.
    fn fits(&self, options: &ContextOptions) -> bool {
        options.model.as_ref().is_none_or(|model| *model == self.model)
            && options.window.is_none_or(|window| window == self.budget.window)
    }
}

/// Returns the latest request of each lane of a session, latest first.
pub(crate) async fn built_lanes(session: &Session) -> Result<Vec<LaneBuilt>, Error> {
    let query = marked(&session.engine, &session.id, Marked::EachLane("context.built"), NEWEST, EVERY);
    let mut lanes = Vec::new();
    for row in session.engine.ask(query, Answer::events).await? {
        let event = decode_event(&session.engine, &session.id, &row)?;
        if let Some(Fact::ContextBuilt(built)) = event.fact {
            lanes.push(LaneBuilt {
                lane: built.lane,
                model: built.model.into(),
                budget: built.budget,
                policy: built.policy.map(Into::into),
                at: event.seq,
            });
        }
    }
    Ok(lanes)
}

/// Returns the lane that a build with these options uses.
pub(crate) async fn find_lane(session: &Session, options: &ContextOptions) -> Result<LaneId, Error> {
    match &options.lane {
        Some(lane) => Ok(lane.clone()),
        None => {
            let loaded = run_build(session, Build::loaded(session.house().job(options))).await??;
            Ok(loaded.snapshot.lane().clone())
        }
    }
}

/// Returns the options with their lane set. If the lane is unset, it is set to the lane that was built last for the
/// model and window of the options, or otherwise to the lane that a build selects.
pub(crate) async fn resumed(session: &Session, options: &ContextOptions) -> Result<ContextOptions, Error> {
    if options.lane.is_some() {
        return Ok(options.clone());
    }
    let mut lanes = built_lanes(session).await?.into_iter();
    match lanes.find(|built| built.fits(options)) {
        Some(built) => Ok(built.resume(options.clone())),
        None => {
            let lane = Some(find_lane(session, options).await?);
            Ok(ContextOptions { lane, ..options.clone() })
        }
    }
}
