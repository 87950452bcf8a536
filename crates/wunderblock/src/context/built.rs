//! A request, and what was done about it.

use crate::compact::account::Compacted;
use crate::request::draft::Draft;
use crate::request::options::ContextOptions;
use wunderblock_core::compact::Due;
use wunderblock_core::compact::due::{OutOfReach, out_of_reach};
use wunderblock_core::units::Seq;

/// A built request, and what was done about it.
#[derive(Clone, Debug)]
pub struct Built {
    /// The request, and the account of it.
    pub draft: Draft,
    /// Where the request is recorded, if it was.
    pub recorded: Option<Seq>,
    /// The compaction that was made for it.
    pub compacted: Option<Box<Compacted>>,
    /// Levels of the policy that can never fire in this window.
    pub out_of_reach: Vec<OutOfReach>,
    /// That a compaction is due, which is left to a worker.
    pub due: Option<Due>,
}

/// The levels of the options' policy that can never fire in a request's window.
pub(crate) fn unreached(options: &ContextOptions, draft: &Draft) -> Vec<OutOfReach> {
    let report = &draft.report;
    let policy = options.compactor.as_ref().map(|compactor| &compactor.policy);
    policy.map(|policy| out_of_reach(policy, report.limit, report.window)).unwrap_or_default()
}
