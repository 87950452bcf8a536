//! A built request, with the actions taken for it.

use crate::base::error::Error;
use crate::compaction::compact::accounting::account::Compacted;
use crate::lanes::turn::Turn;
use crate::request::input::options::ContextOptions;
use crate::request::steps::draft::Draft;
use wunderblock_core::compact::Due;
use wunderblock_core::compact::due::{OutOfReach, out_of_reach};
use wunderblock_core::units::Seq;

/// Built request, with the actions taken for it.
#[derive(Clone, Debug)]
pub struct Built {
    /// The request and its report.
    pub draft: Draft,
    /// Position at which the request is recorded, if it was recorded.
    pub recorded: Option<Seq>,
    /// Compaction that was made before the request.
    pub compacted: Option<Box<Compacted>>,
    /// Levels of the policy that can never be reached in this window.
    pub out_of_reach: Vec<OutOfReach>,
    /// Reason for a due compaction that is left to a worker.
    pub due: Option<Due>,
}

impl Built {
    /// Returns the request of a turn.
    pub(crate) fn of(turn: Turn<Draft>, options: &ContextOptions) -> Result<Self, Error> {
        let Turn { request, recorded, compacted, due } = turn;
        let draft = request?;
        let out_of_reach = unreached(options, &draft);
        Ok(Self { draft, recorded, compacted, out_of_reach, due })
    }
}

/// Returns the levels of the options' policy that can never be reached in a request's window.
pub(crate) fn unreached(options: &ContextOptions, draft: &Draft) -> Vec<OutOfReach> {
    let report = &draft.report;
    let policy = options.compactor.as_ref().map(|compactor| &compactor.policy);
    policy.map(|policy| out_of_reach(policy, report.limit, report.window)).unwrap_or_default()
}
