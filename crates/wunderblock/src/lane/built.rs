//! What the lanes of a session were built for, and which one is meant where none is named.

use crate::drive::{context_job, run_build};
use crate::error::Error;
use crate::query_batch::{EVERY, NEWEST, marked};
use crate::request::build::Build;
use crate::request::options::ContextOptions;
use crate::session::Session;
use crate::store::{Answer, Marked};
use crate::stored::decode_event;
use wunderblock_core::budget::{Budget, WindowSource};
use wunderblock_core::event::Fact;
use wunderblock_core::id::LaneId;
use wunderblock_core::units::{Seq, Tokens};

/// What a lane was built for last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneBuilt {
    /// The lane.
    pub lane: LaneId,
    /// The model.
    pub model: String,
    /// What the request had to fit into.
    pub budget: Budget,
    /// The name of the policy it is compacted by; none in records from before lanes were told apart by it.
    pub policy: Option<String>,
    /// Where the request is recorded.
    pub at: Seq,
}

impl LaneBuilt {
    /// The options of the lane's next request: what they leave open is as it was in its last.
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

    /// Whether it was built for the model and the window of options, as far as they name them.
    fn fits(&self, options: &ContextOptions) -> bool {
        options.model.as_ref().is_none_or(|model| *model == self.model)
            && options.window.is_none_or(|window| window == self.budget.window)
    }
}

/// What each lane of a session was built for last, the latest first.
pub(super) async fn built_lanes(session: &Session) -> Result<Vec<LaneBuilt>, Error> {
    let query = marked(&session.engine, &session.id, Marked::EachLane("context.built"), (NEWEST, EVERY));
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

/// The lane that a build by these options is for.
pub(crate) async fn find_lane(session: &Session, options: &ContextOptions) -> Result<LaneId, Error> {
    match &options.lane {
        Some(lane) => Ok(lane.clone()),
        None => {
            let loaded = run_build(session, Build::loaded(context_job(session, options))).await??;
            Ok(loaded.snapshot.lane().clone())
        }
    }
}

/// Options that name their lane: where they do not, that is the one built last for their model and window, else the one
/// that a build by them is for.
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
